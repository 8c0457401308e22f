/* Which entries of a list of copies touch what another writes. */

#include "ssm_conflicts.h"

#include "layout.h"

#include <stdlib.h>

/* A block that an entry writes, in the order that conflicts are looked for. */
struct written {
    uint32_t pool; /* first group of those that share memory with it */
    int32_t block;
    size_t entry;
};

static int compare_written(const void *left, const void *right)
{
    const struct written *a = left;
    const struct written *b = right;
    if (a->pool != b->pool)
        return a->pool < b->pool ? -1 : 1;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return a->entry < b->entry ? -1 : a->entry > b->entry;
}

/* The entry other than `self` that writes a block, or SIZE_MAX. */
static size_t find_writer(const struct written *list, size_t count,
                          uint32_t pool, int32_t block, size_t self)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle].pool < pool ||
            (list[middle].pool == pool && list[middle].block < block))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && list[low].pool == pool && list[low].block == block;
         low++) {
        if (list[low].entry != self)
            return list[low].entry;
    }
    return SIZE_MAX;
}

/* By ids: groups that share a pool place block b alike. */
static clmove_status check_blocks(const struct clmove_ssm_layout *from,
                                  const struct clmove_ssm_layout *to,
                                  const struct clmove_ssm_copy *copies,
                                  size_t count)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &to->engine->log;
    struct written few[16];
    struct written *list = count <= sizeof few / sizeof few[0]
                               ? few
                               : malloc(count * sizeof few[0]);
    CHECK_MEMORY(list);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct written){to->pools[copies[i].group], copies[i].to, i};
    qsort(list, count, sizeof list[0], compare_written);
    for (size_t i = 0; i < count; i++) {
        const struct clmove_ssm_copy *copy = &copies[i];
        const uint32_t pool = to->pools[copy->group];
        const int32_t blocks[3] = {copy->to, copy->conv_from,
                                   copy->temporal_from};
        for (unsigned j = 0; j < (from == to ? 3u : 1u); j++) {
            const size_t other =
                blocks[j] == -1 ? SIZE_MAX
                                : find_writer(list, count, pool, blocks[j], i);
            CHECK(other == SIZE_MAX, CLMOVE_OVERLAP,
                  "entries %zu and %zu: block %d of group %u is written by one "
                  "and %s by the other",
                  i, other, blocks[j], copy->group,
                  j == 0 ? "written" : "read");
        }
    }
out:
    if (list != few)
        free(list);
    return status;
}

/* Bytes of one state that an entry writes. */
struct range {
    cl_mem root; /* NULL for SVM */
    uint64_t start, end;
    size_t entry;
};

static int compare_ranges(const void *left, const void *right)
{
    const struct range *a = left;
    const struct range *b = right;
    if (a->root != b->root)
        return (uintptr_t)a->root < (uintptr_t)b->root ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->entry < b->entry ? -1 : a->entry > b->entry;
}

/* The bytes of block `block` of a state. */
static struct range block_range(const struct clmove_ssm_layout *layout,
                                size_t state, int32_t block, size_t entry)
{
    const uint64_t start = view_origin(&layout->views[state]) +
                           (uint64_t)block * layout->states[state].block_stride;
    return (struct range){layout->views[state].root, start,
                          start + layout->extents[state], entry};
}

/* Whether an entry copies a state, and from which block. */
static bool copies_state(const struct clmove_ssm_layout *layout, size_t state,
                         const struct clmove_ssm_copy *copy, int32_t *source)
{
    *source = layout->states[state].kind == CLMOVE_SSM_TEMPORAL
                  ? copy->temporal_from
                  : copy->conv_from;
    return layout->states[state].group == copy->group && *source != -1;
}

static clmove_status refuse(const struct clmove_log *log,
                            const struct clmove_ssm_copy *copies, size_t entry,
                            size_t writer, const char *verb)
{
    return log_message(log, CLMOVE_LOG_ERROR, CLMOVE_OVERLAP,
                       "entries %zu and %zu: bytes of block %d of group %u, "
                       "which one writes, are %s by the other",
                       entry, writer, copies[writer].to, copies[writer].group,
                       verb);
}

/* The sorted ranges are apart; those of one entry always are. */
static clmove_status check_writes(const struct clmove_log *log,
                                  const struct clmove_ssm_copy *copies,
                                  const struct range *ranges, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct range *before = &ranges[i - 1];
        if (ranges[i].root == before->root && ranges[i].start < before->end)
            return refuse(log, copies, before->entry, ranges[i].entry,
                          "written");
    }
    return CLMOVE_SUCCESS;
}

/* No other entry's range, sorted and apart, has a byte of `read`. */
static clmove_status check_read(const struct clmove_log *log,
                                const struct clmove_ssm_copy *copies,
                                const struct range *ranges, size_t count,
                                const struct range *read)
{
    size_t low = 0; /* ranges that begin before the read ends */
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct range *range = &ranges[middle];
        if ((uintptr_t)range->root < (uintptr_t)read->root ||
            (range->root == read->root && range->start < read->end))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low > 0 && ranges[low - 1].root == read->root &&
           ranges[low - 1].end > read->start;
         low--) {
        if (ranges[low - 1].entry != read->entry)
            return refuse(log, copies, read->entry, ranges[low - 1].entry,
                          "read");
    }
    return CLMOVE_SUCCESS;
}

/* By bytes: for layouts whose groups share a pool and place blocks differently.
 */
static clmove_status check_bytes(const struct clmove_ssm_layout *from,
                                 const struct clmove_ssm_layout *to,
                                 const struct clmove_ssm_copy *copies,
                                 size_t count)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &to->engine->log;
    size_t used = 0;
    int32_t source = -1;
    struct range *ranges =
        count > SIZE_MAX / to->state_count / sizeof ranges[0]
            ? NULL
            : malloc(count * to->state_count * sizeof ranges[0]);
    CHECK_MEMORY(ranges);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < to->state_count; j++) {
            if (copies_state(to, j, &copies[i], &source))
                ranges[used++] = block_range(to, j, copies[i].to, i);
        }
    }
    qsort(ranges, used, sizeof ranges[0], compare_ranges);
    CHECK_STATUS(check_writes(log, copies, ranges, used));
    for (size_t i = 0; from == to && i < count; i++) {
        for (size_t j = 0; j < to->state_count; j++) {
            if (!copies_state(to, j, &copies[i], &source))
                continue;
            const struct range read = block_range(from, j, source, i);
            CHECK_STATUS(check_read(log, copies, ranges, used, &read));
        }
    }
out:
    free(ranges);
    return status;
}

clmove_status conflicts_check(const struct clmove_ssm_layout *from,
                              const struct clmove_ssm_layout *to,
                              const struct clmove_ssm_copy *copies,
                              size_t count)
{
    return to->pools_alike ? check_blocks(from, to, copies, count)
                           : check_bytes(from, to, copies, count);
}
