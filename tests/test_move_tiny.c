/* Small moves and batches of every kind, for a race detector to watch. */

#include "compare.h"
#include "moving_batch.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>
#include <string.h>

/* Stands in for OpenCL's own, for the library too: buffers live until the
 * process ends. Oclgrind 21.10 gives a freed buffer's number to the next one,
 * and keeps what it knew of which bytes are initialised: those past the old
 * one's end are then reported for ever, written or not. */
cl_int CL_API_CALL clReleaseMemObject(cl_mem buffer)
{
    (void)buffer;
    return CL_SUCCESS;
}

/* Tiles of 64 bytes and groups of few items: spans, segments and several rounds
 * of a group even in moves that a simulator does at once. Memories begin and
 * end where the move does, at odd sizes. */
static const struct moving_shape shapes[] = {{8, 0, 64, 0}, {16, 0, 64, 0}};

static void check_shift(struct clmove_engine *engine,
                        struct test_device *device, uint32_t variant,
                        size_t size, size_t shift, size_t lead)
{
    for (int left = 0; left < 2; left++) {
        struct moving moving;
        const struct moving_move move = {&moving,
                                         &moving,
                                         left ? lead + shift : lead,
                                         left ? lead : lead + shift,
                                         size,
                                         variant};
        char detail[96];
        snprintf(detail, sizeof(detail), "%s, size %zu, shift %zu, lead %zu",
                 clmove_variant_name(variant), size, shift, lead);
        if (!runner_wants_case(detail)) {
            continue;
        }
        moving_open(&moving, device, MOVING_BUFFER, lead + shift + size);
        moving_fill(&moving, size);
        moving_move(engine, &move);
        assert_true(moving_check(&moving, "test_tiny", detail));
        moving_close(&moving);
    }
}

static void check_variant(struct test_device *device, uint32_t variant)
{
    static const size_t sizes[] = {1, 2, 15, 17, 33, 65, 130, 331, 601};
    static const size_t shifts[] = {1, 5, 16, 37, 64, 299};

    for (size_t s = 0; s < 2; s++) {
        struct clmove_engine *engine = moving_engine(device, &shapes[s]);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            for (size_t j = 0; j < sizeof(shifts) / sizeof(shifts[0]); j++) {
                if (shifts[j] < sizes[i]) {
                    check_shift(engine, device, variant, sizes[i], shifts[j],
                                (i * 5 + j) % 16);
                }
            }
        }
        clmove_engine_destroy(&engine);
    }
}

static void test_group(void **state)
{
    check_variant(*state, CLMOVE_VARIANT_GROUP);
}

static void test_split(void **state)
{
    check_variant(*state, CLMOVE_VARIANT_SPLIT);
}

static void test_segments(void **state)
{
    check_variant(*state, CLMOVE_VARIANT_SEGMENTS);
}

/* Between two memories, and apart in one; by all variants. */
static void test_apart(void **state)
{
    static const size_t sizes[] = {0, 1, 16, 31, 47, 64, 65, 130, 207};
    struct test_device *device = *state;

    for (size_t s = 0; s < 2; s++) {
        struct clmove_engine *engine = moving_engine(device, &shapes[s]);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            for (uint32_t v = 0; v <= CLMOVE_VARIANT_SEGMENTS; v++) {
                const size_t from = (i * 7 + v) % 16, to = (i * 3) % 16;
                struct moving one, other;
                moving_open(&one, device, MOVING_BUFFER, from + sizes[i] + 1);
                moving_open(&other, device, MOVING_BUFFER, to + sizes[i] + 1);
                moving_fill(&one, i);
                moving_fill(&other, i + 1);
                moving_move(engine,
                            &(struct moving_move){&one, &other, from + 1,
                                                  to + 1, sizes[i], v});
                assert_true(
                    moving_check(&other, __func__, clmove_variant_name(v)));
                moving_close(&one);
                moving_close(&other);
            }
        }
        clmove_engine_destroy(&engine);
    }
}

/* Lists of up to 5 entries, in units. */
struct entry {
    unsigned src, dst, size;
};

static const struct entry hazards[][5] = {
    {{0, 20, 2}, {4, 24, 3}, {9, 30, 1}},            /* none */
    {{0, 2, 2}, {2, 4, 2}, {4, 6, 1}},               /* chain */
    {{0, 3, 3}, {3, 6, 3}, {6, 0, 3}},               /* cycle */
    {{0, 5, 4}, {5, 0, 4}},                          /* swap */
    {{0, 10, 3}, {0, 20, 3}, {30, 0, 3}},            /* fan-out, endangered */
    {{3, 0, 12}, {28, 30, 3}},                       /* left and right */
    {{0, 3, 12}, {30, 0, 2}},                        /* both at once */
    {{0, 10, 8}, {20, 0, 4}, {26, 5, 3}, {6, 30, 2}} /* two writers */
};

static void check_list(struct test_device *device, struct clmove_engine *engine,
                       size_t hazard, size_t unit, uint32_t variant)
{
    struct clmove_region regions[5];
    struct moving moving;
    const struct moving_place place = {.moving = &moving};
    struct moving_list list = {.places = &place,
                               .place_count = 1,
                               .regions = regions,
                               .variant = variant};
    size_t end = 0;
    char detail[64];

    for (size_t i = 0; i < 5 && hazards[hazard][i].size > 0; i++) {
        const struct entry *entry = &hazards[hazard][i];
        const unsigned high = entry->src > entry->dst ? entry->src : entry->dst;
        regions[list.region_count++] =
            (struct clmove_region){.src_offset = entry->src * unit,
                                   .dst_offset = entry->dst * unit,
                                   .size = entry->size * unit};
        end = end > (high + entry->size) * unit ? end
                                                : (high + entry->size) * unit;
    }
    snprintf(detail, sizeof(detail), "hazard %zu, unit %zu, %s", hazard, unit,
             clmove_variant_name(variant));
    if (!runner_wants_case(detail)) {
        return;
    }
    moving_open(&moving, device, MOVING_BUFFER, end);
    moving_fill(&moving, hazard);
    moving_batch_run(device, engine, &list);
    assert_true(moving_check(&moving, "test_batches", detail));
    moving_close(&moving);
}

static void test_batches(void **state)
{
    static const size_t units[] = {1, 7, 29};
    static const uint32_t variants[] = {
        CLMOVE_VARIANT_AUTO, CLMOVE_VARIANT_GROUP, CLMOVE_VARIANT_SPLIT,
        CLMOVE_VARIANT_SEGMENTS};
    struct test_device *device = *state;
    struct clmove_engine *engine = moving_engine(device, &shapes[0]);

    for (size_t h = 0; h < sizeof(hazards) / sizeof(hazards[0]); h++) {
        for (size_t u = 0; u < 3; u++) {
            for (size_t v = 0; v < (u == 2 ? 4 : 1); v++) {
                check_list(device, engine, h, units[u], variants[v]);
            }
        }
    }
    clmove_engine_destroy(&engine);
}

/* A permutation of small slots, whole and in slices; rectangles; more than two
 * memories. */
static void test_more_batches(void **state)
{
    enum { SLOTS = 13, SLOT = 37 };
    struct test_device *device = *state;
    struct clmove_engine *engine = moving_engine(device, &shapes[1]);
    struct clmove_region regions[SLOTS];
    struct moving movings[3];
    struct moving_place places[3];
    struct moving_list list = {
        .places = places, .place_count = 1, .regions = regions};

    for (int i = 0; i < 3; i++) {
        moving_open(&movings[i], device, MOVING_BUFFER, SLOTS * SLOT);
        places[i] = (struct moving_place){.moving = &movings[i]};
        moving_fill(&movings[i], (uint64_t)i);
    }
    for (size_t i = 0; i < SLOTS; i++) {
        regions[i] =
            (struct clmove_region){.src_offset = i * SLOT,
                                   .dst_offset = (i * 5 + 2) % SLOTS * SLOT,
                                   .size = SLOT};
    }
    list.region_count = SLOTS;
    moving_batch_run(device, engine, &list);
    list.scratch_limit = SLOTS * 16;
    moving_batch_run(device, engine, &list);
    list.scratch_limit = 0;
    list.place_count = 3;
    list.region_count = 4;
    regions[0] = (struct clmove_region){0, 1, 3, 5, 20, 4, 30, 41};
    regions[1] = (struct clmove_region){1, 2, 5, 9, 20, 4, 41, 25};
    regions[2] = (struct clmove_region){2, 0, 9, 3, 20, 4, 25, 30};
    regions[3] = (struct clmove_region){2, 2, 200, 230, 40, 5, 30, 40};
    moving_batch_run(device, engine, &list);
    for (int i = 0; i < 3; i++) {
        assert_true(moving_check(&movings[i], __func__, "three memories"));
        moving_close(&movings[i]);
    }
    clmove_engine_destroy(&engine);
}

/* Lists in device memory: skipped entries, both directions, one that several
 * groups could share; faults; slices, of which one has nothing to do. */
static void test_device_batch(void **state)
{
    enum { ENTRIES = 9, COUNT = 600, BASE = 3001 };
    static const int64_t entries[3][ENTRIES] = {
        {0, 250, 400, -1, 600, 2990, 700, 1000, 1500}, /* sources */
        {33, 201, 400, 5, -1, 650, 2999, 1016, 1483},  /* destinations */
        {100, 97, 80, 4, 4, 12, 3, 333, 333},          /* sizes */
    };
    struct test_device *device = *state;
    struct moving moving, lists[3], faults;
    int64_t numbers[3][COUNT];

    for (int list = 0; list < 3; list++) {
        memset(numbers[list], -1, sizeof(numbers[list]));
        for (int i = 0; i < ENTRIES; i++) {
            numbers[list][i < 5 ? i : COUNT - i] = entries[list][i];
        }
    }
    for (size_t s = 0; s < 2; s++) {
        struct clmove_engine *engine = moving_engine(device, &shapes[s]);
        struct clmove_device_batch params = {.count = COUNT};
        moving_open(&moving, device, MOVING_BUFFER, BASE);
        moving_open(&faults, device, MOVING_BUFFER, COUNT * 4);
        moving_fill(&moving, 1);
        moving_fill(&faults, 2);
        for (int i = 0; i < 3; i++) {
            moving_open(&lists[i], device, MOVING_BUFFER, COUNT * 8);
            moving_load(&lists[i], numbers[i]);
        }
        params.src_base = params.dst_base = moving_memory(&moving, 0);
        params.src_offsets = moving_memory(&lists[0], 0);
        params.dst_offsets = moving_memory(&lists[1], 0);
        params.sizes = moving_memory(&lists[2], 0);
        params.faults = moving_memory(&faults, 0);
        moving_status(device,
                      clmove_enqueue_batch_device(engine, &params,
                                                  device->queue, 0, NULL, NULL),
                      CLMOVE_SUCCESS);
        assert_true(ref_batch_device(&(struct ref_device_batch){
            .src_base = moving.expected,
            .dst_base = moving.expected,
            .src_size = BASE,
            .dst_size = BASE,
            .src_offsets = numbers[0],
            .dst_offsets = numbers[1],
            .sizes = numbers[2],
            .faults = (int32_t *)(void *)faults.expected,
            .count = COUNT}));
        assert_true(moving_check(&moving, __func__, "entries"));
        assert_true(moving_check(&faults, __func__, "faults"));
        for (int i = 0; i < 3; i++) {
            moving_close(&lists[i]);
        }
        moving_close(&moving);
        moving_close(&faults);
        clmove_engine_destroy(&engine);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_more_batches),
        cmocka_unit_test(test_device_batch),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
