/* A pool of more than 4 GiB, of which only a few bytes are ever looked at. */

#ifndef BIG_POOL_H
#define BIG_POOL_H

#include "device.h"

struct big_pool {
    struct test_device *device;
    size_t size;
    cl_mem buffer;      /* where the device can allocate that much */
    unsigned char *map; /* else, on a CPU device: untouched pages, as SVM */
    int every_other; /* the layout has even blocks only, over 2^31 bytes apart
                      */
};

/* 1, or 0 when the device has no way to such a pool. */
int big_pool_open(struct big_pool *pool, struct test_device *device,
                  size_t size);
void big_pool_close(struct big_pool *pool);

struct clmove_memory big_pool_memory(const struct big_pool *pool);

/* Blocking copies between host and pool. */
void big_pool_write(struct big_pool *pool, size_t offset, const void *bytes,
                    size_t size);
void big_pool_read(struct big_pool *pool, size_t offset, void *bytes,
                   size_t size);

/* Where blocks of 48 bytes lie 2^30 + 16 bytes apart; the distance makes every
 * offset cut to 31 or 32 bits land near the pool's start. */
#define BIG_STRIDE ((UINT64_C(1) << 30) + 16)
enum { BIG_BLOCKS = 5, BIG_BLOCK_SIZE = 48 };
#define BIG_SIZE ((size_t)((BIG_BLOCKS - 1) * BIG_STRIDE + 256))

/* Who decides on a copy: post-process by rows or by slots, or the host. */
enum big_pool_order { BIG_POOL_V1, BIG_POOL_V2, BIG_POOL_HOST };

/* One copy of block `from` to block `to`, all layouts and element sizes that
 * make 48 bytes, bias 0 and 1. 1 if all watched bytes are right, 0 if not (a
 * report on stderr unless quiet). */
int big_pool_copies_in(struct big_pool *pool, struct clmove_engine *engine,
                       enum big_pool_order order, int32_t from, int32_t to,
                       int quiet);

/* The same in order V1. */
int big_pool_copies(struct big_pool *pool, struct clmove_engine *engine,
                    int32_t from, int32_t to, int quiet);

#endif
