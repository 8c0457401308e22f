/* Barriers that only some items reach: gwoltman/gpuowl PR 15. */

/* Source: gwoltman/gpuowl PR 15, arrayfire/arrayfire PR 3535, pocl/pocl issue
 * 1167. Barriers inside branches that some items skip hang, or leave stale
 * data, depending on the driver. Sizes just off a work-group's; meson's time
 * limit catches a hang. */

#include "moving.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>

static void test_sizes(void **state)
{
    static const size_t sizes[] = {1,   63,  64,   65,
                                   255, 257, 4097, (1 << 20) + 1};
    static const uint32_t groups[] = {0, 64, 256};
    struct test_device *device = *state;
    struct moving moving;
    char detail[96];

    moving_open(&moving, device, MOVING_BUFFER, (1 << 20) + 100);
    for (size_t g = 0; g < 3; g++) {
        const struct moving_shape shape = {.group_size = groups[g],
                                           .gpu_text = 1};
        struct clmove_engine *engine = moving_engine(device, &shape);
        for (size_t i = 0; i < 8; i++) {
            for (uint32_t v = CLMOVE_VARIANT_GROUP;
                 v <= CLMOVE_VARIANT_SEGMENTS; v++) {
                moving_fill(&moving, i);
                moving_move(engine, &(struct moving_move){&moving, &moving, 37,
                                                          20, sizes[i], v});
                moving_move(engine, &(struct moving_move){&moving, &moving, 20,
                                                          53, sizes[i], v});
                snprintf(detail, sizeof(detail), "%s, size %zu, group %u",
                         clmove_variant_name(v), sizes[i], groups[g]);
                assert_true(moving_check(&moving, __func__, detail));
            }
        }
        clmove_engine_destroy(&engine);
    }
    moving_close(&moving);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes)};
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
