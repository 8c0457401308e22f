/* Whole blocks: permutations by batches, clearing, state indices. */

#include "compare.h"
#include "copying.h"
#include "runner.h"
#include "scenes.h"
#include "testing.h"

#include <stdio.h>
#include <string.h>

enum { BLOCKS = 24 };

/* Group 0: a DS window with gaps between rows, an SD window, a temporal state
 * of an odd size; group 1: one of each kind in the same pool. */
static struct copying *open_states(struct test_device *device, const char *test,
                                   const char *detail)
{
    struct copying *copying = copying_new(test, detail);
    struct scene *scene = &copying->scene;
    const uint32_t pool = scene_add_pool(scene, SCENE_BUFFER);
    const uint32_t other = scene_add_pool(scene, SCENE_BUFFER);

    scene_add_group(scene, 1);
    scene_add_group(scene, 1);
    for (uint32_t group = 0; group < 2; group++) {
        struct scene_state *state =
            scene_add_conv(scene, pool, REF_CONV_DS, BLOCKS, 5, 6, 2);
        state->row_stride = 10 + 4 * group + 3;
        state->block_stride = scene_block_extent(state) + 13;
        state->group = group;
        state = scene_add_conv(scene, other, REF_CONV_SD, BLOCKS, 4, 3, 4);
        state->group = group;
        state = scene_add_temporal(scene, group ? pool : other, BLOCKS,
                                   101 + 40 * group);
        state->block_stride = 160;
        state->group = group;
    }
    copying_open_one(copying, device, device->engine);
    return copying;
}

/* Checks one batch against the snapshot, twice in a row. */
static void check_batch(struct copying *copying, uint32_t group,
                        const int32_t *from, const int32_t *to, size_t count,
                        uint64_t scratch_limit)
{
    struct clmove_batch *batch = NULL;
    struct clmove_batch_info info;
    clmove_status status;

    device_clear_messages(copying->device);
    status = clmove_ssm_batch_create(copying->from, group, from, to, count,
                                     scratch_limit, &batch);
    if (status != CLMOVE_SUCCESS) {
        print_error("case \"%s\": %s\n%s", copying->scene.detail,
                    clmove_status_name(status), copying->device->messages);
        fail();
    }
    assert_int_equal(clmove_batch_describe(batch, &info), CLMOVE_SUCCESS);
    assert_true(scratch_limit == 0 || info.scratch_size <= scratch_limit);
    for (int run = 0; run < 2; run++) {
        assert_int_equal(
            clmove_enqueue_batch(batch, copying->device->queue, 0, NULL, NULL),
            CLMOVE_SUCCESS);
        assert_int_equal(clFinish(copying->device->queue), CL_SUCCESS);
        ref_permute_blocks(copying->from_states, copying->state_count, group,
                           from, to, count);
        copying_compare(copying);
    }
    clmove_batch_destroy(&batch);
}

/* Random permutations of some of the blocks. */
static void test_permutations(void **state)
{
    struct test_device *device = *state;
    uint64_t random = 11;

    for (uint32_t i = 0; i < 40; i++) {
        struct copying *copying;
        int32_t from[BLOCKS], to[BLOCKS];
        const uint32_t count = 1 + random_below(&random, BLOCKS);
        char detail[40];
        snprintf(detail, sizeof(detail), "permutation %u", i);
        copying = open_states(device, __func__, detail);
        for (uint32_t j = 0; j < BLOCKS; j++) {
            uint32_t pick = random_below(&random, j + 1);
            from[j] = from[pick];
            from[pick] = (int32_t)j;
        }
        for (uint32_t j = 0; j < count; j++) {
            to[j] = from[(j + 1 + i % 3) % count];
        }
        check_batch(copying, i % 2, from, to, count, 0);
        copying_close(copying);
    }
}

/* Less scratch than the blocks: slices, for blocks of one size. */
static void test_scratch_limit(void **state)
{
    static const int32_t from[] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const int32_t to[] = {3, 0, 1, 2, 7, 6, 5, 4};
    static const uint64_t limits[] = {128, 1000, 8 * 2000, 1 << 20};
    struct test_device *device = *state;

    for (int i = 0; i < 4; i++) {
        struct copying *copying;
        char detail[40];
        snprintf(detail, sizeof(detail), "limit %u", (unsigned)limits[i]);
        copying = copying_new(__func__, detail);
        scene_add_group(&copying->scene, 1);
        scene_add_pool(&copying->scene, SCENE_BUFFER);
        scene_add_temporal(&copying->scene, 0, 8, 2000)->block_stride = 2005;
        scene_add_temporal(&copying->scene, 0, 8, 2000);
        copying_open_one(copying, device, device->engine);
        check_batch(copying, 0, from, to, 8, limits[i]);
        copying_close(copying);
    }
}

static void test_named_batches(void **state)
{
    static const struct {
        const char *name;
        int32_t from[4], to[4];
        size_t count;
    } cases[] = {
        {"swap", {3, 7}, {7, 3}, 2},
        {"rotate", {0, 1, 23}, {1, 23, 0}, 3},
        {"chain", {4, 5, 6}, {5, 6, 7}, 3},
        {"fan", {9, 9, 9, 2}, {1, 2, 3, 9}, 4},
        {"itself", {5, 6}, {5, 8}, 2},
        {"none", {0}, {0}, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct copying *copying = open_states(*state, __func__, cases[i].name);
        check_batch(copying, 0, cases[i].from, cases[i].to, cases[i].count, 0);
        copying_close(copying);
    }
}

static void expect_refused(struct copying *copying, uint32_t group,
                           int32_t from, int32_t to, clmove_status want,
                           const char *text)
{
    const int32_t sources[2] = {1, from}, destinations[2] = {2, to};
    struct clmove_batch *batch = (struct clmove_batch *)copying;

    device_clear_messages(copying->device);
    assert_int_equal(clmove_ssm_batch_create(copying->from, group, sources,
                                             destinations, 2, 0, &batch),
                     want);
    assert_null(batch);
    device_expect_message(copying->device, text);
}

static void test_bad_batches(void **state)
{
    struct copying *copying = open_states(*state, __func__, "refused");

    expect_refused(copying, 0, 3, 2, CLMOVE_OVERLAP, "0");
    expect_refused(copying, 2, 3, 4, CLMOVE_OUT_OF_RANGE, "group");
    expect_refused(copying, 0, BLOCKS, 4, CLMOVE_OUT_OF_RANGE, "24");
    expect_refused(copying, 1, 3, BLOCKS, CLMOVE_OUT_OF_RANGE, "24");
    expect_refused(copying, 1, -1, 3, CLMOVE_OUT_OF_RANGE, "-1");
    expect_refused(copying, 1, 3, INT32_MIN, CLMOVE_OUT_OF_RANGE,
                   "-2147483648");
    copying_compare(copying);
    copying_close(copying);
}

/* States of each group; blocks in any order, named twice, none. */
static void test_zero(void **state)
{
    static const int32_t blocks[] = {5, 0, 23, 5, 11, 0};
    struct test_device *device = *state;

    for (uint32_t group = 0; group < 2; group++) {
        for (size_t count = 0; count <= 6; count += 2) {
            struct copying *copying;
            char detail[40];
            snprintf(detail, sizeof(detail), "group %u, %zu blocks", group,
                     count);
            copying = open_states(device, __func__, detail);
            copying_zero(copying, group, blocks, count);
            copying_compare(copying);
            copying_close(copying);
        }
    }
}

/* Odd places and sizes: what lies beside a cleared state stays. */
static void test_zero_odd(void **state)
{
    static const uint32_t sizes[] = {1, 2, 15, 16, 17, 31, 33, 70001};
    static const int kinds[] = {REF_TEMPORAL, REF_CONV_SD, REF_CONV_DS};
    struct test_device *device = *state;

    for (int kind = 0; kind < 3; kind++) {
        for (int i = 0; i < 8; i++) {
            struct copying *copying;
            struct scene_state *added;
            char detail[40];
            snprintf(detail, sizeof(detail), "kind %d, %u bytes", kinds[kind],
                     sizes[i]);
            copying = copying_new(__func__, detail);
            scene_add_group(&copying->scene, 1);
            scene_add_pool(&copying->scene, SCENE_BUFFER);
            copying->scene.pools[0].tail = 0;
            if (kind == 0) {
                added = scene_add_temporal(&copying->scene, 0, 4, sizes[i]);
            } else {
                added = scene_add_conv(&copying->scene, 0, kinds[kind], 4, 3,
                                       sizes[i], 1);
            }
            added->offset = (uint64_t)i;
            added->block_stride = scene_block_extent(added) + 5;
            copying_open_one(copying, device, device->engine);
            copying_zero(copying, 0, (const int32_t[]){3, 1}, 2);
            copying_compare(copying);
            copying_close(copying);
        }
    }
}

static void add_index_rows(struct scene *scene, uint32_t rows)
{
    static const int32_t computed[] = {0,  1,  15, 16, 17,       47,
                                       63, 64, -1, 14, INT32_MAX};
    static const int32_t scheduled[] = {0, 1, 2, 17, -1, 1, 0, 3};

    for (uint32_t i = 0; i < rows; i++) {
        scene_add_row(scene, computed[i % 11], scheduled[i % 8], 0, 1, 0);
    }
}

/* Every order, every place of the tables, slots past the table. */
static void test_indices(void **state)
{
    static const uint32_t rows[] = {1, 7, 88, 1100};
    struct test_device *device = *state;

    for (int i = 0; i < 4; i++) {
        for (uint32_t mask = 0; mask < 8; mask++) {
            struct scene *scene = test_malloc(sizeof(*scene));
            scene_init(scene, __func__, "%u rows, mask %u", rows[i], mask);
            scene_add_pool(scene, SCENE_BUFFER);
            scene_add_temporal(scene, 0, 8, 16);
            for (uint32_t group = 0; group < 3; group++) {
                scene_add_group(scene, 3 + group);
            }
            scene->shared_tables = mask == 3;
            scene->packed_arrays = mask == 5;
            add_index_rows(scene, rows[i]);
            scene_own_blocks(scene, 1, 3);
            scene->slots_per_row = 1 + mask % 5;
            if (mask & 1) {
                scene_shuffle_slots(scene, mask);
                scene->tables_by_slot = (mask >> 1) & 1;
                scene_set_slot(scene, rows[i] / 2, mask & 4 ? -1 : 100000);
                scene_set_slot(scene, 0, scene->extras[rows[i] - 1].slot);
            }
            scene->uses_starts = (mask >> 2) & 1;
            scene_check(scene, device, device->engine, SCENE_INDICES);
            scene_clear(scene);
            test_free(scene);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permutations),
        cmocka_unit_test(test_scratch_limit),
        cmocka_unit_test(test_named_batches),
        cmocka_unit_test(test_bad_batches),
        cmocka_unit_test(test_zero),
        cmocka_unit_test(test_zero_odd),
        cmocka_unit_test(test_indices),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
