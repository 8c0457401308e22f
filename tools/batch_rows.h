/* The rows of a batch that names its requests by slot. */

#ifndef TOOLS_BATCH_ROWS_H
#define TOOLS_BATCH_ROWS_H

#include "schedule.h"

/* Rows of padding in a batch at most: engines round their batches up. */
enum { BATCH_ROWS_PADDING = 3 };

/* Of the current step: the requests that run, in some order, with padding in
 * between. */
struct batch_rows {
    uint32_t room; /* the most rows that a batch has */
    uint32_t count;
    int32_t *slot_of;      /* [room], -1 for padding */
    int32_t *query_starts; /* [room + 1] */
    int32_t *table;        /* [room][columns], a copy of the slots' rows */
};

/* False when out of memory; batch_rows_destroy is needed then, too. */
bool batch_rows_create(struct batch_rows *rows,
                       const struct schedule *schedule);
void batch_rows_destroy(struct batch_rows *rows);

/* Fills everything for the schedule's current step. The order depends on the
 * step and on nothing else. */
void batch_rows_fill(struct batch_rows *rows, const struct schedule *schedule);

#endif
