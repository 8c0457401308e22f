/* Queues and engines of different devices: a context with two of them. */

#include "device.h"
#include "runner.h"
#include "testing.h"

#include <string.h>

/* Skips (and says so) where no platform has two devices. */

/* The first two devices of one platform that the library can use. */
static int find_two(struct clmove_device_info two[2])
{
    struct clmove_device_info *infos = NULL;
    size_t count = 0;
    int found = 0;

    assert_int_equal(clmove_device_list(NULL, &infos, &count), CLMOVE_SUCCESS);
    for (size_t i = 0; i < count && !found; i++) {
        for (size_t j = i + 1; j < count && !found; j++) {
            if (infos[i].platform == infos[j].platform &&
                !infos[i].unsupported && !infos[j].unsupported) {
                two[0] = infos[i];
                two[1] = infos[j];
                found = 1;
            }
        }
    }
    clmove_device_list_free(&infos);
    return found;
}

struct call_objects {
    cl_mem buffer;
    struct clmove_ssm_layout *layout;
    struct clmove_ssm_step *step;
};

static struct clmove_memory part(cl_mem buffer, size_t offset, size_t size)
{
    struct clmove_memory memory = {0};
    memory.buffer = buffer;
    memory.offset = offset;
    memory.size = size;
    return memory;
}

/* Two blocks of 16 bytes at 0, then int32 arrays of one entry each: the table
 * [1, 0], computed 7, scheduled 1, draft 0, accepted 1, accepted_out, column 1
 * with 8 tokens a block: column 1 to 0, block 0 to block 1. */
static void make_objects(struct clmove_engine *engine, cl_context context,
                         struct call_objects *objects)
{
    int32_t content[16] = {1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 7, 1, 0, 1, 99, 1};
    struct clmove_ssm_state state = {
        .kind = CLMOVE_SSM_TEMPORAL, .block_count = 2, .size = 16};
    struct clmove_ssm_layout_params layout_params = {
        .states = &state, .state_count = 1, .group_count = 1};
    struct clmove_ssm_table table = {.columns = 2};
    struct clmove_ssm_step_params params = {
        .tokens_per_block = 8, .max_rows = 1, .tables = &table};
    cl_int error = CL_SUCCESS;

    memset(objects, 0, sizeof(*objects));
    objects->buffer =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                       sizeof(content), content, &error);
    assert_int_equal(error, CL_SUCCESS);
    state.memory = part(objects->buffer, 0, 32);
    table.entries = part(objects->buffer, 32, 8);
    params.computed = part(objects->buffer, 40, 4);
    params.scheduled = part(objects->buffer, 44, 4);
    params.draft = part(objects->buffer, 48, 4);
    params.accepted_in = part(objects->buffer, 52, 4);
    params.accepted_out = part(objects->buffer, 56, 4);
    params.column_in = part(objects->buffer, 60, 4);
    assert_int_equal(
        clmove_ssm_layout_create(engine, &layout_params, &objects->layout),
        CLMOVE_SUCCESS);
    assert_int_equal(
        clmove_ssm_step_create(objects->layout, &params, &objects->step),
        CLMOVE_SUCCESS);
}

static void test_queue_of_other_device(void **state)
{
    static const int32_t want[4] = {1, 2, 3, 4};
    struct test_device *device = test_calloc(1, sizeof(*device));
    struct clmove_device_info two[2];
    cl_device_id devices[2];
    cl_command_queue queues[2];
    struct call_objects objects;
    int32_t content[16];
    cl_int error = CL_SUCCESS;

    (void)state;
    if (!find_two(two)) {
        test_free(device);
        runner_skip("no platform here has two devices");
        return;
    }
    devices[0] = two[0].device;
    devices[1] = two[1].device;
    device->info = two[0];
    device_collect_messages(device);
    device->context = clCreateContext(NULL, 2, devices, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    for (int i = 0; i < 2; i++) {
        queues[i] =
            clCreateCommandQueue(device->context, devices[i], 0, &error);
        assert_int_equal(error, CL_SUCCESS);
    }
    device->engine = device_engine(device, 0, 0, NULL);
    make_objects(device->engine, device->context, &objects);

    assert_int_equal(
        clmove_enqueue_ssm_post(objects.step, 1, queues[1], 0, NULL, NULL),
        CLMOVE_WRONG_QUEUE);
    device_expect_message(device, "device");
    assert_int_equal(clFinish(queues[1]), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queues[0], objects.buffer, CL_TRUE, 0,
                                         sizeof(content), content, 0, NULL,
                                         NULL),
                     CL_SUCCESS);
    assert_int_equal(content[4], 5); /* block 1 as it was */
    assert_int_equal(content[14], 99);

    /* the engine's own device, in a context with two, is fine */
    assert_int_equal(
        clmove_enqueue_ssm_post(objects.step, 1, queues[0], 0, NULL, NULL),
        CLMOVE_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queues[0], objects.buffer, CL_TRUE, 0,
                                         sizeof(content), content, 0, NULL,
                                         NULL),
                     CL_SUCCESS);
    assert_memory_equal(content + 4, want, sizeof(want));
    assert_int_equal(content[14], 1);

    clmove_ssm_step_destroy(&objects.step);
    clmove_ssm_layout_destroy(&objects.layout);
    clReleaseMemObject(objects.buffer);
    clReleaseCommandQueue(queues[0]);
    clReleaseCommandQueue(queues[1]);
    device_close(device);
    test_free(device);
}

/* A device that the context does not have. */
static void test_device_outside_context(void **state)
{
    struct test_device *device = test_calloc(1, sizeof(*device));
    struct clmove_engine_params params = {0};
    struct clmove_engine *engine = NULL;
    struct clmove_device_info two[2];
    cl_int error = CL_SUCCESS;

    (void)state;
    if (!find_two(two)) {
        test_free(device);
        runner_skip("no platform here has two devices");
        return;
    }
    device_collect_messages(device);
    device->context =
        clCreateContext(NULL, 1, &two[0].device, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    params.context = device->context;
    params.device = two[1].device;
    params.log = device->log;
    assert_int_equal(clmove_engine_create(&params, &engine),
                     CLMOVE_INVALID_ARGUMENT);
    device_expect_message(device, "device");
    device_close(device);
    test_free(device);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue_of_other_device),
        cmocka_unit_test(test_device_outside_context),
    };
    return RUNNER_TESTS(argc, argv, tests);
}
