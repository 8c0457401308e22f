/* The recurrent states of all requests: made, and moved by clmove. */

#include "states.h"

#include "clone.h"
#include "sections.h"

#include <stdlib.h>
#include <string.h>

static struct clmove_memory whole(cl_mem buffer)
{
    return (struct clmove_memory){.buffer = buffer};
}

static struct clmove_memory section(const struct states *states, int index,
                                    size_t count)
{
    return (struct clmove_memory){
        .buffer = states->batch_buffer,
        .offset = (size_t)states->batch->numbers[index] * sizeof(int32_t),
        .size = count * sizeof(int32_t)};
}

/* From one of the arrays on, to the end of the last. */
static struct clmove_memory numbers(const struct states *states,
                                    enum number first, size_t count)
{
    const size_t slots = states->settings->slots;
    return (struct clmove_memory){.buffer = states->numbers,
                                  .offset = first * slots * sizeof(int32_t),
                                  .size = count * slots * sizeof(int32_t)};
}

static enum mamba_exit make_layout(struct states *states, size_t block_count)
{
    const struct model *model = states->machine->model;
    const struct settings *settings = states->settings;
    const size_t floats = model->channels * states->window;
    struct clmove_ssm_state list[2 * MODEL_MAX_LAYERS];
    memset(list, 0, sizeof list);
    for (size_t i = 0; i < 2 * model->layer_count; i++) {
        const size_t layer = i / 2 * (size_t)states->places.layer_stride;
        list[i].block_count = (uint32_t)block_count;
        list[i].block_stride = states->block_size;
        list[i].memory = whole(states->places.pool);
        list[i].memory.offset = layer * sizeof(float);
        if (i % 2 == 0) {
            list[i].kind =
                settings->ds ? CLMOVE_SSM_CONV_DS : CLMOVE_SSM_CONV_SD;
            list[i].width = (uint32_t)states->window;
            list[i].dim = (uint32_t)model->channels;
            list[i].element_size = sizeof(float);
            list[i].taps = (uint32_t)model->taps;
        } else {
            list[i].kind = CLMOVE_SSM_TEMPORAL;
            list[i].memory.offset += floats * sizeof(float);
            list[i].size = model->inner * model->state_size * sizeof(float);
        }
    }
    const struct clmove_ssm_group group = {1, 0};
    const struct clmove_ssm_layout_params params = {
        .states = list,
        .state_count = 2 * model->layer_count,
        .groups = &group,
        .group_count = 1,
        .draft_tokens = (uint32_t)(settings->checkpoint ? 0 : settings->draft)};
    return check(clmove_ssm_layout_create(states->machine->engine, &params,
                                          &states->layout),
                 "clmove_ssm_layout_create");
}

static enum mamba_exit make_checkpoints(struct states *states)
{
    const uint32_t slots = (uint32_t)states->settings->slots;
    uint64_t size = 0;
    TRY(check(clmove_ssm_layout_packed_size(states->layout, slots, &size),
              "clmove_ssm_layout_packed_size"));
    if (size < slots * states->block_size)
        size = slots * states->block_size; /* as clone.c lays them out */
    TRY(machine_buffer(states->machine, (size_t)size, "checkpoints",
                       &states->checkpoints));
    const struct clmove_memory memory = whole(states->checkpoints);
    return check(
        clmove_ssm_layout_pack(states->layout, slots, &memory, &states->packed),
        "clmove_ssm_layout_pack");
}

static enum mamba_exit make_steps(struct states *states)
{
    const struct settings *settings = states->settings;
    const struct batch_limits *limits = &states->batch->limits;
    const size_t table_rows =
        limits->table_by_slot ? limits->slots : limits->rows;
    const struct clmove_ssm_table table = {
        .entries = section(states, SECTION_TABLE, table_rows * limits->columns),
        .columns = (uint32_t)limits->columns};
    struct clmove_ssm_step_params params = {
        .flags = settings->order == ORDER_V2 ? CLMOVE_SSM_TABLES_BY_SLOT : 0,
        .tokens_per_block = (uint32_t)settings->block_size,
        .max_rows = (uint32_t)limits->rows,
        .slot_count = (uint32_t)limits->slots,
        .tables = &table,
        .computed = section(states, SECTION_COMPUTED, limits->slots),
        .query_starts = section(states, SECTION_STARTS, limits->rows + 1),
        .draft = section(states, SECTION_DRAFTS, limits->rows),
        .accepted_in = numbers(states, NUMBER_ACCEPTED, 1),
        .accepted_out = numbers(states, NUMBER_ACCEPTED_NOW, 1),
        .column_in = numbers(states, NUMBER_COLUMN, 1),
        .column_out = numbers(states, NUMBER_COLUMN_NOW, 1),
        .faults = numbers(states, NUMBER_FAULTS, 4)};
    if (settings->order != ORDER_V1)
        params.slot_of = section(states, SECTION_SLOTS, limits->rows);
    TRY(check(clmove_ssm_step_create(states->layout, &params, &states->before),
              "clmove_ssm_step_create"));
    params.accepted_in = numbers(states, NUMBER_ACCEPTED_NOW, 1);
    params.accepted_out = numbers(states, NUMBER_ACCEPTED, 1);
    params.column_in = numbers(states, NUMBER_COLUMN_NOW, 1);
    params.column_out = numbers(states, NUMBER_COLUMN, 1);
    return check(
        clmove_ssm_step_create(states->layout, &params, &states->after),
        "clmove_ssm_step_create");
}

static enum mamba_exit write_array(const struct states *states, cl_mem buffer,
                                   size_t offset, const void *values,
                                   size_t size, cl_bool blocking)
{
    return check(clEnqueueWriteBuffer(states->machine->queue, buffer, blocking,
                                      offset, size, values, 0, NULL, NULL),
                 "clEnqueueWriteBuffer");
}

static enum mamba_exit make_buffers(struct states *states, size_t block_count)
{
    const struct settings *settings = states->settings;
    const size_t slots = settings->slots;
    const size_t window = states->window * states->machine->model->channels;
    states->mirror = calloc(NUMBER_COUNT * slots, sizeof *states->mirror);
    states->settled_drafts = calloc(slots, sizeof *states->settled_drafts);
    states->found = calloc(slots, sizeof *states->found);
    if (!states->mirror || !states->settled_drafts || !states->found)
        return out_of_memory();
    TRY(machine_buffer(states->machine, block_count * states->block_size,
                       "states", &states->places.pool));
    TRY(machine_buffer(states->machine, states->batch->size * sizeof(int32_t),
                       "the batch", &states->batch_buffer));
    TRY(machine_buffer(states->machine, NUMBER_COUNT * slots * sizeof(int32_t),
                       "counts and columns", &states->numbers));
    /* Zeroed, so that nothing is read that was never written. */
    TRY(write_array(states, states->numbers, 0, states->mirror,
                    NUMBER_COUNT * slots * sizeof(int32_t), CL_TRUE));
    if (settings->clone)
        TRY(machine_buffer(states->machine, window * sizeof(float),
                           "a clone of a window", &states->clone));
    return MAMBA_FINE;
}

enum mamba_exit states_create(struct states *states,
                              const struct machine *machine,
                              const struct settings *settings,
                              const struct batch *batch, size_t block_count)
{
    const struct model *model = machine->model;
    memset(states, 0, sizeof *states);
    states->machine = machine;
    states->settings = settings;
    states->batch = batch;
    states->window =
        model->taps - 1 + (settings->checkpoint ? 0 : settings->draft);
    struct forward_states *places = &states->places;
    const size_t temporal = model->channels * states->window;
    const size_t layer = temporal + model->inner * model->state_size;
    places->temporal = (cl_long)temporal;
    places->layer_stride = (cl_long)layer;
    places->block_stride = (cl_long)(layer * model->layer_count);
    places->channel_stride = settings->ds ? (cl_int)states->window : 1;
    places->token_stride = settings->ds ? 1 : (cl_int)model->channels;
    states->block_size = layer * model->layer_count * sizeof(float);
    TRY(make_buffers(states, block_count));
    TRY(make_layout(states, block_count));
    if (settings->checkpoint)
        TRY(make_checkpoints(states));
    return make_steps(states);
}

void states_destroy(struct states *states)
{
    clmove_ssm_step_destroy(&states->before);
    clmove_ssm_step_destroy(&states->after);
    clmove_ssm_layout_destroy(&states->packed);
    clmove_ssm_layout_destroy(&states->layout);
    for (size_t i = 0; i < states->event_count; i++)
        clReleaseEvent(states->events[i]);
    free(states->events);
    machine_release(&states->places.pool);
    machine_release(&states->batch_buffer);
    machine_release(&states->checkpoints);
    machine_release(&states->clone);
    machine_release(&states->numbers);
    free(states->mirror);
    free(states->settled_drafts);
    free(states->found);
    memset(states, 0, sizeof *states);
}

enum mamba_exit states_add_event(struct states *states, cl_event event)
{
    if (states->event_count == states->event_capacity) {
        const size_t capacity = states->event_capacity * 2 + 16;
        cl_event *grown =
            realloc(states->events, capacity * sizeof *states->events);
        if (!grown) {
            clReleaseEvent(event);
            return out_of_memory();
        }
        states->events = grown;
        states->event_capacity = capacity;
    }
    states->events[states->event_count++] = event;
    return MAMBA_FINE;
}

enum mamba_exit states_admit(struct states *states, size_t slot, int32_t column)
{
    const int32_t accepted = 1;
    TRY(write_array(states, states->numbers,
                    numbers(states, NUMBER_ACCEPTED, 1).offset +
                        slot * sizeof accepted,
                    &accepted, sizeof accepted, CL_TRUE));
    return write_array(states, states->numbers,
                       numbers(states, NUMBER_COLUMN, 1).offset +
                           slot * sizeof column,
                       &column, sizeof column, CL_TRUE);
}

/* What the device would have found out for itself. */
static enum mamba_exit write_seats(struct states *states,
                                   const struct states_seat *seats)
{
    const size_t slots = states->settings->slots;
    for (size_t i = 0; i < slots; i++) {
        states->mirror[i] = seats[i].accepted;
        states->mirror[slots + i] = seats[i].column;
    }
    const struct clmove_memory both = numbers(states, NUMBER_ACCEPTED_NOW, 2);
    return write_array(states, states->numbers, both.offset, states->mirror,
                       both.size, CL_FALSE);
}

enum mamba_exit states_before(struct states *states,
                              const struct clmove_ssm_copy *copies,
                              size_t count, const struct states_seat *seats)
{
    cl_event event = NULL;
    TRY(write_array(states, states->batch_buffer, 0, states->batch->numbers,
                    states->batch->size * sizeof(int32_t), CL_FALSE));
    if (states->settings->clone) {
        TRY(clone_copy(states, copies, count));
        return write_seats(states, seats);
    }
    TRY(check(clmove_enqueue_ssm_pre(states->before,
                                     (uint32_t)states->batch->rows,
                                     states->machine->queue, 0, NULL, &event),
              "clmove_enqueue_ssm_pre"));
    return states_add_event(states, event);
}

enum mamba_exit states_after(struct states *states,
                             const struct clmove_ssm_copy *copies, size_t count)
{
    cl_event event = NULL;
    if (states->settings->clone)
        return clone_copy(states, copies, count);
    TRY(check(clmove_enqueue_ssm_post(states->after,
                                      (uint32_t)states->batch->rows,
                                      states->machine->queue, 0, NULL, &event),
              "clmove_enqueue_ssm_post"));
    return states_add_event(states, event);
}

enum mamba_exit states_settle(struct states *states, const int32_t *drafts)
{
    const size_t size = states->batch->rows * sizeof *drafts;
    memcpy(states->settled_drafts, drafts, size);
    return write_array(states, states->batch_buffer,
                       (size_t)states->batch->numbers[SECTION_DRAFTS] *
                           sizeof *drafts,
                       states->settled_drafts, size, CL_FALSE);
}

static enum mamba_exit copy(struct states *states,
                            struct clmove_ssm_layout *from,
                            struct clmove_ssm_layout *to,
                            const struct clmove_ssm_copy *copies, size_t count)
{
    cl_event event = NULL;
    if (count == 0)
        return MAMBA_FINE;
    TRY(check(clmove_enqueue_ssm_copy(from, to, copies, count,
                                      states->machine->queue, 0, NULL, &event),
              "clmove_enqueue_ssm_copy"));
    return states_add_event(states, event);
}

enum mamba_exit states_save(struct states *states,
                            const struct clmove_ssm_copy *copies, size_t count)
{
    if (states->settings->clone)
        return clone_blocks(states, states->places.pool, states->checkpoints,
                            copies, count);
    return copy(states, states->layout, states->packed, copies, count);
}

enum mamba_exit states_restore(struct states *states,
                               const struct clmove_ssm_copy *copies,
                               size_t count)
{
    if (states->settings->clone)
        return clone_blocks(states, states->checkpoints, states->places.pool,
                            copies, count);
    return copy(states, states->packed, states->layout, copies, count);
}

/* Waits for all that was enqueued. */
static enum mamba_exit look_for_faults(const struct states *states)
{
    const size_t rows = states->batch->limits.rows;
    TRY(check(clEnqueueReadBuffer(
                  states->machine->queue, states->numbers, CL_TRUE,
                  numbers(states, NUMBER_FAULTS, 4).offset,
                  rows * sizeof *states->found, states->found, 0, NULL, NULL),
              "clEnqueueReadBuffer"));
    for (size_t i = 0; i < rows; i++) {
        const struct clmove_ssm_fault *fault = &states->found[i];
        if (fault->kind == CLMOVE_SSM_FAULT_NONE)
            continue;
        say("row %zu is at fault: kind %d, state %d, column %d, value %d", i,
            fault->kind, fault->state, fault->column, fault->value);
        return MAMBA_DIFFERS;
    }
    return MAMBA_FINE;
}

enum mamba_exit states_end_step(struct states *states)
{
    TRY(look_for_faults(states));
    for (size_t i = 0; i < states->event_count; i++) {
        cl_ulong start = 0, end = 0;
        const cl_event event = states->events[i];
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start,
                                &start, NULL);
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end,
                                &end, NULL);
        states->moving_seconds += (double)(end - start) * 1e-9;
        clReleaseEvent(event);
    }
    states->event_count = 0;
    return MAMBA_FINE;
}
