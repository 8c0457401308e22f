/* Overlap in one buffer is moved, not refused: diku-dk/futhark issue 1789. */

/* Source: diku-dk/futhark issue 1789 (also hughperkins/cltorch issue 48). A
 * slice that overlaps its source became one driver copy, which OpenCL refuses
 * with CL_MEM_COPY_OVERLAP. */

#include "moving.h"
#include "runner.h"
#include "testing.h"

#include <string.h>

static const float before[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
static const float left[9] = {4, 5, 6, 7, 8, 9, 7, 8, 9};
static const float right[9] = {1, 2, 3, 1, 2, 3, 4, 5, 6};

static void move_floats(struct test_device *device, cl_mem from, size_t src,
                        cl_mem to, size_t dst, uint32_t variant)
{
    const struct clmove_memory source = {.buffer = from, .offset = src * 4};
    const struct clmove_memory destination = {.buffer = to, .offset = dst * 4};
    const struct clmove_move_options options = {.variant = variant};

    moving_status(device,
                  clmove_enqueue_move(device->engine, &source, &destination,
                                      6 * 4, &options, device->queue, 0, NULL,
                                      NULL),
                  CLMOVE_SUCCESS);
}

static void test_one_buffer(void **state)
{
    static const uint32_t variants[] = {
        CLMOVE_VARIANT_AUTO, CLMOVE_VARIANT_GROUP, CLMOVE_VARIANT_SPLIT,
        CLMOVE_VARIANT_SEGMENTS};
    struct test_device *device = *state;
    struct moving moving;

    moving_open(&moving, device, MOVING_BUFFER, sizeof(before));
    for (size_t i = 0; i < 4; i++) {
        moving_load(&moving, before);
        move_floats(device, moving.buffer, 3, moving.buffer, 0, variants[i]);
        memcpy(moving.expected, left, sizeof(left));
        assert_true(moving_check(&moving, __func__, "3 to 0"));
        moving_load(&moving, before);
        move_floats(device, moving.buffer, 0, moving.buffer, 3, variants[i]);
        memcpy(moving.expected, right, sizeof(right));
        assert_true(moving_check(&moving, __func__, "0 to 3"));
    }
    moving_close(&moving);
}

static cl_mem window(cl_mem parent, size_t origin, size_t size)
{
    const cl_buffer_region region = {origin, size};
    cl_int error = CL_SUCCESS;
    cl_mem made =
        clCreateSubBuffer(parent, CL_MEM_READ_WRITE,
                          CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    assert_int_equal(error, CL_SUCCESS);
    return made;
}

/* Through two sub-buffers over the same bytes, one from an earlier start. */
static void test_two_sub_buffers(void **state)
{
    struct test_device *device = *state;
    const size_t origin = device->info.base_align_bits / 8;
    const size_t floats = origin / 4;
    struct moving moving;
    unsigned char *bytes = test_calloc(1, origin + sizeof(before));

    memcpy(bytes + origin, before, sizeof(before));
    moving_open(&moving, device, MOVING_BUFFER, origin + sizeof(before));
    cl_mem whole = window(moving.buffer, 0, origin + sizeof(before));
    cl_mem part = window(moving.buffer, origin, sizeof(before));
    for (int flip = 0; flip < 2; flip++) {
        const size_t shift = flip ? floats : 0, other = flip ? 0 : floats;
        cl_mem from = flip ? whole : part, to = flip ? part : whole;
        moving_load(&moving, bytes);
        move_floats(device, from, shift + 3, to, other, 0);
        memcpy(moving.expected + origin, left, sizeof(left));
        assert_true(moving_check(&moving, __func__, "3 to 0"));
        moving_load(&moving, bytes);
        move_floats(device, from, shift, to, other + 3, 0);
        memcpy(moving.expected + origin, right, sizeof(right));
        assert_true(moving_check(&moving, __func__, "0 to 3"));
    }
    clReleaseMemObject(whole);
    clReleaseMemObject(part);
    moving_close(&moving);
    test_free(bytes);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_buffer),
        cmocka_unit_test(test_two_sub_buffers),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
