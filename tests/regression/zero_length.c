/* Moves of nothing, moves onto themselves: CHIP-SPV/chipStar issue 147. */

/* Source: CHIP-SPV/chipStar issue 147, KhronosGroup/OpenCL-Docs issue 1072.
 * Drivers disagree about both: success, an error, or an event that never comes.
 */

#include "moving.h"
#include "runner.h"
#include "testing.h"

/* The status of a command's event once it has finished. */
static cl_int end_of(cl_event event)
{
    cl_int end = CL_QUEUED;

    assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                    sizeof(end), &end, NULL),
                     CL_SUCCESS);
    clReleaseEvent(event);
    return end;
}

/* A command for the wait list, which writes byte 0 of a buffer of its own. */
static cl_event earlier_command(struct test_device *device, cl_mem buffer)
{
    static const unsigned char one = 1;
    cl_event event = NULL;

    assert_int_equal(clEnqueueWriteBuffer(device->queue, buffer, CL_FALSE, 0, 1,
                                          &one, 0, NULL, &event),
                     CL_SUCCESS);
    return event;
}

static void test_moves(void **state)
{
    static const struct {
        size_t src, dst, size;
    } cases[] = {{0, 0, 64}, {7, 7, 50}, {0, 0, 0},  {0, 9, 0},
                 {64, 0, 0}, {0, 64, 0}, {64, 64, 0}};
    struct test_device *device = *state;
    struct moving moving, other;

    moving_open(&moving, device, MOVING_BUFFER, 64);
    moving_open(&other, device, MOVING_BUFFER, 64);
    moving_fill(&moving, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (uint32_t variant = 0; variant <= CLMOVE_VARIANT_SEGMENTS;
             variant++) {
            const struct clmove_memory src =
                moving_memory(&moving, cases[i].src);
            const struct clmove_memory dst =
                moving_memory(&moving, cases[i].dst);
            const struct clmove_move_options options = {.variant = variant};
            cl_event wait = earlier_command(device, other.buffer);
            cl_event event = NULL;
            moving_status(device,
                          clmove_enqueue_move(device->engine, &src, &dst,
                                              cases[i].size, &options,
                                              device->queue, 1, &wait, &event),
                          CLMOVE_SUCCESS);
            assert_non_null(event);
            assert_int_equal(end_of(event), CL_COMPLETE);
            /* so the one before it has ended, too */
            assert_int_equal(end_of(wait), CL_COMPLETE);
        }
    }
    assert_true(moving_check(&moving, __func__, "nothing moves"));
    moving_close(&moving);
    moving_close(&other);
}

/* One byte where none is left. */
static void test_one_too_many(void **state)
{
    struct test_device *device = *state;
    struct moving moving;

    moving_open(&moving, device, MOVING_BUFFER, 64);
    moving_fill(&moving, 1);
    for (int which = 0; which < 2; which++) {
        const struct clmove_memory at_end = moving_memory(&moving, 64);
        const struct clmove_memory start = moving_memory(&moving, 0);
        device_clear_messages(device);
        moving_refused(device,
                       clmove_enqueue_move(device->engine,
                                           which ? &start : &at_end,
                                           which ? &at_end : &start, 1, NULL,
                                           device->queue, 0, NULL, NULL),
                       CLMOVE_OUT_OF_RANGE, which ? "dst" : "src");
    }
    assert_true(moving_check(&moving, __func__, "refused"));
    moving_close(&moving);
}

/* A batch without entries, with entries of size 0, with one onto itself. */
static void test_batches(void **state)
{
    const struct clmove_region regions[] = {
        {.src_offset = 64, .dst_offset = 0},
        {.src_offset = 0, .dst_offset = 64},
        {.src_offset = 3, .dst_offset = 3, .size = 20},
    };
    struct test_device *device = *state;
    struct moving moving;
    struct clmove_memory memory;

    moving_open(&moving, device, MOVING_BUFFER, 64);
    moving_fill(&moving, 1);
    memory = moving_memory(&moving, 0);
    for (size_t count = 0; count <= 3; count++) {
        for (size_t memories = count > 0; memories < 2; memories++) {
            const struct clmove_batch_params params = {
                .memories = memories ? &memory : NULL,
                .memory_count = memories,
                .regions = count ? regions : NULL,
                .region_count = count};
            struct clmove_batch *batch = NULL;
            cl_event wait = earlier_command(device, moving.buffer);
            cl_event event = NULL;
            moving.expected[0] = 1;
            moving_status(device,
                          clmove_batch_create(device->engine, &device->log,
                                              &params, &batch),
                          CLMOVE_SUCCESS);
            moving_status(
                device,
                clmove_enqueue_batch(batch, device->queue, 1, &wait, &event),
                CLMOVE_SUCCESS);
            assert_non_null(event);
            assert_int_equal(end_of(event), CL_COMPLETE);
            assert_int_equal(end_of(wait), CL_COMPLETE);
            clmove_batch_destroy(&batch);
            assert_null(batch);
        }
    }
    assert_true(moving_check(&moving, __func__, "nothing moves"));
    moving_close(&moving);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_one_too_many),
        cmocka_unit_test(test_batches),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
