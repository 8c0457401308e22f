/* Moves in order, in parallel, behind failures, and in great number. */

#include "compare.h"
#include "late_release.h"
#include "moving.h"
#include "references.h"
#include "runner.h"
#include "testing.h"

#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

static const uint32_t overlapping[] = {
    CLMOVE_VARIANT_AUTO, CLMOVE_VARIANT_GROUP, CLMOVE_VARIANT_SPLIT,
    CLMOVE_VARIANT_SEGMENTS};

/* Tiles of 256 bytes: moves of a few KiB take several launches and scratch. */
static struct clmove_engine *small_engine(struct test_device *device)
{
    const struct moving_shape shape = {.tile_size = 256};
    return moving_engine(device, &shape);
}

static clmove_status enqueue(struct clmove_engine *engine,
                             const struct moving_move *move,
                             cl_command_queue queue, cl_uint wait_count,
                             const cl_event *wait_list, cl_event *event)
{
    const struct clmove_memory src = moving_memory(move->src, move->src_offset);
    const struct clmove_memory dst = moving_memory(move->dst, move->dst_offset);
    const struct clmove_move_options options = {.variant = move->variant};

    return clmove_enqueue_move(engine, &src, &dst, move->size, &options, queue,
                               wait_count, wait_list, event);
}

enum { CHAIN = 60, CHAIN_SIZE = 9000 };

/* Moves that each need what the last one left, on an out-of-order queue, and
 * between them moves elsewhere that may run at any time: all use scratch. */
static void test_out_of_order(void **state)
{
    struct test_device *device = *state;
    cl_command_queue queue = device_out_of_order_queue(device);
    struct clmove_engine *engine;
    struct moving chained, free_ones;
    cl_event events[2 * CHAIN];

    if (!queue) {
        runner_skip("the device has no out-of-order queue");
        return;
    }
    engine = small_engine(device);
    moving_open(&chained, device, MOVING_BUFFER, CHAIN_SIZE + 200);
    moving_open(&free_ones, device, MOVING_BUFFER, CHAIN * CHAIN_SIZE);
    moving_fill(&chained, 1);
    moving_fill(&free_ones, 2);
    for (size_t i = 0; i < CHAIN; i++) {
        const struct moving_move move = {&chained,          &chained,
                                         i % 3 ? 3 + i : 0, i % 3 ? 0 : 5 + i,
                                         CHAIN_SIZE,        overlapping[i % 4]};
        const struct moving_move other = {&free_ones,
                                          &free_ones,
                                          i * CHAIN_SIZE + (i % 2 ? 17 : 0),
                                          i * CHAIN_SIZE + (i % 2 ? 0 : 17),
                                          CHAIN_SIZE - 17,
                                          CLMOVE_VARIANT_SPLIT};
        moving_status(device,
                      enqueue(engine, &move, queue, i > 0,
                              i > 0 ? &events[2 * i - 2] : NULL,
                              &events[2 * i]),
                      CLMOVE_SUCCESS);
        moving_status(
            device, enqueue(engine, &other, queue, 0, NULL, &events[2 * i + 1]),
            CLMOVE_SUCCESS);
        moving_expect(&move);
        moving_expect(&other);
    }
    /* In flight or not: what was enqueued needs no engine. */
    clmove_engine_destroy(&engine);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    for (size_t i = 0; i < 2 * CHAIN; i++) {
        cl_int end = CL_QUEUED;
        clGetEventInfo(events[i], CL_EVENT_COMMAND_EXECUTION_STATUS,
                       sizeof(end), &end, NULL);
        assert_int_equal(end, CL_COMPLETE);
        clReleaseEvent(events[i]);
    }
    assert_true(moving_check(&chained, __func__, "chained by events"));
    assert_true(moving_check(&free_ones, __func__, "free"));
    moving_close(&chained);
    moving_close(&free_ones);
    clReleaseCommandQueue(queue);
}

/* An event that the caller completes, or fails, after the move is enqueued. */
static void check_user_event(struct test_device *device,
                             struct clmove_engine *engine,
                             const struct moving_move *move, int fails)
{
    cl_int error = CL_SUCCESS;
    cl_int end = CL_QUEUED;
    cl_event gate = clCreateUserEvent(device->context, &error);
    cl_event event = NULL;
    /* Its own queue: PoCL's stays blocked behind a command that failed. */
    cl_command_queue queue =
        clCreateCommandQueue(device->context, device->info.device, 0, &error);

    assert_int_equal(error, CL_SUCCESS);
    moving_fill(move->dst, 5);
    late_release_begin();
    moving_status(device, enqueue(engine, move, queue, 1, &gate, &event),
                  CLMOVE_SUCCESS);
    assert_non_null(event);
    assert_int_equal(clFlush(queue), CL_SUCCESS);
    assert_int_equal(clSetUserEventStatus(gate, fails ? -42 : CL_COMPLETE),
                     CL_SUCCESS);
    error = clWaitForEvents(1, &event);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                    sizeof(end), &end, NULL),
                     CL_SUCCESS);
    if (fails) { /* Intel's CPU runtime fails the wait, not the event */
        assert_true(error != CL_SUCCESS || end < 0);
    } else {
        assert_int_equal(end, CL_COMPLETE);
        moving_expect(move);
    }
    assert_true(moving_check(move->dst, "test_failed_event",
                             clmove_variant_name(move->variant)));
    clReleaseEvent(event);
    clReleaseEvent(gate);
    late_release_end();
    clReleaseCommandQueue(queue);
}

static void test_failed_event(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine;
    struct moving moving;

    if (strstr(device->info.platform_name, "Oclgrind")) {
        runner_skip("Oclgrind waits for ever for a command behind an event "
                    "that the caller has not completed yet");
        return;
    }
    engine = small_engine(device);
    moving_open(&moving, device, MOVING_BUFFER, 20000);
    for (uint32_t v = 0; v <= CLMOVE_VARIANT_SEGMENTS; v++) {
        const int apart =
            v == CLMOVE_VARIANT_DRIVER || v == CLMOVE_VARIANT_DISJOINT;
        const struct moving_move left = {&moving, &moving, apart ? 10000 : 300,
                                         0,       9000,    v};
        const struct moving_move right = {
            &moving, &moving, 0, apart ? 10000 : 33, 9000, v};
        const struct moving_move nothing = {&moving, &moving, 0, 0, 100, v};
        for (int fails = 0; fails < 2; fails++) {
            check_user_event(device, engine, &left, fails);
            check_user_event(device, engine, &right, fails);
            check_user_event(device, engine, &nothing, fails);
        }
    }
    moving_close(&moving);
    clmove_engine_destroy(&engine);
}

/* A thread's share: a range of its own in one buffer, moved to and fro. */
struct worker {
    pthread_t thread;
    struct clmove_engine *engine;
    cl_command_queue queue;
    struct moving *moving;
    size_t begin, size, moves;
    clmove_status status;
};

static struct moving_move worker_move(const struct worker *worker, size_t i)
{
    const size_t shift = 1 + (i * 37 + worker->begin) % (worker->size / 3);
    const struct moving_move move = {
        .src = worker->moving,
        .dst = worker->moving,
        .src_offset = worker->begin + (i % 2 ? shift : 0),
        .dst_offset = worker->begin + (i % 2 ? 0 : shift),
        .size = worker->size - shift,
        .variant = overlapping[i % 4]};
    return move;
}

/* Calls alone: cmocka's assertions belong to the main thread. */
static void *work(void *argument)
{
    struct worker *worker = argument;

    for (size_t i = 0; i < worker->moves; i++) {
        const struct moving_move move = worker_move(worker, i);
        cl_event event = NULL;
        const clmove_status status =
            enqueue(worker->engine, &move, worker->queue, 0, NULL,
                    i % 5 == 0 ? &event : NULL);
        if (status != CLMOVE_SUCCESS) {
            worker->status = status;
        }
        if (event) {
            clReleaseEvent(event);
        }
    }
    worker->status |= clFinish(worker->queue);
    return NULL;
}

enum { THREADS = 16 };

/* Sizes differ, so that mixed-up arguments show. */
static void run_threads(struct test_device *device, const char *detail,
                        size_t threads, int own_queues, size_t moves)
{
    struct clmove_engine *engine = small_engine(device);
    struct moving moving;
    struct worker workers[THREADS];
    cl_command_queue shared;
    cl_int error = CL_SUCCESS;
    const size_t room = 4096;

    moving_open(&moving, device, MOVING_BUFFER, threads * room);
    moving_fill(&moving, 3);
    shared =
        clCreateCommandQueue(device->context, device->info.device, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    for (size_t i = 0; i < threads; i++) {
        workers[i] = (struct worker){.engine = engine,
                                     .moving = &moving,
                                     .begin = i * room + i,
                                     .size = 1000 + 190 * i,
                                     .moves = moves};
        workers[i].queue =
            own_queues ? clCreateCommandQueue(device->context,
                                              device->info.device, 0, &error)
                       : shared;
        assert_int_equal(error, CL_SUCCESS);
    }
    for (size_t i = 0; i < threads; i++) {
        assert_int_equal(
            pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < threads; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
    for (size_t i = 0; i < threads; i++) {
        assert_int_equal(workers[i].status, CLMOVE_SUCCESS);
        for (size_t j = 0; j < moves; j++) {
            const struct moving_move move = worker_move(&workers[i], j);
            moving_expect(&move);
        }
        if (own_queues) {
            clReleaseCommandQueue(workers[i].queue);
        }
    }
    clReleaseCommandQueue(shared);
    assert_true(moving_check(&moving, "test_threads", detail));
    moving_close(&moving);
    clmove_engine_destroy(&engine);
}

static void test_two_threads(void **state)
{
    run_threads(*state, "two threads, queues of their own", 2, 1, 1000);
    run_threads(*state, "two threads, one queue", 2, 0, 1000);
}

/* clMathLibraries/clFFT issue 146 (also libocca/occa issue 227): threads shared
 * a kernel, and one changed its arguments before another had enqueued it. */
static void test_many_threads(void **state)
{
    run_threads(*state, "16 threads, queues of their own", THREADS, 1, 200);
    run_threads(*state, "16 threads, one queue", THREADS, 0, 200);
}

/* What the runtime itself holds after one command has finished: PoCL 3.1 keeps
 * the last event, which keeps the queue. */
static cl_uint usual_queue_references(struct test_device *device, cl_mem buffer)
{
    cl_int error = CL_SUCCESS;
    cl_command_queue queue =
        clCreateCommandQueue(device->context, device->info.device, 0, &error);
    cl_uint count;

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(
        clEnqueueCopyBuffer(queue, buffer, buffer, 0, 2000, 100, 0, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    count = queue_references(queue);
    clReleaseCommandQueue(queue);
    return count;
}

/* What the process has from malloc, in KiB; its peak where that is not known.
 */
static long used_kib(void)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    return (long)(mallinfo2().uordblks / 1024);
#else
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
#endif
}

/* Moves, with and without an event, and calls that are refused. */
static void run_rounds(struct test_device *device, struct clmove_engine *engine,
                       struct moving *moving, cl_command_queue queue,
                       size_t rounds)
{
    for (size_t i = 0; i < rounds; i++) {
        const struct moving_move move = {moving,        moving,
                                         i % 2 ? 7 : 0, i % 2 ? 0 : 7,
                                         4000,          overlapping[i % 4]};
        const struct moving_move bad = {moving, moving, 0, 7, 1 << 20, 0};
        cl_event event = NULL;
        moving_status(
            device,
            enqueue(engine, &move, queue, 0, NULL, i % 3 ? &event : NULL),
            CLMOVE_SUCCESS);
        moving_expect(&move);
        if (event) {
            clReleaseEvent(event);
        }
        if (i % 16 == 0) {
            assert_int_equal(enqueue(engine, &bad, queue, 0, NULL, &event),
                             CLMOVE_OUT_OF_RANGE);
        }
        if (i % 64 == 63) {
            assert_int_equal(clFinish(queue), CL_SUCCESS);
        }
    }
    assert_int_equal(clFinish(queue), CL_SUCCESS);
}

/* clMathLibraries/clBLAS issue 296, CNugteren/CLBlast issue 74: events of
 * calls with several commands were never released, until memory ran out. An
 * event leaked per move would be some hundred bytes each. */
static void test_memory_is_flat(void **state)
{
    enum { ROUNDS = 10000, ALLOWED_KIB = 100 };
    struct test_device *device = *state;
    struct clmove_engine *engine = small_engine(device);
    struct moving moving;
    cl_command_queue queues[2];
    cl_int error = CL_SUCCESS;
    cl_uint usual;

    moving_open(&moving, device, MOVING_BUFFER, 5000);
    usual = usual_queue_references(device, moving.buffer);
    queues[0] =
        clCreateCommandQueue(device->context, device->info.device, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    queues[1] = device_out_of_order_queue(device);
    for (int i = 0; i < 2; i++) {
        long before, after;
        cl_uint count = buffer_references(moving.buffer);
        if (!queues[i]) {
            continue;
        }
        moving_fill(&moving, 1);
        run_rounds(device, engine, &moving, queues[i], 2000); /* warm */
        before = used_kib();
        /* Out of order, these would race: only the last finish counts. */
        if (i == 0) {
            run_rounds(device, engine, &moving, queues[i], ROUNDS);
            assert_true(moving_check(&moving, __func__, "10000 moves"));
        } else {
            run_rounds(device, engine, &moving, queues[i], ROUNDS / 10);
        }
        after = used_kib();
        print_message("%ld KiB before, %ld KiB after\n", before, after);
        assert_true(after - before <= ALLOWED_KIB);
        expect_references(buffer_references, moving.buffer, count + 2);
    }
    clmove_engine_destroy(&engine);
    for (int i = 0; i < 2; i++) {
        if (queues[i]) {
            expect_references(queue_references, queues[i], usual);
            clReleaseCommandQueue(queues[i]);
        }
    }
    expect_references(buffer_references, moving.buffer, 1);
    assert_int_equal(buffer_references(moving.buffer), 1);
    moving_close(&moving);
}

/* More queues than the engine keeps scratch for, in turns. */
static void test_many_queues(void **state)
{
    enum { QUEUES = 20, SIZE = 6000 };
    struct test_device *device = *state;
    struct clmove_engine *engine = small_engine(device);
    cl_command_queue queues[QUEUES];
    struct moving moving;

    moving_open(&moving, device, MOVING_BUFFER, QUEUES * SIZE);
    moving_fill(&moving, 4);
    for (size_t i = 0; i < QUEUES; i++) {
        cl_int error = CL_SUCCESS;
        queues[i] = clCreateCommandQueue(device->context, device->info.device,
                                         0, &error);
        assert_int_equal(error, CL_SUCCESS);
    }
    for (size_t round = 0; round < 6; round++) {
        for (size_t i = 0; i < QUEUES; i++) {
            const struct moving_move move = {&moving,
                                             &moving,
                                             i * SIZE + (round % 2 ? 0 : 11),
                                             i * SIZE + (round % 2 ? 11 : 0),
                                             SIZE - 11 - (round > 3) * 3000,
                                             CLMOVE_VARIANT_SPLIT};
            moving_status(device,
                          enqueue(engine, &move, queues[i], 0, NULL, NULL),
                          CLMOVE_SUCCESS);
            moving_expect(&move);
        }
    }
    clmove_engine_destroy(&engine); /* while moves may be in flight */
    for (size_t i = 0; i < QUEUES; i++) {
        assert_int_equal(clFinish(queues[i]), CL_SUCCESS);
        clReleaseCommandQueue(queues[i]);
    }
    assert_true(moving_check(&moving, __func__, "20 queues"));
    moving_close(&moving);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_failed_event),
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_many_queues),
        cmocka_unit_test(test_memory_is_flat),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
