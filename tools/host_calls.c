/* One of each enqueue call, with little for the device to do. */

#include "host_calls.h"

#include <string.h>

enum {
    SMALL = 4096,    /* bytes of most moves */
    LARGE = 1 << 20, /* of one that is cut into spans on every device */
    ROWS = 8,        /* of a step, entries of lists */
    LONG = 16,       /* entries of a list that is copied to a buffer */
    COLUMNS = 4,
    BLOCKS = 32,
    PAGE = 8192, /* holds a block of both states */
    ARRAY = 64   /* bytes between arrays of ROWS numbers */
};

static const size_t buffer_sizes[HOST_BUFFERS] = {
    [HOST_BYTES] = 2 * LARGE,
    [HOST_LISTS] = 4 * ARRAY,
    [HOST_STATES] = BLOCKS * PAGE,
    [HOST_TABLE] = ROWS * COLUMNS * sizeof(int32_t),
    [HOST_ARRAYS] = 7 * ARRAY};

static struct clmove_memory part(const struct host_calls *calls, int buffer,
                                 size_t index)
{
    return session_memory(calls->buffers[buffer], index * ARRAY, ARRAY);
}

/* Zeros make no request part of a step, and no entry of a list move. */
static bool make_buffers(struct host_calls *calls)
{
    const cl_uint zero = 0;
    for (int i = 0; i < HOST_BUFFERS; i++) {
        calls->buffers[i] =
            session_buffer(calls->session, buffer_sizes[i], "host calls");
        if (!calls->buffers[i] ||
            session_failed(clEnqueueFillBuffer(
                               calls->session->queue, calls->buffers[i], &zero,
                               sizeof zero, 0, buffer_sizes[i], 0, NULL, NULL),
                           "clEnqueueFillBuffer"))
            return false;
    }
    return true;
}

/* Two moves; the second one's source is `src`, which the first one may write.
 */
static bool make_batch(struct host_calls *calls, uint64_t src,
                       struct clmove_batch **batch)
{
    const struct clmove_memory memory =
        session_memory(calls->buffers[HOST_BYTES], 0, 0);
    struct clmove_region regions[2];
    struct clmove_batch_params params;
    memset(regions, 0, sizeof regions);
    memset(&params, 0, sizeof params);
    for (uint64_t i = 0; i < 2; i++) {
        regions[i].src_offset = i * src;
        regions[i].dst_offset = (2 * i + 1) * SMALL;
        regions[i].size = SMALL;
    }
    params.memories = &memory;
    params.memory_count = 1;
    params.regions = regions;
    params.region_count = 2;
    struct clmove_log log = session_log();
    return !session_failed(
        clmove_batch_create(calls->session->engine, &log, &params, batch),
        "clmove_batch_create");
}

static bool make_layout(struct host_calls *calls)
{
    struct clmove_ssm_state states[2];
    struct clmove_ssm_layout_params params;
    memset(states, 0, sizeof states);
    memset(&params, 0, sizeof params);
    for (int i = 0; i < 2; i++) {
        states[i].block_count = BLOCKS;
        states[i].block_stride = PAGE;
    }
    states[0].kind = CLMOVE_SSM_CONV_SD;
    states[0].width = 6;
    states[0].dim = 64;
    states[0].element_size = 2;
    states[0].memory = session_memory(calls->buffers[HOST_STATES], 0, 0);
    states[1].kind = CLMOVE_SSM_TEMPORAL;
    states[1].size = PAGE / 2;
    states[1].memory = session_memory(calls->buffers[HOST_STATES], PAGE / 2, 0);
    params.states = states;
    params.state_count = 2;
    params.group_count = 1;
    return !session_failed(clmove_ssm_layout_create(calls->session->engine,
                                                    &params, &calls->layout),
                           "clmove_ssm_layout_create");
}

/* A step whose accepted and column go from one pair of arrays to another. */
static bool make_step(struct host_calls *calls, int which, size_t from,
                      size_t to)
{
    struct clmove_ssm_table table;
    struct clmove_ssm_step_params params;
    memset(&table, 0, sizeof table);
    memset(&params, 0, sizeof params);
    table.entries = session_memory(calls->buffers[HOST_TABLE], 0, 0);
    table.columns = COLUMNS;
    params.tokens_per_block = 16;
    params.max_rows = ROWS;
    params.tables = &table;
    params.computed = part(calls, HOST_ARRAYS, 0);
    params.scheduled = part(calls, HOST_ARRAYS, 1);
    params.draft = part(calls, HOST_ARRAYS, 2);
    params.accepted_in = part(calls, HOST_ARRAYS, from);
    params.accepted_out = part(calls, HOST_ARRAYS, to);
    params.column_in = part(calls, HOST_ARRAYS, from + 1);
    params.column_out = part(calls, HOST_ARRAYS, to + 1);
    return !session_failed(
        clmove_ssm_step_create(calls->layout, &params, &calls->steps[which]),
        "clmove_ssm_step_create");
}

bool host_calls_open(struct host_calls *calls, const struct session *session)
{
    memset(calls, 0, sizeof *calls);
    calls->session = session;
    return make_buffers(calls) &&
           make_batch(calls, (uint64_t)2 * SMALL, &calls->batches[0]) &&
           make_batch(calls, SMALL, &calls->batches[1]) && make_layout(calls) &&
           make_step(calls, HOST_PRE, 3, 5) &&
           make_step(calls, HOST_POST, 5, 3) &&
           make_step(calls, HOST_IN_PLACE, 3, 3) &&
           !session_failed(clFinish(session->queue), "clFinish");
}

void host_calls_close(struct host_calls *calls)
{
    clFinish(calls->session->queue);
    for (int i = 0; i < HOST_STEPS; i++)
        clmove_ssm_step_destroy(&calls->steps[i]);
    clmove_ssm_layout_destroy(&calls->layout);
    for (int i = 0; i < 2; i++)
        clmove_batch_destroy(&calls->batches[i]);
    for (int i = 0; i < HOST_BUFFERS; i++)
        session_release(&calls->buffers[i]);
}

static bool fine(clmove_status status, const char *call)
{
    return !session_failed(status, call);
}

/* From byte `src` of the buffer to its start. */
static bool move(const struct host_calls *calls, uint32_t variant, size_t src,
                 size_t size, cl_command_queue queue, cl_event *event)
{
    const struct clmove_memory from =
        session_memory(calls->buffers[HOST_BYTES], src, 0);
    const struct clmove_memory to =
        session_memory(calls->buffers[HOST_BYTES], 0, 0);
    struct clmove_move_options options;
    memset(&options, 0, sizeof options);
    options.variant = variant;
    return fine(clmove_enqueue_move(calls->session->engine, &from, &to, size,
                                    &options, queue, calls->wait_count,
                                    calls->wait_list, event),
                "clmove_enqueue_move");
}

/* The heads of all calls below. */
#define CALL(name)                                                             \
    static bool name(void *context, cl_command_queue queue, uint32_t turn,     \
                     cl_event *event)

CALL(move_driver)
{
    (void)turn;
    return move(context, CLMOVE_VARIANT_DRIVER, SMALL, SMALL, queue, event);
}

CALL(move_disjoint)
{
    (void)turn;
    return move(context, CLMOVE_VARIANT_DISJOINT, SMALL, SMALL, queue, event);
}

CALL(move_group)
{
    (void)turn;
    return move(context, CLMOVE_VARIANT_GROUP, 16, SMALL, queue, event);
}

CALL(move_split)
{
    (void)turn;
    return move(context, CLMOVE_VARIANT_SPLIT, 16, LARGE, queue, event);
}

/* Four pieces. */
CALL(move_segments)
{
    (void)turn;
    return move(context, CLMOVE_VARIANT_SEGMENTS, SMALL / 4, SMALL, queue,
                event);
}

CALL(batch_one)
{
    const struct host_calls *calls = context;
    (void)turn;
    return fine(clmove_enqueue_batch(calls->batches[0], queue,
                                     calls->wait_count, calls->wait_list,
                                     event),
                "clmove_enqueue_batch");
}

CALL(batch_two)
{
    const struct host_calls *calls = context;
    (void)turn;
    return fine(clmove_enqueue_batch(calls->batches[1], queue,
                                     calls->wait_count, calls->wait_list,
                                     event),
                "clmove_enqueue_batch");
}

CALL(batch_device)
{
    const struct host_calls *calls = context;
    struct clmove_device_batch batch;
    memset(&batch, 0, sizeof batch);
    (void)turn;
    batch.src_base = session_memory(calls->buffers[HOST_BYTES], 0, 0);
    batch.dst_base = batch.src_base;
    batch.src_offsets = part(calls, HOST_LISTS, 0);
    batch.dst_offsets = part(calls, HOST_LISTS, 1);
    batch.sizes = part(calls, HOST_LISTS, 2);
    batch.count = ROWS;
    return fine(clmove_enqueue_batch_device(calls->session->engine, &batch,
                                            queue, calls->wait_count,
                                            calls->wait_list, event),
                "clmove_enqueue_batch_device");
}

static bool pre(const struct host_calls *calls, int step,
                cl_command_queue queue, cl_event *event)
{
    return fine(clmove_enqueue_ssm_pre(calls->steps[step], ROWS, queue,
                                       calls->wait_count, calls->wait_list,
                                       event),
                "clmove_enqueue_ssm_pre");
}

static bool post(const struct host_calls *calls, int step,
                 cl_command_queue queue, cl_event *event)
{
    return fine(clmove_enqueue_ssm_post(calls->steps[step], ROWS, queue,
                                        calls->wait_count, calls->wait_list,
                                        event),
                "clmove_enqueue_ssm_post");
}

CALL(pre_turns)
{
    (void)turn;
    return pre(context, HOST_PRE, queue, event);
}

CALL(post_turns)
{
    (void)turn;
    return post(context, HOST_POST, queue, event);
}

/* As a decode has them, one after the other. */
CALL(both_turns)
{
    return turn % 2 == 0 ? pre_turns(context, queue, turn, event)
                         : post_turns(context, queue, turn, event);
}

CALL(pre_in_place)
{
    (void)turn;
    return pre(context, HOST_IN_PLACE, queue, event);
}

CALL(post_in_place)
{
    (void)turn;
    return post(context, HOST_IN_PLACE, queue, event);
}

CALL(indices)
{
    const struct host_calls *calls = context;
    const struct clmove_memory out = part(calls, HOST_LISTS, 3);
    (void)turn;
    return fine(clmove_enqueue_ssm_indices(calls->steps[HOST_PRE], ROWS, 2,
                                           &out, queue, calls->wait_count,
                                           calls->wait_list, event),
                "clmove_enqueue_ssm_indices");
}

static bool copy(void *context, size_t count, cl_command_queue queue,
                 cl_event *event)
{
    const struct host_calls *calls = context;
    struct clmove_ssm_copy copies[LONG];
    memset(copies, 0, sizeof copies);
    for (int32_t i = 0; i < LONG; i++) {
        copies[i].conv_from = copies[i].temporal_from = i;
        copies[i].to = LONG + i;
    }
    return fine(clmove_enqueue_ssm_copy(calls->layout, calls->layout, copies,
                                        count, queue, calls->wait_count,
                                        calls->wait_list, event),
                "clmove_enqueue_ssm_copy");
}

CALL(copy_one)
{
    (void)turn;
    return copy(context, 1, queue, event);
}

CALL(copy_rows)
{
    (void)turn;
    return copy(context, ROWS, queue, event);
}

CALL(copy_long)
{
    (void)turn;
    return copy(context, LONG, queue, event);
}

CALL(zero)
{
    static const int32_t blocks[ROWS] = {16, 17, 18, 19, 20, 21, 22, 23};
    const struct host_calls *calls = context;
    (void)turn;
    return fine(clmove_enqueue_ssm_zero(calls->layout, 0, blocks, ROWS, queue,
                                        calls->wait_count, calls->wait_list,
                                        event),
                "clmove_enqueue_ssm_zero");
}

const struct host_call host_call_list[HOST_CALL_COUNT] = {
    {"move, driver", 1, false, move_driver},
    {"move, disjoint", 1, false, move_disjoint},
    {"move, group", 1, false, move_group},
    {"move, split", 2, false, move_split},
    {"move, segments", 1, false, move_segments},
    {"batch, one launch", 1, false, batch_one},
    {"batch, two launches", 2, false, batch_two},
    {"batch_device", 1, false, batch_device},
    {"ssm_pre", 1, false, pre_turns},
    {"ssm_post", 1, false, post_turns},
    {"ssm_pre, ssm_post in turns", 1, false, both_turns},
    {"ssm_pre, in place", 2, false, pre_in_place},
    {"ssm_post, in place", 2, false, post_in_place},
    {"ssm_indices", 1, false, indices},
    {"ssm_copy, 1 entry", 1, false, copy_one},
    {"ssm_copy, 8 entries", 1, false, copy_rows},
    {"ssm_copy, 16 entries", 1, true, copy_long},
    {"ssm_zero, 8 blocks", 1, false, zero}};
