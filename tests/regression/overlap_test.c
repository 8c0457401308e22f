/* When two ranges overlap: KhronosGroup/Vulkan-ValidationLayers issue 3853. */

/* Source: KhronosGroup/Vulkan-ValidationLayers issues 3853 and 3899. Strict
 * comparisons missed equal ranges; one bounding range over all regions refused
 * interleaved ones that do no harm. */

#include "moving_batch.h"
#include "runner.h"
#include "testing.h"

#include <string.h>

static void check_move(struct moving *moving, size_t src, size_t dst)
{
    const struct moving_move move = {moving, moving, src, dst, 32, 0};

    moving_fill(moving, src + dst);
    moving_move(moving->device->engine, &move);
    assert_true(moving_check(moving, "test_single_moves", "32 bytes"));
}

static void test_single_moves(void **state)
{
    struct moving moving;
    unsigned char snapshot[96];

    moving_open(&moving, *state, MOVING_BUFFER, sizeof(snapshot));
    check_move(&moving, 0, 0);  /* equal */
    check_move(&moving, 0, 32); /* touching */
    check_move(&moving, 32, 0);
    check_move(&moving, 0, 31); /* one byte in common */
    check_move(&moving, 31, 0);
    /* the same once more with literal bytes: byte 31 has two roles */
    moving_fill(&moving, 1);
    memcpy(snapshot, moving.expected, sizeof(snapshot));
    moving_move(moving.device->engine,
                &(struct moving_move){&moving, &moving, 0, 31, 32, 0});
    assert_true(moving_check(&moving, __func__, "0 to 31"));
    assert_memory_equal(moving.actual, snapshot, 31);
    assert_memory_equal(moving.actual + 31, snapshot, 32);
    assert_memory_equal(moving.actual + 63, snapshot + 63, 33);
    moving_close(&moving);
}

/* An end above 2^64 is refused as out of range, and nothing is written. */
static void test_wrapping_end(void **state)
{
    struct test_device *device = *state;
    struct moving moving;
    struct clmove_memory memory;

    moving_open(&moving, device, MOVING_BUFFER, 96);
    moving_fill(&moving, 1);
    memory = moving_memory(&moving, 0);
    for (int which = 0; which < 2; which++) {
        struct clmove_memory bad = memory;
        bad.offset = 32;
        bad.size = SIZE_MAX - 16;
        device_clear_messages(device);
        moving_refused(device,
                       clmove_enqueue_move(device->engine,
                                           which ? &memory : &bad,
                                           which ? &bad : &memory, 32, NULL,
                                           device->queue, 0, NULL, NULL),
                       CLMOVE_OUT_OF_RANGE, which ? "dst" : "src");
        bad.offset = SIZE_MAX - 8;
        bad.size = 32;
        moving_refused(device,
                       clmove_enqueue_move(device->engine,
                                           which ? &memory : &bad,
                                           which ? &bad : &memory, 32, NULL,
                                           device->queue, 0, NULL, NULL),
                       CLMOVE_OUT_OF_RANGE, which ? "dst" : "src");
    }
    moving_refused(device,
                   clmove_enqueue_move(device->engine, &memory, &memory,
                                       SIZE_MAX - 8, NULL, device->queue, 0,
                                       NULL, NULL),
                   CLMOVE_OUT_OF_RANGE, "size is 18446744073709551607");
    assert_true(moving_check(&moving, __func__, "refused"));
    moving_close(&moving);
}

/* Interleaved regions of a batch: harmless, so accepted; the others' twins as
 * batches of one. */
static void test_batches(void **state)
{
    static const uint64_t interleaved[3][2] = {{0, 8}, {16, 24}, {32, 40}};
    static const uint64_t singles[3][2] = {{0, 0}, {0, 32}, {0, 31}};
    struct test_device *device = *state;
    struct moving moving;
    struct clmove_region regions[3] = {{0}};

    moving_open(&moving, device, MOVING_BUFFER, 96);
    for (size_t i = 0; i < 3; i++) {
        regions[i].src_offset = interleaved[i][0];
        regions[i].dst_offset = interleaved[i][1];
        regions[i].size = 8;
    }
    moving_fill(&moving, 3);
    moving_batch(device, &moving, regions, 3);
    assert_true(moving_check(&moving, __func__, "interleaved"));
    for (size_t i = 0; i < 3; i++) {
        struct clmove_region single = {.src_offset = singles[i][0],
                                       .dst_offset = singles[i][1],
                                       .size = 32};
        moving_fill(&moving, i);
        moving_batch(device, &moving, &single, 1);
        assert_true(moving_check(&moving, __func__, "one entry"));
    }
    moving_close(&moving);
}

/* offset + size above 2^64 in a region. */
static void test_wrapping_region(void **state)
{
    struct test_device *device = *state;
    struct moving moving;
    struct clmove_memory memory;
    struct clmove_region region = {.size = 32};
    struct clmove_batch_params params = {.memories = &memory,
                                         .memory_count = 1,
                                         .regions = &region,
                                         .region_count = 1};
    struct clmove_batch *batch = NULL;

    moving_open(&moving, device, MOVING_BUFFER, 96);
    memory = moving_memory(&moving, 0);
    for (int which = 0; which < 2; which++) {
        region.src_offset = which ? 0 : UINT64_MAX - 15;
        region.dst_offset = which ? UINT64_MAX - 15 : 0;
        device_clear_messages(device);
        moving_refused(
            device,
            clmove_batch_create(device->engine, &device->log, &params, &batch),
            CLMOVE_OUT_OF_RANGE, "18446744073709551600");
        assert_null(batch);
    }
    moving_close(&moving);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_moves),
        cmocka_unit_test(test_wrapping_end),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_wrapping_region),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
