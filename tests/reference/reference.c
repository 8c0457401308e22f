/* State copies in plain C: what each row comes to. */

#include "reference.h"

#include <stdlib.h>
#include <string.h>

/* Only docs/semantics.md was followed here. Speed does not matter; being easy
 * to believe does. */

static int32_t clamp_int32(int64_t value)
{
    if (value > INT32_MAX) {
        return INT32_MAX;
    }
    if (value < INT32_MIN) {
        return INT32_MIN;
    }
    return (int32_t)value;
}

static struct ref_fault make_fault(int32_t kind, int32_t state, int64_t column,
                                   int32_t value)
{
    struct ref_fault fault;
    fault.kind = kind;
    fault.state = state;
    fault.column = clamp_int32(column);
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

/* The slot that a row's lasting numbers live in. -1: none, whatever the reason.
 */
static int64_t slot_of_row(const struct ref_step *step, uint32_t row)
{
    int64_t slot;

    if (!step->slot_of) {
        return row;
    }
    slot = step->slot_of[row];
    return slot >= 0 && slot < (int64_t)step->slot_count ? slot : -1;
}

/* The table's entry for a column that was checked before. */
static int32_t table_entry(const struct ref_step *step, uint32_t row,
                           uint32_t group, int64_t column)
{
    const struct ref_table *table = &step->tables[group];
    int64_t at = step->tables_by_slot ? slot_of_row(step, row) : (int64_t)row;
    return table->entries[(uint64_t)at * table->row_stride + (uint64_t)column];
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

/* Conv windows that are shifted out whole are not touched, so not checked;
 * likewise temporal states that another owner moves. */
static int is_touched(const struct ref_step *step,
                      const struct ref_state *state, int64_t bias)
{
    if (state->kind == REF_TEMPORAL) {
        return !step->skip_temporal;
    }
    return bias < (int64_t)state->width;
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
        if (!is_touched(step, &step->states[i], decision->bias)) {
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

/* A row that nothing happens to; one without a slot stops here. */
static struct ref_decision nothing(const struct ref_step *step, uint32_t row)
{
    struct ref_decision decision;
    memset(&decision, 0, sizeof(decision));
    decision.slot = slot_of_row(step, row);
    if (decision.slot >= 0 && step->column_in) {
        decision.column = step->column_in[decision.slot];
    }
    return decision;
}

static struct ref_decision at_fault(const struct ref_step *step, uint32_t row,
                                    struct ref_fault fault)
{
    struct ref_decision decision = nothing(step, row);
    decision.fault = fault;
    return decision;
}

/* What is wrong with the slot that a row names. -1 is not. */
static struct ref_fault check_slot(const struct ref_step *step, uint32_t row)
{
    if (!step->slot_of || step->slot_of[row] == -1) {
        return no_fault();
    }
    if (slot_of_row(step, row) < 0) {
        return make_fault(REF_FAULT_SLOT, -1, -1, step->slot_of[row]);
    }
    for (uint32_t other = 0; other < step->rows; other++) {
        if (other != row && step->slot_of[other] == step->slot_of[row]) {
            return make_fault(REF_FAULT_SLOT_TWICE, -1, -1, step->slot_of[row]);
        }
    }
    return no_fault();
}

/* A row's tokens in the step; a difference is cut to what an int32 holds. */
static int32_t scheduled_of(const struct ref_step *step, uint32_t row)
{
    if (!step->query_starts) {
        return step->scheduled[row];
    }
    return clamp_int32((int64_t)step->query_starts[row + 1] -
                       step->query_starts[row]);
}

/* What a call makes of a row whose slot is fine, its blocks not yet checked. */
typedef struct ref_decision (*rule_function)(const struct ref_step *step,
                                             uint32_t row);

static struct ref_decision decide(const struct ref_step *step, uint32_t row,
                                  rule_function rule)
{
    struct ref_decision decision;
    struct ref_fault fault = check_slot(step, row);

    if (fault.kind != REF_FAULT_NONE) {
        decision = at_fault(step, row, fault);
        decision.slot = -1;
        return decision;
    }
    if (slot_of_row(step, row) < 0) {
        return nothing(step, row); /* the row is skipped */
    }
    decision = rule(step, row);
    if (decision.fault.kind == REF_FAULT_NONE && decision.copy) {
        fault = check_blocks(step, row, &decision);
        if (fault.kind != REF_FAULT_NONE) {
            return at_fault(step, row, fault);
        }
    }
    return decision;
}

static struct ref_decision rule_pre(const struct ref_step *step, uint32_t row)
{
    struct ref_decision decision = nothing(step, row);
    int64_t slot = decision.slot;
    int64_t block = step->tokens_per_block;
    int32_t scheduled = scheduled_of(step, row);
    int32_t computed, accepted;
    int64_t previous, current;

    if (scheduled < 0) {
        return at_fault(step, row,
                        counter_fault(REF_COUNTER_SCHEDULED, scheduled));
    }
    if (scheduled < 1) {
        return decision; /* not in the step: its other numbers are stale */
    }
    computed = step->computed[slot];
    accepted = step->accepted_in[slot];
    previous = step->column_in[slot];
    if (computed < 0) {
        return at_fault(step, row,
                        counter_fault(REF_COUNTER_COMPUTED, computed));
    }
    if (accepted < 0) {
        return at_fault(step, row,
                        counter_fault(REF_COUNTER_ACCEPTED, accepted));
    }
    /* computed + scheduled is at least 1, so rounding up is plain here. */
    current = ((int64_t)computed + scheduled + block - 1) / block - 1;
    if (current > INT32_MAX) {
        return at_fault(step, row,
                        counter_fault(REF_COUNTER_COMPUTED, computed));
    }
    if (previous >= 0 && previous != current) {
        decision.copy = 1;
        decision.reset = !step->keep_accepted;
        decision.source = previous;
        decision.destination = current;
        decision.bias = accepted > 1 ? accepted - 1 : 0;
    }
    decision.column = current;
    return decision;
}

/* R = `running` tokens are certain, N = `now` are computed. */
static struct ref_decision save_boundary(const struct ref_step *step,
                                         uint32_t row, int64_t running,
                                         int64_t now)
{
    struct ref_decision decision = nothing(step, row);
    int64_t block = step->tokens_per_block;
    int64_t boundary = now / block * block; /* A */

    if (boundary < running || boundary < block) {
        return decision;
    }
    decision.source = step->column_in[decision.slot];
    decision.destination = boundary / block - 1;
    decision.bias = boundary - running;
    decision.reset = decision.source == decision.destination;
    decision.copy = !(decision.reset && decision.bias == 0);
    return decision;
}

/* N is given, so c, s and d are not looked at. */
static struct ref_decision rule_post_now(const struct ref_step *step,
                                         uint32_t row)
{
    int64_t slot = slot_of_row(step, row);
    int32_t now = step->now_computed[slot];
    int32_t accepted = step->accepted_in[slot];

    if (now < 0) {
        return at_fault(step, row, counter_fault(REF_COUNTER_NOW, now));
    }
    if (accepted < 0) {
        return at_fault(step, row,
                        counter_fault(REF_COUNTER_ACCEPTED, accepted));
    }
    if (accepted < 1) {
        return nothing(step, row); /* it did not take part */
    }
    return save_boundary(step, row, (int64_t)now - accepted + 1, now);
}

static struct ref_decision rule_post(const struct ref_step *step, uint32_t row)
{
    int64_t slot = slot_of_row(step, row);
    int32_t scheduled, draft, computed, accepted;
    int64_t running;

    if (step->now_computed) {
        return rule_post_now(step, row);
    }
    scheduled = scheduled_of(step, row);
    draft = step->draft[row];
    if (scheduled < 0) {
        return at_fault(step, row,
                        counter_fault(REF_COUNTER_SCHEDULED, scheduled));
    }
    if (draft < 0) {
        return at_fault(step, row, counter_fault(REF_COUNTER_DRAFT, draft));
    }
    if (scheduled - draft < 1) {
        return nothing(step, row); /* not in the step: the rest is stale */
    }
    computed = step->computed[slot];
    accepted = step->accepted_in[slot];
    if (computed < 0) {
        return at_fault(step, row,
                        counter_fault(REF_COUNTER_COMPUTED, computed));
    }
    if (accepted < 0) {
        return at_fault(step, row,
                        counter_fault(REF_COUNTER_ACCEPTED, accepted));
    }
    if (accepted < 1) {
        return nothing(step, row);
    }
    running = (int64_t)computed + scheduled - draft; /* at least 1 */
    return save_boundary(step, row, running, running + accepted - 1);
}

static struct ref_decision rule_pre_copy(const struct ref_step *step,
                                         uint32_t row)
{
    struct ref_decision decision = nothing(step, row);
    int32_t source = step->copy_source[decision.slot];
    int32_t destination = step->copy_destination[decision.slot];
    int32_t bias = step->copy_bias[decision.slot];

    if (source == -1 || source == destination) {
        return decision;
    }
    if (bias < 0) {
        return at_fault(step, row, counter_fault(REF_COUNTER_BIAS, bias));
    }
    decision.copy = 1;
    decision.source = source;
    decision.destination = destination;
    decision.bias = bias;
    return decision;
}

struct ref_decision ref_decide_pre(const struct ref_step *step, uint32_t row)
{
    return decide(step, row, rule_pre);
}

struct ref_decision ref_decide_post(const struct ref_step *step, uint32_t row)
{
    return decide(step, row, rule_post);
}

struct ref_decision ref_decide_pre_copy(const struct ref_step *step,
                                        uint32_t row)
{
    return decide(step, row, rule_pre_copy);
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
        if (!is_touched(step, state, decision->bias)) {
            continue;
        }
        from = table_entry(step, row, state->group,
                           source_column(state, decision));
        to = table_entry(step, row, state->group, decision->destination);
        ref_copy_block(state, from, state, to, (uint64_t)decision->bias);
    }
}

/* All rows are decided before anything is written: results may be the very
 * arrays that the decisions read. */
static void run(const struct ref_step *step, rule_function rule,
                int writes_accepted, int writes_columns)
{
    struct ref_decision *decisions =
        calloc((size_t)step->rows + 1, sizeof(*decisions));

    if (!decisions) {
        abort(); /* a test program: no answer is better than a wrong one */
    }
    for (uint32_t row = 0; row < step->rows; row++) {
        decisions[row] = decide(step, row, rule);
    }
    for (uint32_t slot = 0; slot < step->slot_count; slot++) {
        if (writes_accepted) {
            step->accepted_out[slot] = step->accepted_in[slot];
        }
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
        if (writes_accepted && decision->reset) {
            step->accepted_out[decision->slot] = 1;
        }
        if (rule == rule_pre && decision->slot >= 0) {
            step->column_out[decision->slot] = (int32_t)decision->column;
        }
    }
    free(decisions);
}

void ref_pre(const struct ref_step *step)
{
    run(step, rule_pre, 1, 1);
}

void ref_post(const struct ref_step *step)
{
    run(step, rule_post, 1, step->column_out != NULL);
}

void ref_pre_copy(const struct ref_step *step)
{
    run(step, rule_pre_copy, 0, 0);
}

/* The entry for token slot `index` of a row, -1 where there is none. */
static int32_t state_index(const struct ref_step *step, uint32_t group,
                           uint32_t row, uint32_t index)
{
    int64_t slot = slot_of_row(step, row);
    int32_t scheduled = scheduled_of(step, row);
    int64_t column;

    if (slot < 0 || scheduled < 0 || step->computed[slot] < 0) {
        return -1;
    }
    column = ((int64_t)step->computed[slot] + scheduled - 1) /
             step->tokens_per_block;
    column = column > 0 ? column : 0;
    column += index;
    if (column >= (int64_t)step->tables[group].columns) {
        return -1;
    }
    return table_entry(step, row, group, column);
}

void ref_indices(const struct ref_step *step, uint32_t slots_per_row,
                 int32_t *out)
{
    for (uint32_t group = 0; group < step->group_count; group++) {
        for (uint32_t row = 0; row < step->rows; row++) {
            for (uint32_t index = 0; index < slots_per_row; index++) {
                *out++ = state_index(step, group, row, index);
            }
        }
    }
}
