/* Moves of GiB cut into jobs, in numbers: every byte is stored by one piece of
 * one job. */

#include "jobs.h"
#include "testing.h"
#include "variant.h"

#include <clmove/move.h>
#include <stdlib.h>
#include <string.h>

#define GIB (UINT64_C(1) << 30)

/* Bytes of a move that a job stores at one time, as places: from a multiple of
 * the family's align. */
struct range {
    uint64_t first, end;
};

enum { RANGES_MAX = 1 << 20 };

static int compare_ranges(const void *a, const void *b)
{
    const uint64_t left = ((const struct range *)a)->first;
    const uint64_t right = ((const struct range *)b)->first;
    return left < right ? -1 : left > right;
}

/* What cl/move.cl says of families: columns of a span, pieces of a column, cut
 * to the move. */
static size_t list_ranges(const struct job_family *family, uint64_t skew,
                          struct range *ranges)
{
    const uint64_t end = skew + family->size;
    size_t count = 0;
    for (uint64_t job = 0; job < family->job_count; job++) {
        const uint64_t at = job % family->columns * family->piece;
        const uint64_t left = family->stride - at;
        const uint64_t width = left < family->piece ? left : family->piece;
        for (uint64_t i = 0; i < family->pieces; i++) {
            const uint64_t begin =
                job / family->columns * family->span + at + i * family->stride;
            const uint64_t first = begin > skew ? begin : skew;
            const uint64_t last = begin + width < end ? begin + width : end;
            if (first >= last)
                continue;
            assert_true(count < RANGES_MAX);
            ranges[count++] = (struct range){first, last};
        }
    }
    return count;
}

static void check_move(const struct job_limits *limits, uint32_t variant,
                       uint64_t size, uint64_t distance, struct range *ranges)
{
    for (int up = 0; up < 2; up++) {
        const struct job_move move = {up ? distance : 0, up ? 0 : distance,
                                      size, distance < size};
        struct job_plan plan;
        const uint32_t chosen = variant == CLMOVE_VARIANT_AUTO
                                    ? job_choose(limits, &move)
                                    : variant;
        assert_true(job_plan_move(limits, chosen, &move, &plan));
        /* kernels have 32 bits for a piece */
        for (uint32_t i = 0; i < plan.launch_count; i++)
            assert_true(plan.launches[i].piece <= GIB);
        const struct job_family *family = &plan.launches[plan.launch_count - 1];
        assert_true(family->align >= 16);
        assert_true((family->align & (family->align - 1)) == 0);
        const uint64_t skews[] = {0, 16, JOB_LINE - 1, family->align - 1};
        for (size_t k = 0; k < sizeof skews / sizeof skews[0]; k++) {
            const uint64_t skew = skews[k];
            const size_t count = list_ranges(family, skew, ranges);
            uint64_t end = skew;
            qsort(ranges, count, sizeof ranges[0], compare_ranges);
            for (size_t i = 0; i < count; i++) {
                if (ranges[i].first != end)
                    fail_msg(
                        "%s, %llu bytes by %llu: byte %llu has %s",
                        clmove_variant_name(chosen), (unsigned long long)size,
                        (unsigned long long)distance,
                        (unsigned long long)(ranges[i].first - skew),
                        ranges[i].first < end ? "two jobs" : "none before");
                end = ranges[i].end;
            }
            assert_true(end == skew + size);
        }
    }
}

static struct job_limits limits_of(cl_device_type type, uint32_t units,
                                   uint64_t local_size, uint32_t tile_size)
{
    const struct clmove_device_info info = {.type = type,
                                            .compute_units = units,
                                            .max_group_size = 256,
                                            .local_size = local_size};
    const struct variant_wishes wishes = {.tile_size = tile_size};

    return variant_choose(&info, &wishes).jobs;
}

static void check_device(cl_device_type type, uint32_t units,
                         uint32_t tile_size)
{
    static const uint32_t variants[] = {
        CLMOVE_VARIANT_AUTO, CLMOVE_VARIANT_GROUP, CLMOVE_VARIANT_SPLIT,
        CLMOVE_VARIANT_SEGMENTS};
    static const uint64_t sizes[] = {GIB - 16,    GIB,     GIB + 1,
                                     4 * GIB + 1, 9 * GIB, 17 * GIB - 5};
    static const uint64_t distances[] = {GIB / 16, GIB / 3 + 7, GIB - 1,
                                         GIB,      GIB + 1,     2 * GIB + 160};
    static const uint64_t small_distances[] = {16, 1000, 128 * 1024};
    const struct job_limits limits =
        limits_of(type, units, 32 * 1024, tile_size);
    struct range *ranges = calloc(RANGES_MAX, sizeof ranges[0]);
    assert_non_null(ranges);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t j = 0; j < sizeof distances / sizeof distances[0]; j++) {
            for (size_t k = 0; k < sizeof variants / sizeof variants[0]; k++) {
                if (distances[j] < sizes[i])
                    check_move(&limits, variants[k], sizes[i], distances[j],
                               ranges);
            }
        }
        for (size_t j = 0; j < 3; j++)
            check_move(&limits, CLMOVE_VARIANT_AUTO, sizes[i],
                       small_distances[j], ranges);
        check_move(&limits, CLMOVE_VARIANT_AUTO, sizes[i], sizes[i], ranges);
    }
    free(ranges);
}

/* Few units: spans of more than a piece, and a piece is 1 GiB at most. */
static void test_cpu(void **state)
{
    (void)state;
    check_device(CL_DEVICE_TYPE_CPU, 1, 0);
    check_device(CL_DEVICE_TYPE_CPU, 2, 0);
    check_device(CL_DEVICE_TYPE_CPU, 16, 0);
}

static void test_gpu(void **state)
{
    (void)state;
    check_device(CL_DEVICE_TYPE_GPU, 1, 1u << 24);
    check_device(CL_DEVICE_TYPE_GPU, 132, 1u << 30);
}

/* Spans so many that their jobs cannot be numbered. */
static void test_too_many(void **state)
{
    const struct job_limits limits =
        limits_of(CL_DEVICE_TYPE_GPU, 132, 32 * 1024, 0);
    struct job_move move = {16, 0, 1024 * GIB, true};
    struct job_plan plan;
    (void)state;
    assert_true(job_plan_move(&limits, CLMOVE_VARIANT_SEGMENTS, &move, &plan));
    move.size *= 1024;
    assert_false(job_plan_move(&limits, CLMOVE_VARIANT_SEGMENTS, &move, &plan));
}

/* How 1 GiB is moved, edges aside. */
static struct job_family family_of(const struct job_limits *limits,
                                   uint32_t variant, uint64_t distance)
{
    const struct job_move move = {distance, 0, GIB, distance < GIB};
    struct job_plan plan;

    assert_true(job_plan_move(limits, variant, &move, &plan));
    return plan.launches[plan.launch_count - 1];
}

/* What keeps a GPU's tiles full, and stored at multiples of their size. */
static void test_full_tiles(void **state)
{
    const struct job_limits limits =
        limits_of(CL_DEVICE_TYPE_GPU, 132, 64 * 1024, 0);
    const struct {
        uint64_t distance, columns, piece, align;
    } columns[] = {{4 * 16384, 4, 16384, 16384},
                   {4 * 16384 + 1, 4, 16400, 128},
                   {4 * 17408, 4, 17408, 4096},
                   {16385, 1, 16385, 128},
                   /* as many fewer as wider ones leave empty */
                   {1026 * 16384 + 1, 1025, 16400, 128}};
    const struct {
        uint64_t distance, span, align;
    } spans[] = {{1, 16384, 128},          {512, 16384, 128},
                 {513, 2 * 16384, 16384},  {1024, 32768, 16384},
                 {1025, 3 * 16384, 16384}, {4095, 8 * 16384, 16384},
                 {4096, 8 * 16384, 16384}};
    (void)state;
    assert_int_equal(limits.tile, 16384);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        const struct job_family family =
            family_of(&limits, CLMOVE_VARIANT_SEGMENTS, columns[i].distance);
        assert_int_equal(family.columns, columns[i].columns);
        assert_int_equal(family.piece, columns[i].piece);
        assert_int_equal(family.align, columns[i].align);
    }
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        const struct job_family family =
            family_of(&limits, CLMOVE_VARIANT_SPLIT, spans[i].distance);
        assert_int_equal(family.span, spans[i].span);
        assert_int_equal(family.align, spans[i].align);
    }
    const struct job_family disjoint =
        family_of(&limits, CLMOVE_VARIANT_DISJOINT, GIB);
    assert_int_equal(disjoint.piece, 16384);
    assert_int_equal(disjoint.align, 16384);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_tiles),
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_gpu),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
