/* The engine's part of a replay: requests, blocks, the block table. */

#ifndef TOOLS_SCHEDULE_H
#define TOOLS_SCHEDULE_H

#include "trace.h"

enum { SCHEDULE_NULL_BLOCK = 0, SCHEDULE_NOT_ADMITTED = INT32_MIN };

/* One slot's request, as the engine knows it. */
struct schedule_slot {
    bool occupied;
    uint32_t request;   /* number of the request, from 0 in order of arrival */
    int32_t computed;   /* tokens it will have before its next step */
    int32_t column;     /* running column */
    int32_t first, end; /* columns first .. end - 1 have blocks of their own */
};

/* Plays a trace's requests. Knows nothing of OpenCL and decides no copy.
 *
 * Per slot, for the current step (arrays of `slots`): a slot that is not in the
 * step has scheduled 0, draft 0. `admitted` is SCHEDULE_NOT_ADMITTED, or the
 * running column of a request that starts in this step. */
struct schedule {
    const struct trace *trace;
    uint32_t block_size, slots, columns;
    uint32_t ahead; /* columns after the running one that have blocks */
    size_t next_step;
    uint32_t request_count;
    struct schedule_slot *slot;
    int32_t *computed, *scheduled, *draft, *sampled, *admitted;
    int32_t *table;       /* [slots][columns] */
    int32_t *free_blocks; /* a stack */
    size_t free_count, free_room;
    int32_t block_count; /* ids in use so far, the null block included */
};

/* Starts before the trace's first step. `ahead`: the drafts of a step at most
 * when each has a block of its own, else 0. False after printing a refusal (a
 * table that would be too large, out of memory). */
bool schedule_create(struct schedule *schedule, const struct trace *trace,
                     uint32_t block_size, uint32_t ahead);
void schedule_destroy(struct schedule *schedule);

/* Goes to the next step: gives blocks back, takes new ones, fills the arrays.
 * False at the end of the trace, or out of memory (printed). */
bool schedule_next(struct schedule *schedule);

/* The table's entry, -1 outside. */
int32_t schedule_block(const struct schedule *schedule, uint32_t slot,
                       int64_t column);

/* The blocks that the first `steps` steps need at their peak, the null block
 * included; 0 after printing an error. */
uint32_t schedule_peak(const struct trace *trace, uint32_t block_size,
                       uint32_t ahead, size_t steps);

#endif
