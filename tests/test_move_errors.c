/* Bad moves are refused with a sentence, and nothing is written. */

#include "moving.h"
#include "runner.h"
#include "testing.h"
#include "variable.h"

#include <stdlib.h>

enum { SIZE = 1000 };

/* A good call, of which each case changes a part. */
struct call {
    struct test_device *device;
    struct clmove_engine *engine;
    struct clmove_memory src, dst;
    size_t size;
    struct clmove_move_options options;
    cl_command_queue queue;
    cl_uint wait_count;
    const cl_event *wait_list;
};

struct bench {
    struct call good;
    struct moving one, other;
};

static struct bench *open_bench(struct test_device *device)
{
    struct bench *bench = test_calloc(1, sizeof(*bench));

    moving_open(&bench->one, device, MOVING_BUFFER, SIZE);
    moving_open(&bench->other, device, MOVING_BUFFER, SIZE);
    moving_fill(&bench->one, 1);
    moving_fill(&bench->other, 2);
    bench->good = (struct call){.device = device,
                                .engine = device->engine,
                                .src = moving_memory(&bench->one, 0),
                                .dst = moving_memory(&bench->other, 0),
                                .size = 100,
                                .queue = device->queue};
    return bench;
}

/* Whatever was refused has not written a byte. */
static void close_bench(struct bench *bench)
{
    assert_true(moving_check(&bench->one, "test_move_errors", "source"));
    assert_true(moving_check(&bench->other, "test_move_errors", "destination"));
    moving_close(&bench->one);
    moving_close(&bench->other);
    test_free(bench);
}

/* Refused by the call that enqueues; by the one that asks for the scratch if
 * it knows as much. No event comes. */
static void refused(const struct call *call, clmove_status want,
                    const char *first, const char *second)
{
    cl_event event = NULL;
    clmove_status status;

    device_clear_messages(call->device);
    status = clmove_enqueue_move(call->engine, &call->src, &call->dst,
                                 call->size, &call->options, call->queue,
                                 call->wait_count, call->wait_list, &event);
    moving_refused(call->device, status, want, first);
    device_expect_message(call->device, second);
    assert_null(event);
}

static void refused_by_size_too(const struct call *call, clmove_status want,
                                const char *first, const char *second)
{
    size_t bytes = 7;

    refused(call, want, first, second);
    device_clear_messages(call->device);
    moving_refused(call->device,
                   clmove_move_scratch_size(call->engine, &call->src,
                                            &call->dst, call->size,
                                            &call->options, &bytes),
                   want, first);
    assert_int_equal(bytes, 0);
}

static void test_null(void **state)
{
    struct bench *bench = open_bench(*state);
    const struct call *good = &bench->good;
    struct call call = *good;
    size_t bytes = 0;

    assert_int_equal(clmove_enqueue_move(NULL, &good->src, &good->dst, 1, NULL,
                                         good->queue, 0, NULL, NULL),
                     CLMOVE_INVALID_ARGUMENT);
    device_clear_messages(good->device);
    moving_refused(good->device,
                   clmove_enqueue_move(good->engine, NULL, &good->dst, 1, NULL,
                                       good->queue, 0, NULL, NULL),
                   CLMOVE_INVALID_ARGUMENT, "src is NULL");
    moving_refused(good->device,
                   clmove_enqueue_move(good->engine, &good->src, NULL, 1, NULL,
                                       good->queue, 0, NULL, NULL),
                   CLMOVE_INVALID_ARGUMENT, "dst is NULL");
    call.queue = NULL;
    refused(&call, CLMOVE_INVALID_ARGUMENT, "queue", "NULL");
    moving_refused(good->device,
                   clmove_move_scratch_size(good->engine, &good->src,
                                            &good->dst, 1, NULL, NULL),
                   CLMOVE_INVALID_ARGUMENT, "bytes is NULL");
    assert_int_equal(
        clmove_move_scratch_size(NULL, &good->src, &good->dst, 1, NULL, &bytes),
        CLMOVE_INVALID_ARGUMENT);
    close_bench(bench);
}

/* src and dst each get the bad memory once. */
static void refuse_memory(const struct call *good,
                          const struct clmove_memory *bad, clmove_status want,
                          const char *text)
{
    struct call call = *good;

    call.src = *bad;
    refused_by_size_too(&call, want, "src", text);
    call = *good;
    call.dst = *bad;
    refused_by_size_too(&call, want, "dst", text);
}

static void test_ranges(void **state)
{
    struct bench *bench = open_bench(*state);
    struct call call = bench->good;
    struct clmove_memory bad = bench->good.src;

    bad.offset = SIZE - 99;
    refuse_memory(&bench->good, &bad, CLMOVE_OUT_OF_RANGE, "100");
    bad.offset = 0;
    bad.size = 99;
    refuse_memory(&bench->good, &bad, CLMOVE_OUT_OF_RANGE, "99");
    bad.size = SIZE + 1;
    refuse_memory(&bench->good, &bad, CLMOVE_OUT_OF_RANGE, "1001");
    bad.offset = SIZE + 1;
    bad.size = 0;
    refuse_memory(&bench->good, &bad, CLMOVE_OUT_OF_RANGE, "1001");
    bad.offset = SIZE_MAX;
    refuse_memory(&bench->good, &bad, CLMOVE_OUT_OF_RANGE,
                  "18446744073709551615");
    bad.offset = 10;
    bad.size = SIZE_MAX - 5; /* their sum is 4 */
    refuse_memory(&bench->good, &bad, CLMOVE_OUT_OF_RANGE,
                  "18446744073709551610");
    call.size = SIZE_MAX;
    refused_by_size_too(&call, CLMOVE_OUT_OF_RANGE, "18446744073709551615",
                        "1000");
    close_bench(bench);
}

static void test_memories(void **state)
{
    struct test_device *device = *state;
    struct bench *bench = open_bench(device);
    struct clmove_memory bad = {0};
    cl_int error = CL_SUCCESS;
    cl_context context =
        clCreateContext(NULL, 1, &device->info.device, NULL, NULL, &error);
    cl_mem foreign;

    assert_int_equal(error, CL_SUCCESS);
    refuse_memory(&bench->good, &bad, CLMOVE_INVALID_ARGUMENT, "neither");
    bad.buffer = bench->one.buffer;
    bad.pointer = &bad;
    refuse_memory(&bench->good, &bad, CLMOVE_INVALID_ARGUMENT, "both");
    bad = (struct clmove_memory){.pointer = &bad, .pointer_kind = 7};
    refuse_memory(&bench->good, &bad, CLMOVE_UNSUPPORTED, "7");
    bad =
        (struct clmove_memory){.buffer = bench->one.buffer, .pointer_kind = 7};
    refuse_memory(&bench->good, &bad, CLMOVE_INVALID_ARGUMENT, "7");
    bad = (struct clmove_memory){.pointer = &bad, .size = 100};
    if (!device_has_svm(device)) {
        refuse_memory(&bench->good, &bad, CLMOVE_UNSUPPORTED,
                      "shared virtual memory");
    } else {
        bad.offset = SIZE_MAX - 5;
        refuse_memory(&bench->good, &bad, CLMOVE_OUT_OF_RANGE, "address space");
    }
    foreign = clCreateBuffer(context, CL_MEM_READ_WRITE, SIZE, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    bad = (struct clmove_memory){.buffer = foreign};
    refuse_memory(&bench->good, &bad, CLMOVE_INVALID_ARGUMENT,
                  "another context");
    clReleaseMemObject(foreign);
    clReleaseContext(context);
    close_bench(bench);
}

static void test_queues(void **state)
{
    struct test_device *device = *state;
    struct bench *bench = open_bench(device);
    struct call call = bench->good;
    const cl_event nothing = NULL;
    cl_int error = CL_SUCCESS;
    cl_context context =
        clCreateContext(NULL, 1, &device->info.device, NULL, NULL, &error);
    cl_command_queue queue;

    assert_int_equal(error, CL_SUCCESS);
    queue = clCreateCommandQueue(context, device->info.device, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    call.queue = queue;
    refused(&call, CLMOVE_WRONG_QUEUE, "queue", "another context");
    call = bench->good;
    call.wait_count = 1;
    refused(&call, CL_INVALID_EVENT_WAIT_LIST, "wait_count is 1", "NULL");
    call.wait_list = &nothing;
    refused(&call, CL_INVALID_EVENT_WAIT_LIST, "wait_list[0]", "NULL");
    call.wait_count = 0;
    refused(&call, CL_INVALID_EVENT_WAIT_LIST, "wait_count is 0", "not NULL");
    /* Also where nothing would move. */
    call.size = 0;
    refused(&call, CL_INVALID_EVENT_WAIT_LIST, "wait_count is 0", "not NULL");
    call = bench->good;
    call.size = 0;
    call.queue = queue;
    refused(&call, CLMOVE_WRONG_QUEUE, "queue", "another context");
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    close_bench(bench);
}

static void test_variants(void **state)
{
    struct test_device *device = *state;
    struct bench *bench = open_bench(device);
    struct call call = bench->good;

    call.options.variant = 6;
    refused_by_size_too(&call, CLMOVE_INVALID_ARGUMENT, "variant", "6");
    call.options.variant = UINT32_MAX;
    refused_by_size_too(&call, CLMOVE_INVALID_ARGUMENT, "variant",
                        "4294967295");
    /* One byte in common is an overlap. */
    call.dst = moving_memory(&bench->one, 99);
    call.options.variant = CLMOVE_VARIANT_DRIVER;
    refused_by_size_too(&call, CLMOVE_INVALID_ARGUMENT, "driver", "overlap");
    call.options.variant = CLMOVE_VARIANT_DISJOINT;
    refused_by_size_too(&call, CLMOVE_INVALID_ARGUMENT, "disjoint", "overlap");
    if (device_has_svm(device)) {
        struct moving svm;
        moving_open(&svm, device, MOVING_SVM, SIZE);
        moving_fill(&svm, 3);
        call = bench->good;
        call.dst = moving_memory(&svm, 0);
        call.options.variant = CLMOVE_VARIANT_DRIVER;
        refused_by_size_too(&call, CLMOVE_INVALID_ARGUMENT, "driver",
                            "pointer");
        /* Given scratch says how large it is. */
        call = bench->good;
        call.options.scratch.pointer = svm.svm;
        refused(&call, CLMOVE_INVALID_ARGUMENT, "options->scratch",
                "size is 0");
        assert_true(moving_check(&svm, __func__, "refused"));
        moving_close(&svm);
    }
    assert_null(clmove_variant_name(6));
    assert_string_equal(clmove_variant_name(CLMOVE_VARIANT_SPLIT), "split");
    close_bench(bench);
}

/* CLMOVE_VARIANT is a wish where the options have none, and must be a name. */
static void test_environment(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine_params params = {.context = device->context,
                                          .device = device->info.device,
                                          .log = device->log,
                                          .parts = CLMOVE_PART_MOVES};
    struct kept_variable kept = set_variable("CLMOVE_VARIANT", "fastest");
    const int svm = device_has_svm(device);
    struct clmove_engine *engine = NULL;
    struct moving moving, other;

    device_clear_messages(device);
    moving_refused(device, clmove_engine_create(&params, &engine),
                   CLMOVE_INVALID_ARGUMENT, "fastest");
    assert_null(engine);
    moving_open(&moving, device, MOVING_BUFFER, SIZE);
    moving_open(&other, device, svm ? MOVING_SVM : MOVING_BUFFER, SIZE);
    for (uint32_t v = 0; v <= CLMOVE_VARIANT_SEGMENTS; v++) {
        setenv("CLMOVE_VARIANT", clmove_variant_name(v), 1);
        moving_status(device, clmove_engine_create(&params, &engine),
                      CLMOVE_SUCCESS);
        moving_fill(&moving, v);
        moving_move(engine, &(struct moving_move){&moving, &moving, 0, 500, 400,
                                                  CLMOVE_VARIANT_AUTO});
        moving_move(engine, &(struct moving_move){&moving, &moving, 3, 0, 800,
                                                  CLMOVE_VARIANT_AUTO});
        moving_fill(&other, v + 10);
        moving_move(engine, &(struct moving_move){&other, &moving, 1, 200, 99,
                                                  CLMOVE_VARIANT_AUTO});
        assert_true(moving_check(&moving, __func__, clmove_variant_name(v)));
        clmove_engine_destroy(&engine);
    }
    restore_variable(&kept);
    moving_close(&moving);
    moving_close(&other);
}

/* Parts of an engine that was made without them. */
static void test_parts(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine_params params = {.context = device->context,
                                          .device = device->info.device,
                                          .log = device->log,
                                          .parts = CLMOVE_PART_STATES};
    struct bench *bench = open_bench(device);
    struct call call = bench->good;

    moving_status(device, clmove_engine_create(&params, &call.engine),
                  CLMOVE_SUCCESS);
    refused_by_size_too(&call, CLMOVE_INVALID_ARGUMENT, "CLMOVE_PART_MOVES",
                        "engine");
    clmove_engine_destroy(&call.engine);
    params.parts = 4;
    device_clear_messages(device);
    moving_refused(device, clmove_engine_create(&params, &call.engine),
                   CLMOVE_INVALID_ARGUMENT, "0x4");
    close_bench(bench);
}

/* A buffer that kernels may only read is a destination for the driver alone;
 * one that they may only write is a source for it. */
static void test_access(void **state)
{
    struct test_device *device = *state;
    struct bench *bench = open_bench(device);
    struct call call = bench->good;
    cl_int error = CL_SUCCESS;
    unsigned char bytes[100];
    cl_mem read_only, write_only;

    read_only =
        clCreateBuffer(device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                       SIZE, bench->other.expected, &error);
    assert_int_equal(error, CL_SUCCESS);
    write_only = clCreateBuffer(device->context,
                                CL_MEM_WRITE_ONLY | CL_MEM_COPY_HOST_PTR, SIZE,
                                bench->one.expected, &error);
    assert_int_equal(error, CL_SUCCESS);
    call.src.buffer = call.dst.buffer = read_only;
    call.dst.offset = 5;
    refused_by_size_too(&call, CLMOVE_ACCESS_DENIED, "dst", "READ_ONLY");
    call.src.buffer = call.dst.buffer = write_only;
    refused_by_size_too(&call, CLMOVE_ACCESS_DENIED, "src", "WRITE_ONLY");
    /* Disjoint: whatever the variant, the driver does it. */
    for (uint32_t v = 0; v <= CLMOVE_VARIANT_SEGMENTS; v++) {
        const struct clmove_memory src = {.buffer = write_only, .offset = v};
        const struct clmove_memory dst = {.buffer = read_only, .offset = 500};
        const struct clmove_move_options options = {.variant = v};
        moving_status(device,
                      clmove_enqueue_move(device->engine, &src, &dst, 100,
                                          &options, device->queue, 0, NULL,
                                          NULL),
                      CLMOVE_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(device->queue, read_only, CL_TRUE,
                                             500, 100, bytes, 0, NULL, NULL),
                         CL_SUCCESS);
        assert_memory_equal(bytes, bench->one.expected + v, 100);
    }
    /* which it cannot between a pointer and a buffer */
    if (device_has_svm(device)) {
        struct moving svm;
        moving_open(&svm, device, MOVING_SVM, SIZE);
        call = bench->good;
        call.src = moving_memory(&svm, 0);
        call.dst.buffer = read_only;
        refused_by_size_too(&call, CLMOVE_ACCESS_DENIED, "dst", "READ_ONLY");
        moving_close(&svm);
    }
    clReleaseMemObject(read_only);
    clReleaseMemObject(write_only);
    close_bench(bench);
}

/* Scratch too small, overlapping, not writable, of another context. */
static void test_scratch(void **state)
{
    struct test_device *device = *state;
    const struct moving_shape shape = {.tile_size = 64};
    struct bench *bench = open_bench(device);
    struct call call = bench->good;
    cl_int error = CL_SUCCESS;
    size_t bytes = 0;
    cl_mem write_only,
        read_only = clCreateBuffer(device->context, CL_MEM_READ_ONLY, SIZE,
                                   NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    write_only =
        clCreateBuffer(device->context, CL_MEM_WRITE_ONLY, SIZE, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    call.engine = moving_engine(device, &shape);
    call.dst = moving_memory(&bench->one, 0);
    call.src = moving_memory(&bench->one, 3);
    call.size = 900;
    call.options.variant = CLMOVE_VARIANT_SPLIT;
    moving_status(device,
                  clmove_move_scratch_size(call.engine, &call.src, &call.dst,
                                           call.size, &call.options, &bytes),
                  CLMOVE_SUCCESS);
    assert_true(bytes > 1);
    call.options.scratch = moving_memory(&bench->other, 0);
    call.options.scratch.size = bytes - 1;
    refused(&call, CLMOVE_OUT_OF_RANGE, "options->scratch", "needs");
    call.options.scratch.size = SIZE + 1;
    refused(&call, CLMOVE_OUT_OF_RANGE, "options->scratch", "1001");
    call.options.scratch = moving_memory(&bench->one, 0);
    refused(&call, CLMOVE_OVERLAP, "options->scratch", "overlaps");
    call.options.scratch.offset = 902; /* src's last byte */
    call.options.scratch.size = 0;
    call.options.variant = CLMOVE_VARIANT_GROUP; /* needs none */
    refused(&call, CLMOVE_OVERLAP, "options->scratch", "overlaps src");
    call.options.scratch.offset = 0; /* dst's first byte */
    call.options.scratch.size = 1;
    refused(&call, CLMOVE_OVERLAP, "options->scratch", "overlaps dst");
    call.options.scratch.size = 0;
    call.options.variant = CLMOVE_VARIANT_SPLIT;
    call.options.scratch = (struct clmove_memory){.buffer = read_only};
    refused(&call, CLMOVE_ACCESS_DENIED, "options->scratch", "writable");
    call.options.scratch.buffer = write_only;
    refused(&call, CLMOVE_ACCESS_DENIED, "options->scratch", "writable");
    call.options.scratch.pointer = &call;
    refused(&call, CLMOVE_INVALID_ARGUMENT, "options->scratch", "both");
    clReleaseMemObject(read_only);
    clReleaseMemObject(write_only);
    clmove_engine_destroy(&call.engine);
    close_bench(bench);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null),     cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_memories), cmocka_unit_test(test_queues),
        cmocka_unit_test(test_variants), cmocka_unit_test(test_environment),
        cmocka_unit_test(test_parts),    cmocka_unit_test(test_access),
        cmocka_unit_test(test_scratch),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
