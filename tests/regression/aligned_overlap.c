/* Overlap with source and destination in phase: tenstorrent/tt-metal issue
 * 50726. */

/* Source: tenstorrent/tt-metal issue 50726. Where both had one phase modulo 16,
 * a bulk copy without an order took over, and a row shifted up could read back
 * what had just been written. */

#include "moving.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>
#include <string.h>

static void test_shifts(void **state)
{
    static const size_t sizes[] = {8192, 8193, 12000, 1 << 20};
    static const int shifts[] = {16, 32, 48, -16, 1, 8191};
    struct test_device *device = *state;
    struct moving moving;
    char detail[64];

    for (size_t i = 0; i < 4; i++) {
        moving_open(&moving, device, MOVING_BUFFER, sizes[i] + 8192);
        for (size_t j = 0; j < 6; j++) {
            for (uint32_t v = 0; v <= CLMOVE_VARIANT_SEGMENTS; v++) {
                struct moving_move move = {&moving, &moving, 0, 0, sizes[i], v};
                move.src_offset = shifts[j] < 0 ? (size_t)-shifts[j] : 0;
                move.dst_offset = shifts[j] > 0 ? (size_t)shifts[j] : 0;
                if (v == CLMOVE_VARIANT_DRIVER || v == CLMOVE_VARIANT_DISJOINT)
                    continue;
                moving_fill(&moving, i * 10 + j);
                moving_move(device->engine, &move);
                snprintf(detail, sizeof(detail), "%s, size %zu, shift %d",
                         clmove_variant_name(v), sizes[i], shifts[j]);
                assert_true(moving_check(&moving, __func__, detail));
            }
        }
        moving_close(&moving);
    }
}

/* A copy in the wrong order gives 0 1 0 1 0 1 0 1. */
static void test_literal(void **state)
{
    static const unsigned char before[] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const unsigned char after[] = {0, 1, 0, 1, 2, 3, 4, 5};
    struct test_device *device = *state;
    struct moving moving;

    moving_open(&moving, device, MOVING_BUFFER, sizeof(before));
    for (uint32_t v = CLMOVE_VARIANT_GROUP; v <= CLMOVE_VARIANT_SEGMENTS; v++) {
        moving_load(&moving, before);
        moving_move(device->engine,
                    &(struct moving_move){&moving, &moving, 0, 2, 6, v});
        memcpy(moving.expected, after, sizeof(after));
        assert_true(moving_check(&moving, __func__, clmove_variant_name(v)));
    }
    moving_close(&moving);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shifts),
        cmocka_unit_test(test_literal),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
