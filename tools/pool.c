/* Where a replay's states lie: pages of blocks, layer by layer, in buffers. */

#include "pool.h"

#include "schedule.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    STATE_ALIGNMENT = 16, /* of the temporal state in its page */
    PAGE_ALIGNMENT = 256  /* engines round a page up to a common size */
};

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* No device has UINT64_MAX bytes: it stands for all that is more. */
static uint64_t times(uint64_t size, uint64_t count)
{
    return size > UINT64_MAX / count ? UINT64_MAX : size * count;
}

/* The shape on a device without limits. */
static void shape_of(struct pool_shape *shape,
                     const struct pool_request *request, uint32_t layers,
                     uint32_t shrink)
{
    const struct model *model = request->model;
    memset(shape, 0, sizeof *shape);
    shape->channels_first = request->channels_first;
    shape->layers = layers;
    shape->taps = model->taps;
    shape->width = model->taps - 1 + request->draft_tokens;
    shape->dim = model->conv_dim / shrink;
    shape->element_size =
        request->element_size ? request->element_size : model->conv_element;
    shape->block_count = request->block_count;
    shape->token_size = (uint64_t)shape->dim * shape->element_size;
    shape->conv_size = shape->token_size * shape->width;
    shape->temporal_offset = round_up(shape->conv_size, STATE_ALIGNMENT);
    shape->temporal_size = model->temporal_outer / shrink *
                           model->temporal_inner * model->temporal_element;
    /* Always some padding: nothing may touch it. */
    shape->page_size = round_up(
        shape->temporal_offset + shape->temporal_size + 1, PAGE_ALIGNMENT);
    shape->layer_size = times(shape->page_size, shape->block_count);
    shape->total_size = times(shape->layer_size, shape->layers);
}

static bool divides(const struct model *model, uint32_t shrink)
{
    return model->conv_dim % shrink == 0 && model->temporal_outer % shrink == 0;
}

/* Layers of this shape that the device can hold. */
static uint64_t layers_that_fit(const struct pool_shape *shape,
                                const struct clmove_device_info *device)
{
    /* Tables, arrays and the driver need a little as well. */
    uint64_t usable = device->global_size - device->global_size / 16;
    if (shape->layer_size > device->max_allocation)
        return 0;
    return usable / shape->layer_size;
}

static void print_too_large(const struct pool_shape *shape,
                            const struct pool_request *request,
                            const struct clmove_device_info *device)
{
    cli_error("the pool of %u layers x %u blocks x %" PRIu64
              " bytes needs %" PRIu64 " bytes, a layer %" PRIu64
              "; the device has %" PRIu64 ", at most %" PRIu64 " in one buffer",
              shape->layers, shape->block_count, shape->page_size,
              shape->total_size, shape->layer_size, device->global_size,
              device->max_allocation);
    const struct model *model = request->model;
    for (uint32_t shrink = request->shrink; shrink <= model->conv_dim;
         shrink++) {
        struct pool_shape smaller;
        if (!divides(model, shrink))
            continue;
        shape_of(&smaller, request, shape->layers, shrink);
        uint64_t layers = layers_that_fit(&smaller, device);
        if (layers > shape->layers)
            layers = shape->layers;
        /* One layer is a poor model where the user asked for several. */
        if (layers < 2 && layers < shape->layers)
            continue;
        cli_error("this would fit: --layers %" PRIu64 " --shrink %u", layers,
                  shrink);
        return;
    }
    cli_error("no --layers and --shrink would make it fit; use a larger "
              "--block-size or fewer --steps");
}

bool pool_plan(struct pool_shape *shape, const struct pool_request *request,
               const struct clmove_device_info *device)
{
    const struct model *model = request->model;
    if (request->layers > model->layers) {
        cli_error("--layers %u is more than the %u recurrent layers of %s",
                  request->layers, model->layers, model->name);
        return false;
    }
    if (model->conv_dim % request->shrink != 0) {
        cli_error("--shrink %u does not divide the conv dim of %s, %u",
                  request->shrink, model->name, model->conv_dim);
        return false;
    }
    if (!divides(model, request->shrink)) {
        cli_error("--shrink %u does not divide the outermost temporal "
                  "dimension of %s, %" PRIu64,
                  request->shrink, model->name, model->temporal_outer);
        return false;
    }
    shape_of(shape, request, request->layers ? request->layers : model->layers,
             request->shrink);
    if (layers_that_fit(shape, device) < shape->layers) {
        print_too_large(shape, request, device);
        return false;
    }
    uint64_t together = device->max_allocation / shape->layer_size;
    shape->layers_per_buffer =
        together < shape->layers ? (uint32_t)together : shape->layers;
    shape->buffer_count = (shape->layers + shape->layers_per_buffer - 1) /
                          shape->layers_per_buffer;
    return true;
}

uint32_t pool_buffer_layers(const struct pool_shape *shape, uint32_t buffer)
{
    uint32_t rest = shape->layers - buffer * shape->layers_per_buffer;
    return rest < shape->layers_per_buffer ? rest : shape->layers_per_buffer;
}

uint64_t pool_buffer_size(const struct pool_shape *shape, uint32_t buffer)
{
    return pool_buffer_layers(shape, buffer) * shape->layer_size;
}

bool pool_create(struct pool *pool, const struct pool_shape *shape,
                 const struct session *session)
{
    pool->shape = *shape;
    pool->buffers = calloc(shape->buffer_count, sizeof *pool->buffers);
    if (!pool->buffers) {
        cli_error("out of memory");
        return false;
    }
    for (uint32_t i = 0; i < shape->buffer_count; i++) {
        pool->buffers[i] = session_buffer(
            session, (size_t)pool_buffer_size(shape, i), "the pool");
        if (!pool->buffers[i])
            return false;
    }
    return true;
}

void pool_destroy(struct pool *pool)
{
    for (uint32_t i = 0; pool->buffers && i < pool->shape.buffer_count; i++)
        session_release(&pool->buffers[i]);
    free(pool->buffers);
    memset(pool, 0, sizeof *pool);
}

cl_mem pool_layer_buffer(const struct pool *pool, uint32_t layer)
{
    return pool->buffers[layer / pool->shape.layers_per_buffer];
}

uint64_t pool_layer_offset(const struct pool_shape *shape, uint32_t layer)
{
    return layer % shape->layers_per_buffer * shape->layer_size;
}

uint32_t pool_states_per_layer(const struct pool_shape *shape)
{
    return shape->temporal_size ? 2 : 1;
}

static void describe_states(const struct pool *pool,
                            struct clmove_ssm_state *states)
{
    const struct pool_shape *shape = &pool->shape;
    uint32_t per_layer = pool_states_per_layer(shape);
    for (uint32_t layer = 0; layer < shape->layers; layer++) {
        struct clmove_ssm_state *conv = &states[layer * per_layer];
        uint64_t offset = pool_layer_offset(shape, layer);
        conv->kind =
            shape->channels_first ? CLMOVE_SSM_CONV_DS : CLMOVE_SSM_CONV_SD;
        conv->block_count = shape->block_count;
        conv->width = shape->width;
        conv->dim = shape->dim;
        conv->element_size = shape->element_size;
        conv->taps = shape->taps;
        conv->block_stride = shape->page_size;
        conv->memory =
            session_memory(pool_layer_buffer(pool, layer), (size_t)offset,
                           (size_t)shape->layer_size);
        if (!shape->temporal_size)
            continue;
        struct clmove_ssm_state *temporal = conv + 1;
        temporal->kind = CLMOVE_SSM_TEMPORAL;
        temporal->block_count = shape->block_count;
        temporal->size = shape->temporal_size;
        temporal->block_stride = shape->page_size;
        temporal->memory = conv->memory;
        temporal->memory.offset += (size_t)shape->temporal_offset;
        temporal->memory.size -= (size_t)shape->temporal_offset;
    }
}

struct clmove_ssm_layout *pool_layout(const struct pool *pool,
                                      struct clmove_engine *engine,
                                      uint32_t draft_tokens)
{
    size_t count =
        (size_t)pool->shape.layers * pool_states_per_layer(&pool->shape);
    struct clmove_ssm_state *states = calloc(count, sizeof *states);
    if (!states) {
        cli_error("out of memory");
        return NULL;
    }
    describe_states(pool, states);
    struct clmove_ssm_group group = {1, SCHEDULE_NULL_BLOCK};
    struct clmove_ssm_layout_params params;
    memset(&params, 0, sizeof params);
    params.states = states;
    params.state_count = count;
    params.groups = &group;
    params.group_count = 1;
    params.draft_tokens = draft_tokens;
    struct clmove_ssm_layout *layout = NULL;
    clmove_status status = clmove_ssm_layout_create(engine, &params, &layout);
    free(states);
    if (session_failed(status, "clmove_ssm_layout_create"))
        return NULL;
    return layout;
}
