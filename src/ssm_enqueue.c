/* The calls of a step: pre-process, post-process, pre-copy, state indices. */

#include "chain.h"
#include "ssm_step.h"
#include "util.h"

/* What a call needs, a bit per array. */
#define NEEDS(array) (1u << (array))

static unsigned scheduled_needs(const struct clmove_ssm_step *step)
{
    return NEEDS(ARRAY_COMPUTED) |
           (step->has[ARRAY_QUERY_STARTS] ? NEEDS(ARRAY_QUERY_STARTS)
                                          : NEEDS(ARRAY_SCHEDULED));
}

static unsigned call_needs(const struct clmove_ssm_step *step, cl_uint mode)
{
    const unsigned results = NEEDS(ARRAY_ACCEPTED_IN) |
                             NEEDS(ARRAY_ACCEPTED_OUT) | NEEDS(ARRAY_COLUMN_IN);
    if (mode == MODE_COPY)
        return NEEDS(ARRAY_COPY_SOURCE) | NEEDS(ARRAY_COPY_DESTINATION) |
               NEEDS(ARRAY_COPY_BIAS);
    if (mode == MODE_PRE)
        return scheduled_needs(step) | results | NEEDS(ARRAY_COLUMN_OUT);
    if (step->has[ARRAY_NOW_COMPUTED])
        return NEEDS(ARRAY_NOW_COMPUTED) | results;
    return scheduled_needs(step) | NEEDS(ARRAY_DRAFT) | results;
}

static cl_uint step_mode(const struct clmove_ssm_step *step)
{
    const uint32_t flags = step->params.flags;
    return ((flags & CLMOVE_SSM_TABLES_BY_SLOT) != 0 ? MODE_TABLES_BY_SLOT
                                                     : 0u) |
           ((flags & CLMOVE_SSM_KEEP_ACCEPTED) != 0 ? MODE_KEEPS_ACCEPTED
                                                    : 0u) |
           ((flags & CLMOVE_SSM_SKIP_TEMPORAL) != 0 ? MODE_SKIPS_TEMPORAL : 0u);
}

/* Gives a launch's kernel what differs from the last call. */
static cl_int set_numbers(struct step_launch *launch, cl_uint rows,
                          cl_uint mode)
{
    const cl_kernel kernel = launch->kernel.kernel;
    cl_uint index = launch->rows_argument;
    cl_int status = CL_SUCCESS;
    if (launch->given_rows == rows && launch->given_mode == mode)
        return CL_SUCCESS;
    launch->given_rows = UINT32_MAX;
    status = clSetKernelArg(kernel, index++, sizeof rows, &rows);
    if (status == CL_SUCCESS)
        status = clSetKernelArg(kernel, index++, sizeof mode, &mode);
    if (status != CL_SUCCESS)
        return status;
    launch->given_rows = rows;
    launch->given_mode = mode;
    return CL_SUCCESS;
}

static cl_int enqueue_launch(struct chain *chain,
                             const struct clmove_ssm_step *step, size_t index,
                             uint32_t rows, cl_uint mode, bool wants_event)
{
    struct step_launch *launch = &step->launches[index];
    const struct variant *variant = &step->layout->engine->variant;
    const uint64_t work = (uint64_t)rows * launch->tiles.tile_count;
    const uint64_t groups = max_u64(min_u64(variant->group_count, work), 1);
    cl_int status = set_numbers(launch, rows,
                                mode | step_mode(step) |
                                    (index == 0 ? MODE_WRITES_RESULTS : 0u));
    if (status == CL_SUCCESS)
        status = chain_kernel(chain, launch->kernel.kernel, (size_t)groups,
                              launch->kernel.group_size, wants_event);
    return status;
}

static cl_int enqueue_all(struct chain *chain,
                          const struct clmove_ssm_step *step, uint32_t rows,
                          cl_uint mode, bool wants_event)
{
    cl_int status = CL_SUCCESS;
    const bool copies_aside = step->aside.kernel != NULL && mode != MODE_COPY;
    if (copies_aside + step->launch_count > 1)
        status = chain_prepare(chain, wants_event);
    if (copies_aside && status == CL_SUCCESS)
        status = chain_kernel(
            chain, step->aside.kernel,
            (step->params.slot_count - 1) / step->aside.group_size + 1,
            step->aside.group_size, true);
    for (size_t i = 0; i < step->launch_count && status == CL_SUCCESS; i++)
        status = enqueue_launch(chain, step, i, rows, mode,
                                wants_event || i + 1 < step->launch_count);
    return status;
}

static clmove_status check_call(const struct clmove_ssm_step *step,
                                uint32_t rows, unsigned needs,
                                const struct chain *chain)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &step->layout->engine->log;
    CHECK(rows <= step->params.max_rows, CLMOVE_INVALID_ARGUMENT,
          "rows is %u, and the step has %u", rows, step->params.max_rows);
    for (unsigned i = 0; i < ARRAY_COUNT; i++)
        CHECK((needs & NEEDS(i)) == 0 || step->has[i], CLMOVE_INVALID_ARGUMENT,
              "the step has no %s, and the call needs it",
              step_array_name((enum step_array)i));
    status = engine_check_queue(step->layout->engine, chain->queue,
                                chain->wait_count, chain->wait_list);
out:
    return status;
}

static clmove_status enqueue(struct clmove_ssm_step *step, uint32_t rows,
                             cl_uint mode, struct chain chain, cl_event *event)
{
    clmove_status status = CLMOVE_SUCCESS;
    if (step == NULL)
        return CLMOVE_INVALID_ARGUMENT;
    CHECK_STATUS(check_call(step, rows, call_needs(step, mode), &chain));
    pthread_mutex_lock(&step->mutex);
    const cl_int result = enqueue_all(&chain, step, rows, mode, event != NULL);
    pthread_mutex_unlock(&step->mutex);
    status = chain_finish(&chain, &step->layout->engine->log, result, event);
out:
    return status;
}

clmove_status clmove_enqueue_ssm_pre(struct clmove_ssm_step *step,
                                     uint32_t rows, cl_command_queue queue,
                                     cl_uint wait_count,
                                     const cl_event *wait_list, cl_event *event)
{
    return enqueue(step, rows, MODE_PRE,
                   (struct chain){.queue = queue,
                                  .wait_count = wait_count,
                                  .wait_list = wait_list},
                   event);
}

clmove_status clmove_enqueue_ssm_post(struct clmove_ssm_step *step,
                                      uint32_t rows, cl_command_queue queue,
                                      cl_uint wait_count,
                                      const cl_event *wait_list,
                                      cl_event *event)
{
    return enqueue(step, rows, MODE_POST,
                   (struct chain){.queue = queue,
                                  .wait_count = wait_count,
                                  .wait_list = wait_list},
                   event);
}

clmove_status clmove_enqueue_ssm_pre_copy(struct clmove_ssm_step *step,
                                          uint32_t rows, cl_command_queue queue,
                                          cl_uint wait_count,
                                          const cl_event *wait_list,
                                          cl_event *event)
{
    return enqueue(step, rows, MODE_COPY,
                   (struct chain){.queue = queue,
                                  .wait_count = wait_count,
                                  .wait_list = wait_list},
                   event);
}

static clmove_status look_up_indices(const struct clmove_ssm_step *step,
                                     uint32_t rows, uint32_t slots_per_row,
                                     const struct clmove_memory *out,
                                     struct memory_view *view)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_ssm_layout *layout = step->layout;
    const struct clmove_log *log = &layout->engine->log;
    const struct memory_use use = {layout->engine->context,
                                   &layout->engine->device, log, false, true};
    const size_t first_array = step->table_count + layout->state_count;
    uint64_t count = 0;
    CHECK(out != NULL, CLMOVE_INVALID_ARGUMENT, "out is NULL");
    CHECK(slots_per_row > 0 && slots_per_row <= INT32_MAX,
          CLMOVE_INVALID_ARGUMENT,
          "slots_per_row is %u, and must be 1 to 2147483647", slots_per_row);
    CHECK_STATUS(memory_look_up(&use, "out", out, view));
    CHECK((view->misalignment + view->offset) % 4 == 0, CLMOVE_INVALID_ARGUMENT,
          "out: offset %llu is no multiple of 4",
          (unsigned long long)view->offset);
    CHECK(multiply_checked((uint64_t)rows * slots_per_row, step->table_count,
                           &count) &&
              count <= view->size / 4,
          CLMOVE_OUT_OF_RANGE,
          "out has %llu bytes, and %zu groups of %u rows of %u entries of 4 "
          "bytes do not fit",
          (unsigned long long)view->size, step->table_count, rows,
          slots_per_row);
    view->size = count * 4;
    for (size_t i = 0; i < layout->state_count; i++)
        CHECK(!step_overlaps_state(layout, i, view), CLMOVE_OVERLAP,
              "out overlaps a block of states[%zu]", i);
    for (size_t i = 0; i < step->table_count; i++)
        CHECK(!views_overlap(view, &step->views[i]), CLMOVE_OVERLAP,
              "out overlaps tables[%zu].entries", i);
    for (unsigned i = 0; i < ARRAY_COUNT; i++)
        CHECK(!views_overlap(view, &step->views[first_array + i]),
              CLMOVE_OVERLAP, "out overlaps %s",
              step_array_name((enum step_array)i));
out:
    return status;
}

static cl_int enqueue_indices(struct clmove_ssm_step *step, uint32_t rows,
                              uint32_t slots_per_row,
                              const struct memory_view *view,
                              struct chain *chain, bool wants_event)
{
    const struct engine_kernel *indices =
        &step->indices[view->pointer != NULL ? 1 : 0];
    const cl_kernel kernel = indices->kernel;
    const struct memory_binding binding = {view->handle, view->pointer,
                                           view->offset};
    const cl_ulong offset = binding.offset;
    const cl_uint numbers[] = {rows, slots_per_row, step_mode(step)};
    const uint32_t size = indices->group_size;
    cl_uint index = step->indices_out_argument;
    cl_int status = memory_set_argument(kernel, index++, &binding);
    if (status == CL_SUCCESS)
        status = clSetKernelArg(kernel, index++, sizeof offset, &offset);
    for (size_t i = 0;
         i < sizeof numbers / sizeof numbers[0] && status == CL_SUCCESS; i++)
        status =
            clSetKernelArg(kernel, index++, sizeof numbers[i], &numbers[i]);
    const uint64_t groups = min_u64(view->size / 4 / size + 1,
                                    step->layout->engine->variant.group_count);
    if (status == CL_SUCCESS)
        status = chain_kernel(chain, kernel, (size_t)groups, size, wants_event);
    return status;
}

clmove_status clmove_enqueue_ssm_indices(
    struct clmove_ssm_step *step, uint32_t rows, uint32_t slots_per_row,
    const struct clmove_memory *out, cl_command_queue queue, cl_uint wait_count,
    const cl_event *wait_list, cl_event *event)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct memory_view view;
    struct chain chain = {
        .queue = queue, .wait_count = wait_count, .wait_list = wait_list};
    if (step == NULL)
        return CLMOVE_INVALID_ARGUMENT;
    CHECK_STATUS(check_call(step, rows, scheduled_needs(step), &chain));
    CHECK_STATUS(look_up_indices(step, rows, slots_per_row, out, &view));
    pthread_mutex_lock(&step->mutex);
    const cl_int result = enqueue_indices(step, rows, slots_per_row, &view,
                                          &chain, event != NULL);
    pthread_mutex_unlock(&step->mutex);
    status = chain_finish(&chain, &step->layout->engine->log, result, event);
out:
    return status;
}
