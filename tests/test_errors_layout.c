/* Bad layouts are refused, with a sentence that names what is wrong. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

#include <string.h>

/* A good layout of three states in two groups: conv DS, conv SD, temporal. */
static struct stage *prepare(struct test_device *device, struct scene *scene)
{
    struct stage *stage = test_malloc(sizeof(*stage));

    scene_init(scene, "test_layout", "bad layouts");
    scene_add_pool(scene, SCENE_BUFFER);
    scene_add_conv(scene, 0, REF_CONV_DS, 4, 5, 6, 2);
    scene_add_conv(scene, 0, REF_CONV_SD, 4, 5, 6, 2);
    scene_add_temporal(scene, 0, 4, 100)->group = 1;
    scene_add_group(scene, 2);
    scene_add_group(scene, 2);
    stage_prepare(stage, device, scene);
    return stage;
}

static void finish(struct stage *stage, struct scene *scene)
{
    stage_close(stage);
    scene_clear(scene);
    test_free(stage);
}

/* The refusal leaves NULL and a sentence with all of the texts. */
static void expect_refused(struct stage *stage, clmove_status want,
                           const char *first, const char *second)
{
    struct test_device *device = stage->device;
    clmove_status status;

    stage->layout = (struct clmove_ssm_layout *)stage;
    device_clear_messages(device);
    status = clmove_ssm_layout_create(device->engine, &stage->layout_params,
                                      &stage->layout);
    if (status != want) {
        print_error("%s in place of %s; messages:\n%s",
                    clmove_status_name(status), clmove_status_name(want),
                    device->messages);
        fail();
    }
    assert_null(stage->layout);
    device_expect_message(device, first);
    device_expect_message(device, second);
}

/* One changed field of one state; the good value returns afterwards. */
#define REFUSE(index, field, value, status, first, second)                     \
    do {                                                                       \
        struct clmove_ssm_state kept = stage->states[index];                   \
        stage->states[index].field = (value);                                  \
        expect_refused(stage, status, first, second);                          \
        stage->states[index] = kept;                                           \
    } while (0)

static void test_shapes(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);

    REFUSE(0, kind, 0, CLMOVE_INVALID_ARGUMENT, "states[0].kind", "0");
    REFUSE(2, kind, 4, CLMOVE_INVALID_ARGUMENT, "states[2].kind", "4");
    REFUSE(0, element_size, 0, CLMOVE_INVALID_ARGUMENT, "element_size", "0");
    REFUSE(0, element_size, 3, CLMOVE_INVALID_ARGUMENT,
           "states[0].element_size is 3", "1, 2, 4 or 8");
    REFUSE(1, element_size, 16, CLMOVE_INVALID_ARGUMENT,
           "states[1].element_size is 16", "8");
    REFUSE(0, width, 0, CLMOVE_INVALID_ARGUMENT, "states[0].width", "0");
    REFUSE(1, dim, 0, CLMOVE_INVALID_ARGUMENT, "states[1].dim", "0");
    REFUSE(1, block_count, 0, CLMOVE_INVALID_ARGUMENT, "states[1].block_count",
           "0");
    REFUSE(1, block_count, UINT32_MAX, CLMOVE_INVALID_ARGUMENT,
           "states[1].block_count", "4294967295");
    REFUSE(2, size, 0, CLMOVE_INVALID_ARGUMENT, "states[2].size", "0");
    REFUSE(2, group, 2, CLMOVE_INVALID_ARGUMENT, "states[2].group is 2",
           "2 groups");
    REFUSE(0, row_stride, 9, CLMOVE_INVALID_ARGUMENT,
           "states[0].row_stride is 9", "5");
    REFUSE(0, block_stride, 59, CLMOVE_INVALID_ARGUMENT,
           "states[0].block_stride is 59", "60");
    REFUSE(2, block_stride, 99, CLMOVE_INVALID_ARGUMENT,
           "states[2].block_stride is 99", "100");
    finish(stage, &scene);
}

/* Fields of one kind given for another are a misunderstanding. */
static void test_foreign_fields(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);

    REFUSE(1, row_stride, 64, CLMOVE_INVALID_ARGUMENT, "states[1].row_stride",
           "64");
    REFUSE(1, size, 60, CLMOVE_INVALID_ARGUMENT, "states[1].size", "60");
    REFUSE(2, width, 5, CLMOVE_INVALID_ARGUMENT, "states[2]", "width");
    finish(stage, &scene);
}

static void test_windows(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);

    REFUSE(1, taps, 7, CLMOVE_INVALID_ARGUMENT, "states[1].width is 5", "7");
    stage->layout_params.draft_tokens = 2;
    REFUSE(0, taps, 5, CLMOVE_INVALID_ARGUMENT, "states[0].width is 5", "2");
    stage->layout_params.draft_tokens = UINT32_MAX;
    REFUSE(0, taps, UINT32_MAX, CLMOVE_INVALID_ARGUMENT, "states[0].width",
           "4294967295");
    finish(stage, &scene);
}

static void test_ends(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    size_t size = stage->states[2].memory.size;

    REFUSE(2, memory.size, size - 1, CLMOVE_OUT_OF_RANGE, "states[2].memory",
           "399");
    REFUSE(2, block_count, 5, CLMOVE_OUT_OF_RANGE, "states[2].memory", "500");
    REFUSE(2, block_stride, UINT64_MAX / 2, CLMOVE_OUT_OF_RANGE,
           "states[2].memory", "9223372036854775807");
    REFUSE(2, memory.offset, stage->images[0].size + 1, CLMOVE_OUT_OF_RANGE,
           "states[2].memory", "offset");
    REFUSE(2, memory.offset, SIZE_MAX, CLMOVE_OUT_OF_RANGE, "states[2].memory",
           "18446744073709551615");
    REFUSE(2, memory.size, stage->images[0].size, CLMOVE_OUT_OF_RANGE,
           "states[2].memory", "size");
    REFUSE(0, row_stride, UINT64_MAX, CLMOVE_OUT_OF_RANGE, "states[0]", "");
    finish(stage, &scene);
}

static void test_overlaps(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    struct clmove_ssm_state good;
    size_t offset = stage->states[0].memory.offset;

    REFUSE(1, memory.offset, offset, CLMOVE_OVERLAP, "states[0]", "states[1]");
    /* the last byte of state 0's last block */
    REFUSE(1, memory.offset, offset + 239, CLMOVE_OVERLAP, "states[0]",
           "states[1]");
    good = stage->states[1];
    stage->states[1].memory.offset = offset + 240;
    assert_int_equal(clmove_ssm_layout_create(stage->device->engine,
                                              &stage->layout_params,
                                              &stage->layout),
                     CLMOVE_SUCCESS);
    clmove_ssm_layout_destroy(&stage->layout);
    assert_null(stage->layout);
    /* interleaved in pages: fine; one byte too long: not */
    stage->states[0].block_stride = stage->states[1].block_stride = 120;
    stage->states[0].memory.size = stage->states[1].memory.size = 420;
    stage->states[1].memory.offset = offset + 60;
    assert_int_equal(clmove_ssm_layout_create(stage->device->engine,
                                              &stage->layout_params,
                                              &stage->layout),
                     CLMOVE_SUCCESS);
    clmove_ssm_layout_destroy(&stage->layout);
    REFUSE(1, memory.offset, offset + 59, CLMOVE_OVERLAP, "states[0]",
           "states[1]");
    REFUSE(1, memory.offset, offset + 61, CLMOVE_OVERLAP, "states[0]",
           "states[1]");
    /* another group may share the place */
    stage->states[1] = good;
    stage->states[1].group = 1;
    stage->states[1].memory.offset = offset;
    stage->states[2].group = 0;
    assert_int_equal(clmove_ssm_layout_create(stage->device->engine,
                                              &stage->layout_params,
                                              &stage->layout),
                     CLMOVE_SUCCESS);
    finish(stage, &scene);
}

/* A buffer and a window of it: one place under two names. */
static void test_overlap_through_sub_buffer(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    cl_buffer_region region = {0, 0};
    cl_int error = CL_SUCCESS;
    cl_mem window;

    region.size = stage->images[0].size;
    window = clCreateSubBuffer(stage->images[0].buffer, CL_MEM_READ_WRITE,
                               CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    assert_int_equal(error, CL_SUCCESS);
    stage->states[1].memory.buffer = window;
    stage->states[1].memory.offset = stage->states[0].memory.offset + 100;
    expect_refused(stage, CLMOVE_OVERLAP, "states[0]", "states[1]");
    clReleaseMemObject(window);
    finish(stage, &scene);
}

static void test_memory(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    cl_mem buffer = stage->images[0].buffer;

    REFUSE(1, memory.buffer, NULL, CLMOVE_INVALID_ARGUMENT, "states[1].memory",
           "neither");
    REFUSE(1, memory.pointer, stage, CLMOVE_INVALID_ARGUMENT,
           "states[1].memory", "both");
    REFUSE(1, memory.pointer_kind, 3, CLMOVE_INVALID_ARGUMENT,
           "states[1].memory", "3");
    stage->states[1].memory.buffer = NULL;
    stage->states[1].memory.pointer = stage;
    REFUSE(1, memory.pointer_kind, 1, CLMOVE_UNSUPPORTED, "states[1].memory",
           "1");
    if (device_has_svm(stage->device)) {
        REFUSE(1, memory.size, 0, CLMOVE_INVALID_ARGUMENT, "states[1].memory",
               "size is 0");
        REFUSE(1, memory.size, SIZE_MAX, CLMOVE_OUT_OF_RANGE,
               "states[1].memory", "18446744073709551615");
        REFUSE(1, memory.size, 100, CLMOVE_OUT_OF_RANGE, "states[1].memory",
               "100");
    } else {
        expect_refused(stage, CLMOVE_UNSUPPORTED, "states[1].memory",
                       "shared virtual memory");
    }
    stage->states[1].memory.pointer = NULL;
    stage->states[1].memory.buffer = buffer;
    finish(stage, &scene);
}

static void check_flags(struct stage *stage, cl_mem_flags flags,
                        const char *name)
{
    cl_int error = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(stage->device->context, flags,
                                   stage->images[0].size, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    REFUSE(1, memory.buffer, buffer, CLMOVE_ACCESS_DENIED, "states[1].memory",
           name);
    clReleaseMemObject(buffer);
}

static void test_access(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);

    check_flags(stage, CL_MEM_READ_ONLY, "READ_ONLY");
    check_flags(stage, CL_MEM_WRITE_ONLY, "WRITE_ONLY");
    finish(stage, &scene);
}

static void test_foreign_context(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    cl_device_id device = stage->device->info.device;
    cl_int error = CL_SUCCESS;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_mem buffer;

    assert_int_equal(error, CL_SUCCESS);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, stage->images[0].size,
                            NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    REFUSE(1, memory.buffer, buffer, CLMOVE_INVALID_ARGUMENT,
           "states[1].memory", "context");
    clReleaseMemObject(buffer);
    clReleaseContext(context);
    finish(stage, &scene);
}

static void test_counts(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    struct clmove_ssm_layout *layout = NULL;

    stage->layout_params.state_count = 0;
    expect_refused(stage, CLMOVE_INVALID_ARGUMENT, "state_count", "0");
    stage->layout_params.state_count = 3;
    stage->layout_params.states = NULL;
    expect_refused(stage, CLMOVE_INVALID_ARGUMENT, "state", "");
    stage->layout_params.states = stage->states;
    stage->layout_params.group_count = 0;
    expect_refused(stage, CLMOVE_INVALID_ARGUMENT, "group_count", "0");
    stage->layout_params.group_count = 1;
    expect_refused(stage, CLMOVE_INVALID_ARGUMENT, "states[2].group is 1", "1");
    stage->layout_params.group_count = 2;
    assert_int_equal(
        clmove_ssm_layout_create(NULL, &stage->layout_params, &layout),
        CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(
        clmove_ssm_layout_create(stage->device->engine, NULL, &layout),
        CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(clmove_ssm_layout_create(stage->device->engine,
                                              &stage->layout_params, NULL),
                     CLMOVE_INVALID_ARGUMENT);
    clmove_ssm_layout_destroy(NULL);
    clmove_ssm_layout_destroy(&layout);
    /* and with everything right again it works, without groups too */
    stage->layout_params.groups = NULL;
    assert_int_equal(clmove_ssm_layout_create(stage->device->engine,
                                              &stage->layout_params, &layout),
                     CLMOVE_SUCCESS);
    clmove_ssm_layout_destroy(&layout);
    assert_null(layout);
    stage->layout = NULL;
    finish(stage, &scene);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_foreign_fields),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_overlap_through_sub_buffer),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_foreign_context),
        cmocka_unit_test(test_counts),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
