/* Programs that are kept in a cache folder between runs, for one device. */

#ifndef BINARY_H
#define BINARY_H

#include "check.h"

#include <clmove/device.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { BINARY_ABOUT_ROOM = 2048 };

struct binary_cache {
    int folder;                    /* -1: nothing is kept */
    bool cannot_store;             /* which has been said */
    atomic_uint loaded;            /* programs taken from the folder */
    atomic_uint built;             /* programs compiled */
    char about[BINARY_ABOUT_ROOM]; /* lines that name device and driver */
};

/* `directory` NULL: the environment's CLMOVE_CACHE_DIR, else none; "" or "off":
 * none. A folder that cannot be used gives a warning, and nothing is kept; so
 * is nothing on PoCL, which keeps its programs itself. */
void binary_cache_open(const struct clmove_log *log,
                       const struct clmove_device_info *device,
                       const char *directory, struct binary_cache *cache);
void binary_cache_close(struct binary_cache *cache);

/* The program made of the source `text`, named and with options as `title`
 * says: created, not built. NULL when the folder or the driver has none. */
cl_program binary_load(const struct binary_cache *cache,
                       const struct clmove_log *log, cl_context context,
                       cl_device_id device, const char *title,
                       const char *text);

/* Keeps a built program, or replaces what was kept. A failure gives a warning,
 * the first time. */
void binary_store(struct binary_cache *cache, const struct clmove_log *log,
                  cl_program program, cl_device_id device, const char *title,
                  const char *text);

#endif
