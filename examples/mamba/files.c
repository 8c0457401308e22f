/* Files: whole, by lines, and where the model's are. */

#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For the caller to free; NULL when there is no memory. */
static char *join(const char *directory, const char *name)
{
    if (!directory)
        return strdup(name);
    const size_t size = strlen(directory) + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", directory, name);
    return path;
}

bool files_exist(const char *directory, const char *name)
{
    char *path = join(directory, name);
    const bool found = path && access(path, R_OK) == 0;
    free(path);
    return found;
}

static enum mamba_exit read_stream(FILE *stream, void **bytes, size_t *size)
{
    size_t capacity = 1 << 16;
    *size = 0;
    *bytes = malloc(capacity);
    while (*bytes) {
        *size += fread((char *)*bytes + *size, 1, capacity - 1 - *size, stream);
        if (*size + 1 < capacity)
            break;
        capacity *= 2;
        void *grown = realloc(*bytes, capacity);
        if (!grown)
            free(*bytes);
        *bytes = grown;
    }
    if (!*bytes)
        return out_of_memory();
    ((char *)*bytes)[*size] = '\0';
    return MAMBA_FINE;
}

enum mamba_exit files_read(const char *directory, const char *name,
                           void **bytes, size_t *size)
{
    char *path = join(directory, name);
    *bytes = NULL;
    if (!path)
        return out_of_memory();
    enum mamba_exit code = MAMBA_BAD_INPUT;
    FILE *stream = fopen(path, "rb");
    if (!stream)
        say("%s: %s", path, strerror(errno));
    else
        code = read_stream(stream, bytes, size);
    if (stream && ferror(stream)) {
        say("%s: %s", path, strerror(errno));
        code = MAMBA_BAD_INPUT;
    }
    if (code != MAMBA_FINE) {
        free(*bytes);
        *bytes = NULL;
    }
    if (stream)
        fclose(stream);
    free(path);
    return code;
}

enum mamba_exit files_read_lines(const char *directory, const char *name,
                                 files_line_reader read, void *user)
{
    void *bytes = NULL;
    size_t size = 0, number = 0;
    TRY(files_read(directory, name, &bytes, &size));
    enum mamba_exit code = MAMBA_FINE;
    for (char *line = bytes; line && code == MAMBA_FINE;) {
        char *end = strchr(line, '\n');
        const size_t length = end ? (size_t)(end - line) : strlen(line);
        line[length] = '\0';
        if (length > 0 && line[length - 1] == '\r')
            line[length - 1] = '\0';
        if (end || length > 0)
            code = read(user, name, ++number, line);
        line = end ? end + 1 : NULL;
    }
    free(bytes);
    return code;
}

/* The folder the program lies in, or NULL. */
static char *program_folder(void)
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    return slash ? strdup(path) : NULL;
}

enum mamba_exit files_find_model(char **directory)
{
    static const char *const places[] = {"model", "examples/mamba/model"};
    char *folder = program_folder();
    char *start = folder ? strdup(folder) : NULL;
    *directory = NULL;
    while (folder && start && !*directory) {
        for (size_t i = 0; i < 2 && !*directory; i++) {
            *directory = join(folder, places[i]);
            if (*directory && !files_exist(*directory, "weights.bin")) {
                free(*directory);
                *directory = NULL;
            }
        }
        char *slash = strrchr(folder, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    if (!*directory)
        say("no weights found: there is neither model/ nor "
            "examples/mamba/model/ in %s or above it; name the folder with "
            "--weights",
            start ? start : "the program's folder");
    free(folder);
    free(start);
    return *directory ? MAMBA_FINE : MAMBA_BAD_INPUT;
}

char *files_unescape(const char *text)
{
    char *copy = strdup(text);
    char *to = copy;
    for (const char *from = copy; from && *from; from++) {
        *to = *from;
        if (*from == '\\' && from[1] != '\0') {
            from++;
            *to = *from == 'n' ? '\n' : *from == 't' ? '\t' : *from;
        }
        to++;
    }
    if (copy)
        *to = '\0';
    return copy;
}
