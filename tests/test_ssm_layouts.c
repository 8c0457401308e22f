/* State copies over every layout, element size, alignment. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

static const int conv_kinds[] = {REF_CONV_SD, REF_CONV_DS};
static const uint32_t element_sizes[] = {1, 2, 4, 8};

static const char *kind_name(int kind)
{
    return kind == REF_CONV_SD ? "SD" : "DS";
}

/* One conv state through the post-process, 3 rows. The window holds 6 tokens:
 * with bias 1 and 2 an in-place shift overlaps itself, with 3 it does not. */
static void check_conv(struct test_device *device, int kind,
                       uint32_t element_size, int32_t bias, int in_place)
{
    struct scene scene;
    uint32_t pool;

    scene_init(&scene, "test_conv", "%s, element %u, bias %d, %s block",
               kind_name(kind), element_size, bias,
               in_place ? "same" : "distinct");
    pool = scene_add_pool(&scene, SCENE_BUFFER);
    scene_add_conv(&scene, pool, kind, 8, 6, 20, element_size);
    scene_add_group(&scene, 2);
    scene.tokens_per_block = 16;
    for (int i = 0; i < 3; i++) {
        scene_add_row(&scene, 14 - bias, 5, 3, bias + 1, in_place ? 0 : 1);
    }
    scene_own_blocks(&scene, 1, 2);
    scene_check(&scene, device, device->engine, SCENE_POST);
    scene_clear(&scene);
}

/* The published conv cases of vllm-project/vllm. */
static void test_conv(void **state)
{
    for (int kind = 0; kind < 2; kind++) {
        for (int element = 0; element < 4; element++) {
            for (int32_t bias = 1; bias <= 3; bias++) {
                check_conv(*state, conv_kinds[kind], element_sizes[element],
                           bias, 0);
                check_conv(*state, conv_kinds[kind], element_sizes[element],
                           bias, 1);
            }
        }
    }
}

static void check_pre_copy(struct test_device *device, int kind,
                           uint32_t requests, int32_t bias)
{
    struct scene scene;
    uint32_t pool;

    scene_init(&scene, "test_pre_copy", "%s, %u requests, bias %d",
               kind_name(kind), requests, bias);
    pool = scene_add_pool(&scene, SCENE_BUFFER);
    scene_add_conv(&scene, pool, kind, 1 + 4 * requests, 5, 16, 2);
    scene_add_temporal(&scene, pool, 1 + 4 * requests, 96);
    scene_add_group(&scene, 4);
    for (uint32_t i = 0; i < requests; i++) {
        scene_add_row(&scene, 16, 3, 2, bias + 1, 0);
    }
    scene_own_blocks(&scene, 1, 4);
    scene_check(&scene, device, device->engine, SCENE_PRE);
    scene_clear(&scene);
}

/* The published pre-copy cases, through pre-process. */
static void test_pre_copy(void **state)
{
    static const uint32_t requests[] = {1, 4, 16};

    for (int kind = 0; kind < 2; kind++) {
        for (int count = 0; count < 3; count++) {
            for (int32_t bias = 0; bias <= 2; bias++) {
                check_pre_copy(*state, conv_kinds[kind], requests[count], bias);
            }
        }
    }
}

/* Widths across every chunk that a kernel may hold at once. */
static void test_wide_windows(void **state)
{
    static const uint32_t widths[] = {1,  2,  3,  7,  8,  9,  15,
                                      16, 17, 31, 32, 33, 40, 70};
    struct test_device *device = *state;

    for (int kind = 0; kind < 2; kind++) {
        for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
            for (int32_t bias = 1; bias <= 41; bias += bias < 3 ? 1 : 38) {
                struct scene scene;
                uint32_t pool;
                scene_init(&scene, __func__, "%s, width %u, bias %d",
                           kind_name(conv_kinds[kind]), widths[i], bias);
                pool = scene_add_pool(&scene, SCENE_BUFFER);
                scene_add_conv(&scene, pool, conv_kinds[kind], 8, widths[i], 9,
                               2);
                scene_add_group(&scene, 2);
                scene.tokens_per_block = 64;
                scene_add_row(&scene, 62 - bias, 64, 62, bias + 1, 0);
                scene_add_row(&scene, 62 - bias, 64, 62, bias + 1, 1);
                scene_own_blocks(&scene, 1, 2);
                scene_check(&scene, device, device->engine, SCENE_POST);
                scene_clear(&scene);
            }
        }
    }
}

/* Odd places and odd ends: the memory stops at the last state's last byte. */
static void check_odd(struct test_device *device, int kind, uint32_t size,
                      uint64_t offset)
{
    struct scene scene;
    struct scene_state *added;
    uint32_t pool;

    scene_init(&scene, "test_odd_places", "kind %d, %u bytes, offset %u", kind,
               size, (unsigned)offset);
    pool = scene_add_pool(&scene, SCENE_BUFFER);
    scene.pools[pool].lead = 16;
    scene.pools[pool].tail = 0;
    if (kind == REF_TEMPORAL) {
        added = scene_add_temporal(&scene, pool, 9, size);
    } else {
        added = scene_add_conv(&scene, pool, kind, 9, 5, size, 1);
    }
    added->offset = offset;
    scene_add_group(&scene, 4);
    scene_add_crossing_rows(&scene, 1, 2);
    scene_add_in_place_rows(&scene, 1, 1);
    scene_own_blocks(&scene, 1, 4);
    scene_check(&scene, device, device->engine, SCENE_POST);
    scene_clear(&scene);
}

static void test_odd_places(void **state)
{
    static const int kinds[] = {REF_CONV_SD, REF_CONV_DS, REF_TEMPORAL};
    static const uint32_t sizes[] = {1, 3, 15, 16, 17, 33, 127};
    static const uint64_t offsets[] = {0, 1, 2, 3, 5, 7, 8, 9};

    for (int kind = 0; kind < 3; kind++) {
        for (int size = 0; size < 7; size++) {
            for (int offset = 0; offset < 8; offset++) {
                check_odd(*state, kinds[kind], sizes[size], offsets[offset]);
            }
        }
    }
}

/* Gaps between rows, blocks, states are nobody's to write. */
static void test_strides(void **state)
{
    static const uint64_t row_gaps[] = {0, 1, 2, 6, 16};
    static const uint64_t block_gaps[] = {0, 1, 5, 32};
    struct test_device *device = *state;

    for (int element = 0; element < 4; element++) {
        for (int row = 0; row < 5; row++) {
            for (int block = 0; block < 4; block++) {
                struct scene scene;
                struct scene_state *added;
                uint32_t pool;
                scene_init(&scene, __func__, "element %u, gaps %u and %u",
                           element_sizes[element], (unsigned)row_gaps[row],
                           (unsigned)block_gaps[block]);
                pool = scene_add_pool(&scene, SCENE_BUFFER);
                added = scene_add_conv(&scene, pool, REF_CONV_DS, 5, 5, 7,
                                       element_sizes[element]);
                added->row_stride = scene_row_stride(added) + row_gaps[row];
                added->block_stride =
                    scene_block_extent(added) + block_gaps[block];
                added = scene_add_temporal(&scene, pool, 9, 77);
                added->block_stride = 77 + block_gaps[block];
                scene_add_group(&scene, 4);
                scene_add_in_place_rows(&scene, 1, 2);
                scene_own_blocks(&scene, 1, 4);
                scene_check(&scene, device, device->engine, SCENE_POST);
                scene_clear(&scene);
            }
        }
    }
}

/* States larger than one tile, with sizes that leave a tail. */
static void test_large_states(void **state)
{
    struct test_device *device = *state;

    for (int kind = 0; kind < 2; kind++) {
        for (int element = 0; element < 4; element++) {
            struct scene scene;
            uint32_t pool;
            scene_init(&scene, __func__, "%s, element %u",
                       kind_name(conv_kinds[kind]), element_sizes[element]);
            pool = scene_add_pool(&scene, SCENE_BUFFER);
            scene_add_conv(&scene, pool, conv_kinds[kind], 9, 5, 4099,
                           element_sizes[element]);
            scene_add_temporal(&scene, pool, 9, 70001);
            scene_add_group(&scene, 4);
            scene_add_crossing_rows(&scene, 1, 2);
            scene_add_in_place_rows(&scene, 1, 1);
            scene_own_blocks(&scene, 1, 4);
            scene_check(&scene, device, device->engine, SCENE_POST);
            scene_clear(&scene);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),
        cmocka_unit_test(test_pre_copy),
        cmocka_unit_test(test_wide_windows),
        cmocka_unit_test(test_odd_places),
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_large_states),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
