/* Bad steps and calls where slots come in: refused, and nothing is written. */

#include "moving.h"
#include "refused.h"
#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

#include <stdio.h>

/* The mixed scene, 13 rows of 16 slots, every array of V2 there. */
static struct stage *prepare(struct test_device *device, struct scene *scene,
                             int by_slot)
{
    struct stage *stage = test_malloc(sizeof(*stage));

    scene_init(scene, "test_step", "bad steps");
    scene_fill_mixed(scene, SCENE_POST);
    scene_shuffle_slots(scene, 3);
    scene->uses_starts = 1;
    scene->now = SCENE_NOW_BESIDE;
    scene->tables_by_slot = by_slot;
    scene->slots_per_row = 2;
    for (uint32_t i = 0; i < scene->row_count; i++) {
        scene_set_copy(scene, i, 0, 1, 0);
    }
    stage_prepare(stage, device, scene);
    assert_int_equal(clmove_ssm_layout_create(
                         device->engine, &stage->layout_params, &stage->layout),
                     CLMOVE_SUCCESS);
    return stage;
}

static void create(struct stage *stage)
{
    assert_int_equal(clmove_ssm_step_create(stage->layout, &stage->step_params,
                                            &stage->step),
                     CLMOVE_SUCCESS);
}

static void test_small_arrays(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene, 0);
    const size_t by_row = 13 * 4, by_slot = 16 * 4;

    REFUSE(slot_of.size, by_row - 1, CLMOVE_OUT_OF_RANGE, "slot_of", "51");
    REFUSE(query_starts.size, by_row, CLMOVE_OUT_OF_RANGE, "query_starts",
           "52");
    REFUSE(now_computed.size, by_slot - 1, CLMOVE_OUT_OF_RANGE, "now_computed",
           "63");
    REFUSE(copy_source.size, by_slot - 4, CLMOVE_OUT_OF_RANGE, "copy_source",
           "60");
    REFUSE(copy_destination.size, by_slot - 4, CLMOVE_OUT_OF_RANGE,
           "copy_destination", "60");
    REFUSE(copy_bias.size, by_slot - 4, CLMOVE_OUT_OF_RANGE, "copy_bias", "60");
    REFUSE(slot_of.offset, 33, CLMOVE_INVALID_ARGUMENT, "slot_of", "33");
    REFUSE(query_starts.offset, 34, CLMOVE_INVALID_ARGUMENT, "query_starts",
           "34");
    REFUSE(now_computed.offset, 35, CLMOVE_INVALID_ARGUMENT, "now_computed",
           "35");
    REFUSE(copy_bias.offset, 34, CLMOVE_INVALID_ARGUMENT, "copy_bias", "34");
    refused_finish(stage, &scene);
}

/* Tables by slot have slot_count rows: those of max_rows are too few. */
static void test_small_tables(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene, 0);

    REFUSE(flags, CLMOVE_SSM_TABLES_BY_SLOT, CLMOVE_OUT_OF_RANGE,
           "tables[0].entries", "16 rows");
    refused_finish(stage, &scene);
    stage = prepare(*state, &scene, 1);
    create(stage);
    refused_finish(stage, &scene);
}

static void test_flags(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene, 0);

    REFUSE(flags, 8, CLMOVE_INVALID_ARGUMENT, "flags", "8");
    REFUSE(flags, 0x80000000u, CLMOVE_INVALID_ARGUMENT, "flags", "80000000");
    REFUSE(scheduled, stage->step_params.slot_of, CLMOVE_INVALID_ARGUMENT,
           "scheduled", "query_starts");
    refused_finish(stage, &scene);
}

/* Results on top of the new inputs. */
static void test_overlaps(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene, 0);

    REFUSE(accepted_out, stage->step_params.now_computed, CLMOVE_OVERLAP,
           "accepted_out", "now_computed");
    REFUSE(column_out, stage->step_params.copy_source, CLMOVE_OVERLAP,
           "column_out", "copy_source");
    REFUSE(slot_of, stage->step_params.faults, CLMOVE_OVERLAP, "faults",
           "slot_of");
    REFUSE(query_starts, stage->step_params.accepted_out, CLMOVE_OVERLAP,
           "accepted_out", "query_starts");
    refused_finish(stage, &scene);
}

/* What each call needs and does not have. */
static void test_absent_arrays(void **state)
{
    enum { PRE = 1, POST = 2, COPY = 4, INDICES = 8 };
    static const struct clmove_memory absent = {0};
    struct scene scene;
    struct stage *stage = prepare(*state, &scene, 0);
    struct clmove_ssm_step_params *params = &stage->step_params;
    const struct {
        struct clmove_memory *array;
        const char *name;
        int needed; /* by which calls, N being given */
    } cases[] = {
        {&params->computed, "computed", PRE | INDICES},
        {&params->query_starts, "scheduled", PRE | INDICES},
        {&params->accepted_in, "accepted_in", PRE | POST},
        {&params->accepted_out, "accepted_out", PRE | POST},
        {&params->column_in, "column_in", PRE | POST},
        {&params->column_out, "column_out", PRE},
        {&params->copy_source, "copy_source", COPY},
        {&params->copy_destination, "copy_destination", COPY},
        {&params->copy_bias, "copy_bias", COPY},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct clmove_memory kept = *cases[i].array;
        cl_command_queue queue = stage->device->queue;
        *cases[i].array = absent;
        create(stage);
        for (int call = PRE; call <= INDICES; call *= 2) {
            clmove_status status;
            if (!(cases[i].needed & call)) {
                continue;
            }
            device_clear_messages(stage->device);
            status = call == PRE    ? clmove_enqueue_ssm_pre(stage->step, 13,
                                                             queue, 0, NULL, NULL)
                     : call == POST ? clmove_enqueue_ssm_post(
                                          stage->step, 13, queue, 0, NULL, NULL)
                     : call == COPY
                         ? clmove_enqueue_ssm_pre_copy(stage->step, 13, queue,
                                                       0, NULL, NULL)
                         : clmove_enqueue_ssm_indices(stage->step, 13, 2,
                                                      &stage->indices, queue, 0,
                                                      NULL, NULL);
            refused_expect(stage, status, CLMOVE_INVALID_ARGUMENT,
                           cases[i].name, "needs");
        }
        clmove_ssm_step_destroy(&stage->step);
        *cases[i].array = kept;
    }
    refused_finish(stage, &scene);
}

/* N absent: post-process needs c, s (or starts) and d. */
static void test_absent_counters(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene, 0);
    struct clmove_ssm_step_params *params = &stage->step_params;

    params->now_computed = (struct clmove_memory){0};
    params->draft = (struct clmove_memory){0};
    create(stage);
    device_clear_messages(stage->device);
    refused_expect(stage,
                   clmove_enqueue_ssm_post(stage->step, 13,
                                           stage->device->queue, 0, NULL, NULL),
                   CLMOVE_INVALID_ARGUMENT, "draft", "needs");
    refused_finish(stage, &scene);
}

static void expect_indices(struct stage *stage, uint32_t rows, uint32_t slots,
                           struct clmove_memory out, clmove_status want,
                           const char *first, const char *second)
{
    device_clear_messages(stage->device);
    refused_expect(stage,
                   clmove_enqueue_ssm_indices(stage->step, rows, slots, &out,
                                              stage->device->queue, 0, NULL,
                                              NULL),
                   want, first, second);
}

static void test_indices(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene, 0);
    struct clmove_memory out = stage->indices;
    struct clmove_memory other;
    struct moving odd; /* its address, not the offset */

    create(stage);
    expect_indices(stage, 14, 2, out, CLMOVE_INVALID_ARGUMENT, "rows", "14");
    expect_indices(stage, 13, 0, out, CLMOVE_INVALID_ARGUMENT, "slots_per_row",
                   "0");
    expect_indices(stage, 13, 3, out, CLMOVE_OUT_OF_RANGE, "out", "208");
    expect_indices(stage, 13, INT32_MAX, out, CLMOVE_OUT_OF_RANGE, "out",
                   "2147483647");
    expect_indices(stage, 13, UINT32_MAX, out, CLMOVE_INVALID_ARGUMENT,
                   "slots_per_row", "4294967295");
    other = out;
    other.offset += 2;
    expect_indices(stage, 1, 1, other, CLMOVE_INVALID_ARGUMENT, "out", "4");
    moving_open(&odd, stage->device, MOVING_HOST_POINTER, 64);
    expect_indices(stage, 1, 1, moving_memory(&odd, 0), CLMOVE_INVALID_ARGUMENT,
                   "out", "4");
    moving_close(&odd);
    expect_indices(stage, 13, 2, (struct clmove_memory){0},
                   CLMOVE_INVALID_ARGUMENT, "out", "");
    expect_indices(stage, 4, 1, stage->step_params.computed, CLMOVE_OVERLAP,
                   "out", "computed");
    expect_indices(stage, 4, 1, stage->step_params.accepted_out, CLMOVE_OVERLAP,
                   "out", "accepted_out");
    expect_indices(stage, 4, 1, stage->tables[1].entries, CLMOVE_OVERLAP, "out",
                   "tables[1]");
    other = stage->states[0].memory;
    other.size = 0;
    expect_indices(stage, 13, 2, other, CLMOVE_OVERLAP, "out", "states[0]");
    assert_int_equal(clmove_enqueue_ssm_indices(stage->step, 13, 2, NULL,
                                                stage->device->queue, 0, NULL,
                                                NULL),
                     CLMOVE_INVALID_ARGUMENT);
    /* no rows: nothing is written, and that is fine */
    assert_int_equal(clmove_enqueue_ssm_indices(stage->step, 0, 2, &out,
                                                stage->device->queue, 0, NULL,
                                                NULL),
                     CLMOVE_SUCCESS);
    refused_finish(stage, &scene);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_arrays),
        cmocka_unit_test(test_small_tables),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_absent_arrays),
        cmocka_unit_test(test_absent_counters),
        cmocka_unit_test(test_indices),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
