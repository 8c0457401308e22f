/* The launches of a step: which states a kernel reaches, cut into tiles. */

#include "ssm_step.h"

#include <stdlib.h>

/* A table's place, and the narrowest limits of the states that use it. */
static void describe_group(const struct step_plan *plan, size_t index,
                           uint32_t bank, struct device_group *group)
{
    const struct clmove_ssm_layout *layout = plan->step->layout;
    const bool skips_temporal =
        (plan->step->params.flags & CLMOVE_SSM_SKIP_TEMPORAL) != 0;
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
        const bool temporal = state->kind == CLMOVE_SSM_TEMPORAL;
        cl_uint *blocks =
            temporal ? &group->temporal_blocks : &group->conv_blocks;
        if (state->group != index || (temporal && skips_temporal))
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
        const uint32_t bank = banks_find(banks, &plan->bindings[i]);
        describe_group(plan, i, bank, &groups[i]);
    }
    status = tiles_make_buffer(engine, groups, count * sizeof groups[0],
                               &step->groups);
out:
    free(groups);
    return status;
}

/* Sets an array's address and offset; *index moves on. */
static cl_int set_array(cl_kernel kernel, cl_uint *index,
                        const struct memory_binding *binding)
{
    const cl_ulong offset = binding->offset;
    cl_int status = memory_set_argument(kernel, (*index)++, binding);
    if (status == CL_SUCCESS)
        status = clSetKernelArg(kernel, (*index)++, sizeof offset, &offset);
    return status;
}

static cl_int set_numbers(cl_kernel kernel, cl_uint *index,
                          const cl_uint *numbers, size_t count)
{
    cl_int status = CL_SUCCESS;
    for (size_t i = 0; i < count && status == CL_SUCCESS; i++)
        status =
            clSetKernelArg(kernel, (*index)++, sizeof numbers[i], &numbers[i]);
    return status;
}

static clmove_status set_arguments(const struct clmove_ssm_step *step,
                                   const struct step_plan *plan,
                                   struct step_launch *launch)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &step->layout->engine->log;
    const cl_kernel kernel = launch->kernel.kernel;
    const struct memory_binding aside[2] = {
        {step->scratch, NULL, 0},
        {step->scratch, NULL, step->params.slot_count * sizeof(cl_int)}};
    const cl_uint numbers[] = {
        step->params.slot_count, step->params.tokens_per_block,
        (cl_uint)plan->state_count, (cl_uint)plan->table_count,
        launch->tiles.tile_count};
    cl_uint index = launch->tiles.banks.limit;
    CHECK_CL(banks_set_arguments(&launch->tiles.banks, kernel));
    const cl_mem constants[] = {launch->tiles.states, launch->tiles.tiles,
                                step->groups};
    for (size_t i = 0; i < 3; i++)
        CHECK_CL(
            clSetKernelArg(kernel, index++, sizeof(cl_mem), &constants[i]));
    for (unsigned i = 0; i < ARRAY_COUNT; i++) {
        const struct memory_binding *binding = &plan->array_bindings[i];
        if (i == ARRAY_ACCEPTED_IN && plan->accepted_in_place)
            binding = &aside[0];
        if (i == ARRAY_COLUMN_IN && plan->column_in_place)
            binding = &aside[1];
        CHECK_CL(set_array(kernel, &index, binding));
    }
    CHECK_CL(set_numbers(kernel, &index, numbers,
                         sizeof numbers / sizeof numbers[0]));
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
    static const struct memory_binding absent;
    cl_int created = CL_SUCCESS;
    cl_uint index = 0;
    if (!plan->accepted_in_place && !plan->column_in_place)
        goto out;
    step->scratch =
        clCreateBuffer(engine->context, CL_MEM_READ_WRITE,
                       (size_t)slot_count * 2 * sizeof(cl_int), NULL, &created);
    CHECK_CL(created);
    CHECK_STATUS(engine_make_kernel(engine, program, "clmove_ssm_aside", 1,
                                    &step->aside));
    const cl_kernel kernel = step->aside.kernel;
    CHECK_CL(set_array(kernel, &index,
                       plan->accepted_in_place
                           ? &plan->array_bindings[ARRAY_ACCEPTED_IN]
                           : &absent));
    CHECK_CL(set_array(kernel, &index,
                       plan->column_in_place
                           ? &plan->array_bindings[ARRAY_COLUMN_IN]
                           : &absent));
    CHECK_CL(
        clSetKernelArg(kernel, index++, sizeof step->scratch, &step->scratch));
    CHECK_CL(set_numbers(kernel, &index, &slot_count, 1));
out:
    return status;
}

/* The kernel that looks up blocks; it needs the tables' banks only. */
static clmove_status make_indices(struct clmove_ssm_step *step,
                                  const struct step_plan *plan,
                                  const struct banks *banks, cl_program program)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_engine *engine = step->layout->engine;
    const struct clmove_log *log = &engine->log;
    static const enum step_array arrays[] = {
        ARRAY_SLOT_OF, ARRAY_COMPUTED, ARRAY_SCHEDULED, ARRAY_QUERY_STARTS};
    cl_uint index = banks->limit;
    CHECK_STATUS(engine_make_kernel(engine, program, "clmove_ssm_indices",
                                    engine->variant.group_size,
                                    &step->indices));
    const cl_kernel kernel = step->indices.kernel;
    CHECK_CL(banks_set_arguments(banks, kernel));
    CHECK_CL(
        clSetKernelArg(kernel, index++, sizeof step->groups, &step->groups));
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        CHECK_CL(set_array(kernel, &index, &plan->array_bindings[arrays[i]]));
    step->indices_out_argument = index;
out:
    return status;
}

static clmove_status make_launch(struct clmove_ssm_step *step,
                                 const struct step_plan *plan,
                                 cl_program program, const struct banks *banks,
                                 size_t *first)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_ssm_layout *layout = step->layout;
    const struct tile_source source = {
        layout, layout, plan->bindings + plan->table_count,
        plan->bindings + plan->table_count,
        (step->params.flags & CLMOVE_SSM_SKIP_TEMPORAL) != 0};
    struct step_launch *launch = &step->launches[step->launch_count++];
    CHECK_STATUS(tiles_make_launch(&source, *first, banks, &launch->tiles));
    CHECK_STATUS(engine_make_kernel(layout->engine, program, "clmove_ssm_step",
                                    layout->engine->variant.group_size,
                                    &launch->kernel));
    CHECK_STATUS(set_arguments(step, plan, launch));
    *first = launch->tiles.end;
out:
    return status;
}

clmove_status step_make_launches(struct clmove_ssm_step *step,
                                 const struct step_plan *plan)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &step->layout->engine->log;
    const size_t tables =
        banks_count_distinct(plan->bindings, plan->table_count);
    const size_t distinct = banks_count_distinct(
        plan->bindings, plan->table_count + plan->state_count);
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
    CHECK_STATUS(make_indices(step, plan, &banks, program));
    step->launches = calloc(plan->state_count, sizeof step->launches[0]);
    CHECK_MEMORY(step->launches);
    for (size_t first = 0; first < plan->state_count;)
        CHECK_STATUS(make_launch(step, plan, program, &banks, &first));
out:
    return status;
}
