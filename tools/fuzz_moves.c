/* A random case of moves: its memory, its result. */

#include "fuzz_moves.h"

#include <clmove/move.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void choose_kind(struct fuzz_moves *fuzz,
                        const struct fuzz_moves_wishes *wishes)
{
    struct random *random = &fuzz->random;
    static const uint32_t for_batches[] = {
        CLMOVE_VARIANT_GROUP, CLMOVE_VARIANT_SPLIT, CLMOVE_VARIANT_SEGMENTS};
    /* The driver has no batches. */
    bool driver =
        !wishes->any_variant && wishes->variant == CLMOVE_VARIANT_DRIVER;
    bool batch = wishes->batches && !driver &&
                 (!wishes->singles || random_chance(random, 55));
    fuzz->kind = FUZZ_SINGLE;
    if (batch)
        fuzz->kind = random_chance(random, 65) ? FUZZ_BATCH : FUZZ_DEVICE_BATCH;
    fuzz->variant = wishes->variant;
    if (wishes->any_variant && random_chance(random, 50))
        fuzz->variant = CLMOVE_VARIANT_AUTO;
    else if (wishes->any_variant && batch)
        fuzz->variant = for_batches[random_below(random, 3)];
    else if (wishes->any_variant)
        fuzz->variant = 1 + random_below(random, CLMOVE_VARIANT_SEGMENTS);
    fuzz->disjoint_only = fuzz->variant == CLMOVE_VARIANT_DRIVER ||
                          fuzz->variant == CLMOVE_VARIANT_DISJOINT;
    if (fuzz->kind == FUZZ_DEVICE_BATCH)
        fuzz->variant = CLMOVE_VARIANT_AUTO;
}

/* Which areas are shared virtual memory. The driver moves between two of a
 * kind. */
static void choose_shared(struct fuzz_moves *fuzz)
{
    struct random *random = &fuzz->random;
    bool some = random_chance(random, 30);
    bool first = false;
    for (uint32_t i = 0; i < FUZZ_MOVE_AREAS; i++) {
        bool shared = random_chance(random, 50) && some;
        if (i == 0)
            first = shared;
        if (fuzz->variant == CLMOVE_VARIANT_DRIVER)
            shared = first;
        fuzz->areas[i].shared = shared && fuzz->shared;
    }
}

bool fuzz_moves_create(struct fuzz_moves *fuzz, uint64_t seed, uint64_t number,
                       const struct fuzz_moves_wishes *wishes)
{
    memset(fuzz, 0, sizeof *fuzz);
    fuzz->seed = seed;
    fuzz->number = number;
    fuzz->shared = wishes->shared;
    fuzz->random.state = random_mix(random_mix(seed) + number) + 1;
    fuzz->engine = (uint32_t)(fuzz_engines_run(seed, number) % FUZZ_ENGINES);
    fuzz->budget = fuzz_engines_budget(fuzz->engine);
    /* Now and then all that a case may have. */
    if (!random_chance(&fuzz->random, 5))
        fuzz->budget = fuzz->budget / 8;
    choose_kind(fuzz, wishes);
    fuzz_moves_make(fuzz);
    choose_shared(fuzz);
    for (uint32_t i = 0; i < FUZZ_MOVE_AREAS; i++) {
        struct fuzz_area *area = &fuzz->areas[i];
        if (area->size > 0 &&
            !fuzz_area_create(area, random_next(&fuzz->random)))
            return false;
    }
    if (fuzz->kind == FUZZ_DEVICE_BATCH)
        fuzz_moves_fill_arrays(fuzz);
    return true;
}

void fuzz_moves_destroy(struct fuzz_moves *fuzz, const struct session *session)
{
    for (uint32_t i = 0; i < FUZZ_MEMORIES_MAX; i++)
        session_release(&fuzz->memories[i].sub);
    for (uint32_t i = 0; i < FUZZ_MOVE_AREAS; i++)
        fuzz_area_destroy(&fuzz->areas[i], session);
}

/* Where a row starts in its area. */
static size_t row_start(const struct fuzz_moves *fuzz, uint32_t memory,
                        int64_t offset, uint32_t stride, uint32_t row)
{
    return fuzz->memories[memory].start + (size_t)offset + (size_t)stride * row;
}

static void apply_entry(struct fuzz_moves *fuzz, const struct fuzz_entry *entry,
                        unsigned char *const *old)
{
    uint32_t from = fuzz->memories[entry->src_memory].area;
    uint32_t to = fuzz->memories[entry->dst_memory].area;
    for (uint32_t row = 0; !entry->skipped && row < entry->rows; row++) {
        size_t src = row_start(fuzz, entry->src_memory, entry->src,
                               entry->src_stride, row);
        size_t dst = row_start(fuzz, entry->dst_memory, entry->dst,
                               entry->dst_stride, row);
        /* An entry onto itself writes nothing. */
        if (from != to || src != dst)
            memcpy(fuzz->areas[to].expected + dst, old[from] + src,
                   (size_t)entry->size);
    }
}

bool fuzz_moves_apply(struct fuzz_moves *fuzz)
{
    unsigned char *old[FUZZ_DATA_AREAS] = {NULL};
    bool fine = true;
    for (uint32_t i = 0; i < fuzz->data_areas; i++) {
        old[i] = malloc(fuzz->areas[i].size);
        fine = fine && old[i];
        if (old[i])
            memcpy(old[i], fuzz->areas[i].expected, fuzz->areas[i].size);
    }
    if (!fine)
        cli_error("out of memory");
    for (uint32_t i = 0; fine && i < fuzz->entry_count; i++)
        apply_entry(fuzz, &fuzz->entries[i], old);
    for (uint32_t i = 0; i < fuzz->data_areas; i++)
        free(old[i]);
    if (fine && fuzz->kind == FUZZ_DEVICE_BATCH && fuzz->has_faults) {
        const int32_t one = 1;
        for (uint32_t i = 0; i < fuzz->entry_count; i++) {
            if (fuzz->entries[i].fault)
                memcpy(fuzz->areas[FUZZ_EXTRA_AREA].expected + fuzz->faults +
                           (size_t)i * 4,
                       &one, 4);
        }
    }
    return fine;
}

void fuzz_moves_describe(const struct fuzz_moves *fuzz, char *text, size_t size)
{
    static const char *const kinds[] = {"a move", "a batch",
                                        "a batch in device memory"};
    const struct fuzz_entry *entry = &fuzz->entries[0];
    uint32_t shared = 0;
    for (uint32_t i = 0; i < fuzz->data_areas; i++)
        shared += fuzz->areas[i].shared;
    int used = snprintf(text, size, "%s, variant %s, %s, ", kinds[fuzz->kind],
                        clmove_variant_name(fuzz->variant),
                        fuzz_engines_name(fuzz->engine));
    text += used;
    size -= (size_t)used;
    if (fuzz->kind == FUZZ_SINGLE) {
        const struct fuzz_memory *src = &fuzz->memories[entry->src_memory];
        const struct fuzz_memory *dst = &fuzz->memories[entry->dst_memory];
        snprintf(text, size,
                 "%" PRId64 " bytes from %zu of allocation %u to %zu of "
                 "allocation %u%s%s",
                 entry->size, src->start, src->area, dst->start, dst->area,
                 src->handle_size || dst->handle_size ? ", by sub-buffer" : "",
                 shared ? ", shared memory" : "");
        return;
    }
    snprintf(text, size,
             "%u entries in %u allocations (%u shared), %u memories%s%s",
             fuzz->entry_count, fuzz->data_areas, shared, fuzz->memory_count,
             fuzz->scratch_limit ? ", scratch limited" : "",
             fuzz->times > 1 ? ", enqueued twice" : "");
}

static bool locate_entry(const struct fuzz_moves *fuzz, uint32_t index,
                         uint32_t area, size_t offset, char *text, size_t size)
{
    const struct fuzz_entry *entry = &fuzz->entries[index];
    if (fuzz->memories[entry->dst_memory].area != area || entry->skipped)
        return false;
    for (uint32_t row = 0; row < entry->rows; row++) {
        size_t dst = row_start(fuzz, entry->dst_memory, entry->dst,
                               entry->dst_stride, row);
        if (offset < dst || offset - dst >= (size_t)entry->size)
            continue;
        size_t src = row_start(fuzz, entry->src_memory, entry->src,
                               entry->src_stride, row);
        snprintf(text, size,
                 "entry %u, row %u: byte %zu of %" PRId64
                 ", written from %zu of allocation %u to %zu",
                 index, row, offset - dst, entry->size, src,
                 fuzz->memories[entry->src_memory].area, dst);
        return true;
    }
    return false;
}

void fuzz_moves_locate(const void *context, uint32_t area, size_t offset,
                       char *text, size_t size)
{
    const struct fuzz_moves *fuzz = context;
    if (area == FUZZ_EXTRA_AREA) {
        snprintf(text, size, "%s",
                 fuzz->kind == FUZZ_DEVICE_BATCH ? "the arrays"
                                                 : "around the scratch");
        return;
    }
    for (uint32_t i = 0; i < fuzz->entry_count; i++) {
        if (locate_entry(fuzz, i, area, offset, text, size))
            return;
    }
    snprintf(text, size, "a byte that no entry writes");
}
