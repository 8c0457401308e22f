/* Puts a scene into memory: the device's and the reference's. */

#include "compare.h"
#include "stage.h"
#include "stage_fill.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Between arrays, and around them: poison that no result equals. */
enum { ARRAY_GUARD = 32, POISON = 0x5c };

static uint32_t add_image(struct stage *stage, const char *name, size_t size)
{
    struct stage_image *image = &stage->images[stage->image_count];

    snprintf(image->name, sizeof(image->name), "%s", name);
    image->size = size;
    image->before = malloc(size + 1);
    image->expected = malloc(size + 1);
    image->actual = malloc(size + 1);
    assert_non_null(image->before);
    assert_non_null(image->expected);
    assert_non_null(image->actual);
    memset(image->before, POISON, size);
    return stage->image_count++;
}

static void add_pools(struct stage *stage)
{
    struct scene *scene = stage->scene;

    for (uint32_t i = 0; i < scene->pool_count; i++) {
        const struct scene_pool *pool = &scene->pools[i];
        char name[32];
        size_t size = (size_t)scene_pool_size(scene, i);
        snprintf(name, sizeof(name), "pool %u", i);
        if (pool->kind == SCENE_SUB_BUFFER) {
            size = 0; /* its parent has the bytes */
        }
        add_image(stage, name, size);
        fill_pattern(stage->images[i].before, size, scene->seed + i);
    }
}

/* Which arrays the scene's step is given. */
static int is_used(const struct scene *scene, uint32_t place)
{
    const int alone = scene->now == SCENE_NOW_ALONE;

    switch (place) {
    case STAGE_COMPUTED:
    case STAGE_DRAFT:
        return !alone;
    case STAGE_SCHEDULED:
        return !alone && !scene->uses_starts;
    case STAGE_SLOT_OF:
        return scene->uses_slots;
    case STAGE_STARTS:
        return scene->uses_starts;
    case STAGE_NOW:
        return scene->now != SCENE_NOW_ABSENT;
    case STAGE_SOURCE:
    case STAGE_DESTINATION:
    case STAGE_BIAS:
        return scene->uses_copies;
    case STAGE_INDICES:
        return scene->slots_per_row > 0;
    default:
        return 1;
    }
}

static size_t place_size(const struct scene *scene, uint32_t place)
{
    const size_t rows = scene_max_rows(scene);
    const size_t slots = scene_slot_count(scene);

    if (!is_used(scene, place)) {
        return 0;
    }
    if (place >= STAGE_TABLES) {
        const struct scene_group *group = &scene->groups[place - STAGE_TABLES];
        const size_t count = scene->tables_by_slot ? slots : rows;
        /* The last row needs its columns only, not its padding. */
        return ((count - 1) * group->row_stride + group->columns) *
               sizeof(int32_t);
    }
    switch (place) {
    case STAGE_SCHEDULED:
    case STAGE_DRAFT:
    case STAGE_SLOT_OF:
        return rows * sizeof(int32_t);
    case STAGE_STARTS:
        return (rows + 1) * sizeof(int32_t);
    case STAGE_FAULTS:
        return rows * sizeof(struct ref_fault);
    case STAGE_INDICES:
        return (size_t)scene->group_count * scene->row_count *
               scene->slots_per_row * sizeof(int32_t);
    default:
        return slots * sizeof(int32_t);
    }
}

static int is_shared(const struct scene *scene, uint32_t place)
{
    return scene->packed_arrays ||
           (scene->shared_tables && place >= STAGE_TABLES);
}

/* Gives every array and table its place: in an allocation of its own, or
 * behind the others in one. */
static void add_arrays(struct stage *stage)
{
    static const char *const names[STAGE_ARRAYS] = {
        "computed",         "scheduled",    "draft",        "accepted_in",
        "accepted_out",     "column_in",    "column_out",   "faults",
        "slot_of",          "query_starts", "now_computed", "copy_source",
        "copy_destination", "copy_bias",    "indices"};
    struct scene *scene = stage->scene;
    uint32_t count = STAGE_TABLES + scene->group_count;
    uint32_t shared_image = UINT32_MAX;
    size_t shared_size = ARRAY_GUARD;

    for (uint32_t place = 0; place < count; place++) {
        if (is_shared(scene, place) && is_used(scene, place)) {
            stage->places[place].offset = shared_size;
            shared_size += place_size(scene, place) + ARRAY_GUARD;
        }
    }
    for (uint32_t place = 0; place < count; place++) {
        struct stage_place *target = &stage->places[place];
        char name[32];
        target->size = place_size(scene, place);
        if (!is_used(scene, place)) {
            continue;
        }
        if (is_shared(scene, place)) {
            if (shared_image == UINT32_MAX) {
                shared_image = add_image(stage, "arrays", shared_size);
            }
            target->image = shared_image;
            continue;
        }
        if (place < STAGE_TABLES) {
            snprintf(name, sizeof(name), "%s", names[place]);
        } else {
            snprintf(name, sizeof(name), "table %u", place - STAGE_TABLES);
        }
        target->offset = ARRAY_GUARD;
        target->image =
            add_image(stage, name, target->size + 2 * (size_t)ARRAY_GUARD);
    }
    if (scene->accepted_in_place) {
        stage->places[STAGE_ACCEPTED_OUT] = stage->places[STAGE_ACCEPTED_IN];
    }
    if (scene->column_in_place) {
        stage->places[STAGE_COLUMN_OUT] = stage->places[STAGE_COLUMN_IN];
    }
}

static int32_t *expected_of(struct stage *stage, uint32_t place)
{
    const struct stage_place *at = &stage->places[place];

    if (at->size == 0) {
        return NULL;
    }
    return (int32_t *)(void *)(stage->images[at->image].expected + at->offset);
}

static void create_svm(struct stage *stage, struct stage_image *image)
{
    assert_true(device_has_svm(stage->device));
    image->svm =
        clSVMAlloc(stage->device->context, CL_MEM_READ_WRITE, image->size, 0);
    assert_non_null(image->svm);
}

static void create_memory(struct stage *stage, uint32_t index)
{
    struct stage_image *image = &stage->images[index];
    const struct scene *scene = stage->scene;
    cl_int error = CL_SUCCESS;
    cl_mem_flags flags = CL_MEM_READ_WRITE;
    void *host = NULL;

    if (index < scene->pool_count) {
        const struct scene_pool *pool = &scene->pools[index];
        if (pool->kind == SCENE_SVM) {
            create_svm(stage, image);
            return;
        }
        if (pool->kind == SCENE_SUB_BUFFER) {
            return;
        }
        if (pool->kind == SCENE_HOST_POINTER) {
            image->host = malloc(image->size + 64);
            assert_non_null(image->host);
            host = image->host + (1 | ((uintptr_t)image->host & 1));
            flags |= CL_MEM_USE_HOST_PTR;
        }
    }
    image->buffer = clCreateBuffer(stage->device->context, flags, image->size,
                                   host, &error);
    assert_int_equal(error, CL_SUCCESS);
}

/* After all parents: a window may precede its parent in the list. */
static void create_sub_buffers(struct stage *stage)
{
    const struct scene *scene = stage->scene;

    for (uint32_t i = 0; i < scene->pool_count; i++) {
        const struct scene_pool *pool = &scene->pools[i];
        cl_buffer_region region;
        cl_int error = CL_SUCCESS;
        if (pool->kind != SCENE_SUB_BUFFER) {
            continue;
        }
        region.origin = (size_t)pool->origin;
        region.size = (size_t)scene_pool_size(scene, i);
        stage->images[i].buffer = clCreateSubBuffer(
            stage->images[pool->parent].buffer, CL_MEM_READ_WRITE,
            CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
        assert_int_equal(error, CL_SUCCESS);
    }
}

static struct clmove_memory memory_of(const struct stage_image *image,
                                      uint64_t offset, uint64_t size)
{
    struct clmove_memory memory = {0};

    memory.buffer = image->buffer;
    memory.pointer = image->svm;
    memory.offset = (size_t)offset;
    memory.size = (size_t)size;
    return memory;
}

static void describe_state(struct stage *stage, uint32_t index)
{
    const struct scene_state *from = &stage->scene->states[index];
    const struct scene_pool *pool = &stage->scene->pools[from->pool];
    struct clmove_ssm_state *to = &stage->states[index];
    struct ref_state *reference = &stage->ref_states[index];
    uint32_t root = from->pool;
    uint64_t offset = pool->lead + from->offset;
    uint64_t size = scene_state_extent(from);

    if (stage->scene->rest_of_memory && pool->kind != SCENE_SVM) {
        size = 0;
    }
    to->kind = (uint32_t)from->kind;
    to->group = from->group;
    to->block_count = from->block_count;
    to->width = from->width;
    to->dim = from->dim;
    to->element_size = from->element_size;
    to->block_stride = from->block_stride;
    to->row_stride = from->row_stride;
    to->size = from->size;
    to->memory = memory_of(&stage->images[root], offset, size);

    if (pool->kind == SCENE_SUB_BUFFER) {
        root = pool->parent;
        offset += pool->origin;
    }
    reference->kind = from->kind;
    reference->group = from->group;
    reference->memory = stage->images[root].expected + offset;
    reference->block_count = from->block_count;
    reference->block_stride = scene_block_stride(from);
    reference->row_stride = scene_row_stride(from);
    reference->size = from->size;
    reference->width = from->width;
    reference->dim = from->dim;
    reference->element_size = from->element_size;
}

static struct clmove_memory place_memory(struct stage *stage, uint32_t place)
{
    const struct stage_place *at = &stage->places[place];

    if (at->size == 0) {
        return (struct clmove_memory){0};
    }
    return memory_of(&stage->images[at->image], at->offset, at->size);
}

static void describe_groups(struct stage *stage)
{
    const struct scene *scene = stage->scene;

    for (uint32_t g = 0; g < scene->group_count; g++) {
        const struct scene_group *group = &scene->groups[g];
        stage->groups[g].has_null_block = (uint32_t)group->null.has_null_block;
        stage->groups[g].null_block = group->null.null_block;
        stage->ref_groups[g] = group->null;
        stage->tables[g].entries = place_memory(stage, STAGE_TABLES + g);
        stage->tables[g].columns = group->columns;
        stage->tables[g].row_stride = group->row_stride;
        stage->ref_tables[g].entries = expected_of(stage, STAGE_TABLES + g);
        stage->ref_tables[g].columns = group->columns;
        stage->ref_tables[g].row_stride = group->row_stride;
    }
    stage->layout_params.states = stage->states;
    stage->layout_params.state_count = scene->state_count;
    stage->layout_params.groups = stage->groups;
    stage->layout_params.group_count = scene->group_count;
}

static void describe_params(struct stage *stage)
{
    const struct scene *scene = stage->scene;
    struct clmove_ssm_step_params *params = &stage->step_params;

    params->flags = (scene->tables_by_slot ? CLMOVE_SSM_TABLES_BY_SLOT : 0u) |
                    (scene->keep_accepted ? CLMOVE_SSM_KEEP_ACCEPTED : 0u) |
                    (scene->skip_temporal ? CLMOVE_SSM_SKIP_TEMPORAL : 0u);
    params->tokens_per_block = scene->tokens_per_block;
    params->max_rows = scene->max_rows;
    params->slot_count = scene_slot_count(scene);
    params->tables = stage->tables;
    params->slot_of = place_memory(stage, STAGE_SLOT_OF);
    params->computed = place_memory(stage, STAGE_COMPUTED);
    params->scheduled = place_memory(stage, STAGE_SCHEDULED);
    params->query_starts = place_memory(stage, STAGE_STARTS);
    params->draft = place_memory(stage, STAGE_DRAFT);
    params->now_computed = place_memory(stage, STAGE_NOW);
    params->accepted_in = place_memory(stage, STAGE_ACCEPTED_IN);
    params->accepted_out = place_memory(stage, STAGE_ACCEPTED_OUT);
    params->column_in = place_memory(stage, STAGE_COLUMN_IN);
    params->column_out = place_memory(stage, STAGE_COLUMN_OUT);
    params->copy_source = place_memory(stage, STAGE_SOURCE);
    params->copy_destination = place_memory(stage, STAGE_DESTINATION);
    params->copy_bias = place_memory(stage, STAGE_BIAS);
    if (!scene->no_faults) {
        params->faults = place_memory(stage, STAGE_FAULTS);
    }
    stage->indices = place_memory(stage, STAGE_INDICES);
}

static void describe_reference(struct stage *stage)
{
    const struct scene *scene = stage->scene;
    struct ref_step *reference = &stage->reference;

    reference->states = stage->ref_states;
    reference->state_count = scene->state_count;
    reference->groups = stage->ref_groups;
    reference->tables = stage->ref_tables;
    reference->group_count = scene->group_count;
    reference->tokens_per_block = scene->tokens_per_block;
    reference->rows = scene->row_count;
    reference->slot_count = scene_slot_count(scene);
    reference->tables_by_slot = scene->tables_by_slot;
    reference->keep_accepted = scene->keep_accepted;
    reference->skip_temporal = scene->skip_temporal;
    reference->slot_of = expected_of(stage, STAGE_SLOT_OF);
    reference->computed = expected_of(stage, STAGE_COMPUTED);
    reference->scheduled = expected_of(stage, STAGE_SCHEDULED);
    reference->query_starts = expected_of(stage, STAGE_STARTS);
    reference->draft = expected_of(stage, STAGE_DRAFT);
    reference->now_computed = expected_of(stage, STAGE_NOW);
    reference->accepted_in = expected_of(stage, STAGE_ACCEPTED_IN);
    reference->accepted_out = expected_of(stage, STAGE_ACCEPTED_OUT);
    reference->column_in = expected_of(stage, STAGE_COLUMN_IN);
    reference->column_out = expected_of(stage, STAGE_COLUMN_OUT);
    reference->copy_source = expected_of(stage, STAGE_SOURCE);
    reference->copy_destination = expected_of(stage, STAGE_DESTINATION);
    reference->copy_bias = expected_of(stage, STAGE_BIAS);
    if (!scene->no_faults) {
        reference->faults =
            (struct ref_fault *)(void *)expected_of(stage, STAGE_FAULTS);
    }
}

void stage_prepare(struct stage *stage, struct test_device *device,
                   struct scene *scene)
{
    memset(stage, 0, sizeof(*stage));
    stage->scene = scene;
    stage->device = device;
    scene->max_rows = scene_max_rows(scene);
    scene_place_states(scene);
    add_pools(stage);
    add_arrays(stage);
    stage_fill_arrays(stage);
    for (uint32_t i = 0; i < stage->image_count; i++) {
        create_memory(stage, i);
    }
    create_sub_buffers(stage);
    for (uint32_t i = 0; i < scene->state_count; i++) {
        describe_state(stage, i);
    }
    describe_groups(stage);
    describe_params(stage);
    describe_reference(stage);
    stage_reset(stage);
}
