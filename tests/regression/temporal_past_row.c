/* A temporal source past the allocated row: vllm issue 41884. */

/* Source: vllm-project/vllm issue 41884. With many accepted tokens the source
 * entry lay beyond the blocks that the request had; the engine died. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

/* Row 1 is the bad one, the row [7, 8, -1, -1] with running column 1. */
static void check_row(struct test_device *device, int32_t accepted, int v2,
                      const struct clmove_ssm_fault *want)
{
    struct stage *stage = test_malloc(sizeof(*stage));
    struct scene scene;

    scene_init(&scene, "test_past_row", "accepted %d, V%d", accepted, 1 + v2);
    scene_add_pool(&scene, SCENE_BUFFER);
    scene_add_temporal(&scene, 0, 12, 100);
    scene_add_conv(&scene, 0, REF_CONV_SD, 12, 6, 8, 2);
    scene_add_group(&scene, 4);
    scene_add_row(&scene, 29, 3, 2, 3, 1);
    /* N = 32 = A, so that the bias is accepted - 1 */
    scene_add_row(&scene, 32 - accepted, 3, 2, accepted, 1);
    scene_add_row(&scene, 13, 3, 2, 3, 1);
    scene_set_entries(&scene, 0, 0, ENTRIES(1, 2, 3, 4));
    scene_set_entries(&scene, 0, 1, ENTRIES(7, 8, -1, -1));
    scene_set_entries(&scene, 0, 2, ENTRIES(5, 6, 9, 10));
    if (v2) {
        scene_use_v2(&scene, SCENE_POST, 41884 + (uint64_t)accepted);
    }
    stage_prepare(stage, device, &scene);
    stage_create(stage, device->engine);
    stage_call(stage, SCENE_POST);
    stage_expect(stage, SCENE_POST);
    assert_true(stage_compare(stage, 0));
    assert_memory_equal(stage_actual(stage, STAGE_FAULTS) + 4, want,
                        sizeof(*want));
    assert_int_equal(
        stage_actual(stage, STAGE_ACCEPTED_OUT)[scene_slot(&scene, 1)],
        accepted);
    assert_int_equal(
        stage_actual(stage, STAGE_ACCEPTED_OUT)[scene_slot(&scene, 0)], 1);
    stage_close(stage);
    scene_clear(&scene);
    test_free(stage);
}

static void test_past_row(void **state)
{
    static const struct clmove_ssm_fault third = {CLMOVE_SSM_FAULT_BLOCK, 0, 3,
                                                  -1};
    static const struct clmove_ssm_fault second = {CLMOVE_SSM_FAULT_BLOCK, 0, 2,
                                                   -1};
    static const struct clmove_ssm_fault column = {CLMOVE_SSM_FAULT_COLUMN, 0,
                                                   4, 4};

    for (int v2 = 0; v2 < 2; v2++) {
        check_row(*state, 3, v2, &third);
        check_row(*state, 2, v2, &second);
        check_row(*state, 4, v2, &column);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_past_row)};
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
