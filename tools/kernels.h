/* The tool's own kernels, built for a session. */

#ifndef TOOLS_KERNELS_H
#define TOOLS_KERNELS_H

#include "pool.h"

struct kernels {
    cl_program program;
    cl_kernel fill, admit, sample, advance, stamp, check, checksum, keep,
        expect;
    cl_command_queue queue;
    cl_mem *shapes; /* of the pool's buffers, as replay.cl reads them */
    uint32_t shape_count;
    size_t group_size;  /* of all but admit and sample */
    size_t group_count; /* of one state, or of one page */
};

/* Builds one of the tool's kernel files; NULL after printing the failure with
 * the compiler's output. The caller releases it. */
cl_program kernels_build(const struct session *session, const char *file,
                         const char *options);

/* Builds them; prints a failure with the compiler's output. kernels_destroy is
 * needed then, too. */
bool kernels_create(struct kernels *kernels, const struct session *session);
/* Tells them the pool that stamp, check, checksum work on, and the size of the
 * block table. Once. */
bool kernels_bind(struct kernels *kernels, const struct session *session,
                  const struct pool *pool, uint32_t columns, uint32_t slots);
void kernels_destroy(struct kernels *kernels);

/* All of these enqueue and return; false after printing a failure. The arrays
 * are int32 of `slots`, in buffers of their own; replay.cl says what each
 * kernel does with them. */

/* Fills every byte of a buffer of `size` bytes, a multiple of 8. */
bool kernels_fill(const struct kernels *kernels, cl_mem buffer, uint64_t size,
                  uint64_t seed);

bool kernels_admit(const struct kernels *kernels, uint32_t slots,
                   cl_mem admitted, cl_mem accepted, cl_mem column);

bool kernels_sample(const struct kernels *kernels, uint32_t slots,
                    cl_mem scheduled, cl_mem sampled, cl_mem accepted);

bool kernels_advance(const struct kernels *kernels, uint32_t slots,
                     cl_mem computed, cl_mem scheduled, cl_mem draft,
                     cl_mem sampled, cl_mem now);

/* Block tables and arrays that stamp and check read. */
struct kernels_slots {
    uint32_t slots;
    cl_mem table, request;
    cl_mem active; /* slots with 0 here are left out */
    cl_mem tokens; /* check: of the state; stamp: of the first state */
    cl_mem column; /* of the state's block, or of the first block */
    cl_mem count;  /* check: accepted; stamp: draft */
};

bool kernels_stamp(const struct kernels *kernels, const struct pool *pool,
                   const struct kernels_slots *arrays);

/* `bad` is uint32 [layers][slots][2], KERNELS_NOTHING_BAD before. */
enum { KERNELS_NOTHING_BAD = -1, KERNELS_NO_BLOCK = -2 };
bool kernels_check(const struct kernels *kernels, const struct pool *pool,
                   const struct kernels_slots *arrays, cl_mem bad);

/* sums: uint64 [layers][count]; blocks: int32 [count]. */
bool kernels_checksum(const struct kernels *kernels, const struct pool *pool,
                      cl_mem blocks, size_t count, cl_mem sums);

/* The sums of all pages, [layers][block_count] on the host: waits for them. */
bool kernels_checksum_all(const struct kernels *kernels,
                          const struct session *session,
                          const struct pool *pool, uint64_t *sums);

/* Copies the listed pages of every layer; kept: a buffer for each of the pool's
 * buffers, [layers of it][count] pages. */
bool kernels_keep(const struct kernels *kernels, const struct pool *pool,
                  cl_mem blocks, size_t count, const cl_mem *kept);

/* As in replay.cl. */
struct kernels_copy {
    cl_int block, old, window, temporal;
    cl_ulong bias;
};

/* `copies`: struct kernels_copy [count]; bad: uint32 [layers][count],
 * KERNELS_NOTHING_BAD before. */
bool kernels_expect(const struct kernels *kernels, const struct pool *pool,
                    const cl_mem *kept, size_t kept_count, cl_mem copies,
                    size_t count, cl_mem bad);

#endif
