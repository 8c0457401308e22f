/* The corner rules of V2's order by name, faults with literal numbers. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

enum { COLUMNS = 5, ROWS = 4, SLOTS = 12 };

/* Row i's slot is 2 i + 1; N = 16 with 3 accepted, so that post-process copies
 * column 1 to 0 with bias 2; 16 computed and 4 scheduled, so that pre-process
 * copies column 0 to 1 with bias 2. Row 1 is what a test spoils. */
static void prepare(struct scene *scene, enum scene_operation operation,
                    int by_slot)
{
    uint32_t pool = scene_add_pool(scene, SCENE_BUFFER);

    scene_add_conv(scene, pool, REF_CONV_SD, 25, 5, 4, 2);
    scene_add_temporal(scene, pool, 25, 50);
    scene_add_conv(scene, pool, REF_CONV_DS, 25, 2, 4, 2)->group = 1;
    scene_add_temporal(scene, pool, 22, 30)->group = 1;
    scene_add_group(scene, COLUMNS);
    scene_add_group(scene, COLUMNS);
    scene->groups[1].null.has_null_block = 1;
    scene->extra_slots = SLOTS - ROWS;
    scene->tables_by_slot = by_slot;
    for (uint32_t i = 0; i < ROWS; i++) {
        scene_add_row(scene, 16, 4, 2, 3, operation == SCENE_POST);
        scene_set_slot(scene, i, (int32_t)(2 * i + 1));
        scene->extras[i].now = 16;
        scene->extras[i].now_is_given = 1;
        scene_set_copy(scene, i, 1, 0, 2);
    }
    scene_own_blocks(scene, 1, COLUMNS);
    scene->uses_starts = operation == SCENE_PRE;
    scene->now = operation == SCENE_POST ? SCENE_NOW_ALONE : SCENE_NOW_ABSENT;
}

/* What row 1 comes to: `want` is its fault, all zero for none; accepted and
 * column are those of slot 3 afterwards, -1: not looked at. */
static void check_row(struct scene *scene, struct test_device *device,
                      enum scene_operation operation,
                      const struct clmove_ssm_fault *want, int32_t accepted,
                      int32_t column)
{
    static const struct clmove_ssm_fault poison = {0x5c5c5c5c, 0x5c5c5c5c,
                                                   0x5c5c5c5c, 0x5c5c5c5c};
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
    assert_memory_equal(stage_actual(stage, STAGE_FAULTS) + 4,
                        want->kind ? want : &poison, sizeof(*want));
    if (accepted != -1) {
        assert_int_equal(stage_actual(stage, STAGE_ACCEPTED_OUT)[3], accepted);
    }
    if (column != -1) {
        assert_int_equal(stage_actual(stage, STAGE_COLUMN_OUT)[3], column);
    }
    stage_close(stage);
    scene_clear(scene);
    test_free(stage);
}

static const struct clmove_ssm_fault none = {0, 0, 0, 0};

/* A slot outside its arrays, by one and by much. */
static void test_slot_outside(void **state)
{
    static const int32_t slots[] = {SLOTS, -2, INT32_MIN, INT32_MAX};

    for (int op = SCENE_PRE; op <= SCENE_PRE_COPY; op++) {
        for (int i = 0; i < 4; i++) {
            const struct clmove_ssm_fault want = {CLMOVE_SSM_FAULT_SLOT, -1, -1,
                                                  slots[i]};
            struct scene scene;
            scene_init(&scene, __func__, "operation %d, slot %d", op, slots[i]);
            prepare(&scene, (enum scene_operation)op, i % 2);
            scene_set_slot(&scene, 1, slots[i]);
            check_row(&scene, *state, (enum scene_operation)op, &want, -1, -1);
        }
    }
}

/* A slot named twice: both rows are at fault, also where one is not scheduled,
 * or has a negative counter: the slot comes first. */
static void test_slot_named_twice(void **state)
{
    static const struct clmove_ssm_fault want = {CLMOVE_SSM_FAULT_SLOT_TWICE,
                                                 -1, -1, 7};

    for (int op = SCENE_PRE; op <= SCENE_PRE_COPY; op++) {
        for (int32_t scheduled = -1; scheduled <= 4; scheduled++) {
            struct scene scene;
            scene_init(&scene, __func__, "operation %d, scheduled %d", op,
                       scheduled);
            prepare(&scene, (enum scene_operation)op, 0);
            scene_set_slot(&scene, 1, 7); /* row 3's */
            scene.rows[1].scheduled = scheduled;
            check_row(&scene, *state, (enum scene_operation)op, &want, -1, -1);
        }
    }
}

/* -1 is no fault: padding, once or often. Its slot 3 keeps a stale value. */
static void test_padding_is_no_fault(void **state)
{
    for (int op = SCENE_PRE; op <= SCENE_PRE_COPY; op++) {
        struct scene scene;
        scene_init(&scene, __func__, "operation %d", op);
        prepare(&scene, (enum scene_operation)op, 1);
        scene_set_slot(&scene, 1, -1);
        scene_set_slot(&scene, 2, -1);
        scene.rows[1].scheduled = -5;
        check_row(&scene, *state, (enum scene_operation)op, &none,
                  op == SCENE_PRE_COPY ? -1 : 1000 + 7 * 3, -1);
    }
}

/* A negative counter, in the order in which they are looked at. */
static void test_negative_counters(void **state)
{
    static const struct {
        int32_t computed, scheduled, now, accepted;
        enum scene_operation operation;
        struct clmove_ssm_fault want;
    } cases[] = {
        {-1,
         -2,
         0,
         -4,
         SCENE_PRE,
         {CLMOVE_SSM_FAULT_COUNTER, -1, CLMOVE_SSM_COUNTER_SCHEDULED, -2}},
        {-1,
         4,
         0,
         -4,
         SCENE_PRE,
         {CLMOVE_SSM_FAULT_COUNTER, -1, CLMOVE_SSM_COUNTER_COMPUTED, -1}},
        {16,
         4,
         0,
         -4,
         SCENE_PRE,
         {CLMOVE_SSM_FAULT_COUNTER, -1, CLMOVE_SSM_COUNTER_ACCEPTED, -4}},
        {0,
         0,
         -3,
         -4,
         SCENE_POST,
         {CLMOVE_SSM_FAULT_COUNTER, -1, CLMOVE_SSM_COUNTER_NOW, -3}},
        {0,
         0,
         INT32_MIN,
         0,
         SCENE_POST,
         {CLMOVE_SSM_FAULT_COUNTER, -1, CLMOVE_SSM_COUNTER_NOW, INT32_MIN}},
        {0,
         0,
         16,
         -4,
         SCENE_POST,
         {CLMOVE_SSM_FAULT_COUNTER, -1, CLMOVE_SSM_COUNTER_ACCEPTED, -4}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene;
        scene_init(&scene, __func__, "case %zu", i);
        prepare(&scene, cases[i].operation, (int)(i % 2));
        scene.rows[1].computed = cases[i].computed;
        scene.rows[1].scheduled = cases[i].scheduled;
        scene.rows[1].accepted = cases[i].accepted;
        scene.extras[1].now = cases[i].now;
        check_row(&scene, *state, cases[i].operation, &cases[i].want,
                  cases[i].accepted, cases[i].operation == SCENE_PRE ? 0 : -1);
    }
}

/* A row that did not take part is left alone, whatever else it says. */
static void test_not_taking_part(void **state)
{
    struct scene scene;

    scene_init(&scene, __func__, "pre, nothing scheduled");
    prepare(&scene, SCENE_PRE, 1);
    scene.rows[1] = (struct scene_row){-3, 0, 0, -2, 99};
    check_row(&scene, *state, SCENE_PRE, &none, -2, 99);

    scene_init(&scene, __func__, "post, accepted 0");
    prepare(&scene, SCENE_POST, 1);
    scene.rows[1].accepted = 0;
    scene.rows[1].column = 99;
    check_row(&scene, *state, SCENE_POST, &none, 0, -1);
}

/* N, accepted, column, block size of post-process; what accepted becomes. */
static void test_boundary_rules(void **state)
{
    static const struct {
        const char *name;
        int32_t now, accepted, column;
        uint32_t block;
        int32_t after;
    } cases[] = {
        {"the last certain token is past the boundary", 17, 1, 1, 16, 1},
        {"no boundary has been reached", 15, 3, 0, 16, 3},
        {"several boundaries: only the last is saved", 9, 4, 2, 2, 4},
        {"same column, bias 0: a reset alone", 17, 2, 0, 16, 1},
        {"same column, bias 1: shifted in place", 16, 2, 0, 16, 1},
        {"another column: accepted stays", 16, 2, 1, 16, 2},
        {"column below the destination", 48, 2, 1, 16, 2},
        {"blocks of one token", 3, 3, 0, 1, 3},
        {"more accepted than computed", 2, 4, 0, 2, 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int by_slot = 0; by_slot < 2; by_slot++) {
            struct stage *stage = test_malloc(sizeof(*stage));
            struct scene scene;
            scene_init(&scene, __func__, "%s, by slot %d", cases[i].name,
                       by_slot);
            prepare(&scene, SCENE_POST, by_slot);
            scene.tokens_per_block = cases[i].block;
            for (uint32_t row = 0; row < ROWS; row++) {
                scene.rows[row].accepted = cases[i].accepted;
                scene.rows[row].column = cases[i].column;
                scene.extras[row].now = cases[i].now;
            }
            stage_prepare(stage, *state, &scene);
            stage_create(stage, stage->device->engine);
            stage_call(stage, SCENE_POST);
            stage_expect(stage, SCENE_POST);
            assert_true(stage_compare(stage, 0));
            assert_int_equal(stage_actual(stage, STAGE_FAULTS)[4], 0x5c5c5c5c);
            assert_int_equal(stage_actual(stage, STAGE_ACCEPTED_OUT)[3],
                             cases[i].after);
            stage_close(stage);
            scene_clear(&scene);
            test_free(stage);
        }
    }
}

/* Columns are compared as columns: one block behind two of them. */
static void test_columns_not_blocks(void **state)
{
    struct scene scene;

    scene_init(&scene, __func__, "post, [6, 6, ..]");
    prepare(&scene, SCENE_POST, 1);
    scene_set_entries(&scene, 0, 1, ENTRIES(6, 6, 7, 8));
    scene_set_entries(&scene, 1, 1, ENTRIES(6, 6, 7, 8));
    check_row(&scene, *state, SCENE_POST, &none, 3, -1);

    scene_init(&scene, __func__, "pre, [6, 6, ..]");
    prepare(&scene, SCENE_PRE, 1);
    scene_set_entries(&scene, 0, 1, ENTRIES(6, 6, 7, 8));
    check_row(&scene, *state, SCENE_PRE, &none, 1, 1);
}

/* Columns, blocks, null blocks, the temporal source past the row. */
static void test_blocks(void **state)
{
    static const struct {
        uint32_t group, column;
        int32_t entry;
        struct clmove_ssm_fault want;
    } cases[] = {
        {0, 0, -1, {CLMOVE_SSM_FAULT_BLOCK, 0, 0, -1}},
        {0, 0, 25, {CLMOVE_SSM_FAULT_BLOCK, 0, 0, 25}},
        {0, 1, INT32_MAX, {CLMOVE_SSM_FAULT_BLOCK, 0, 1, INT32_MAX}},
        {0, 3, -9, {CLMOVE_SSM_FAULT_BLOCK, 1, 3, -9}},
        {1, 3, 22, {CLMOVE_SSM_FAULT_BLOCK, 3, 3, 22}},
        {1, 0, 0, {CLMOVE_SSM_FAULT_NULL_BLOCK, 3, 0, 0}},
        /* a window of 2 with bias 2 is not touched, so not looked at */
        {1, 1, 0, {0, 0, 0, 0}},
        /* column 2 is neither source nor destination */
        {0, 2, -1, {0, 0, 0, 0}},
    };

    for (int op = SCENE_POST; op <= SCENE_PRE_COPY; op++) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            struct scene scene;
            scene_init(&scene, __func__, "operation %d, case %zu", op, i);
            prepare(&scene, (enum scene_operation)op, (int)(i % 2));
            scene.groups[cases[i].group]
                .entries[scene.groups[0].row_stride + cases[i].column] =
                cases[i].entry;
            check_row(&scene, *state, (enum scene_operation)op, &cases[i].want,
                      op == SCENE_POST ? 3 : -1, -1);
        }
    }
}

static void test_columns(void **state)
{
    static const struct {
        int32_t column;
        struct clmove_ssm_fault want;
    } cases[] = {
        {-1, {CLMOVE_SSM_FAULT_COLUMN, 0, -1, COLUMNS}},
        {COLUMNS, {CLMOVE_SSM_FAULT_COLUMN, 0, COLUMNS, COLUMNS}},
        {INT32_MIN, {CLMOVE_SSM_FAULT_COLUMN, 0, INT32_MIN, COLUMNS}},
        /* the running column is there, the temporal source is past the row */
        {3, {CLMOVE_SSM_FAULT_COLUMN, 1, 5, COLUMNS}},
        {4, {CLMOVE_SSM_FAULT_COLUMN, 1, 6, COLUMNS}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene;
        scene_init(&scene, __func__, "column %d", cases[i].column);
        prepare(&scene, SCENE_POST, (int)(i % 2));
        scene.rows[1].column = cases[i].column;
        check_row(&scene, *state, SCENE_POST, &cases[i].want, 3, -1);
    }
}

/* Sums at the end of int32 are made in 64 bits. */
static void test_large_numbers(void **state)
{
    static const struct clmove_ssm_fault far = {CLMOVE_SSM_FAULT_COLUMN, 0,
                                                INT32_MAX - 1, COLUMNS};
    static const struct clmove_ssm_fault over = {
        CLMOVE_SSM_FAULT_COUNTER, -1, CLMOVE_SSM_COUNTER_COMPUTED, INT32_MAX};
    struct scene scene;

    scene_init(&scene, __func__, "post, N of 2^31 - 1");
    prepare(&scene, SCENE_POST, 0);
    scene.tokens_per_block = 1;
    for (uint32_t i = 0; i < ROWS; i++) {
        scene.extras[i].now = INT32_MAX;
        scene.rows[i].accepted = 1;
        scene.rows[i].column = 2;
    }
    check_row(&scene, *state, SCENE_POST, &far, 1, -1);

    scene_init(&scene, __func__, "pre, c of 2^31 - 1");
    prepare(&scene, SCENE_PRE, 0);
    scene.tokens_per_block = 1;
    scene.rows[1].computed = INT32_MAX;
    check_row(&scene, *state, SCENE_PRE, &over, 3, 0);
}

/* A new request: running column -1, nothing copied, the column follows. */
static void test_new_request(void **state)
{
    struct scene scene;

    scene_init(&scene, __func__, "pre, column -1");
    prepare(&scene, SCENE_PRE, 1);
    scene.rows[1] = (struct scene_row){0, 20, 0, 1, -1};
    scene_set_entries(&scene, 0, 1, ENTRIES(-1, -1, -1, -1, -1));
    check_row(&scene, *state, SCENE_PRE, &none, 1, 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slot_outside),
        cmocka_unit_test(test_slot_named_twice),
        cmocka_unit_test(test_padding_is_no_fault),
        cmocka_unit_test(test_negative_counters),
        cmocka_unit_test(test_not_taking_part),
        cmocka_unit_test(test_boundary_rules),
        cmocka_unit_test(test_columns_not_blocks),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_large_numbers),
        cmocka_unit_test(test_new_request),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
