/* Where a step's numbers lie in the batch array: read by the host, and by the
 * kernels, which are given this text first. */

#ifndef MAMBA_SECTIONS_H
#define MAMBA_SECTIONS_H

/* The batch array is int32. It starts with a head; head[SECTION_...] is the
 * index at which the section starts. A row is a request of the step, a slot is
 * where a request lives. */
enum {
    SECTION_TOKENS,   /* [token] of all rows, one row after another */
    SECTION_STARTS,   /* [row + 1] first token of a row; the end */
    SECTION_SLOTS,    /* [row] slot of a row */
    SECTION_COMPUTED, /* [slot] tokens that its state is after */
    SECTION_DRAFTS,   /* [row] tokens whose states are kept one by one */
    SECTION_PROPOSED, /* [row] tokens at a row's end that are to be verified */
    SECTION_WANTED,   /* [wanted] tokens that the next one is needed for */
    SECTION_TABLE,    /* [row or slot][column] block of a request's states */
    SECTION_COUNT,
    HEAD_COLUMNS = SECTION_COUNT, /* columns of the table */
    HEAD_TABLE_BY_SLOT,           /* not 0: its rows are slots */
    HEAD_SIZE
};

#endif
