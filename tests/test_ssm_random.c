/* Random scenes against the reference, a fixed range of seeds. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

static void check_seeds(struct test_device *device, const char *test,
                        struct clmove_engine *engine, uint64_t from,
                        uint64_t to, uint32_t limit)
{
    for (uint64_t seed = from; seed < to; seed++) {
        enum scene_operation operation = seed % 2 ? SCENE_PRE : SCENE_POST;
        struct scene scene;
        scene_init(&scene, test, "seed %u", (unsigned)seed);
        scene_fill_random(&scene, seed, limit);
        scene_check(&scene, device, engine, operation);
        scene_clear(&scene);
    }
}

static void test_random(void **state)
{
    struct test_device *device = *state;
    check_seeds(device, __func__, device->engine, 1, 400, 24);
}

static void test_random_small_groups(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = device_engine(device, 3, 7, NULL);
    check_seeds(device, __func__, engine, 1000, 1200, 24);
    clmove_engine_destroy(&engine);
}

/* The same scenes by slots, with each flag. */
static void test_random_v2(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = device_engine(device, 3, 7, NULL);

    for (uint64_t seed = 2000; seed < 2400; seed++) {
        enum scene_operation operation = seed % 2 ? SCENE_PRE : SCENE_POST;
        struct scene scene;
        scene_init(&scene, __func__, "seed %u", (unsigned)seed);
        scene_fill_random(&scene, seed, 24);
        scene_use_v2(&scene, operation, seed / 2);
        if (seed % 5 == 0) {
            scene_set_slot(&scene, 0, seed % 10 ? -1 : 1000000);
        }
        scene.keep_accepted = seed % 3 == 0;
        scene.skip_temporal = seed % 7 == 0;
        scene_check(&scene, device, seed % 4 ? device->engine : engine,
                    operation);
        scene_clear(&scene);
    }
    clmove_engine_destroy(&engine);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_random_small_groups),
        cmocka_unit_test(test_random_v2),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
