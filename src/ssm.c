/* The layout: where a model's recurrent states live. */

#include "ssm.h"

#include "layout.h"
#include "memory.h"
#include "ssm_listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void layout_retain(struct clmove_ssm_layout *layout)
{
    atomic_fetch_add(&layout->references, 1);
}

void layout_release(struct clmove_ssm_layout *layout)
{
    if (layout == NULL || atomic_fetch_sub(&layout->references, 1) != 1)
        return;
    for (size_t i = 0; layout->views != NULL && i < layout->state_count; i++) {
        if (layout->views[i].handle != NULL)
            clReleaseMemObject(layout->views[i].handle);
    }
    for (unsigned i = 0; i < LISTING_COUNT; i++)
        listing_release(layout->listings[i]);
    pthread_mutex_destroy(&layout->mutex);
    engine_release(layout->engine);
    free(layout->states);
    free(layout->views);
    free(layout->extents);
    free(layout->groups);
    free(layout->blocks);
    free(layout->pools);
    free(layout);
}

static clmove_status add_state(struct clmove_ssm_layout *layout,
                               const struct clmove_ssm_layout_params *params,
                               size_t index)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &layout->engine->log;
    const struct memory_use use = {layout->engine->context,
                                   &layout->engine->device, log, true, true};
    struct clmove_ssm_state *state = &layout->states[index];
    struct memory_view view;
    uint64_t span = 0;
    char name[48];
    snprintf(name, sizeof name, "states[%zu].memory", index);
    CHECK_STATUS(layout_complete_state(log, params, index, state,
                                       &layout->extents[index]));
    CHECK_STATUS(memory_look_up(&use, name, &state->memory, &view));
    CHECK(layout_state_span(state, layout->extents[index], &span) &&
              span <= view.size,
          CLMOVE_OUT_OF_RANGE,
          "%s has %llu bytes, and %u blocks of %llu bytes, %llu apart, end "
          "after %llu",
          name, (unsigned long long)view.size, state->block_count,
          (unsigned long long)layout->extents[index],
          (unsigned long long)state->block_stride, (unsigned long long)span);
    view.size = span;
    if (view.handle != NULL)
        CHECK_CL(clRetainMemObject(view.handle));
    layout->views[index] = view;
    struct layout_blocks *blocks = &layout->blocks[state->group];
    uint32_t *least =
        state->kind == CLMOVE_SSM_TEMPORAL ? &blocks->temporal : &blocks->conv;
    if (state->block_count < *least)
        *least = state->block_count;
out:
    return status;
}

static struct strided_set state_set(const struct clmove_ssm_layout *layout,
                                    size_t index)
{
    return (struct strided_set){
        view_origin(&layout->views[index]), layout->states[index].block_stride,
        layout->extents[index], layout->states[index].block_count};
}

bool layout_states_overlap(const struct clmove_ssm_layout *a, size_t i,
                           const struct clmove_ssm_layout *b, size_t j)
{
    const struct strided_set left = state_set(a, i);
    const struct strided_set right = state_set(b, j);
    return a->views[i].root == b->views[j].root &&
           strided_sets_overlap(&left, &right);
}

/* Whether a block of one state shares bytes with the same block of another, and
 * with no other. */
static bool states_alike(const struct clmove_ssm_layout *layout, size_t i,
                         size_t j)
{
    const struct strided_set a = state_set(layout, i);
    const struct strided_set b = state_set(layout, j);
    const uint64_t first = a.origin < b.origin ? a.origin : b.origin;
    const uint64_t stride = a.stride;
    return a.stride == b.stride && a.origin - first + a.size <= stride &&
           b.origin - first + b.size <= stride;
}

/* Layers of different groups may share a pool: their tables keep them apart. */
static clmove_status check_overlap(struct clmove_ssm_layout *layout)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &layout->engine->log;
    layout->pools_alike = true;
    for (uint32_t i = 0; i < layout->group_count; i++)
        layout->pools[i] = i;
    for (size_t i = 0; i < layout->state_count; i++) {
        for (size_t j = 0; j < i; j++) {
            const uint32_t left = layout->states[i].group;
            const uint32_t right = layout->states[j].group;
            if (!layout_states_overlap(layout, i, layout, j))
                continue;
            CHECK(left != right, CLMOVE_OVERLAP,
                  "states[%zu] and states[%zu] of group %u overlap", j, i,
                  left);
            layout->pools_alike =
                layout->pools_alike && states_alike(layout, i, j);
            const uint32_t old = layout->pools[left];
            const uint32_t other = layout->pools[right];
            for (uint32_t k = 0; k < layout->group_count; k++) {
                if (layout->pools[k] == old || layout->pools[k] == other)
                    layout->pools[k] = old < other ? old : other;
            }
        }
    }
out:
    return status;
}

static clmove_status allocate(struct clmove_ssm_layout *layout,
                              const struct clmove_ssm_layout_params *params)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &layout->engine->log;
    layout->states = calloc(params->state_count, sizeof layout->states[0]);
    CHECK_MEMORY(layout->states);
    layout->views = calloc(params->state_count, sizeof layout->views[0]);
    CHECK_MEMORY(layout->views);
    layout->extents = calloc(params->state_count, sizeof layout->extents[0]);
    CHECK_MEMORY(layout->extents);
    layout->groups = calloc(params->group_count, sizeof layout->groups[0]);
    CHECK_MEMORY(layout->groups);
    layout->blocks = calloc(params->group_count, sizeof layout->blocks[0]);
    CHECK_MEMORY(layout->blocks);
    for (size_t i = 0; i < params->group_count; i++)
        layout->blocks[i] = (struct layout_blocks){UINT32_MAX, UINT32_MAX};
    layout->pools = calloc(params->group_count, sizeof layout->pools[0]);
    CHECK_MEMORY(layout->pools);
    layout->state_count = params->state_count;
    layout->group_count = params->group_count;
    if (params->groups != NULL)
        memcpy(layout->groups, params->groups,
               params->group_count * sizeof layout->groups[0]);
out:
    return status;
}

clmove_status
clmove_ssm_layout_create(struct clmove_engine *engine,
                         const struct clmove_ssm_layout_params *params,
                         struct clmove_ssm_layout **layout)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = engine == NULL ? NULL : &engine->log;
    struct clmove_ssm_layout *made = NULL;
    if (layout != NULL)
        *layout = NULL;
    CHECK(engine != NULL && params != NULL && layout != NULL,
          CLMOVE_INVALID_ARGUMENT, "%s is NULL",
          engine == NULL   ? "engine"
          : params == NULL ? "params"
                           : "layout");
    CHECK(params->states != NULL && params->state_count > 0 &&
              params->state_count <= UINT16_MAX,
          CLMOVE_INVALID_ARGUMENT,
          "params->state_count is %zu, and must be 1 to 65535, with states",
          params->state_count);
    CHECK(params->group_count > 0 && params->group_count <= UINT16_MAX,
          CLMOVE_INVALID_ARGUMENT,
          "params->group_count is %zu, and must be 1 to 65535",
          params->group_count);
    made = calloc(1, sizeof *made);
    CHECK_MEMORY(made);
    atomic_init(&made->references, 1);
    pthread_mutex_init(&made->mutex, NULL);
    made->engine = engine;
    engine_retain(engine);
    made->id = atomic_fetch_add(&engine->layouts_made, 1);
    CHECK_STATUS(allocate(made, params));
    for (size_t i = 0; i < params->state_count; i++)
        CHECK_STATUS(add_state(made, params, i));
    CHECK_STATUS(check_overlap(made));
    *layout = made;
    made = NULL;
out:
    layout_release(made);
    return status;
}

void clmove_ssm_layout_destroy(struct clmove_ssm_layout **layout)
{
    if (layout == NULL)
        return;
    layout_release(*layout);
    *layout = NULL;
}
