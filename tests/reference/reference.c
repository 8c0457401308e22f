/* State copies in plain C, one element of one token at a time. */

#include "reference.h"

#include <stdlib.h>
#include <string.h>

/* Only docs/semantics.md was followed here. Speed does not matter; being easy
 * to believe does. */

static unsigned char *block_address(const struct ref_state *state,
                                    int64_t block)
{
    return state->memory + (uint64_t)block * state->block_stride;
}

/* Where channel `channel` of token `token` lies in a conv block. */
static uint64_t element_offset(const struct ref_state *state, uint64_t token,
                               uint64_t channel)
{
    if (state->kind == REF_CONV_SD) {
        return (token * state->dim + channel) * state->element_size;
    }
    return channel * state->row_stride + token * state->element_size;
}

static int32_t clamp_column(int64_t column)
{
    if (column > INT32_MAX) {
        return INT32_MAX;
    }
    if (column < INT32_MIN) {
        return INT32_MIN;
    }
    return (int32_t)column;
}

static struct ref_fault make_fault(int32_t kind, int32_t state, int64_t column,
                                   int32_t value)
{
    struct ref_fault fault;
    fault.kind = kind;
    fault.state = state;
    fault.column = clamp_column(column);
    fault.value = value;
    return fault;
}

static struct ref_fault counter_fault(int32_t counter, int32_t value)
{
    return make_fault(REF_FAULT_COUNTER, -1, counter, value);
}

static struct ref_fault no_fault(void)
{
    return make_fault(REF_FAULT_NONE, 0, 0, 0);
}

/* The table's entry for a column that was checked before. */
static int32_t table_entry(const struct ref_step *step, uint32_t row,
                           uint32_t group, int64_t column)
{
    const struct ref_table *table = &step->tables[group];
    return table->entries[(uint64_t)row * table->row_stride + (uint64_t)column];
}

static struct ref_fault check_column(const struct ref_step *step, uint32_t row,
                                     size_t index, int64_t column)
{
    const struct ref_state *state = &step->states[index];
    const struct ref_table *table = &step->tables[state->group];
    const struct ref_group *group = &step->groups[state->group];
    int32_t entry;

    if (column < 0 || column >= (int64_t)table->columns) {
        return make_fault(REF_FAULT_COLUMN, (int32_t)index, column,
                          (int32_t)table->columns);
    }
    entry = table_entry(step, row, state->group, column);
    if (group->has_null_block && entry == group->null_block) {
        return make_fault(REF_FAULT_NULL_BLOCK, (int32_t)index, column, entry);
    }
    if (entry < 0 || (uint64_t)entry >= state->block_count) {
        return make_fault(REF_FAULT_BLOCK, (int32_t)index, column, entry);
    }
    return no_fault();
}

/* Conv windows that are shifted out whole are not touched, so not checked. */
static int is_touched(const struct ref_state *state, int64_t bias)
{
    return state->kind == REF_TEMPORAL || bias < (int64_t)state->width;
}

/* The column that a state's bytes come from. */
static int64_t source_column(const struct ref_state *state,
                             const struct ref_decision *decision)
{
    if (state->kind == REF_TEMPORAL) {
        return decision->source + decision->bias;
    }
    return decision->source;
}

static struct ref_fault check_blocks(const struct ref_step *step, uint32_t row,
                                     const struct ref_decision *decision)
{
    for (size_t i = 0; i < step->state_count; i++) {
        struct ref_fault fault;
        if (!is_touched(&step->states[i], decision->bias)) {
            continue;
        }
        fault = check_column(step, row, i,
                             source_column(&step->states[i], decision));
        if (fault.kind == REF_FAULT_NONE) {
            fault = check_column(step, row, i, decision->destination);
        }
        if (fault.kind != REF_FAULT_NONE) {
            return fault;
        }
    }
    return no_fault();
}

static struct ref_decision nothing(const struct ref_step *step, uint32_t row)
{
    struct ref_decision decision;
    memset(&decision, 0, sizeof(decision));
    decision.column = step->column_in[row];
    return decision;
}

static struct ref_decision at_fault(const struct ref_step *step, uint32_t row,
                                    struct ref_fault fault)
{
    struct ref_decision decision = nothing(step, row);
    decision.fault = fault;
    return decision;
}

struct ref_decision ref_decide_pre(const struct ref_step *step, uint32_t row)
{
    struct ref_decision decision = nothing(step, row);
    int64_t block = step->tokens_per_block;
    int64_t computed = step->computed[row];
    int64_t scheduled = step->scheduled[row];
    int64_t accepted = step->accepted_in[row];
    int64_t previous = step->column_in[row];
    int64_t current;
    struct ref_fault fault;

    if (scheduled < 0) {
        return at_fault(
            step, row,
            counter_fault(REF_COUNTER_SCHEDULED, step->scheduled[row]));
    }
    if (scheduled < 1) {
        return decision; /* not in the step: its other numbers are stale */
    }
    if (computed < 0) {
        return at_fault(
            step, row,
            counter_fault(REF_COUNTER_COMPUTED, step->computed[row]));
    }
    if (accepted < 0) {
        return at_fault(
            step, row,
            counter_fault(REF_COUNTER_ACCEPTED, step->accepted_in[row]));
    }
    /* computed + scheduled is at least 1, so rounding up is plain here. */
    current = (computed + scheduled + block - 1) / block - 1;
    if (current > INT32_MAX) {
        return at_fault(
            step, row,
            counter_fault(REF_COUNTER_COMPUTED, step->computed[row]));
    }
    if (previous >= 0 && previous != current) {
        decision.copy = 1;
        decision.reset = 1;
        decision.source = previous;
        decision.destination = current;
        decision.bias = accepted > 1 ? accepted - 1 : 0;
        fault = check_blocks(step, row, &decision);
        if (fault.kind != REF_FAULT_NONE) {
            return at_fault(step, row, fault);
        }
    }
    decision.column = current;
    return decision;
}

struct ref_decision ref_decide_post(const struct ref_step *step, uint32_t row)
{
    struct ref_decision decision = nothing(step, row);
    int64_t block = step->tokens_per_block;
    int64_t computed = step->computed[row];
    int64_t scheduled = step->scheduled[row];
    int64_t draft = step->draft[row];
    int64_t accepted = step->accepted_in[row];
    int64_t running, now, boundary;
    struct ref_fault fault;

    if (scheduled < 0) {
        return at_fault(
            step, row,
            counter_fault(REF_COUNTER_SCHEDULED, step->scheduled[row]));
    }
    if (draft < 0) {
        return at_fault(step, row,
                        counter_fault(REF_COUNTER_DRAFT, step->draft[row]));
    }
    if (scheduled - draft < 1) {
        return decision; /* not in the step: its other numbers are stale */
    }
    if (computed < 0) {
        return at_fault(
            step, row,
            counter_fault(REF_COUNTER_COMPUTED, step->computed[row]));
    }
    if (accepted < 0) {
        return at_fault(
            step, row,
            counter_fault(REF_COUNTER_ACCEPTED, step->accepted_in[row]));
    }
    running = computed + scheduled - draft; /* R, at least 1 */
    now = running + accepted - 1;           /* N, at least 0 */
    boundary = now / block * block;         /* A */
    if (accepted < 1 || boundary < running || boundary < block) {
        return decision;
    }
    decision.source = step->column_in[row];
    decision.destination = boundary / block - 1;
    decision.bias = boundary - running;
    decision.reset = decision.source == decision.destination;
    decision.copy = !(decision.reset && decision.bias == 0);
    if (decision.copy) {
        fault = check_blocks(step, row, &decision);
        if (fault.kind != REF_FAULT_NONE) {
            return at_fault(step, row, fault);
        }
    }
    return decision;
}

/* Upwards: token t + bias is read before anything is written over it. */
static void copy_conv(const struct ref_state *state, int64_t from, int64_t to,
                      uint64_t bias)
{
    const unsigned char *source = block_address(state, from);
    unsigned char *destination = block_address(state, to);

    for (uint64_t token = 0; token + bias < state->width; token++) {
        for (uint64_t channel = 0; channel < state->dim; channel++) {
            memmove(destination + element_offset(state, token, channel),
                    source + element_offset(state, token + bias, channel),
                    state->element_size);
        }
    }
}

void ref_copy(const struct ref_step *step, uint32_t row,
              const struct ref_decision *decision)
{
    if (!decision->copy) {
        return;
    }
    for (size_t i = 0; i < step->state_count; i++) {
        const struct ref_state *state = &step->states[i];
        int32_t from, to;
        if (!is_touched(state, decision->bias)) {
            continue;
        }
        from = table_entry(step, row, state->group,
                           source_column(state, decision));
        to = table_entry(step, row, state->group, decision->destination);
        if (state->kind == REF_TEMPORAL) {
            memmove(block_address(state, to), block_address(state, from),
                    state->size);
        } else {
            copy_conv(state, from, to, (uint64_t)decision->bias);
        }
    }
}

typedef struct ref_decision (*decide_function)(const struct ref_step *step,
                                               uint32_t row);

/* All rows are decided before anything is written: results may be the very
 * arrays that the decisions read. */
static void run(const struct ref_step *step, decide_function decide,
                int writes_columns)
{
    struct ref_decision *decisions =
        calloc((size_t)step->rows + 1, sizeof(*decisions));

    if (!decisions) {
        abort(); /* a test program: no answer is better than a wrong one */
    }
    for (uint32_t row = 0; row < step->rows; row++) {
        decisions[row] = decide(step, row);
    }
    for (uint32_t slot = 0; slot < step->slot_count; slot++) {
        step->accepted_out[slot] = step->accepted_in[slot];
        if (writes_columns) {
            step->column_out[slot] = step->column_in[slot];
        }
    }
    for (uint32_t row = 0; row < step->rows; row++) {
        const struct ref_decision *decision = &decisions[row];
        if (decision->fault.kind != REF_FAULT_NONE) {
            if (step->faults) {
                step->faults[row] = decision->fault;
            }
            continue;
        }
        ref_copy(step, row, decision);
        if (decision->reset) {
            step->accepted_out[row] = 1;
        }
        if (writes_columns) {
            step->column_out[row] = (int32_t)decision->column;
        }
    }
    free(decisions);
}

void ref_pre(const struct ref_step *step)
{
    run(step, ref_decide_pre, 1);
}

void ref_post(const struct ref_step *step)
{
    run(step, ref_decide_post, 0);
}
