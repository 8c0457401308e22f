/* Batches of moves, on the device and by the reference. */

#ifndef MOVING_BATCH_H
#define MOVING_BATCH_H

#include "moving.h"

/* A memory of a batch: an allocation from `offset` on, through a handle of its
 * own (a sub-buffer at `origin`) if there is one. */
struct moving_place {
    struct moving *moving;
    size_t offset; /* from the allocation's start */
    cl_mem window; /* or NULL */
    size_t origin; /* of the window */
};

/* A batch's arguments; see clmove_batch_params. */
struct moving_list {
    const struct moving_place *places;
    size_t place_count;
    const struct clmove_region *regions;
    size_t region_count;
    uint32_t variant;
    uint64_t scratch_limit;
    struct clmove_memory scratch;
};

/* Returns what clmove_batch_create returns. */
clmove_status moving_batch_try(struct test_device *device,
                               struct clmove_engine *engine,
                               const struct moving_list *list,
                               struct clmove_batch **batch);

/* The same; fails the running test when it is refused. */
struct clmove_batch *moving_batch_create(struct test_device *device,
                                         struct clmove_engine *engine,
                                         const struct moving_list *list);

/* By the reference. */
void moving_batch_expect(const struct moving_list *list);

/* Creates, enqueues on the device's own queue, destroys, expects; doesn't wait.
 */
void moving_batch_run(struct test_device *device, struct clmove_engine *engine,
                      const struct moving_list *list);

/* For regions in one memory, with the device's engine. */
void moving_batch(struct test_device *device, struct moving *moving,
                  const struct clmove_region *regions, size_t count);

#endif
