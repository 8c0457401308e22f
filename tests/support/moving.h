/* Allocations that bytes are moved in, each with what it should hold. */

#ifndef MOVING_H
#define MOVING_H

#include "device.h"
#include "moves.h"

enum moving_kind {
    MOVING_BUFFER,
    MOVING_HOST_POINTER, /* CL_MEM_USE_HOST_PTR at an odd address */
    MOVING_SVM           /* only where device_has_svm says so */
};

/* One allocation. Nothing of it is left out of a comparison, so the bytes
 * around a move are guards. */
struct moving {
    struct test_device *device;
    enum moving_kind kind;
    size_t size;
    cl_mem buffer;
    unsigned char *svm;
    unsigned char *host;     /* what the buffer was made over, or NULL */
    unsigned char *expected; /* [size] */
    unsigned char *actual;   /* [size], as of the last moving_check */
};

void moving_open(struct moving *moving, struct test_device *device,
                 enum moving_kind kind, size_t size);
void moving_close(struct moving *moving);

/* New bytes on both sides; waits. */
void moving_fill(struct moving *moving, uint64_t seed);

/* The same with the caller's bytes. */
void moving_load(struct moving *moving, const void *bytes);

/* Reads all of it back, behind what was enqueued on the device's own queue; 1
 * if it is right. Without a detail nothing is printed. */
int moving_check(struct moving *moving, const char *test, const char *detail);

/* All of it from `offset` on. */
struct clmove_memory moving_memory(const struct moving *moving, size_t offset);

/* An engine with launch shapes (0: default). `gpu_text`: the kernels as a GPU
 * gets them, also where the device is a CPU. */
struct moving_shape {
    uint32_t group_size, group_count, tile_size;
    int gpu_text;
};
struct clmove_engine *moving_engine(struct test_device *device,
                                    const struct moving_shape *shape);

/* The edit that makes a CPU take a GPU's path. */
extern const struct text_edit moving_gpu_edit;

/* An engine with a folder's text and these parts. */
struct clmove_engine *moving_engine_of(struct test_device *device,
                                       const struct moving_shape *shape,
                                       const char *kernel_directory);

struct moving_move {
    struct moving *src, *dst;
    size_t src_offset, dst_offset, size;
    uint32_t variant;
};

/* One move on the device's own queue and by the reference, without waiting.
 * Fails the running test when it is refused. */
void moving_move(struct clmove_engine *engine, const struct moving_move *move);

/* The reference's half alone. */
void moving_expect(const struct moving_move *move);

/* Whether two ranges of one allocation share a byte without being equal. */
int moving_overlaps(const struct moving_move *move);

/* Fails the running test unless both are equal; prints names and messages. */
void moving_status(const struct test_device *device, clmove_status status,
                   clmove_status want);

/* For a call that must be refused: status and a part of the sentence. */
void moving_refused(const struct test_device *device, clmove_status status,
                    clmove_status want, const char *text);

#endif
