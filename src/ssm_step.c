/* A step: a layout with the arrays of one kind of step, bound and checked. */

#include "ssm_step.h"

#include "layout.h"
#include "util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many entries an array has. */
enum array_extent { BY_ROW, BY_SLOT, BY_ROW_AND_END };

/* What each array is: its name, who writes it, its entries' number and size. */
static const struct array_kind {
    const char *name;
    bool writes;
    enum array_extent extent;
    uint32_t entry_size;
} array_kinds[ARRAY_COUNT] = {
    [ARRAY_SLOT_OF] = {"slot_of", false, BY_ROW, 4},
    [ARRAY_COMPUTED] = {"computed", false, BY_SLOT, 4},
    [ARRAY_SCHEDULED] = {"scheduled", false, BY_ROW, 4},
    [ARRAY_QUERY_STARTS] = {"query_starts", false, BY_ROW_AND_END, 4},
    [ARRAY_DRAFT] = {"draft", false, BY_ROW, 4},
    [ARRAY_NOW_COMPUTED] = {"now_computed", false, BY_SLOT, 4},
    [ARRAY_ACCEPTED_IN] = {"accepted_in", false, BY_SLOT, 4},
    [ARRAY_ACCEPTED_OUT] = {"accepted_out", true, BY_SLOT, 4},
    [ARRAY_COLUMN_IN] = {"column_in", false, BY_SLOT, 4},
    [ARRAY_COLUMN_OUT] = {"column_out", true, BY_SLOT, 4},
    [ARRAY_COPY_SOURCE] = {"copy_source", false, BY_SLOT, 4},
    [ARRAY_COPY_DESTINATION] = {"copy_destination", false, BY_SLOT, 4},
    [ARRAY_COPY_BIAS] = {"copy_bias", false, BY_SLOT, 4},
    [ARRAY_FAULTS] = {"faults", true, BY_ROW, 16},
};

const char *step_array_name(enum step_array array)
{
    return array_kinds[array].name;
}

static const struct clmove_memory *
array_memory(const struct clmove_ssm_step_params *params, enum step_array array)
{
    const struct clmove_memory *const memories[ARRAY_COUNT] = {
        [ARRAY_SLOT_OF] = &params->slot_of,
        [ARRAY_COMPUTED] = &params->computed,
        [ARRAY_SCHEDULED] = &params->scheduled,
        [ARRAY_QUERY_STARTS] = &params->query_starts,
        [ARRAY_DRAFT] = &params->draft,
        [ARRAY_NOW_COMPUTED] = &params->now_computed,
        [ARRAY_ACCEPTED_IN] = &params->accepted_in,
        [ARRAY_ACCEPTED_OUT] = &params->accepted_out,
        [ARRAY_COLUMN_IN] = &params->column_in,
        [ARRAY_COLUMN_OUT] = &params->column_out,
        [ARRAY_COPY_SOURCE] = &params->copy_source,
        [ARRAY_COPY_DESTINATION] = &params->copy_destination,
        [ARRAY_COPY_BIAS] = &params->copy_bias,
        [ARRAY_FAULTS] = &params->faults,
    };
    return memories[array];
}

static clmove_status check_alignment(const struct clmove_log *log,
                                     const char *name,
                                     const struct memory_view *view)
{
    clmove_status status = CLMOVE_SUCCESS;
    CHECK((view->misalignment + view->offset) % 4 == 0, CLMOVE_INVALID_ARGUMENT,
          "%s: offset %llu puts its int32 entries at an address that is no "
          "multiple of 4",
          name, (unsigned long long)view->offset);
out:
    return status;
}

static clmove_status look_up_table(struct step_plan *plan, size_t index)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_engine *engine = plan->step->layout->engine;
    const struct clmove_log *log = &engine->log;
    const struct memory_use use = {engine->context, &engine->device, log, true,
                                   false};
    struct clmove_ssm_table *table = &plan->tables[index];
    struct memory_view *view = &plan->views[index];
    const struct clmove_ssm_step_params *params = &plan->step->params;
    const uint32_t rows = (params->flags & CLMOVE_SSM_TABLES_BY_SLOT) != 0
                              ? params->slot_count
                              : params->max_rows;
    char name[48];
    snprintf(name, sizeof name, "tables[%zu].entries", index);
    CHECK(!memory_is_absent(&table->entries), CLMOVE_INVALID_ARGUMENT,
          "%s is absent, and every group needs a table", name);
    CHECK(table->columns > 0 && table->columns <= INT32_MAX,
          CLMOVE_INVALID_ARGUMENT,
          "tables[%zu].columns is %u, and must be 1 to 2147483647", index,
          table->columns);
    if (table->row_stride == 0)
        table->row_stride = table->columns;
    CHECK(table->row_stride >= table->columns, CLMOVE_INVALID_ARGUMENT,
          "tables[%zu].row_stride is %u, and must be at least its %u columns",
          index, table->row_stride, table->columns);
    CHECK_STATUS(memory_look_up(&use, name, &table->entries, view));
    CHECK_STATUS(check_alignment(log, name, view));
    /* Below 2^32 * 2^32 entries: the sum fits, times 4 may not. */
    const uint64_t entries =
        (uint64_t)(rows - 1) * table->row_stride + table->columns;
    CHECK(entries <= view->size / 4, CLMOVE_OUT_OF_RANGE,
          "%s has %llu bytes, and %u rows of %u entries, %u apart, need %llu "
          "entries of 4 bytes",
          name, (unsigned long long)view->size, rows, table->columns,
          table->row_stride, (unsigned long long)entries);
    view->size = entries * 4;
out:
    return status;
}

static clmove_status look_up_array(struct step_plan *plan,
                                   enum step_array array)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_engine *engine = plan->step->layout->engine;
    const struct clmove_log *log = &engine->log;
    const struct clmove_ssm_step_params *params = &plan->step->params;
    const struct array_kind *kind = &array_kinds[array];
    const struct memory_use use = {engine->context, &engine->device, log,
                                   !kind->writes, kind->writes};
    const struct clmove_memory *memory = array_memory(params, array);
    struct memory_view *view = &plan->arrays[array];
    const uint64_t count = kind->extent == BY_SLOT ? params->slot_count
                           : kind->extent == BY_ROW
                               ? params->max_rows
                               : (uint64_t)params->max_rows + 1;
    if (memory_is_absent(memory))
        goto out;
    CHECK_STATUS(memory_look_up(&use, kind->name, memory, view));
    CHECK_STATUS(check_alignment(log, kind->name, view));
    CHECK(count * kind->entry_size <= view->size, CLMOVE_OUT_OF_RANGE,
          "%s has %llu bytes, and %llu entries of %u bytes need %llu",
          kind->name, (unsigned long long)view->size, (unsigned long long)count,
          kind->entry_size, (unsigned long long)(count * kind->entry_size));
    view->size = count * kind->entry_size;
out:
    return status;
}

bool step_overlaps_state(const struct clmove_ssm_layout *layout, size_t state,
                         const struct memory_view *view)
{
    const struct memory_view *pool = &layout->views[state];
    if (!views_overlap(pool, view))
        return false;
    const struct strided_set blocks = {
        view_origin(pool), layout->states[state].block_stride,
        layout->extents[state], layout->states[state].block_count};
    const struct strided_set range = {view_origin(view), view->size, view->size,
                                      1};
    return strided_sets_overlap(&blocks, &range);
}

/* No table or array lies in a state's blocks. */
static clmove_status check_states_apart(const struct step_plan *plan)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &plan->step->layout->engine->log;
    for (size_t i = 0; i < plan->state_count; i++) {
        for (size_t j = 0; j < plan->table_count; j++)
            CHECK(!step_overlaps_state(plan->step->layout, i, &plan->views[j]),
                  CLMOVE_OVERLAP,
                  "tables[%zu].entries overlaps a block of states[%zu]", j, i);
        for (size_t j = 0; j < ARRAY_COUNT; j++)
            CHECK(!step_overlaps_state(plan->step->layout, i, &plan->arrays[j]),
                  CLMOVE_OVERLAP, "%s overlaps a block of states[%zu]",
                  array_kinds[j].name, i);
    }
out:
    return status;
}

static bool is_in_place(const struct step_plan *plan, enum step_array out,
                        enum step_array in)
{
    return plan->arrays[out].size > 0 &&
           views_equal(&plan->arrays[out], &plan->arrays[in]);
}

/* A result overlaps nothing but the input that it may replace. */
static clmove_status check_results_apart(const struct step_plan *plan)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &plan->step->layout->engine->log;
    for (size_t i = 0; i < ARRAY_COUNT; i++) {
        if (!array_kinds[i].writes)
            continue;
        for (size_t j = 0; j < plan->table_count; j++)
            CHECK(!views_overlap(&plan->arrays[i], &plan->views[j]),
                  CLMOVE_OVERLAP, "%s overlaps tables[%zu].entries",
                  array_kinds[i].name, j);
        for (size_t j = 0; j < ARRAY_COUNT; j++) {
            if (j == i ||
                (i == ARRAY_ACCEPTED_OUT && j == ARRAY_ACCEPTED_IN &&
                 plan->accepted_in_place) ||
                (i == ARRAY_COLUMN_OUT && j == ARRAY_COLUMN_IN &&
                 plan->column_in_place))
                continue;
            CHECK(!views_overlap(&plan->arrays[i], &plan->arrays[j]),
                  CLMOVE_OVERLAP, "%s overlaps %s", array_kinds[i].name,
                  array_kinds[j].name);
        }
    }
out:
    return status;
}

static clmove_status make_plan(struct clmove_ssm_step *step,
                               const struct clmove_ssm_step_params *params,
                               struct step_plan *plan)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_ssm_layout *layout = step->layout;
    const struct clmove_log *log = &layout->engine->log;
    plan->step = step;
    plan->table_count = layout->group_count;
    plan->state_count = layout->state_count;
    plan->tables = calloc(plan->table_count, sizeof plan->tables[0]);
    CHECK_MEMORY(plan->tables);
    memcpy(plan->tables, params->tables,
           plan->table_count * sizeof plan->tables[0]);
    plan->views = calloc(plan_total(plan), sizeof plan->views[0]);
    CHECK_MEMORY(plan->views);
    plan->bindings = calloc(plan_total(plan), sizeof plan->bindings[0]);
    CHECK_MEMORY(plan->bindings);
    const size_t first_array = plan->table_count + plan->state_count;
    plan->arrays = plan->views + first_array;
    plan->array_bindings = plan->bindings + first_array;
    for (size_t i = 0; i < plan->table_count; i++)
        CHECK_STATUS(look_up_table(plan, i));
    memcpy(plan->views + plan->table_count, layout->views,
           plan->state_count * sizeof plan->views[0]);
    for (unsigned i = 0; i < ARRAY_COUNT; i++) {
        CHECK_STATUS(look_up_array(plan, (enum step_array)i));
        step->has[i] = plan->arrays[i].size > 0;
    }
    plan->accepted_in_place =
        is_in_place(plan, ARRAY_ACCEPTED_OUT, ARRAY_ACCEPTED_IN);
    plan->column_in_place =
        is_in_place(plan, ARRAY_COLUMN_OUT, ARRAY_COLUMN_IN);
    CHECK_STATUS(check_states_apart(plan));
    CHECK_STATUS(check_results_apart(plan));
    bind_views(plan->views, plan_total(plan), plan->bindings);
out:
    return status;
}

static void release_plan(struct step_plan *plan)
{
    free(plan->tables);
    free(plan->views);
    free(plan->bindings);
}

/* The layout retains the states' buffers; tables and arrays are retained here.
 */
static clmove_status retain_buffers(struct clmove_ssm_step *step,
                                    const struct step_plan *plan)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &step->layout->engine->log;
    step->retained = calloc(plan_total(plan), sizeof(cl_mem));
    CHECK_MEMORY(step->retained);
    for (size_t i = 0; i < plan_total(plan); i++) {
        const cl_mem handle = plan->views[i].handle;
        const bool of_state =
            i >= plan->table_count && i < plan->table_count + plan->state_count;
        if (handle == NULL || of_state)
            continue;
        CHECK_CL(clRetainMemObject(handle));
        step->retained[step->retained_count++] = handle;
    }
out:
    return status;
}

static clmove_status check_params(const struct clmove_log *log,
                                  const struct clmove_ssm_layout *layout,
                                  const struct clmove_ssm_step_params *params)
{
    clmove_status status = CLMOVE_SUCCESS;
    CHECK((params->flags & ~7u) == 0, CLMOVE_INVALID_ARGUMENT,
          "params->flags is 0x%x, and only the bits of enum "
          "clmove_ssm_step_flag have a meaning",
          params->flags);
    CHECK(memory_is_absent(&params->scheduled) ||
              memory_is_absent(&params->query_starts),
          CLMOVE_INVALID_ARGUMENT,
          "both scheduled and query_starts are given, and they say the same");
    CHECK(params->tokens_per_block > 0, CLMOVE_INVALID_ARGUMENT,
          "params->tokens_per_block is 0, and must be at least 1");
    CHECK(params->max_rows > 0 && params->max_rows <= INT32_MAX,
          CLMOVE_INVALID_ARGUMENT,
          "params->max_rows is %u, and must be 1 to 2147483647",
          params->max_rows);
    CHECK(params->slot_count == 0 || (params->slot_count >= params->max_rows &&
                                      params->slot_count <= INT32_MAX),
          CLMOVE_INVALID_ARGUMENT,
          "params->slot_count is %u, and must be 0 or from max_rows %u to "
          "2147483647",
          params->slot_count, params->max_rows);
    CHECK(params->tables != NULL, CLMOVE_INVALID_ARGUMENT,
          "params->tables is NULL, and the layout has %zu groups",
          layout->group_count);
out:
    return status;
}

clmove_status
clmove_ssm_step_create(struct clmove_ssm_layout *layout,
                       const struct clmove_ssm_step_params *params,
                       struct clmove_ssm_step **step)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = layout == NULL ? NULL : &layout->engine->log;
    struct clmove_ssm_step *made = NULL;
    struct step_plan plan = {0};
    if (step != NULL)
        *step = NULL;
    CHECK(layout != NULL && params != NULL && step != NULL,
          CLMOVE_INVALID_ARGUMENT, "%s is NULL",
          layout == NULL   ? "layout"
          : params == NULL ? "params"
                           : "step");
    CHECK_STATUS(check_params(log, layout, params));
    made = calloc(1, sizeof *made);
    CHECK_MEMORY(made);
    pthread_mutex_init(&made->mutex, NULL);
    made->layout = layout;
    layout_retain(layout);
    made->params = *params;
    made->params.tables = NULL;
    if (made->params.slot_count == 0)
        made->params.slot_count = params->max_rows;
    CHECK_STATUS(make_plan(made, params, &plan));
    CHECK_STATUS(retain_buffers(made, &plan));
    made->view_count = plan_total(&plan);
    made->table_count = plan.table_count;
    CHECK_STATUS(step_make_launches(made, &plan));
    made->views = plan.views;
    plan.views = NULL;
    *step = made;
    made = NULL;
out:
    release_plan(&plan);
    clmove_ssm_step_destroy(&made);
    return status;
}

void clmove_ssm_step_destroy(struct clmove_ssm_step **step)
{
    struct clmove_ssm_step *old = step == NULL ? NULL : *step;
    if (old == NULL)
        return;
    *step = NULL;
    for (size_t i = 0; i < old->launch_count; i++) {
        engine_release_kernel(&old->launches[i].kernel);
        tiles_release_launch(&old->launches[i].tiles);
    }
    for (size_t i = 0; i < old->retained_count; i++)
        clReleaseMemObject(old->retained[i]);
    engine_release_kernel(&old->aside);
    for (size_t i = 0; i < 2; i++)
        engine_release_kernel(&old->indices[i]);
    if (old->scratch != NULL)
        clReleaseMemObject(old->scratch);
    if (old->description != NULL)
        clReleaseMemObject(old->description);
    layout_release(old->layout);
    pthread_mutex_destroy(&old->mutex);
    free(old->views);
    free(old->retained);
    free(old->launches);
    free(old);
}
