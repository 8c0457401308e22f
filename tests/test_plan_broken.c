/* Broken plans: what carries plans out on the host must notice each of them. */

#include "plan_world.h"
#include "testing.h"

#include <string.h>

enum { ROOM = 16384, SIZE = 4096 };

struct broken {
    struct plan_world world;
    struct plan plan;
    struct plan_params params;
    unsigned char before[ROOM], after[ROOM], marks[ROOM];
};

static struct clmove_region region(uint64_t src, uint64_t dst, uint64_t size)
{
    return (struct clmove_region){
        .src_offset = src, .dst_offset = dst, .size = size};
}

/* Plans a batch in one memory. */
static void make(struct broken *broken, const struct clmove_region *regions,
                 size_t count, uint32_t variant, uint64_t limit)
{
    const size_t size = SIZE;
    struct plan_world *world = &broken->world;
    world_set_roots(world, 1, &size, NULL);
    world_add_space(world, 0, 0, size, false);
    world_fill(world, 3);
    memcpy(broken->before, world->bytes, world->size);
    assert_true(world_reference(world, regions, count, broken->before,
                                broken->after, broken->marks));
    broken->params = world_params(world, regions, count);
    broken->params.jobs = (struct job_limits){
        .tile = 64, .group_max = 64, .span = 64, .split_max = 64};
    broken->params.variant = variant;
    broken->params.scratch_limit = limit;
    assert_int_equal(plan_make(NULL, &broken->params, &broken->plan),
                     CLMOVE_SUCCESS);
}

/* Whether the plan as it now is gives the right bytes, in any of a few orders
 * of its jobs; NULL, or what is wrong. */
static const char *verdict(struct broken *broken)
{
    struct plan_world *world = &broken->world;
    for (uint32_t order = 0; order < 20; order++) {
        memcpy(world->bytes, broken->before, world->size);
        world->seed = order * 77777u;
        if (!world_run(world, &broken->params, &broken->plan))
            return world->fault;
        if (memcmp(world->bytes, broken->after, world->size) != 0)
            return "bytes";
    }
    return NULL;
}

static void assert_found(struct broken *broken, const char *what)
{
    const char *found = verdict(broken);
    if (found == NULL || strstr(found, what) == NULL)
        fail_msg("wanted \"%s\", found %s", what,
                 found == NULL ? "nothing" : found);
}

static void assert_good(struct broken *broken)
{
    const char *found = verdict(broken);
    if (found != NULL)
        fail_msg("the plan itself: %s", found);
}

static const struct clmove_region swap[] = {{0, 0, 0, 512, 32, 0, 0, 0},
                                            {0, 0, 512, 0, 32, 0, 0, 0}};

/* A swap whose first entry is taken as disjoint: as a wrong class gives it. */
static void test_wrong_class(void **state)
{
    struct broken *broken = *state;
    make(broken, swap, 2, 0, 0);
    assert_good(broken);
    assert_int_equal(broken->plan.moves[0].entry_class,
                     CLMOVE_ENTRY_ENDANGERED);
    broken->plan.moves[0].entry_class = CLMOVE_ENTRY_DISJOINT;
    broken->plan.launch_count = broken->plan.chunk_count = 0;
    broken->plan.small_count = broken->plan.binding_count = 0;
    assert_int_equal(plan_make_launches(NULL, &broken->params, &broken->plan),
                     CLMOVE_SUCCESS);
    assert_found(broken, "beside a");
    plan_release(&broken->plan);
}

/* Both entries taken as disjoint: they race. */
static void test_no_hazard_seen(void **state)
{
    struct broken *broken = *state;
    make(broken, swap, 2, 0, 0);
    for (uint32_t i = 0; i < 2; i++)
        broken->plan.moves[i].entry_class = CLMOVE_ENTRY_DISJOINT;
    broken->plan.launch_count = broken->plan.chunk_count = 0;
    broken->plan.small_count = broken->plan.binding_count = 0;
    assert_int_equal(plan_make_launches(NULL, &broken->params, &broken->plan),
                     CLMOVE_SUCCESS);
    assert_found(broken, "beside a");
    plan_release(&broken->plan);
}

static void test_save_left_out(void **state)
{
    struct broken *broken = *state;
    make(broken, swap, 2, 0, 0);
    memmove(&broken->plan.launches[0], &broken->plan.launches[1],
            sizeof broken->plan.launches[0]);
    broken->plan.launch_count = 1;
    assert_found(broken, "bytes");
    plan_release(&broken->plan);
}

static void test_launches_joined(void **state)
{
    struct broken *broken = *state;
    make(broken, swap, 2, 0, 0);
    assert_int_equal(broken->plan.launch_count, 2);
    broken->plan.launches[0].chunk_count +=
        broken->plan.launches[1].chunk_count;
    broken->plan.launch_count = 1;
    assert_found(broken, "beside a");
    plan_release(&broken->plan);
}

static void test_scratch_shared(void **state)
{
    struct broken *broken = *state;
    make(broken, swap, 2, 0, 0);
    broken->plan.smalls[1].dst = broken->plan.smalls[0].dst;
    assert_found(broken, "two writes");
    plan_release(&broken->plan);
}

static void test_outside(void **state)
{
    struct broken *broken = *state;
    make(broken, swap, 2, 0, 0);
    broken->plan.smalls[0].size += 1000;
    assert_found(broken, "past the end of scratch");
    plan_release(&broken->plan);
    make(broken, swap, 2, 0, 0);
    broken->plan.smalls[3].dst += 1; /* a guard's or a neighbour's byte */
    assert_found(broken, "bytes");
    plan_release(&broken->plan);
}

/* A shift in spans without its edges, or with one span moved the wrong way. */
static void test_edges(void **state)
{
    struct broken *broken = *state;
    const struct clmove_region shift[] = {region(1000, 990, 1000)};
    make(broken, shift, 1, CLMOVE_VARIANT_SPLIT, 0);
    assert_good(broken);
    assert_int_equal(broken->plan.family_count, 2);
    broken->plan.families[1].distance = 0;
    assert_found(broken, "beside a");
    plan_release(&broken->plan);
    make(broken, shift, 1, CLMOVE_VARIANT_SPLIT, 0);
    broken->plan.families[1].mode = JOB_DOWN;
    assert_found(broken, "beside a");
    plan_release(&broken->plan);
    make(broken, shift, 1, CLMOVE_VARIANT_SPLIT, 0);
    broken->plan.families[0].src += 1;
    assert_found(broken, "bytes");
    plan_release(&broken->plan);
}

/* Columns whose pieces are moved in the wrong order, or are too far apart, or
 * that share bytes. */
static void test_segments(void **state)
{
    static const char *const found[] = {"", "", "beside a"};
    struct broken *broken = *state;
    const struct clmove_region shift[] = {region(1000, 1096, 1000)};
    for (int fault = 0; fault < 3; fault++) {
        make(broken, shift, 1, CLMOVE_VARIANT_SEGMENTS, 0);
        assert_good(broken);
        assert_int_equal(broken->plan.family_count, 2);
        struct job_family *family = &broken->plan.families[1];
        assert_true(family->columns > 1 && family->pieces > 1);
        if (fault == 0)
            family->mode = JOB_UP;
        else if (fault == 1)
            family->stride += 16;
        else
            family->stride -= 16;
        assert_found(broken, found[fault]);
        plan_release(&broken->plan);
    }
}

/* Slices at the wrong place, and the rest of the moves too early. */
static void test_slices(void **state)
{
    struct broken *broken = *state;
    const struct clmove_region regions[] = {
        region(240, 0, 80), region(0, 160, 80), region(80, 260, 20)};
    make(broken, regions, 3, 0, 40);
    assert_good(broken);
    assert_int_equal(broken->plan.info.slice_count, 5);
    assert_int_equal(broken->plan.launch_count, 11);
    broken->plan.launches[3].slice = 0;
    assert_found(broken, "bytes");
    plan_release(&broken->plan);
    make(broken, regions, 3, 0, 40);
    const struct plan_launch last = broken->plan.launches[10];
    memmove(&broken->plan.launches[1], &broken->plan.launches[0],
            10 * sizeof last);
    broken->plan.launches[0] = last;
    assert_found(broken, "bytes");
    plan_release(&broken->plan);
}

static int setup(void **state)
{
    static struct broken broken;
    world_create(&broken.world, ROOM);
    *state = &broken;
    return 0;
}

static int teardown(void **state)
{
    struct broken *broken = *state;
    world_destroy(&broken->world);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_class),
        cmocka_unit_test(test_no_hazard_seen),
        cmocka_unit_test(test_save_left_out),
        cmocka_unit_test(test_launches_joined),
        cmocka_unit_test(test_scratch_shared),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_slices),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
