/* The calls of a step: pre-process, post-process. */

#include "chain.h"
#include "ssm_step.h"
#include "util.h"

/* What a call needs, a bit per array. */
#define NEEDS(array) (1u << (array))

static const unsigned pre_needs =
    NEEDS(ARRAY_COMPUTED) | NEEDS(ARRAY_SCHEDULED) | NEEDS(ARRAY_ACCEPTED_IN) |
    NEEDS(ARRAY_ACCEPTED_OUT) | NEEDS(ARRAY_COLUMN_IN) |
    NEEDS(ARRAY_COLUMN_OUT);

static const unsigned post_needs =
    NEEDS(ARRAY_COMPUTED) | NEEDS(ARRAY_SCHEDULED) | NEEDS(ARRAY_DRAFT) |
    NEEDS(ARRAY_ACCEPTED_IN) | NEEDS(ARRAY_ACCEPTED_OUT) |
    NEEDS(ARRAY_COLUMN_IN);

static const char *const array_names[ARRAY_COUNT] = {
    "computed",     "scheduled", "draft",      "accepted_in",
    "accepted_out", "column_in", "column_out", "faults"};

static cl_int enqueue_launch(struct chain *chain,
                             const struct clmove_ssm_step *step, size_t index,
                             uint32_t rows, cl_uint mode, bool wants_event)
{
    const struct step_launch *launch = &step->launches[index];
    const struct variant *variant = &step->layout->engine->variant;
    const uint64_t work = (uint64_t)rows * launch->tile_count;
    const uint64_t groups = max_u64(min_u64(variant->group_count, work), 1);
    const cl_uint numbers[2] = {rows,
                                mode | (index == 0 ? MODE_WRITES_RESULTS : 0)};
    cl_int status = CL_SUCCESS;
    for (cl_uint i = 0; i < 2 && status == CL_SUCCESS; i++)
        status =
            clSetKernelArg(launch->kernel.kernel, launch->rows_argument + i,
                           sizeof numbers[i], &numbers[i]);
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
    if (step->aside != NULL)
        status = chain_kernel(
            chain, step->aside,
            (size_t)min_u64((step->params.slot_count - 1) / 64 + 1, 64), 1,
            true);
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
              "the step has no %s, and the call needs it", array_names[i]);
    status = engine_check_queue(step->layout->engine, chain->queue,
                                chain->wait_count, chain->wait_list);
out:
    return status;
}

static clmove_status enqueue(struct clmove_ssm_step *step, uint32_t rows,
                             cl_uint mode, unsigned needs, struct chain *chain,
                             cl_event *event)
{
    clmove_status status = CLMOVE_SUCCESS;
    if (step == NULL)
        return CLMOVE_INVALID_ARGUMENT;
    CHECK_STATUS(check_call(step, rows, needs, chain));
    pthread_mutex_lock(&step->mutex);
    const cl_int result = enqueue_all(chain, step, rows, mode, event != NULL);
    pthread_mutex_unlock(&step->mutex);
    status = chain_finish(chain, &step->layout->engine->log, result, event);
out:
    return status;
}

clmove_status clmove_enqueue_ssm_pre(struct clmove_ssm_step *step,
                                     uint32_t rows, cl_command_queue queue,
                                     cl_uint wait_count,
                                     const cl_event *wait_list, cl_event *event)
{
    struct chain chain = {
        .queue = queue, .wait_count = wait_count, .wait_list = wait_list};
    return enqueue(step, rows, MODE_PRE, pre_needs, &chain, event);
}

clmove_status clmove_enqueue_ssm_post(struct clmove_ssm_step *step,
                                      uint32_t rows, cl_command_queue queue,
                                      cl_uint wait_count,
                                      const cl_event *wait_list,
                                      cl_event *event)
{
    struct chain chain = {
        .queue = queue, .wait_count = wait_count, .wait_list = wait_list};
    return enqueue(step, rows, 0, post_needs, &chain, event);
}
