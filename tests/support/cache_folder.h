/* A cache folder of a test's own, and what lies in it. */

#ifndef CACHE_FOLDER_H
#define CACHE_FOLDER_H

#include <stddef.h>

struct cache_folder {
    char parent[256]; /* nothing else is in it */
    char path[300];   /* in it; not there at first */
};

/* `name` is the last part of the path. */
void cache_folder_open(struct cache_folder *folder, const char *name);
/* With all that is in it; nothing else may be in the parent. */
void cache_folder_close(struct cache_folder *folder);

struct cache_files {
    size_t entries, unfinished, others;
    char last_entry[400]; /* the path of one of them */
};

struct cache_files cache_folder_files(const struct cache_folder *folder);

/* Writes over one byte of every entry, in the middle. Returns their number. */
size_t cache_folder_damage(const struct cache_folder *folder);

#endif
