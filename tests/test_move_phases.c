/* Moves at every alignment of source and destination, in each variant. */

#include "moving.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>

/* All 16 x 16 phases are moved at once, each in a slot of its own, and then the
 * whole memory is compared. */
enum { PHASES = 256, GUARD = 32 };

enum direction { LEFT, RIGHT, APART, DIRECTIONS };

static const char *const direction_names[] = {"left", "right", "apart"};

/* What a round is: one engine, one variant, one size. */
struct round {
    const char *test;
    struct test_device *device;
    struct clmove_engine *engine;
    const struct moving_shape *shape;
    struct moving *one, *other;
    uint32_t variant;
    enum direction direction;
    size_t size;
    size_t far; /* added to the distance, a multiple of 16 */
};

/* The largest slot: 4097 bytes, as far as that. */
enum { SLOT_MAX = 2 * 4096 + 256, MEMORY = PHASES * SLOT_MAX + 7 };

static struct moving_move slot_move(const struct round *round, size_t slot,
                                    size_t src_phase, size_t dst_phase)
{
    struct moving_move move = {.src = round->one,
                               .dst = round->one,
                               .size = round->size,
                               .variant = round->variant};
    const size_t left = (src_phase + 15 - dst_phase) % 16 + 1 + round->far;
    const size_t right = (dst_phase + 15 - src_phase) % 16 + 1 + round->far;

    move.src_offset = slot + GUARD + src_phase;
    move.dst_offset = slot + GUARD + dst_phase;
    if (round->direction == LEFT) {
        move.src_offset = move.dst_offset + left;
    } else if (round->direction == RIGHT) {
        move.dst_offset = move.src_offset + right;
    } else {
        move.dst = round->other;
    }
    return move;
}

static int variant_can(uint32_t variant, const struct moving_move *move)
{
    return !moving_overlaps(move) || (variant != CLMOVE_VARIANT_DRIVER &&
                                      variant != CLMOVE_VARIANT_DISJOINT);
}

static void run_round(const struct round *round)
{
    const size_t slot_size =
        (round->size + round->far + 2 * (size_t)GUARD + 64) / 16 * 16;
    char detail[128];
    int moved = 0;

    snprintf(detail, sizeof(detail),
             "%s %s, size %zu, far %zu, group %u, tile %u, text %d, slots %zu",
             clmove_variant_name(round->variant),
             direction_names[round->direction], round->size, round->far,
             round->shape->group_size, round->shape->tile_size,
             round->shape->gpu_text, slot_size);
    if (!runner_wants_case(detail)) {
        return;
    }
    assert_true(slot_size <= SLOT_MAX);
    round->one->size = round->other->size = PHASES * slot_size + 7;
    moving_fill(round->one, round->size + 1);
    if (round->direction == APART) {
        moving_fill(round->other, round->size + 10000);
    }
    for (size_t i = 0; i < PHASES; i++) {
        const struct moving_move move =
            slot_move(round, i * slot_size, i / 16, i % 16);
        if (variant_can(round->variant, &move)) {
            moving_move(round->engine, &move);
            moved++;
        }
    }
    if (moved == 0) {
        return;
    }
    assert_true(moving_check(round->one, round->test, detail));
    if (round->direction == APART) {
        assert_true(moving_check(round->other, round->test, detail));
    }
}

/* Every variant and direction, for sizes [first, last] in steps. */
static void run_sizes(struct round *round, const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        round->size = sizes[i];
        for (int direction = 0; direction < DIRECTIONS; direction++) {
            round->direction = (enum direction)direction;
            for (uint32_t variant = 0; variant <= 5; variant++) {
                /* The driver and one launch move apart only. */
                if (direction != APART && (variant == CLMOVE_VARIANT_DRIVER ||
                                           variant == CLMOVE_VARIANT_DISJOINT))
                    continue;
                /* Apart, the rest is what DISJOINT does. */
                if (direction == APART && variant > CLMOVE_VARIANT_GROUP)
                    continue;
                round->variant = variant;
                run_round(round);
            }
        }
    }
}

static void with_shape(const char *test, struct test_device *device,
                       const struct moving_shape *shape, const size_t *sizes,
                       size_t count, size_t far)
{
    struct clmove_engine *engine = moving_engine(device, shape);
    struct moving one, other;
    struct round round = {.test = test,
                          .device = device,
                          .engine = engine,
                          .shape = shape,
                          .one = &one,
                          .other = &other,
                          .far = far};

    moving_open(&one, device, MOVING_BUFFER, MEMORY);
    moving_open(&other, device, MOVING_BUFFER, MEMORY);
    run_sizes(&round, sizes, count);
    moving_close(&one);
    moving_close(&other);
    clmove_engine_destroy(&engine);
}

static const size_t larger[] = {95,  96,  97,  127, 128,  129,
                                255, 257, 511, 513, 1000, 1024};

enum { SMALLEST = 81 };

/* 0 to 80 bytes, by the device's own path and by a GPU's. */
static void test_small_sizes(void **state)
{
    size_t sizes[SMALLEST];

    for (size_t i = 0; i < SMALLEST; i++) {
        sizes[i] = i;
    }
    for (int gpu_text = 0; gpu_text < 2; gpu_text++) {
        const struct moving_shape shape = {.gpu_text = gpu_text};
        with_shape(__func__, *state, &shape, sizes, SMALLEST, 0);
    }
}

/* Spans and tiles of 16 bytes cut even these. */
static void test_small_tiles(void **state)
{
    for (int gpu_text = 0; gpu_text < 2; gpu_text++) {
        const struct moving_shape shape = {.tile_size = 16,
                                           .gpu_text = gpu_text};
        with_shape(__func__, *state, &shape, larger,
                   sizeof(larger) / sizeof(larger[0]), 0);
        with_shape(__func__, *state, &shape, larger + 6, 4, 32);
    }
}

/* Work-groups of other sizes, thinned. */
static void test_group_sizes(void **state)
{
    static const uint32_t groups[] = {1, 3, 32, 64, 256, 512, 1024};
    static const size_t sizes[] = {17, 80, 513, 4097};

    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        const struct moving_shape shape = {.group_size = groups[i],
                                           .tile_size = i % 2 ? 64 : 0,
                                           .gpu_text = 1};
        with_shape(__func__, *state, &shape, sizes,
                   sizeof(sizes) / sizeof(sizes[0]), i % 2 ? 16 : 0);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_sizes),
        cmocka_unit_test(test_small_tiles),
        cmocka_unit_test(test_group_sizes),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
