/* A random case: which call it is, and the arrays that the call takes. */

#include "fuzz_case.h"

void fuzz_arrays_choose(struct fuzz_case *fuzz)
{
    static const enum fuzz_call calls[] = {
        FUZZ_PRE,  FUZZ_PRE,  FUZZ_PRE,  FUZZ_POST,     FUZZ_POST,
        FUZZ_POST, FUZZ_POST, FUZZ_POST, FUZZ_PRE_COPY, FUZZ_INDICES,
        FUZZ_COPY, FUZZ_COPY, FUZZ_ZERO, FUZZ_PERMUTE};
    struct random *random = &fuzz->random;
    fuzz->call = calls[random_below(random, sizeof calls / sizeof *calls)];
    fuzz->named = random_chance(random, 60);
    fuzz->starts = random_chance(random, 40);
    fuzz->now = fuzz->call == FUZZ_POST && random_chance(random, 40);
    fuzz->slots_per_row = 1 + random_below(random, 9);
    if (random_chance(random, 40))
        fuzz->flags |= CLMOVE_SSM_TABLES_BY_SLOT;
    if (random_chance(random, 20))
        fuzz->flags |= CLMOVE_SSM_KEEP_ACCEPTED;
    if (random_chance(random, 20))
        fuzz->flags |= CLMOVE_SSM_SKIP_TEMPORAL;
}

static uint32_t array_area(struct fuzz_case *fuzz)
{
    return fuzz->pool_areas +
           random_below(&fuzz->random, fuzz->area_count - fuzz->pool_areas);
}

static bool by_row(int array)
{
    return array == FUZZ_SLOT_OF || array == FUZZ_SCHEDULED ||
           array == FUZZ_QUERY_STARTS || array == FUZZ_DRAFT ||
           array == FUZZ_FAULTS;
}

/* Whether the call cannot do without an array. */
static bool needed(const struct fuzz_case *fuzz, int array)
{
    bool pre = fuzz->call == FUZZ_PRE, post = fuzz->call == FUZZ_POST;
    bool counts = pre || fuzz->call == FUZZ_INDICES || (post && !fuzz->now);
    switch (array) {
    case FUZZ_SLOT_OF:
        return fuzz->named;
    case FUZZ_COMPUTED:
        return counts;
    case FUZZ_SCHEDULED:
        return counts && !fuzz->starts;
    case FUZZ_QUERY_STARTS:
        return fuzz->starts;
    case FUZZ_DRAFT:
        return post && !fuzz->now;
    case FUZZ_NOW:
        return fuzz->now;
    case FUZZ_ACCEPTED_IN:
    case FUZZ_ACCEPTED_OUT:
    case FUZZ_COLUMN_IN:
        return pre || post;
    case FUZZ_COLUMN_OUT:
        return pre;
    case FUZZ_COPY_SOURCE:
    case FUZZ_COPY_DESTINATION:
    case FUZZ_COPY_BIAS:
        return fuzz->call == FUZZ_PRE_COPY;
    case FUZZ_INDICES_OUT:
        return fuzz->call == FUZZ_INDICES;
    default:
        return false;
    }
}

/* How often an array is left out. */
static uint32_t absent_percent(const struct fuzz_case *fuzz, int array)
{
    if (needed(fuzz, array))
        return 0;
    switch (array) {
    case FUZZ_SLOT_OF:
    case FUZZ_QUERY_STARTS:
    case FUZZ_NOW:
    case FUZZ_INDICES_OUT:
        return 100; /* they would mean something */
    case FUZZ_SCHEDULED:
        return fuzz->starts ? 100 : 50;
    case FUZZ_FAULTS:
        return 20;
    default:
        return 50;
    }
}

static size_t array_size(const struct fuzz_case *fuzz, int array)
{
    size_t count = by_row(array) ? fuzz->max_rows : fuzz->slot_count;
    if (array == FUZZ_FAULTS)
        return count * sizeof(struct clmove_ssm_fault);
    if (array == FUZZ_QUERY_STARTS)
        count++;
    if (array == FUZZ_INDICES_OUT)
        count =
            (size_t)fuzz->group_count * fuzz->max_rows * fuzz->slots_per_row;
    return count * sizeof(int32_t);
}

void fuzz_arrays_make(struct fuzz_case *fuzz)
{
    struct random *random = &fuzz->random;
    uint32_t most = fuzz->buffers == FUZZ_ONE_BUFFER ? 1 : FUZZ_ARRAY_AREAS_MAX;
    fuzz->area_count = fuzz->pool_areas + 1 + random_below(random, most);
    if (!fuzz_case_has_step(fuzz)) {
        fuzz_lists_make_others(fuzz);
        return;
    }
    uint32_t rows = fuzz->flags & CLMOVE_SSM_TABLES_BY_SLOT ? fuzz->slot_count
                                                            : fuzz->max_rows;
    for (uint32_t i = 0; i < fuzz->group_count; i++) {
        fuzz->columns[i] = 1 + random_below(random, 32);
        fuzz->row_stride[i] = fuzz->columns[i] + random_below(random, 4);
        size_t size = (size_t)fuzz->row_stride[i] * rows * 4;
        fuzz->tables[i] = fuzz_place_in(fuzz, array_area(fuzz), size, 4);
    }
    for (int i = 0; i < FUZZ_ARRAYS; i++) {
        bool result = i == FUZZ_ACCEPTED_OUT || i == FUZZ_COLUMN_OUT;
        if (random_chance(random, absent_percent(fuzz, i)))
            continue;
        if (result && random_chance(random, 40))
            fuzz->arrays[i] = fuzz->arrays[i - 1]; /* in place */
        else
            fuzz->arrays[i] =
                fuzz_place_in(fuzz, array_area(fuzz), array_size(fuzz, i), 4);
    }
}
