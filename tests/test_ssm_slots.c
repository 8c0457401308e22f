/* Rows that name slots, and the inputs that go with them. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

#include <string.h>

static const char *const operation_names[] = {"pre", "post", "pre-copy",
                                              "indices"};

/* The mixed scene in V2's order: every outcome of semantics.md, both kinds of
 * tables, results in place and beside their inputs. */
static void test_mixed(void **state)
{
    struct test_device *device = *state;

    for (int op = SCENE_PRE; op <= SCENE_POST; op++) {
        for (uint32_t mask = 0; mask < 16; mask++) {
            struct scene scene;
            scene_init(&scene, __func__, "%s, mask %u", operation_names[op],
                       mask);
            scene_fill_mixed(&scene, (enum scene_operation)op);
            scene_use_v2(&scene, (enum scene_operation)op, mask);
            scene.accepted_in_place = scene.column_in_place = (mask >> 1) & 1;
            scene.packed_arrays = (mask >> 2) & 1;
            scene.extra_slots = mask >> 3 ? 0 : 20;
            scene_shuffle_slots(&scene, mask + 77);
            scene_check(&scene, device, device->engine,
                        (enum scene_operation)op);
            scene_clear(&scene);
        }
    }
}

/* Each input alone: slots with scheduled, starts without slots, N beside
 * counters that must not be looked at. */
static void test_inputs(void **state)
{
    struct test_device *device = *state;

    for (uint32_t mask = 0; mask < 16; mask++) {
        for (int op = SCENE_PRE; op <= SCENE_POST; op++) {
            struct scene scene;
            if (op == SCENE_PRE && (mask & 8)) {
                continue; /* N is post-process's */
            }
            scene_init(&scene, __func__, "%s, mask %u", operation_names[op],
                       mask);
            scene_fill_mixed(&scene, (enum scene_operation)op);
            if (mask & 1) {
                scene_shuffle_slots(&scene, mask);
            }
            scene.uses_starts = (mask >> 1) & 1;
            scene.tables_by_slot = (mask >> 2) & 1;
            scene.now = mask & 8 ? SCENE_NOW_BESIDE : SCENE_NOW_ABSENT;
            scene_check(&scene, device, device->engine,
                        (enum scene_operation)op);
            scene_clear(&scene);
        }
    }
}

/* One conv and one temporal state, 4 columns a row. */
static void add_small_states(struct scene *scene, uint32_t rows)
{
    uint32_t pool = scene_add_pool(scene, SCENE_BUFFER);

    scene_add_conv(scene, pool, REF_CONV_SD, 1 + 4 * rows, 5, 4, 2);
    scene_add_conv(scene, pool, REF_CONV_DS, 1 + 4 * rows, 5, 4, 2);
    scene_add_temporal(scene, pool, 1 + 4 * rows, 24);
    scene_add_group(scene, 4);
}

/* The published pre-copy cases: SD and DS, requests, bias, slot map on, off. */
static void test_pre_copy(void **state)
{
    static const uint32_t requests[] = {1, 4, 16};
    struct test_device *device = *state;

    for (int count = 0; count < 3; count++) {
        for (int32_t bias = 0; bias <= 2; bias++) {
            for (int map = 0; map < 3; map++) {
                struct scene scene;
                scene_init(&scene, __func__, "%u requests, bias %d, map %d",
                           requests[count], bias, map);
                add_small_states(&scene, requests[count]);
                for (uint32_t i = 0; i < requests[count]; i++) {
                    scene_add_row(&scene, -1, -1, -1, -1, -1);
                    scene_set_copy(&scene, i, (int32_t)(i % 2), i % 2 ? 0 : 2,
                                   i % 5 == 4 ? 0 : bias);
                }
                scene_own_blocks(&scene, 1, 4);
                if (map) {
                    scene_shuffle_slots(&scene, (uint64_t)bias);
                    scene.tables_by_slot = map == 2;
                }
                scene_check(&scene, device, device->engine, SCENE_PRE_COPY);
                scene_clear(&scene);
            }
        }
    }
}

/* Pre-copy's rows that do nothing, or too much: source -1 or equal to the
 * destination (whatever the bias), windows shifted out, one block behind two
 * columns, a negative bias, columns out of the table. */
static void test_pre_copy_corners(void **state)
{
    static const int32_t copies[][3] = {
        {-1, 2, -5},       {1, 1, -5},        {2, 2, INT32_MIN},
        {0, 2, 5},         {0, 3, 1},         {1, 0, -1},
        {1, 0, INT32_MIN}, {-2, 1, 0},        {0, 4, 0},
        {0, -1, 0},        {3, 0, 1},         {2, 0, INT32_MAX},
        {INT32_MAX, 0, 1}, {INT32_MIN, 0, 3}, {1, INT32_MIN, 2}};
    enum { COUNT = sizeof(copies) / sizeof(copies[0]) };
    struct test_device *device = *state;

    for (int map = 0; map < 3; map++) {
        struct scene scene;
        scene_init(&scene, __func__, "map %d", map);
        add_small_states(&scene, COUNT);
        for (uint32_t i = 0; i < COUNT; i++) {
            scene_add_row(&scene, 16, 4, 2, 3, 0);
            scene_set_copy(&scene, i, copies[i][0], copies[i][1], copies[i][2]);
        }
        scene_own_blocks(&scene, 1, 4);
        scene_set_entries(&scene, 0, 4, ENTRIES(17, 18, 19, 17));
        if (map) {
            scene_shuffle_slots(&scene, 5);
            scene.tables_by_slot = map == 2;
        }
        scene_check(&scene, device, device->engine, SCENE_PRE_COPY);
        scene_clear(&scene);
    }
}

/* -1 rows, in every call; what they would have named is garbage. */
static void test_padding_rows(void **state)
{
    struct test_device *device = *state;

    for (int op = SCENE_PRE; op <= SCENE_INDICES; op++) {
        for (int all = 0; all < 2; all++) {
            struct scene scene;
            scene_init(&scene, __func__, "%s, all %d", operation_names[op],
                       all);
            add_small_states(&scene, 9);
            for (uint32_t i = 0; i < 9; i++) {
                scene_add_row(&scene, op == SCENE_POST ? 12 : 16, 4, 2, 3,
                              op == SCENE_POST);
                scene_set_copy(&scene, i, 0, 1, 1);
            }
            scene_own_blocks(&scene, 1, 4);
            scene_shuffle_slots(&scene, 9);
            for (uint32_t i = 0; i < 9; i++) {
                if (all || i % 3 != 1) {
                    scene.rows[i].draft = -4;
                    scene_set_slot(&scene, i, -1);
                }
            }
            scene.slots_per_row = 2;
            scene.tables_by_slot = all;
            scene_check(&scene, device, device->engine,
                        (enum scene_operation)op);
            scene_clear(&scene);
        }
    }
}

/* Flags: accepted stays, temporal states stay (their blocks may be wrong). */
static void test_flags(void **state)
{
    struct test_device *device = *state;

    for (int op = SCENE_PRE; op <= SCENE_PRE_COPY; op++) {
        for (int mask = 0; mask < 8; mask++) {
            struct scene scene;
            scene_init(&scene, __func__, "%s, mask %d", operation_names[op],
                       mask);
            add_small_states(&scene, 6);
            for (uint32_t i = 0; i < 6; i++) {
                scene_add_row(&scene, op == SCENE_POST ? 12 : 16, 4, 2, 3,
                              op == SCENE_POST && i % 2);
                scene_set_copy(&scene, i, 0, 1, 2);
            }
            scene_own_blocks(&scene, 1, 4);
            /* the temporal source of rows 1 and 2: past the pool, absent */
            scene_set_entries(&scene, 0, 1, ENTRIES(5, 6, 999, 999));
            scene_set_entries(&scene, 0, 2, ENTRIES(9, 10, -1, -1));
            scene.keep_accepted = mask & 1;
            scene.skip_temporal = (mask >> 1) & 1;
            scene.accepted_in_place = mask >> 2;
            scene_check(&scene, device, device->engine,
                        (enum scene_operation)op);
            scene_clear(&scene);
        }
    }
}

/* Nothing but temporal states, and another owner for them: numbers alone. */
static void test_skip_all_states(void **state)
{
    struct test_device *device = *state;

    for (int op = SCENE_PRE; op <= SCENE_POST; op++) {
        struct scene scene;
        uint32_t pool;
        scene_init(&scene, __func__, "%s", operation_names[op]);
        pool = scene_add_pool(&scene, SCENE_BUFFER);
        scene_add_temporal(&scene, pool, 9, 33);
        scene_add_group(&scene, 4);
        scene_add_row(&scene, op == SCENE_POST ? 12 : 16, 4, 2, 3, 0);
        scene_add_row(&scene, 16, 4, 2, 3, 77);
        scene.skip_temporal = 1;
        scene_check(&scene, device, device->engine, (enum scene_operation)op);
        scene_clear(&scene);
    }
}

static void add_many_rows(struct scene *scene, uint32_t rows,
                          enum scene_operation op)
{
    add_small_states(scene, rows);
    for (uint32_t i = 0; i < rows; i++) {
        if (op == SCENE_POST) {
            scene_add_row(scene, 14 - (int)(i % 3), 4, 2, (int)(i % 3) + 1,
                          (int32_t)(i % 4 == 1));
        } else {
            scene_add_row(scene, 15 + (int)(i % 4), 3, 2, (int)(i % 3) + 1,
                          (int)(i % 4) - 1);
        }
    }
    scene_own_blocks(scene, 1, 4);
}

/* Slots far beyond what is looked at together, few rows: two rows name slot
 * 8191, two name 8192, two the last one; the others are healthy. */
static void test_many_slots(void **state)
{
    static const int32_t slots[] = {0,     8191,  8192, 16383, 16384, 8191,
                                    19999, 20000, 31,   8192,  19999, -1,
                                    -2,    8190,  8193, 32};
    enum { COUNT = sizeof(slots) / sizeof(slots[0]) };
    struct test_device *device = *state;

    for (int op = SCENE_PRE; op <= SCENE_PRE_COPY; op++) {
        for (int by_slot = 0; by_slot < 2; by_slot++) {
            struct scene scene;
            scene_init(&scene, __func__, "%s, by slot %d", operation_names[op],
                       by_slot);
            add_many_rows(&scene, COUNT, (enum scene_operation)op);
            scene.extra_slots = 20000 - COUNT;
            for (uint32_t i = 0; i < COUNT; i++) {
                scene_set_slot(&scene, i, slots[i]);
                scene_set_copy(&scene, i, 0, 1, 1);
            }
            scene.tables_by_slot = by_slot;
            scene_check(&scene, device, device->engine,
                        (enum scene_operation)op);
            scene_clear(&scene);
        }
    }
}

/* More rows than are decided at once, with slots out of order; rows that name
 * one slot lie slices apart. */
static void test_many_rows(void **state)
{
    static const uint32_t counts[] = {1024, 1025, 2500};
    struct test_device *device = *state;

    for (int i = 0; i < 3; i++) {
        for (int op = SCENE_PRE; op <= SCENE_POST; op++) {
            struct scene *scene = test_malloc(sizeof(*scene));
            scene_init(scene, __func__, "%s, %u rows", operation_names[op],
                       counts[i]);
            scene->extra_slots = 7000;
            add_many_rows(scene, counts[i], (enum scene_operation)op);
            scene_use_v2(scene, (enum scene_operation)op, (uint64_t)i);
            scene_set_slot(scene, counts[i] - 1, scene->extras[0].slot);
            scene_set_slot(scene, 600, scene->extras[counts[i] / 2].slot);
            scene_set_slot(scene, 601, -1);
            scene_set_slot(scene, 1023, 100000);
            scene_check(scene, device, device->engine,
                        (enum scene_operation)op);
            scene_clear(scene);
            test_free(scene);
        }
    }
}

/* Sums of starts that wrap 32 bits: their differences are taken in 64. */
static void test_wide_starts(void **state)
{
    static const int32_t starts[] = {INT32_MIN, INT32_MAX, INT32_MIN, -3, 0,
                                     4,         4,         2,         5};
    struct test_device *device = *state;

    for (int op = SCENE_PRE; op <= SCENE_INDICES; op++) {
        struct scene scene;
        if (op == SCENE_PRE_COPY) {
            continue;
        }
        scene_init(&scene, __func__, "%s", operation_names[op]);
        add_small_states(&scene, 8);
        for (uint32_t i = 0; i < 8; i++) {
            scene_add_row(&scene, 14, 0, i == 5 ? 5 : 1, 2, 0);
        }
        scene_own_blocks(&scene, 1, 4);
        scene.uses_starts = 1;
        scene.starts = starts;
        scene.slots_per_row = 3;
        scene_check(&scene, device, device->engine, (enum scene_operation)op);
        scene_clear(&scene);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_pre_copy),
        cmocka_unit_test(test_pre_copy_corners),
        cmocka_unit_test(test_padding_rows),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_skip_all_states),
        cmocka_unit_test(test_many_slots),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_wide_starts),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
