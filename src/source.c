/* The text of the kernels: built in, or from a folder. */

#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends to a string that grows; false when memory is short. */
static bool append(char **text, size_t *used, const char *part, size_t size)
{
    char *grown = realloc(*text, *used + size + 1);
    if (grown == NULL)
        return false;
    memcpy(grown + *used, part, size);
    *used += size;
    grown[*used] = '\0';
    *text = grown;
    return true;
}

static clmove_status read_file(const struct clmove_log *log,
                               const char *directory, const char *name,
                               char **text, size_t *used)
{
    clmove_status status = CLMOVE_SUCCESS;
    FILE *file = NULL;
    size_t got = 0;
    char chunk[4096];
    const size_t path_size = strlen(directory) + strlen(name) + 2;
    char *path = malloc(path_size);
    CHECK_MEMORY(path);
    snprintf(path, path_size, "%s/%s", directory, name);
    file = fopen(path, "rb");
    CHECK(file != NULL, CLMOVE_NO_KERNEL_TEXT,
          "cannot open the kernel file %s: %s", path, strerror(errno));
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0) {
        CHECK(append(text, used, chunk, got), CL_OUT_OF_HOST_MEMORY,
              "out of host memory");
    }
    CHECK(!ferror(file), CLMOVE_NO_KERNEL_TEXT,
          "cannot read the kernel file %s: %s", path, strerror(errno));
out:
    if (file != NULL)
        fclose(file);
    free(path);
    return status;
}

clmove_status source_load(const struct clmove_log *log, const char *directory,
                          const char *part, char **text)
{
    clmove_status status = CLMOVE_SUCCESS;
    size_t used = 0;
    *text = NULL;
    for (size_t i = 0; i < clmove_kernel_file_count; i++) {
        const struct clmove_embedded *file = &clmove_kernel_files[i];
        if (strcmp(file->name, "common.cl") != 0 &&
            strncmp(file->name, part, strlen(part)) != 0)
            continue;
        char line[300];
        const int size =
            snprintf(line, sizeof line, "\n#line 1 \"%s\"\n", file->name);
        CHECK(append(text, &used, line, (size_t)size), CL_OUT_OF_HOST_MEMORY,
              "out of host memory");
        if (directory != NULL)
            CHECK_STATUS(read_file(log, directory, file->name, text, &used));
        else
            CHECK(append(text, &used, file->text, strlen(file->text)),
                  CL_OUT_OF_HOST_MEMORY, "out of host memory");
    }
out:
    if (status != CLMOVE_SUCCESS) {
        free(*text);
        *text = NULL;
    }
    return status;
}
