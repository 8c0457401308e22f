/* Geometry of state tensors, pure arithmetic. */

#ifndef LAYOUT_H
#define LAYOUT_H

#include "check.h"

#include <clmove/ssm.h>
#include <stdbool.h>

/* Blocks that all have one size, at equal distances of at least that. */
struct strided_set {
    uint64_t origin, stride, size, count;
};

/* Whether a byte belongs to both sets; neither wraps 64 bits. */
bool strided_sets_overlap(const struct strided_set *a,
                          const struct strided_set *b);

/* Checks the shape of params->states[index] alone, fills in the strides that
 * are 0, and writes the bytes from a block's first to its last to `extent`. */
clmove_status layout_complete_state(
    const struct clmove_log *log, const struct clmove_ssm_layout_params *params,
    size_t index, struct clmove_ssm_state *state, uint64_t *extent);

/* Bytes from the first block's start to the last block's end. */
bool layout_state_span(const struct clmove_ssm_state *state, uint64_t extent,
                       uint64_t *span);

/* How a state is cut into tiles of about tile_size bytes. */
struct state_tiles {
    uint64_t part; /* temporal: bytes; SD: bytes of every token; DS: rows */
    uint64_t count;
};

struct state_tiles layout_state_tiles(const struct clmove_ssm_state *state,
                                      uint32_t tile_size);

#endif
