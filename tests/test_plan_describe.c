/* Batches without an engine: described, refused, never enqueued. */

#include "testing.h"

#include <clmove/move.h>
#include <stdio.h>
#include <string.h>

static char said[512];

static void keep(void *user, int level, const char *message)
{
    (void)user;
    (void)level;
    snprintf(said, sizeof said, "%s", message);
}

static const struct clmove_log keeper = {keep, NULL};

static const struct clmove_memory memories[2] = {{.size = 1 << 20},
                                                 {.size = 4096}};

static struct clmove_batch *make(const struct clmove_region *regions,
                                 size_t count)
{
    const struct clmove_batch_params params = {.memories = memories,
                                               .memory_count = 2,
                                               .regions = regions,
                                               .region_count = count};
    struct clmove_batch *batch = NULL;
    assert_int_equal(clmove_batch_create(NULL, &keeper, &params, &batch),
                     CLMOVE_SUCCESS);
    assert_non_null(batch);
    return batch;
}

static void test_classes(void **state)
{
    (void)state;
    static const struct clmove_region regions[] = {
        {0, 0, 1000, 1010, 100, 0, 0, 0},       /* right */
        {0, 0, 5000, 4990, 100, 0, 0, 0},       /* left */
        {0, 1, 0, 16, 8, 3, 8, 8},              /* disjoint, one of 24 bytes */
        {0, 0, 77, 77, 9, 0, 0, 0},             /* onto itself */
        {1, 0, 200, 20000, 50, 0, 0, 0},        /* written by the next */
        {0, 1, 30000, 210, 5, 0, 0, 0},         /* disjoint */
        {0, 0, 300000, 200000, 0, 0, 0, 0},     /* size 0 */
        {0, 0, 400000, 400016, 200000, 0, 0, 0} /* right, large */
    };
    static const struct clmove_entry_info wanted[] = {
        {CLMOVE_ENTRY_RIGHT, CLMOVE_VARIANT_GROUP, 0, 100},
        {CLMOVE_ENTRY_LEFT, CLMOVE_VARIANT_GROUP, 1, 100},
        {CLMOVE_ENTRY_DISJOINT, CLMOVE_VARIANT_DISJOINT, 4, 24},
        {CLMOVE_ENTRY_DROPPED, 0, UINT64_MAX, 0},
        {CLMOVE_ENTRY_ENDANGERED, CLMOVE_VARIANT_DISJOINT, 2, 50},
        {CLMOVE_ENTRY_DISJOINT, CLMOVE_VARIANT_DISJOINT, 5, 5},
        {CLMOVE_ENTRY_DROPPED, 0, UINT64_MAX, 0},
        {CLMOVE_ENTRY_RIGHT, CLMOVE_VARIANT_SPLIT, 3, 200000},
    };
    struct clmove_batch *batch = make(regions, 8);
    struct clmove_batch_info info;
    struct clmove_entry_info entry;
    for (uint64_t i = 0; i < 8; i++) {
        const uint64_t row = i == 2 ? 1 : 0;
        assert_int_equal(clmove_batch_describe_entry(batch, i, row, &entry),
                         CLMOVE_SUCCESS);
        assert_int_equal(entry.entry_class, wanted[i].entry_class);
        assert_int_equal(entry.variant, wanted[i].variant);
        assert_true(entry.move == wanted[i].move);
        assert_true(entry.move_size == wanted[i].move_size);
    }
    assert_int_equal(clmove_batch_describe(batch, &info), CLMOVE_SUCCESS);
    assert_int_equal(info.region_count, 8);
    assert_int_equal(info.entry_count, 10);
    assert_int_equal(info.merged_count, 6);
    assert_int_equal(info.dropped_count, 2);
    assert_int_equal(info.endangered_count, 1);
    assert_int_equal(info.overlapping_count, 3);
    assert_int_equal(info.moved_size, 100 + 100 + 24 + 50 + 5 + 200000);
    assert_int_equal(info.launch_count, 2);
    clmove_batch_destroy(&batch);
    assert_null(batch);
}

static void test_past_the_end(void **state)
{
    (void)state;
    static const struct clmove_region regions[] = {{0, 1, 0, 0, 8, 3, 8, 9}};
    struct clmove_batch *batch = make(regions, 1);
    struct clmove_entry_info entry;
    assert_int_equal(clmove_batch_describe_entry(batch, 1, 0, &entry),
                     CLMOVE_OUT_OF_RANGE);
    assert_string_equal(said, "region is 1, and the batch has 1");
    assert_int_equal(clmove_batch_describe_entry(batch, 0, 3, &entry),
                     CLMOVE_OUT_OF_RANGE);
    assert_string_equal(said, "row is 3, and regions[0] has 3");
    assert_int_equal(clmove_batch_describe_entry(batch, 0, 2, NULL),
                     CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(clmove_batch_describe_entry(NULL, 0, 2, &entry),
                     CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(clmove_batch_describe(batch, NULL),
                     CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(clmove_enqueue_batch(batch, NULL, 0, NULL, NULL),
                     CLMOVE_INVALID_ARGUMENT);
    assert_string_equal(
        said, "the batch was made without an engine, to be described only");
    clmove_batch_destroy(&batch);
    clmove_batch_destroy(&batch);
    clmove_batch_destroy(NULL);
}

static void refuse(struct clmove_batch_params params, const char *sentence)
{
    struct clmove_batch *batch = (struct clmove_batch *)1;
    said[0] = '\0';
    assert_int_equal(clmove_batch_create(NULL, &keeper, &params, &batch),
                     CLMOVE_INVALID_ARGUMENT);
    assert_null(batch);
    assert_string_equal(said, sentence);
}

/* A swap a byte at a time: 65536 slices at most. */
static void test_many_slices(void **state)
{
    (void)state;
    for (uint64_t size = 65536; size <= 65537; size++) {
        const struct clmove_region regions[] = {
            {.dst_offset = size, .size = size},
            {.src_offset = size, .size = size}};
        const struct clmove_memory memory = {.size = (size_t)size * 2};
        const struct clmove_batch_params params = {.memories = &memory,
                                                   .memory_count = 1,
                                                   .regions = regions,
                                                   .region_count = 2,
                                                   .scratch_limit = 2};
        struct clmove_batch *batch = NULL;
        struct clmove_batch_info info;
        assert_int_equal(clmove_batch_create(NULL, &keeper, &params, &batch),
                         size == 65536 ? CLMOVE_SUCCESS : CLMOVE_OUT_OF_RANGE);
        if (batch != NULL) {
            assert_int_equal(clmove_batch_describe(batch, &info),
                             CLMOVE_SUCCESS);
            assert_int_equal(info.slice_count, 65536);
        }
        clmove_batch_destroy(&batch);
    }
}

static void test_bad_params(void **state)
{
    (void)state;
    int handle = 0;
    const struct clmove_memory pointed = {.pointer = &handle, .size = 4};
    struct clmove_batch *batch = NULL;
    refuse((struct clmove_batch_params){.memory_count = 1},
           "params->memories is NULL, and memory_count is 1");
    refuse((struct clmove_batch_params){.region_count = 3},
           "params->regions is NULL, and region_count is 3");
    refuse((struct clmove_batch_params){.variant = 9},
           "params->variant is 9, and is none of enum clmove_variant");
    refuse((struct clmove_batch_params){.variant = CLMOVE_VARIANT_DRIVER},
           "params->variant is driver, which is not for batches");
    refuse(
        (struct clmove_batch_params){.memories = &pointed, .memory_count = 1},
        "params->memories[0] has a buffer or pointer, and without an engine "
        "only its size can be used");
    assert_int_equal(clmove_batch_create(NULL, &keeper, NULL, &batch),
                     CLMOVE_INVALID_ARGUMENT);
    assert_string_equal(said, "params is NULL");
    const struct clmove_batch_params params = {0};
    assert_int_equal(clmove_batch_create(NULL, NULL, &params, NULL),
                     CLMOVE_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_past_the_end),
        cmocka_unit_test(test_many_slices),
        cmocka_unit_test(test_bad_params),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
