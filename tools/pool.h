/* Where a replay's states lie: pages of blocks, layer by layer, in buffers. */

#ifndef TOOLS_POOL_H
#define TOOLS_POOL_H

#include "model.h"
#include "session.h"

/* What the user asked for. */
struct pool_request {
    const struct model *model;
    bool channels_first;   /* conv DS instead of SD */
    uint32_t element_size; /* of the conv state; 0: the model's */
    uint32_t layers;       /* the first ones; 0: all */
    uint32_t shrink;       /* divides conv dim and the outer temporal dim */
    uint32_t draft_tokens;
    uint32_t block_count; /* the null block included */
};

/* A page holds one block of one layer: the conv state, then the temporal state,
 * then padding. A layer is block_count pages; a buffer holds whole layers. */
struct pool_shape {
    bool channels_first;
    uint32_t layers, layers_per_buffer, buffer_count;
    uint32_t taps, width, dim, element_size, block_count;
    uint64_t token_size;      /* bytes of one conv token */
    uint64_t conv_size;       /* bytes */
    uint64_t temporal_offset; /* in the page */
    uint64_t temporal_size;   /* 0: the model has none */
    uint64_t page_size, layer_size, total_size;
};

struct pool {
    struct pool_shape shape;
    cl_mem *buffers; /* [buffer_count] */
};

/* Computes the shape for a device. Prints a refusal: a shrink that does not
 * divide, too many layers, a pool that does not fit (with the bytes it needs
 * and options that would fit). */
bool pool_plan(struct pool_shape *shape, const struct pool_request *request,
               const struct clmove_device_info *device);

/* Allocates the buffers; prints a failure. pool_destroy is needed then, too. */
bool pool_create(struct pool *pool, const struct pool_shape *shape,
                 const struct session *session);
void pool_destroy(struct pool *pool);

/* What a buffer holds. */
uint32_t pool_buffer_layers(const struct pool_shape *shape, uint32_t buffer);
uint64_t pool_buffer_size(const struct pool_shape *shape, uint32_t buffer);

/* Where a layer's pages start. */
cl_mem pool_layer_buffer(const struct pool *pool, uint32_t layer);
uint64_t pool_layer_offset(const struct pool_shape *shape, uint32_t layer);

/* The layout of all states: conv and temporal of layer 0, of layer 1, ...
 * NULL after printing the failure. */
struct clmove_ssm_layout *pool_layout(const struct pool *pool,
                                      struct clmove_engine *engine,
                                      uint32_t draft_tokens);

/* States of one layer: 1, or 2 with a temporal one. */
uint32_t pool_states_per_layer(const struct pool_shape *shape);

#endif
