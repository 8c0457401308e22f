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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_random_small_groups),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
