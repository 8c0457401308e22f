/* Comparing device memory can fail: every allocation, every kind of wrong. */

#include "copying.h"
#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

static struct stage *open_mixed(struct test_device *device, struct scene *scene)
{
    struct stage *stage = test_malloc(sizeof(*stage));

    scene_init(scene, "test_stage", "mixed");
    scene_fill_mixed(scene, SCENE_POST);
    stage_prepare(stage, device, scene);
    stage_create(stage, device->engine);
    return stage;
}

static void close_mixed(struct stage *stage, struct scene *scene)
{
    stage_close(stage);
    scene_clear(scene);
    test_free(stage);
}

/* Before any call nothing differs; after one, only the reference's call makes
 * it right again. */
static void test_needs_both_sides(void **state)
{
    struct scene scene;
    struct stage *stage = open_mixed(*state, &scene);

    assert_true(stage_compare(stage, 1));
    stage_expect(stage, SCENE_POST);
    assert_false(stage_compare(stage, 1));
    stage_call(stage, SCENE_POST);
    assert_true(stage_compare(stage, 0));
    stage_expect(stage, SCENE_PRE);
    assert_false(stage_compare(stage, 1));
    stage_reset(stage);
    assert_true(stage_compare(stage, 1));
    close_mixed(stage, &scene);
}

/* One wrong byte in any allocation: first, last, in between. */
static void check_every_byte(struct stage *stage)
{
    stage_call(stage, SCENE_POST);
    stage_expect(stage, SCENE_POST);
    for (uint32_t i = 0; i < stage->image_count; i++) {
        const size_t size = stage->images[i].size;
        const size_t places[] = {0, size / 3, size / 2, size - 1};
        for (int place = 0; place < 4; place++) {
            assert_true(stage_compare(stage, 1));
            stage_damage(stage, i, places[place]);
            assert_false(stage_compare(stage, 1));
            stage_damage(stage, i, places[place]);
        }
    }
    assert_true(stage_compare(stage, 1));
}

static void test_sees_every_byte(void **state)
{
    struct scene scene;
    struct stage *stage = open_mixed(*state, &scene);

    check_every_byte(stage);
    close_mixed(stage, &scene);
}

/* The same with all the arrays that slots bring; each call needs its own
 * reference. */
static void test_sees_slots(void **state)
{
    struct stage *stage = test_malloc(sizeof(*stage));
    struct scene scene;

    scene_init(&scene, __func__, "mixed");
    scene_fill_mixed(&scene, SCENE_POST);
    scene_use_v2(&scene, SCENE_POST, 5);
    scene.slots_per_row = 2;
    scene.uses_starts = 1;
    scene.now = SCENE_NOW_BESIDE;
    for (uint32_t i = 0; i < scene.row_count; i++) {
        scene_set_copy(&scene, i, 0, 1, 0);
    }
    stage_prepare(stage, *state, &scene);
    stage_create(stage, stage->device->engine);
    for (int op = SCENE_POST; op <= SCENE_INDICES; op++) {
        stage_reset(stage);
        stage_call(stage, (enum scene_operation)op);
        assert_false(stage_compare(stage, 1));
        stage_expect(stage, (enum scene_operation)op);
        assert_true(stage_compare(stage, 0));
    }
    check_every_byte(stage);
    close_mixed(stage, &scene);
}

/* A reference that copied, cleared or permuted something else is no match. */
static void test_copying_sees(void **state)
{
    struct test_device *device = *state;
    struct copying *copying = copying_new(__func__, "two layouts");
    const struct ref_block_copy other = {0, 0, 2, 2, 0};
    const int32_t block = 1;

    scene_add_group(&copying->scene, 1);
    for (uint32_t side = 0; side < 2; side++) {
        scene_add_pool(&copying->scene, SCENE_BUFFER);
        scene_add_conv(&copying->scene, side, REF_CONV_DS, 3, 4, 3, 2);
        scene_add_temporal(&copying->scene, side, 3, 20);
    }
    copying_open_two(copying, device, device->engine);
    copying_copy(copying, COPIES({0, 1, 1, 1, 0}));
    assert_true(stage_compare(&copying->stage, 1));
    ref_copy_blocks(copying->from_states, copying->to_states, 2, &other, 1);
    assert_false(stage_compare(&copying->stage, 1));
    copying_copy(copying, COPIES({0, 0, 0, 0, 0})); /* right again */
    copying_zero(copying, 0, (const int32_t[]){2}, 1);
    assert_true(stage_compare(&copying->stage, 1));
    ref_zero_blocks(copying->to_states, 2, 0, &block, 1);
    assert_false(stage_compare(&copying->stage, 1));
    copying_close(copying);
}

/* The same for memory that is no plain buffer. */
static void test_sees_other_memory(void **state)
{
    static const enum scene_pool_kind kinds[] = {SCENE_SVM, SCENE_HOST_POINTER};
    struct test_device *device = *state;

    for (int kind = 0; kind < 2; kind++) {
        struct stage *stage;
        struct scene scene;
        if (kinds[kind] == SCENE_SVM && !device_has_svm(device)) {
            continue;
        }
        stage = test_malloc(sizeof(*stage));
        scene_init(&scene, __func__, "kind %d", kind);
        scene_add_pool(&scene, kinds[kind]);
        scene_add_temporal(&scene, 0, 4, 50);
        scene_add_group(&scene, 2);
        stage_prepare(stage, device, &scene);
        assert_true(stage_compare(stage, 1));
        stage_damage(stage, 0, 70);
        assert_false(stage_compare(stage, 1));
        stage_close(stage);
        scene_clear(&scene);
        test_free(stage);
    }
}

/* Each outcome that the mixed scene is made of really occurs in it. */
static void test_mixed_scene_is_mixed(void **state)
{
    struct test_device *device = *state;

    for (int op = SCENE_PRE; op <= SCENE_POST; op++) {
        struct stage *stage = test_malloc(sizeof(*stage));
        struct scene scene;
        uint32_t copies = 0, resets = 0, kinds = 0;
        scene_init(&scene, __func__, "operation %d", op);
        scene_fill_mixed(&scene, (enum scene_operation)op);
        stage_prepare(stage, device, &scene);
        for (uint32_t row = 0; row < scene.row_count; row++) {
            struct ref_decision decision =
                op == SCENE_PRE ? ref_decide_pre(&stage->reference, row)
                                : ref_decide_post(&stage->reference, row);
            copies += (uint32_t)decision.copy;
            resets += (uint32_t)decision.reset;
            kinds |= 1u << decision.fault.kind;
        }
        assert_true(copies >= 5);
        assert_true(resets >= 2);
        assert_int_equal(kinds, 0x1f); /* no fault, and each kind of one */
        stage_close(stage);
        scene_clear(&scene);
        test_free(stage);
    }
}

static void test_messages(void **state)
{
    struct test_device *device = *state;

    device_clear_messages(device);
    device->log.callback(device->log.user, CLMOVE_LOG_ERROR, "the first");
    device->log.callback(device->log.user, CLMOVE_LOG_ERROR, "the second");
    device_expect_message(device, "the first");
    device_expect_message(device, "second");
    device_clear_messages(device);
    assert_string_equal(device->messages, "");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_needs_both_sides),
        cmocka_unit_test(test_sees_every_byte),
        cmocka_unit_test(test_sees_slots),
        cmocka_unit_test(test_copying_sees),
        cmocka_unit_test(test_sees_other_memory),
        cmocka_unit_test(test_mixed_scene_is_mixed),
        cmocka_unit_test(test_messages),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
