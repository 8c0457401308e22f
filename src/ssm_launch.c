/* The launches of a step: which states a kernel reaches, cut into tiles. */

#include "layout.h"
#include "ssm_step.h"

#include <stdlib.h>

/* The distinct buffers of one launch. */
struct banks {
    const struct memory_binding *items[64];
    uint32_t count, limit;
};

/* The bank of a binding, added if there is room; UINT32_MAX when there is not.
 */
static uint32_t find_bank(struct banks *banks,
                          const struct memory_binding *binding)
{
    for (uint32_t i = 0; i < banks->count; i++) {
        if (bindings_share(banks->items[i], binding))
            return i;
    }
    if (banks->count == banks->limit)
        return UINT32_MAX;
    banks->items[banks->count] = binding;
    return banks->count++;
}

static size_t count_distinct(const struct memory_binding *bindings,
                             size_t count)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < i && !bindings_share(&bindings[i], &bindings[j]))
            j++;
        distinct += j == i;
    }
    return distinct;
}

static clmove_status make_buffer(const struct clmove_engine *engine,
                                 const void *data, size_t size, cl_mem *buffer)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &engine->log;
    cl_int created = CL_SUCCESS;
    /* The data is only read: OpenCL's prototype lacks the const. */
    union {
        const void *from;
        void *host;
    } source = {data};
    *buffer =
        clCreateBuffer(engine->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                       size, source.host, &created);
    CHECK_CL(created);
out:
    return status;
}

/* A table's place, and the narrowest limits of the states that use it. */
static void describe_group(const struct step_plan *plan, size_t index,
                           uint32_t bank, struct device_group *group)
{
    const struct clmove_ssm_layout *layout = plan->step->layout;
    *group = (struct device_group){
        .table = plan->bindings[index].offset,
        .bank = bank,
        .columns = plan->tables[index].columns,
        .row_stride = plan->tables[index].row_stride,
        .has_null_block = layout->groups[index].has_null_block != 0,
        .null_block = layout->groups[index].null_block,
    };
    for (size_t i = 0; i < layout->state_count; i++) {
        const struct clmove_ssm_state *state = &layout->states[i];
        cl_uint *blocks = state->kind == CLMOVE_SSM_TEMPORAL
                              ? &group->temporal_blocks
                              : &group->conv_blocks;
        if (state->group != index)
            continue;
        if (*blocks == 0 || state->block_count < *blocks)
            *blocks = state->block_count;
        if (state->width > group->conv_width)
            group->conv_width = state->width;
    }
}

static clmove_status make_groups(struct clmove_ssm_step *step,
                                 const struct step_plan *plan,
                                 struct banks *banks)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_engine *engine = step->layout->engine;
    const struct clmove_log *log = &engine->log;
    const size_t count = plan->table_count;
    struct device_group *groups = calloc(count, sizeof groups[0]);
    CHECK_MEMORY(groups);
    for (size_t i = 0; i < count; i++) {
        const uint32_t bank = find_bank(banks, &plan->bindings[i]);
        describe_group(plan, i, bank, &groups[i]);
    }
    CHECK_STATUS(
        make_buffer(engine, groups, count * sizeof groups[0], &step->groups));
out:
    free(groups);
    return status;
}

/* Describes states from `first` on until the banks are full; *end is the first
 * that is left to the next launch. */
static void describe_states(const struct step_plan *plan, size_t first,
                            struct banks *banks, struct device_state *states,
                            size_t *end)
{
    const struct clmove_ssm_layout *layout = plan->step->layout;
    const uint32_t tile_size = layout->engine->variant.tile_size;
    bool full = false;
    *end = layout->state_count;
    for (size_t i = 0; i < layout->state_count; i++) {
        const struct clmove_ssm_state *state = &layout->states[i];
        const struct memory_binding *binding =
            &plan->bindings[plan->table_count + i];
        const uint32_t bank =
            i < first || full ? UINT32_MAX : find_bank(banks, binding);
        if (i >= first && bank == UINT32_MAX && !full) {
            full = true;
            *end = i;
        }
        states[i] = (struct device_state){
            .base = binding->offset,
            .block_stride = state->block_stride,
            .extent = state->kind == CLMOVE_SSM_TEMPORAL ? state->size
                      : state->kind == CLMOVE_SSM_CONV_DS
                          ? state->row_stride
                          : (uint64_t)state->dim * state->element_size,
            .part = layout_state_tiles(state, tile_size).part,
            .kind = state->kind,
            .group = state->group,
            .bank = bank,
            .block_count = state->block_count,
            .width = state->width,
            .dim = state->dim,
            .element_size = state->element_size,
        };
    }
}

static clmove_status make_tiles(const struct clmove_ssm_layout *layout,
                                size_t first, size_t end,
                                struct step_launch *launch)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_engine *engine = layout->engine;
    const struct clmove_log *log = &engine->log;
    const uint32_t tile_size = engine->variant.tile_size;
    cl_uint2 *tiles = NULL;
    uint64_t count = 0;
    for (size_t i = first; i < end; i++) {
        const uint64_t added =
            layout_state_tiles(&layout->states[i], tile_size).count;
        count = added > INT32_MAX ? INT32_MAX : count + added;
        CHECK(count < INT32_MAX / 16, CLMOVE_UNSUPPORTED,
              "states[%zu] is too large: a request's states may have %d tiles "
              "of %u bytes",
              i, INT32_MAX / 16, tile_size);
    }
    tiles = calloc(count, sizeof tiles[0]);
    CHECK_MEMORY(tiles);
    for (size_t i = first; i < end; i++) {
        const uint64_t parts =
            layout_state_tiles(&layout->states[i], tile_size).count;
        for (uint32_t part = 0; part < parts; part++) {
            tiles[launch->tile_count].s[0] = (cl_uint)i;
            tiles[launch->tile_count++].s[1] = part;
        }
    }
    CHECK_STATUS(
        make_buffer(engine, tiles, count * sizeof tiles[0], &launch->tiles));
out:
    free(tiles);
    return status;
}

static clmove_status set_arguments(const struct clmove_ssm_step *step,
                                   const struct step_plan *plan,
                                   const struct banks *banks,
                                   uint32_t bank_count,
                                   struct step_launch *launch)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &step->layout->engine->log;
    const cl_kernel kernel = launch->kernel.kernel;
    const struct memory_binding aside[2] = {
        {step->scratch, NULL, 0},
        {step->scratch, NULL, step->params.slot_count * sizeof(cl_int)}};
    const cl_uint numbers[] = {step->params.slot_count,
                               step->params.tokens_per_block,
                               (cl_uint)plan->state_count,
                               (cl_uint)plan->table_count, launch->tile_count};
    cl_uint index = 0;
    for (uint32_t i = 0; i < bank_count; i++)
        CHECK_CL(memory_set_argument(
            kernel, index++, i < banks->count ? banks->items[i] : NULL));
    const cl_mem constants[] = {launch->states, launch->tiles, step->groups};
    for (size_t i = 0; i < 3; i++)
        CHECK_CL(
            clSetKernelArg(kernel, index++, sizeof(cl_mem), &constants[i]));
    for (unsigned i = 0; i < ARRAY_COUNT; i++) {
        const struct memory_binding *binding = &plan->array_bindings[i];
        if (i == ARRAY_ACCEPTED_IN && plan->accepted_in_place)
            binding = &aside[0];
        if (i == ARRAY_COLUMN_IN && plan->column_in_place)
            binding = &aside[1];
        const cl_ulong offset = binding->offset;
        CHECK_CL(memory_set_argument(kernel, index++, binding));
        CHECK_CL(clSetKernelArg(kernel, index++, sizeof offset, &offset));
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        CHECK_CL(
            clSetKernelArg(kernel, index++, sizeof numbers[0], &numbers[i]));
    launch->rows_argument = index;
out:
    return status;
}

/* Scratch, and the kernel that fills it, for results that go where their
 * inputs are. */
static clmove_status make_aside(struct clmove_ssm_step *step,
                                const struct step_plan *plan,
                                cl_program program)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_engine *engine = step->layout->engine;
    const struct clmove_log *log = &engine->log;
    const cl_uint slot_count = step->params.slot_count;
    cl_int created = CL_SUCCESS;
    if (!plan->accepted_in_place && !plan->column_in_place)
        goto out;
    step->scratch =
        clCreateBuffer(engine->context, CL_MEM_READ_WRITE,
                       (size_t)slot_count * 2 * sizeof(cl_int), NULL, &created);
    CHECK_CL(created);
    step->aside = clCreateKernel(program, "clmove_ssm_aside", &created);
    CHECK_CL(created);
    const struct memory_binding *accepted =
        &plan->array_bindings[ARRAY_ACCEPTED_IN];
    const struct memory_binding *column =
        &plan->array_bindings[ARRAY_COLUMN_IN];
    const cl_ulong accepted_offset = accepted->offset;
    const cl_ulong column_offset = column->offset;
    CHECK_CL(memory_set_argument(step->aside, 0,
                                 plan->accepted_in_place ? accepted : NULL));
    CHECK_CL(clSetKernelArg(step->aside, 1, sizeof accepted_offset,
                            &accepted_offset));
    CHECK_CL(memory_set_argument(step->aside, 2,
                                 plan->column_in_place ? column : NULL));
    CHECK_CL(
        clSetKernelArg(step->aside, 3, sizeof column_offset, &column_offset));
    CHECK_CL(
        clSetKernelArg(step->aside, 4, sizeof step->scratch, &step->scratch));
    CHECK_CL(clSetKernelArg(step->aside, 5, sizeof slot_count, &slot_count));
out:
    return status;
}

static clmove_status make_launch(struct clmove_ssm_step *step,
                                 const struct step_plan *plan,
                                 cl_program program, struct banks banks,
                                 uint32_t bank_count, size_t first, size_t *end)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_ssm_layout *layout = step->layout;
    const struct clmove_engine *engine = layout->engine;
    const struct clmove_log *log = &engine->log;
    struct step_launch *launch = &step->launches[step->launch_count++];
    struct device_state *states = calloc(plan->state_count, sizeof states[0]);
    CHECK_MEMORY(states);
    describe_states(plan, first, &banks, states, end);
    CHECK_STATUS(make_buffer(
        engine, states, plan->state_count * sizeof states[0], &launch->states));
    CHECK_STATUS(make_tiles(layout, first, *end, launch));
    CHECK_STATUS(engine_make_kernel(engine, program, "clmove_ssm_step",
                                    engine->variant.group_size,
                                    &launch->kernel));
    CHECK_STATUS(set_arguments(step, plan, &banks, bank_count, launch));
out:
    free(states);
    return status;
}

clmove_status step_make_launches(struct clmove_ssm_step *step,
                                 const struct step_plan *plan)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &step->layout->engine->log;
    const size_t tables = count_distinct(plan->bindings, plan->table_count);
    const size_t distinct =
        count_distinct(plan->bindings, plan->table_count + plan->state_count);
    struct banks banks = {.count = 0};
    cl_program program = NULL;
    CHECK_STATUS(engine_program(step->layout->engine, CLMOVE_PART_STATES,
                                distinct, &program, &banks.limit));
    /* Every launch needs the tables, and room for states beside them. */
    CHECK(distinct <= banks.limit || tables <= banks.limit / 2,
          CLMOVE_UNSUPPORTED,
          "the tables lie in %zu buffers, and at most %u are supported", tables,
          banks.limit / 2);
    CHECK_STATUS(make_aside(step, plan, program));
    CHECK_STATUS(make_groups(step, plan, &banks));
    step->launches = calloc(plan->state_count, sizeof step->launches[0]);
    CHECK_MEMORY(step->launches);
    for (size_t first = 0; first < plan->state_count;)
        CHECK_STATUS(make_launch(step, plan, program, banks, banks.limit, first,
                                 &first));
out:
    return status;
}
