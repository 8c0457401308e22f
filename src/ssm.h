/* The layout of recurrent states, as steps see it. */

#ifndef SSM_H
#define SSM_H

#include "bind.h"
#include "engine.h"

#include <clmove/ssm.h>

/* Blocks that all windows of a group have, and all its temporal states. */
struct layout_blocks {
    uint32_t conv, temporal;
};

/* What is kept of calls that the host lists blocks for; see ssm_listing.h. */
enum listing_kind { LISTING_WITHIN, LISTING_FROM, LISTING_ZERO, LISTING_COUNT };

struct clmove_ssm_layout {
    atomic_uint references;
    uint64_t id; /* no other layout of the engine has had it */
    struct clmove_engine *engine;
    pthread_mutex_t mutex; /* guards listings, and their kernels' arguments */
    struct ssm_listing *listings[LISTING_COUNT]; /* made when first used */
    size_t state_count, group_count;
    struct clmove_ssm_state *states; /* strides filled in */
    struct memory_view *views;       /* of states: first to last block's end;
                                        their handles are retained */
    uint64_t *extents;               /* of states: bytes of one block */
    struct clmove_ssm_group *groups;
    struct layout_blocks *blocks; /* of groups */
    uint32_t *pools;  /* of groups: the first of those that share memory */
    bool pools_alike; /* such groups place each block alike */
};

/* Whether a byte belongs to blocks of both states. */
bool layout_states_overlap(const struct clmove_ssm_layout *a, size_t i,
                           const struct clmove_ssm_layout *b, size_t j);

void layout_retain(struct clmove_ssm_layout *layout);
void layout_release(struct clmove_ssm_layout *layout);

#endif
