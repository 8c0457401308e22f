/* Accepted counts reset while others read them: vllm PR 50432. */

/* Source: vllm-project/vllm PR 50432 (also vllm-ascend PR 13013's review). One
 * group stored the reset count where late groups still read it, so layers of
 * one request disagreed. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

enum { REQUESTS = 64, STATES = 96, POOLS = 12 };

static void check_order(struct test_device *device, const char *test, int v2)
{
    struct stage *stage = test_malloc(sizeof(*stage));
    const int runs = device_is_cpu(device) ? 30 : 300;
    struct scene scene;

    scene_init(&scene, test, "64 requests, 96 states, V%d", 1 + v2);
    scene.tokens_per_block = 8;
    scene.accepted_in_place = 1;
    for (uint32_t i = 0; i < POOLS; i++) {
        scene_add_pool(&scene, SCENE_BUFFER);
    }
    for (uint32_t i = 0; i < STATES; i++) {
        if (i % 3 == 2) {
            scene_add_temporal(&scene, i % POOLS, 1 + 3 * REQUESTS, 24);
        } else {
            scene_add_conv(&scene, i % POOLS, i % 3 ? REF_CONV_DS : REF_CONV_SD,
                           1 + 3 * REQUESTS, 5, 4, 2);
        }
    }
    scene_add_group(&scene, 3);
    for (int i = 0; i < REQUESTS; i++) {
        scene_add_row(&scene, 5, 3, 2, 3, 0); /* column 0 to 0, bias 2 */
    }
    scene_own_blocks(&scene, 1, 3);
    if (v2) {
        scene_use_v2(&scene, SCENE_POST, 50432);
    }
    stage_prepare(stage, device, &scene);
    stage_create(stage, device->engine);
    for (int run = 0; run < runs; run++) {
        stage_reset(stage);
        stage_expect(stage, SCENE_POST);
        stage_call(stage, SCENE_POST);
        assert_true(stage_compare(stage, 0));
        for (int i = 0; i < REQUESTS; i++) {
            const int64_t slot = scene_slot(&scene, (uint32_t)i);
            assert_int_equal(stage_actual(stage, STAGE_ACCEPTED_OUT)[slot], 1);
        }
    }
    stage_close(stage);
    scene_clear(&scene);
    test_free(stage);
}

static void test_reset(void **state)
{
    check_order(*state, __func__, 0);
}

static void test_reset_v2(void **state)
{
    check_order(*state, __func__, 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_reset_v2),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
