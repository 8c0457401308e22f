/* A folder of compiled programs: files that are found by what they were made
 * of, and checked before they are used. */

#include "cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The first line of an entry; goes into its key as well, so that entries of
 * another form are not even found. */
static const char format_line[] = "clmove program, format 1\n";
static const char entry_ending[] = ".program";
static const char unfinished_start[] = "unfinished-";

enum { NAME_ROOM = 64, KEY_DIGITS = 32, UNFINISHED_TRIES = 1000 };

struct cache_hash cache_hash_start(void)
{
    return (struct cache_hash){UINT64_C(0x6c62272e07bb0142),
                               UINT64_C(0x62b821756295c58d)};
}

struct cache_hash cache_hash_add(struct cache_hash hash, const void *bytes,
                                 size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++) {
        /* times 2^88 + 0x13b, by halves of the low word */
        const uint64_t mixed = hash.low ^ byte[i];
        const uint64_t low = (mixed & UINT32_MAX) * 0x13b;
        const uint64_t middle = (mixed >> 32) * 0x13b + (low >> 32);
        hash.high = hash.high * 0x13b + (middle >> 32) + (mixed << 24);
        hash.low = middle << 32 | (low & UINT32_MAX);
    }
    return hash;
}

static struct cache_hash make_key(const char *about, const char *text)
{
    struct cache_hash key = cache_hash_start();
    /* with the zeros at their ends: no part can pass for one of another */
    key = cache_hash_add(key, format_line, sizeof format_line);
    key = cache_hash_add(key, about, strlen(about) + 1);
    return cache_hash_add(key, text, strlen(text) + 1);
}

static void make_name(char name[NAME_ROOM], struct cache_hash key)
{
    snprintf(name, NAME_ROOM, "%016" PRIx64 "%016" PRIx64 "%s", key.high,
             key.low, entry_ending);
}

/* The header that these bytes must have, as text: a reader makes it anew and
 * compares. Its size does not depend on the bytes. NULL: no memory. */
static char *make_header(struct cache_hash key, const char *about,
                         const unsigned char *bytes, size_t size)
{
    const struct cache_hash sum =
        cache_hash_add(cache_hash_start(), bytes, size);
    const size_t room = strlen(about) + 256;
    char *header = malloc(room);
    if (header != NULL)
        snprintf(header, room,
                 "%skey %016" PRIx64 "%016" PRIx64 "\n%ssize %016zx\n"
                 "sum %016" PRIx64 "%016" PRIx64 "\n\n",
                 format_line, key.high, key.low, about, size, sum.high,
                 sum.low);
    return header;
}

int cache_open(const char *path)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    const int folder = open(path, flags);
    if (folder >= 0 || errno != ENOENT)
        return folder;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return -1;
    return open(path, flags);
}

/* All of a regular file of up to `limit` bytes, for free(); else NULL. */
static unsigned char *read_file(int file, size_t limit, size_t *size)
{
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size <= 0 || (uintmax_t)status.st_size > limit)
        return NULL;
    *size = (size_t)status.st_size;
    unsigned char *bytes = malloc(*size);
    for (size_t done = 0; bytes != NULL && done < *size;) {
        const ssize_t got = read(file, bytes + done, *size - done);
        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            free(bytes);
            bytes = NULL;
        }
    }
    return bytes;
}

/* Leaves of a file's bytes those behind the header, if they are whole. */
static bool take_bytes(struct cache_hash key, const char *about,
                       unsigned char *file, size_t *size)
{
    bool whole = false;
    char *header = make_header(key, about, NULL, 0);
    const size_t header_size = header == NULL ? SIZE_MAX : strlen(header);
    free(header);
    if (*size <= header_size)
        return false;
    *size -= header_size;
    header = make_header(key, about, file + header_size, *size);
    whole = header != NULL && memcmp(header, file, header_size) == 0;
    free(header);
    memmove(file, file + header_size, *size);
    return whole;
}

bool cache_load(int folder, const char *about, const char *text,
                unsigned char **bytes, size_t *size)
{
    const struct cache_hash key = make_key(about, text);
    char name[NAME_ROOM];
    make_name(name, key);
    *bytes = NULL;
    /* O_NONBLOCK: a pipe in its place must not hold us up */
    const int file =
        openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return false;
    unsigned char *all =
        read_file(file, CACHE_BYTES_MAX + strlen(about) + 256, size);
    if (all != NULL && take_bytes(key, about, all, size)) {
        *bytes = all;
        all = NULL;
        futimens(file, NULL); /* used now; no matter if that is forbidden */
    }
    free(all);
    close(file);
    return *bytes != NULL;
}

static bool write_all(int file, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    while (size > 0) {
        const ssize_t put = write(file, from, size);
        if (put < 0 && errno != EINTR)
            return false;
        if (put > 0) {
            from += put;
            size -= (size_t)put;
        }
    }
    return true;
}

/* A new file under a name that nobody reads; -1 with errno. */
static int create_unfinished(int folder, char name[NAME_ROOM])
{
    int file = -1;
    for (unsigned i = 0; i < UNFINISHED_TRIES; i++) {
        snprintf(name, NAME_ROOM, "%s%ld-%u", unfinished_start, (long)getpid(),
                 i);
        file =
            openat(folder, name,
                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file >= 0 || errno != EEXIST)
            break;
    }
    return file;
}

enum file_kind { FILE_OTHER, FILE_ENTRY, FILE_UNFINISHED };

/* Whose a file of the folder is, by its name: others are left alone. */
static enum file_kind kind_of(const char *name)
{
    if (strncmp(name, unfinished_start, sizeof unfinished_start - 1) == 0)
        return FILE_UNFINISHED;
    if (strspn(name, "0123456789abcdef") == KEY_DIGITS &&
        strcmp(name + KEY_DIGITS, entry_ending) == 0)
        return FILE_ENTRY;
    return FILE_OTHER;
}

/* Looks at all files once: removes what writers left long ago. Returns the
 * bytes of all entries; the name of the one that was used longest ago goes to
 * `oldest`. */
static uint64_t survey(int folder, char oldest[NAME_ROOM])
{
    uint64_t total = 0;
    struct timespec least = {0};
    oldest[0] = '\0';
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    if (list == NULL) {
        if (again >= 0)
            close(again);
        return 0;
    }
    for (struct dirent *one; (one = readdir(list)) != NULL;) {
        const enum file_kind kind = kind_of(one->d_name);
        struct stat status;
        if (kind == FILE_OTHER ||
            fstatat(folder, one->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        const struct timespec used = status.st_mtim;
        if (kind == FILE_UNFINISHED) {
            if (time(NULL) - used.tv_sec > CACHE_STALE_SECONDS)
                unlinkat(folder, one->d_name, 0);
            continue;
        }
        total += (uint64_t)status.st_size;
        if (oldest[0] == '\0' || used.tv_sec < least.tv_sec ||
            (used.tv_sec == least.tv_sec && used.tv_nsec < least.tv_nsec)) {
            least = used;
            memcpy(oldest, one->d_name, strlen(one->d_name) + 1);
        }
    }
    closedir(list);
    return total;
}

static void tidy(int folder)
{
    char oldest[NAME_ROOM];
    while (survey(folder, oldest) > CACHE_FOLDER_MAX) {
        if (unlinkat(folder, oldest, 0) != 0 && errno != ENOENT)
            return;
    }
}

/* 0, or why it could not be written. Closes the file. */
static int fill(int file, const char *header, const unsigned char *bytes,
                size_t size)
{
    int error = 0;
    if (!write_all(file, header, strlen(header)) ||
        !write_all(file, bytes, size))
        error = errno;
    /* No fsync: what a crash of the machine leaves is seen by its sum. */
    if (close(file) != 0 && error == 0)
        error = errno;
    return error;
}

static int store(int folder, const char *name, const char *header,
                 const unsigned char *bytes, size_t size)
{
    char unfinished[NAME_ROOM];
    const int file = create_unfinished(folder, unfinished);
    if (file < 0)
        return errno;
    int error = fill(file, header, bytes, size);
    if (error == 0 && renameat(folder, unfinished, folder, name) != 0)
        error = errno;
    if (error != 0)
        unlinkat(folder, unfinished, 0);
    return error;
}

bool cache_store(int folder, const char *about, const char *text,
                 const unsigned char *bytes, size_t size)
{
    const struct cache_hash key = make_key(about, text);
    char name[NAME_ROOM];
    int error = EFBIG;
    make_name(name, key);
    if (size > 0 && size <= CACHE_BYTES_MAX) {
        char *header = make_header(key, about, bytes, size);
        error =
            header == NULL ? ENOMEM : store(folder, name, header, bytes, size);
        free(header);
    }
    if (error == 0)
        tidy(folder);
    errno = error;
    return error == 0;
}
