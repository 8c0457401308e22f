/* The published cases of post-process. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

/* A conv and a temporal state in one pool, group 0. */
static void add_pair(struct scene *scene, uint32_t blocks)
{
    uint32_t pool = scene_add_pool(scene, SCENE_BUFFER);

    scene_add_conv(scene, pool, REF_CONV_SD, blocks, 5, 16, 2);
    scene_add_temporal(scene, pool, blocks, 128);
}

struct table_case {
    int32_t block, computed, scheduled, draft, accepted, column;
};

static const struct table_case table_cases[] = {
    {16, 60, 5, 2, 3, 3}, {16, 30, 3, 0, 2, 1}, {16, 45, 8, 3, 4, 2},
    {16, 10, 6, 0, 2, 0}, {16, 28, 2, 0, 3, 1}, {1088, 1085, 3, 2, 3, 0},
    {8, 6, 3, 2, 2, 1},   {8, 6, 3, 2, 1, 1},   {8, 7, 3, 2, 0, 0},
    {8, 0, 1, 1, 1, 0},   {16, 15, 0, 0, 3, 0}, {8, 6, 3, 2, 3, 1},
    {8, 5, 3, 2, 3, 0},   {8, 7, 1, 0, 1, 0},   {4, 6, 12, 11, 12, 4},
};

static void test_table(void **state)
{
    struct test_device *device = *state;

    for (size_t i = 0; i < sizeof(table_cases) / sizeof(table_cases[0]); i++) {
        const struct table_case *row = &table_cases[i];
        struct scene scene;
        scene_init(&scene, __func__, "row %zu", i);
        add_pair(&scene, 20);
        scene_add_group(&scene, 16);
        scene.tokens_per_block = (uint32_t)row->block;
        scene_add_row(&scene, row->computed, row->scheduled, row->draft,
                      row->accepted, row->column);
        scene_own_blocks(&scene, 2, 16);
        scene_check(&scene, device, device->engine, SCENE_POST);
        scene_clear(&scene);
    }
}

static void test_batches(void **state)
{
    static const uint32_t batches[] = {1, 2, 8, 16, 100, 500};
    struct test_device *device = *state;

    for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            struct scene scene;
            scene_init(&scene, __func__, "%u requests, %s", batches[i],
                       in_place ? "in place" : "two arrays");
            add_pair(&scene, 1 + 4 * batches[i]);
            scene_add_group(&scene, 4);
            scene.accepted_in_place = in_place;
            for (uint32_t row = 0; row < batches[i]; row++) {
                /* bias 1 or 2, column 0 or 1, every fifth row no copy */
                scene_add_row(&scene, row % 5 == 4 ? 3 : 12 + (int)(row % 2), 4,
                              2, 3, (int32_t)(row % 3 == 0));
            }
            scene_own_blocks(&scene, 1, 4);
            scene_check(&scene, device, device->engine, SCENE_POST);
            scene_clear(&scene);
        }
    }
}

/* A 16 x 512 table, the copies near its end. */
static void test_long_table(void **state)
{
    struct test_device *device = *state;
    struct scene scene;

    scene_init(&scene, __func__, "16 x 512");
    add_pair(&scene, 100);
    scene_add_group(&scene, 512);
    scene.groups[0].row_stride = 512; /* as the published case has it */
    for (uint32_t row = 0; row < 16; row++) {
        const int32_t own[4] = {(int32_t)(4 * row + 1), (int32_t)(4 * row + 2),
                                (int32_t)(4 * row + 3), (int32_t)(4 * row + 4)};
        scene_add_row(&scene, 16 * 509 - 4 + (int)(row % 3), 4, 2, 3,
                      (int32_t)(508 + row % 2));
        for (uint32_t i = 0; i < 4; i++) {
            scene.groups[0].entries[(size_t)row * 512 + 508 + i] = own[i];
        }
    }
    scene_check(&scene, device, device->engine, SCENE_POST);
    scene_clear(&scene);
}

/* One physical block behind two columns: compared as columns, so accepted
 * stays, but shifted like memmove. */
static void test_aliased_columns(void **state)
{
    struct test_device *device = *state;

    for (int32_t bias = 0; bias <= 2; bias++) {
        struct scene scene;
        scene_init(&scene, __func__, "bias %d", bias);
        add_pair(&scene, 12);
        scene_add_group(&scene, 4);
        scene_add_crossing_rows(&scene, 2, bias);
        scene_set_entries(&scene, 0, 0, ENTRIES(5, 5, 1, 2));
        scene_set_entries(&scene, 0, 1, ENTRIES(7, 7, 7, 7));
        scene_check(&scene, device, device->engine, SCENE_POST);
        scene_clear(&scene);
    }
}

static void test_scattered_blocks(void **state)
{
    struct test_device *device = *state;
    struct scene scene;

    scene_init(&scene, __func__, "17, 3, 42, 9");
    add_pair(&scene, 64);
    scene_add_group(&scene, 4);
    scene_add_row(&scene, 29, 4, 2, 2, 2); /* column 2 to 1, bias 1 */
    scene_set_entries(&scene, 0, 0, ENTRIES(17, 3, 42, 9));
    scene_check(&scene, device, device->engine, SCENE_POST);
    scene_clear(&scene);
}

/* Conv of 256 elements, temporal of 128, in one 768-byte page. */
static void test_padded_page(void **state)
{
    struct test_device *device = *state;

    for (int kind = REF_CONV_SD; kind <= REF_CONV_DS; kind++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            struct scene scene;
            struct scene_state *added;
            uint32_t pool;
            scene_init(&scene, __func__, "kind %d, in place %d", kind,
                       in_place);
            pool = scene_add_pool(&scene, SCENE_BUFFER);
            added = scene_add_conv(&scene, pool, kind, 9, 4, 64, 2);
            added->offset = 0;
            added->block_stride = 768;
            added = scene_add_temporal(&scene, pool, 9, 128 * 2 - 1);
            added->offset = 512;
            added->block_stride = 768;
            scene_add_group(&scene, 4);
            if (in_place) {
                scene_add_in_place_rows(&scene, 2, 1);
            } else {
                scene_add_crossing_rows(&scene, 2, 1);
            }
            scene_own_blocks(&scene, 1, 4);
            scene_check(&scene, device, device->engine, SCENE_POST);
            scene_clear(&scene);
        }
    }
}

/* Aliased, copied, untouched, self-copied: accepted is 3, 3, 1, 1 afterwards,
 * whatever the reference says. */
static void test_mixed_batch(void **state)
{
    static const int32_t accepted[4] = {3, 3, 1, 1};
    struct stage *stage = test_malloc(sizeof(*stage));
    struct scene scene;

    scene_init(&scene, __func__, "accepted 3, 3, 1, 1");
    add_pair(&scene, 20);
    scene_add_group(&scene, 4);
    scene_add_row(&scene, 12, 4, 2, 3, 1); /* two columns, one block */
    scene_add_row(&scene, 12, 4, 2, 3, 1); /* copied */
    scene_add_row(&scene, 3, 4, 2, 1, 0);  /* untouched */
    scene_add_row(&scene, 12, 4, 2, 3, 0); /* shifted in place */
    scene_own_blocks(&scene, 2, 4);
    scene_set_entries(&scene, 0, 0, ENTRIES(2, 2, 3, 4));
    stage_prepare(stage, *state, &scene);
    stage_create(stage, stage->device->engine);
    stage_call(stage, SCENE_POST);
    stage_expect(stage, SCENE_POST);
    assert_true(stage_compare(stage, 0));
    assert_memory_equal(stage_actual(stage, STAGE_ACCEPTED_OUT), accepted,
                        sizeof(accepted));
    stage_close(stage);
    scene_clear(&scene);
    test_free(stage);
}

/* Two groups with 4 states and 1, tables that differ. */
static void test_two_groups(void **state)
{
    struct test_device *device = *state;

    for (int shared = 0; shared < 3; shared++) {
        struct scene scene;
        uint32_t pool;
        scene_init(&scene, __func__, "tables %d", shared);
        scene.shared_tables = shared == 1;
        scene.packed_arrays = shared == 2;
        add_pair(&scene, 24);
        pool = scene_add_pool(&scene, SCENE_BUFFER);
        scene_add_conv(&scene, pool, REF_CONV_DS, 24, 5, 8, 2);
        scene_add_temporal(&scene, pool, 24, 64);
        scene_add_conv(&scene, pool, REF_CONV_SD, 24, 6, 8, 4)->group = 1;
        scene_add_group(&scene, 4);
        scene_add_group(&scene, 3);
        scene_add_crossing_rows(&scene, 2, 1);
        scene_add_in_place_rows(&scene, 2, 2);
        scene_own_blocks(&scene, 1, 3);
        for (uint32_t row = 0; row < 4; row++) {
            int32_t first = 20 - 3 * (int32_t)row;
            scene_set_entries(&scene, 1, row,
                              ENTRIES(first, first - 1, first - 2));
        }
        scene_check(&scene, device, device->engine, SCENE_POST);
        scene_clear(&scene);
    }
}

/* Results beside the input or on top of it, for both calls. */
static void test_in_place(void **state)
{
    struct test_device *device = *state;

    for (int mask = 0; mask < 8; mask++) {
        for (int operation = SCENE_PRE; operation <= SCENE_POST; operation++) {
            struct scene scene;
            scene_init(&scene, __func__,
                       "%s, accepted %d, column %d, packed %d",
                       operation == SCENE_PRE ? "pre" : "post", mask & 1,
                       (mask >> 1) & 1, mask >> 2);
            scene_fill_mixed(&scene, (enum scene_operation)operation);
            scene.accepted_in_place = mask & 1;
            scene.column_in_place = (mask >> 1) & 1;
            scene.packed_arrays = mask >> 2;
            scene_check(&scene, device, device->engine,
                        (enum scene_operation)operation);
            scene_clear(&scene);
        }
    }
}

/* Shared prefix blocks: many rows may read what nobody writes. */
static void test_shared_sources(void **state)
{
    struct test_device *device = *state;
    struct scene scene;

    scene_init(&scene, __func__, "8 requests read block 3");
    add_pair(&scene, 20);
    scene_add_group(&scene, 4);
    scene_add_crossing_rows(&scene, 8, 0);
    for (uint32_t row = 0; row < 8; row++) {
        scene_set_entries(&scene, 0, row, ENTRIES((int32_t)(5 + row), 3, 4));
    }
    scene_check(&scene, device, device->engine, SCENE_POST);
    scene_clear(&scene);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_long_table),
        cmocka_unit_test(test_aliased_columns),
        cmocka_unit_test(test_scattered_blocks),
        cmocka_unit_test(test_padded_page),
        cmocka_unit_test(test_mixed_batch),
        cmocka_unit_test(test_two_groups),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_shared_sources),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
