/* A kernel argument that was SVM before, and is a buffer now. */

/* NVIDIA's driver 580 answers the launch with CL_INVALID_KERNEL_ARGS. No other
 * does, so what it looks at is watched here: the library's calls go through the
 * functions below. */

#include "next_function.h"

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

#include <stdlib.h>

enum { NOTED = 64, ROWS = 5, SLOTS_PER_ROW = 2 };

/* Arguments that were SVM since the last test began. */
static struct {
    cl_kernel kernel;
    cl_uint index;
} noted[NOTED];
static int noted_count, refused;

cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index,
                                            const void *pointer)
{
    cl_int(CL_API_CALL * set)(cl_kernel, cl_uint, const void *);

    find_next("clSetKernelArgSVMPointer", &set);
    if (noted_count == NOTED) {
        abort();
    }
    noted[noted_count].kernel = kernel;
    noted[noted_count++].index = index;
    return set(kernel, index, pointer);
}

cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size,
                                  const void *value)
{
    cl_int(CL_API_CALL * set)(cl_kernel, cl_uint, size_t, const void *);

    find_next("clSetKernelArg", &set);
    for (int i = 0; i < noted_count; i++) {
        refused += noted[i].kernel == kernel && noted[i].index == index;
    }
    return set(kernel, index, size, value);
}

static void look_up(struct stage *stage, const struct clmove_memory *out)
{
    assert_int_equal(
        clmove_enqueue_ssm_indices(stage->step, ROWS, SLOTS_PER_ROW, out,
                                   stage->device->queue, 0, NULL, NULL),
        CLMOVE_SUCCESS);
    assert_int_equal(clFinish(stage->device->queue), CL_SUCCESS);
}

/* State indices into SVM, into a buffer, into SVM, into a buffer. */
static void test_indices(void **state)
{
    struct test_device *device = *state;
    struct stage *stage = test_malloc(sizeof(*stage));
    struct scene scene;
    struct clmove_memory svm = {.size = ROWS * SLOTS_PER_ROW * sizeof(int32_t)};

    if (!device_has_svm(device)) {
        test_free(stage);
        runner_skip("the device has no shared virtual memory");
    }
    scene_init(&scene, __func__, "%d rows", ROWS);
    scene_add_pool(&scene, SCENE_BUFFER);
    scene_add_temporal(&scene, 0, 1 + 3 * ROWS, 16);
    scene_add_group(&scene, 3);
    for (int32_t i = 0; i < ROWS; i++) {
        scene_add_row(&scene, 9 * i, 4, 0, 1, 0);
    }
    scene.tokens_per_block = 16;
    scene.slots_per_row = SLOTS_PER_ROW;
    scene_own_blocks(&scene, 1, 3);
    stage_prepare(stage, device, &scene);
    stage_create(stage, device->engine);
    svm.pointer = clSVMAlloc(device->context, CL_MEM_READ_WRITE, svm.size, 0);
    assert_non_null(svm.pointer);
    noted_count = refused = 0;
    for (int round = 0; round < 2; round++) {
        stage_reset(stage);
        look_up(stage, &svm);
        look_up(stage, &stage->indices);
        stage_expect(stage, SCENE_INDICES);
        assert_true(stage_compare(stage, 0));
        assert_int_equal(clEnqueueSVMMap(device->queue, CL_TRUE, CL_MAP_READ,
                                         svm.pointer, svm.size, 0, NULL, NULL),
                         CL_SUCCESS);
        assert_memory_equal(svm.pointer, stage_actual(stage, STAGE_INDICES),
                            svm.size);
        assert_int_equal(
            clEnqueueSVMUnmap(device->queue, svm.pointer, 0, NULL, NULL),
            CL_SUCCESS);
    }
    assert_true(noted_count > 0);
    assert_int_equal(refused, 0);
    assert_int_equal(clFinish(device->queue), CL_SUCCESS);
    clSVMFree(device->context, svm.pointer);
    stage_close(stage);
    scene_clear(&scene);
    test_free(stage);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indices),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
