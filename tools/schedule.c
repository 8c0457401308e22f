/* The engine's part of a replay: requests, blocks, the block table. */

#include "schedule.h"

#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* C's division rounds -1 / B towards 0. */
static int32_t floor_div(int32_t value, int32_t by)
{
    return value >= 0 ? value / by : -((-value + by - 1) / by);
}

static int32_t last_column(int32_t tokens, int32_t block_size)
{
    return (tokens - 1) / block_size; /* tokens >= 1 */
}

/* Columns that the longest request of the trace needs. */
static uint64_t table_columns(const struct trace *trace, uint32_t block_size,
                              uint32_t ahead)
{
    int32_t longest = 1;
    for (size_t i = 0; i < trace->row_count; i++) {
        int32_t tokens = trace->rows[i].computed + trace->rows[i].scheduled;
        if (tokens > longest)
            longest = tokens;
    }
    return (uint64_t)last_column(longest, (int32_t)block_size) + 1 + ahead;
}

bool schedule_create(struct schedule *schedule, const struct trace *trace,
                     uint32_t block_size, uint32_t ahead)
{
    memset(schedule, 0, sizeof *schedule);
    uint64_t columns = table_columns(trace, block_size, ahead);
    uint64_t entries = columns * trace->slots;
    if (entries > (1 << 28)) {
        cli_error("a block table of %u slots x %" PRIu64
                  " columns is too large; use a block size above %u",
                  trace->slots, columns, block_size);
        return false;
    }
    schedule->trace = trace;
    schedule->block_size = block_size;
    schedule->slots = trace->slots;
    schedule->ahead = ahead;
    schedule->columns = (uint32_t)columns;
    schedule->block_count = 1;
    size_t slots = trace->slots;
    schedule->slot = calloc(slots, sizeof *schedule->slot);
    schedule->computed = calloc(slots, sizeof(int32_t));
    schedule->scheduled = calloc(slots, sizeof(int32_t));
    schedule->draft = calloc(slots, sizeof(int32_t));
    schedule->sampled = calloc(slots, sizeof(int32_t));
    schedule->admitted = calloc(slots, sizeof(int32_t));
    schedule->table = malloc((size_t)entries * sizeof(int32_t));
    if (!schedule->slot || !schedule->computed || !schedule->scheduled ||
        !schedule->draft || !schedule->sampled || !schedule->admitted ||
        !schedule->table) {
        cli_error("out of memory for %zu slots", slots);
        schedule_destroy(schedule);
        return false;
    }
    for (size_t i = 0; i < (size_t)entries; i++)
        schedule->table[i] = -1;
    return true;
}

void schedule_destroy(struct schedule *schedule)
{
    free(schedule->slot);
    free(schedule->computed);
    free(schedule->scheduled);
    free(schedule->draft);
    free(schedule->sampled);
    free(schedule->admitted);
    free(schedule->table);
    free(schedule->free_blocks);
    memset(schedule, 0, sizeof *schedule);
}

static int32_t *row_of(const struct schedule *schedule, uint32_t slot)
{
    return schedule->table + (size_t)slot * schedule->columns;
}

int32_t schedule_block(const struct schedule *schedule, uint32_t slot,
                       int64_t column)
{
    if (column < 0 || column >= schedule->columns)
        return -1;
    return row_of(schedule, slot)[column];
}

static bool give_back(struct schedule *schedule, int32_t block)
{
    if (schedule->free_count == schedule->free_room) {
        size_t room = schedule->free_room ? schedule->free_room * 2 : 256;
        int32_t *grown = realloc(schedule->free_blocks, room * sizeof *grown);
        if (!grown) {
            cli_error("out of memory for %zu free blocks", room);
            return false;
        }
        schedule->free_blocks = grown;
        schedule->free_room = room;
    }
    schedule->free_blocks[schedule->free_count++] = block;
    return true;
}

static int32_t take(struct schedule *schedule)
{
    if (schedule->free_count > 0)
        return schedule->free_blocks[--schedule->free_count];
    return schedule->block_count++;
}

/* Gives back the blocks of columns below `column`; `left` stays in their
 * entries. */
static bool release_below(struct schedule *schedule, uint32_t slot,
                          int32_t column, int32_t left)
{
    struct schedule_slot *state = &schedule->slot[slot];
    int32_t *row = row_of(schedule, slot);
    for (; state->first < column && state->first < state->end; state->first++) {
        if (!give_back(schedule, row[state->first]))
            return false;
        row[state->first] = left;
    }
    return true;
}

/* A request that does not continue the slot's last one. */
static bool admit(struct schedule *schedule, const struct trace_row *row)
{
    struct schedule_slot *state = &schedule->slot[row->slot];
    if (!release_below(schedule, row->slot, state->end, -1))
        return false;
    int32_t *entries = row_of(schedule, row->slot);
    for (uint32_t i = 0; i < schedule->columns; i++)
        entries[i] = -1;
    state->occupied = true;
    state->request = schedule->request_count++;
    state->computed = row->computed;
    state->column = floor_div(row->computed - 1, (int32_t)schedule->block_size);
    state->first = state->end = state->column > 0 ? state->column : 0;
    for (int32_t i = 0; i < state->first; i++)
        entries[i] = SCHEDULE_NULL_BLOCK;
    schedule->admitted[row->slot] = state->column;
    return true;
}

static bool play_row(struct schedule *schedule, const struct trace_row *row)
{
    struct schedule_slot *state = &schedule->slot[row->slot];
    int32_t size = (int32_t)schedule->block_size;
    if (!state->occupied || state->computed != row->computed) {
        if (!admit(schedule, row))
            return false;
    }
    int32_t keep = row->computed / size;
    if (state->column < keep)
        keep = state->column > 0 ? state->column : 0;
    if (!release_below(schedule, row->slot, keep, SCHEDULE_NULL_BLOCK))
        return false;
    int32_t current = last_column(row->computed + row->scheduled, size);
    int32_t end = current + (int32_t)schedule->ahead + 1;
    for (; state->end < end; state->end++)
        row_of(schedule, row->slot)[state->end] = take(schedule);
    state->column = current;
    state->computed =
        row->computed + row->scheduled - row->draft + row->accepted - 1;
    schedule->computed[row->slot] = row->computed;
    schedule->scheduled[row->slot] = row->scheduled;
    schedule->draft[row->slot] = row->draft;
    schedule->sampled[row->slot] = row->accepted;
    return true;
}

bool schedule_next(struct schedule *schedule)
{
    const struct trace *trace = schedule->trace;
    if (schedule->next_step >= trace->step_count)
        return false;
    for (uint32_t i = 0; i < schedule->slots; i++) {
        schedule->scheduled[i] = 0;
        schedule->draft[i] = 0;
        schedule->admitted[i] = SCHEDULE_NOT_ADMITTED;
    }
    const struct trace_step *step = &trace->steps[schedule->next_step++];
    for (size_t i = 0; i < step->count; i++) {
        if (!play_row(schedule, &trace->rows[step->first + i]))
            return false;
    }
    return true;
}

uint32_t schedule_peak(const struct trace *trace, uint32_t block_size,
                       uint32_t ahead, size_t steps)
{
    struct schedule schedule;
    if (!schedule_create(&schedule, trace, block_size, ahead))
        return 0;
    size_t played = 0;
    while (played < steps && schedule_next(&schedule))
        played++;
    uint32_t peak = played == steps ? (uint32_t)schedule.block_count : 0;
    schedule_destroy(&schedule);
    return peak;
}
