/* Bad batches are refused with a sentence, and nothing is written. */

#include "moving_batch.h"
#include "runner.h"
#include "testing.h"
#include "variable.h"

#include <stdlib.h>

enum { SIZE = 1000 };

/* Two memories and a good list of two regions. */
struct bench {
    struct test_device *device;
    struct moving movings[2];
    struct clmove_memory memories[2];
    struct clmove_region regions[3];
    struct clmove_batch_params params;
};

static struct bench *open_bench(struct test_device *device)
{
    struct bench *bench = test_calloc(1, sizeof(*bench));

    bench->device = device;
    for (int i = 0; i < 2; i++) {
        moving_open(&bench->movings[i], device, MOVING_BUFFER, SIZE);
        moving_fill(&bench->movings[i], (uint64_t)i);
        bench->memories[i] = moving_memory(&bench->movings[i], 0);
    }
    bench->regions[0] = (struct clmove_region){
        .src_offset = 10, .dst_memory = 1, .dst_offset = 20, .size = 100};
    bench->regions[1] = (struct clmove_region){.src_memory = 1,
                                               .src_offset = 300,
                                               .dst_memory = 1,
                                               .dst_offset = 310,
                                               .size = 50,
                                               .rows = 3,
                                               .src_stride = 70,
                                               .dst_stride = 80};
    bench->params = (struct clmove_batch_params){.memories = bench->memories,
                                                 .memory_count = 2,
                                                 .regions = bench->regions,
                                                 .region_count = 2};
    return bench;
}

static void close_bench(struct bench *bench)
{
    assert_int_equal(clFinish(bench->device->queue), CL_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_true(
            moving_check(&bench->movings[i], "test_batch_errors", "refused"));
        moving_close(&bench->movings[i]);
    }
    test_free(bench);
}

static void refused(struct bench *bench, clmove_status want, const char *first,
                    const char *second)
{
    struct clmove_batch *batch = (struct clmove_batch *)bench;

    device_clear_messages(bench->device);
    moving_refused(bench->device,
                   clmove_batch_create(bench->device->engine,
                                       &bench->device->log, &bench->params,
                                       &batch),
                   want, first);
    device_expect_message(bench->device, second);
    assert_null(batch);
}

/* One changed field; the good one returns afterwards. */
#define REFUSE(index, field, value, status, first, second)                     \
    do {                                                                       \
        const struct clmove_region kept = bench->regions[index];               \
        bench->regions[index].field = (value);                                 \
        refused(bench, status, first, second);                                 \
        bench->regions[index] = kept;                                          \
    } while (0)

#define REFUSE_PARAM(field, value, status, first, second)                      \
    do {                                                                       \
        const struct clmove_batch_params kept = bench->params;                 \
        bench->params.field = (value);                                         \
        refused(bench, status, first, second);                                 \
        bench->params = kept;                                                  \
    } while (0)

static void test_params(void **state)
{
    struct test_device *device = *state;
    struct bench *bench = open_bench(device);
    const struct clmove_log silent = {NULL, NULL};
    struct clmove_batch *batch = NULL;
    struct clmove_batch_info info;
    struct clmove_entry_info entry;
    cl_event event = NULL;

    device_clear_messages(device);
    moving_refused(
        device, clmove_batch_create(device->engine, &device->log, NULL, &batch),
        CLMOVE_INVALID_ARGUMENT, "params");
    moving_refused(
        device,
        clmove_batch_create(device->engine, &device->log, &bench->params, NULL),
        CLMOVE_INVALID_ARGUMENT, "batch");
    REFUSE_PARAM(memories, NULL, CLMOVE_INVALID_ARGUMENT, "memories", "NULL");
    REFUSE_PARAM(regions, NULL, CLMOVE_INVALID_ARGUMENT, "regions", "NULL");
    REFUSE_PARAM(variant, 6, CLMOVE_INVALID_ARGUMENT, "variant", "6");
    REFUSE_PARAM(variant, CLMOVE_VARIANT_DRIVER, CLMOVE_INVALID_ARGUMENT,
                 "driver", "batch");
    REFUSE_PARAM(memory_count, 1, CLMOVE_INVALID_ARGUMENT,
                 "regions[0].dst_memory", "1");
    /* the engine's log where the call has none of its own */
    bench->params.variant = 6;
    device_clear_messages(device);
    moving_refused(
        device,
        clmove_batch_create(device->engine, NULL, &bench->params, &batch),
        CLMOVE_INVALID_ARGUMENT, "variant");
    device_clear_messages(device);
    assert_int_equal(
        clmove_batch_create(device->engine, &silent, &bench->params, &batch),
        CLMOVE_INVALID_ARGUMENT);
    assert_string_equal(device->messages, "");
    bench->params.variant = 0;
    assert_int_equal(clmove_batch_describe(NULL, &info),
                     CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(clmove_batch_describe_entry(NULL, 0, 0, &entry),
                     CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(clmove_enqueue_batch(NULL, device->queue, 0, NULL, &event),
                     CLMOVE_INVALID_ARGUMENT);
    assert_null(event);
    close_bench(bench);
}

static void test_ranges(void **state)
{
    struct bench *bench = open_bench(*state);

    REFUSE(0, src_memory, 2, CLMOVE_INVALID_ARGUMENT, "regions[0].src_memory",
           "2");
    REFUSE(1, dst_memory, UINT32_MAX, CLMOVE_INVALID_ARGUMENT,
           "regions[1].dst_memory", "4294967295");
    REFUSE(0, src_offset, 901, CLMOVE_OUT_OF_RANGE, "regions[0]", "901");
    REFUSE(0, dst_offset, 901, CLMOVE_OUT_OF_RANGE, "regions[0]", "1000");
    REFUSE(0, size, UINT64_MAX, CLMOVE_OUT_OF_RANGE, "regions[0]",
           "18446744073709551615");
    REFUSE(0, src_offset, UINT64_MAX - 99, CLMOVE_OUT_OF_RANGE, "regions[0]",
           "18446744073709551516");
    REFUSE(1, rows, 11, CLMOVE_OUT_OF_RANGE, "regions[1]", "1000");
    REFUSE(1, src_stride, 326, CLMOVE_OUT_OF_RANGE, "regions[1]", "326");
    REFUSE(1, dst_stride, UINT64_MAX / 2 + 1, CLMOVE_OUT_OF_RANGE, "regions[1]",
           "9223372036854775808");
    /* Such a stride and such a number of rows have the product 0. */
    bench->regions[1].rows = (UINT64_C(1) << 32) + 1;
    REFUSE(1, dst_stride, UINT64_C(1) << 32, CLMOVE_OUT_OF_RANGE, "regions[1]",
           "");
    close_bench(bench);
}

static void test_conflicts(void **state)
{
    struct bench *bench = open_bench(*state);
    struct clmove_batch *batch = NULL;

    bench->params.region_count = 3;
    bench->regions[2] = (struct clmove_region){
        .src_offset = 500, .dst_memory = 1, .dst_offset = 119, .size = 10};
    refused(bench, CLMOVE_OVERLAP, "regions[0] and regions[2]", "byte 119");
    bench->regions[2].dst_offset = 390; /* within row 1 of regions[1] */
    bench->regions[2].size = 1;
    refused(bench, CLMOVE_OVERLAP, "regions[1] and regions[2]", "byte 390");
    /* Rows of one region. */
    bench->params.region_count = 2;
    REFUSE(1, dst_stride, 49, CLMOVE_OVERLAP, "regions[1]", "byte 359");
    /* Equal destinations, also with equal sources. */
    bench->regions[1] = bench->regions[0];
    refused(bench, CLMOVE_OVERLAP, "regions[0] and regions[1]", "byte 20");
    /* An entry onto itself writes nothing: no conflict. */
    bench->regions[1] = (struct clmove_region){.src_memory = 1,
                                               .src_offset = 20,
                                               .dst_memory = 1,
                                               .dst_offset = 20,
                                               .size = 100};
    bench->regions[0].size = 0;
    moving_status(bench->device,
                  clmove_batch_create(bench->device->engine,
                                      &bench->device->log, &bench->params,
                                      &batch),
                  CLMOVE_SUCCESS);
    clmove_batch_destroy(&batch);
    close_bench(bench);
}

static void test_memories(void **state)
{
    struct test_device *device = *state;
    struct bench *bench = open_bench(device);
    cl_int error = CL_SUCCESS;
    cl_context context =
        clCreateContext(NULL, 1, &device->info.device, NULL, NULL, &error);
    cl_mem foreign, read_only, write_only;
    struct clmove_batch *batch = NULL;

    assert_int_equal(error, CL_SUCCESS);
    foreign = clCreateBuffer(context, CL_MEM_READ_WRITE, SIZE, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    read_only =
        clCreateBuffer(device->context, CL_MEM_READ_ONLY, SIZE, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    write_only =
        clCreateBuffer(device->context, CL_MEM_WRITE_ONLY, SIZE, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);

    bench->memories[0].buffer = NULL;
    refused(bench, CLMOVE_INVALID_ARGUMENT, "memories[0]", "neither");
    bench->memories[0].buffer = bench->movings[0].buffer;
    bench->memories[0].pointer = bench;
    refused(bench, CLMOVE_INVALID_ARGUMENT, "memories[0]", "both");
    bench->memories[0].pointer = NULL;
    bench->memories[0].buffer = foreign;
    refused(bench, CLMOVE_INVALID_ARGUMENT, "memories[0]", "another context");
    bench->memories[0].buffer = bench->movings[0].buffer;
    bench->memories[0].offset = SIZE + 1;
    refused(bench, CLMOVE_OUT_OF_RANGE, "memories[0]", "1001");
    bench->memories[0].offset = 0;
    bench->memories[1].buffer = read_only;
    refused(bench, CLMOVE_ACCESS_DENIED, "memories[1]", "READ_ONLY");
    bench->memories[1].buffer = bench->movings[1].buffer;
    bench->memories[0].buffer = write_only;
    refused(bench, CLMOVE_ACCESS_DENIED, "memories[0]", "WRITE_ONLY");
    bench->memories[0].buffer = bench->movings[0].buffer;
    /* what no byte is moved to needs no access */
    bench->memories[1].buffer = read_only;
    bench->regions[0].size = bench->regions[1].size = 0;
    moving_status(device,
                  clmove_batch_create(device->engine, &device->log,
                                      &bench->params, &batch),
                  CLMOVE_SUCCESS);
    clmove_batch_destroy(&batch);
    bench->memories[1].buffer = bench->movings[1].buffer;
    clReleaseMemObject(foreign);
    clReleaseMemObject(read_only);
    clReleaseMemObject(write_only);
    clReleaseContext(context);
    close_bench(bench);
}

/* A limit below what is needed; scratch that is one of the memories. */
static void test_scratch(void **state)
{
    struct bench *bench = open_bench(*state);
    struct clmove_batch *batch = NULL;
    cl_int error = CL_SUCCESS;

    /* a swap of unequal parts: no slots */
    bench->regions[0] =
        (struct clmove_region){.src_offset = 0, .dst_offset = 100, .size = 50};
    bench->regions[1] =
        (struct clmove_region){.src_offset = 110, .dst_offset = 0, .size = 30};
    REFUSE_PARAM(scratch_limit, 79, CLMOVE_OUT_OF_RANGE, "scratch_limit is 79",
                 "needs");
    bench->params.scratch_limit = 80;
    moving_status(bench->device,
                  clmove_batch_create(bench->device->engine, NULL,
                                      &bench->params, &batch),
                  CLMOVE_SUCCESS);
    clmove_batch_destroy(&batch);
    bench->params.scratch_limit = 0;
    bench->params.scratch = bench->memories[1];
    refused(bench, CLMOVE_OVERLAP, "scratch", "memories[1]");
    bench->params.scratch = bench->memories[0];
    bench->params.scratch.offset = 400;
    refused(bench, CLMOVE_OVERLAP, "scratch", "memories[0]");
    for (int i = 0; i < 2; i++) { /* it is written and read */
        const cl_mem one_way = clCreateBuffer(
            bench->device->context, i ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY,
            SIZE, NULL, &error);
        assert_int_equal(error, CL_SUCCESS);
        bench->params.scratch = (struct clmove_memory){.buffer = one_way};
        refused(bench, CLMOVE_ACCESS_DENIED, "scratch",
                i ? "READ_ONLY" : "WRITE_ONLY");
        clReleaseMemObject(one_way);
    }
    /* slots: less than a byte of each */
    bench->params.scratch = (struct clmove_memory){0};
    bench->regions[1] =
        (struct clmove_region){.src_offset = 100, .dst_offset = 0, .size = 50};
    REFUSE_PARAM(scratch_limit, 1, CLMOVE_OUT_OF_RANGE, "scratch_limit is 1",
                 "needs");
    close_bench(bench);
}

/* DISJOINT for a batch in which a move overlaps itself. */
static void test_disjoint_only(void **state)
{
    struct bench *bench = open_bench(*state);

    REFUSE_PARAM(variant, CLMOVE_VARIANT_DISJOINT, CLMOVE_INVALID_ARGUMENT,
                 "disjoint", "overlaps itself");
    close_bench(bench);
}

/* CLMOVE_VARIANT is a wish where the params have none and it can be met. */
static void test_environment(void **state)
{
    struct test_device *device = *state;
    const struct clmove_engine_params params = {.context = device->context,
                                                .device = device->info.device,
                                                .log = device->log,
                                                .parts = CLMOVE_PART_MOVES};
    struct kept_variable kept = set_variable(
        "CLMOVE_VARIANT", clmove_variant_name(CLMOVE_VARIANT_AUTO));
    struct bench *bench = open_bench(device);

    for (uint32_t v = CLMOVE_VARIANT_DRIVER; v <= CLMOVE_VARIANT_SEGMENTS;
         v++) {
        struct clmove_engine *engine = NULL;
        setenv("CLMOVE_VARIANT", clmove_variant_name(v), 1);
        moving_status(device, clmove_engine_create(&params, &engine),
                      CLMOVE_SUCCESS);
        for (uint32_t asked = CLMOVE_VARIANT_AUTO;
             asked <= CLMOVE_VARIANT_GROUP; asked += CLMOVE_VARIANT_GROUP) {
            struct clmove_batch *batch = NULL;
            struct clmove_entry_info info;
            bench->params.variant = asked;
            moving_status(
                device,
                clmove_batch_create(engine, NULL, &bench->params, &batch),
                CLMOVE_SUCCESS);
            assert_int_equal(clmove_batch_describe_entry(batch, 1, 0, &info),
                             CLMOVE_SUCCESS);
            /* small: the group's without a wish */
            assert_int_equal(info.variant, asked == CLMOVE_VARIANT_AUTO &&
                                                   v > CLMOVE_VARIANT_DISJOINT
                                               ? v
                                               : CLMOVE_VARIANT_GROUP);
            clmove_batch_destroy(&batch);
        }
        clmove_engine_destroy(&engine);
    }
    restore_variable(&kept);
    close_bench(bench);
}

static void test_calls(void **state)
{
    struct test_device *device = *state;
    struct bench *bench = open_bench(device);
    struct clmove_batch *batch = NULL;
    struct clmove_entry_info entry;
    const cl_event nothing = NULL;
    cl_event event = NULL;
    cl_int error = CL_SUCCESS;
    cl_context context =
        clCreateContext(NULL, 1, &device->info.device, NULL, NULL, &error);
    cl_command_queue queue;

    assert_int_equal(error, CL_SUCCESS);
    queue = clCreateCommandQueue(context, device->info.device, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    moving_status(device,
                  clmove_batch_create(device->engine, &device->log,
                                      &bench->params, &batch),
                  CLMOVE_SUCCESS);
    device_clear_messages(device);
    moving_refused(device, clmove_enqueue_batch(batch, NULL, 0, NULL, &event),
                   CLMOVE_INVALID_ARGUMENT, "queue is NULL");
    moving_refused(device, clmove_enqueue_batch(batch, queue, 0, NULL, &event),
                   CLMOVE_WRONG_QUEUE, "another context");
    moving_refused(device,
                   clmove_enqueue_batch(batch, device->queue, 1, NULL, &event),
                   CL_INVALID_EVENT_WAIT_LIST, "wait_count is 1");
    moving_refused(
        device, clmove_enqueue_batch(batch, device->queue, 1, &nothing, &event),
        CL_INVALID_EVENT_WAIT_LIST, "wait_list[0]");
    assert_null(event);
    assert_int_equal(clmove_batch_describe(batch, NULL),
                     CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(clmove_batch_describe_entry(batch, 0, 0, NULL),
                     CLMOVE_INVALID_ARGUMENT);
    moving_refused(device, clmove_batch_describe_entry(batch, 2, 0, &entry),
                   CLMOVE_OUT_OF_RANGE, "region is 2");
    moving_refused(device, clmove_batch_describe_entry(batch, 1, 3, &entry),
                   CLMOVE_OUT_OF_RANGE, "row is 3");
    clmove_batch_destroy(&batch);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    close_bench(bench);
}

/* Without an engine a batch can be described, and not enqueued. */
static void test_without_engine(void **state)
{
    struct test_device *device = *state;
    struct bench *bench = open_bench(device);
    struct clmove_batch *batch = NULL;
    struct clmove_batch_info info;

    for (int i = 0; i < 2; i++) {
        bench->memories[i] = (struct clmove_memory){.size = SIZE};
    }
    device_clear_messages(device);
    moving_status(
        device, clmove_batch_create(NULL, &device->log, &bench->params, &batch),
        CLMOVE_SUCCESS);
    assert_int_equal(clmove_batch_describe(batch, &info), CLMOVE_SUCCESS);
    assert_int_equal(info.entry_count, 4);
    moving_refused(device,
                   clmove_enqueue_batch(batch, device->queue, 0, NULL, NULL),
                   CLMOVE_INVALID_ARGUMENT, "without an engine");
    clmove_batch_destroy(&batch);
    bench->memories[0].buffer = bench->movings[0].buffer;
    moving_refused(
        device, clmove_batch_create(NULL, &device->log, &bench->params, &batch),
        CLMOVE_INVALID_ARGUMENT, "memories[0]");
    assert_null(batch);
    close_bench(bench);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_params),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_memories),
        cmocka_unit_test(test_scratch),
        cmocka_unit_test(test_disjoint_only),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_without_engine),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
