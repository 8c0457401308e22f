/* Copies by block id between two layouts, beside the reference's. */

#include "copying.h"

#include "testing.h"

#include <stdlib.h>
#include <string.h>

struct copying *copying_new(const char *test, const char *detail)
{
    struct copying *copying = calloc(1, sizeof(*copying));

    assert_non_null(copying);
    scene_init(&copying->scene, test, "%s", detail);
    return copying;
}

static void expect_success(const struct copying *copying, const char *call,
                           clmove_status status)
{
    if (status != CLMOVE_SUCCESS) {
        print_error("test %s, case \"%s\": %s: %s\n%s", copying->scene.test,
                    copying->scene.detail, call, clmove_status_name(status),
                    copying->device->messages);
        fail();
    }
}

static struct clmove_ssm_layout *
make_layout(struct copying *copying, struct clmove_engine *engine, size_t first)
{
    struct clmove_ssm_layout_params params = copying->stage.layout_params;
    struct clmove_ssm_layout *layout = NULL;

    params.states += first;
    params.state_count = copying->state_count;
    expect_success(copying, "clmove_ssm_layout_create",
                   clmove_ssm_layout_create(engine, &params, &layout));
    return layout;
}

static void prepare(struct copying *copying, struct test_device *device,
                    size_t layouts)
{
    copying->device = device;
    device_clear_messages(device);
    stage_prepare(&copying->stage, device, &copying->scene);
    copying->state_count = copying->scene.state_count / layouts;
    copying->from_states = copying->stage.ref_states;
    copying->to_states =
        copying->stage.ref_states + (layouts - 1) * copying->state_count;
}

void copying_open_one(struct copying *copying, struct test_device *device,
                      struct clmove_engine *engine)
{
    prepare(copying, device, 1);
    copying->from = copying->to = make_layout(copying, engine, 0);
}

void copying_open_two(struct copying *copying, struct test_device *device,
                      struct clmove_engine *engine)
{
    prepare(copying, device, 2);
    copying->from = make_layout(copying, engine, 0);
    copying->to = make_layout(copying, engine, copying->state_count);
}

static uint64_t round_up(uint64_t value)
{
    return (value + 15) / 16 * 16;
}

static uint64_t packed_extent(const struct scene_state *state)
{
    return state->kind == REF_TEMPORAL
               ? state->size
               : (uint64_t)state->width * state->dim * state->element_size;
}

static uint64_t packed_block(const struct scene *scene, size_t count)
{
    uint64_t size = 0;

    for (size_t i = 0; i < count; i++) {
        size += round_up(packed_extent(&scene->states[i]));
    }
    return size;
}

void copying_add_packed(struct copying *copying, uint32_t block_count,
                        uint64_t offset)
{
    struct scene *scene = &copying->scene;
    const uint32_t count = scene->state_count;
    const uint32_t pool = scene_add_pool(scene, SCENE_BUFFER);
    const uint64_t stride = packed_block(scene, count);

    for (uint32_t i = 0; i < count; i++) {
        struct scene_state *state = &scene->states[count + i];
        assert_true(count + i < SCENE_MAX_STATES);
        *state = scene->states[i];
        state->pool = pool;
        state->row_stride = 0;
        state->block_count = block_count;
        state->block_stride = stride;
        state->offset = offset;
        offset += round_up(packed_extent(state));
        scene->state_count++;
    }
    scene->pools[pool].tail += 16; /* the last state's padding */
}

void copying_open_packed(struct copying *copying, struct test_device *device,
                         struct clmove_engine *engine)
{
    const struct clmove_ssm_state *first;
    struct clmove_memory memory;
    uint32_t blocks;
    uint64_t size = 0, one = 0;

    prepare(copying, device, 2);
    copying->from = make_layout(copying, engine, 0);
    first = &copying->stage.states[copying->state_count];
    blocks = first->block_count;
    expect_success(copying, "clmove_ssm_layout_packed_size",
                   clmove_ssm_layout_packed_size(copying->from, blocks, &size));
    expect_success(copying, "clmove_ssm_layout_packed_size",
                   clmove_ssm_layout_packed_size(copying->from, 1, &one));
    assert_int_equal(one, packed_block(&copying->scene, copying->state_count));
    assert_int_equal(size, one * blocks);
    memory = first->memory;
    memory.size = (size_t)size;
    expect_success(
        copying, "clmove_ssm_layout_pack",
        clmove_ssm_layout_pack(copying->from, blocks, &memory, &copying->to));
}

void copying_turn(struct copying *copying)
{
    struct clmove_ssm_layout *layout = copying->from;
    struct ref_state *states = copying->from_states;

    copying->from = copying->to;
    copying->to = layout;
    copying->from_states = copying->to_states;
    copying->to_states = states;
}

/* The list is overwritten as soon as the call is back: it must be copied. */
void copying_copy(struct copying *copying, const struct clmove_ssm_copy *copies,
                  size_t count)
{
    struct clmove_ssm_copy *list = calloc(count + 1, sizeof(*list));
    struct ref_block_copy *expected = calloc(count + 1, sizeof(*expected));
    cl_event event = NULL;
    clmove_status status;

    assert_non_null(list);
    assert_non_null(expected);
    for (size_t i = 0; i < count; i++) {
        list[i] = copies[i];
        expected[i].group = copies[i].group;
        expected[i].bias = copies[i].bias;
        expected[i].conv_from = copies[i].conv_from;
        expected[i].temporal_from = copies[i].temporal_from;
        expected[i].to = copies[i].to;
    }
    status = clmove_enqueue_ssm_copy(copying->from, copying->to, list, count,
                                     copying->device->queue, 0, NULL, &event);
    memset(list, 0, (count + 1) * sizeof(*list));
    expect_success(copying, "clmove_enqueue_ssm_copy", status);
    assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
    ref_copy_blocks(copying->from_states, copying->to_states,
                    copying->state_count, expected, count);
    free(list);
    free(expected);
}

void copying_zero(struct copying *copying, uint32_t group,
                  const int32_t *blocks, size_t count)
{
    int32_t *list = calloc(count + 1, sizeof(*list));
    cl_event event = NULL;
    clmove_status status;

    assert_non_null(list);
    memcpy(list, blocks, count * sizeof(*list));
    status = clmove_enqueue_ssm_zero(copying->to, group, list, count,
                                     copying->device->queue, 0, NULL, &event);
    memset(list, 0, (count + 1) * sizeof(*list));
    expect_success(copying, "clmove_enqueue_ssm_zero", status);
    assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
    ref_zero_blocks(copying->to_states, copying->state_count, group, blocks,
                    count);
    free(list);
}

void copying_compare(struct copying *copying)
{
    assert_true(stage_compare(&copying->stage, 0));
}

clmove_status copying_try(struct copying *copying,
                          const struct clmove_ssm_copy *copies, size_t count)
{
    cl_event event = (cl_event)copying;
    clmove_status status;

    device_clear_messages(copying->device);
    status = clmove_enqueue_ssm_copy(copying->from, copying->to, copies, count,
                                     copying->device->queue, 0, NULL, &event);
    assert_true(status == CLMOVE_SUCCESS || event == NULL ||
                event == (cl_event)copying);
    if (status == CLMOVE_SUCCESS && event) {
        clWaitForEvents(1, &event);
        clReleaseEvent(event);
    }
    return status;
}

void copying_close(struct copying *copying)
{
    clFinish(copying->device->queue);
    if (copying->to != copying->from) {
        clmove_ssm_layout_destroy(&copying->to);
    }
    clmove_ssm_layout_destroy(&copying->from);
    stage_close(&copying->stage);
    scene_clear(&copying->scene);
    free(copying);
}
