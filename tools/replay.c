/* A replay on the device: the engine's arrays, the steps, their times. */

#include "replay.h"

#include "progress.h"

#include <stdlib.h>
#include <string.h>

#define FILL_SEED UINT64_C(0x5eed)

bool replay_write(const struct replay *replay, cl_mem buffer, const void *data,
                  size_t size)
{
    cl_int code = clEnqueueWriteBuffer(replay->session->queue, buffer, CL_TRUE,
                                       0, size, data, 0, NULL, NULL);
    return !session_failed(code, "clEnqueueWriteBuffer");
}

bool replay_read(const struct replay *replay, cl_mem buffer, size_t offset,
                 void *data, size_t size)
{
    cl_int code = clEnqueueReadBuffer(replay->session->queue, buffer, CL_TRUE,
                                      offset, size, data, 0, NULL, NULL);
    return !session_failed(code, "clEnqueueReadBuffer");
}

static bool create_buffers(struct replay *replay)
{
    const struct session *session = replay->session;
    size_t slots = replay->schedule.slots, size = slots * sizeof(int32_t);
    bool fine = true;
    for (int i = 0; i < REPLAY_ARRAY_COUNT; i++) {
        replay->arrays[i] = session_buffer(session, size, "per-slot numbers");
        fine = fine && replay->arrays[i];
    }
    for (int i = 0; i < 2; i++) {
        replay->accepted[i] = session_buffer(session, size, "accepted counts");
        replay->column[i] = session_buffer(session, size, "running columns");
        fine = fine && replay->accepted[i] && replay->column[i];
    }
    replay->table = session_buffer(session, size * replay->schedule.columns,
                                   "the block table");
    replay->faults = session_buffer(
        session, slots * sizeof(struct clmove_ssm_fault), "faults");
    replay->scratch = calloc(slots, sizeof(int32_t));
    replay->zeros = calloc(slots, sizeof(struct clmove_ssm_fault));
    replay->host_samples = calloc(replay->steps_total, sizeof(double));
    replay->device_samples = calloc(replay->steps_total, sizeof(double));
    if (!replay->scratch || !replay->zeros || !replay->host_samples ||
        !replay->device_samples) {
        cli_error("out of memory");
        return false;
    }
    return fine && replay->table && replay->faults;
}

static bool clear_buffers(const struct replay *replay)
{
    const cl_mem buffers[] = {replay->accepted[0], replay->accepted[1],
                              replay->column[0], replay->column[1],
                              replay->faults};
    /* Written rather than filled: Oclgrind takes filled bytes as unset. */
    size_t slots = replay->schedule.slots;
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        size_t size = buffers[i] == replay->faults
                          ? slots * sizeof(struct clmove_ssm_fault)
                          : slots * sizeof(int32_t);
        if (!replay_write(replay, buffers[i], replay->zeros, size))
            return false;
    }
    for (uint32_t i = 0; i < replay->pool.shape.buffer_count; i++) {
        if (!kernels_fill(&replay->kernels, replay->pool.buffers[i],
                          pool_buffer_size(&replay->pool.shape, i),
                          FILL_SEED + i))
            return false;
    }
    cl_int code = clFinish(replay->session->queue);
    return !session_failed(code, "filling the pool");
}

static bool create_step(struct replay *replay, enum oracle_call call,
                        uint32_t turn, struct clmove_ssm_step **step)
{
    const struct schedule *schedule = &replay->schedule;
    struct clmove_ssm_table table;
    memset(&table, 0, sizeof table);
    table.entries = session_memory(replay->table, 0, 0);
    table.columns = schedule->columns;
    struct clmove_ssm_step_params params;
    memset(&params, 0, sizeof params);
    params.tokens_per_block = schedule->block_size;
    params.max_rows = schedule->slots;
    params.tables = &table;
    params.computed = session_memory(replay->arrays[REPLAY_COMPUTED], 0, 0);
    params.scheduled = session_memory(replay->arrays[REPLAY_SCHEDULED], 0, 0);
    params.draft = session_memory(replay->arrays[REPLAY_DRAFT], 0, 0);
    params.faults = session_memory(replay->faults, 0, 0);
    int from = call == ORACLE_PRE ? 0 : 1;
    params.accepted_in = session_memory(replay->accepted[from], 0, 0);
    params.accepted_out = session_memory(replay->accepted[1 - from], 0, 0);
    if (call == ORACLE_PRE) {
        params.column_in = session_memory(replay->column[turn], 0, 0);
        params.column_out = session_memory(replay->column[1 - turn], 0, 0);
    } else {
        params.column_in = session_memory(replay->column[1 - turn], 0, 0);
    }
    clmove_status status =
        clmove_ssm_step_create(replay->layout, &params, step);
    return !session_failed(status, "clmove_ssm_step_create");
}

static bool create_steps(struct replay *replay, uint32_t draft_tokens)
{
    replay->layout =
        pool_layout(&replay->pool, replay->session->engine, draft_tokens);
    if (!replay->layout)
        return false;
    for (uint32_t turn = 0; turn < 2; turn++) {
        if (!create_step(replay, ORACLE_PRE, turn, &replay->pre[turn]) ||
            !create_step(replay, ORACLE_POST, turn, &replay->post[turn]))
            return false;
    }
    return true;
}

enum cli_exit replay_create(struct replay *replay,
                            const struct session *session,
                            struct replay_params *params)
{
    memset(replay, 0, sizeof *replay);
    replay->session = session;
    replay->steps_total = params->steps;
    params->request.block_count =
        schedule_peak(params->trace, params->block_size, params->steps);
    struct pool_shape shape;
    if (params->request.block_count == 0 ||
        !pool_plan(&shape, &params->request, &session->device) ||
        !schedule_create(&replay->schedule, params->trace,
                         params->block_size) ||
        !oracle_create(&replay->oracle, &replay->schedule, &shape))
        return CLI_BAD_INPUT;
    if (!pool_create(&replay->pool, &shape, session) ||
        !kernels_create(&replay->kernels, session) ||
        !kernels_bind(&replay->kernels, session, &replay->pool,
                      replay->schedule.columns, replay->schedule.slots) ||
        !create_buffers(replay) || !clear_buffers(replay) ||
        !create_steps(replay, params->trace->draft_tokens))
        return CLI_OPENCL_FAILED;
    return CLI_GO_ON;
}

static void release_event(cl_event *event)
{
    if (*event)
        clReleaseEvent(*event);
    *event = NULL;
}

void replay_destroy(struct replay *replay)
{
    for (int i = 0; i < 2; i++) {
        clmove_ssm_step_destroy(&replay->pre[i]);
        clmove_ssm_step_destroy(&replay->post[i]);
        session_release(&replay->accepted[i]);
        session_release(&replay->column[i]);
        release_event(&replay->events[i]);
    }
    clmove_ssm_layout_destroy(&replay->layout);
    for (int i = 0; i < REPLAY_ARRAY_COUNT; i++)
        session_release(&replay->arrays[i]);
    session_release(&replay->table);
    session_release(&replay->faults);
    kernels_destroy(&replay->kernels);
    pool_destroy(&replay->pool);
    oracle_destroy(&replay->oracle);
    schedule_destroy(&replay->schedule);
    free(replay->scratch);
    free(replay->zeros);
    free(replay->host_samples);
    free(replay->device_samples);
    memset(replay, 0, sizeof *replay);
}

static bool upload(struct replay *replay)
{
    const struct schedule *schedule = &replay->schedule;
    size_t slots = schedule->slots, size = slots * sizeof(int32_t);
    const struct {
        enum replay_array array;
        const int32_t *values;
    } list[] = {{REPLAY_COMPUTED, schedule->computed},
                {REPLAY_SCHEDULED, schedule->scheduled},
                {REPLAY_DRAFT, schedule->draft},
                {REPLAY_SAMPLED, schedule->sampled},
                {REPLAY_ADMITTED, schedule->admitted}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (!replay_write(replay, replay->arrays[list[i].array], list[i].values,
                          size))
            return false;
    }
    for (size_t i = 0; i < slots; i++)
        replay->scratch[i] = (int32_t)schedule->slot[i].request;
    if (!replay_write(replay, replay->arrays[REPLAY_REQUEST], replay->scratch,
                      size))
        return false;
    for (size_t i = 0; i < slots; i++)
        replay->scratch[i] =
            schedule->computed[i] + schedule->scheduled[i] - schedule->draft[i];
    return replay_write(replay, replay->arrays[REPLAY_AFTER], replay->scratch,
                        size) &&
           replay_write(replay, replay->table, schedule->table,
                        size * schedule->columns);
}

bool replay_begin_step(struct replay *replay)
{
    struct schedule *schedule = &replay->schedule;
    if (!schedule_next(schedule) || !upload(replay))
        return false;
    for (uint32_t i = 0; i < schedule->slots; i++)
        replay->rows += schedule->scheduled[i] > 0;
    oracle_admit(&replay->oracle);
    replay->host_us = 0;
    return kernels_admit(&replay->kernels, schedule->slots,
                         replay->arrays[REPLAY_ADMITTED], replay->accepted[0],
                         replay->column[replay->turn]) &&
           !session_failed(clFinish(replay->session->queue), "clFinish");
}

bool replay_pre(struct replay *replay)
{
    cl_event *event = &replay->events[ORACLE_PRE];
    double start = progress_seconds();
    clmove_status status = clmove_enqueue_ssm_pre(
        replay->pre[replay->turn], replay->schedule.slots,
        replay->session->queue, 0, NULL, event);
    replay->host_us += (progress_seconds() - start) * 1e6;
    return !session_failed(status, "clmove_enqueue_ssm_pre");
}

bool replay_sample(struct replay *replay)
{
    return kernels_sample(&replay->kernels, replay->schedule.slots,
                          replay->arrays[REPLAY_SCHEDULED],
                          replay->arrays[REPLAY_SAMPLED], replay->accepted[1]);
}

bool replay_post(struct replay *replay)
{
    cl_event *event = &replay->events[ORACLE_POST];
    double start = progress_seconds();
    clmove_status status = clmove_enqueue_ssm_post(
        replay->post[replay->turn], replay->schedule.slots,
        replay->session->queue, 0, NULL, event);
    replay->host_us += (progress_seconds() - start) * 1e6;
    return !session_failed(status, "clmove_enqueue_ssm_post");
}

/* With results in other arrays than the inputs a call is one launch, so that
 * the event's times are the call's. */
static bool device_time(struct replay *replay, double *us)
{
    *us = 0;
    for (int i = 0; i < 2; i++) {
        cl_ulong start = 0, end = 0;
        cl_int code = clGetEventProfilingInfo(replay->events[i],
                                              CL_PROFILING_COMMAND_START,
                                              sizeof start, &start, NULL);
        if (code == CL_SUCCESS)
            code = clGetEventProfilingInfo(replay->events[i],
                                           CL_PROFILING_COMMAND_END, sizeof end,
                                           &end, NULL);
        if (session_failed(code, "clGetEventProfilingInfo"))
            return false;
        *us += (double)(end - start) * 1e-3;
        release_event(&replay->events[i]);
    }
    return true;
}

bool replay_end_step(struct replay *replay)
{
    double us;
    cl_int code = clFinish(replay->session->queue);
    if (session_failed(code, "clFinish") || !device_time(replay, &us))
        return false;
    replay->host_samples[replay->steps_done] = replay->host_us;
    replay->device_samples[replay->steps_done] = us;
    replay->steps_done++;
    replay->turn = 1 - replay->turn;
    return true;
}

cl_mem replay_running_column(const struct replay *replay)
{
    return replay->column[1 - replay->turn];
}
