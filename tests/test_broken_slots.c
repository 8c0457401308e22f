/* Kernels broken on purpose where slots and lists go, caught by their data. */

#include "edit.h"
#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

static struct clmove_engine *broken_engine(struct test_device *device,
                                           const struct text_edit *edits,
                                           size_t edit_count)
{
    struct edited_folder folder;
    struct clmove_engine *engine;

    edited_folder_open(&folder, TEST_KERNEL_PATH, edits, edit_count);
    engine = device_engine(device, 0, 0, folder.path);
    edited_folder_close(&folder);
    return engine;
}

/* 6 rows that all copy; slots in another order. */
static void add_rows(struct scene *scene, const char *test,
                     enum scene_operation operation, int by_slot)
{
    uint32_t pool;

    scene_init(scene, test, "operation %d, by slot %d", operation, by_slot);
    pool = scene_add_pool(scene, SCENE_BUFFER);
    scene_add_conv(scene, pool, REF_CONV_SD, 25, 5, 4, 2);
    scene_add_temporal(scene, pool, 25, 40);
    scene_add_group(scene, 4);
    for (uint32_t i = 0; i < 6; i++) {
        scene_add_row(scene, operation == SCENE_POST ? 12 : 16, 4, 2,
                      1 + (int)(i % 3), operation == SCENE_POST && i % 2);
        scene->rows[i].computed +=
            operation == SCENE_POST ? 2 - (int)(i % 3) : 0;
    }
    scene_own_blocks(scene, 1, 4);
    scene_shuffle_slots(scene, 31);
    scene->tables_by_slot = by_slot;
}

static void expect_caught(struct scene *scene, struct test_device *device,
                          struct clmove_engine *broken,
                          enum scene_operation operation)
{
    assert_true(scene_is_right(scene, device, device->engine, operation));
    assert_false(scene_is_right(scene, device, broken, operation));
    scene_clear(scene);
}

static void test_slot_used_as_row(void **state)
{
    static const struct text_edit edit = {
        "ssm_decide.cl",
        "(int)((step->mode & MODE_TABLES_BY_SLOT) != 0 ? slot : row);",
        "(int)slot;", 1};
    struct test_device *device = *state;
    struct clmove_engine *engine = broken_engine(device, &edit, 1);

    for (int op = SCENE_PRE; op <= SCENE_POST; op++) {
        struct scene scene;
        /* as many slots as rows: the broken text stays in the table */
        add_rows(&scene, __func__, (enum scene_operation)op, 0);
        scene.extra_slots = 0;
        scene_shuffle_slots(&scene, 31);
        expect_caught(&scene, device, engine, (enum scene_operation)op);
    }
    clmove_engine_destroy(&engine);
}

static void test_row_used_as_slot(void **state)
{
    static const struct text_edit edits[] = {
        {"ssm_decide.cl", "const uint slot = (uint)named;\n    inputs->slot",
         "const uint slot = row;\n    inputs->slot", 1}};
    struct test_device *device = *state;
    struct clmove_engine *engine = broken_engine(device, edits, 1);

    for (int op = SCENE_PRE; op <= SCENE_POST; op++) {
        struct scene scene;
        add_rows(&scene, __func__, (enum scene_operation)op, 0);
        expect_caught(&scene, device, engine, (enum scene_operation)op);
    }
    clmove_engine_destroy(&engine);
}

static void test_duplicates_unchecked(void **state)
{
    static const struct text_edit edit = {
        "ssm_decide.cl", "if (has_bit(slots->twice, slot - slots->first)) {",
        "if (0) {", 1};
    struct test_device *device = *state;
    struct clmove_engine *engine = broken_engine(device, &edit, 1);

    for (int op = SCENE_PRE; op <= SCENE_POST; op++) {
        struct scene scene;
        add_rows(&scene, __func__, (enum scene_operation)op, 0);
        scene_set_slot(&scene, 4, scene.extras[1].slot);
        expect_caught(&scene, device, engine, (enum scene_operation)op);
    }
    clmove_engine_destroy(&engine);
}

/* The temporal source, column 3, is no block. A window that bias 2 shifts out
 * has fewer blocks than the table names, so that each state is looked at. */
static void test_temporal_not_skipped(void **state)
{
    static const struct text_edit edit = {
        "ssm_decide.cl", "(step->mode & MODE_SKIPS_TEMPORAL) != 0", "0", 1};
    struct test_device *device = *state;
    struct clmove_engine *engine = broken_engine(device, &edit, 1);

    for (int by_slot = 0; by_slot < 2; by_slot++) {
        struct scene scene;
        uint32_t pool;
        scene_init(&scene, __func__, "by slot %d", by_slot);
        pool = scene_add_pool(&scene, SCENE_BUFFER);
        scene_add_conv(&scene, pool, REF_CONV_SD, 9, 5, 4, 2);
        scene_add_conv(&scene, pool, REF_CONV_DS, 2, 2, 4, 2);
        scene_add_temporal(&scene, pool, 9, 40);
        scene_add_group(&scene, 4);
        scene_add_crossing_rows(&scene, 2, 2);
        scene_set_entries(&scene, 0, 0, ENTRIES(4, 5, 6, -1));
        scene_set_entries(&scene, 0, 1, ENTRIES(7, 8, 6, 99));
        scene_shuffle_slots(&scene, 3);
        scene.tables_by_slot = by_slot;
        scene.skip_temporal = 1;
        expect_caught(&scene, device, engine, SCENE_POST);
    }
    clmove_engine_destroy(&engine);
}

static void test_reset_not_kept(void **state)
{
    static const struct text_edit edit = {
        "ssm_decide.cl",
        "(step->mode & MODE_KEEPS_ACCEPTED) != 0 ? 0 : ROW_RESETS",
        "ROW_RESETS", 1};
    struct test_device *device = *state;
    struct clmove_engine *engine = broken_engine(device, &edit, 1);
    struct scene scene;

    add_rows(&scene, __func__, SCENE_PRE, 1);
    scene.keep_accepted = 1;
    expect_caught(&scene, device, engine, SCENE_PRE);
    clmove_engine_destroy(&engine);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slot_used_as_row),
        cmocka_unit_test(test_row_used_as_slot),
        cmocka_unit_test(test_duplicates_unchecked),
        cmocka_unit_test(test_temporal_not_skipped),
        cmocka_unit_test(test_reset_not_kept),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
