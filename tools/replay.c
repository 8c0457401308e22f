/* A replay on the device: the engine's arrays, the steps, their times. */

#include "replay.h"

#include "device_clock.h"
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

static bool create_host_arrays(struct replay *replay)
{
    size_t slots = replay->schedule.slots;
    replay->scratch = calloc(slots, sizeof(int32_t));
    replay->zeros = calloc(replay->room, sizeof(struct clmove_ssm_fault));
    replay->host_samples = calloc(replay->steps_total, sizeof(double));
    replay->device_samples = calloc(replay->steps_total, sizeof(double));
    if (replay->scratch && replay->zeros && replay->host_samples &&
        replay->device_samples)
        return true;
    cli_error("out of memory");
    return false;
}

/* What batch rows that name slots need besides. */
static bool create_row_buffers(struct replay *replay)
{
    const struct session *session = replay->session;
    if (replay->mode != REPLAY_V2)
        return true;
    if (!batch_rows_create(&replay->rows_of, &replay->schedule))
        return false;
    size_t size = replay->room * sizeof(int32_t);
    replay->slot_of = session_buffer(session, size, "batch rows");
    replay->query_starts =
        session_buffer(session, size + sizeof(int32_t), "batch rows");
    replay->row_table = session_buffer(session, size * replay->schedule.columns,
                                       "the rows' block table");
    replay->now_computed = session_buffer(session, size, "per-slot numbers");
    return replay->slot_of && replay->query_starts && replay->row_table &&
           replay->now_computed;
}

static bool create_buffers(struct replay *replay)
{
    const struct session *session = replay->session;
    size_t size = replay->room * sizeof(int32_t);
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
        session, replay->room * sizeof(struct clmove_ssm_fault), "faults");
    return fine && replay->table && replay->faults &&
           create_row_buffers(replay) && create_host_arrays(replay);
}

static bool clear_buffers(const struct replay *replay)
{
    const cl_mem buffers[] = {replay->accepted[0], replay->accepted[1],
                              replay->column[0],   replay->column[1],
                              replay->faults,      replay->now_computed};
    /* Written rather than filled: Oclgrind takes filled bytes as unset. */
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        size_t size = buffers[i] == replay->faults
                          ? replay->room * sizeof(struct clmove_ssm_fault)
                          : replay->room * sizeof(int32_t);
        if (buffers[i] &&
            !replay_write(replay, buffers[i], replay->zeros, size))
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

/* Row i is slot i, or rows name slots. */
static void name_numbers(const struct replay *replay, enum oracle_call call,
                         struct clmove_ssm_step_params *params)
{
    if (replay->mode == REPLAY_V1) {
        params->computed =
            session_memory(replay->arrays[REPLAY_COMPUTED], 0, 0);
        params->scheduled =
            session_memory(replay->arrays[REPLAY_SCHEDULED], 0, 0);
        params->draft = session_memory(replay->arrays[REPLAY_DRAFT], 0, 0);
        return;
    }
    if (!replay->tables_by_row)
        params->flags = CLMOVE_SSM_TABLES_BY_SLOT;
    params->slot_of = session_memory(replay->slot_of, 0, 0);
    if (call == ORACLE_PRE) {
        params->computed =
            session_memory(replay->arrays[REPLAY_COMPUTED], 0, 0);
        params->query_starts = session_memory(replay->query_starts, 0, 0);
    } else {
        params->now_computed = session_memory(replay->now_computed, 0, 0);
    }
}

static bool create_step(struct replay *replay, enum oracle_call call,
                        uint32_t turn, struct clmove_ssm_step **step)
{
    const struct schedule *schedule = &replay->schedule;
    struct clmove_ssm_table table;
    memset(&table, 0, sizeof table);
    table.entries = session_memory(
        replay->tables_by_row ? replay->row_table : replay->table, 0, 0);
    table.columns = schedule->columns;
    struct clmove_ssm_step_params params;
    memset(&params, 0, sizeof params);
    params.tokens_per_block = schedule->block_size;
    params.max_rows = replay->room;
    params.tables = &table;
    name_numbers(replay, call, &params);
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

bool replay_has_steps(const struct replay *replay)
{
    return replay->mode == REPLAY_V1 || replay->mode == REPLAY_V2 ||
           replay->mode == REPLAY_BASELINE;
}

static bool create_steps(struct replay *replay, uint32_t draft_tokens)
{
    replay->layout =
        pool_layout(&replay->pool, replay->session->engine, draft_tokens);
    if (!replay->layout)
        return false;
    if (!replay_has_steps(replay))
        return replay_host_create(replay) &&
               (replay->mode != REPLAY_CHECKPOINT ||
                replay_checkpoint_create(replay));
    if (replay->mode == REPLAY_BASELINE)
        return replay_baseline_create(replay);
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
    const struct trace *trace = params->trace;
    struct pool_request *request = &params->request;
    memset(replay, 0, sizeof *replay);
    replay->session = session;
    replay->mode = params->mode;
    replay->tables_by_row = params->tables_by_row;
    replay->steps_total = params->steps;
    /* Checkpoints need neither wide windows nor a block per draft. */
    request->draft_tokens =
        params->mode == REPLAY_CHECKPOINT ? 0 : trace->draft_tokens;
    request->block_count = schedule_peak(trace, params->block_size,
                                         request->draft_tokens, params->steps);
    replay->room = trace->slots;
    if (params->mode == REPLAY_V2)
        replay->room += BATCH_ROWS_PADDING;
    struct pool_shape shape;
    if (request->block_count == 0 ||
        !pool_plan(&shape, request, &session->device) ||
        !schedule_create(&replay->schedule, trace, params->block_size,
                         request->draft_tokens) ||
        !oracle_create(&replay->oracle, &replay->schedule, &shape,
                       replay->room))
        return CLI_BAD_INPUT;
    replay->oracle.settles = params->mode == REPLAY_CHECKPOINT;
    if (!pool_create(&replay->pool, &shape, session) ||
        !kernels_create(&replay->kernels, session) ||
        !kernels_bind(&replay->kernels, session, &replay->pool,
                      replay->schedule.columns, replay->schedule.slots) ||
        !create_buffers(replay) || !clear_buffers(replay) ||
        !create_steps(replay, request->draft_tokens))
        return CLI_OPENCL_FAILED;
    return CLI_GO_ON;
}

void replay_destroy(struct replay *replay)
{
    for (int i = 0; i < 2; i++) {
        clmove_ssm_step_destroy(&replay->pre[i]);
        clmove_ssm_step_destroy(&replay->post[i]);
        session_release(&replay->accepted[i]);
        session_release(&replay->column[i]);
    }
    for (int i = 0; i < REPLAY_CALLS_MAX; i++) {
        device_clock_release(&replay->calls[i].mark);
        device_clock_release(&replay->calls[i].done);
    }
    replay_baseline_destroy(replay);
    replay_checkpoint_destroy(replay);
    replay_host_destroy(replay);
    clmove_ssm_layout_destroy(&replay->layout);
    for (int i = 0; i < REPLAY_ARRAY_COUNT; i++)
        session_release(&replay->arrays[i]);
    session_release(&replay->table);
    session_release(&replay->faults);
    session_release(&replay->slot_of);
    session_release(&replay->query_starts);
    session_release(&replay->row_table);
    session_release(&replay->now_computed);
    batch_rows_destroy(&replay->rows_of);
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

/* Batch rows that name slots. */
static bool upload_rows(struct replay *replay)
{
    struct batch_rows *rows = &replay->rows_of;
    batch_rows_fill(rows, &replay->schedule);
    size_t size = rows->count * sizeof(int32_t);
    return replay_write(replay, replay->slot_of, rows->slot_of, size) &&
           replay_write(replay, replay->query_starts, rows->query_starts,
                        size + sizeof(int32_t)) &&
           replay_write(replay, replay->row_table, rows->table,
                        size * replay->schedule.columns);
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
                {REPLAY_ADMITTED, schedule->admitted},
                {REPLAY_REQUEST, replay->scratch}};
    for (size_t i = 0; i < slots; i++)
        replay->scratch[i] = (int32_t)schedule->slot[i].request;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (!replay_write(replay, replay->arrays[list[i].array], list[i].values,
                          size))
            return false;
    }
    return replay_write(replay, replay->table, schedule->table,
                        size * schedule->columns) &&
           (replay->mode != REPLAY_V2 || upload_rows(replay));
}

bool replay_begin_step(struct replay *replay)
{
    struct schedule *schedule = &replay->schedule;
    if (!schedule_next(schedule) || !upload(replay))
        return false;
    for (uint32_t i = 0; i < schedule->slots; i++)
        replay->rows += schedule->scheduled[i] > 0;
    oracle_admit(&replay->oracle);
    if (!replay_has_steps(replay))
        replay_host_admit(replay);
    replay->host_us = 0;
    return kernels_admit(&replay->kernels, schedule->slots,
                         replay->arrays[REPLAY_ADMITTED], replay->accepted[0],
                         replay->column[replay->turn]) &&
           !session_failed(clFinish(replay->session->queue), "clFinish");
}

static uint32_t batch_size(const struct replay *replay)
{
    return replay->mode == REPLAY_V2 ? replay->rows_of.count
                                     : replay->schedule.slots;
}

bool replay_pre(struct replay *replay)
{
    if (!replay_has_steps(replay))
        return replay_host_pre(replay);
    if (replay->mode == REPLAY_BASELINE)
        return replay_baseline_call(replay, ORACLE_PRE);
    struct replay_call *call = &replay->calls[replay->call_count++];
    double start = progress_seconds();
    clmove_status status =
        clmove_enqueue_ssm_pre(replay->pre[replay->turn], batch_size(replay),
                               replay->session->queue, 0, NULL, &call->done);
    replay->host_us += (progress_seconds() - start) * 1e6;
    return !session_failed(status, "clmove_enqueue_ssm_pre");
}

bool replay_sample(struct replay *replay)
{
    const cl_mem *arrays = replay->arrays;
    uint32_t slots = replay->schedule.slots;
    return kernels_sample(&replay->kernels, slots, arrays[REPLAY_SCHEDULED],
                          arrays[REPLAY_SAMPLED], replay->accepted[1]) &&
           (replay->mode != REPLAY_V2 ||
            kernels_advance(&replay->kernels, slots, arrays[REPLAY_COMPUTED],
                            arrays[REPLAY_SCHEDULED], arrays[REPLAY_DRAFT],
                            arrays[REPLAY_SAMPLED], replay->now_computed));
}

bool replay_post(struct replay *replay)
{
    if (!replay_has_steps(replay))
        return replay_host_post(replay);
    if (replay->mode == REPLAY_BASELINE)
        return replay_baseline_call(replay, ORACLE_POST);
    struct replay_call *call = &replay->calls[replay->call_count++];
    double start = progress_seconds();
    clmove_status status =
        clmove_enqueue_ssm_post(replay->post[replay->turn], batch_size(replay),
                                replay->session->queue, 0, NULL, &call->done);
    replay->host_us += (progress_seconds() - start) * 1e6;
    return !session_failed(status, "clmove_enqueue_ssm_post");
}

/* With results in other arrays than the inputs a step's call is one launch, so
 * that the event's times are the call's. A copy by block id may be more: it
 * takes from the empty command before it to its end. */
static bool call_time(const struct replay_call *call, double *us)
{
    cl_ulong start = 0, end = 0;
    if (call->mark) {
        double between = device_clock_between(call->mark, call->done);
        *us += between > 0 ? between : 0;
        return true;
    }
    cl_int code = clGetEventProfilingInfo(
        call->done, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (code == CL_SUCCESS)
        code = clGetEventProfilingInfo(call->done, CL_PROFILING_COMMAND_END,
                                       sizeof end, &end, NULL);
    *us += (double)(end - start) * 1e-3;
    return !session_failed(code, "clGetEventProfilingInfo");
}

bool replay_end_step(struct replay *replay)
{
    double us = 0;
    bool fine = !session_failed(clFinish(replay->session->queue), "clFinish");
    for (uint32_t i = 0; i < replay->call_count; i++) {
        struct replay_call *call = &replay->calls[i];
        fine = fine && call_time(call, &us);
        device_clock_release(&call->mark);
        device_clock_release(&call->done);
    }
    replay->call_count = 0;
    if (!fine)
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

uint64_t replay_state_bytes(const struct replay *replay)
{
    const struct pool_shape *shape = &replay->pool.shape;
    return (shape->conv_size + shape->temporal_size) * shape->layers;
}
