/* Geometry of states: strided sets by brute force, tiles, limits. */

#include "layout.h"
#include "testing.h"

#include <string.h>

/* A small generator: the same numbers in every run. */
static uint32_t next(uint32_t *seed, uint32_t bound)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % bound;
}

enum { LINE = 512 };

static void mark(unsigned char *line, const struct strided_set *set)
{
    for (uint64_t i = 0; i < set->count; i++) {
        for (uint64_t byte = 0; byte < set->size; byte++) {
            line[set->origin + i * set->stride + byte] = 1;
        }
    }
}

static bool overlap_by_marking(const struct strided_set *a,
                               const struct strided_set *b)
{
    unsigned char first[LINE] = {0}, second[LINE] = {0};

    mark(first, a);
    mark(second, b);
    for (int i = 0; i < LINE; i++) {
        if (first[i] && second[i]) {
            return true;
        }
    }
    return false;
}

static struct strided_set random_set(uint32_t *seed, uint64_t stride)
{
    struct strided_set set;

    set.stride = stride ? stride : 1 + next(seed, 40);
    set.size = 1 + next(seed, (uint32_t)set.stride);
    set.count = 1 + next(seed, 6);
    set.origin = next(seed, 200);
    return set;
}

static void check_pair(const struct strided_set *a, const struct strided_set *b)
{
    const bool want = overlap_by_marking(a, b);

    if (strided_sets_overlap(a, b) != want ||
        strided_sets_overlap(b, a) != want) {
        print_error("%d wanted: origin %u stride %u size %u count %u, "
                    "origin %u stride %u size %u count %u\n",
                    want, (unsigned)a->origin, (unsigned)a->stride,
                    (unsigned)a->size, (unsigned)a->count, (unsigned)b->origin,
                    (unsigned)b->stride, (unsigned)b->size, (unsigned)b->count);
        fail();
    }
}

static void test_overlap_by_brute_force(void **state)
{
    uint32_t seed = 12345, overlaps = 0;

    (void)state;
    for (int i = 0; i < 60000; i++) {
        /* one half with equal strides, like pages */
        const uint64_t stride = i % 2 ? 1 + next(&seed, 40) : 0;
        const struct strided_set a = random_set(&seed, stride);
        const struct strided_set b = random_set(&seed, stride);
        check_pair(&a, &b);
        overlaps += overlap_by_marking(&a, &b);
    }
    assert_true(overlaps > 10000 && overlaps < 50000); /* both really occur */
}

static void test_overlap_edges(void **state)
{
    const struct strided_set page = {0, 512, 256, 1u << 20};
    struct strided_set other = {256, 512, 256, 1u << 20};

    (void)state;
    assert_false(strided_sets_overlap(&page, &other)); /* touching halves */
    other.size = 257;
    assert_true(strided_sets_overlap(&page, &other));
    other.size = 256;
    other.origin = 255;
    assert_true(strided_sets_overlap(&page, &other));
    other = page;
    assert_true(strided_sets_overlap(&page, &other));
    other.origin = UINT64_C(1) << 40; /* far behind */
    assert_false(strided_sets_overlap(&page, &other));
    other.count = 0;
    other.origin = 0;
    assert_false(strided_sets_overlap(&page, &other));
    /* the last byte of the last block */
    other =
        (struct strided_set){((UINT64_C(1) << 20) - 1) * 512 + 255, 1, 1, 1};
    assert_true(strided_sets_overlap(&page, &other));
    other.origin++;
    assert_false(strided_sets_overlap(&page, &other));
}

static struct clmove_ssm_state conv(uint32_t kind, uint32_t width, uint32_t dim,
                                    uint32_t element_size)
{
    struct clmove_ssm_state state;

    memset(&state, 0, sizeof(state));
    state.kind = kind;
    state.block_count = 4;
    state.width = width;
    state.dim = dim;
    state.element_size = element_size;
    return state;
}

static clmove_status complete(const struct clmove_ssm_state *given,
                              uint32_t draft_tokens,
                              struct clmove_ssm_state *completed,
                              uint64_t *extent)
{
    const struct clmove_ssm_layout_params params = {.states = given,
                                                    .state_count = 1,
                                                    .group_count = 1,
                                                    .draft_tokens =
                                                        draft_tokens};
    const struct clmove_log silent = {NULL, NULL};

    return layout_complete_state(&silent, &params, 0, completed, extent);
}

static void test_extents(void **state)
{
    struct clmove_ssm_state given = conv(CLMOVE_SSM_CONV_SD, 5, 7, 2);
    struct clmove_ssm_state completed;
    uint64_t extent = 0, span = 0;

    (void)state;
    assert_int_equal(complete(&given, 0, &completed, &extent), CLMOVE_SUCCESS);
    assert_int_equal(extent, 70);
    assert_int_equal(completed.block_stride, 70);
    given = conv(CLMOVE_SSM_CONV_DS, 5, 7, 2);
    assert_int_equal(complete(&given, 0, &completed, &extent), CLMOVE_SUCCESS);
    assert_int_equal(extent, 70);
    assert_int_equal(completed.row_stride, 10);
    given.row_stride = 16; /* no padding after the last row */
    given.block_stride = 200;
    assert_int_equal(complete(&given, 0, &completed, &extent), CLMOVE_SUCCESS);
    assert_int_equal(extent, 6 * 16 + 10);
    assert_true(layout_state_span(&completed, extent, &span));
    assert_int_equal(span, 3 * 200 + 106);
    completed.block_stride = UINT64_MAX / 2;
    assert_false(layout_state_span(&completed, extent, &span));
}

static void test_windows(void **state)
{
    struct clmove_ssm_state given = conv(CLMOVE_SSM_CONV_SD, 5, 7, 2);
    struct clmove_ssm_state completed;
    uint64_t extent = 0;

    (void)state;
    given.taps = 4;
    assert_int_equal(complete(&given, 2, &completed, &extent), CLMOVE_SUCCESS);
    assert_int_equal(complete(&given, 3, &completed, &extent),
                     CLMOVE_INVALID_ARGUMENT);
    given.taps = 0; /* not said, so not checked */
    assert_int_equal(complete(&given, 3, &completed, &extent), CLMOVE_SUCCESS);
}

static void test_overflow_is_refused(void **state)
{
    struct clmove_ssm_state given = conv(CLMOVE_SSM_CONV_DS, 5, UINT32_MAX, 8);
    struct clmove_ssm_state completed;
    uint64_t extent = 0;

    (void)state;
    given.row_stride = UINT64_MAX / 2;
    assert_int_equal(complete(&given, 0, &completed, &extent),
                     CLMOVE_OUT_OF_RANGE);
    given = conv(CLMOVE_SSM_CONV_DS, 5, 2, 8);
    given.row_stride = UINT64_MAX - 39; /* the last row ends past 64 bits */
    assert_int_equal(complete(&given, 0, &completed, &extent),
                     CLMOVE_OUT_OF_RANGE);
    given = conv(CLMOVE_SSM_CONV_SD, 1u << 27, 1, 8); /* rows of 1 GiB */
    assert_int_equal(complete(&given, 0, &completed, &extent),
                     CLMOVE_UNSUPPORTED);
    given.width--;
    assert_int_equal(complete(&given, 0, &completed, &extent), CLMOVE_SUCCESS);
}

/* Tiles cover a state: every part in one of them, none empty. */
static void check_tiles(const struct clmove_ssm_state *given,
                        uint32_t tile_size)
{
    const struct state_tiles tiles = layout_state_tiles(given, tile_size);
    uint64_t whole = given->size;

    if (given->kind == CLMOVE_SSM_CONV_SD) {
        whole = (uint64_t)given->dim * given->element_size;
    } else if (given->kind == CLMOVE_SSM_CONV_DS) {
        whole = given->dim;
    }
    assert_true(tiles.part >= 1 && tiles.count >= 1);
    assert_true(tiles.part * tiles.count >= whole);
    assert_true(tiles.part * (tiles.count - 1) < whole);
    if (given->kind != CLMOVE_SSM_CONV_DS && tiles.count > 1) {
        /* kernels step over byte ranges by 16 bytes */
        assert_int_equal(tiles.part % 16, 0);
    }
}

static void test_tiles(void **state)
{
    static const uint32_t tile_sizes[] = {65536, 262144, 4096};
    uint32_t seed = 99;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct clmove_ssm_state given =
            conv(CLMOVE_SSM_CONV_SD + next(&seed, 2), 1 + next(&seed, 100),
                 1 + next(&seed, 100000), 1u << next(&seed, 4));
        given.row_stride = (uint64_t)given.width * given.element_size;
        check_tiles(&given, tile_sizes[i % 3]);
        memset(&given, 0, sizeof(given));
        given.kind = CLMOVE_SSM_TEMPORAL;
        given.size = 1 + next(&seed, 10000000);
        check_tiles(&given, tile_sizes[i % 3]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap_by_brute_force),
        cmocka_unit_test(test_overlap_edges),
        cmocka_unit_test(test_extents),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_overflow_is_refused),
        cmocka_unit_test(test_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
