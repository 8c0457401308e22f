/* Every state kernel over tiny shapes, small enough for a race detector. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

/* Oclgrind runs about a million steps a second: few bytes, few work-items. */

static const int kinds[] = {REF_CONV_SD, REF_CONV_DS, REF_TEMPORAL};

/* A launch shape: 3 items that share a tile, 3 groups that share the work. */
static struct clmove_engine *small_engine(struct test_device *device)
{
    return device_engine(device, 3, 3, NULL);
}

static uint32_t add_state(struct scene *scene, uint32_t pool, int kind,
                          uint32_t width, uint32_t dim, uint32_t element)
{
    if (kind == REF_TEMPORAL) {
        scene_add_temporal(scene, pool, 9, width * dim * element + 1);
    } else {
        scene_add_conv(scene, pool, kind, 9, width, dim, element);
    }
    return scene->state_count - 1;
}

/* Both directions of columns, in place, between two blocks; the memory ends at
 * the last state's last byte, an odd one. */
static void check_shape(struct test_device *device,
                        struct clmove_engine *engine, const char *test,
                        int kind, uint32_t element, uint64_t offset,
                        enum scene_operation operation)
{
    struct scene scene;
    uint32_t pool, index;

    scene_init(&scene, test, "kind %d, element %u, offset %u, %s", kind,
               element, (unsigned)offset,
               operation == SCENE_PRE ? "pre" : "post");
    pool = scene_add_pool(&scene, SCENE_BUFFER);
    scene.pools[pool].lead = 0;
    scene.pools[pool].tail = 0;
    index = add_state(&scene, pool, kind, 4, 3, element);
    scene.states[index].offset = offset;
    if (kind == REF_CONV_DS && element < 4) {
        scene.states[index].row_stride = 4 * element + 1;
    }
    scene_add_group(&scene, 4);
    if (operation == SCENE_POST) {
        scene_add_crossing_rows(&scene, 1, 1);
        scene_add_in_place_rows(&scene, 1, 1);
    } else {
        scene_add_row(&scene, 16, 2, 1, 2, 0);
        scene_add_row(&scene, 33, 2, 1, 2, 0);
        /* one block behind both columns */
    }
    scene_own_blocks(&scene, 1, 4);
    if (operation == SCENE_PRE) {
        scene_set_entries(&scene, 0, 1, ENTRIES(5, 6, 5, 7));
    }
    scene_check(&scene, device, engine, operation);
    scene_clear(&scene);
}

static void test_shapes(void **state)
{
    static const uint64_t offsets[] = {0, 1, 2, 3, 5, 7, 9};
    struct test_device *device = *state;
    struct clmove_engine *engine = small_engine(device);

    for (int kind = 0; kind < 3; kind++) {
        for (uint32_t element = 1; element <= 8; element *= 2) {
            for (int i = 0; i < 7; i++) {
                check_shape(device, engine, __func__, kinds[kind], element,
                            offsets[i], i % 2 ? SCENE_PRE : SCENE_POST);
            }
        }
    }
    clmove_engine_destroy(&engine);
}

static void test_mixed(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = small_engine(device);

    for (int op = SCENE_PRE; op <= SCENE_POST; op++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            struct scene scene;
            scene_init(&scene, __func__, "%s, in place %d",
                       op == SCENE_PRE ? "pre" : "post", in_place);
            scene_fill_mixed(&scene, (enum scene_operation)op);
            scene.accepted_in_place = scene.column_in_place = in_place;
            scene_check(&scene, device, engine, (enum scene_operation)op);
            scene_clear(&scene);
        }
    }
    clmove_engine_destroy(&engine);
}

/* A shape that makes several passes over one tile. */
static void test_wide_windows(void **state)
{
    static const uint32_t widths[] = {9, 17, 33};
    struct test_device *device = *state;
    struct clmove_engine *engine = small_engine(device);

    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < 3; i++) {
            struct scene scene;
            uint32_t pool;
            scene_init(&scene, __func__, "kind %d, width %u", kinds[kind],
                       widths[i]);
            pool = scene_add_pool(&scene, SCENE_BUFFER);
            add_state(&scene, pool, kinds[kind], widths[i], 3, 1);
            scene.pools[pool].tail = 0;
            scene_add_group(&scene, 4);
            scene_add_in_place_rows(&scene, 2, 1);
            scene_own_blocks(&scene, 1, 4);
            scene_check(&scene, device, engine, SCENE_POST);
            scene_clear(&scene);
        }
    }
    clmove_engine_destroy(&engine);
}

/* More than one tile of each kind, on a group of 32 items. */
static void test_several_tiles(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = device_engine(device, 32, 2, NULL);
    struct clmove_engine_info info;

    assert_int_equal(clmove_engine_describe(engine, &info), CLMOVE_SUCCESS);
    for (int kind = 0; kind < 3; kind++) {
        struct scene scene;
        uint32_t pool, dim = info.tile_size / 4 + 33;
        scene_init(&scene, __func__, "kind %d", kinds[kind]);
        if (dim > 20000) {
            dim = 20000;
        }
        pool = scene_add_pool(&scene, SCENE_BUFFER);
        scene.pools[pool].tail = 0;
        add_state(&scene, pool, kinds[kind], 4, dim, 1);
        scene.states[0].block_count = 3;
        scene_add_group(&scene, 2);
        scene_add_in_place_rows(&scene, 1, 1);
        scene_own_blocks(&scene, 1, 2);
        scene_check(&scene, device, engine, SCENE_POST);
        scene_clear(&scene);
    }
    clmove_engine_destroy(&engine);
}

/* Rows of halves whose words lie at odd halves of the stage, but not at their
 * destination. */
static void test_odd_halves(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = small_engine(device);

    for (int bias = 1; bias <= 2; bias++) {
        struct scene scene;
        uint32_t pool;
        scene_init(&scene, __func__, "bias %d", bias);
        pool = scene_add_pool(&scene, SCENE_BUFFER);
        add_state(&scene, pool, REF_CONV_DS, 6, 5, 2);
        scene_add_group(&scene, 4);
        scene_add_crossing_rows(&scene, 1, bias);
        scene_add_in_place_rows(&scene, 1, bias);
        scene_own_blocks(&scene, 1, 4);
        scene_check(&scene, device, engine, SCENE_POST);
        scene_clear(&scene);
    }
    clmove_engine_destroy(&engine);
}

/* Tiles that several groups share, 256 bytes or rows at a time: one of four
 * rows copies, in place, so the last round has fewer tiles than groups. */
static void test_shared_tiles(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = device_engine(device, 32, 3, NULL);

    for (int kind = 0; kind < 3; kind++) {
        struct scene scene;
        uint32_t pool;
        scene_init(&scene, __func__, "kind %d", kinds[kind]);
        pool = scene_add_pool(&scene, SCENE_BUFFER);
        scene.pools[pool].tail = 0;
        add_state(&scene, pool, kinds[kind], 2, 610, 1);
        scene_add_group(&scene, 2);
        scene_add_row(&scene, 1, 2, 1, 1, 0); /* no boundary */
        if (kinds[kind] == REF_TEMPORAL) {
            scene_add_crossing_rows(&scene, 1, 0);
        } else {
            scene_add_in_place_rows(&scene, 1, 1);
        }
        scene_add_row(&scene, 1, 2, 1, 1, 0);
        scene_add_row(&scene, 1, 2, 1, 1, 0);
        scene_own_blocks(&scene, 1, 2);
        scene_check(&scene, device, engine, SCENE_POST);
        scene_clear(&scene);
    }
    clmove_engine_destroy(&engine);
}

/* Every variant of how many buffers a launch takes. */
static void test_banks(void **state)
{
    static const uint32_t counts[] = {2, 9, 20};
    struct test_device *device = *state;
    struct clmove_engine *engine = small_engine(device);

    for (int i = 0; i < 3; i++) {
        struct scene scene;
        scene_init(&scene, __func__, "%u buffers", counts[i]);
        scene.accepted_in_place = 1;
        for (uint32_t pool = 0; pool < counts[i]; pool++) {
            scene_add_pool(&scene, SCENE_BUFFER);
            add_state(&scene, pool, kinds[pool % 3], 4, 2, 1);
        }
        scene_add_group(&scene, 4);
        scene_add_in_place_rows(&scene, 2, 1);
        scene_own_blocks(&scene, 1, 4);
        scene_check(&scene, device, engine, SCENE_POST);
        scene_clear(&scene);
    }
    clmove_engine_destroy(&engine);
}

static void test_random_tiny(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = small_engine(device);

    for (uint64_t seed = 1; seed <= 24; seed++) {
        enum scene_operation op = seed % 2 ? SCENE_PRE : SCENE_POST;
        struct scene scene;
        scene_init(&scene, __func__, "seed %u", (unsigned)seed);
        scene_fill_random(&scene, seed, 8);
        scene_check(&scene, device, engine, op);
        scene_clear(&scene);
    }
    clmove_engine_destroy(&engine);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_wide_windows),
        cmocka_unit_test(test_several_tiles),
        cmocka_unit_test(test_odd_halves),
        cmocka_unit_test(test_shared_tiles),
        cmocka_unit_test(test_banks),
        cmocka_unit_test(test_random_tiny),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
