/* What a pre- or post-process of the replay must come to, decided on the host.
 */

#include "oracle.h"

#include <stdlib.h>
#include <string.h>

static void describe_states(struct oracle *oracle)
{
    const struct pool_shape *shape = &oracle->shape;
    uint32_t per_layer = pool_states_per_layer(shape);
    for (uint32_t layer = 0; layer < shape->layers; layer++) {
        struct ref_state *conv = &oracle->states[layer * per_layer];
        conv->kind = shape->channels_first ? REF_CONV_DS : REF_CONV_SD;
        conv->block_count = shape->block_count;
        conv->block_stride = shape->page_size;
        conv->width = shape->width;
        conv->dim = shape->dim;
        conv->element_size = shape->element_size;
        conv->row_stride = (uint64_t)shape->width * shape->element_size;
        if (per_layer == 1)
            continue;
        conv[1].kind = REF_TEMPORAL;
        conv[1].block_count = shape->block_count;
        conv[1].block_stride = shape->page_size;
        conv[1].size = shape->temporal_size;
    }
}

bool oracle_create(struct oracle *oracle, const struct schedule *schedule,
                   const struct pool_shape *shape, uint32_t room)
{
    memset(oracle, 0, sizeof *oracle);
    size_t slots = schedule->slots;
    oracle->schedule = schedule;
    oracle->room = room;
    oracle->shape = *shape;
    oracle->state_count = (size_t)shape->layers * pool_states_per_layer(shape);
    oracle->states = calloc(oracle->state_count, sizeof *oracle->states);
    oracle->accepted = calloc(room, sizeof(int32_t));
    oracle->column = calloc(room, sizeof(int32_t));
    oracle->accepted_next = calloc(room, sizeof(int32_t));
    oracle->column_next = calloc(room, sizeof(int32_t));
    oracle->decisions = calloc(slots, sizeof *oracle->decisions);
    if (!oracle->states || !oracle->accepted || !oracle->column ||
        !oracle->accepted_next || !oracle->column_next || !oracle->decisions) {
        cli_error("out of memory for %zu slots", slots);
        return false;
    }
    describe_states(oracle);
    return true;
}

void oracle_destroy(struct oracle *oracle)
{
    free(oracle->states);
    free(oracle->accepted);
    free(oracle->column);
    free(oracle->accepted_next);
    free(oracle->column_next);
    free(oracle->decisions);
    memset(oracle, 0, sizeof *oracle);
}

void oracle_admit(struct oracle *oracle)
{
    const struct schedule *schedule = oracle->schedule;
    for (uint32_t i = 0; i < schedule->slots; i++) {
        if (schedule->admitted[i] == SCHEDULE_NOT_ADMITTED)
            continue;
        oracle->accepted[i] = 1;
        oracle->column[i] = schedule->admitted[i];
    }
}

void oracle_sample(struct oracle *oracle)
{
    const struct schedule *schedule = oracle->schedule;
    for (uint32_t i = 0; i < schedule->slots; i++) {
        if (schedule->scheduled[i] > 0)
            oracle->accepted[i] = schedule->sampled[i];
    }
}

/* Nothing is left to step over in the rows of the step. */
static void settle(struct oracle *oracle)
{
    const struct schedule *schedule = oracle->schedule;
    for (uint32_t i = 0; i < schedule->slots; i++) {
        if (schedule->scheduled[i] > 0)
            oracle->accepted_next[i] = 1;
    }
}

static struct ref_step step_of(struct oracle *oracle,
                               const struct ref_table *table)
{
    static const struct ref_group group = {1, SCHEDULE_NULL_BLOCK};
    const struct schedule *schedule = oracle->schedule;
    struct ref_step step;
    memset(&step, 0, sizeof step);
    step.states = oracle->states;
    step.state_count = oracle->state_count;
    step.groups = &group;
    step.tables = table;
    step.group_count = 1;
    step.tokens_per_block = schedule->block_size;
    step.rows = schedule->slots;
    step.slot_count = schedule->slots;
    step.computed = schedule->computed;
    step.scheduled = schedule->scheduled;
    step.draft = schedule->draft;
    step.accepted_in = oracle->accepted;
    step.accepted_out = oracle->accepted_next;
    step.column_in = oracle->column;
    step.column_out = oracle->column_next;
    return step;
}

/* Bytes of all states that one decision moves. A temporal state whose source
 * and destination are one block stays where it is. */
static uint64_t moved_bytes(const struct oracle *oracle, uint32_t slot,
                            const struct ref_decision *decision)
{
    const struct pool_shape *shape = &oracle->shape;
    uint64_t bytes = 0;
    if (decision->bias < (int64_t)shape->width)
        bytes += shape->token_size * (shape->width - (uint64_t)decision->bias);
    if (decision->source == decision->destination && decision->bias == 0)
        bytes = 0;
    int32_t from = schedule_block(oracle->schedule, slot,
                                  decision->source + decision->bias);
    int32_t to = schedule_block(oracle->schedule, slot, decision->destination);
    if (from != to)
        bytes += shape->temporal_size;
    return bytes * shape->layers;
}

void oracle_decide(struct oracle *oracle, enum oracle_call call,
                   struct oracle_tally *tally)
{
    const struct schedule *schedule = oracle->schedule;
    struct ref_table table = {schedule->table, schedule->columns,
                              schedule->columns};
    struct ref_step step = step_of(oracle, &table);
    bool settles = oracle->settles && call == ORACLE_POST;
    if (settles)
        step.state_count = 0; /* there are no blocks of drafts to check */
    for (uint32_t i = 0; i < schedule->slots; i++) {
        struct ref_decision *decision = &oracle->decisions[i];
        *decision = call == ORACLE_PRE ? ref_decide_pre(&step, i)
                                       : ref_decide_post(&step, i);
        oracle->accepted_next[i] = decision->reset ? 1 : oracle->accepted[i];
        oracle->column_next[i] =
            call == ORACLE_PRE ? (int32_t)decision->column : oracle->column[i];
        tally->crossed += decision->copy || decision->reset;
        if (!decision->copy)
            continue;
        tally->copies++;
        tally->in_place += decision->source == decision->destination;
        tally->bytes += moved_bytes(oracle, i, decision);
    }
    if (settles)
        settle(oracle);
}

void oracle_apply(struct oracle *oracle, enum oracle_call call,
                  unsigned char *memory, uint64_t layer_size,
                  const int32_t *table, uint32_t block_count)
{
    uint32_t columns = oracle->schedule->columns;
    uint32_t per_layer = pool_states_per_layer(&oracle->shape);
    for (size_t i = 0; i < oracle->state_count; i++) {
        struct ref_state *state = &oracle->states[i];
        state->memory = memory + i / per_layer * layer_size;
        if (state->kind == REF_TEMPORAL)
            state->memory += oracle->shape.temporal_offset;
        state->block_count = block_count;
    }
    struct ref_table described = {table, columns, columns};
    struct ref_step step = step_of(oracle, &described);
    if (call == ORACLE_PRE)
        ref_pre(&step);
    else
        ref_post(&step);
    for (size_t i = 0; i < oracle->state_count; i++) {
        oracle->states[i].memory = NULL;
        oracle->states[i].block_count = oracle->shape.block_count;
    }
}

void oracle_commit(struct oracle *oracle, enum oracle_call call)
{
    size_t size = oracle->schedule->slots * sizeof(int32_t);
    memcpy(oracle->accepted, oracle->accepted_next, size);
    if (call == ORACLE_PRE)
        memcpy(oracle->column, oracle->column_next, size);
}
