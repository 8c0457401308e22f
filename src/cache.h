/* A folder of compiled programs: files that are found by what they were made
 * of, and checked before they are used. */

#ifndef CACHE_H
#define CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FNV-1a, 128 bits. */
struct cache_hash {
    uint64_t high, low;
};

enum {
    CACHE_BYTES_MAX = 16 << 20,  /* a larger program is not kept */
    CACHE_FOLDER_MAX = 64 << 20, /* entries used longest ago go above that */
    CACHE_STALE_SECONDS = 3600   /* age of a file that its writer has left */
};

struct cache_hash cache_hash_start(void);
struct cache_hash cache_hash_add(struct cache_hash hash, const void *bytes,
                                 size_t size);

/* Opens the folder, made with mode 0700 if only its last part is missing.
 * Returns a descriptor for close(), or -1 with errno. */
int cache_open(const char *path);

/* An entry belongs to `about`, lines that say for whom and how it was made, and
 * to `text`, the source: the same two find it. All calls may be made by any
 * number of threads and processes at once.
 *
 * False when there is no such entry, or it is not whole. *bytes is for free().
 */
bool cache_load(int folder, const char *about, const char *text,
                unsigned char **bytes, size_t *size);

/* Writes an entry, or replaces it; whoever looks sees the old one or the new
 * one. False with errno when it cannot. */
bool cache_store(int folder, const char *about, const char *text,
                 const unsigned char *bytes, size_t size);

#endif
