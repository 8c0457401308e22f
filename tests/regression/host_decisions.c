/* Old reports about device decisions, with the host in their place. */

/* Sources: vllm-project/vllm PR 50432 (layers of one request disagreed), issue
 * 41884 (a temporal source past the row), issue 53505 (boundaries). Each step
 * is decided row by row, made a list of block ids, and given to
 * clmove_enqueue_ssm_copy; the pool must be what post-process leaves. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

#include <string.h>

enum { MAX_COPIES = 256 };

static int32_t entry_of(const struct stage *stage, uint32_t group, uint32_t row,
                        int64_t column)
{
    const struct ref_table *table = &stage->ref_tables[group];
    return table->entries[(size_t)row * table->row_stride + (size_t)column];
}

/* One entry per group for each row that copies and is not at fault. */
static size_t list_copies(const struct stage *stage,
                          struct clmove_ssm_copy *copies)
{
    size_t count = 0;

    for (uint32_t row = 0; row < stage->scene->row_count; row++) {
        struct ref_decision decision = ref_decide_post(&stage->reference, row);
        if (!decision.copy) {
            continue;
        }
        for (uint32_t group = 0; group < stage->scene->group_count; group++) {
            struct clmove_ssm_copy *copy = &copies[count++];
            assert_true(count <= MAX_COPIES);
            copy->group = group;
            copy->bias = (uint32_t)decision.bias;
            copy->conv_from = entry_of(stage, group, row, decision.source);
            copy->temporal_from =
                entry_of(stage, group, row, decision.source + decision.bias);
            copy->to = entry_of(stage, group, row, decision.destination);
        }
    }
    return count;
}

static clmove_status enqueue(const struct stage *stage,
                             const struct clmove_ssm_copy *copies, size_t count)
{
    cl_command_queue queue = stage->device->queue;
    clmove_status status = clmove_enqueue_ssm_copy(
        stage->layout, stage->layout, copies, count, queue, 0, NULL, NULL);

    assert_int_equal(clFinish(queue), CL_SUCCESS);
    return status;
}

/* The host has its own accepted counts: the device's stay as they were. */
static void compare_pools(struct stage *stage)
{
    for (uint32_t i = stage->scene->pool_count; i < stage->image_count; i++) {
        memcpy(stage->images[i].expected, stage->images[i].before,
               stage->images[i].size);
    }
    assert_true(stage_compare(stage, 0));
}

/* Returns the number of entries. */
static size_t check_scene(struct scene *scene, struct test_device *device)
{
    struct stage *stage = test_malloc(sizeof(*stage));
    struct clmove_ssm_copy copies[MAX_COPIES];
    size_t count;

    stage_prepare(stage, device, scene);
    stage_create(stage, device->engine);
    count = list_copies(stage, copies);
    device_clear_messages(device);
    if (enqueue(stage, copies, count) != CLMOVE_SUCCESS) {
        print_error("case \"%s\": %s", scene->detail, device->messages);
        fail();
    }
    stage_expect(stage, SCENE_POST);
    compare_pools(stage);
    stage_close(stage);
    scene_clear(scene);
    test_free(stage);
    return count;
}

/* 64 requests, 96 states in 12 pools: every state of each is shifted by 2. */
static void test_all_layers(void **state)
{
    struct scene scene;

    scene_init(&scene, __func__, "64 requests, 96 states");
    scene.tokens_per_block = 8;
    for (uint32_t i = 0; i < 12; i++) {
        scene_add_pool(&scene, SCENE_BUFFER);
    }
    for (uint32_t i = 0; i < 96; i++) {
        if (i % 3 == 2) {
            scene_add_temporal(&scene, i % 12, 193, 24);
        } else {
            scene_add_conv(&scene, i % 12, i % 3 ? REF_CONV_DS : REF_CONV_SD,
                           193, 5, 4, 2);
        }
    }
    scene_add_group(&scene, 3);
    for (int i = 0; i < 64; i++) {
        scene_add_row(&scene, 5, 3, 2, 3, 0);
    }
    scene_own_blocks(&scene, 1, 3);
    assert_int_equal(check_scene(&scene, *state), 64);
}

static void test_boundaries(void **state)
{
    static const int32_t cases[][5] = {{6, 3, 2, 2, 1}, {6, 3, 2, 1, 1},
                                       {6, 3, 2, 3, 1}, {5, 3, 2, 3, 0},
                                       {7, 1, 0, 1, 0}, {7, 3, 2, 0, 0}};
    static const size_t counts[] = {1, 0, 1, 1, 0, 0};

    for (int i = 0; i < 6; i++) {
        struct scene scene;
        scene_init(&scene, __func__, "case %d", i);
        scene.tokens_per_block = 8;
        scene_add_pool(&scene, SCENE_BUFFER);
        scene_add_conv(&scene, 0, REF_CONV_SD, 5, 5, 16, 1);
        scene_add_conv(&scene, 0, REF_CONV_DS, 5, 5, 16, 1);
        scene_add_temporal(&scene, 0, 5, 40);
        scene_add_group(&scene, 4);
        scene_add_row(&scene, cases[i][0], cases[i][1], cases[i][2],
                      cases[i][3], cases[i][4]);
        scene_set_entries(&scene, 0, 0, ENTRIES(1, 2, 3, 4));
        assert_int_equal(check_scene(&scene, *state), counts[i]);
    }
}

/* A host that takes the entry past the row as a block is told so, and nothing
 * of the list is done. */
static void test_past_row(void **state)
{
    static const struct clmove_ssm_copy copies[] = {
        {0, 2, 2, 4, 1}, {0, 2, 8, INT32_MIN, 7}, {0, 2, 6, 10, 5}};
    static const struct clmove_ssm_copy past[] = {{0, 2, 2, 4, 1},
                                                  {0, 2, 8, 12, 7}};
    struct test_device *device = *state;
    struct stage *stage = test_malloc(sizeof(*stage));
    struct scene scene;

    scene_init(&scene, __func__, "entry 1 is wrong");
    scene_add_pool(&scene, SCENE_BUFFER);
    scene_add_temporal(&scene, 0, 12, 100);
    scene_add_conv(&scene, 0, REF_CONV_SD, 12, 6, 8, 2);
    scene_add_group(&scene, 4);
    stage_prepare(stage, device, &scene);
    stage_create(stage, device->engine);
    device_clear_messages(device);
    assert_int_equal(enqueue(stage, copies, 3), CLMOVE_OUT_OF_RANGE);
    device_expect_message(device, "entry 1");
    device_expect_message(device, "-2147483648");
    device_clear_messages(device);
    assert_int_equal(enqueue(stage, past, 2), CLMOVE_OUT_OF_RANGE);
    device_expect_message(device, "entry 1");
    device_expect_message(device, "12");
    compare_pools(stage);
    stage_close(stage);
    scene_clear(&scene);
    test_free(stage);
}

/* The mixed scene: its faults are the host's to leave out. */
static void test_mixed(void **state)
{
    struct scene scene;

    scene_init(&scene, __func__, "post");
    scene_fill_mixed(&scene, SCENE_POST);
    assert_int_equal(check_scene(&scene, *state), 2 * 6);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_layers),
        cmocka_unit_test(test_boundaries),
        cmocka_unit_test(test_past_row),
        cmocka_unit_test(test_mixed),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
