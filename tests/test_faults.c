/* Each call of OpenCL that the library makes, and each allocation, fails once:
 * nothing is left over, and the next call does what it should. */

#include "device.h"
#include "faults.h"
#include "runner.h"
#include "testing.h"

#include <string.h>

enum {
    SIZE = 256 * 1024, /* of each buffer */
    ARRAY = 64,        /* bytes between arrays of ROWS numbers */
    ROWS = 8,
    BLOCKS = 40, /* more than go along with a call */
    PAGE = 4096  /* holds a block of both states */
};

enum { STATES, PACKED, BYTES, NUMBERS, BUFFERS };

/* What calls work on; made anew for each fault, so that each of them is the
 * first of its kind. The engine is the device's where it keeps nothing. */
struct world {
    struct test_device *device;
    cl_mem buffers[BUFFERS];
    unsigned char *shared; /* SIZE bytes of SVM, or NULL */
    struct clmove_engine *engine;
    struct clmove_ssm_layout *layout, *packed;
    struct clmove_ssm_step *step; /* in place: two commands */
    struct clmove_batch *batch;   /* a swap: two commands */
    cl_command_queue queue;
    cl_event event;
};

/* Something to be tried: a call, or the making of an object of the world. */
typedef clmove_status (*action)(struct world *world);

static struct clmove_memory whole(const struct world *world, int buffer)
{
    return (struct clmove_memory){.buffer = world->buffers[buffer]};
}

static struct clmove_memory array(const struct world *world, size_t index)
{
    return (struct clmove_memory){.buffer = world->buffers[NUMBERS],
                                  .offset = index * ARRAY,
                                  .size = ARRAY};
}

static clmove_status make_engine(struct world *world)
{
    const struct clmove_engine_params params = {
        .context = world->device->context,
        .device = world->device->info.device,
        .log = world->device->log};

    return clmove_engine_create(&params, &world->engine);
}

static clmove_status make_layout(struct world *world)
{
    struct clmove_ssm_state states[2] = {
        {.kind = CLMOVE_SSM_CONV_SD, .width = 5, .dim = 32, .element_size = 2},
        {.kind = CLMOVE_SSM_TEMPORAL, .size = 1000}};
    const struct clmove_ssm_layout_params params = {
        .states = states, .state_count = 2, .group_count = 1};

    for (size_t i = 0; i < 2; i++) {
        states[i].block_count = BLOCKS;
        states[i].block_stride = PAGE;
        states[i].memory = whole(world, STATES);
        states[i].memory.offset = i * PAGE / 2;
    }
    return clmove_ssm_layout_create(world->engine, &params, &world->layout);
}

static clmove_status make_packed(struct world *world)
{
    const struct clmove_memory memory = whole(world, PACKED);

    return clmove_ssm_layout_pack(world->layout, BLOCKS, &memory,
                                  &world->packed);
}

static clmove_status make_step(struct world *world)
{
    const struct clmove_ssm_table table = {.entries = array(world, 0),
                                           .columns = 2};
    const struct clmove_ssm_step_params params = {
        .tokens_per_block = 4,
        .max_rows = ROWS,
        .tables = &table,
        .computed = array(world, 1),
        .scheduled = array(world, 2),
        .accepted_in = array(world, 3),
        .accepted_out = array(world, 3),
        .column_in = array(world, 4),
        .column_out = array(world, 4)};

    return clmove_ssm_step_create(world->layout, &params, &world->step);
}

static clmove_status make_batch(struct world *world)
{
    const struct clmove_memory memory = whole(world, BYTES);
    const struct clmove_region regions[2] = {
        {.src_offset = 0, .dst_offset = PAGE, .size = PAGE},
        {.src_offset = PAGE, .dst_offset = 0, .size = PAGE}};
    const struct clmove_batch_params params = {.memories = &memory,
                                               .memory_count = 1,
                                               .regions = regions,
                                               .region_count = 2};

    return clmove_batch_create(world->engine, NULL, &params, &world->batch);
}

static clmove_status make_permutation(struct world *world)
{
    const int32_t from[] = {0, 1, 2};
    const int32_t to[] = {1, 2, 0};

    return clmove_ssm_batch_create(world->layout, 0, from, to, 3, 0,
                                   &world->batch);
}

static const action makers[] = {make_engine, make_layout, make_packed,
                                make_step, make_batch};
enum { MAKERS = sizeof(makers) / sizeof(makers[0]) };

static clmove_status call_move(struct world *world)
{
    const struct clmove_memory src = {.buffer = world->buffers[BYTES],
                                      .offset = 16};
    const struct clmove_memory dst = whole(world, BYTES);
    const struct clmove_move_options options = {.variant =
                                                    CLMOVE_VARIANT_SPLIT};

    return clmove_enqueue_move(world->engine, &src, &dst, SIZE - 16, &options,
                               world->queue, 0, NULL, &world->event);
}

static clmove_status call_mixed(struct world *world)
{
    const struct clmove_memory src = {.pointer = world->shared};
    const struct clmove_memory dst = whole(world, BYTES);

    return clmove_enqueue_move(world->engine, &src, &dst, SIZE, NULL,
                               world->queue, 0, NULL, &world->event);
}

static clmove_status call_batch(struct world *world)
{
    return clmove_enqueue_batch(world->batch, world->queue, 0, NULL,
                                &world->event);
}

static clmove_status call_device_batch(struct world *world)
{
    const struct clmove_device_batch params = {.src_base = whole(world, BYTES),
                                               .dst_base = whole(world, PACKED),
                                               .src_offsets = array(world, 5),
                                               .dst_offsets = array(world, 6),
                                               .sizes = array(world, 7),
                                               .count = ROWS};

    return clmove_enqueue_batch_device(world->engine, &params, world->queue, 0,
                                       NULL, &world->event);
}

static clmove_status call_pre(struct world *world)
{
    return clmove_enqueue_ssm_pre(world->step, ROWS, world->queue, 0, NULL,
                                  &world->event);
}

static clmove_status call_indices(struct world *world)
{
    const struct clmove_memory out = array(world, 8);

    return clmove_enqueue_ssm_indices(world->step, ROWS, 1, &out, world->queue,
                                      0, NULL, &world->event);
}

/* To another layout. */
static clmove_status call_save(struct world *world)
{
    struct clmove_ssm_copy copies[BLOCKS] = {{0}};

    for (int32_t i = 0; i < BLOCKS; i++) {
        copies[i].conv_from = copies[i].temporal_from = i;
        copies[i].to = BLOCKS - 1 - i;
    }
    return clmove_enqueue_ssm_copy(world->layout, world->packed, copies, BLOCKS,
                                   world->queue, 0, NULL, &world->event);
}

/* A list so long that it is copied to the device. */
static clmove_status call_zero(struct world *world)
{
    int32_t blocks[8 * BLOCKS];

    for (int32_t i = 0; i < 8 * BLOCKS; i++) {
        blocks[i] = i % BLOCKS;
    }
    return clmove_enqueue_ssm_zero(world->layout, 0, blocks, 8 * BLOCKS,
                                   world->queue, 0, NULL, &world->event);
}

static void open_world(struct world *world, struct test_device *device)
{
    cl_int error = CL_SUCCESS;
    const cl_uint zero = 0;

    memset(world, 0, sizeof(*world));
    world->device = device;
    world->queue = device->queue;
    for (int i = 0; i < BUFFERS; i++) {
        world->buffers[i] = clCreateBuffer(device->context, CL_MEM_READ_WRITE,
                                           SIZE, NULL, &error);
        assert_int_equal(error, CL_SUCCESS);
        /* no entry moves, no request is part of a step */
        assert_int_equal(clEnqueueFillBuffer(device->queue, world->buffers[i],
                                             &zero, sizeof(zero), 0, SIZE, 0,
                                             NULL, NULL),
                         CL_SUCCESS);
    }
    if (device_has_svm(device)) {
        world->shared = clSVMAlloc(device->context, CL_MEM_READ_WRITE, SIZE, 0);
        assert_non_null(world->shared);
    }
    assert_int_equal(clFinish(device->queue), CL_SUCCESS);
}

static void release_objects(struct world *world)
{
    if (world->event) {
        clReleaseEvent(world->event);
    }
    world->event = NULL;
    clmove_batch_destroy(&world->batch);
    clmove_ssm_step_destroy(&world->step);
    clmove_ssm_layout_destroy(&world->packed);
    clmove_ssm_layout_destroy(&world->layout);
    if (world->engine != world->device->engine) {
        clmove_engine_destroy(&world->engine);
    }
}

static void close_world(struct world *world)
{
    for (int i = 0; i < BUFFERS; i++) {
        clReleaseMemObject(world->buffers[i]);
    }
    if (world->shared) {
        clSVMFree(world->device->context, world->shared);
    }
}

/* Does the n-th call that `try` makes fail, then once more without. 0 when it
 * makes no n calls. */
static int fail_once(struct world *world, const char *name, action try, long n)
{
    clmove_status status;

    faults.name = NULL;
    faults.at = n;
    status = try(world);
    faults.at = 0;
    if (faults.name && status != CLMOVE_SUCCESS) {
        if (world->event) {
            assert_int_equal(status, CLMOVE_PARTLY_ENQUEUED);
            clReleaseEvent(world->event);
            world->event = NULL;
        }
        status = try(world);
    }
    if (status != CLMOVE_SUCCESS) {
        print_error("%s: %s after %s, call %ld, had failed\n", name,
                    clmove_status_name(status),
                    faults.name ? faults.name : "nothing", n);
        fail();
    }
    assert_int_equal(clFinish(world->queue), CL_SUCCESS);
    return faults.name != NULL;
}

/* All faults of one action, each in a world with what the makers from `first`
 * to before `end` give; `check` looks at the result. */
static void fail_each(struct test_device *device, const char *name, action try,
                      size_t first, size_t end,
                      void (*check)(struct world *world))
{
    struct world world;
    long n = 1;

    for (int more = 1; more; n++) {
        const struct faults before = faults;
        open_world(&world, device);
        const long buffers = faults.objects - before.objects;
        if (first > 0) {
            world.engine = device->engine;
        }
        for (size_t i = first; i < end; i++) {
            assert_int_equal(makers[i](&world), CLMOVE_SUCCESS);
        }
        more = fail_once(&world, name, try, n);
        if (check) {
            check(&world);
        }
        release_objects(&world);
        if (faults.objects != before.objects + buffers ||
            faults.allocations != before.allocations) {
            print_error("%s: %ld objects and %ld allocations are left after "
                        "%s, call %ld, had failed\n",
                        name, faults.objects - before.objects - buffers,
                        faults.allocations - before.allocations,
                        faults.name ? faults.name : "nothing", n);
            fail();
        }
        close_world(&world);
        device_clear_messages(device);
    }
    assert_true(n > 2); /* something did fail */
}

static void test_objects(void **state)
{
    static const char *const names[MAKERS] = {"engine", "layout", "packed",
                                              "step", "batch"};

    for (size_t i = 0; i < MAKERS; i++) {
        fail_each(*state, names[i], makers[i], i > 0, i, NULL);
    }
    fail_each(*state, "permutation", make_permutation, 1, 2, NULL);
}

static void test_calls(void **state)
{
    static const struct {
        const char *name;
        action call;
    } calls[] = {{"batch", call_batch}, {"batch_device", call_device_batch},
                 {"pre", call_pre},     {"indices", call_indices},
                 {"save", call_save},   {"zero", call_zero}};

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        fail_each(*state, calls[i].name, calls[i].call, 1, MAKERS, NULL);
    }
    /* An engine keeps scratch. */
    fail_each(*state, "move", call_move, 0, 1, NULL);
}

static clmove_status call_filled(struct world *world)
{
    if (clEnqueueSVMMemFill(world->queue, world->shared, "clmovebytes 1234", 16,
                            SIZE, 0, NULL, NULL) != CL_SUCCESS) {
        fail();
    }
    return call_mixed(world);
}

static void check_moved(struct world *world)
{
    unsigned char found[SIZE];

    assert_int_equal(clEnqueueReadBuffer(world->queue, world->buffers[BYTES],
                                         CL_TRUE, 0, SIZE, found, 0, NULL,
                                         NULL),
                     CL_SUCCESS);
    for (size_t i = 0; i < SIZE; i += 16) {
        assert_memory_equal(found + i, "clmovebytes 1234", 16);
    }
}

/* A swap between a buffer and SVM, by scratch of the caller's. */
static clmove_status make_mixed(struct world *world)
{
    const struct clmove_memory memories[2] = {
        whole(world, BYTES), {.pointer = world->shared, .size = SIZE}};
    const struct clmove_region regions[2] = {{.dst_memory = 1, .size = PAGE},
                                             {.src_memory = 1, .size = PAGE}};
    const struct clmove_batch_params params = {.memories = memories,
                                               .memory_count = 2,
                                               .regions = regions,
                                               .region_count = 2,
                                               .scratch = whole(world, PACKED)};

    return clmove_batch_create(world->engine, NULL, &params, &world->batch);
}

static clmove_status call_mixed_batch(struct world *world)
{
    const clmove_status status =
        world->batch ? CLMOVE_SUCCESS : make_mixed(world);

    return status == CLMOVE_SUCCESS ? call_batch(world) : status;
}

/* Kernels for mixes of buffers and SVM are made by the first call, or by each
 * call of a batch. */
static void test_kernel_of_mix(void **state)
{
    struct test_device *device = *state;

    if (!device_has_svm(device)) {
        runner_skip("the device has no shared virtual memory");
    }
    fail_each(device, "mixed", call_filled, 0, 1, check_moved);
    fail_each(device, "mixed batch", call_mixed_batch, 1, 1, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_kernel_of_mix),
    };

    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
