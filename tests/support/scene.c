/* The description of one state-copy call: states, tables, numbers. */

#include "scene.h"

#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

void scene_init(struct scene *scene, const char *test, const char *format, ...)
{
    va_list arguments;

    memset(scene, 0, sizeof(*scene));
    snprintf(scene->test, sizeof(scene->test), "%s", test);
    va_start(arguments, format);
    vsnprintf(scene->detail, sizeof(scene->detail), format, arguments);
    va_end(arguments);
    scene->seed = hash_text(hash_text(UINT64_C(0xcbf29ce484222325), test),
                            scene->detail) %
                  1000000007;
    scene->tokens_per_block = 16;
    scene->extra_slots = 3;
}

void scene_clear(struct scene *scene)
{
    for (uint32_t i = 0; i < scene->group_count; i++) {
        free(scene->groups[i].entries);
    }
    memset(scene, 0, sizeof(*scene));
}

uint32_t scene_add_pool(struct scene *scene, enum scene_pool_kind kind)
{
    struct scene_pool *pool = &scene->pools[scene->pool_count];

    assert_true(scene->pool_count < SCENE_MAX_POOLS);
    pool->kind = kind;
    pool->lead = kind == SCENE_SUB_BUFFER ? 0 : 64;
    pool->tail = 64;
    return scene->pool_count++;
}

uint32_t scene_add_group(struct scene *scene, uint32_t columns)
{
    struct scene_group *group = &scene->groups[scene->group_count];
    size_t count;

    assert_true(scene->group_count < SCENE_MAX_GROUPS);
    group->columns = columns;
    group->row_stride = columns + 3;
    count = (size_t)SCENE_MAX_ROWS * group->row_stride;
    group->entries = malloc(count * sizeof(int32_t));
    assert_non_null(group->entries);
    for (size_t i = 0; i < count; i++) {
        group->entries[i] = -1;
    }
    return scene->group_count++;
}

static struct scene_state *add_state(struct scene *scene, uint32_t pool)
{
    struct scene_state *state = &scene->states[scene->state_count];

    assert_true(scene->state_count < SCENE_MAX_STATES);
    scene->state_count++;
    state->pool = pool;
    state->offset = SCENE_NEXT;
    return state;
}

struct scene_state *scene_add_conv(struct scene *scene, uint32_t pool, int kind,
                                   uint32_t block_count, uint32_t width,
                                   uint32_t dim, uint32_t element_size)
{
    struct scene_state *state = add_state(scene, pool);

    state->kind = kind;
    state->block_count = block_count;
    state->width = width;
    state->dim = dim;
    state->element_size = element_size;
    return state;
}

struct scene_state *scene_add_temporal(struct scene *scene, uint32_t pool,
                                       uint32_t block_count, uint64_t size)
{
    struct scene_state *state = add_state(scene, pool);

    state->kind = REF_TEMPORAL;
    state->block_count = block_count;
    state->size = size;
    return state;
}

uint32_t scene_add_row(struct scene *scene, int32_t computed, int32_t scheduled,
                       int32_t draft, int32_t accepted, int32_t column)
{
    struct scene_row *row = &scene->rows[scene->row_count];

    assert_true(scene->row_count < SCENE_MAX_ROWS);
    row->computed = computed;
    row->scheduled = scheduled;
    row->draft = draft;
    row->accepted = accepted;
    row->column = column;
    scene->extras[scene->row_count].slot = (int32_t)scene->row_count;
    return scene->row_count++;
}

void scene_set_entries(struct scene *scene, uint32_t group, uint32_t row,
                       const int32_t *entries, size_t count)
{
    struct scene_group *target = &scene->groups[group];

    assert_true(group < scene->group_count && row < SCENE_MAX_ROWS);
    assert_true(count <= target->row_stride);
    memcpy(target->entries + (size_t)row * target->row_stride, entries,
           count * sizeof(int32_t));
}

void scene_own_blocks(struct scene *scene, uint32_t first, uint32_t count)
{
    for (uint32_t g = 0; g < scene->group_count; g++) {
        struct scene_group *group = &scene->groups[g];
        assert_true(count <= group->row_stride);
        for (uint32_t row = 0; row < scene->row_count; row++) {
            for (uint32_t i = 0; i < count; i++) {
                group->entries[(size_t)row * group->row_stride + i] =
                    (int32_t)(first + row * count + i);
            }
        }
    }
}

void scene_set_slot(struct scene *scene, uint32_t row, int32_t slot)
{
    assert_true(row < scene->row_count);
    scene->uses_slots = 1;
    scene->extras[row].slot = slot;
}

void scene_set_copy(struct scene *scene, uint32_t row, int32_t source,
                    int32_t destination, int32_t bias)
{
    assert_true(row < scene->row_count);
    scene->uses_copies = 1;
    scene->extras[row].source = source;
    scene->extras[row].destination = destination;
    scene->extras[row].bias = bias;
}

uint32_t scene_max_rows(const struct scene *scene)
{
    if (scene->max_rows) {
        return scene->max_rows;
    }
    return scene->row_count ? scene->row_count : 1;
}

uint32_t scene_slot_count(const struct scene *scene)
{
    return scene_max_rows(scene) + scene->extra_slots;
}

int64_t scene_slot(const struct scene *scene, uint32_t row)
{
    int64_t slot = scene->uses_slots ? scene->extras[row].slot : (int64_t)row;
    return slot >= 0 && slot < (int64_t)scene_slot_count(scene) ? slot : -1;
}

uint64_t scene_row_stride(const struct scene_state *state)
{
    return state->row_stride ? state->row_stride
                             : (uint64_t)state->width * state->element_size;
}

uint64_t scene_block_extent(const struct scene_state *state)
{
    if (state->kind == REF_TEMPORAL) {
        return state->size;
    }
    if (state->kind == REF_CONV_SD) {
        return (uint64_t)state->width * state->dim * state->element_size;
    }
    return (state->dim - 1) * scene_row_stride(state) +
           (uint64_t)state->width * state->element_size;
}

uint64_t scene_block_stride(const struct scene_state *state)
{
    return state->block_stride ? state->block_stride
                               : scene_block_extent(state);
}

uint64_t scene_state_extent(const struct scene_state *state)
{
    return (state->block_count - 1) * scene_block_stride(state) +
           scene_block_extent(state);
}

void scene_place_states(struct scene *scene)
{
    uint64_t ends[SCENE_MAX_POOLS] = {0};

    for (uint32_t i = 0; i < scene->state_count; i++) {
        struct scene_state *state = &scene->states[i];
        uint64_t *end = &ends[state->pool];
        if (state->offset == SCENE_NEXT) {
            state->offset = (*end + 15) / 16 * 16;
        }
        if (state->offset + scene_state_extent(state) > *end) {
            *end = state->offset + scene_state_extent(state);
        }
    }
}

uint64_t scene_pool_size(const struct scene *scene, uint32_t pool)
{
    uint64_t size = scene->pools[pool].lead;

    for (uint32_t i = 0; i < scene->state_count; i++) {
        const struct scene_state *state = &scene->states[i];
        uint64_t end =
            scene->pools[pool].lead + state->offset + scene_state_extent(state);
        if (state->pool == pool && end > size) {
            size = end;
        }
    }
    for (uint32_t i = 0; i < scene->pool_count; i++) {
        const struct scene_pool *child = &scene->pools[i];
        if (child->kind == SCENE_SUB_BUFFER && child->parent == pool &&
            i != pool) {
            uint64_t end = child->origin + scene_pool_size(scene, i);
            size = end > size ? end : size;
        }
    }
    return size + scene->pools[pool].tail;
}
