/* A random case: its counters, its block tables. */

#include "fuzz_case.h"

#include <stdlib.h>
#include <string.h>

static int32_t *values(const struct fuzz_case *fuzz, struct fuzz_place place)
{
    if (place.size == 0)
        return NULL;
    /* Places of arrays are multiples of 4. */
    return (void *)(fuzz->areas[place.area].before + place.offset);
}

static int32_t *array(const struct fuzz_case *fuzz, enum fuzz_array which)
{
    return values(fuzz, fuzz->arrays[which]);
}

/* The numbers of one row. */
struct numbers {
    int32_t computed, scheduled, draft, now, accepted, column;
    int32_t source, destination, bias; /* of pre-copy */
};

static int32_t narrowest_table(const struct fuzz_case *fuzz)
{
    uint32_t columns = fuzz->columns[0];
    for (uint32_t i = 1; i < fuzz->group_count; i++) {
        if (fuzz->columns[i] < columns)
            columns = fuzz->columns[i];
    }
    return (int32_t)columns;
}

/* A column from which `bias` more columns are in the table, mostly. */
static int32_t source_column(struct fuzz_case *fuzz, int32_t bias)
{
    int32_t columns = narrowest_table(fuzz);
    if (bias < columns && random_chance(&fuzz->random, 90))
        columns -= bias;
    return random_between(&fuzz->random, 0, columns - 1);
}

/* More than the widest window now and then, so that it is shifted out whole. */
static int32_t some_bias(struct fuzz_case *fuzz)
{
    struct random *random = &fuzz->random;
    if (random_chance(random, 40))
        return random_between(random, 0, 1);
    return random_between(random, 0, (int32_t)fuzz->width + 1);
}

/* A row that passes a boundary: A = R + bias is one. */
static struct numbers crossing(struct fuzz_case *fuzz)
{
    struct random *random = &fuzz->random;
    int32_t size = (int32_t)fuzz->tokens_per_block;
    int32_t boundary = size * random_between(random, 1, narrowest_table(fuzz));
    int32_t bias = some_bias(fuzz);
    if (bias > boundary - 1)
        bias = boundary - 1;
    int32_t running = boundary - bias;
    int32_t now = boundary + random_between(random, 0, size - 1) / 2;
    int32_t certain = random_between(random, 1, running < 9 ? running : 9);
    struct numbers row = {0};
    row.accepted = now - running + 1;
    row.draft = row.accepted - 1 + random_between(random, 0, 2);
    row.scheduled = certain + row.draft;
    row.computed = running - certain;
    row.column = random_chance(random, 40) ? boundary / size - 1
                                           : source_column(fuzz, bias);
    return row;
}

/* A row that moves on to another column, mostly. */
static struct numbers moving(struct fuzz_case *fuzz)
{
    struct random *random = &fuzz->random;
    int32_t size = (int32_t)fuzz->tokens_per_block;
    int32_t tokens = random_between(random, 1, size * narrowest_table(fuzz));
    struct numbers row = {0};
    row.scheduled = random_between(random, 1, tokens < 9 ? tokens : 9);
    row.computed = tokens - row.scheduled;
    row.draft = random_between(random, 0, row.scheduled);
    row.accepted = some_bias(fuzz) + random_between(random, 0, 1);
    row.column = random_chance(random, 80)
                     ? source_column(fuzz, row.accepted - 1)
                     : random_between(random, -1, (tokens - 1) / size);
    return row;
}

static struct numbers arbitrary(struct fuzz_case *fuzz)
{
    struct random *random = &fuzz->random;
    int32_t tokens = (int32_t)fuzz->tokens_per_block * narrowest_table(fuzz);
    struct numbers row = {0};
    row.computed = random_between(random, 0, tokens);
    row.scheduled = random_between(random, 0, 6);
    row.draft = random_between(random, 0, row.scheduled);
    row.accepted = random_between(random, 0, row.draft + 1);
    row.column = random_between(random, -1, narrowest_table(fuzz));
    return row;
}

/* Columns that the caller chose. */
static void choose_copy(struct fuzz_case *fuzz, struct numbers *row)
{
    struct random *random = &fuzz->random;
    row->bias = some_bias(fuzz);
    row->source =
        random_chance(random, 20) ? -1 : source_column(fuzz, row->bias);
    row->destination = random_between(random, 0, narrowest_table(fuzz) - 1);
}

static void spoil_number(struct fuzz_case *fuzz, struct numbers *row)
{
    static const int32_t odd[] = {-1, INT32_MIN, INT32_MAX, INT32_MAX - 1, 0};
    int32_t *const numbers[] = {
        &row->computed, &row->scheduled, &row->draft,
        &row->accepted, &row->column,    &row->now,
        &row->source,   &row->bias,      &row->destination};
    *numbers[random_below(&fuzz->random, 9)] =
        odd[random_below(&fuzz->random, 5)];
}

/* Stored where the array is there. */
static void put(struct fuzz_case *fuzz, enum fuzz_array which, uint32_t index,
                int32_t value)
{
    int32_t *values_of = array(fuzz, which);
    if (values_of)
        values_of[index] = value;
}

static void put_start(struct fuzz_case *fuzz, uint32_t row, int32_t scheduled)
{
    int32_t *starts = array(fuzz, FUZZ_QUERY_STARTS);
    if (!starts)
        return;
    int64_t end = (int64_t)starts[row] + scheduled;
    /* Differences that no int32 holds. */
    if (random_chance(&fuzz->random, 1))
        end = random_chance(&fuzz->random, 50) ? INT32_MIN : INT32_MAX;
    if (end > INT32_MAX)
        end = INT32_MAX;
    starts[row + 1] = end < INT32_MIN ? INT32_MIN : (int32_t)end;
}

/* Slots that rows name: different ones, but for a few mistakes. */
static bool fill_slots(struct fuzz_case *fuzz)
{
    struct random *random = &fuzz->random;
    int32_t *slot_of = array(fuzz, FUZZ_SLOT_OF);
    if (!slot_of)
        return true;
    int32_t *order = calloc(fuzz->slot_count, sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 0; i < fuzz->slot_count; i++) {
        uint32_t other = random_below(random, i + 1);
        order[i] = order[other];
        order[other] = (int32_t)i;
    }
    const int32_t wrong[] = {-2, INT32_MIN, INT32_MAX,
                             (int32_t)fuzz->slot_count};
    bool mistakes = random_chance(random, 30);
    for (uint32_t i = 0; i < fuzz->rows; i++) {
        slot_of[i] = order[i];
        if (random_chance(random, 10))
            slot_of[i] = -1;
        else if (mistakes && random_chance(random, 6))
            slot_of[i] = wrong[random_below(random, 4)];
        else if (mistakes && random_chance(random, 6))
            slot_of[i] = slot_of[random_below(random, i + 1)];
    }
    free(order);
    return true;
}

/* The row's slot, -1 for none. */
static int64_t slot_of_row(const struct fuzz_case *fuzz, uint32_t row)
{
    const int32_t *slot_of = array(fuzz, FUZZ_SLOT_OF);
    int64_t slot = slot_of ? slot_of[row] : (int64_t)row;
    return slot >= 0 && slot < fuzz->slot_count ? slot : -1;
}

static void put_numbers(struct fuzz_case *fuzz, uint32_t row, int64_t named,
                        const struct numbers *numbers)
{
    put(fuzz, FUZZ_SCHEDULED, row, numbers->scheduled);
    put_start(fuzz, row, numbers->scheduled);
    put(fuzz, FUZZ_DRAFT, row, numbers->draft);
    if (named < 0)
        return;
    uint32_t slot = (uint32_t)named;
    put(fuzz, FUZZ_COMPUTED, slot, numbers->computed);
    put(fuzz, FUZZ_NOW, slot, numbers->now);
    put(fuzz, FUZZ_ACCEPTED_IN, slot, numbers->accepted);
    put(fuzz, FUZZ_COLUMN_IN, slot, numbers->column);
    put(fuzz, FUZZ_COPY_SOURCE, slot, numbers->source);
    put(fuzz, FUZZ_COPY_DESTINATION, slot, numbers->destination);
    put(fuzz, FUZZ_COPY_BIAS, slot, numbers->bias);
}

/* Slots that no row names keep random numbers: nothing may look at them. */
static void fill_numbers(struct fuzz_case *fuzz)
{
    put(fuzz, FUZZ_QUERY_STARTS, 0, random_between(&fuzz->random, 0, 9));
    for (uint32_t i = 0; i < fuzz->rows; i++) {
        struct numbers row;
        if (random_chance(&fuzz->random, 75))
            row = fuzz->call == FUZZ_POST ? crossing(fuzz) : moving(fuzz);
        else
            row = arbitrary(fuzz);
        row.now = row.computed + row.scheduled - row.draft + row.accepted - 1;
        choose_copy(fuzz, &row);
        if (random_chance(&fuzz->random, 6))
            spoil_number(fuzz, &row);
        put_numbers(fuzz, i, slot_of_row(fuzz, i), &row);
    }
}

/* Block ids of a group, shuffled: first the two shared ones, the null block,
 * then the rows' own ones. Groups in one pool get different ids. */
int32_t *fuzz_shuffled_ids(struct fuzz_case *fuzz, uint32_t group,
                           uint32_t *number)
{
    uint32_t step = fuzz->groups_share ? fuzz->group_count : 1;
    uint32_t count = fuzz->block_count / step;
    *number = count;
    int32_t *ids = calloc(count, sizeof *ids);
    if (!ids)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = random_below(&fuzz->random, i + 1);
        ids[i] = ids[other];
        ids[other] = (int32_t)(i * step + (step > 1 ? group : 0));
    }
    return ids;
}

/* The row of the block tables that belongs to a row of the batch, or NULL. */
static int32_t *table_row(const struct fuzz_case *fuzz, uint32_t group,
                          uint32_t row)
{
    int64_t index = row;
    if (fuzz->flags & CLMOVE_SSM_TABLES_BY_SLOT)
        index = slot_of_row(fuzz, row);
    if (index < 0)
        return NULL;
    return values(fuzz, fuzz->tables[group]) +
           (uint64_t)index * fuzz->row_stride[group];
}

/* A row's columns name its own blocks, some of them more than once. */
static void fill_table(struct fuzz_case *fuzz, uint32_t group,
                       const int32_t *ids)
{
    for (uint32_t row = 0; row < fuzz->rows; row++) {
        int32_t *entries = table_row(fuzz, group, row);
        for (uint32_t column = 0; entries && column < fuzz->columns[group];
             column++) {
            uint32_t own = random_below(&fuzz->random, fuzz->blocks_per_row);
            entries[column] = ids[3 + row * fuzz->blocks_per_row + own];
        }
    }
}

/* Columns that are no destination may name a block that other requests read
 * as well, and a few entries are wrong. */
static void change_table(struct fuzz_case *fuzz, uint32_t group,
                         const int32_t *ids,
                         const struct ref_decision *decisions)
{
    const int32_t wrong[] = {-1, INT32_MIN, INT32_MAX,
                             (int32_t)fuzz->block_count + 2, ids[2]};
    struct random *random = &fuzz->random;
    for (uint32_t row = 0; row < fuzz->rows; row++) {
        const struct ref_decision *decision = &decisions[row];
        int32_t *entries = table_row(fuzz, group, row);
        bool bad_row = random_chance(random, 8);
        for (uint32_t column = 0; entries && column < fuzz->columns[group];
             column++) {
            if (bad_row && random_chance(random, 30))
                entries[column] = wrong[random_below(
                    random, fuzz->groups[group].has_null_block ? 5 : 4)];
            else if (decision->copy && column != decision->destination &&
                     random_chance(random, 20))
                entries[column] = ids[random_below(random, 2)];
        }
    }
}

/* What the rows come to, for free(). */
static struct ref_decision *decide(const struct fuzz_case *fuzz)
{
    struct fuzz_reference reference;
    struct ref_decision *decisions =
        calloc((size_t)fuzz->rows + 1, sizeof *decisions);
    fuzz_case_reference(fuzz, &reference);
    for (uint32_t i = 0; decisions && i < fuzz->rows; i++) {
        if (fuzz->call == FUZZ_POST)
            decisions[i] = ref_decide_post(&reference.step, i);
        else if (fuzz->call == FUZZ_PRE)
            decisions[i] = ref_decide_pre(&reference.step, i);
        else if (fuzz->call == FUZZ_PRE_COPY)
            decisions[i] = ref_decide_pre_copy(&reference.step, i);
    }
    return decisions;
}

bool fuzz_rows_fill(struct fuzz_case *fuzz)
{
    int32_t *ids[FUZZ_GROUPS_MAX] = {NULL};
    bool fine = fill_slots(fuzz);
    fill_numbers(fuzz);
    for (uint32_t i = 0; fine && i < fuzz->group_count; i++) {
        uint32_t count;
        ids[i] = fuzz_shuffled_ids(fuzz, i, &count);
        fine = ids[i] != NULL;
        if (fine) {
            fuzz->groups[i].null_block = ids[i][2];
            fill_table(fuzz, i, ids[i]);
        }
    }
    struct ref_decision *decisions = fine ? decide(fuzz) : NULL;
    fine = decisions != NULL;
    for (uint32_t i = 0; i < fuzz->group_count; i++) {
        if (fine)
            change_table(fuzz, i, ids[i], decisions);
        free(ids[i]);
    }
    free(decisions);
    if (!fine)
        cli_error("out of memory for a block table");
    return fine;
}
