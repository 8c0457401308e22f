/* A random case: its memory, layouts, arrays. */

#include "fuzz_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint32_t element_sizes[] = {1, 2, 4, 8};

/* After a gap. */
struct fuzz_place fuzz_place_in(struct fuzz_case *fuzz, uint32_t index,
                                size_t size, size_t alignment)
{
    struct fuzz_area *area = &fuzz->areas[index];
    size_t gap = 1 + random_below(&fuzz->random, 40);
    size_t offset = (area->size + gap + alignment - 1) / alignment * alignment;
    area->size = offset + size;
    struct fuzz_place result = {index, offset, size};
    return result;
}

static void make_conv(struct fuzz_case *fuzz, struct fuzz_state *state,
                      uint32_t room)
{
    struct random *random = &fuzz->random;
    struct clmove_ssm_state *described = &state->described;
    bool rows = random_chance(random, 50);
    described->kind = rows ? CLMOVE_SSM_CONV_DS : CLMOVE_SSM_CONV_SD;
    described->width =
        1 + random_below(random, random_chance(random, 15) ? 20 : 8);
    described->element_size = element_sizes[random_below(random, 4)];
    uint32_t token = described->width * described->element_size;
    uint32_t most = room / token < 600 ? room / token : 600;
    described->dim = 1 + random_below(random, most ? most : 1);
    described->taps = random_below(random, described->width + 2);
    if (rows && random_chance(random, 50))
        described->row_stride = token + random_below(random, 20);
    uint64_t stride = described->row_stride ? described->row_stride : token;
    state->extent = rows ? (described->dim - 1) * stride + token
                         : (uint64_t)token * described->dim;
    if (described->width > fuzz->width)
        fuzz->width = described->width;
}

static void make_state(struct fuzz_case *fuzz, struct fuzz_state *state,
                       uint32_t room)
{
    memset(state, 0, sizeof *state);
    state->described.group = random_below(&fuzz->random, fuzz->group_count);
    state->described.block_count =
        fuzz->block_count + random_below(&fuzz->random, 3);
    if (random_chance(&fuzz->random, 60)) {
        make_conv(fuzz, state, room);
        return;
    }
    state->described.kind = CLMOVE_SSM_TEMPORAL;
    uint32_t most = room < 70000 ? room : 70000;
    state->described.size = 1 + random_below(&fuzz->random, most ? most : 1);
    state->extent = state->described.size;
}

static size_t span(const struct fuzz_state *state, uint64_t stride)
{
    return (size_t)((state->described.block_count - 1) * stride +
                    state->extent);
}

/* With or without padding between blocks. */
void fuzz_place_alone(struct fuzz_case *fuzz, struct fuzz_state *state,
                      uint32_t area)
{
    uint64_t stride = state->extent;
    if (random_chance(&fuzz->random, 60)) {
        stride += random_below(&fuzz->random, 50);
        state->described.block_stride = stride;
    }
    state->place = fuzz_place_in(fuzz, area, span(state, stride), 1);
}

/* States of one group in pages; of several groups over each other, where the
 * groups have different blocks of one pool. */
static void place_pages(struct fuzz_case *fuzz, struct fuzz_state *states,
                        uint32_t count, uint32_t area)
{
    uint64_t used[FUZZ_GROUPS_MAX] = {0};
    uint64_t start[FUZZ_STATES_MAX];
    uint64_t page = 0;
    uint32_t blocks = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t column = fuzz->groups_share ? states[i].described.group : 0;
        start[i] = used[column] + random_below(&fuzz->random, 8);
        used[column] = start[i] + states[i].extent;
        if (used[column] > page)
            page = used[column];
        if (states[i].described.block_count > blocks)
            blocks = states[i].described.block_count;
    }
    page += random_below(&fuzz->random, 40);
    struct fuzz_place whole =
        fuzz_place_in(fuzz, area, (size_t)(page * blocks), 1);
    for (uint32_t i = 0; i < count; i++) {
        states[i].described.block_stride = page;
        states[i].place.area = area;
        states[i].place.offset = whole.offset + (size_t)start[i];
        states[i].place.size = span(&states[i], page);
    }
}

static void make_states(struct fuzz_case *fuzz)
{
    static const uint32_t budgets[] = {1 << 15, 1 << 16, 1 << 17, 1 << 19};
    struct random *random = &fuzz->random;
    uint32_t most = random_chance(random, 30) ? FUZZ_STATES_MAX : 6;
    fuzz->state_count = 1 + random_below(random, most);
    if (fuzz->buffers == FUZZ_ONE_BUFFER)
        fuzz->pool_areas = 1;
    else if (fuzz->buffers == FUZZ_SOME_BUFFERS)
        fuzz->pool_areas = 1 + random_below(random, 12);
    else
        fuzz->pool_areas = 14 + random_below(random, FUZZ_POOL_AREAS_MAX - 13);
    if (fuzz->buffers == FUZZ_MANY_BUFFERS &&
        fuzz->state_count < fuzz->pool_areas)
        fuzz->state_count = fuzz->pool_areas;
    if (fuzz->pool_areas > fuzz->state_count)
        fuzz->pool_areas = fuzz->state_count;
    uint32_t budget =
        random_chance(random, 3) ? 1u << 22 : budgets[random_below(random, 4)];
    if (budget > fuzz_engines_budget(fuzz->engine))
        budget = fuzz_engines_budget(fuzz->engine);
    uint32_t room = budget / (fuzz->state_count * fuzz->block_count);
    uint32_t used = 0;
    for (uint32_t i = 0; i < fuzz->state_count;) {
        uint32_t count = 1;
        if (random_chance(random, 40))
            count = 1 + random_below(random, 3);
        /* Every area gets something. */
        uint32_t rest = fuzz->state_count - i, empty = fuzz->pool_areas - used;
        if (empty > 0 && count > rest - empty + 1)
            count = rest - empty + 1;
        if (count > rest)
            count = rest;
        for (uint32_t k = 0; k < count; k++)
            make_state(fuzz, &fuzz->states[i + k], room);
        uint32_t area = used < fuzz->pool_areas
                            ? used++
                            : random_below(random, fuzz->pool_areas);
        if (count == 1)
            fuzz_place_alone(fuzz, &fuzz->states[i], area);
        else
            place_pages(fuzz, &fuzz->states[i], count, area);
        i += count;
    }
}

static void make_groups(struct fuzz_case *fuzz)
{
    struct random *random = &fuzz->random;
    fuzz->group_count = 1 + random_below(random, FUZZ_GROUPS_MAX);
    fuzz->groups_share = fuzz->group_count > 1 && random_chance(random, 30);
    /* A batch of many rows, many slots for few rows: now and then. */
    bool many = random_chance(random, 3);
    fuzz->rows = random_below(random, many ? 1200 : 21);
    fuzz->max_rows = fuzz->rows + random_below(random, 4);
    if (fuzz->max_rows == 0)
        fuzz->max_rows = 1;
    fuzz->slot_count = fuzz->max_rows + random_below(random, 4);
    if (random_chance(random, 3))
        fuzz->slot_count += random_below(random, 20000);
    fuzz->blocks_per_row = 1 + random_below(random, 4);
    /* Its own, two that requests share, one null block. */
    fuzz->block_count = fuzz->rows * fuzz->blocks_per_row + 3;
    if (fuzz->groups_share)
        fuzz->block_count *= fuzz->group_count;
    for (uint32_t i = 0; i < fuzz->group_count; i++)
        fuzz->groups[i].has_null_block = random_chance(random, 50);
}

bool fuzz_case_has_step(const struct fuzz_case *fuzz)
{
    return fuzz->call < FUZZ_COPY;
}

bool fuzz_case_create(struct fuzz_case *fuzz, uint64_t seed, uint64_t number,
                      bool shared)
{
    static const uint32_t blocks[] = {1, 2, 3, 4, 7, 8, 16, 17, 64, 1088};
    memset(fuzz, 0, sizeof *fuzz);
    fuzz->seed = seed;
    fuzz->number = number;
    fuzz->random.state = random_mix(random_mix(seed) + number);
    struct random *random = &fuzz->random;
    fuzz_arrays_choose(fuzz);
    /* Their numbers have no common factor: every pair comes. */
    uint64_t run = fuzz_engines_run(seed, number);
    fuzz->engine = (uint32_t)(run % FUZZ_ENGINES);
    fuzz->buffers = (enum fuzz_buffers)(run % FUZZ_BUFFERS);
    fuzz->tokens_per_block = blocks[random_below(random, 10)];
    make_groups(fuzz);
    make_states(fuzz);
    fuzz_arrays_make(fuzz);
    bool some_shared = random_chance(random, 30);
    for (uint32_t i = 0; i < fuzz->area_count; i++) {
        struct fuzz_area *area = &fuzz->areas[i];
        area->size += random_below(random, 40); /* a guard behind it, or none */
        area->size += area->size == 0;
        area->shared = random_chance(random, 50) && some_shared && shared;
        if (!fuzz_area_create(area, random_next(random)))
            return false;
    }
    return fuzz_case_has_step(fuzz) ? fuzz_rows_fill(fuzz)
                                    : fuzz_lists_fill(fuzz);
}

void fuzz_case_destroy(struct fuzz_case *fuzz, const struct session *session)
{
    for (uint32_t i = 0; i < FUZZ_AREAS_MAX; i++)
        fuzz_area_destroy(&fuzz->areas[i], session);
}

static void *at(const struct fuzz_case *fuzz, struct fuzz_place place_of,
                bool expected)
{
    const struct fuzz_area *area = &fuzz->areas[place_of.area];
    if (place_of.size == 0)
        return NULL;
    return (expected ? area->expected : area->before) + place_of.offset;
}

static void reference_states(const struct fuzz_case *fuzz,
                             const struct fuzz_state *states,
                             struct ref_state *reference)
{
    for (uint32_t i = 0; i < fuzz->state_count; i++) {
        const struct fuzz_state *state = &states[i];
        const struct clmove_ssm_state *from = &state->described;
        struct ref_state *to = &reference[i];
        to->kind = (int)from->kind;
        to->group = from->group;
        to->memory = at(fuzz, state->place, true);
        to->block_count = from->block_count;
        to->block_stride =
            from->block_stride ? from->block_stride : state->extent;
        to->row_stride = from->row_stride
                             ? from->row_stride
                             : (uint64_t)from->width * from->element_size;
        to->size = from->size;
        to->width = from->width;
        to->dim = from->dim;
        to->element_size = from->element_size;
    }
}

static void reference_arrays(const struct fuzz_case *fuzz,
                             struct fuzz_reference *reference)
{
    const struct fuzz_place *arrays = fuzz->arrays;
    struct ref_step *step = &reference->step;
    step->slot_of = at(fuzz, arrays[FUZZ_SLOT_OF], false);
    step->computed = at(fuzz, arrays[FUZZ_COMPUTED], false);
    step->scheduled = at(fuzz, arrays[FUZZ_SCHEDULED], false);
    step->query_starts = at(fuzz, arrays[FUZZ_QUERY_STARTS], false);
    step->draft = at(fuzz, arrays[FUZZ_DRAFT], false);
    step->now_computed = at(fuzz, arrays[FUZZ_NOW], false);
    step->accepted_in = at(fuzz, arrays[FUZZ_ACCEPTED_IN], false);
    step->accepted_out = at(fuzz, arrays[FUZZ_ACCEPTED_OUT], true);
    step->column_in = at(fuzz, arrays[FUZZ_COLUMN_IN], false);
    step->column_out = at(fuzz, arrays[FUZZ_COLUMN_OUT], true);
    step->copy_source = at(fuzz, arrays[FUZZ_COPY_SOURCE], false);
    step->copy_destination = at(fuzz, arrays[FUZZ_COPY_DESTINATION], false);
    step->copy_bias = at(fuzz, arrays[FUZZ_COPY_BIAS], false);
    step->faults = at(fuzz, arrays[FUZZ_FAULTS], true);
    reference->indices = at(fuzz, arrays[FUZZ_INDICES_OUT], true);
}

void fuzz_case_reference(const struct fuzz_case *fuzz,
                         struct fuzz_reference *reference)
{
    memset(reference, 0, sizeof *reference);
    reference_states(fuzz, fuzz->states, reference->states);
    if (fuzz->two_layouts)
        reference_states(fuzz, fuzz->others, reference->others);
    for (uint32_t i = 0; i < fuzz->group_count; i++) {
        reference->groups[i].has_null_block =
            fuzz->groups[i].has_null_block != 0;
        reference->groups[i].null_block = fuzz->groups[i].null_block;
        reference->tables[i].entries = at(fuzz, fuzz->tables[i], false);
        reference->tables[i].columns = fuzz->columns[i];
        reference->tables[i].row_stride = fuzz->row_stride[i];
    }
    struct ref_step *step = &reference->step;
    step->states = reference->states;
    step->state_count = fuzz->state_count;
    step->groups = reference->groups;
    step->tables = reference->tables;
    step->group_count = fuzz->group_count;
    step->tokens_per_block = fuzz->tokens_per_block;
    step->rows = fuzz->rows;
    step->slot_count = fuzz->slot_count;
    step->tables_by_slot = (fuzz->flags & CLMOVE_SSM_TABLES_BY_SLOT) != 0;
    step->keep_accepted = (fuzz->flags & CLMOVE_SSM_KEEP_ACCEPTED) != 0;
    step->skip_temporal = (fuzz->flags & CLMOVE_SSM_SKIP_TEMPORAL) != 0;
    reference_arrays(fuzz, reference);
}

static void describe_step(const struct fuzz_case *fuzz, char *text, size_t size)
{
    snprintf(text, size, "%u rows of %u slots%s%s%s%s%s%s, %u tokens per block",
             fuzz->rows, fuzz->slot_count, fuzz->named ? " by name" : "",
             fuzz->starts ? ", query starts" : "",
             fuzz->now ? ", computed now" : "",
             fuzz->flags & CLMOVE_SSM_TABLES_BY_SLOT ? ", tables by slot" : "",
             fuzz->flags & CLMOVE_SSM_KEEP_ACCEPTED ? ", accepted kept" : "",
             fuzz->flags & CLMOVE_SSM_SKIP_TEMPORAL ? ", temporal skipped" : "",
             fuzz->tokens_per_block);
}

void fuzz_case_describe(const struct fuzz_case *fuzz, char *text, size_t size)
{
    static const char *const calls[] = {
        "pre-process", "post-process", "pre-copy", "indices",
        "block copy",  "zero",         "permute"};
    uint32_t shared = 0;
    char rest[160];
    for (uint32_t i = 0; i < fuzz->area_count; i++)
        shared += fuzz->areas[i].shared;
    if (fuzz_case_has_step(fuzz))
        describe_step(fuzz, rest, sizeof rest);
    else
        snprintf(rest, sizeof rest, "%u entries%s%s", fuzz->list.count,
                 fuzz->two_layouts ? ", two layouts" : "",
                 fuzz->packed ? ", one packed" : "");
    snprintf(text, size,
             "%s, %u states in %u buffers, %u groups%s, %s, %u of %u areas in "
             "shared memory",
             calls[fuzz->call], fuzz->state_count, fuzz->pool_areas,
             fuzz->group_count, fuzz->groups_share ? " in one pool" : "", rest,
             shared, fuzz->area_count);
}

static bool inside(struct fuzz_place place_of, uint32_t area, size_t offset)
{
    return place_of.area == area && offset >= place_of.offset &&
           offset - place_of.offset < place_of.size;
}

static bool locate_state(const struct fuzz_state *state, uint32_t index,
                         uint32_t area, size_t offset, char *text, size_t size)
{
    static const char *const kinds[] = {"", "conv sd", "conv ds", "temporal"};
    if (!inside(state->place, area, offset))
        return false;
    const struct clmove_ssm_state *described = &state->described;
    uint64_t stride =
        described->block_stride ? described->block_stride : state->extent;
    uint64_t from = offset - state->place.offset;
    if (from % stride >= state->extent)
        return false;
    snprintf(text, size,
             "state %u (%s, group %u, width %u, dim %u, element %u), block "
             "%" PRIu64 ", byte %" PRIu64 " of %" PRIu64,
             index, kinds[described->kind], described->group, described->width,
             described->dim, described->element_size, from / stride,
             from % stride, state->extent);
    return true;
}

void fuzz_case_locate(const void *context, uint32_t area, size_t offset,
                      char *text, size_t size)
{
    const struct fuzz_case *fuzz = context;
    static const char *const names[] = {
        "slot_of",   "computed",   "scheduled",   "query_starts",
        "draft",     "now",        "accepted_in", "accepted_out",
        "column_in", "column_out", "copy_source", "copy_destination",
        "copy_bias", "indices",    "faults"};
    for (uint32_t i = 0; i < fuzz->state_count; i++) {
        if (locate_state(&fuzz->states[i], i, area, offset, text, size))
            return;
        if (fuzz->two_layouts &&
            locate_state(&fuzz->others[i], i, area, offset, text, size))
            return;
    }
    for (int i = 0; i < FUZZ_ARRAYS; i++) {
        if (!inside(fuzz->arrays[i], area, offset))
            continue;
        snprintf(text, size, "array %s, byte %zu", names[i],
                 offset - fuzz->arrays[i].offset);
        return;
    }
    for (uint32_t i = 0; i < fuzz->group_count; i++) {
        if (!inside(fuzz->tables[i], area, offset))
            continue;
        snprintf(text, size, "block table of group %u, byte %zu", i,
                 offset - fuzz->tables[i].offset);
        return;
    }
    snprintf(text, size, "a gap that belongs to nothing");
}
