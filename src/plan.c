/* A batch planned: entries become moves without two writers of one byte. */

#include "plan.h"

#include "util.h"

#include <stdlib.h>
#include <string.h>

/* Most entries: their numbers are 32 bits, as are those of jobs. */
enum { ENTRIES_MAX = INT32_MAX };

/* A row of a region. Places are in roots. */
struct entry {
    uint64_t src, dst, size;
    uint32_t src_space, dst_space;
    uint32_t region;
};

/* What planning needs until the moves are made. */
struct rows {
    struct entry *entries;
    struct plan_key *keys, *spare;
    const struct plan_key *sorted; /* one of the two: entries that move */
    uint64_t *sizes;               /* in that order */
    size_t entry_count, moving_count;
};

static bool key_below(const struct plan_key *a, const struct plan_key *b)
{
    return a->root != b->root ? a->root < b->root : a->place < b->place;
}

/* Merges two sorted runs; returns the number of comparisons. */
static uint64_t merge_runs(const struct plan_key *keys, size_t first,
                           size_t middle, size_t end, struct plan_key *to)
{
    size_t left = first;
    size_t right = middle;
    size_t out = first;
    uint64_t work = 1;
    if (middle == end || !key_below(&keys[middle], &keys[middle - 1])) {
        memcpy(&to[first], &keys[first], (end - first) * sizeof keys[0]);
        return work;
    }
    while (left < middle && right < end) {
        to[out++] =
            key_below(&keys[right], &keys[left]) ? keys[right++] : keys[left++];
        work++;
    }
    memcpy(&to[out], &keys[left], (middle - left) * sizeof keys[0]);
    out += middle - left;
    memcpy(&to[out], &keys[right], (end - right) * sizeof keys[0]);
    return work;
}

struct plan_key *plan_sort(struct plan_key *keys, struct plan_key *spare,
                           size_t count, uint64_t *work)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t first = 0; first < count; first += 2 * width) {
            const size_t middle = (size_t)min_u64(first + width, count);
            const size_t end = (size_t)min_u64(first + 2 * width, count);
            *work += merge_runs(keys, first, middle, end, spare);
        }
        struct plan_key *swapped = keys;
        keys = spare;
        spare = swapped;
    }
    return keys;
}

static uint64_t region_rows(const struct clmove_region *region)
{
    return region->rows == 0 ? 1 : region->rows;
}

static clmove_status check_side(const struct clmove_log *log,
                                const struct plan_params *params, size_t index,
                                bool is_src)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_region *region = &params->regions[index];
    const char *side = is_src ? "src" : "dst";
    const uint32_t memory = is_src ? region->src_memory : region->dst_memory;
    const uint64_t offset = is_src ? region->src_offset : region->dst_offset;
    const uint64_t stride = is_src ? region->src_stride : region->dst_stride;
    const uint64_t further = region_rows(region) - 1;
    uint64_t end = 0;
    CHECK(memory < params->space_count, CLMOVE_INVALID_ARGUMENT,
          "regions[%zu].%s_memory is %u, and there are %zu memories", index,
          side, memory, params->space_count);
    const uint64_t size = params->spaces[memory].size;
    const bool fits = multiply_checked(further, stride, &end) &&
                      add_checked(end, offset, &end) &&
                      add_checked(end, region->size, &end) && end <= size;
    CHECK(fits || further > 0, CLMOVE_OUT_OF_RANGE,
          "regions[%zu]: %s_offset %llu + size %llu runs past the %llu bytes "
          "of memories[%u]",
          index, side, (unsigned long long)offset,
          (unsigned long long)region->size, (unsigned long long)size, memory);
    CHECK(fits, CLMOVE_OUT_OF_RANGE,
          "regions[%zu]: %s_offset %llu + %llu further rows * %s_stride %llu + "
          "size %llu runs past the %llu bytes of memories[%u]",
          index, side, (unsigned long long)offset, (unsigned long long)further,
          side, (unsigned long long)stride, (unsigned long long)region->size,
          (unsigned long long)size, memory);
out:
    return status;
}

/* The first row as an entry. */
static struct entry first_row(const struct plan_params *params, size_t index)
{
    const struct clmove_region *region = &params->regions[index];
    const struct plan_space *src = &params->spaces[region->src_memory];
    const struct plan_space *dst = &params->spaces[region->dst_memory];
    return (struct entry){.src = src->origin + region->src_offset,
                          .dst = dst->origin + region->dst_offset,
                          .size = region->size,
                          .src_space = region->src_memory,
                          .dst_space = region->dst_memory,
                          .region = (uint32_t)index};
}

static bool is_onto_itself(const struct plan_params *params,
                           const struct entry *entry)
{
    return entry->src == entry->dst &&
           params->spaces[entry->src_space].root ==
               params->spaces[entry->dst_space].root;
}

/* Whether no row of a region does anything. */
static bool does_nothing(const struct plan_params *params, size_t index)
{
    const struct clmove_region *region = &params->regions[index];
    const struct entry first = first_row(params, index);
    return region->size == 0 || (is_onto_itself(params, &first) &&
                                 (region_rows(region) == 1 ||
                                  region->src_stride == region->dst_stride));
}

/* Checks all regions and counts the rows that may do something. */
static clmove_status check_regions(const struct clmove_log *log,
                                   const struct plan_params *params,
                                   struct plan *plan, struct rows *rows)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct clmove_batch_info *info = &plan->info;
    uint64_t moving = 0;
    info->region_count = params->region_count;
    for (size_t i = 0; i < params->region_count; i++) {
        const uint64_t count = region_rows(&params->regions[i]);
        CHECK_STATUS(check_side(log, params, i, true));
        CHECK_STATUS(check_side(log, params, i, false));
        CHECK(add_checked(info->entry_count, count, &info->entry_count),
              CLMOVE_OUT_OF_RANGE, "regions[%zu]: the rows exceed 64 bits", i);
        plan->regions[i] = (struct plan_region){count, PLAN_NONE};
        if (does_nothing(params, i))
            continue;
        plan->regions[i].first_entry = (uint32_t)moving;
        moving += count; /* no more than all entries */
        CHECK(moving <= ENTRIES_MAX, CLMOVE_UNSUPPORTED,
              "regions[%zu] brings the rows to more than the %d that a batch "
              "can hold",
              i, ENTRIES_MAX);
    }
    info->dropped_count = info->entry_count - moving;
    rows->entry_count = (size_t)moving;
out:
    return status;
}

/* At least 1 byte, so that NULL means failure; counted. */
static void *take(struct plan *plan, size_t count, size_t size)
{
    plan->memory += (uint64_t)count * size;
    return calloc(count > 0 ? count : 1, size);
}

static clmove_status allocate(const struct clmove_log *log, struct plan *plan,
                              struct rows *rows)
{
    clmove_status status = CLMOVE_SUCCESS;
    const size_t count = rows->entry_count;
    rows->entries = take(plan, count, sizeof rows->entries[0]);
    rows->keys = take(plan, count, sizeof rows->keys[0]);
    rows->spare = take(plan, count, sizeof rows->spare[0]);
    rows->sizes = take(plan, count, sizeof rows->sizes[0]);
    plan->moves = take(plan, count, sizeof plan->moves[0]);
    plan->entry_moves = take(plan, count, sizeof plan->entry_moves[0]);
    CHECK(rows->entries != NULL && rows->keys != NULL && rows->spare != NULL &&
              rows->sizes != NULL && plan->moves != NULL &&
              plan->entry_moves != NULL,
          CL_OUT_OF_HOST_MEMORY,
          "out of host memory: planning %zu rows takes "
          "%llu bytes",
          count, (unsigned long long)plan->memory);
out:
    return status;
}

/* Writes out every row that moves; the others are dropped. */
static void expand(const struct plan_params *params, struct plan *plan,
                   struct rows *rows)
{
    for (size_t i = 0; i < params->region_count; i++) {
        const struct clmove_region *region = &params->regions[i];
        uint32_t index = plan->regions[i].first_entry;
        if (index == PLAN_NONE)
            continue;
        struct entry entry = first_row(params, i);
        for (uint64_t row = 0; row < plan->regions[i].rows; row++, index++) {
            rows->entries[index] = entry;
            plan->entry_moves[index] = PLAN_NONE;
            if (is_onto_itself(params, &entry))
                plan->info.dropped_count++;
            else
                rows->keys[rows->moving_count++] = (struct plan_key){
                    entry.dst, params->spaces[entry.dst_space].root, index};
            entry.src += region->src_stride;
            entry.dst += region->dst_stride;
        }
    }
}

/* Whether an entry goes on where a move ends. */
static bool continues(const struct plan_params *params,
                      const struct plan_move *move, const struct entry *entry)
{
    if (move->src_space != entry->src_space ||
        move->dst_space != entry->dst_space ||
        move->src + move->size != entry->src ||
        move->dst + move->size != entry->dst)
        return false;
    /* Together they may overlap; where that is not wanted they stay apart. */
    const struct plan_move whole = {.src = move->src,
                                    .dst = move->dst,
                                    .size = move->size + entry->size,
                                    .src_space = move->src_space,
                                    .dst_space = move->dst_space};
    return params->variant != CLMOVE_VARIANT_DISJOINT ||
           !plan_job_move(params, &whole).overlaps;
}

static clmove_status refuse_writers(const struct clmove_log *log,
                                    const struct plan_params *params,
                                    uint32_t region, const struct entry *later)
{
    const uint64_t byte = later->dst - params->spaces[later->dst_space].origin;
    if (region == later->region)
        return log_message(log, CLMOVE_LOG_ERROR, CLMOVE_OVERLAP,
                           "two rows of regions[%u] write byte %llu of "
                           "memories[%u]",
                           region, (unsigned long long)byte, later->dst_space);
    return log_message(log, CLMOVE_LOG_ERROR, CLMOVE_OVERLAP,
                       "regions[%u] and regions[%u] both write byte %llu of "
                       "memories[%u]",
                       region < later->region ? region : later->region,
                       region < later->region ? later->region : region,
                       (unsigned long long)byte, later->dst_space);
}

/* Joins sorted entries into moves. Destinations that share a byte are
 * neighbours in the order, or something between them shares one too. */
static clmove_status make_moves(const struct clmove_log *log,
                                const struct plan_params *params,
                                struct plan *plan, struct rows *rows)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct plan_move *last = NULL;
    uint32_t last_region = 0;
    for (size_t i = 0; i < rows->moving_count; i++) {
        const uint32_t index = rows->sorted[i].index;
        const struct entry *entry = &rows->entries[index];
        const bool same_root =
            last != NULL && params->spaces[last->dst_space].root ==
                                params->spaces[entry->dst_space].root;
        rows->sizes[i] = entry->size;
        if (same_root && last->dst + last->size > entry->dst) {
            status = refuse_writers(log, params, last_region, entry);
            goto out;
        }
        CHECK(add_checked(plan->info.moved_size, entry->size,
                          &plan->info.moved_size),
              CLMOVE_OUT_OF_RANGE, "the sizes of all regions exceed 64 bits");
        last_region = entry->region;
        if (same_root && continues(params, last, entry)) {
            last->size += entry->size;
        } else {
            last = &plan->moves[plan->move_count++];
            *last = (struct plan_move){.src = entry->src,
                                       .dst = entry->dst,
                                       .size = entry->size,
                                       .src_space = entry->src_space,
                                       .dst_space = entry->dst_space,
                                       .first = (uint32_t)i};
        }
        plan->entry_moves[index] = plan->move_count - 1;
    }
    plan->info.merged_count = plan->move_count;
out:
    return status;
}

clmove_status plan_make(const struct clmove_log *log,
                        const struct plan_params *params, struct plan *plan)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct rows rows = {0};
    *plan = (struct plan){.info.slice_count = 1};
    CHECK(params->region_count <= ENTRIES_MAX, CLMOVE_UNSUPPORTED,
          "region_count is %zu, and a batch can hold %d", params->region_count,
          ENTRIES_MAX);
    plan->regions = take(plan, params->region_count, sizeof plan->regions[0]);
    CHECK_MEMORY(plan->regions);
    CHECK_STATUS(check_regions(log, params, plan, &rows));
    CHECK_STATUS(allocate(log, plan, &rows));
    expand(params, plan, &rows);
    rows.sorted =
        plan_sort(rows.keys, rows.spare, rows.moving_count, &plan->work);
    CHECK_STATUS(make_moves(log, params, plan, &rows));
    plan_classify(params, plan);
    CHECK_STATUS(
        plan_place_scratch(log, params, rows.sizes, rows.moving_count, plan));
    CHECK_STATUS(plan_make_launches(log, params, plan));
out:
    free(rows.entries);
    free(rows.keys);
    free(rows.spare);
    free(rows.sizes);
    return status;
}

void plan_release(struct plan *plan)
{
    free(plan->moves);
    free(plan->entry_moves);
    free(plan->regions);
    free(plan->families);
    free(plan->smalls);
    free(plan->chunks);
    free(plan->launches);
    free(plan->bindings);
    *plan = (struct plan){0};
}
