/* The definition of "right" for state copies: plain C over host memory. */

#ifndef REFERENCE_H
#define REFERENCE_H

#include <stddef.h>
#include <stdint.h>

/* Written from docs/semantics.md alone. No OpenCL, nothing shared with src/ or
 * cl/: everything is walked one element and one token at a time. */

enum { REF_CONV_SD = 1, REF_CONV_DS = 2, REF_TEMPORAL = 3 };

/* One state tensor over host memory: block b starts at memory + b *
 * block_stride. All strides are given (no "0 means"). */
struct ref_state {
    int kind;
    uint32_t group;
    unsigned char *memory;
    uint64_t block_count, block_stride, row_stride, size;
    uint32_t width, dim, element_size;
};

struct ref_group {
    int has_null_block;
    int32_t null_block;
};

/* entries[row * row_stride + column] */
struct ref_table {
    const int32_t *entries;
    uint32_t columns, row_stride;
};

struct ref_fault {
    int32_t kind, state, column, value;
};

enum {
    REF_FAULT_NONE = 0,
    REF_FAULT_COUNTER = 1,
    REF_FAULT_COLUMN = 2,
    REF_FAULT_BLOCK = 3,
    REF_FAULT_NULL_BLOCK = 4,
    REF_FAULT_SLOT = 5,
    REF_FAULT_SLOT_TWICE = 6
};

enum {
    REF_COUNTER_COMPUTED = 0,
    REF_COUNTER_SCHEDULED = 1,
    REF_COUNTER_DRAFT = 2,
    REF_COUNTER_ACCEPTED = 3,
    REF_COUNTER_NOW = 4,
    REF_COUNTER_BIAS = 5
};

/* What is zero or NULL is not used: row i is then slot i, and so on. */
struct ref_step {
    const struct ref_state *states;
    size_t state_count;
    const struct ref_group *groups; /* [group_count] */
    const struct ref_table *tables; /* [group_count] */
    size_t group_count;
    uint32_t tokens_per_block, rows, slot_count;
    int tables_by_slot, keep_accepted, skip_temporal;
    const int32_t *slot_of;      /* [rows], or NULL: slot is row */
    const int32_t *computed;     /* [slot_count] */
    const int32_t *scheduled;    /* [rows] */
    const int32_t *query_starts; /* [rows + 1], or NULL; before scheduled */
    const int32_t *draft;        /* [rows] */
    const int32_t *now_computed; /* [slot_count], or NULL; post-process: before
                                    computed, scheduled, draft */
    const int32_t *accepted_in;  /* [slot_count] */
    int32_t *accepted_out;       /* [slot_count]; may be accepted_in */
    const int32_t *column_in;    /* [slot_count] */
    int32_t *column_out;         /* [slot_count]; may be column_in; NULL is fine
                                    in post-process */
    const int32_t *copy_source, *copy_destination,
        *copy_bias;           /* pre-copy:
                                 [slot_count] */
    struct ref_fault *faults; /* [rows] or NULL */
};

/* What one row comes to, before any byte moves. */
struct ref_decision {
    int copy;            /* states move (source, destination, bias) */
    int reset;           /* accepted becomes 1 */
    int64_t source;      /* column */
    int64_t destination; /* column */
    int64_t bias;        /* tokens */
    int64_t column;      /* pre-process: the new running column */
    int64_t slot;        /* -1: the row names none, or a fault about it */
    struct ref_fault fault;
};

/* Decides one row; slots and block ids are checked too, nothing is written. */
struct ref_decision ref_decide_pre(const struct ref_step *step, uint32_t row);
struct ref_decision ref_decide_post(const struct ref_step *step, uint32_t row);
struct ref_decision ref_decide_pre_copy(const struct ref_step *step,
                                        uint32_t row);

/* Carries out a decision's copies for one row, on the states' memory. */
void ref_copy(const struct ref_step *step, uint32_t row,
              const struct ref_decision *decision);

/* The whole call: every decision is made on the values from before it. Pre-copy
 * writes neither accepted_out nor column_out. */
void ref_pre(const struct ref_step *step);
void ref_post(const struct ref_step *step);
void ref_pre_copy(const struct ref_step *step);

/* out[group][row][slots_per_row], rows of the step. */
void ref_indices(const struct ref_step *step, uint32_t slots_per_row,
                 int32_t *out);

/* One block's state to another's: token t of the destination receives token
 * t + bias of the source, for t below both widths. Temporal: all of it, and no
 * bias. The states match in all but widths, strides, SD / DS order. */
void ref_copy_block(const struct ref_state *from, int64_t from_block,
                    const struct ref_state *to, int64_t to_block,
                    uint64_t bias);

/* The host's list: from[i]'s blocks to to[i]'s. from -1: that kind stays. */
struct ref_block_copy {
    uint32_t group, bias;
    int32_t conv_from, temporal_from, to;
};

void ref_copy_blocks(const struct ref_state *from, const struct ref_state *to,
                     size_t state_count, const struct ref_block_copy *copies,
                     size_t count);

/* Every state of a group in the listed blocks becomes zeros. */
void ref_zero_blocks(const struct ref_state *states, size_t state_count,
                     uint32_t group, const int32_t *blocks, size_t count);

/* Block from[i] to block to[i], every source read before any is written. */
void ref_permute_blocks(const struct ref_state *states, size_t state_count,
                        uint32_t group, const int32_t *from, const int32_t *to,
                        size_t count);

#endif
