/* Ready-made scenes that several test programs share. */

#include "scenes.h"

#include "compare.h"
#include "testing.h"

#include <stdlib.h>

void scene_add_crossing_rows(struct scene *scene, uint32_t count, int32_t bias)
{
    scene->tokens_per_block = 16;
    for (uint32_t i = 0; i < count; i++) {
        /* R = 16 - bias, A = 16, running column 1 */
        scene_add_row(scene, 14 - bias, 4, 2, bias + 1, 1);
    }
}

void scene_add_in_place_rows(struct scene *scene, uint32_t count, int32_t bias)
{
    scene->tokens_per_block = 16;
    for (uint32_t i = 0; i < count; i++) {
        scene_add_row(scene, 14 - bias, 4, 2, bias + 1, 0);
    }
}

void scene_shuffle_slots(struct scene *scene, uint64_t seed)
{
    const uint32_t count = scene_slot_count(scene);
    int32_t *slots = malloc(count * sizeof(*slots));
    uint64_t random = seed;

    assert_non_null(slots);
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = (int32_t)i;
    }
    for (uint32_t row = 0; row < scene->row_count; row++) {
        uint32_t pick = row + random_below(&random, count - row);
        scene_set_slot(scene, row, slots[pick]);
        slots[pick] = slots[row];
    }
    free(slots);
}

void scene_use_v2(struct scene *scene, enum scene_operation operation,
                  uint64_t seed)
{
    scene_shuffle_slots(scene, seed);
    scene->tables_by_slot = (int)(seed % 2);
    if (operation == SCENE_POST) {
        scene->now = SCENE_NOW_ALONE;
    } else {
        scene->uses_starts = 1;
    }
}

enum { MIXED_COLUMNS = 9, MIXED_ROWS = 13, MIXED_FIRST = 2 };

static void add_mixed_states(struct scene *scene, uint32_t blocks)
{
    uint32_t page = scene_add_pool(scene, SCENE_BUFFER);
    uint32_t other = scene_add_pool(scene, SCENE_BUFFER);
    uint32_t odd = scene_add_pool(scene, SCENE_BUFFER);
    struct scene_state *state;

    /* A page with a conv state, a gap, a temporal state, another gap. */
    state = scene_add_conv(scene, page, REF_CONV_SD, blocks, 5, 24, 2);
    state->offset = 0;
    state->block_stride = 512;
    state = scene_add_temporal(scene, page, blocks, 192);
    state->offset = 256;
    state->block_stride = 512;

    scene_add_conv(scene, other, REF_CONV_DS, blocks, 5, 12, 4);
    state = scene_add_conv(scene, other, REF_CONV_DS, blocks, 5, 6, 8);
    state->row_stride = 56;
    scene_add_temporal(scene, other, blocks, 333)->group = 1;

    /* Nothing is aligned here, and the buffer ends with the last state. */
    state = scene_add_conv(scene, odd, REF_CONV_SD, blocks, 5, 7, 1);
    state->group = 1;
    state->offset = 1;
    state = scene_add_conv(scene, odd, REF_CONV_DS, blocks, 5, 3, 2);
    state->group = 1;
    state->row_stride = 13;
    state->offset = 7 + 40 * (uint64_t)blocks;
    scene->pools[odd].tail = 0;
}

static void add_mixed_post_rows(struct scene *scene)
{
    scene_add_row(scene, 12, 4, 2, 3, 1);  /* column 1 to 0, bias 2 */
    scene_add_row(scene, 13, 4, 2, 2, 0);  /* in place, bias 1 */
    scene_add_row(scene, 1, 2, 1, 1, 0);   /* no boundary */
    scene_add_row(scene, 10, 6, 0, 2, 0);  /* reset only */
    scene_add_row(scene, 12, 4, 2, 3, 1);  /* two columns, one block */
    scene_add_row(scene, 15, 2, 2, 3, 0);  /* not in the step */
    scene_add_row(scene, 9, 9, 8, 7, 1);   /* bias 6: conv untouched */
    scene_add_row(scene, 12, 4, 2, 3, 1);  /* a block out of range */
    scene_add_row(scene, 12, 4, 2, 3, 1);  /* the null block */
    scene_add_row(scene, 12, 4, -1, 3, 1); /* a negative counter */
    scene_add_row(scene, 12, 4, 2, 3, 9);  /* a column out of range */
    scene_add_row(scene, 29, 4, 2, 2, 2);  /* column 2 to 1, bias 1 */
    scene_add_row(scene, 14, 3, 1, 1, 1);  /* column 1 to 0, bias 0 */
}

static void add_mixed_pre_rows(struct scene *scene)
{
    scene_add_row(scene, 16, 4, 2, 3, 0); /* column 0 to 1, bias 2 */
    scene_add_row(scene, 17, 4, 2, 2, 0); /* bias 1 */
    scene_add_row(scene, 1, 2, 1, 1, 0);  /* the same block */
    scene_add_row(scene, 0, 6, 0, 1, -1); /* a new request */
    scene_add_row(scene, 16, 4, 2, 3, 0); /* two columns, one block */
    scene_add_row(scene, 15, 0, 0, 3, 0); /* not in the step */
    scene_add_row(scene, 18, 9, 8, 7, 0); /* bias 6: conv untouched */
    scene_add_row(scene, 16, 4, 2, 3, 0); /* a block out of range */
    scene_add_row(scene, 16, 4, 2, 3, 0); /* the null block */
    scene_add_row(scene, -1, 4, 0, 3, 0); /* a negative counter */
    scene_add_row(scene, 16, 4, 2, 3, 9); /* a column out of range */
    scene_add_row(scene, 40, 4, 2, 1, 1); /* column 1 to 2, bias 0 */
    scene_add_row(scene, 32, 1, 0, 4, 0); /* column 0 to 2, bias 3 */
}

void scene_fill_mixed(struct scene *scene, enum scene_operation operation)
{
    uint32_t blocks = MIXED_FIRST + MIXED_COLUMNS * MIXED_ROWS;

    scene->tokens_per_block = 16;
    add_mixed_states(scene, blocks);
    scene_add_group(scene, MIXED_COLUMNS);
    scene_add_group(scene, MIXED_COLUMNS);
    for (uint32_t g = 0; g < 2; g++) {
        scene->groups[g].null.has_null_block = 1;
        scene->groups[g].null.null_block = (int32_t)g;
    }
    if (operation == SCENE_POST) {
        add_mixed_post_rows(scene);
    } else {
        add_mixed_pre_rows(scene);
    }
    scene_own_blocks(scene, MIXED_FIRST, MIXED_COLUMNS);
    /* Row 4 owns blocks 38 to 46, row 7 those from 65, row 8 from 74. */
    scene_set_entries(scene, 0, 4, ENTRIES(40, 40, 41, 42));
    scene_set_entries(scene, 1, 4, ENTRIES(44, 44, 38, 39));
    scene_set_entries(scene, 1, 7, ENTRIES(65, (int32_t)blocks, 66, 67));
    scene_set_entries(scene, 1, 8, ENTRIES(1, 74, 75, 76));
}

static void random_state(struct scene *scene, uint64_t *random, uint32_t pool,
                         uint32_t blocks, uint32_t limit)
{
    struct scene_state *state;
    uint32_t kind = random_below(random, 3);

    if (kind == 0) {
        state = scene_add_temporal(scene, pool, blocks,
                                   1 + random_below(random, 12 * limit));
    } else {
        state = scene_add_conv(
            scene, pool, kind == 1 ? REF_CONV_SD : REF_CONV_DS, blocks,
            1 + random_below(random, limit < 12 ? limit : 12),
            1 + random_below(random, limit), 1u << random_below(random, 4));
        if (kind == 2 && random_below(random, 2)) {
            state->row_stride =
                scene_row_stride(state) + random_below(random, 20);
        }
    }
    state->group = random_below(random, scene->group_count);
    if (random_below(random, 2)) {
        state->block_stride =
            scene_block_extent(state) + random_below(random, 40);
    }
}

/* Odd or aligned places, one state behind the other. */
static void place_random_states(struct scene *scene, uint64_t *random)
{
    uint64_t ends[SCENE_MAX_POOLS] = {0};

    for (uint32_t i = 0; i < scene->state_count; i++) {
        struct scene_state *state = &scene->states[i];
        uint64_t *end = &ends[state->pool];
        uint32_t align = random_below(random, 2) ? 16 : 1;
        state->offset = *end + random_below(random, 10);
        state->offset = (state->offset + align - 1) / align * align;
        *end = state->offset + scene_state_extent(state);
    }
}

static int32_t maybe_bad(uint64_t *random, int32_t value, int32_t bad)
{
    return random_below(random, 40) == 0 ? bad : value;
}

static void random_row(struct scene *scene, uint64_t *random)
{
    uint32_t block = scene->tokens_per_block;
    int32_t computed = (int32_t)random_below(random, 4 * block + 1);
    int32_t scheduled = (int32_t)random_below(random, block + 6);
    int32_t draft =
        scheduled ? (int32_t)random_below(random, (uint32_t)scheduled) : 0;
    int32_t accepted = (int32_t)random_below(random, (uint32_t)draft + 2);
    int32_t column = (computed - 1) / (int32_t)block;

    if (random_below(random, 2)) {
        column = (int32_t)random_below(random, 5) - 1;
    }
    scene_add_row(scene, maybe_bad(random, computed, -3),
                  maybe_bad(random, scheduled, -1),
                  maybe_bad(random, draft, -2),
                  maybe_bad(random, accepted, INT32_MIN),
                  maybe_bad(random, column, INT32_MAX));
}

/* Each row picks among its own blocks, so columns may share one. */
static void random_tables(struct scene *scene, uint64_t *random,
                          uint32_t blocks_per_row)
{
    for (uint32_t g = 0; g < scene->group_count; g++) {
        struct scene_group *group = &scene->groups[g];
        group->null.has_null_block = 1; /* block 0 */
        for (uint32_t row = 0; row < scene->row_count; row++) {
            for (uint32_t i = 0; i < group->columns; i++) {
                uint32_t own = 1 + row * blocks_per_row +
                               random_below(random, blocks_per_row);
                int32_t bad = (int32_t)random_below(random, 4) * 400 - 1;
                if (random_below(random, 2)) {
                    bad = 0;
                }
                group->entries[(size_t)row * group->row_stride + i] =
                    maybe_bad(random, (int32_t)own, bad);
            }
        }
    }
}

void scene_fill_random(struct scene *scene, uint64_t seed, uint32_t limit)
{
    uint64_t random = seed * 977 + 5;
    uint32_t groups = 1 + random_below(&random, 3);
    uint32_t pools = 1 + random_below(&random, 3);
    uint32_t rows = 1 + random_below(&random, limit / 2);
    uint32_t states = 1 + random_below(&random, 6);
    uint32_t blocks_per_row = 3 + random_below(&random, 5);
    uint32_t blocks = 1 + rows * blocks_per_row;

    scene->seed = seed;
    scene->tokens_per_block = 1u << random_below(&random, 5);
    scene->extra_slots = random_below(&random, 4);
    scene->accepted_in_place = (int)random_below(&random, 2);
    scene->column_in_place = (int)random_below(&random, 2);
    scene->packed_arrays = (int)random_below(&random, 2);
    for (uint32_t i = 0; i < groups; i++) {
        scene_add_group(scene, 1 + random_below(&random, 9));
    }
    for (uint32_t i = 0; i < pools; i++) {
        uint32_t pool = scene_add_pool(scene, SCENE_BUFFER);
        scene->pools[pool].tail = random_below(&random, 2) ? 0 : 64;
    }
    for (uint32_t i = 0; i < states; i++) {
        random_state(scene, &random, random_below(&random, pools), blocks,
                     limit);
    }
    place_random_states(scene, &random);
    for (uint32_t i = 0; i < rows; i++) {
        random_row(scene, &random);
    }
    random_tables(scene, &random, blocks_per_row);
}
