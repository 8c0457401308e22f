/* Batches of every hazard class, small and random. */

#include "compare.h"
#include "moving_batch.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>
#include <string.h>

static const uint32_t variants[] = {CLMOVE_VARIANT_AUTO, CLMOVE_VARIANT_GROUP,
                                    CLMOVE_VARIANT_SPLIT,
                                    CLMOVE_VARIANT_SEGMENTS};

/* Positions in units, which are stretched to several sizes: entries of one
 * list. */
struct entry {
    unsigned src, dst, size;
};

struct hazard {
    const char *name;
    struct entry entries[6];
};

static const struct hazard hazards[] = {
    {"none", {{0, 20, 2}, {4, 24, 3}, {9, 29, 1}}},
    {"touching", {{0, 2, 2}, {10, 12, 2}}},
    {"chain", {{0, 2, 2}, {2, 4, 2}, {4, 6, 2}, {6, 8, 2}}},
    {"chain, upwards", {{8, 6, 2}, {6, 4, 2}, {4, 2, 2}, {2, 0, 2}}},
    {"cycle", {{0, 3, 3}, {3, 6, 3}, {6, 0, 3}}},
    {"swap", {{0, 5, 4}, {5, 0, 4}}},
    {"two swaps", {{0, 5, 4}, {5, 0, 4}, {20, 30, 4}, {30, 20, 4}}},
    {"fan-out", {{0, 10, 3}, {0, 20, 3}, {0, 30, 3}, {1, 40, 2}}},
    {"fan-out, endangered", {{0, 10, 3}, {0, 20, 3}, {30, 0, 3}}},
    {"left", {{3, 0, 12}, {30, 28, 9}}},
    {"right", {{0, 3, 12}, {28, 30, 9}}},
    {"left and right", {{3, 0, 12}, {28, 30, 9}}},
    {"endangered, overlaps itself left", {{3, 0, 12}, {40, 13, 2}}},
    {"endangered, overlaps itself right", {{0, 3, 12}, {40, 0, 2}}},
    {"overlapping pair", {{0, 10, 8}, {6, 2, 8}}},
    {"half a source", {{0, 10, 4}, {20, 2, 4}}},
    {"two writers of a source", {{0, 10, 8}, {20, 0, 4}, {30, 5, 3}}},
    {"neighbours", {{0, 20, 2}, {2, 22, 2}, {4, 24, 2}}},
    {"neighbours, overlapping together", {{2, 0, 2}, {4, 2, 2}, {6, 4, 2}}},
    {"onto itself", {{3, 3, 4}, {10, 20, 4}, {20, 10, 4}, {30, 30, 1}}},
    {"a dropped one's source", {{3, 3, 4}, {3, 20, 4}}},
    {"nested", {{0, 4, 12}, {6, 30, 2}, {40, 20, 3}}},
};

enum { UNITS = 50, UNIT_MAX = 700, MEMORY = UNITS * UNIT_MAX + 80 };

static size_t stretch(const struct hazard *hazard, size_t unit, size_t phase,
                      struct clmove_region *regions)
{
    size_t count = 0;

    for (; count < 6 && hazard->entries[count].size > 0; count++) {
        const struct entry *entry = &hazard->entries[count];
        regions[count] = (struct clmove_region){
            .src_offset = entry->src * unit + phase,
            .dst_offset = entry->dst * unit + phase,
            .size = entry->size * unit,
        };
    }
    return count;
}

static void check_list(struct test_device *device, struct clmove_engine *engine,
                       const struct moving_list *list, const char *test,
                       const char *detail)
{
    struct moving *seen = NULL;

    if (!runner_wants_case(detail)) {
        return;
    }
    for (size_t i = 0; i < list->place_count; i++) {
        moving_fill(list->places[i].moving, i + 1);
    }
    moving_batch_run(device, engine, list);
    for (size_t i = 0; i < list->place_count; i++) {
        if (list->places[i].moving != seen) {
            seen = list->places[i].moving;
            assert_true(moving_check(seen, test, detail));
        }
    }
}

static void check_hazards(struct test_device *device, const char *test,
                          const struct moving_shape *shape)
{
    static const size_t units[] = {1, 16, 37, 700};
    struct clmove_engine *engine = moving_engine(device, shape);
    struct moving moving;
    const struct moving_place place = {.moving = &moving};
    char detail[160];

    moving_open(&moving, device, MOVING_BUFFER, MEMORY);
    for (size_t h = 0; h < sizeof(hazards) / sizeof(hazards[0]); h++) {
        for (size_t u = 0; u < 4; u++) {
            for (size_t v = 0; v < 4; v++) {
                struct clmove_region regions[6];
                struct moving_list list = {.places = &place,
                                           .place_count = 1,
                                           .regions = regions,
                                           .variant = variants[v]};
                const size_t phase = (h + v) % 17;
                list.region_count =
                    stretch(&hazards[h], units[u], phase, regions);
                snprintf(detail, sizeof(detail),
                         "%s, unit %zu, %s, group %u, tile %u, text %d",
                         hazards[h].name, units[u],
                         clmove_variant_name(variants[v]), shape->group_size,
                         shape->tile_size, shape->gpu_text);
                check_list(device, engine, &list, test, detail);
            }
        }
    }
    moving_close(&moving);
    clmove_engine_destroy(&engine);
}

static void test_hazards(void **state)
{
    static const struct moving_shape shapes[] = {{0, 0, 0, 0},
                                                 {0, 0, 64, 0},
                                                 {0, 3, 64, 1},
                                                 {64, 0, 64, 1},
                                                 {3, 1, 16, 1}};

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        check_hazards(*state, __func__, &shapes[i]);
    }
}

/* The order of a list does not matter. */
static void test_reversed(void **state)
{
    struct test_device *device = *state;
    struct moving moving;
    const struct moving_place place = {.moving = &moving};

    moving_open(&moving, device, MOVING_BUFFER, MEMORY);
    for (size_t h = 0; h < sizeof(hazards) / sizeof(hazards[0]); h++) {
        struct clmove_region regions[6], reversed[6];
        const size_t count = stretch(&hazards[h], 33, 5, regions);
        const struct moving_list list = {.places = &place,
                                         .place_count = 1,
                                         .regions = reversed,
                                         .region_count = count};
        for (size_t i = 0; i < count; i++) {
            reversed[i] = regions[count - 1 - i];
        }
        check_list(device, device->engine, &list, __func__, hazards[h].name);
    }
    moving_close(&moving);
}

/* What is said of a list: classes, moves, launches. */
static void test_descriptions(void **state)
{
    static const struct {
        size_t hazard;
        uint32_t classes[4];
        uint64_t merged, endangered, overlapping, dropped;
    } cases[] = {
        {0, {1, 1, 1, 0}, 3, 0, 0, 0},  {4, {4, 4, 4, 0}, 2, 2, 0, 0},
        {9, {2, 2, 0, 0}, 2, 0, 2, 0},  {10, {3, 3, 0, 0}, 2, 0, 2, 0},
        {12, {4, 1, 0, 0}, 2, 1, 0, 0}, {17, {1, 1, 1, 0}, 1, 0, 0, 0},
        {18, {2, 2, 2, 0}, 1, 0, 1, 0}, {19, {0, 4, 4, 0}, 2, 2, 0, 2},
    };
    struct test_device *device = *state;
    struct moving moving;
    const struct moving_place place = {.moving = &moving};

    moving_open(&moving, device, MOVING_BUFFER, MEMORY);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct clmove_region regions[6];
        const struct moving_list list = {
            .places = &place,
            .place_count = 1,
            .regions = regions,
            .region_count = stretch(&hazards[cases[i].hazard], 16, 0, regions)};
        struct clmove_batch *batch =
            moving_batch_create(device, device->engine, &list);
        struct clmove_batch_info info;
        uint64_t size = 0;
        assert_int_equal(clmove_batch_describe(batch, &info), CLMOVE_SUCCESS);
        assert_int_equal(info.region_count, list.region_count);
        assert_int_equal(info.entry_count, list.region_count);
        assert_int_equal(info.merged_count, cases[i].merged);
        assert_int_equal(info.endangered_count, cases[i].endangered);
        assert_int_equal(info.overlapping_count, cases[i].overlapping);
        assert_int_equal(info.dropped_count, cases[i].dropped);
        assert_int_equal(info.slice_count, 1);
        assert_true(info.launch_count >= 1 && info.launch_count <= 2);
        assert_int_equal(info.scratch_size > 0, info.endangered_count > 0);
        for (uint64_t entry = 0; entry < list.region_count; entry++) {
            struct clmove_entry_info described;
            assert_int_equal(
                clmove_batch_describe_entry(batch, entry, 0, &described),
                CLMOVE_SUCCESS);
            if (entry < 4) {
                assert_int_equal(described.entry_class,
                                 cases[i].classes[entry]);
            }
            size += described.entry_class ? regions[entry].size : 0;
        }
        assert_int_equal(info.moved_size, size);
        clmove_batch_destroy(&batch);
    }
    moving_close(&moving);
}

/* Rectangles: apart, sheared, onto their own rows, by rows, by columns. */
static void test_rectangles(void **state)
{
    static const struct clmove_region rectangles[] = {
        {
            0,
            0,
            3,
            8003,
            40,
            20,
            64,
            64,
        },
        {0, 0, 0, 8000, 16, 30, 16, 100},
        {0, 0, 5, 8001, 16, 30, 100, 16},
        {0, 0, 64, 0, 64, 20, 64, 64},    /* rows up by one: one long move */
        {0, 0, 0, 64, 64, 20, 64, 64},    /* down by one */
        {0, 0, 100, 0, 64, 20, 100, 100}, /* with gaps */
        {0, 0, 0, 300, 64, 20, 100, 100}, /* down by three */
        {0, 0, 7, 0, 50, 20, 64, 64},     /* within each row, left */
        {0, 0, 0, 7, 50, 20, 64, 64},     /* right */
        {0, 0, 0, 13, 31, 17, 70, 90},    /* strides differ: both */
        {0, 0, 0, 0, 31, 17, 64, 64},     /* onto itself */
        {0, 0, 9, 4000, 33, 9, 0, 33},    /* one source row, repeated */
        {0, 0, 2000, 40, 1, 200, 3, 7},   /* columns of bytes */
        {0, 0, 0, 1000, 900, 2, 3000, 2000},
    };
    static const struct moving_shape shapes[] = {{0, 0, 64, 0}, {64, 0, 64, 1}};
    struct test_device *device = *state;
    struct moving moving;
    const struct moving_place place = {.moving = &moving};

    moving_open(&moving, device, MOVING_BUFFER, 12007);
    for (size_t s = 0; s < 2; s++) {
        struct clmove_engine *engine = moving_engine(device, &shapes[s]);
        for (size_t i = 0; i < sizeof(rectangles) / sizeof(rectangles[0]);
             i++) {
            for (size_t v = 0; v < 4; v++) {
                const struct moving_list list = {.places = &place,
                                                 .place_count = 1,
                                                 .regions = &rectangles[i],
                                                 .region_count = 1,
                                                 .variant = variants[v]};
                char detail[64];
                snprintf(detail, sizeof(detail), "rectangle %zu, %s, shape %zu",
                         i, clmove_variant_name(variants[v]), s);
                check_list(device, engine, &list, __func__, detail);
            }
        }
        clmove_engine_destroy(&engine);
    }
    moving_close(&moving);
}

/* Destinations cut the memory into pieces; sources are anywhere. */
static size_t make_random(uint64_t *random, size_t memory, size_t largest,
                          struct clmove_region *regions, size_t limit)
{
    size_t at = random_below(random, 16);
    size_t count = 0;

    while (count < limit) {
        const size_t size = 1 + random_below(random, (uint32_t)largest);
        const size_t gap =
            random_below(random, 3) ? 0 : random_below(random, 40);
        if (at + gap + size > memory) {
            break;
        }
        at += gap;
        regions[count] = (struct clmove_region){.dst_offset = at, .size = size};
        switch (random_below(random, 4)) {
        case 0: /* near: overlaps itself */
            regions[count].src_offset = at > 20 && at + 20 + size <= memory
                                            ? at - 20 + random_below(random, 41)
                                            : 0;
            break;
        case 1: /* follows its neighbour */
            regions[count].src_offset =
                count > 0
                    ? regions[count - 1].src_offset + regions[count - 1].size
                    : 0;
            if (regions[count].src_offset + size <= memory) {
                break;
            }
            /* fall through */
        default:
            regions[count].src_offset =
                random_below(random, (uint32_t)(memory - size + 1));
        }
        at += size;
        count++;
    }
    for (size_t i = count; i > 1; i--) { /* in any order */
        const size_t other = random_below(random, (uint32_t)i);
        const struct clmove_region swap = regions[i - 1];
        regions[i - 1] = regions[other];
        regions[other] = swap;
    }
    return count;
}

static void test_random(void **state)
{
    enum { LIMIT = 64, RANDOM_MEMORY = 6001 };
    static const struct moving_shape shapes[] = {
        {0, 0, 64, 0}, {0, 2, 64, 1}, {64, 0, 64, 1}};
    struct test_device *device = *state;
    struct moving moving;
    const struct moving_place place = {.moving = &moving};
    char detail[64];

    moving_open(&moving, device, MOVING_BUFFER, RANDOM_MEMORY);
    for (size_t s = 0; s < 3; s++) {
        struct clmove_engine *engine = moving_engine(device, &shapes[s]);
        for (uint64_t seed = 0; seed < 250; seed++) {
            uint64_t random = seed;
            struct clmove_region regions[LIMIT];
            struct moving_list list = {.places = &place,
                                       .place_count = 1,
                                       .regions = regions,
                                       .variant = variants[seed % 4]};
            list.region_count = make_random(
                &random, RANDOM_MEMORY, seed % 2 ? 60 : 1500, regions, LIMIT);
            snprintf(detail, sizeof(detail), "seed %llu, shape %zu",
                     (unsigned long long)seed, s);
            check_list(device, engine, &list, __func__, detail);
        }
        clmove_engine_destroy(&engine);
    }
    moving_close(&moving);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hazards),      cmocka_unit_test(test_reversed),
        cmocka_unit_test(test_descriptions), cmocka_unit_test(test_rectangles),
        cmocka_unit_test(test_random),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
