/* Tables and numbers of which many are wrong: healthy rows are exact. */

#include "compare.h"
#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

#include <stdlib.h>

/* 48 calls of 2,200 rows each: 105,600 rows, every one a step of its own. A
 * row's good entries are blocks of its own, so a row that gets past the checks
 * keeps the caller's promise; every other entry is no block at all. */
enum { CALLS = 48, ROWS = 2200, BLOCKS_PER_ROW = 4, COLUMNS = 6 };

static int32_t random_number(uint64_t *random)
{
    return (int32_t)(uint32_t)(random_next(random) >> 20);
}

static int32_t bad_entry(uint64_t *random, uint32_t blocks)
{
    switch (random_below(random, 6)) {
    case 0:
        return 0; /* the null block of group 0 */
    case 1:
        return -1; /* that of group 1 */
    case 2:
        return (int32_t)(blocks + random_below(random, 40));
    case 3:
        return INT32_MIN + (int32_t)random_below(random, 3);
    case 4:
        return INT32_MAX;
    default: {
        int32_t entry = random_number(random);
        return entry > 0 && entry < (int32_t)blocks ? -7 : entry;
    }
    }
}

/* Group 1's temporal state has fewer blocks than its window. */
static void add_states(struct scene *scene)
{
    const uint32_t blocks = 1 + BLOCKS_PER_ROW * ROWS;
    const uint32_t pool = scene_add_pool(scene, SCENE_BUFFER);

    scene_add_group(scene, COLUMNS);
    scene_add_group(scene, COLUMNS - 1);
    scene->groups[0].null.has_null_block = 1;
    scene->groups[1].null.has_null_block = 1;
    scene->groups[1].null.null_block = -1;
    scene_add_conv(scene, pool, REF_CONV_SD, blocks, 3, 2, 1);
    scene_add_temporal(scene, pool, blocks, 5);
    scene_add_conv(scene, pool, REF_CONV_DS, blocks, 4, 2, 2)->group = 1;
    scene_add_temporal(scene, pool, blocks - 400, 7)->group = 1;
}

static void fill_tables(struct scene *scene, uint64_t *random)
{
    const uint32_t blocks = 1 + BLOCKS_PER_ROW * ROWS;

    for (uint32_t g = 0; g < 2; g++) {
        struct scene_group *group = &scene->groups[g];
        for (uint32_t row = 0; row < ROWS; row++) {
            int32_t *entries = group->entries + (size_t)row * group->row_stride;
            for (uint32_t i = 0; i < group->columns; i++) {
                entries[i] = (int32_t)(1 + BLOCKS_PER_ROW * row +
                                       random_below(random, BLOCKS_PER_ROW));
                if (random_below(random, 8) == 0) {
                    entries[i] = bad_entry(random, blocks);
                }
                /* group 1's block 0 is one like all, and nobody's */
                if (g == 1 && entries[i] == 0) {
                    entries[i] = -2;
                }
            }
        }
    }
}

/* Mostly numbers that lead to a copy; one in ten is any int32. */
static int32_t number(uint64_t *random, uint32_t bound)
{
    return random_below(random, 10) ? (int32_t)random_below(random, bound)
                                    : random_number(random);
}

static void fill_rows(struct scene *scene, uint64_t *random)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t index = scene_add_row(
            scene, number(random, 9), number(random, 5), number(random, 3),
            number(random, 4), number(random, COLUMNS + 1) - 1);
        scene_set_copy(scene, index, number(random, COLUMNS + 1) - 1,
                       number(random, COLUMNS), number(random, 5));
    }
}

/* Some slots twice, some none, some out of range. */
static void spoil_slots(struct scene *scene, uint64_t *random)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        switch (random_below(random, 30)) {
        case 0:
            scene_set_slot(scene, row, -1);
            break;
        case 1:
            scene_set_slot(scene, row,
                           scene->extras[random_below(random, ROWS)].slot);
            break;
        case 2:
            scene_set_slot(scene, row, random_number(random));
            break;
        default:
            break;
        }
    }
}

/* The calls' outcomes, so that a fuzzer that makes nothing but faults shows. */
struct tally {
    uint32_t rows, copies, faults[8];
};

static void count_outcomes(const struct ref_step *step,
                           enum scene_operation operation, struct tally *tally)
{
    for (uint32_t row = 0; row < step->rows; row += 11) {
        struct ref_decision decision =
            operation == SCENE_PRE    ? ref_decide_pre(step, row)
            : operation == SCENE_POST ? ref_decide_post(step, row)
                                      : ref_decide_pre_copy(step, row);
        tally->rows++;
        tally->copies += (uint32_t)decision.copy;
        tally->faults[decision.fault.kind]++;
    }
}

static void check_call(struct test_device *device, struct clmove_engine *engine,
                       uint32_t seed, struct tally *tally)
{
    const enum scene_operation operation = (enum scene_operation)(seed % 3);
    struct scene *scene = test_malloc(sizeof(*scene));
    struct stage *stage = test_malloc(sizeof(*stage));
    uint64_t random = seed;

    scene_init(scene, "test_fuzz", "seed %u", seed);
    if (runner_wants_case(scene->detail)) {
        scene->tokens_per_block = 1 + random_below(&random, 4);
        scene->extra_slots = random_below(&random, 2) * 9000;
        add_states(scene);
        fill_rows(scene, &random);
        fill_tables(scene, &random);
        if (seed / 3 % 2) {
            scene_use_v2(scene, operation, seed / 6);
            spoil_slots(scene, &random);
        }
        scene->accepted_in_place = (int)random_below(&random, 2);
        scene->column_in_place = (int)random_below(&random, 2);
        scene->skip_temporal = random_below(&random, 6) == 0;
        stage_prepare(stage, device, scene);
        stage_create(stage, engine);
        count_outcomes(&stage->reference, operation, tally);
        stage_call(stage, operation);
        stage_expect(stage, operation);
        assert_true(stage_compare(stage, 0));
        stage_close(stage);
    }
    scene_clear(scene);
    test_free(stage);
    test_free(scene);
}

static void test_fuzz(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = device_engine(device, 7, 5, NULL);
    struct tally tally = {0, 0, {0}};

    for (uint32_t seed = 0; seed < CALLS; seed++) {
        check_call(device, seed % 4 ? device->engine : engine, seed, &tally);
    }
    print_message("of %u rows looked at: %u copy; faults by kind: %u %u %u %u "
                  "%u %u\n",
                  tally.rows, tally.copies, tally.faults[1], tally.faults[2],
                  tally.faults[3], tally.faults[4], tally.faults[5],
                  tally.faults[6]);
    if (tally.rows > CALLS * ROWS / 12) {
        assert_true(tally.copies > tally.rows / 20);
        for (int kind = 1; kind <= 6; kind++) {
            assert_true(tally.faults[kind] > tally.rows / 400);
        }
    }
    clmove_engine_destroy(&engine);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fuzz)};
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
