/* Whole binary files: reading them, replacing them in one go. */

#ifndef TOOLS_FILES_H
#define TOOLS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a regular file; *bytes is for free(), and not NULL for an empty file.
 * Prints why it cannot. */
bool file_load(const char *path, unsigned char **bytes, size_t *size);

/* The size of a regular file. Prints why it has none. */
bool file_size(const char *path, uint64_t *size);

/* Writes a file under another name beside it, then renames it: whoever looks
 * sees the old content or the new one. An existing file keeps its permissions.
 * Prints why it cannot; nothing is left behind then. */
bool file_replace(const char *path, const unsigned char *bytes, size_t size);

#endif
