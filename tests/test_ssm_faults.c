/* Requests at fault beside healthy ones, for every kind of fault. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

enum { COLUMNS = 5 };

/* Rows 0 and 2 are healthy, row 1 is the one that a test spoils: column 1 to 0
 * with bias 2 at post, column 0 to 1 with bias 2 at pre. Group 1 has a null
 * block, group 0 has none. */
static void prepare(struct scene *scene, enum scene_operation operation)
{
    uint32_t pool = scene_add_pool(scene, SCENE_BUFFER);

    scene_add_conv(scene, pool, REF_CONV_SD, 20, 5, 8, 2);
    scene_add_temporal(scene, pool, 20, 100);
    scene_add_conv(scene, pool, REF_CONV_DS, 20, 2, 8, 2)->group = 1;
    scene_add_temporal(scene, pool, 18, 60)->group = 1;
    scene_add_group(scene, COLUMNS);
    scene_add_group(scene, COLUMNS);
    scene->groups[1].null.has_null_block = 1;
    for (int i = 0; i < 3; i++) {
        if (operation == SCENE_POST) {
            scene_add_row(scene, 12, 4, 2, 3, 1);
        } else {
            scene_add_row(scene, 16, 4, 2, 3, 0);
        }
    }
    scene_own_blocks(scene, 1, COLUMNS);
}

/* Compares everything, then the fault entry itself with literal numbers. */
static void check_fault(struct scene *scene, struct test_device *device,
                        enum scene_operation operation,
                        const struct clmove_ssm_fault *want)
{
    struct stage *stage;

    if (!runner_wants_case(scene->detail)) {
        scene_clear(scene);
        return;
    }
    stage = test_malloc(sizeof(*stage));
    stage_prepare(stage, device, scene);
    stage_create(stage, device->engine);
    stage_call(stage, operation);
    stage_expect(stage, operation);
    assert_true(stage_compare(stage, 0));
    assert_memory_equal(stage_actual(stage, STAGE_FAULTS) + 4, want,
                        sizeof(*want));
    stage_close(stage);
    scene_clear(scene);
    test_free(stage);
}

static void test_counters(void **state)
{
    static const struct {
        struct scene_row row;
        struct clmove_ssm_fault want;
    } cases[] = {
        {{-1, -2, -3, -4, 1},
         {CLMOVE_SSM_FAULT_COUNTER, -1, CLMOVE_SSM_COUNTER_SCHEDULED, -2}},
        {{-1, 4, -3, -4, 1},
         {CLMOVE_SSM_FAULT_COUNTER, -1, CLMOVE_SSM_COUNTER_DRAFT, -3}},
        {{-1, 4, 2, -4, 1},
         {CLMOVE_SSM_FAULT_COUNTER, -1, CLMOVE_SSM_COUNTER_COMPUTED, -1}},
        {{INT32_MIN, 4, 2, -4, 1},
         {CLMOVE_SSM_FAULT_COUNTER, -1, CLMOVE_SSM_COUNTER_COMPUTED,
          INT32_MIN}},
        {{12, 4, 2, -4, 1},
         {CLMOVE_SSM_FAULT_COUNTER, -1, CLMOVE_SSM_COUNTER_ACCEPTED, -4}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene;
        scene_init(&scene, __func__, "post %zu", i);
        prepare(&scene, SCENE_POST);
        scene.rows[1] = cases[i].row;
        check_fault(&scene, *state, SCENE_POST, &cases[i].want);
        if (cases[i].want.column == CLMOVE_SSM_COUNTER_DRAFT) {
            continue; /* pre-process does not read the drafts */
        }
        scene_init(&scene, __func__, "pre %zu", i);
        prepare(&scene, SCENE_PRE);
        scene.rows[1] = cases[i].row;
        check_fault(&scene, *state, SCENE_PRE, &cases[i].want);
    }
}

/* Sums near the ends of int32: 64-bit arithmetic, no wrap. */
static void test_large_counters(void **state)
{
    static const struct clmove_ssm_fault over = {
        CLMOVE_SSM_FAULT_COUNTER, -1, CLMOVE_SSM_COUNTER_COMPUTED, INT32_MAX};
    static const struct clmove_ssm_fault clamped = {CLMOVE_SSM_FAULT_COLUMN, 0,
                                                    INT32_MAX, COLUMNS};
    struct scene scene;

    scene_init(&scene, __func__, "pre, column above int32");
    prepare(&scene, SCENE_PRE);
    scene.tokens_per_block = 1;
    scene.rows[1] = (struct scene_row){INT32_MAX, INT32_MAX, 0, 1, 0};
    check_fault(&scene, *state, SCENE_PRE, &over);

    scene_init(&scene, __func__, "post, destination above int32");
    prepare(&scene, SCENE_POST);
    scene.tokens_per_block = 1;
    scene.rows[1] =
        (struct scene_row){INT32_MAX, INT32_MAX, 0, 2, 1}; /* bias 1 */
    check_fault(&scene, *state, SCENE_POST, &clamped);
}

static void test_large_bias(void **state)
{
    static const struct clmove_ssm_fault want = {CLMOVE_SSM_FAULT_COLUMN, 1,
                                                 INT32_MAX, COLUMNS};
    struct scene scene;

    scene_init(&scene, __func__, "bias of 2^31 - 2");
    prepare(&scene, SCENE_PRE);
    scene.rows[1] = (struct scene_row){16, 4, 2, INT32_MAX, 2};
    check_fault(&scene, *state, SCENE_PRE, &want);
}

static void test_columns(void **state)
{
    static const struct {
        struct scene_row row;
        struct clmove_ssm_fault want;
    } cases[] = {
        /* the running column is not in the table */
        {{12, 4, 2, 3, -1}, {CLMOVE_SSM_FAULT_COLUMN, 0, -1, COLUMNS}},
        {{12, 4, 2, 3, INT32_MIN},
         {CLMOVE_SSM_FAULT_COLUMN, 0, INT32_MIN, COLUMNS}},
        {{12, 4, 2, 3, COLUMNS}, {CLMOVE_SSM_FAULT_COLUMN, 0, 5, COLUMNS}},
        /* it is, but the temporal source is not */
        {{12, 4, 2, 3, 3}, {CLMOVE_SSM_FAULT_COLUMN, 1, 5, COLUMNS}},
        {{10, 6, 4, 5, 1}, {CLMOVE_SSM_FAULT_COLUMN, 1, 5, COLUMNS}},
        /* the destination is not */
        {{94, 3, 2, 3, 1}, {CLMOVE_SSM_FAULT_COLUMN, 0, 5, COLUMNS}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene;
        scene_init(&scene, __func__, "post %zu", i);
        prepare(&scene, SCENE_POST);
        scene.rows[1] = cases[i].row;
        check_fault(&scene, *state, SCENE_POST, &cases[i].want);
    }
}

/* Block ids outside the tensor, in each place that the copy looks at. */
static void test_blocks(void **state)
{
    static const struct {
        uint32_t group, column;
        int32_t entry;
        struct clmove_ssm_fault want;
    } cases[] = {
        {0, 0, -1, {CLMOVE_SSM_FAULT_BLOCK, 0, 0, -1}},
        {0, 0, 20, {CLMOVE_SSM_FAULT_BLOCK, 0, 0, 20}},
        {0, 1, INT32_MAX, {CLMOVE_SSM_FAULT_BLOCK, 0, 1, INT32_MAX}},
        {0, 1, INT32_MIN, {CLMOVE_SSM_FAULT_BLOCK, 0, 1, INT32_MIN}},
        {0, 3, -1, {CLMOVE_SSM_FAULT_BLOCK, 1, 3, -1}},
        /* group 1's window of 2 is shifted out whole by bias 2: only its
         * temporal state looks, and that one has two blocks less */
        {1, 0, 18, {CLMOVE_SSM_FAULT_BLOCK, 3, 0, 18}},
        {1, 3, 19, {CLMOVE_SSM_FAULT_BLOCK, 3, 3, 19}},
        {1, 0, 0, {CLMOVE_SSM_FAULT_NULL_BLOCK, 3, 0, 0}},
        {1, 3, 0, {CLMOVE_SSM_FAULT_NULL_BLOCK, 3, 3, 0}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene;
        scene_init(&scene, __func__, "post %zu", i);
        prepare(&scene, SCENE_POST);
        scene.groups[cases[i].group]
            .entries[scene.groups[0].row_stride + cases[i].column] =
            cases[i].entry;
        check_fault(&scene, *state, SCENE_POST, &cases[i].want);
    }
}

/* Null block -1 is told apart from an id out of range; the same faults at
 * pre-process leave the running column. */
static void test_null_blocks(void **state)
{
    static const struct clmove_ssm_fault null = {CLMOVE_SSM_FAULT_NULL_BLOCK, 0,
                                                 1, -1};
    static const struct clmove_ssm_fault bad = {CLMOVE_SSM_FAULT_BLOCK, 0, 0,
                                                -1};
    struct scene scene;

    scene_init(&scene, __func__, "null block -1");
    prepare(&scene, SCENE_PRE);
    scene.groups[0].null.has_null_block = 1;
    scene.groups[0].null.null_block = -1;
    scene.groups[0].entries[scene.groups[0].row_stride + 1] = -1;
    check_fault(&scene, *state, SCENE_PRE, &null);

    scene_init(&scene, __func__, "no null block");
    prepare(&scene, SCENE_PRE);
    scene.groups[0].entries[scene.groups[0].row_stride] = -1;
    check_fault(&scene, *state, SCENE_PRE, &bad);
}

/* Wrong entries that nothing looks at are no fault. */
static void test_untouched_entries(void **state)
{
    struct test_device *device = *state;
    struct scene scene;

    scene_init(&scene, __func__, "entries 2 and 4 wrong");
    prepare(&scene, SCENE_POST);
    scene_set_entries(&scene, 0, 1, ENTRIES(6, 7, -1, 9, INT32_MAX));
    scene_set_entries(&scene, 1, 1, ENTRIES(6, -9, -1, 9, 0));
    scene_check(&scene, device, device->engine, SCENE_POST);
    scene_clear(&scene);
}

/* Column equal and bias 0: nothing is touched, so nothing is checked. */
static void test_reset_checks_nothing(void **state)
{
    struct test_device *device = *state;
    struct scene scene;

    scene_init(&scene, __func__, "every entry wrong");
    prepare(&scene, SCENE_POST);
    scene.rows[1] = (struct scene_row){10, 6, 0, 2, 0};
    scene_set_entries(&scene, 0, 1, ENTRIES(-1, -1, -1, -1, -1));
    scene_set_entries(&scene, 1, 1, ENTRIES(-1, -1, -1, -1, -1));
    scene_check(&scene, device, device->engine, SCENE_POST);
    scene_clear(&scene);
}

/* Faults without an array for them: found all the same. */
static void test_no_fault_array(void **state)
{
    struct test_device *device = *state;

    for (int op = SCENE_PRE; op <= SCENE_POST; op++) {
        struct scene scene;
        scene_init(&scene, __func__, "%s", op == SCENE_PRE ? "pre" : "post");
        scene_fill_mixed(&scene, (enum scene_operation)op);
        scene.no_faults = 1;
        scene_check(&scene, device, device->engine, (enum scene_operation)op);
        scene_clear(&scene);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_large_counters),
        cmocka_unit_test(test_large_bias),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_null_blocks),
        cmocka_unit_test(test_untouched_entries),
        cmocka_unit_test(test_reset_checks_nothing),
        cmocka_unit_test(test_no_fault_array),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
