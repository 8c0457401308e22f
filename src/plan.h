/* A batch planned: which bytes move in which launch, pure arithmetic. */

#ifndef PLAN_H
#define PLAN_H

#include "check.h"
#include "jobs.h"

#include <clmove/move.h>

/* A batch's memory. */
struct plan_space {
    uint32_t root; /* memories of one root may overlap; a number that is equal
                      for all of them */
    uint32_t binding; /* what a kernel is given for it: 0 to binding_count-1 */
    uint64_t origin;  /* of its first byte in its root */
    uint64_t size;
    uint64_t base; /* added to a place in the root, modulo 2^64: the place in
                      what is bound */
};

struct plan_params {
    const struct plan_space *spaces;
    size_t space_count;
    const struct clmove_region *regions;
    size_t region_count;
    struct job_limits jobs;
    uint32_t variant; /* AUTO, DISJOINT, GROUP, SPLIT, SEGMENTS */
    uint32_t binding_count;
    uint32_t bank_limit;    /* bindings of a launch, at least 2 */
    uint64_t scratch_limit; /* 0: none */
    uint64_t scratch_base;  /* of scratch in what is bound for it */
};

/* Entries that form one move. Places are in roots. */
struct plan_move {
    uint64_t src, dst, size;
    uint64_t scratch; /* its part of scratch, if it has one */
    uint32_t src_space, dst_space;
    uint32_t first;      /* place of its first entry in the sorted order */
    uint8_t entry_class; /* enum clmove_entry_class */
    uint8_t variant;     /* enum clmove_variant */
    uint8_t saves;       /* 1: it overlaps itself, and edges are saved before */
};

/* The rows of a region: entries first_entry and on, or none at all. */
struct plan_region {
    uint64_t rows;
    uint32_t first_entry; /* PLAN_NONE: no row does anything */
};

#define PLAN_NONE UINT32_MAX

/* One launch. Bank i is binding bindings[first_binding + i]. */
struct plan_launch {
    uint64_t slice; /* bytes that the kernel adds to every place outside of
                       scratch */
    uint32_t first_chunk, chunk_count;
    uint32_t first_binding, binding_count;
};

/* Everything that was decided.
 *
 * Memory: planning takes 132 bytes for every row that does something; then, for
 * every move, 24 bytes (up to 4 KiB) or 120, and 16 for each of its jobs
 * (jobs.tile bytes, or a column of a span), in each launch that it is part of:
 * one, or two when it is endangered (four when sliced) or saves edges. Lists
 * may be twice as long as what they hold. */
struct plan {
    struct clmove_batch_info info;
    struct plan_move *moves; /* in the order of destinations */
    uint32_t move_count;
    uint32_t *entry_moves; /* [entries]: number of a move, or PLAN_NONE */
    struct plan_region *regions;
    uint64_t slot_size;  /* of the endangered entries, when sliced */
    uint64_t slice_size; /* 0: not sliced */

    struct job_family *families;
    struct job_small *smalls;
    struct job_chunk *chunks;
    struct plan_launch *launches;
    uint32_t *bindings;
    uint32_t family_count, family_capacity;
    uint32_t small_count, small_capacity;
    uint32_t chunk_count, chunk_capacity;
    uint32_t launch_count, launch_capacity;
    uint32_t binding_count, binding_capacity;

    /* What it took, for tests: comparisons, and bytes held at the most. */
    uint64_t work, memory;
};

/* Plans a batch; frees nothing of *plan on failure: plan_release does. */
clmove_status plan_make(const struct clmove_log *log,
                        const struct plan_params *params, struct plan *plan);

void plan_release(struct plan *plan);

/* The following are plan_make's own parts. */

/* What moves are sorted by. */
struct plan_key {
    uint64_t place;
    uint32_t root;
    uint32_t index;
};

/* Sorts `keys` by root and place, entries that are equal in their old order;
 * `spare` is as large. The result is in the one that is returned. Merges, never
 * more than count * log2(count) comparisons, which are added to *work. */
struct plan_key *plan_sort(struct plan_key *keys, struct plan_key *spare,
                           size_t count, uint64_t *work);

/* Finds the moves whose source another one writes, and sets all classes. */
void plan_classify(const struct plan_params *params, struct plan *plan);

/* Gives endangered moves and edges their places in scratch, or cuts slots into
 * slices. Entry i of the sorted order has sizes[i] bytes. */
clmove_status plan_place_scratch(const struct clmove_log *log,
                                 const struct plan_params *params,
                                 const uint64_t *sizes, size_t entry_count,
                                 struct plan *plan);

/* Makes the launches of classified and placed moves. */
clmove_status plan_make_launches(const struct clmove_log *log,
                                 const struct plan_params *params,
                                 struct plan *plan);

/* The limits of a move of `size` bytes: it has a part of the jobs that keep the
 * device busy. */
struct job_limits plan_limits(const struct plan_params *params,
                              const struct plan *plan, uint64_t size);

/* The move as src/jobs.h sees it. */
struct job_move plan_job_move(const struct plan_params *params,
                              const struct plan_move *move);

static inline bool plan_overlaps(const struct plan_move *move)
{
    return move->entry_class == CLMOVE_ENTRY_LEFT ||
           move->entry_class == CLMOVE_ENTRY_RIGHT;
}

#endif
