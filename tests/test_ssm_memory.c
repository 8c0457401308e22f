/* State copies over every kind of memory that may hold the states. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

static void add_rows(struct scene *scene)
{
    scene_add_group(scene, 4);
    scene_add_crossing_rows(scene, 2, 2);
    scene_add_in_place_rows(scene, 2, 1);
    scene_own_blocks(scene, 1, 4);
}

enum { BLOCKS = 17 };

/* From one buffer to more than any one launch can take. */
static void test_many_buffers(void **state)
{
    static const uint32_t counts[] = {1, 2, 3, 15, 16, 17, 40, 63, 64, 65, 90};
    struct test_device *device = *state;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        for (int operation = SCENE_PRE; operation <= SCENE_POST; operation++) {
            struct scene scene;
            scene_init(&scene, __func__, "%s, %u buffers",
                       operation == SCENE_PRE ? "pre" : "post", counts[i]);
            scene.accepted_in_place = i % 2 == 0;
            for (uint32_t pool = 0; pool < counts[i]; pool++) {
                scene_add_pool(&scene, SCENE_BUFFER);
                if (pool % 3 == 2) {
                    scene_add_temporal(&scene, pool, BLOCKS, 40 + pool);
                } else {
                    scene_add_conv(&scene, pool,
                                   pool % 3 ? REF_CONV_SD : REF_CONV_DS, BLOCKS,
                                   5, 3 + pool % 4, 2);
                }
            }
            add_rows(&scene);
            if (operation == SCENE_PRE) {
                scene.rows[0].computed = 16;
                scene.rows[1].computed = 18;
                scene.rows[0].column = scene.rows[1].column = 0;
            }
            scene_check(&scene, device, device->engine,
                        (enum scene_operation)operation);
            scene_clear(&scene);
        }
    }
}

/* Tables in buffers of their own, beside many states. */
static void test_many_groups(void **state)
{
    static const uint32_t counts[] = {1, 5, 31, 32};
    struct test_device *device = *state;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct scene scene;
        scene_init(&scene, __func__, "%u groups", counts[i]);
        for (uint32_t group = 0; group < counts[i]; group++) {
            uint32_t pool = scene_add_pool(&scene, SCENE_BUFFER);
            scene_add_conv(&scene, pool, REF_CONV_SD, BLOCKS, 5, 4, 2)->group =
                group;
            if (group + 1 < counts[i]) {
                scene_add_group(&scene, 4 + group % 2);
            }
        }
        add_rows(&scene);
        scene_check(&scene, device, device->engine, SCENE_POST);
        scene_clear(&scene);
    }
}

static void test_more_groups_in_one_buffer(void **state)
{
    struct test_device *device = *state;
    struct scene scene;
    uint32_t pool;

    scene_init(&scene, __func__, "40 groups");
    scene.shared_tables = 1;
    pool = scene_add_pool(&scene, SCENE_BUFFER);
    for (uint32_t group = 0; group < 40; group++) {
        scene_add_conv(&scene, pool, REF_CONV_DS, BLOCKS, 5, 4, 1)->group =
            group;
        if (group < 39) {
            scene_add_group(&scene, 4);
        }
    }
    add_rows(&scene);
    scene_check(&scene, device, device->engine, SCENE_POST);
    scene_clear(&scene);
}

/* Layers of two groups share one pool; their tables name other blocks. */
static void test_shared_pool(void **state)
{
    struct test_device *device = *state;
    struct scene scene;
    uint32_t pool;

    scene_init(&scene, __func__, "two groups, one range");
    pool = scene_add_pool(&scene, SCENE_BUFFER);
    scene_add_conv(&scene, pool, REF_CONV_SD, 40, 5, 8, 2)->offset = 0;
    scene_add_conv(&scene, pool, REF_CONV_SD, 40, 5, 8, 2)->offset = 0;
    scene.states[1].group = 1;
    scene_add_group(&scene, 4);
    add_rows(&scene);
    for (uint32_t row = 0; row < 4; row++) {
        int32_t first = 20 + 4 * (int32_t)row;
        scene_set_entries(&scene, 1, row,
                          ENTRIES(first, first + 1, first + 2, first + 3));
    }
    scene_check(&scene, device, device->engine, SCENE_POST);
    scene_clear(&scene);
}

/* Windows of a buffer, beside states that name the buffer itself. */
static void test_sub_buffers(void **state)
{
    struct test_device *device = *state;
    uint64_t align = device->info.base_align_bits / 8;

    for (int parent_too = 0; parent_too < 2; parent_too++) {
        struct scene scene;
        uint32_t parent;
        scene_init(&scene, __func__, "parent named %d", parent_too);
        parent = scene_add_pool(&scene, SCENE_BUFFER);
        if (parent_too) {
            scene_add_conv(&scene, parent, REF_CONV_SD, BLOCKS, 5, 8, 2);
            scene_add_temporal(&scene, parent, BLOCKS, 50);
        }
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t child = scene_add_pool(&scene, SCENE_SUB_BUFFER);
            scene.pools[child].parent = parent;
            scene.pools[child].origin =
                (4096 + 4096 * i + align - 1) / align * align;
            scene_add_conv(&scene, child, REF_CONV_DS, BLOCKS, 5, 6, 2);
            scene_add_temporal(&scene, child, BLOCKS, 31);
        }
        add_rows(&scene);
        scene_check(&scene, device, device->engine, SCENE_POST);
        scene_clear(&scene);
    }
}

static void test_svm(void **state)
{
    struct test_device *device = *state;

    if (!device_has_svm(device)) {
        runner_skip("the device has no shared virtual memory");
    }
    for (int mixed = 0; mixed < 3; mixed++) {
        struct scene scene;
        static const char *const names[] = {"all", "beside buffers", "odd"};
        scene_init(&scene, __func__, "%s", names[mixed]);
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t pool = scene_add_pool(
                &scene, mixed == 1 && i % 2 ? SCENE_BUFFER : SCENE_SVM);
            uint64_t offset = mixed == 2 ? 1 + 2 * i : 0;
            scene_add_conv(&scene, pool, i % 2 ? REF_CONV_SD : REF_CONV_DS,
                           BLOCKS, 5, 6, 4)
                ->offset = offset;
            scene_add_temporal(&scene, pool, BLOCKS, 100);
        }
        add_rows(&scene);
        scene_check(&scene, device, device->engine, SCENE_POST);
        scene_clear(&scene);
    }
}

/* Many SVM pools: each is a pointer of its own to bind. */
static void test_many_svm(void **state)
{
    struct test_device *device = *state;
    struct scene scene;

    if (!device_has_svm(device)) {
        runner_skip("the device has no shared virtual memory");
    }
    scene_init(&scene, __func__, "20 allocations");
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t pool = scene_add_pool(&scene, SCENE_SVM);
        scene_add_conv(&scene, pool, REF_CONV_SD, BLOCKS, 5, 6, 2);
    }
    add_rows(&scene);
    scene_check(&scene, device, device->engine, SCENE_POST);
    scene_clear(&scene);
}

/* A buffer over host memory at an odd address: nothing is aligned then. */
static void test_host_pointer(void **state)
{
    struct test_device *device = *state;

    for (uint64_t offset = 0; offset < 17; offset++) {
        struct scene scene;
        uint32_t pool;
        scene_init(&scene, __func__, "offset %u", (unsigned)offset);
        pool = scene_add_pool(&scene, SCENE_HOST_POINTER);
        scene_add_conv(&scene, pool, REF_CONV_SD, BLOCKS, 5, 16, 2)->offset =
            offset;
        scene_add_conv(&scene, pool, REF_CONV_DS, BLOCKS, 5, 16, 8);
        scene_add_temporal(&scene, pool, BLOCKS, 256);
        add_rows(&scene);
        scene_check(&scene, device, device->engine, SCENE_POST);
        scene_clear(&scene);
    }
}

/* Memory of size 0 is the rest of its buffer. */
static void test_rest_of_buffer(void **state)
{
    struct test_device *device = *state;
    struct scene scene;

    scene_init(&scene, __func__, "size 0");
    scene.rest_of_memory = 1;
    scene_fill_mixed(&scene, SCENE_POST);
    scene_check(&scene, device, device->engine, SCENE_POST);
    scene_clear(&scene);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_buffers),
        cmocka_unit_test(test_many_groups),
        cmocka_unit_test(test_more_groups_in_one_buffer),
        cmocka_unit_test(test_shared_pool),
        cmocka_unit_test(test_sub_buffers),
        cmocka_unit_test(test_svm),
        cmocka_unit_test(test_many_svm),
        cmocka_unit_test(test_host_pointer),
        cmocka_unit_test(test_rest_of_buffer),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
