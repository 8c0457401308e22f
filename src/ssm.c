/* The layout: where a model's recurrent states live. */

#include "ssm.h"

#include "layout.h"
#include "memory.h"

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
    engine_release(layout->engine);
    free(layout->states);
    free(layout->views);
    free(layout->extents);
    free(layout->groups);
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

/* Layers of different groups may share a pool: their tables keep them apart. */
static clmove_status check_overlap(const struct clmove_ssm_layout *layout)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &layout->engine->log;
    for (size_t i = 0; i < layout->state_count; i++) {
        const struct strided_set a = state_set(layout, i);
        for (size_t j = 0; j < i; j++) {
            if (layout->states[i].group != layout->states[j].group ||
                layout->views[i].root != layout->views[j].root)
                continue;
            const struct strided_set b = state_set(layout, j);
            CHECK(!strided_sets_overlap(&a, &b), CLMOVE_OVERLAP,
                  "states[%zu] and states[%zu] of group %u overlap", j, i,
                  layout->states[i].group);
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
    made->engine = engine;
    engine_retain(engine);
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
