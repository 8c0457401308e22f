/* Batches over several memories, and over several names of one. */

#include "moving_batch.h"
#include "references.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>
#include <string.h>

enum { SIZE = 4001 };

static void check(struct test_device *device, struct clmove_engine *engine,
                  const struct moving_list *list, const char *test,
                  const char *detail)
{
    for (size_t i = 0; i < list->place_count; i++) {
        moving_fill(list->places[i].moving, i + 1);
    }
    moving_batch_run(device, engine, list);
    for (size_t i = 0; i < list->place_count; i++) {
        assert_true(moving_check(list->places[i].moving, test, detail));
    }
}

/* A rotation through three memories, with a move inside one; of all kinds. */
static void test_kinds(void **state)
{
    static const struct clmove_region regions[] = {
        {.src_memory = 0,
         .dst_memory = 1,
         .src_offset = 3,
         .dst_offset = 100,
         .size = 1500},
        {.src_memory = 1,
         .dst_memory = 2,
         .src_offset = 100,
         .dst_offset = 7,
         .size = 1500},
        {.src_memory = 2,
         .dst_memory = 0,
         .src_offset = 7,
         .dst_offset = 3,
         .size = 1500},
        {.src_memory = 0,
         .dst_memory = 0,
         .src_offset = 2000,
         .dst_offset = 2005,
         .size = 1900},
        {.src_memory = 1,
         .dst_memory = 1,
         .src_offset = 2005,
         .dst_offset = 2000,
         .size = 1900},
        {.src_memory = 1,
         .dst_memory = 2,
         .src_offset = 3990,
         .dst_offset = 3991,
         .size = 10},
    };
    const struct moving_shape shape = {.tile_size = 64, .gpu_text = 1};
    struct test_device *device = *state;
    struct clmove_engine *engine = moving_engine(device, &shape);
    struct moving movings[3];

    for (int kinds = 0; kinds < 3; kinds++) {
        struct moving_place places[3] = {{0}};
        const struct moving_list list = {.places = places,
                                         .place_count = 3,
                                         .regions = regions,
                                         .region_count = 6};
        char detail[32];
        if (kinds == 2 && !device_has_svm(device)) {
            continue;
        }
        for (int i = 0; i < 3; i++) {
            moving_open(&movings[i], device,
                        (enum moving_kind)(i == kinds ? kinds : 0), SIZE);
            places[i].moving = &movings[i];
        }
        snprintf(detail, sizeof(detail), "kind %d", kinds);
        check(device, engine, &list, __func__, detail);
        for (int i = 0; i < 3; i++) {
            moving_close(&movings[i]);
        }
    }
    clmove_engine_destroy(&engine);
}

/* Two memories that are one buffer at different offsets, then a buffer and its
 * sub-buffer, then two sub-buffers: the same bytes under two names. */
static void test_one_root(void **state)
{
    struct test_device *device = *state;
    const size_t unit = device->info.base_align_bits / 8 > 1024
                            ? device->info.base_align_bits / 8
                            : 1024;
    const cl_buffer_region low = {0, 4 * unit}, high = {unit, 4 * unit};
    const uint64_t step = unit;
    /* positions in the root are: memory 0 from 0 on, memory 1 from unit on */
    const struct clmove_region regions[] = {
        {.src_memory = 0,
         .dst_memory = 1,
         .src_offset = 0,
         .dst_offset = 0,
         .size = step},
        {.src_memory = 1,
         .dst_memory = 0,
         .src_offset = 0,
         .dst_offset = 0,
         .size = step}, /* a swap of the root's first two units */
        {.src_memory = 0,
         .dst_memory = 1,
         .src_offset = 2 * step + 5,
         .dst_offset = step + 9,
         .size = step}, /* overlaps itself by 4 */
        {.src_memory = 1,
         .dst_memory = 1,
         .src_offset = 3 * step + 7,
         .dst_offset = 3 * step,
         .size = step - 7},
    };
    struct moving moving;
    struct moving_place places[2] = {{.moving = &moving},
                                     {.moving = &moving, .offset = unit}};
    const struct moving_list list = {.places = places,
                                     .place_count = 2,
                                     .regions = regions,
                                     .region_count = 4};
    const struct clmove_region conflict[] = {
        {.src_memory = 0,
         .dst_memory = 0,
         .src_offset = 0,
         .dst_offset = 2 * step,
         .size = 10},
        {.src_memory = 0,
         .dst_memory = 1,
         .src_offset = 20,
         .dst_offset = step + 9,
         .size = 10},
    };
    struct clmove_batch *batch = NULL;
    cl_int error = CL_SUCCESS;

    moving_open(&moving, device, MOVING_BUFFER, 6 * unit);
    cl_mem first =
        clCreateSubBuffer(moving.buffer, CL_MEM_READ_WRITE,
                          CL_BUFFER_CREATE_TYPE_REGION, &low, &error);
    assert_int_equal(error, CL_SUCCESS);
    cl_mem second =
        clCreateSubBuffer(moving.buffer, CL_MEM_READ_WRITE,
                          CL_BUFFER_CREATE_TYPE_REGION, &high, &error);
    assert_int_equal(error, CL_SUCCESS);
    check(device, device->engine, &list, __func__, "one handle, two offsets");
    places[1].window = second;
    places[1].origin = unit;
    check(device, device->engine, &list, __func__, "buffer and sub-buffer");
    places[0].window = first;
    check(device, device->engine, &list, __func__, "two sub-buffers");
    /* Two writers of one byte, each through a name of its own. */
    struct moving_list twice = list;
    twice.regions = conflict;
    twice.region_count = 2;
    device_clear_messages(device);
    moving_refused(device,
                   moving_batch_try(device, device->engine, &twice, &batch),
                   CLMOVE_OVERLAP, "regions[");
    assert_null(batch);
    clReleaseMemObject(first);
    clReleaseMemObject(second);
    moving_close(&moving);
}

/* More buffers than one launch takes. A ring of moves through all of them, so
 * that everything is endangered; or from even ones to odd ones. */
static void test_many_memories(void **state)
{
    static const size_t counts[] = {2, 3, 15, 16, 17, 40, 63, 64, 65, 100};
    enum { MOST = 100, SMALL = 301 };
    struct test_device *device = *state;
    static struct moving movings[MOST];
    static struct moving_place places[MOST];
    static struct clmove_region regions[MOST];

    for (size_t i = 0; i < MOST; i++) {
        moving_open(&movings[i], device, MOVING_BUFFER, SMALL);
        places[i] = (struct moving_place){.moving = &movings[i]};
    }
    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
        for (int ring = 0; ring < 2; ring++) {
            struct moving_list list = {
                .places = places, .place_count = counts[c], .regions = regions};
            struct clmove_batch *batch = NULL;
            char detail[64];
            clmove_status status;
            for (size_t i = 0; i < counts[c]; i += ring ? 1 : 2) {
                regions[list.region_count++] = (struct clmove_region){
                    .src_memory = (uint32_t)i,
                    .dst_memory = (uint32_t)((i + 1) % counts[c]),
                    .src_offset = i % 7,
                    .dst_offset = i % 5,
                    .size = 290};
            }
            for (size_t i = 0; i < counts[c]; i++) {
                moving_fill(&movings[i], i);
            }
            snprintf(detail, sizeof(detail), "%zu memories, ring %d", counts[c],
                     ring);
            device_clear_messages(device);
            status = moving_batch_try(device, device->engine, &list, &batch);
            if (counts[c] > 64 && status == CLMOVE_UNSUPPORTED) {
                device_expect_message(device, "64");
                print_message("refused: %s\n", detail);
                assert_null(batch);
                continue;
            }
            moving_status(device, status, CLMOVE_SUCCESS);
            moving_status(
                device,
                clmove_enqueue_batch(batch, device->queue, 0, NULL, NULL),
                CLMOVE_SUCCESS);
            clmove_batch_destroy(&batch);
            moving_batch_expect(&list);
            for (size_t i = 0; i < counts[c]; i++) {
                assert_true(moving_check(&movings[i], __func__, detail));
            }
        }
    }
    for (size_t i = 0; i < MOST; i++) {
        moving_close(&movings[i]);
    }
}

/* The batch keeps its buffers; the engine may go before it. */
static void test_lifetime(void **state)
{
    const struct clmove_region regions[] = {
        {.src_offset = 0, .dst_offset = 1000, .size = 900},
        {.src_offset = 1000, .dst_offset = 0, .size = 900}};
    const struct moving_shape shape = {0};
    struct test_device *device = *state;
    struct clmove_engine *engine = moving_engine(device, &shape);
    struct moving moving;
    const struct moving_place place = {.moving = &moving};
    const struct moving_list list = {.places = &place,
                                     .place_count = 1,
                                     .regions = regions,
                                     .region_count = 2};
    struct clmove_batch *batch;

    moving_open(&moving, device, MOVING_BUFFER, SIZE);
    moving_fill(&moving, 1);
    batch = moving_batch_create(device, engine, &list);
    assert_true(buffer_references(moving.buffer) >= 2);
    clmove_engine_destroy(&engine);
    for (int i = 0; i < 5; i++) { /* as often as wanted */
        moving_status(device,
                      clmove_enqueue_batch(batch, device->queue, 0, NULL, NULL),
                      CLMOVE_SUCCESS);
        moving_batch_expect(&list);
    }
    clmove_batch_destroy(&batch); /* perhaps before the moves have ended */
    clmove_batch_destroy(&batch);
    clmove_batch_destroy(NULL);
    assert_true(moving_check(&moving, __func__, "five times"));
    expect_references(buffer_references, moving.buffer, 1);
    assert_int_equal(buffer_references(moving.buffer), 1);
    moving_close(&moving);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_one_root),
        cmocka_unit_test(test_many_memories),
        cmocka_unit_test(test_lifetime),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
