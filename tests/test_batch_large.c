/* Large batches: shifted rows, mixed sizes, permutations of many slots. */

#include "compare.h"
#include "late_release.h"
#include "moving_batch.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The published case: 128 rows of 32 KiB, each shifted by 16 bytes in place,
 * ten times. */
static void test_shifted_rows(void **state)
{
    enum { ROWS = 128, ROW = 32 * 1024, SHIFT = 16, REPETITIONS = 10 };
    struct test_device *device = *state;
    struct clmove_region regions[ROWS];
    struct moving moving;
    const struct moving_place place = {.moving = &moving};
    const struct moving_list list = {.places = &place,
                                     .place_count = 1,
                                     .regions = regions,
                                     .region_count = ROWS};

    moving_open(&moving, device, MOVING_BUFFER, ROWS * ROW);
    for (int left = 0; left < 2; left++) {
        struct clmove_batch *batch;
        struct clmove_batch_info info;
        for (size_t i = 0; i < ROWS; i++) {
            regions[i] = (struct clmove_region){
                .src_offset = i * ROW + (left ? SHIFT : 0),
                .dst_offset = i * ROW + (left ? 0 : SHIFT),
                .size = ROW - SHIFT};
        }
        moving_fill(&moving, 1);
        batch = moving_batch_create(device, device->engine, &list);
        assert_int_equal(clmove_batch_describe(batch, &info), CLMOVE_SUCCESS);
        assert_int_equal(info.overlapping_count, ROWS);
        assert_int_equal(info.endangered_count, 0);
        for (int i = 0; i < REPETITIONS; i++) {
            moving_status(
                device,
                clmove_enqueue_batch(batch, device->queue, 0, NULL, NULL),
                CLMOVE_SUCCESS);
            moving_batch_expect(&list);
            assert_true(
                moving_check(&moving, __func__, left ? "left" : "right"));
        }
        clmove_batch_destroy(&batch);
    }
    moving_close(&moving);
}

/* 4 KiB next to some MiB, small ones between; some endangered, some overlap. */
static void test_mixed_sizes(void **state)
{
    enum { SMALLS = 200, MIB = 1 << 20, MEMORY = 10 * MIB + 77 };
    struct test_device *device = *state;
    struct moving moving;
    struct clmove_region regions[SMALLS + 4] = {
        {.src_offset = 5, .dst_offset = 3 * MIB + 1, .size = 2 * MIB + 7},
        {.src_offset = 6 * MIB,
         .dst_offset = 6 * MIB + 4096,
         .size = 2 * MIB - 4096 - 3},
        {.src_offset = 9 * MIB + 100,
         .dst_offset = 9 * MIB + 9,
         .size = MIB - 100},
        {.src_offset = 3 * MIB + MIB / 2,
         .dst_offset = 2 * MIB + 64 * 1024,
         .size = MIB / 2}};
    size_t count = 4;
    const struct moving_place place = {.moving = &moving};
    struct moving_list list = {
        .places = &place, .place_count = 1, .regions = regions};
    static const uint32_t variants[] = {
        CLMOVE_VARIANT_AUTO, CLMOVE_VARIANT_GROUP, CLMOVE_VARIANT_SPLIT,
        CLMOVE_VARIANT_SEGMENTS};

    moving_open(&moving, device, MOVING_BUFFER, MEMORY);
    for (size_t i = 0; i < SMALLS; i++, count++) {
        regions[count].dst_offset = 8 * MIB + i * 4200;
        regions[count].src_offset = i % 3 == 0 ? 100 + i * 4096
                                    : i % 3 == 1
                                        ? 8 * MIB + i * 4200 + 50
                                        : 8 * MIB + (SMALLS - i) * 4000;
        regions[count].size = i % 7 == 0 ? 1 + i : 4096;
    }
    list.region_count = count;
    for (size_t v = 0; v < 4; v++) {
        list.variant = variants[v];
        moving_fill(&moving, v);
        moving_batch_run(device, device->engine, &list);
        assert_true(
            moving_check(&moving, __func__, clmove_variant_name(variants[v])));
    }
    moving_close(&moving);
}

enum { SLOTS = 100000, SLOT = 80, LEAD = 13 };

/* Every slot but a few goes elsewhere; a slot that stays is an entry onto
 * itself. */
static void make_permutation(struct clmove_region *regions, size_t slots,
                             size_t slot_size, uint64_t seed)
{
    uint32_t *order = test_malloc(slots * sizeof(*order));

    for (size_t i = 0; i < slots; i++) {
        order[i] = (uint32_t)i;
    }
    for (size_t i = slots; i > 1; i--) {
        const size_t other = random_below(&seed, (uint32_t)i);
        const uint32_t swap = order[i - 1];
        order[i - 1] = order[other];
        order[other] = swap;
    }
    for (size_t i = 0; i < slots; i++) {
        regions[i] = (struct clmove_region){
            .src_offset = LEAD + i * slot_size,
            .dst_offset = LEAD + (size_t)order[i] * slot_size,
            .size = slot_size};
    }
    test_free(order);
}

static void check_permutation(struct test_device *device, size_t slots,
                              size_t slot_size, uint64_t limit,
                              const char *detail)
{
    struct clmove_region *regions = test_calloc(slots, sizeof(*regions));
    struct moving moving;
    const struct moving_place place = {.moving = &moving};
    struct moving_list list = {.places = &place,
                               .place_count = 1,
                               .regions = regions,
                               .region_count = slots,
                               .scratch_limit = limit};
    struct clmove_batch_info info;
    struct clmove_batch *batch;

    make_permutation(regions, slots, slot_size, 1);
    moving_open(&moving, device, MOVING_BUFFER, slots * slot_size + LEAD + 3);
    moving_fill(&moving, 9);
    batch = moving_batch_create(device, device->engine, &list);
    assert_int_equal(clmove_batch_describe(batch, &info), CLMOVE_SUCCESS);
    print_message("%s: scratch %llu, slices %llu, launches %llu\n", detail,
                  (unsigned long long)info.scratch_size,
                  (unsigned long long)info.slice_count,
                  (unsigned long long)info.launch_count);
    assert_true(info.scratch_size > 0);
    assert_true(limit == 0 || info.scratch_size <= limit);
    assert_int_equal(limit == 0, info.slice_count == 1);
    for (int i = 0; i < 2; i++) { /* the batch may be enqueued again */
        moving_status(device,
                      clmove_enqueue_batch(batch, device->queue, 0, NULL, NULL),
                      CLMOVE_SUCCESS);
        moving_batch_expect(&list);
        assert_true(moving_check(&moving, "test_permutations", detail));
    }
    clmove_batch_destroy(&batch);
    moving_close(&moving);
    test_free(regions);
}

static void test_permutations(void **state)
{
    check_permutation(*state, SLOTS, SLOT, 0, "100000 slots of 80");
    check_permutation(*state, SLOTS, SLOT, 1 << 20, "100000 slots, 1 MiB");
    check_permutation(*state, 1000, 1001, 64 * 1024, "1000 slots of 1001");
    check_permutation(*state, 50, 70000, 1000, "50 slots of 70000, 1000");
    check_permutation(*state, 50, 37, 50, "a byte of each slot at a time");
}

/* Scratch that the caller gives: used, and nothing beside it. */
static void test_given_scratch(void **state)
{
    enum { COUNT = 64, SIZE = 700, GUARD = 19 };
    struct test_device *device = *state;
    struct clmove_region regions[COUNT];
    struct moving moving, scratch;
    const struct moving_place place = {.moving = &moving};
    struct moving_list list = {.places = &place,
                               .place_count = 1,
                               .regions = regions,
                               .region_count = COUNT};
    struct clmove_batch_info info;
    struct clmove_batch *batch = NULL;
    size_t used = 0;

    make_permutation(regions, COUNT, SIZE, 3);
    moving_open(&moving, device, MOVING_BUFFER, COUNT * SIZE + LEAD);
    moving_fill(&moving, 1);
    batch = moving_batch_create(device, device->engine, &list);
    assert_int_equal(clmove_batch_describe(batch, &info), CLMOVE_SUCCESS);
    clmove_batch_destroy(&batch);
    used = (size_t)info.scratch_size;
    moving_open(&scratch, device, MOVING_BUFFER, used + 2 * GUARD);
    moving_fill(&scratch, 2);
    list.scratch = moving_memory(&scratch, GUARD);
    list.scratch.size = used - 1;
    device_clear_messages(device);
    moving_refused(device,
                   moving_batch_try(device, device->engine, &list, &batch),
                   CLMOVE_OUT_OF_RANGE, "scratch");
    assert_null(batch);
    list.scratch.size = used;
    moving_batch_run(device, device->engine, &list);
    assert_true(moving_check(&moving, __func__, "given scratch"));
    (void)moving_check(&scratch, __func__, NULL);
    assert_memory_equal(scratch.actual, scratch.expected, GUARD);
    assert_memory_equal(scratch.actual + GUARD + used,
                        scratch.expected + GUARD + used, GUARD);
    assert_memory_not_equal(scratch.actual + GUARD, scratch.expected + GUARD,
                            used);
    moving_close(&moving);
    moving_close(&scratch);
}

/* Behind each other by events alone, on an out-of-order queue: one batch with
 * scratch of its own, many times. */
static void test_out_of_order(void **state)
{
    enum { COUNT = 40, SIZE = 501, TIMES = 20 };
    struct test_device *device = *state;
    cl_command_queue queue = device_out_of_order_queue(device);
    struct clmove_region regions[COUNT];
    struct moving moving;
    const struct moving_place place = {.moving = &moving};
    const struct moving_list list = {.places = &place,
                                     .place_count = 1,
                                     .regions = regions,
                                     .region_count = COUNT};
    struct clmove_batch *batch;
    cl_event last = NULL;

    if (!queue) {
        runner_skip("the device has no out-of-order queue");
        return;
    }
    make_permutation(regions, COUNT, SIZE, 5);
    moving_open(&moving, device, MOVING_BUFFER, COUNT * SIZE + LEAD);
    moving_fill(&moving, 1);
    batch = moving_batch_create(device, device->engine, &list);
    for (int i = 0; i < TIMES; i++) {
        cl_event event = NULL;
        moving_status(device,
                      clmove_enqueue_batch(batch, queue, last != NULL,
                                           last ? &last : NULL, &event),
                      CLMOVE_SUCCESS);
        if (last) {
            clReleaseEvent(last);
        }
        last = event;
        moving_batch_expect(&list);
    }
    assert_int_equal(clWaitForEvents(1, &last), CL_SUCCESS);
    clReleaseEvent(last);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    clmove_batch_destroy(&batch);
    assert_true(moving_check(&moving, __func__, "20 times"));
    moving_close(&moving);
    clReleaseCommandQueue(queue);
}

/* Behind an event that fails after the batch was enqueued, nothing moves; the
 * scratch's launches included. */
static void test_failed_event(void **state)
{
    enum { COUNT = 8, SIZE = 600 };
    struct test_device *device = *state;
    struct clmove_region regions[COUNT];
    struct moving moving;
    const struct moving_place place = {.moving = &moving};
    const struct moving_list list = {.places = &place,
                                     .place_count = 1,
                                     .regions = regions,
                                     .region_count = COUNT};
    struct clmove_batch *batch;

    if (strstr(device->info.platform_name, "Oclgrind")) {
        runner_skip("Oclgrind waits for ever for a command behind an event "
                    "that the caller has not completed yet");
        return;
    }
    make_permutation(regions, COUNT, SIZE, 8);
    moving_open(&moving, device, MOVING_BUFFER, COUNT * SIZE + LEAD);
    moving_fill(&moving, 1);
    batch = moving_batch_create(device, device->engine, &list);
    for (int fails = 1; fails >= 0; fails--) {
        cl_int error = CL_SUCCESS;
        cl_int end = CL_QUEUED;
        cl_event gate = clCreateUserEvent(device->context, &error);
        cl_event event = NULL;
        cl_command_queue queue = clCreateCommandQueue(
            device->context, device->info.device, 0, &error);
        assert_int_equal(error, CL_SUCCESS);
        late_release_begin();
        moving_status(device,
                      clmove_enqueue_batch(batch, queue, 1, &gate, &event),
                      CLMOVE_SUCCESS);
        assert_int_equal(clFlush(queue), CL_SUCCESS);
        assert_int_equal(clSetUserEventStatus(gate, fails ? -42 : CL_COMPLETE),
                         CL_SUCCESS);
        /* Intel's CPU runtime fails the wait, not the event. */
        error = clWaitForEvents(1, &event);
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(end),
                       &end, NULL);
        assert_int_equal(error != CL_SUCCESS || end < 0, fails);
        if (!fails) {
            moving_batch_expect(&list);
        }
        assert_true(moving_check(&moving, __func__, fails ? "fails" : "ends"));
        clReleaseEvent(event);
        clReleaseEvent(gate);
        late_release_end();
        clReleaseCommandQueue(queue);
    }
    clmove_batch_destroy(&batch);
    moving_close(&moving);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shifted_rows),
        cmocka_unit_test(test_mixed_sizes),
        cmocka_unit_test(test_permutations),
        cmocka_unit_test(test_given_scratch),
        cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_failed_event),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
