/* Every phase of short copies: vllm-project/vllm PR 49436. */

/* Source: vllm-project/vllm PR 49436 (review) and PR 48110. A copy by 8-byte
 * words formed a word at a misaligned address when the length was shorter than
 * the way to the first aligned byte. */

#include "moving.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>

enum { PHASES = 256, SLOT = 16 + 16 + 48 + 16, MEMORY = PHASES * SLOT };

/* 16 x 16 phases of one length at once; between two buffers and, as the guards
 * of a slot are part of the comparison, with bytes on both sides kept. */
static size_t check_length(struct moving *one, struct moving *other,
                           struct clmove_engine *engine, uint32_t variant,
                           size_t size)
{
    char detail[64];

    snprintf(detail, sizeof(detail), "%s, length %zu",
             clmove_variant_name(variant), size);
    moving_fill(one, size);
    moving_fill(other, size + 100);
    for (size_t i = 0; i < PHASES; i++) {
        const struct moving_move move = {.src = one,
                                         .dst = other,
                                         .src_offset = i * SLOT + 16 + i / 16,
                                         .dst_offset = i * SLOT + 16 + i % 16,
                                         .size = size,
                                         .variant = variant};
        moving_move(engine, &move);
    }
    assert_true(moving_check(one, "test_phases", detail));
    assert_true(moving_check(other, "test_phases", detail));
    return PHASES;
}

static void test_phases(void **state)
{
    struct test_device *device = *state;
    struct moving one, other;

    moving_open(&one, device, MOVING_BUFFER, MEMORY);
    moving_open(&other, device, MOVING_BUFFER, MEMORY);
    for (int gpu_text = 0; gpu_text < 2; gpu_text++) {
        const struct moving_shape shape = {.gpu_text = gpu_text};
        struct clmove_engine *engine = moving_engine(device, &shape);
        size_t cases = 0;
        for (size_t size = 0; size <= 40; size++) {
            cases += check_length(&one, &other, engine, CLMOVE_VARIANT_DISJOINT,
                                  size);
        }
        assert_int_equal(cases, 10496);
        clmove_engine_destroy(&engine);
    }
    moving_close(&one);
    moving_close(&other);
}

/* The two that the report names, in one buffer. */
static void test_named_cases(void **state)
{
    struct test_device *device = *state;
    struct moving moving;
    const struct moving_move moves[] = {
        {&moving, &moving, 3, 11, 2, CLMOVE_VARIANT_AUTO},
        {&moving, &moving, 3, 4, 16, CLMOVE_VARIANT_AUTO},
    };

    moving_open(&moving, device, MOVING_BUFFER, 64);
    for (size_t i = 0; i < 2; i++) {
        moving_fill(&moving, i);
        moving_move(device->engine, &moves[i]);
        assert_true(moving_check(&moving, __func__, i ? "3 to 4" : "3 to 11"));
    }
    moving_close(&moving);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_named_cases),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
