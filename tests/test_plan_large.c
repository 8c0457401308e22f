/* Plans of 10^5 entries, friendly and hostile: right, and bounded. */

#include "plan_world.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 100000, SLOT = 16 };

/* Bounds, stated: comparisons for each entry (sorting takes 17, finding writers
 * 17 for each of at most two searches), and bytes for each entry: rows, moves,
 * and both jobs in lists that may be twice as long as needed. */
enum { WORK_MAX = 64, MEMORY_MAX = 132 + 4 + 16 + 8 + 4 * (24 + 16) };

struct large {
    struct plan_world world;
    struct clmove_region *regions;
    unsigned char *before, *after, *marks;
    size_t room;
};

/* Of this process alone; printed, never a condition. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void set_memory(struct large *large, size_t size)
{
    world_set_roots(&large->world, 1, &size, NULL);
    world_add_space(&large->world, 0, 0, size, false);
    world_fill(&large->world, 9);
    memcpy(large->before, large->world.bytes, large->world.size);
}

static void set_region(struct large *large, size_t i, uint64_t src,
                       uint64_t dst, uint64_t size)
{
    large->regions[i] = (struct clmove_region){
        .src_offset = src, .dst_offset = dst, .size = size};
}

static void shuffle(struct large *large, size_t count)
{
    uint32_t seed = 4;
    for (size_t i = count; i > 1; i--) {
        const size_t other = world_random(&seed, (uint32_t)i);
        const struct clmove_region held = large->regions[i - 1];
        large->regions[i - 1] = large->regions[other];
        large->regions[other] = held;
    }
}

/* Plans, checks the bounds, carries out; returns what the plan says. */
static struct clmove_batch_info plan_and_run(struct large *large,
                                             const char *name, size_t count,
                                             uint64_t scratch_limit)
{
    struct plan_world *world = &large->world;
    struct plan plan;
    struct plan_params params = world_params(world, large->regions, count);
    params.scratch_limit = scratch_limit;
    assert_true(world_reference(world, large->regions, count, large->before,
                                large->after, large->marks));
    const double begin = seconds();
    assert_int_equal(plan_make(NULL, &params, &plan), CLMOVE_SUCCESS);
    print_message("%s: %.1f ms, %.1f comparisons and %.0f bytes an entry, %u "
                  "launches\n",
                  name, (seconds() - begin) * 1e3,
                  (double)plan.work / (double)count,
                  (double)plan.memory / (double)count, plan.launch_count);
    assert_true(plan.work <= (uint64_t)count * WORK_MAX);
    assert_true(plan.memory <= (uint64_t)count * MEMORY_MAX + 65536);
    if (!world_run(world, &params, &plan))
        fail_msg("%s: %s", name, world->fault);
    assert_int_equal(memcmp(world->bytes, large->after, world->size), 0);
    const struct clmove_batch_info info = plan.info;
    plan_release(&plan);
    return info;
}

static void test_disjoint(void **state)
{
    struct large *large = *state;
    const uint64_t half = (uint64_t)COUNT * SLOT * 2;
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        set_memory(large, half * 2);
        for (size_t i = 0; i < COUNT; i++)
            set_region(large, i, i * SLOT * 2, half + i * SLOT * 2, SLOT);
        if (shuffled)
            shuffle(large, COUNT);
        const struct clmove_batch_info info = plan_and_run(
            large, shuffled ? "disjoint, shuffled" : "disjoint", COUNT, 0);
        assert_int_equal(info.merged_count, COUNT);
        assert_int_equal(info.endangered_count, 0);
        assert_int_equal(info.launch_count, 1);
    }
}

/* Every entry reads what the one before it writes: one long move, and the same
 * with gaps, where all but the last are endangered. */
static void test_chain(void **state)
{
    struct large *large = *state;
    set_memory(large, (size_t)(COUNT + 1) * SLOT);
    for (size_t i = 0; i < COUNT; i++)
        set_region(large, i, i * SLOT, (i + 1) * SLOT, SLOT);
    shuffle(large, COUNT);
    struct clmove_batch_info info = plan_and_run(large, "chain", COUNT, 0);
    assert_int_equal(info.merged_count, 1);
    assert_int_equal(info.overlapping_count, 1);
    set_memory(large, (size_t)(COUNT + 1) * SLOT * 2);
    for (size_t i = 0; i < COUNT; i++)
        set_region(large, i, i * SLOT * 2, (i + 1) * SLOT * 2, SLOT);
    shuffle(large, COUNT);
    info = plan_and_run(large, "chain with gaps", COUNT, 0);
    assert_int_equal(info.merged_count, COUNT);
    assert_int_equal(info.endangered_count, COUNT - 1);
}

static void test_cycle(void **state)
{
    struct large *large = *state;
    set_memory(large, (size_t)COUNT * SLOT * 2);
    for (size_t i = 0; i < COUNT; i++)
        set_region(large, i, i * SLOT * 2, (i + 1) % COUNT * SLOT * 2, SLOT);
    const struct clmove_batch_info info =
        plan_and_run(large, "one cycle", COUNT, 0);
    assert_int_equal(info.endangered_count, COUNT);
    assert_int_equal(info.launch_count, 2);
    assert_true(info.scratch_size == (uint64_t)COUNT * SLOT);
}

/* One source under all destinations; it is written too, or not. */
static void test_fans(void **state)
{
    struct large *large = *state;
    const size_t size = (size_t)COUNT * SLOT;
    set_memory(large, size + SLOT);
    for (size_t i = 0; i < COUNT; i++)
        set_region(large, i, size, i * SLOT, SLOT);
    struct clmove_batch_info info = plan_and_run(large, "fan", COUNT, 0);
    assert_int_equal(info.endangered_count, 0);
    set_memory(large, size + SLOT);
    for (size_t i = 0; i < COUNT; i++)
        set_region(large, i, size, i * SLOT, SLOT);
    set_region(large, 0, 0, size + 8, 1);
    info = plan_and_run(large, "fan, its source written", COUNT, 0);
    assert_int_equal(info.endangered_count, COUNT - 1);
    /* The source lies under the destinations themselves: one byte each. */
    set_memory(large, (size_t)COUNT);
    for (size_t i = 0; i < COUNT; i++)
        set_region(large, i, i == 50000 ? 3 : 50000, i, 1);
    info = plan_and_run(large, "fan out of its middle", COUNT, 0);
    assert_true(info.endangered_count >= COUNT - 2);
}

/* A wide source that every other entry writes into. */
static void test_wide_source(void **state)
{
    struct large *large = *state;
    const size_t size = (size_t)(COUNT - 1) * SLOT;
    set_memory(large, size * 2 + 4096);
    set_region(large, 0, 0, size, size);
    for (size_t i = 1; i < COUNT; i++)
        set_region(large, i, size * 2 + i % 4096, (i - 1) * SLOT, 1);
    const struct clmove_batch_info info =
        plan_and_run(large, "wide source", COUNT, 0);
    assert_int_equal(info.endangered_count, 1);
}

/* Teeth that lie between each other, sources and destinations out of step. */
static void test_combs(void **state)
{
    struct large *large = *state;
    set_memory(large, (size_t)COUNT * 32 + 64);
    for (size_t i = 0; i < COUNT; i++)
        set_region(large, i, i * 32 + 7, (COUNT - 1 - i) * 32 + (i & 1), 14);
    shuffle(large, COUNT);
    const struct clmove_batch_info info =
        plan_and_run(large, "combs", COUNT, 0);
    assert_true(info.endangered_count >= COUNT - 2);
}

/* All slots change places, by memory enough and by 1 MiB. */
static void test_permutation(void **state)
{
    struct large *large = *state;
    static const uint64_t limits[] = {0, 1 << 20};
    uint32_t *order = malloc(COUNT * sizeof order[0]);
    uint32_t seed = 11;
    assert_non_null(order);
    for (uint32_t i = 0; i < COUNT; i++)
        order[i] = i;
    for (uint32_t i = COUNT; i > 1; i--) {
        const uint32_t other = world_random(&seed, i);
        const uint32_t held = order[i - 1];
        order[i - 1] = order[other];
        order[other] = held;
    }
    for (size_t k = 0; k < 2; k++) {
        set_memory(large, (size_t)COUNT * 72);
        for (size_t i = 0; i < COUNT; i++)
            set_region(large, i, order[i] * 72ull, i * 72ull, 72);
        const struct clmove_batch_info info =
            plan_and_run(large, k ? "permutation in 1 MiB" : "permutation",
                         COUNT, limits[k]);
        assert_int_equal(info.slice_count, k ? 9 : 1);
        assert_int_equal(info.launch_count, k ? 18 : 2);
        if (k)
            assert_int_equal(info.scratch_size,
                             (COUNT - info.dropped_count) * 8);
    }
    free(order);
}

/* Each entry moves by a byte: as many spans as entries. */
static void test_shifts(void **state)
{
    struct large *large = *state;
    set_memory(large, (size_t)COUNT * 32 + 64);
    for (size_t i = 0; i < COUNT; i++)
        set_region(large, i, i * 32 + (i & 1), i * 32 + !(i & 1), 24);
    struct plan plan;
    const struct plan_params params =
        world_params(&large->world, large->regions, COUNT);
    const double begin = seconds();
    assert_int_equal(plan_make(NULL, &params, &plan), CLMOVE_SUCCESS);
    print_message("shifts: %.1f ms, %.0f bytes an entry\n",
                  (seconds() - begin) * 1e3,
                  (double)plan.memory / (double)COUNT);
    assert_int_equal(plan.info.overlapping_count, COUNT);
    /* A family and a chunk, in lists up to twice as long. */
    assert_true(plan.memory <=
                (uint64_t)COUNT * (160 + 2 * (120 + 16)) + 65536);
    plan_release(&plan);
}

/* A huge entry does not make more jobs than any device can run. */
static void test_huge(void **state)
{
    (void)state;
    const struct plan_space spaces[2] = {
        {.size = 1ull << 46}, {.root = 1, .binding = 1, .size = 1ull << 46}};
    const struct clmove_region regions[2] = {{0, 1, 0, 0, 1ull << 46, 0, 0, 0},
                                             {1, 0, 0, 0, 4096, 0, 0, 0}};
    struct plan_params params = {.spaces = spaces,
                                 .space_count = 2,
                                 .regions = regions,
                                 .region_count = 1,
                                 .jobs = {.tile = 64 * 1024},
                                 .binding_count = 2,
                                 .bank_limit = 2};
    struct plan plan;
    assert_int_equal(plan_make(NULL, &params, &plan), CLMOVE_SUCCESS);
    assert_int_equal(plan.family_count, 1);
    assert_true(plan.families[0].job_count * plan.families[0].piece >=
                regions[0].size);
    assert_true(plan.chunk_count <= (1 << 20) + 1);
    plan_release(&plan);
    /* With the other one the whole of it needs scratch. */
    params.region_count = 2;
    params.scratch_limit = 1 << 20;
    assert_int_equal(plan_make(NULL, &params, &plan), CLMOVE_OUT_OF_RANGE);
    plan_release(&plan);
}

/* Moves share the jobs that keep a device busy: each alone is cut into as many
 * small tiles as that takes, many of them into whole ones. */
static void test_shared_jobs(void **state)
{
    enum { MIB = 1 << 20, MOVES = 1000, TILE = 16 * 1024, JOBS = 528 };
    struct large *large = *state;
    const struct plan_space spaces[2] = {
        {.size = 2ull * MOVES * MIB},
        {.root = 1, .binding = 1, .size = 2ull * MOVES * MIB}};
    struct plan_params params = {.spaces = spaces,
                                 .space_count = 2,
                                 .regions = large->regions,
                                 .jobs = {.tile = TILE,
                                          .tile_min = TILE / 8,
                                          .jobs = JOBS,
                                          .span = TILE,
                                          .split_max = TILE},
                                 .binding_count = 2,
                                 .bank_limit = 2};
    for (int overlapping = 0; overlapping < 2; overlapping++) {
        for (uint32_t count = 1; count <= MOVES; count += MOVES - 1) {
            struct plan plan;
            for (uint64_t i = 0; i < count; i++) {
                large->regions[i] =
                    (struct clmove_region){.dst_memory = !overlapping,
                                           .src_offset = 2 * i * MIB + 16,
                                           .dst_offset = 2 * i * MIB,
                                           .size = MIB};
            }
            params.region_count = count;
            assert_int_equal(plan_make(NULL, &params, &plan), CLMOVE_SUCCESS);
            if (overlapping) /* one span each, and no edges */
                assert_int_equal(plan.info.scratch_size == 0, count > 1);
            else
                assert_true(count == 1
                                ? plan.chunk_count >= JOBS * 9 / 10
                                : plan.chunk_count <= count * (MIB / TILE + 1));
            plan_release(&plan);
        }
    }
}

static int setup(void **state)
{
    static struct large large;
    large.room = (size_t)24 << 20;
    world_create(&large.world, large.room);
    large.regions = calloc(COUNT, sizeof large.regions[0]);
    large.before = malloc(large.room);
    large.after = malloc(large.room);
    large.marks = malloc(large.room);
    *state = &large;
    return large.regions && large.before && large.after && large.marks ? 0 : -1;
}

static int teardown(void **state)
{
    struct large *large = *state;
    world_destroy(&large->world);
    free(large->regions);
    free(large->before);
    free(large->after);
    free(large->marks);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disjoint),    cmocka_unit_test(test_chain),
        cmocka_unit_test(test_cycle),       cmocka_unit_test(test_fans),
        cmocka_unit_test(test_wide_source), cmocka_unit_test(test_combs),
        cmocka_unit_test(test_permutation), cmocka_unit_test(test_shifts),
        cmocka_unit_test(test_huge),        cmocka_unit_test(test_shared_jobs),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
