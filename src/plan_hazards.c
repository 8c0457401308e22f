/* A batch planned: which moves are endangered; where scratch holds their bytes.
 */

#include "plan.h"

#include "util.h"

#include <stdlib.h>

/* Slices at most: two launches each. */
enum { SLICES_MAX = 1 << 16 };

static uint32_t dst_root(const struct plan_params *params,
                         const struct plan_move *move)
{
    return params->spaces[move->dst_space].root;
}

struct job_limits plan_limits(const struct plan_params *params,
                              const struct plan *plan, uint64_t size)
{
    struct job_limits limits = params->jobs;
    if (limits.jobs > 0)
        limits.jobs = max_u64(limits.jobs / (plan->info.moved_size / size), 1);
    return limits;
}

struct job_move plan_job_move(const struct plan_params *params,
                              const struct plan_move *move)
{
    const bool one_root =
        params->spaces[move->src_space].root == dst_root(params, move);
    return (struct job_move){move->src, move->dst, move->size,
                             one_root && move->src != move->dst &&
                                 (move->src < move->dst
                                      ? move->dst - move->src
                                      : move->src - move->dst) < move->size};
}

/* Moves in the order of destinations: all of them, or those that are listed. */
struct moves {
    const struct plan_move *moves;
    const uint32_t *list; /* NULL: all */
    uint32_t count;
};

static const struct plan_move *move_at(const struct moves *all, uint32_t i)
{
    return &all->moves[all->list == NULL ? i : all->list[i]];
}

/* The first move whose destination ends after `place` of a root, in the order;
 * it alone can hold the byte there. */
static uint32_t find_writer(const struct plan_params *params,
                            const struct moves *all, uint32_t root,
                            uint64_t place, uint64_t *work)
{
    uint32_t low = 0;
    uint32_t high = all->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct plan_move *move = move_at(all, middle);
        const uint32_t its_root = dst_root(params, move);
        const bool after =
            its_root != root ? its_root > root : move->dst + move->size > place;
        *work += 1;
        if (after)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Whether another move writes into a move's source. Destinations are disjoint:
 * of the first two that reach into it, one is another's. */
static bool is_endangered(const struct plan_params *params, struct plan *plan,
                          const struct plan_move *move)
{
    const struct moves all = {plan->moves, NULL, plan->move_count};
    const uint32_t root = params->spaces[move->src_space].root;
    const uint32_t first =
        find_writer(params, &all, root, move->src, &plan->work);
    for (uint32_t i = first; i < all.count && i < first + 2; i++) {
        const struct plan_move *writer = &plan->moves[i];
        if (writer != move && dst_root(params, writer) == root &&
            writer->dst < move->src + move->size)
            return true;
    }
    return false;
}

void plan_classify(const struct plan_params *params, struct plan *plan)
{
    for (uint32_t i = 0; i < plan->move_count; i++) {
        struct plan_move *move = &plan->moves[i];
        const struct job_move job = plan_job_move(params, move);
        move->variant = CLMOVE_VARIANT_DISJOINT;
        move->entry_class = CLMOVE_ENTRY_DISJOINT;
        if (is_endangered(params, plan, move)) {
            move->entry_class = CLMOVE_ENTRY_ENDANGERED;
            plan->info.endangered_count++;
        } else if (job.overlaps) {
            move->entry_class =
                move->dst < move->src ? CLMOVE_ENTRY_LEFT : CLMOVE_ENTRY_RIGHT;
            move->variant = (uint8_t)(params->variant == CLMOVE_VARIANT_AUTO
                                          ? job_choose(&params->jobs, &job)
                                          : params->variant);
            plan->info.overlapping_count++;
        }
    }
}

/* Edges come first in scratch; *end is where they end. */
static clmove_status place_edges(const struct clmove_log *log,
                                 const struct plan_params *params,
                                 struct plan *plan, uint64_t *end)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct job_plan jobs;
    *end = 0;
    for (uint32_t i = 0; i < plan->move_count; i++) {
        struct plan_move *move = &plan->moves[i];
        if (!plan_overlaps(move))
            continue;
        const struct job_move job = plan_job_move(params, move);
        const struct job_limits limits = plan_limits(params, plan, move->size);
        CHECK(params->variant != CLMOVE_VARIANT_DISJOINT,
              CLMOVE_INVALID_ARGUMENT,
              "variant is disjoint, and the move of %llu bytes to byte %llu of "
              "memories[%u] overlaps itself",
              (unsigned long long)move->size,
              (unsigned long long)(move->dst -
                                   params->spaces[move->dst_space].origin),
              move->dst_space);
        CHECK(job_plan_move(&limits, move->variant, &job, &jobs),
              CLMOVE_UNSUPPORTED,
              "a move of %llu bytes has too many jobs for the variant %s",
              (unsigned long long)move->size,
              clmove_variant_name(move->variant));
        move->saves = jobs.launch_count > 1;
        move->scratch = *end;
        /* A quarter of the bytes moved each, and a few: no overflow. */
        *end += (jobs.scratch_size + 15) / 16 * 16;
    }
out:
    return status;
}

/* Places the endangered moves from `begin` on; in phase with their destinations
 * if the kernel is to move whole vectors, else packed. false: beyond 64 bits.
 */
static bool place_endangered(struct plan *plan, uint64_t begin, bool in_phase,
                             uint64_t *end)
{
    *end = begin;
    for (uint32_t i = 0; i < plan->move_count; i++) {
        struct plan_move *move = &plan->moves[i];
        if (move->entry_class != CLMOVE_ENTRY_ENDANGERED)
            continue;
        if (in_phase && !add_checked(*end, (move->dst - *end) % 16, end))
            return false;
        move->scratch = *end;
        if (!add_checked(*end, move->size, end))
            return false;
    }
    return true;
}

/* The common size of all entries of endangered moves; 0: they differ. */
static uint64_t common_size(const struct plan *plan, const uint64_t *sizes,
                            size_t entry_count)
{
    uint64_t common = 0;
    for (uint32_t i = 0; i < plan->move_count; i++) {
        const struct plan_move *move = &plan->moves[i];
        const size_t end =
            i + 1 < plan->move_count ? plan->moves[i + 1].first : entry_count;
        if (move->entry_class != CLMOVE_ENTRY_ENDANGERED)
            continue;
        if (common == 0)
            common = sizes[move->first];
        for (size_t entry = move->first; entry < end; entry++) {
            if (sizes[entry] != common)
                return 0;
        }
    }
    return common;
}

/* Whether every slot that is written is, or does not touch, each one that is
 * read. */
static bool are_slots(const struct plan_params *params, struct plan *plan,
                      const struct moves *endangered)
{
    const uint64_t size = plan->slot_size;
    for (uint32_t i = 0; i < endangered->count; i++) {
        const struct plan_move *move = move_at(endangered, i);
        const uint32_t root = params->spaces[move->src_space].root;
        for (uint64_t at = 0; at < move->size; at += size) {
            const uint64_t src = move->src + at;
            const uint32_t found =
                find_writer(params, endangered, root, src, &plan->work);
            if (found == endangered->count)
                continue;
            const struct plan_move *writer = move_at(endangered, found);
            const bool touches =
                dst_root(params, writer) == root && writer->dst < src + size;
            if (touches && (writer->dst > src || (src - writer->dst) % size))
                return false;
        }
    }
    return true;
}

/* Bytes of every slot in a slice, for so much scratch. */
static uint64_t choose_slice(uint64_t scratch, uint64_t slot_count)
{
    const uint64_t most = scratch / slot_count;
    if (most >= 16)
        return most / 16 * 16;
    return most >= 8 ? 8 : most >= 4 ? 4 : most >= 2 ? 2 : most;
}

/* Cuts the endangered slots so that they need no more than `scratch` bytes from
 * `begin` on; leaves plan->slice_size 0 where that cannot be. */
static clmove_status cut_slices(const struct clmove_log *log,
                                const struct plan_params *params,
                                const uint64_t *sizes, size_t entry_count,
                                uint64_t begin, struct plan *plan)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct moves endangered = {.moves = plan->moves};
    uint64_t slots = 0;
    uint32_t *list = NULL;
    plan->slot_size = common_size(plan, sizes, entry_count);
    if (plan->slot_size == 0 || begin >= params->scratch_limit)
        goto out;
    plan->memory += (uint64_t)plan->info.endangered_count * sizeof list[0];
    list = calloc((size_t)plan->info.endangered_count, sizeof list[0]);
    CHECK_MEMORY(list);
    for (uint32_t i = 0; i < plan->move_count; i++) {
        if (plan->moves[i].entry_class != CLMOVE_ENTRY_ENDANGERED)
            continue;
        list[endangered.count++] = i;
        slots += plan->moves[i].size / plan->slot_size;
    }
    endangered.list = list;
    if (!are_slots(params, plan, &endangered))
        goto out;
    const uint64_t slice = choose_slice(params->scratch_limit - begin, slots);
    if (slice == 0 || (plan->slot_size - 1) / slice >= SLICES_MAX)
        goto out;
    plan->slice_size = slice;
    plan->info.slice_count = (plan->slot_size - 1) / slice + 1;
    plan->info.scratch_size = begin + slots * slice;
    for (uint32_t i = 0; i < endangered.count; i++) {
        struct plan_move *move = &plan->moves[list[i]];
        move->scratch = begin;
        begin += move->size / plan->slot_size * slice;
    }
out:
    free(list);
    return status;
}

clmove_status plan_place_scratch(const struct clmove_log *log,
                                 const struct plan_params *params,
                                 const uint64_t *sizes, size_t entry_count,
                                 struct plan *plan)
{
    clmove_status status = CLMOVE_SUCCESS;
    const uint64_t limit =
        params->scratch_limit == 0 ? UINT64_MAX : params->scratch_limit;
    uint64_t edges = 0;
    uint64_t *end = &plan->info.scratch_size;
    CHECK_STATUS(place_edges(log, params, plan, &edges));
    if (place_endangered(plan, edges, true, end) && *end <= limit)
        goto out;
    CHECK(place_endangered(plan, edges, false, end), CLMOVE_OUT_OF_RANGE,
          "the scratch that the batch needs exceeds 64 bits");
    if (*end <= limit)
        goto out;
    const uint64_t needed = *end;
    CHECK(edges <= limit, CLMOVE_OUT_OF_RANGE,
          "scratch_limit is %llu, and the batch needs %llu bytes, %llu of them "
          "for moves that overlap themselves; the variant group needs none for "
          "those",
          (unsigned long long)limit, (unsigned long long)needed,
          (unsigned long long)edges);
    CHECK_STATUS(cut_slices(log, params, sizes, entry_count, edges, plan));
    CHECK(
        plan->slice_size > 0, CLMOVE_OUT_OF_RANGE,
        "scratch_limit is %llu, and the batch needs %llu bytes for %llu moves "
        "whose sources others write; they cannot be sliced within the limit",
        (unsigned long long)limit, (unsigned long long)needed,
        (unsigned long long)plan->info.endangered_count);
out:
    return status;
}
