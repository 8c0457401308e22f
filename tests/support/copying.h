/* Copies by block id between two layouts, beside the reference's. */

#ifndef COPYING_H
#define COPYING_H

#include "stage.h"

/* The scene's first half of states makes `from`, the second half `to`; or all
 * of them make one layout that is both. Fill in the scene, then open. */
struct copying {
    struct scene scene;
    struct stage stage;
    struct test_device *device;
    size_t state_count; /* of each layout */
    struct ref_state *from_states, *to_states;
    struct clmove_ssm_layout *from, *to; /* one object if they are one */
};

struct copying *copying_new(const char *test, const char *detail);

/* Both fail the running test when something cannot be made. */
void copying_open_one(struct copying *copying, struct test_device *device,
                      struct clmove_engine *engine);
void copying_open_two(struct copying *copying, struct test_device *device,
                      struct clmove_engine *engine);
/* `to` is what clmove_ssm_layout_pack makes of `from`, over the memory that the
 * scene's second half describes. */
void copying_open_packed(struct copying *copying, struct test_device *device,
                         struct clmove_engine *engine);

/* Adds the packed form of the scene's states so far, in a pool of its own of
 * `block_count` blocks, `offset` bytes into it. The description is the
 * documentation's: states one after another at multiples of 16. */
void copying_add_packed(struct copying *copying, uint32_t block_count,
                        uint64_t offset);

/* The other way round. */
void copying_turn(struct copying *copying);

/* Device and reference; waits. Fails the running test on a wrong status. */
void copying_copy(struct copying *copying, const struct clmove_ssm_copy *copies,
                  size_t count);
void copying_zero(struct copying *copying, uint32_t group,
                  const int32_t *blocks, size_t count);

/* Every byte of every allocation, by stage_compare; fails the running test. */
void copying_compare(struct copying *copying);

/* All that is left, after waiting for the device. */
void copying_close(struct copying *copying);

/* The status of a copy that is to be refused; the event must not come. */
clmove_status copying_try(struct copying *copying,
                          const struct clmove_ssm_copy *copies, size_t count);

#define COPIES(...)                                                            \
    (const struct clmove_ssm_copy[]){__VA_ARGS__},                             \
        sizeof((const struct clmove_ssm_copy[]){__VA_ARGS__}) /                \
            sizeof(struct clmove_ssm_copy)

#endif
