/* Overlapping moves around the edges of spans and segments. */

#include "compare.h"
#include "moving.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>

/* Moves lie one behind another with guards between; the whole memory is
 * compared when it is full. */
enum { GUARD = 40, MEMORY = (1 << 20) + 5 };

struct field {
    const char *test;
    struct test_device *device;
    struct clmove_engine *engine;
    const struct moving_shape *shape;
    struct moving memory;
    size_t used;
    size_t moves;    /* since the last comparison */
    uint64_t random; /* phases */
};

static void compare(struct field *field)
{
    char detail[128];

    snprintf(detail, sizeof(detail), "group %u, groups %u, tile %u, text %d",
             field->shape->group_size, field->shape->group_count,
             field->shape->tile_size, field->shape->gpu_text);
    if (field->moves > 0) {
        assert_true(moving_check(&field->memory, field->test, detail));
    }
    moving_fill(&field->memory, field->random);
    field->used = field->moves = 0;
}

/* A move in each direction and each variant that overlaps by all but `shift`.
 */
static void add_moves(struct field *field, size_t size, size_t shift)
{
    static const uint32_t variants[] = {
        CLMOVE_VARIANT_GROUP, CLMOVE_VARIANT_SPLIT, CLMOVE_VARIANT_SEGMENTS,
        CLMOVE_VARIANT_AUTO};

    for (int i = 0; i < 8; i++) {
        struct moving_move move = {.src = &field->memory,
                                   .dst = &field->memory,
                                   .size = size,
                                   .variant = variants[i / 2]};
        size_t at;
        assert_true(size + shift + 2 * GUARD + 16 <= MEMORY);
        if (field->used + size + shift + 2 * (size_t)GUARD + 16 > MEMORY) {
            compare(field);
        }
        at = field->used + GUARD + random_below(&field->random, 16);
        move.src_offset = i % 2 ? at + shift : at;
        move.dst_offset = i % 2 ? at : at + shift;
        moving_move(field->engine, &move);
        field->used = at + size + shift;
        field->moves++;
    }
}

static void open_field(struct field *field, const char *test,
                       struct test_device *device,
                       const struct moving_shape *shape)
{
    *field = (struct field){.test = test,
                            .device = device,
                            .engine = moving_engine(device, shape),
                            .shape = shape,
                            .random = 7};
    moving_open(&field->memory, device, MOVING_BUFFER, MEMORY);
    compare(field);
}

static void close_field(struct field *field)
{
    compare(field);
    moving_close(&field->memory);
    clmove_engine_destroy(&field->engine);
}

/* What docs/design.md says of spans: at least a tile, and 4 edges, which are
 * whole vectors. */
static size_t split_span(size_t tile, size_t shift)
{
    const size_t edge = (shift + 15) / 16 * 16;
    return edge * 4 > tile ? edge * 4 : tile;
}

static void add_edges(struct field *field, size_t span, size_t shift)
{
    static const size_t counts[] = {1, 2, 3, 9};

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        for (size_t size = span * counts[i] - 1; size <= span * counts[i] + 1;
             size++) {
            if (size > shift) {
                add_moves(field, size, shift);
            }
        }
    }
}

/* One byte less than k spans, k spans, one byte more. */
static void test_span_edges(void **state)
{
    static const size_t shifts[] = {1,  2,  5,  8,  15,  16,
                                    17, 31, 32, 48, 100, 129};
    static const uint32_t tiles[] = {16, 64, 256, 1024};

    for (int gpu_text = 0; gpu_text < 2; gpu_text++) {
        for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++) {
            const struct moving_shape shape = {.tile_size = tiles[i],
                                               .gpu_text = gpu_text};
            struct field field;
            open_field(&field, __func__, *state, &shape);
            for (size_t j = 0; j < sizeof(shifts) / sizeof(shifts[0]); j++) {
                add_edges(&field, split_span(tiles[i], shifts[j]), shifts[j]);
                add_edges(&field, shifts[j], shifts[j]);
            }
            close_field(&field);
        }
    }
}

/* From 1 byte to all but one, thinned where they grow. */
static void test_all_shifts(void **state)
{
    static const size_t sizes[] = {2, 33, 257, 1000, 4096};

    for (int gpu_text = 0; gpu_text < 2; gpu_text++) {
        const struct moving_shape shape = {.tile_size = 64,
                                           .gpu_text = gpu_text};
        struct field field;
        open_field(&field, __func__, *state, &shape);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            for (size_t shift = 1; shift < sizes[i]; shift += 1 + shift / 20) {
                add_moves(&field, sizes[i], shift);
            }
            add_moves(&field, sizes[i], sizes[i] - 1);
        }
        close_field(&field);
    }
}

/* Few groups do many spans, in any order; groups of many items. */
static void test_launch_shapes(void **state)
{
    static const struct moving_shape shapes[] = {
        {1, 1, 64, 0},  {1, 2, 64, 1},   {3, 7, 16, 1},    {32, 2, 256, 1},
        {64, 0, 64, 1}, {256, 3, 64, 1}, {1024, 1, 64, 1}, {512, 5, 1024, 1},
    };

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct field field;
        open_field(&field, __func__, *state, &shapes[i]);
        add_edges(&field, split_span(shapes[i].tile_size, 5), 5);
        add_edges(&field, split_span(shapes[i].tile_size, 16), 16);
        add_moves(&field, 5000, 33);
        add_moves(&field, 40000, 700);
        close_field(&field);
    }
}

/* The device's own limits, around which AUTO changes its mind. */
static void test_own_limits(void **state)
{
    static const size_t shifts[] = {1, 16, 1000, 4096, 65536, 65537, 200000};
    static const size_t sizes[] = {65535, 65536, 65537, 262144, 262145, 700001};

    for (int gpu_text = 0; gpu_text < 2; gpu_text++) {
        const struct moving_shape shape = {.gpu_text = gpu_text};
        struct field field;
        open_field(&field, __func__, *state, &shape);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            for (size_t j = 0; j < sizeof(shifts) / sizeof(shifts[0]); j++) {
                if (shifts[j] < sizes[i]) {
                    add_moves(&field, sizes[i], shifts[j]);
                }
            }
        }
        close_field(&field);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_span_edges),
        cmocka_unit_test(test_all_shifts),
        cmocka_unit_test(test_launch_shapes),
        cmocka_unit_test(test_own_limits),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
