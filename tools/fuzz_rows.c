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
    int32_t computed, scheduled, draft, accepted, column;
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
    struct numbers row;
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
    struct numbers row;
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
    struct numbers row;
    row.computed = random_between(random, 0, tokens);
    row.scheduled = random_between(random, 0, 6);
    row.draft = random_between(random, 0, row.scheduled);
    row.accepted = random_between(random, 0, row.draft + 1);
    row.column = random_between(random, -1, narrowest_table(fuzz));
    return row;
}

static void spoil_number(struct fuzz_case *fuzz, struct numbers *row)
{
    static const int32_t odd[] = {-1, INT32_MIN, INT32_MAX, INT32_MAX - 1, 0};
    int32_t *const numbers[] = {&row->computed, &row->scheduled, &row->draft,
                                &row->accepted, &row->column};
    *numbers[random_below(&fuzz->random, 5)] =
        odd[random_below(&fuzz->random, 5)];
}

static void fill_numbers(struct fuzz_case *fuzz)
{
    int32_t *draft = array(fuzz, FUZZ_DRAFT);
    for (uint32_t i = 0; i < fuzz->rows; i++) {
        struct numbers row;
        if (random_chance(&fuzz->random, 75))
            row = fuzz->post ? crossing(fuzz) : moving(fuzz);
        else
            row = arbitrary(fuzz);
        if (random_chance(&fuzz->random, 6))
            spoil_number(fuzz, &row);
        array(fuzz, FUZZ_COMPUTED)[i] = row.computed;
        array(fuzz, FUZZ_SCHEDULED)[i] = row.scheduled;
        if (draft)
            draft[i] = row.draft;
        array(fuzz, FUZZ_ACCEPTED_IN)[i] = row.accepted;
        array(fuzz, FUZZ_COLUMN_IN)[i] = row.column;
    }
}

/* Block ids of a group, shuffled: first the two shared ones, the null block,
 * then the rows' own ones. Groups in one pool get different ids. */
static int32_t *shuffled_ids(struct fuzz_case *fuzz, uint32_t group)
{
    uint32_t step = fuzz->groups_share ? fuzz->group_count : 1;
    uint32_t count = fuzz->block_count / step;
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

/* A row's columns name its own blocks, some of them more than once. */
static void fill_table(struct fuzz_case *fuzz, uint32_t group,
                       const int32_t *ids)
{
    int32_t *entries = values(fuzz, fuzz->tables[group]);
    for (uint32_t row = 0; row < fuzz->rows; row++) {
        for (uint32_t column = 0; column < fuzz->columns[group]; column++) {
            uint32_t own = random_below(&fuzz->random, fuzz->blocks_per_row);
            entries[row * fuzz->row_stride[group] + column] =
                ids[3 + row * fuzz->blocks_per_row + own];
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
    int32_t *entries = values(fuzz, fuzz->tables[group]);
    for (uint32_t row = 0; row < fuzz->rows; row++) {
        const struct ref_decision *decision = &decisions[row];
        bool bad_row = random_chance(random, 8);
        for (uint32_t column = 0; column < fuzz->columns[group]; column++) {
            int32_t *entry = &entries[row * fuzz->row_stride[group] + column];
            if (bad_row && random_chance(random, 30))
                *entry = wrong[random_below(
                    random, fuzz->groups[group].has_null_block ? 5 : 4)];
            else if (decision->copy && column != decision->destination &&
                     random_chance(random, 20))
                *entry = ids[random_below(random, 2)];
        }
    }
}

bool fuzz_rows_fill(struct fuzz_case *fuzz)
{
    int32_t *ids[FUZZ_GROUPS_MAX] = {NULL};
    bool fine = true;
    fill_numbers(fuzz);
    for (uint32_t i = 0; fine && i < fuzz->group_count; i++) {
        ids[i] = shuffled_ids(fuzz, i);
        fine = ids[i] != NULL;
        if (fine) {
            fuzz->groups[i].null_block = ids[i][2];
            fill_table(fuzz, i, ids[i]);
        }
    }
    struct fuzz_reference reference;
    fuzz_case_reference(fuzz, &reference);
    struct ref_decision decisions[64];
    for (uint32_t i = 0; i < fuzz->rows; i++)
        decisions[i] = fuzz->post ? ref_decide_post(&reference.step, i)
                                  : ref_decide_pre(&reference.step, i);
    for (uint32_t i = 0; i < fuzz->group_count; i++) {
        if (fine)
            change_table(fuzz, i, ids[i], decisions);
        free(ids[i]);
    }
    if (!fine)
        cli_error("out of memory for a block table");
    return fine;
}
