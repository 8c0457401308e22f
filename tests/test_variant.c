/* Launch shapes for devices of every size. */

#include "testing.h"
#include "variant.h"

#include <stdio.h>
#include <string.h>

static struct clmove_device_info make(cl_device_type type)
{
    struct clmove_device_info info;

    memset(&info, 0, sizeof(info));
    info.type = type;
    info.compute_units = 8;
    info.max_group_size = 1024;
    info.local_size = 32768;
    return info;
}

static void check_variant(const struct clmove_device_info *info,
                          const struct variant *variant)
{
    assert_true(variant->group_size >= 1);
    assert_true(variant->group_size <= info->max_group_size ||
                variant->group_size == 1);
    assert_true(variant->group_count >= 1);
    assert_true(variant->tile_size >= 256);
    assert_true(variant->slice_rows >= 32);
    /* a power of two */
    assert_int_equal(variant->slice_rows & (variant->slice_rows - 1), 0);
    assert_true(variant->stage_size >= 16 && variant->stage_size % 16 == 0);
    assert_true(variant->stage_size <= info->local_size / 6 ||
                variant->stage_size == 64);
    /* a decision's 18 bytes and 64 pointers in local memory */
    assert_true((uint64_t)variant->slice_rows * 18 + 64 * 8 <=
                    info->local_size ||
                variant->slice_rows == 32);
    assert_true(variant->batch_slice >= 16 && variant->batch_slice <= 256);
    assert_int_equal(variant->batch_slice & (variant->batch_slice - 1), 0);
    assert_true((uint64_t)variant->batch_slice * 16 <= info->local_size ||
                variant->batch_slice == 16);
    /* what moves hold in local memory: a tile and a vector, and the sums of a
     * device batch or the pointers */
    assert_true(variant->move_tile >= 16 && variant->move_tile % 16 == 0);
    assert_true((uint64_t)variant->move_tile + 16 +
                        (uint64_t)variant->batch_slice * 16 <=
                    info->local_size ||
                info->local_size < 1024);
    assert_true(variant->move_held >= 1 && variant->move_held <= 8);
    assert_true(variant->jobs.tile % 16 == 0 && variant->jobs.tile_min >= 16);
    assert_true(variant->cpu || variant->jobs.tile <= variant->move_tile);
}

static const struct variant_wishes no_wishes;

static void test_defaults(void **state)
{
    static const uint64_t local_sizes[] = {1024,  4096,  16384,  32768,
                                           49152, 65536, 1048576};
    static const size_t group_sizes[] = {1, 8, 64, 256, 1024, 4096};

    (void)state;
    for (int gpu = 0; gpu < 2; gpu++) {
        for (int local = 0; local < 7; local++) {
            for (int size = 0; size < 6; size++) {
                struct clmove_device_info info =
                    make(gpu ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU);
                struct variant variant;
                info.local_size = local_sizes[local];
                info.max_group_size = group_sizes[size];
                info.compute_units = (uint32_t)(size * 100);
                variant = variant_choose(&info, &no_wishes);
                check_variant(&info, &variant);
            }
        }
    }
}

static void test_forced(void **state)
{
    const struct clmove_device_info info = make(CL_DEVICE_TYPE_GPU);
    const struct variant_wishes small = {7, 3, 100};
    const struct variant_wishes large = {4000, 0, 0};
    const struct variant_wishes wide = {0, 0, 1u << 20};
    struct variant variant = variant_choose(&info, &small);

    (void)state;
    assert_int_equal(variant.group_size, 7);
    assert_int_equal(variant.group_count, 3);
    assert_int_equal(variant.move_group_size, 7);
    assert_int_equal(variant.entry_groups, 3);
    assert_int_equal(variant.tile_size, 112);
    assert_int_equal(variant.jobs.span, 112);
    variant = variant_choose(&info, &large);
    assert_int_equal(variant.move_group_size, 1024);
    assert_int_equal(variant.group_size, 1024);
    check_variant(&info, &variant);
    variant = variant_choose(&info, &wide); /* local memory is what it is */
    assert_true(variant.move_tile + 16 <= info.local_size);
}

/* A driver that says nothing useful. */
static void test_zeros(void **state)
{
    struct clmove_device_info info;
    struct variant variant;

    (void)state;
    memset(&info, 0, sizeof(info));
    variant = variant_choose(&info, &no_wishes);
    check_variant(&info, &variant);
}

/* One large group on each unit, within the local memory that it is told of. */
static void test_nvidia(void **state)
{
    struct clmove_device_info info = make(CL_DEVICE_TYPE_GPU);
    struct variant variant;

    (void)state;
    info.local_size = 49152;
    info.max_group_size = 1024;
    info.compute_units = 132;
    variant = variant_choose(&info, &no_wishes);
    assert_false(variant.fixed_groups);
    assert_int_equal(variant.move_registers, 0);
    snprintf(info.vendor, sizeof(info.vendor), "NVIDIA Corporation");
    variant = variant_choose(&info, &no_wishes);
    assert_true(variant.fixed_groups);
    assert_int_equal(variant.group_size, 512);
    assert_int_equal(variant.group_count, 132);
    assert_true(variant.move_registers > 0);
    for (info.local_size = 8192; info.local_size <= 65536;
         info.local_size += 8192) {
        variant = variant_choose(&info, &no_wishes);
        assert_true(variant.slice_rows * 20 + variant.stage_size + 64 * 8 <=
                    info.local_size);
    }
    /* A GPU by PoCL, say, may allow less. */
    info.max_group_size = 128;
    variant = variant_choose(&info, &no_wishes);
    assert_int_equal(variant.group_size, 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nvidia),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_forced),
        cmocka_unit_test(test_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
