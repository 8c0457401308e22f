/* Plans of random batches, carried out and compared with the definition. */

#include "plan_world.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 8192, REGIONS = 12, CASES = 1000000 };

struct fuzz {
    struct plan_world world;
    struct clmove_region regions[REGIONS];
    size_t region_count;
    unsigned char before[ROOM], after[ROOM], marks[ROOM];
    /* How often things came about, so that a test of nothing is noticed. */
    uint64_t moved, refused_writers, refused_scratch, refused_overlap, sliced,
        endangered, overlapping, merged, split_banks;
    bool slots; /* all regions are slots of slot_size bytes */
};

static uint32_t pick(uint32_t *seed, uint32_t low, uint32_t high)
{
    return low + world_random(seed, high - low + 1);
}

/* One to three roots; memories that share them, or one for all of a root. */
static void make_world(struct fuzz *fuzz, uint32_t *seed)
{
    struct plan_world *world = &fuzz->world;
    size_t sizes[3];
    uint64_t biases[3];
    const uint32_t roots = pick(seed, 1, 3);
    for (uint32_t i = 0; i < roots; i++) {
        sizes[i] = pick(seed, 8, 160);
        biases[i] = pick(seed, 0, 3) == 0 ? 0x7f0000001000u + 64 * i : 0;
    }
    world_set_roots(world, roots, sizes, biases);
    for (uint32_t i = 0; i < roots; i++) {
        world_add_space(world, i, 0, sizes[i], false);
        for (uint32_t more = pick(seed, 0, 2); more > 0; more--) {
            const size_t origin = pick(seed, 0, (uint32_t)sizes[i] - 1);
            world_add_space(world, i, origin, sizes[i] - origin,
                            pick(seed, 0, 1) == 0);
        }
    }
}

/* Any rectangle that fits. */
static void add_any(struct fuzz *fuzz, uint32_t *seed)
{
    const struct plan_world *world = &fuzz->world;
    struct clmove_region region = {0};
    const uint32_t last = (uint32_t)world->space_count - 1;
    region.src_memory = pick(seed, 0, last);
    region.dst_memory =
        pick(seed, 0, 2) ? region.src_memory : pick(seed, 0, last);
    const uint64_t src_size = world->spaces[region.src_memory].size;
    const uint64_t dst_size = world->spaces[region.dst_memory].size;
    const uint64_t least = src_size < dst_size ? src_size : dst_size;
    region.size = pick(seed, 0, (uint32_t)least);
    if (pick(seed, 0, 1))
        region.size = region.size / 4;
    region.rows = pick(seed, 0, 3) == 0 ? pick(seed, 2, 4) : pick(seed, 0, 1);
    const uint64_t further = region.rows > 1 ? region.rows - 1 : 0;
    if (further > 0) {
        region.size = region.size / region.rows;
        const uint64_t room = (least - region.size) / further;
        region.src_stride = pick(seed, 0, (uint32_t)room);
        region.dst_stride = pick(seed, 0, (uint32_t)room);
        if (pick(seed, 0, 1))
            region.dst_stride =
                region.size <= room ? region.size : region.dst_stride;
    }
    region.src_offset =
        pick(seed, 0,
             (uint32_t)(src_size - region.size - further * region.src_stride));
    region.dst_offset =
        pick(seed, 0,
             (uint32_t)(dst_size - region.size - further * region.dst_stride));
    if (further == 0) {
        region.src_stride = 0x123456789abcdefu; /* not used */
        region.dst_stride = UINT64_MAX;
    }
    fuzz->regions[fuzz->region_count++] = region;
}

static void add_slot(struct fuzz *fuzz, uint32_t size, uint32_t src,
                     uint32_t dst)
{
    fuzz->regions[fuzz->region_count++] =
        (struct clmove_region){.src_offset = (uint64_t)src * size,
                               .dst_offset = (uint64_t)dst * size,
                               .size = size};
}

/* Slots of one memory that change places; some are read twice or not at all. */
static void add_slots(struct fuzz *fuzz, uint32_t *seed)
{
    const uint32_t size = pick(seed, 1, 24);
    const uint32_t room = (uint32_t)fuzz->world.spaces[0].size / size;
    const uint32_t count = room < REGIONS ? room : REGIONS;
    uint32_t order[REGIONS];
    fuzz->slots = true;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; i > 1 && pick(seed, 0, 3); i--) {
        const uint32_t other = pick(seed, 0, i - 1);
        const uint32_t held = order[i - 1];
        order[i - 1] = order[other];
        order[other] = held;
    }
    const uint32_t turn = pick(seed, 0, 1);
    for (uint32_t i = 0; i < count; i++)
        add_slot(fuzz, size,
                 pick(seed, 0, 9) ? order[(i + turn) % count]
                                  : pick(seed, 0, count - 1),
                 i);
}

/* Pieces of one move, listed in any order, beside another one. */
static void add_pieces(struct fuzz *fuzz, uint32_t *seed)
{
    const uint32_t room = (uint32_t)fuzz->world.spaces[0].size;
    const uint32_t size = pick(seed, 1, room);
    const uint32_t src = pick(seed, 0, room - size);
    const uint32_t dst = pick(seed, 0, room - size);
    for (uint32_t at = 0; at < size && fuzz->region_count < REGIONS - 1;) {
        const uint32_t piece = pick(seed, 1, size - at);
        fuzz->regions[fuzz->region_count++] = (struct clmove_region){
            .src_offset = src + at, .dst_offset = dst + at, .size = piece};
        at += piece;
    }
    for (size_t i = fuzz->region_count; i > 1; i--) {
        const uint32_t other = pick(seed, 0, (uint32_t)i - 1);
        const struct clmove_region held = fuzz->regions[i - 1];
        fuzz->regions[i - 1] = fuzz->regions[other];
        fuzz->regions[other] = held;
    }
    if (pick(seed, 0, 1))
        add_any(fuzz, seed);
}

static void make_regions(struct fuzz *fuzz, uint32_t *seed)
{
    fuzz->region_count = 0;
    fuzz->slots = false;
    switch (pick(seed, 0, 3)) {
    case 0:
        add_slots(fuzz, seed);
        break;
    case 1:
        add_pieces(fuzz, seed);
        break;
    default:
        for (uint32_t left = pick(seed, 0, 4); left > 0; left--)
            add_any(fuzz, seed);
    }
}

static struct plan_params make_params(const struct fuzz *fuzz, uint32_t *seed)
{
    static const uint32_t variants[] = {
        CLMOVE_VARIANT_AUTO,  CLMOVE_VARIANT_AUTO,     CLMOVE_VARIANT_GROUP,
        CLMOVE_VARIANT_SPLIT, CLMOVE_VARIANT_SEGMENTS, CLMOVE_VARIANT_DISJOINT};
    static const uint64_t tiles[] = {16, 32, 48, 4096};
    struct plan_params params =
        world_params(&fuzz->world, fuzz->regions, fuzz->region_count);
    params.jobs = (struct job_limits){.tile = tiles[pick(seed, 0, 3)],
                                      .tile_min = pick(seed, 0, 2) * 16,
                                      .jobs = pick(seed, 0, 9),
                                      .group_max = pick(seed, 0, 2) * 8,
                                      .span = pick(seed, 1, 2) * 16,
                                      .span_most = pick(seed, 0, 2) * 4,
                                      .split_max = pick(seed, 0, 1) * 8};
    params.variant = variants[pick(seed, 0, 5)];
    params.scratch_limit = pick(seed, 0, 1) * pick(seed, 0, 60);
    params.scratch_base = pick(seed, 0, 3) == 0 ? pick(seed, 1, 40) : 0;
    params.bank_limit = pick(seed, 0, 1) ? 2 : 16;
    return params;
}

/* Whether a row overlaps itself. */
static bool has_overlap(const struct fuzz *fuzz)
{
    for (size_t i = 0; i < fuzz->region_count; i++) {
        const struct clmove_region *region = &fuzz->regions[i];
        for (uint64_t row = 0; row == 0 || row < region->rows; row++) {
            const size_t src = fuzz->world.space_starts[region->src_memory] +
                               region->src_offset + row * region->src_stride;
            const size_t dst = fuzz->world.space_starts[region->dst_memory] +
                               region->dst_offset + row * region->dst_stride;
            if (src != dst &&
                (src < dst ? dst - src : src - dst) < region->size)
                return true;
        }
    }
    return false;
}

/* Whether a refusal is one that this batch deserves. */
static bool is_deserved(struct fuzz *fuzz, const struct plan_params *params,
                        clmove_status status)
{
    struct plan_params free_params = *params;
    struct plan plan;
    bool deserved = false;
    if (status == CLMOVE_INVALID_ARGUMENT) {
        fuzz->refused_overlap++;
        return params->variant == CLMOVE_VARIANT_DISJOINT && has_overlap(fuzz);
    }
    if (status != CLMOVE_OUT_OF_RANGE || params->scratch_limit == 0)
        return false;
    fuzz->refused_scratch++;
    free_params.scratch_limit = 0;
    if (plan_make(NULL, &free_params, &plan) == CLMOVE_SUCCESS) {
        uint64_t slots = 0;
        for (uint32_t i = 0; i < plan.move_count && fuzz->slots; i++) {
            if (plan.moves[i].entry_class == CLMOVE_ENTRY_ENDANGERED)
                slots += plan.moves[i].size / fuzz->regions[0].size;
        }
        deserved = plan.info.scratch_size > params->scratch_limit;
        /* Slots can be sliced as long as each has a byte. */
        if (fuzz->slots && plan.info.overlapping_count == 0)
            deserved = deserved && slots > params->scratch_limit;
    }
    plan_release(&plan);
    return deserved;
}

static void count(struct fuzz *fuzz, const struct plan *plan)
{
    fuzz->moved++;
    fuzz->sliced += plan->slice_size > 0;
    fuzz->endangered += plan->info.endangered_count > 0;
    fuzz->overlapping += plan->info.overlapping_count > 0;
    fuzz->merged += plan->info.merged_count + plan->info.dropped_count <
                    plan->info.entry_count;
    fuzz->split_banks += plan->info.slice_count == 1 &&
                         plan->info.overlapping_count == 0 &&
                         plan->launch_count > 2;
}

static bool run_case(struct fuzz *fuzz, uint32_t seed, const char **why)
{
    struct plan_world *world = &fuzz->world;
    struct plan plan;
    uint32_t own = seed * 2654435761u + 12345u;
    make_world(fuzz, &own);
    make_regions(fuzz, &own);
    const struct plan_params params = make_params(fuzz, &own);
    world_fill(world, own);
    world->seed = own;
    memcpy(fuzz->before, world->bytes, world->size);
    const bool allowed =
        world_reference(world, fuzz->regions, fuzz->region_count, fuzz->before,
                        fuzz->after, fuzz->marks);
    const clmove_status status = plan_make(NULL, &params, &plan);
    bool good = true;
    *why = "status";
    if (!allowed) {
        good = status == CLMOVE_OVERLAP;
        fuzz->refused_writers++;
    } else if (status != CLMOVE_SUCCESS) {
        good = is_deserved(fuzz, &params, status);
    } else {
        count(fuzz, &plan);
        *why = "scratch";
        good = params.scratch_limit == 0 ||
               plan.info.scratch_size <= params.scratch_limit;
        if (good) {
            *why = world->fault;
            good = world_run(world, &params, &plan);
        }
        if (good) {
            *why = "bytes";
            good = memcmp(world->bytes, fuzz->after, world->size) == 0;
        }
    }
    plan_release(&plan);
    return good;
}

static void test_random(void **state)
{
    struct fuzz *fuzz = *state;
    const char *why = NULL;
    for (uint32_t seed = 0; seed < CASES; seed++) {
        if (!run_case(fuzz, seed, &why))
            fail_msg("case %u: %s", seed, why);
    }
    print_message(
        "%d cases: %llu carried out (%llu endangered, %llu overlap "
        "themselves, %llu merged, %llu sliced, %llu with more "
        "launches for their buffers), refused: %llu two writers, "
        "%llu scratch, %llu variant\n",
        CASES, (unsigned long long)fuzz->moved,
        (unsigned long long)fuzz->endangered,
        (unsigned long long)fuzz->overlapping, (unsigned long long)fuzz->merged,
        (unsigned long long)fuzz->sliced, (unsigned long long)fuzz->split_banks,
        (unsigned long long)fuzz->refused_writers,
        (unsigned long long)fuzz->refused_scratch,
        (unsigned long long)fuzz->refused_overlap);
    assert_true(fuzz->moved > CASES / 4);
    assert_true(fuzz->endangered > CASES / 20);
    assert_true(fuzz->overlapping > CASES / 20);
    assert_true(fuzz->merged > CASES / 20);
    assert_true(fuzz->sliced > CASES / 200);
    assert_true(fuzz->split_banks > CASES / 500);
    assert_true(fuzz->refused_writers > CASES / 50);
    assert_true(fuzz->refused_scratch > CASES / 500);
    assert_true(fuzz->refused_overlap > CASES / 500);
}

static int setup(void **state)
{
    struct fuzz *fuzz = calloc(1, sizeof *fuzz);
    if (fuzz == NULL)
        return -1;
    world_create(&fuzz->world, ROOM);
    *state = fuzz;
    return 0;
}

static int teardown(void **state)
{
    struct fuzz *fuzz = *state;
    world_destroy(&fuzz->world);
    free(fuzz);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
