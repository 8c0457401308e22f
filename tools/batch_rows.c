/* The rows of a batch that names its requests by slot. */

#include "batch_rows.h"

#include "cli.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

#define ORDER_SEED UINT64_C(0x0bde)

bool batch_rows_create(struct batch_rows *rows, const struct schedule *schedule)
{
    memset(rows, 0, sizeof *rows);
    rows->room = schedule->slots + BATCH_ROWS_PADDING;
    size_t room = rows->room;
    rows->slot_of = calloc(room, sizeof(int32_t));
    rows->query_starts = calloc(room + 1, sizeof(int32_t));
    rows->table = calloc(room * schedule->columns, sizeof(int32_t));
    if (rows->slot_of && rows->query_starts && rows->table)
        return true;
    cli_error("out of memory for a batch of %zu rows", room);
    return false;
}

void batch_rows_destroy(struct batch_rows *rows)
{
    free(rows->slot_of);
    free(rows->query_starts);
    free(rows->table);
    memset(rows, 0, sizeof *rows);
}

/* Puts one more row at a random place among those that are there. */
static void insert(struct batch_rows *rows, struct random *random, int32_t slot)
{
    uint32_t place = random_below(random, rows->count + 1);
    rows->slot_of[rows->count++] = rows->slot_of[place];
    rows->slot_of[place] = slot;
}

void batch_rows_fill(struct batch_rows *rows, const struct schedule *schedule)
{
    struct random random = {
        random_mix(random_mix(ORDER_SEED) + schedule->next_step)};
    size_t columns = schedule->columns;
    rows->count = 0;
    for (uint32_t slot = 0; slot < schedule->slots; slot++) {
        if (schedule->scheduled[slot] > 0)
            insert(rows, &random, (int32_t)slot);
    }
    uint32_t padding = random_below(&random, BATCH_ROWS_PADDING + 1);
    for (uint32_t i = 0; i < padding; i++)
        insert(rows, &random, -1);
    for (uint32_t row = 0; row < rows->count; row++) {
        int32_t slot = rows->slot_of[row];
        int32_t *entries = rows->table + row * columns;
        /* A padded row may claim tokens: nothing may look at them, nor at its
         * blocks. */
        int32_t tokens = slot < 0 ? random_between(&random, 0, 2)
                                  : schedule->scheduled[slot];
        rows->query_starts[row + 1] = rows->query_starts[row] + tokens;
        if (slot >= 0)
            memcpy(entries, schedule->table + (size_t)slot * columns,
                   columns * sizeof *entries);
        else
            memset(entries, 0x7f, columns * sizeof *entries);
    }
}
