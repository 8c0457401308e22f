/* Whole binary files: reading them, replacing them in one go. */

/* realpath */
#define _XOPEN_SOURCE 700

#include "files.h"

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const char *path, const char *what)
{
    cli_error("%s: cannot be %s: %s", path, what, strerror(errno));
    return false;
}

static bool is_regular(const char *path, const struct stat *status)
{
    if (S_ISREG(status->st_mode))
        return true;
    cli_error("%s: is no regular file", path);
    return false;
}

bool file_size(const char *path, uint64_t *size)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return fail(path, "opened");
    *size = (uint64_t)status.st_size;
    return is_regular(path, &status);
}

static bool read_bytes(int file, const char *path, unsigned char *bytes,
                       size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = read(file, bytes + done, size - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return fail(path, "read");
        if (count == 0) {
            cli_error("%s: became shorter while it was read", path);
            return false;
        }
        done += (size_t)count;
    }
    return true;
}

bool file_load(const char *path, unsigned char **bytes, size_t *size)
{
    struct stat status;
    *bytes = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return fail(path, "opened");
    bool fine = fstat(file, &status) == 0 || fail(path, "read");
    fine = fine && is_regular(path, &status);
    if (fine) {
        *size = (size_t)status.st_size;
        *bytes = malloc(*size ? *size : 1);
        if (!*bytes)
            cli_error("%s: out of memory for its %zu bytes", path, *size);
        fine = *bytes != NULL && read_bytes(file, path, *bytes, *size);
    }
    close(file);
    if (!fine) {
        free(*bytes);
        *bytes = NULL;
    }
    return fine;
}

static bool write_bytes(int file, const char *path, const unsigned char *bytes,
                        size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = write(file, bytes + done, size - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return fail(path, "written");
        done += (size_t)count;
    }
    return true;
}

/* The permissions that the file has, or that a new one would get. */
static bool find_mode(const char *path, mode_t *mode)
{
    struct stat status;
    if (stat(path, &status) == 0) {
        *mode = status.st_mode & 07777;
        return is_regular(path, &status);
    }
    if (errno != ENOENT)
        return fail(path, "written");
    mode_t mask = umask(0);
    umask(mask);
    *mode = 0666 & ~mask;
    return true;
}

static bool fill(int file, const char *path, const char *beside, mode_t mode,
                 const unsigned char *bytes, size_t size)
{
    bool fine = write_bytes(file, path, bytes, size);
    if (fine && (fchmod(file, mode) != 0 || fsync(file) != 0))
        fine = fail(path, "written");
    if (close(file) != 0 && fine)
        fine = fail(path, "written");
    if (fine && rename(beside, path) != 0)
        fine = fail(path, "replaced");
    return fine;
}

bool file_replace(const char *given, const unsigned char *bytes, size_t size)
{
    static const char ending[] = ".clmove-XXXXXX";
    mode_t mode = 0;
    if (!find_mode(given, &mode))
        return false;
    /* What a link names is replaced, not the link. */
    char *resolved = realpath(given, NULL);
    const char *path = resolved ? resolved : given;
    size_t room = strlen(path) + sizeof ending;
    char *beside = malloc(room);
    bool fine = beside != NULL;
    if (!fine) {
        cli_error("out of memory");
    } else {
        snprintf(beside, room, "%s%s", path, ending);
        int file = mkstemp(beside);
        fine = file >= 0 ? fill(file, path, beside, mode, bytes, size)
                         : fail(path, "written");
        if (!fine && file >= 0)
            unlink(beside);
    }
    free(beside);
    free(resolved);
    return fine;
}
