/* The numbers of a scene, into the arrays of its stage. */

#include "stage_fill.h"

#include <string.h>

static int32_t *before_of(struct stage *stage, uint32_t place)
{
    const struct stage_place *at = &stage->places[place];
    return (int32_t *)(void *)(stage->images[at->image].before + at->offset);
}

/* What nobody names is stale, but to be carried. */
static void fill_stale(struct stage *stage)
{
    const size_t slots = scene_slot_count(stage->scene);

    for (size_t i = 0; i < slots; i++) {
        before_of(stage, STAGE_ACCEPTED_IN)[i] = (int32_t)(1000 + 7 * i);
        before_of(stage, STAGE_COLUMN_IN)[i] = (int32_t)(2000 + 3 * i);
    }
}

static void set_number(struct stage *stage, uint32_t place, int64_t index,
                       int32_t value)
{
    if (stage->places[place].size > 0) {
        before_of(stage, place)[index] = value;
    }
}

static int32_t now_of(const struct scene *scene, uint32_t row)
{
    const struct scene_row *from = &scene->rows[row];

    if (scene->extras[row].now_is_given) {
        return scene->extras[row].now;
    }
    return (int32_t)((uint32_t)from->computed + (uint32_t)from->scheduled -
                     (uint32_t)from->draft + (uint32_t)from->accepted - 1);
}

static void fill_row(struct stage *stage, uint32_t row)
{
    const struct scene *scene = stage->scene;
    const struct scene_row *from = &scene->rows[row];
    const struct scene_extra *extra = &scene->extras[row];
    const int spoilt = scene->now == SCENE_NOW_BESIDE;
    const int64_t slot = scene_slot(scene, row);

    set_number(stage, STAGE_SCHEDULED, row, spoilt ? -8 : from->scheduled);
    set_number(stage, STAGE_DRAFT, row, spoilt ? -9 : from->draft);
    set_number(stage, STAGE_SLOT_OF, row, extra->slot);
    if (slot < 0) {
        return;
    }
    set_number(stage, STAGE_COMPUTED, slot, spoilt ? -7 : from->computed);
    set_number(stage, STAGE_ACCEPTED_IN, slot, from->accepted);
    set_number(stage, STAGE_COLUMN_IN, slot, from->column);
    set_number(stage, STAGE_NOW, slot, now_of(scene, row));
    set_number(stage, STAGE_SOURCE, slot, extra->source);
    set_number(stage, STAGE_DESTINATION, slot, extra->destination);
    set_number(stage, STAGE_BIAS, slot, extra->bias);
}

/* Sums may wrap: a test of that says so. */
static void fill_starts(struct stage *stage)
{
    const struct scene *scene = stage->scene;
    int32_t *starts = before_of(stage, STAGE_STARTS);
    uint32_t sum = 5;

    for (uint32_t i = 0; i <= scene_max_rows(scene); i++) {
        starts[i] = scene->starts ? scene->starts[i] : (int32_t)sum;
        sum += i < scene->row_count ? (uint32_t)scene->rows[i].scheduled : 0;
    }
}

static void fill_table(struct stage *stage, uint32_t index)
{
    const struct scene *scene = stage->scene;
    const struct scene_group *group = &scene->groups[index];
    int32_t *table = before_of(stage, STAGE_TABLES + index);
    const size_t size = stage->places[STAGE_TABLES + index].size;

    if (!scene->tables_by_slot) {
        memcpy(table, group->entries, size);
        return;
    }
    for (size_t i = 0; i < size / sizeof(int32_t); i++) {
        table[i] = INT32_MIN + 5; /* rows of slots that nobody names */
    }
    for (uint32_t row = 0; row < scene->row_count; row++) {
        const int64_t slot = scene_slot(scene, row);
        if (slot >= 0) {
            memcpy(table + (size_t)slot * group->row_stride,
                   group->entries + (size_t)row * group->row_stride,
                   group->columns * sizeof(int32_t));
        }
    }
}

void stage_fill_arrays(struct stage *stage)
{
    const struct scene *scene = stage->scene;

    fill_stale(stage);
    for (uint32_t row = 0; row < scene->row_count; row++) {
        fill_row(stage, row);
    }
    if (scene->uses_starts) {
        fill_starts(stage);
    }
    for (uint32_t g = 0; g < scene->group_count; g++) {
        fill_table(stage, g);
    }
}
