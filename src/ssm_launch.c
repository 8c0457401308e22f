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

/* Where an array is read or written; arrays that are their own results are
 * read from scratch. */
static struct device_array describe_array(const struct step_plan *plan,
                                          enum step_array array,
                                          const struct memory_binding *scratch,
                                          struct banks *banks)
{
    const struct memory_binding *binding = &plan->array_bindings[array];
    if (array == ARRAY_ACCEPTED_IN && plan->accepted_in_place)
        binding = &scratch[0];
    if (array == ARRAY_COLUMN_IN && plan->column_in_place)
        binding = &scratch[1];
    if (plan->arrays[array].size == 0)
        return (struct device_array){.given = 0};
    return (struct device_array){.offset = binding->offset,
                                 .bank = banks_find(banks, binding),
                                 .given = 1};
}

/* Describes tables and arrays, which every launch needs; they take the first
 * banks. */
static clmove_status make_description(struct clmove_ssm_step *step,
                                      const struct step_plan *plan,
                                      const struct memory_binding *scratch,
                                      struct banks *banks)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_engine *engine = step->layout->engine;
    const struct clmove_log *log = &engine->log;
    const size_t size = sizeof(struct device_description) +
                        plan->table_count * sizeof(struct device_group);
    struct device_description *described = calloc(1, size);
    CHECK_MEMORY(described);
    struct device_group *groups = (struct device_group *)(described + 1);
    for (size_t i = 0; i < plan->table_count; i++) {
        const uint32_t bank = banks_find(banks, &plan->bindings[i]);
        describe_group(plan, i, bank, &groups[i]);
    }
    for (unsigned i = 0; i < ARRAY_COUNT; i++)
        described->arrays[i] =
            describe_array(plan, (enum step_array)i, scratch, banks);
    described->slot_count = step->params.slot_count;
    described->tokens_per_block = step->params.tokens_per_block;
    described->state_count = (cl_uint)plan->state_count;
    described->group_count = (cl_uint)plan->table_count;
    status = tiles_make_buffer(engine, described, size, &step->description);
out:
    free(described);
    return status;
}

static clmove_status set_arguments(const struct clmove_ssm_step *step,
                                   struct step_launch *launch)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &step->layout->engine->log;
    const cl_kernel kernel = launch->kernel.kernel;
    const cl_mem constants[] = {launch->tiles.cut, step->description};
    cl_uint index = launch->tiles.banks.limit;
    CHECK_CL(banks_set_arguments(&launch->tiles.banks, kernel));
    for (size_t i = 0; i < 2; i++)
        CHECK_CL(
            clSetKernelArg(kernel, index++, sizeof(cl_mem), &constants[i]));
    launch->rows_argument = index;
    launch->given_rows = UINT32_MAX;
out:
    return status;
}

/* Room for inputs that are their own results. */
static clmove_status make_scratch(struct clmove_ssm_step *step,
                                  const struct step_plan *plan,
                                  struct memory_binding scratch[2])
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_engine *engine = step->layout->engine;
    const struct clmove_log *log = &engine->log;
    const size_t size = step->params.slot_count * sizeof(cl_int);
    cl_int created = CL_SUCCESS;
    if (plan->accepted_in_place || plan->column_in_place) {
        step->scratch = clCreateBuffer(engine->context, CL_MEM_READ_WRITE,
                                       2 * size, NULL, &created);
        CHECK_CL(created);
    }
    scratch[0] = (struct memory_binding){step->scratch, NULL, 0};
    scratch[1] = (struct memory_binding){step->scratch, NULL, size};
out:
    return status;
}

/* The kernel that fills scratch. */
static clmove_status make_aside(struct clmove_ssm_step *step,
                                const struct step_plan *plan,
                                cl_program program)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_engine *engine = step->layout->engine;
    const struct clmove_log *log = &engine->log;
    const struct memory_binding *accepted =
        &plan->array_bindings[ARRAY_ACCEPTED_IN];
    const struct memory_binding *column =
        &plan->array_bindings[ARRAY_COLUMN_IN];
    const struct device_aside given = {accepted->offset, column->offset,
                                       step->params.slot_count};
    if (step->scratch == NULL)
        goto out;
    CHECK_STATUS(engine_make_kernel(engine, program, "clmove_ssm_aside",
                                    ASIDE_GROUP, &step->aside));
    const cl_kernel kernel = step->aside.kernel;
    CHECK_CL(memory_set_argument(kernel, 0,
                                 plan->accepted_in_place ? accepted : NULL));
    CHECK_CL(
        memory_set_argument(kernel, 1, plan->column_in_place ? column : NULL));
    CHECK_CL(clSetKernelArg(kernel, 2, sizeof step->scratch, &step->scratch));
    CHECK_CL(clSetKernelArg(kernel, 3, sizeof given, &given));
out:
    return status;
}

/* The kernels that look up blocks; they need no states. NVIDIA's driver refuses
 * a buffer where a kernel had SVM before, so each has one of its own. */
static clmove_status make_indices(struct clmove_ssm_step *step,
                                  const struct banks *banks, cl_program program)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_engine *engine = step->layout->engine;
    const struct clmove_log *log = &engine->log;
    const size_t kinds = engine->device.svm != 0 ? 2 : 1;
    for (size_t i = 0; i < kinds; i++) {
        CHECK_STATUS(engine_make_kernel(engine, program, "clmove_ssm_indices",
                                        engine->variant.group_size,
                                        &step->indices[i]));
        const cl_kernel kernel = step->indices[i].kernel;
        CHECK_CL(banks_set_arguments(banks, kernel));
        CHECK_CL(clSetKernelArg(kernel, banks->limit, sizeof step->description,
                                &step->description));
    }
    step->indices_out_argument = banks->limit + 1;
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
    CHECK_STATUS(set_arguments(step, launch));
    *first = launch->tiles.end;
out:
    return status;
}

clmove_status step_make_launches(struct clmove_ssm_step *step,
                                 const struct step_plan *plan)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &step->layout->engine->log;
    struct banks banks = {.count = 0};
    struct banks all = {.limit = BANKS_MAX};
    bool fits = true; /* all of them in one launch */
    struct memory_binding scratch[2];
    cl_program program = NULL;
    CHECK_STATUS(make_scratch(step, plan, scratch));
    /* How many buffers there are, to know which program takes them. */
    for (size_t i = 0; i < plan_total(plan); i++) {
        if (plan->views[i].size > 0 &&
            banks_find(&all, &plan->bindings[i]) == UINT32_MAX)
            fits = false;
    }
    if (step->scratch != NULL && banks_find(&all, &scratch[0]) == UINT32_MAX)
        fits = false;
    CHECK_STATUS(engine_program(step->layout->engine, CLMOVE_PART_STATES,
                                all.count, &program, &banks.limit));
    CHECK_STATUS(make_aside(step, plan, program));
    CHECK_STATUS(make_description(step, plan, scratch, &banks));
    /* Every launch needs these, and room for a state beside them. */
    fits = fits && all.count <= banks.limit;
    CHECK(fits || banks.count < banks.limit, CLMOVE_UNSUPPORTED,
          "tables and arrays lie in %u or more buffers, and a launch takes %u, "
          "one of them a state's",
          banks.count, banks.limit);
    CHECK_STATUS(make_indices(step, &banks, program));
    step->launches = calloc(plan->state_count, sizeof step->launches[0]);
    CHECK_MEMORY(step->launches);
    for (size_t first = 0; first < plan->state_count;)
        CHECK_STATUS(make_launch(step, plan, program, &banks, &first));
out:
    return status;
}
