/* State copies at every launch shape, in sequence, on every kind of queue. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

static void test_launch_shapes(void **state)
{
    static const uint32_t sizes[] = {1, 2, 3, 32, 64, 100, 256, 1024};
    static const uint32_t counts[] = {1, 2, 7, 0};
    struct test_device *device = *state;

    for (int size = 0; size < 8; size++) {
        for (int count = 0; count < 4; count++) {
            struct clmove_engine *engine =
                device_engine(device, sizes[size], counts[count], NULL);
            for (int op = SCENE_PRE; op <= SCENE_POST; op++) {
                struct scene scene;
                scene_init(&scene, __func__, "%s, group size %u, groups %u",
                           op == SCENE_PRE ? "pre" : "post", sizes[size],
                           counts[count]);
                scene_fill_mixed(&scene, (enum scene_operation)op);
                scene.accepted_in_place = count % 2;
                scene_check(&scene, device, engine, (enum scene_operation)op);
                scene_clear(&scene);
            }
            clmove_engine_destroy(&engine);
            assert_null(engine);
        }
    }
}

/* What was asked for is what the engine says it uses. */
static void test_engine_describes_shape(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = device_engine(device, 3, 7, NULL);
    struct clmove_engine_info info;

    assert_int_equal(clmove_engine_describe(engine, &info), CLMOVE_SUCCESS);
    assert_int_equal(info.group_size, 3);
    assert_int_equal(info.group_count, 7);
    assert_true(info.device.device == device->info.device);
    clmove_engine_destroy(&engine);
    assert_int_equal(clmove_engine_describe(device->engine, &info),
                     CLMOVE_SUCCESS);
    assert_true(info.group_size >= 1 && info.group_count >= 1);
    assert_true(info.group_size <= device->info.max_group_size);
    assert_true(info.tile_size >= 1 && info.slice_rows >= 1);
}

static void test_zero_rows(void **state)
{
    struct test_device *device = *state;

    for (int in_place = 0; in_place < 2; in_place++) {
        for (int op = SCENE_PRE; op <= SCENE_POST; op++) {
            struct scene scene;
            uint32_t pool;
            scene_init(&scene, __func__, "%s, in place %d",
                       op == SCENE_PRE ? "pre" : "post", in_place);
            scene.accepted_in_place = scene.column_in_place = in_place;
            scene.max_rows = 5;
            pool = scene_add_pool(&scene, SCENE_BUFFER);
            scene_add_temporal(&scene, pool, 3, 40);
            scene_add_group(&scene, 2);
            scene_check(&scene, device, device->engine,
                        (enum scene_operation)op);
            scene_clear(&scene);
        }
    }
}

/* Fewer rows than the step was made for: the others' numbers look like work,
 * but they are not in the batch. */
static void test_fewer_rows(void **state)
{
    struct test_device *device = *state;
    struct stage *stage = test_malloc(sizeof(*stage));
    struct scene scene;

    scene_init(&scene, __func__, "3 of 13 rows");
    scene_fill_mixed(&scene, SCENE_POST);
    stage_prepare(stage, device, &scene);
    stage_create(stage, device->engine);
    scene.row_count = 3;
    stage->reference.rows = 3;
    stage_call(stage, SCENE_POST);
    stage_expect(stage, SCENE_POST);
    assert_true(stage_compare(stage, 0));
    scene.row_count = 13; /* and all of them afterwards */
    stage->reference.rows = 13;
    stage_call(stage, SCENE_POST);
    stage_expect(stage, SCENE_POST);
    assert_true(stage_compare(stage, 0));
    stage_close(stage);
    scene_clear(&scene);
    test_free(stage);
}

/* A step serves many calls; each sees what the last one left. */
static void test_repeated_calls(void **state)
{
    struct test_device *device = *state;

    for (int in_place = 0; in_place < 2; in_place++) {
        struct stage *stage = test_malloc(sizeof(*stage));
        struct scene scene;
        scene_init(&scene, __func__, "in place %d", in_place);
        scene_fill_mixed(&scene, SCENE_POST);
        scene.accepted_in_place = scene.column_in_place = in_place;
        stage_prepare(stage, device, &scene);
        stage_create(stage, device->engine);
        for (int i = 0; i < 6; i++) {
            enum scene_operation op = i % 3 == 2 ? SCENE_PRE : SCENE_POST;
            stage_call(stage, op);
            stage_expect(stage, op);
            assert_true(stage_compare(stage, 0));
        }
        stage_close(stage);
        scene_clear(&scene);
        test_free(stage);
    }
}

/* Batches larger than local memory holds are taken in slices. */
static void test_slices(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine_info info;
    struct scene scene;
    uint32_t pool;

    assert_int_equal(clmove_engine_describe(device->engine, &info),
                     CLMOVE_SUCCESS);
    scene_init(&scene, __func__, "512 rows, slices of %u", info.slice_rows);
    pool = scene_add_pool(&scene, SCENE_BUFFER);
    scene_add_conv(&scene, pool, REF_CONV_DS, 2049, 4, 3, 1);
    scene_add_temporal(&scene, pool, 2049, 5);
    scene_add_group(&scene, 4);
    scene_add_crossing_rows(&scene, 200, 1);
    scene_add_in_place_rows(&scene, 112, 2);
    scene_add_crossing_rows(&scene, 200, 0);
    scene_own_blocks(&scene, 1, 4);
    for (uint32_t row = 7; row < 512; row += 31) {
        scene_set_entries(&scene, 0, row, ENTRIES(-7)); /* some at fault */
    }
    scene_check(&scene, device, device->engine, SCENE_POST);
    scene_clear(&scene);
}

enum { CHAIN = 8 };

/* Calls on an out-of-order queue, ordered by their events alone; the first
 * one waits for a command of the caller's. */
static void test_out_of_order(void **state)
{
    struct test_device *device = *state;
    cl_command_queue queue = device_out_of_order_queue(device);
    cl_event events[CHAIN];

    if (!queue) {
        runner_skip("the device has no out-of-order queue");
        return;
    }
    for (int in_place = 0; in_place < 2; in_place++) {
        struct stage *stage = test_malloc(sizeof(*stage));
        struct scene scene;
        scene_init(&scene, __func__, "in place %d", in_place);
        scene_fill_mixed(&scene, SCENE_POST);
        scene.accepted_in_place = scene.column_in_place = in_place;
        stage_prepare(stage, device, &scene);
        stage_create(stage, device->engine);
        for (int i = 0; i < CHAIN; i++) {
            enum scene_operation op = i % 2 ? SCENE_PRE : SCENE_POST;
            events[i] = stage_enqueue(stage, op, queue, i > 0,
                                      i > 0 ? &events[i - 1] : NULL);
            stage_expect(stage, op);
        }
        assert_int_equal(clWaitForEvents(1, &events[CHAIN - 1]), CL_SUCCESS);
        for (int i = 0; i < CHAIN; i++) {
            clReleaseEvent(events[i]);
        }
        assert_true(stage_compare(stage, 0));
        stage_close(stage);
        scene_clear(&scene);
        test_free(stage);
    }
    clReleaseCommandQueue(queue);
}

/* Without an event asked for, and with layout and engine gone before the call:
 * a step keeps what it needs. */
static void test_objects_outlive(void **state)
{
    struct test_device *device = *state;
    struct stage *stage = test_malloc(sizeof(*stage));
    struct clmove_engine *engine = device_engine(device, 0, 0, NULL);
    struct scene scene;

    scene_init(&scene, __func__, "engine and layout destroyed");
    scene_fill_mixed(&scene, SCENE_POST);
    stage_prepare(stage, device, &scene);
    stage_create(stage, engine);
    clmove_engine_destroy(&engine);
    clmove_ssm_layout_destroy(&stage->layout);
    assert_int_equal(clmove_enqueue_ssm_post(stage->step, scene.row_count,
                                             device->queue, 0, NULL, NULL),
                     CLMOVE_SUCCESS);
    clmove_ssm_step_destroy(&stage->step);
    assert_int_equal(clFinish(device->queue), CL_SUCCESS);
    stage_expect(stage, SCENE_POST);
    assert_true(stage_compare(stage, 0));
    stage_close(stage);
    scene_clear(&scene);
    test_free(stage);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launch_shapes),
        cmocka_unit_test(test_engine_describes_shape),
        cmocka_unit_test(test_zero_rows),
        cmocka_unit_test(test_fewer_rows),
        cmocka_unit_test(test_repeated_calls),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_objects_outlive),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
