/* Bad lists of blocks are refused, and nothing is written. */

#include "copying.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>
#include <string.h>

/* Two layouts of two groups, each group with a window and a temporal state: 6
 * blocks in `from`, 5 in `to`. Block 0 of group 1 is the null block. */
static struct copying *open_pair(struct test_device *device, int layouts)
{
    struct copying *copying = copying_new("test_copy_errors", "bad lists");
    struct scene *scene = &copying->scene;

    for (int side = 0; side < layouts; side++) {
        const uint32_t pool = scene_add_pool(scene, SCENE_BUFFER);
        const uint32_t blocks = side ? 5 : 6;
        for (uint32_t group = 0; group < 2; group++) {
            scene_add_conv(scene, pool, REF_CONV_SD, blocks, 4, 3, 2)->group =
                group;
            scene_add_temporal(scene, pool, blocks, 40)->group = group;
        }
    }
    scene_add_group(scene, 1);
    scene_add_group(scene, 1);
    scene->groups[1].null.has_null_block = 1;
    if (layouts == 1) {
        copying_open_one(copying, device, device->engine);
    } else {
        copying_open_two(copying, device, device->engine);
    }
    return copying;
}

static void expect(const struct copying *copying, clmove_status status,
                   clmove_status want, const char *first, const char *second)
{
    if (status != want) {
        print_error("%s in place of %s; messages:\n%s",
                    clmove_status_name(status), clmove_status_name(want),
                    copying->device->messages);
        fail();
    }
    if (first) {
        device_expect_message(copying->device, first);
        device_expect_message(copying->device, second);
    }
}

#define REFUSE(copying, want, first, second, ...)                              \
    expect(copying, copying_try(copying, COPIES(__VA_ARGS__)), want, first,    \
           second)

/* The sentence names both entries, whichever comes first. */
static void expect_clash(const struct copying *copying, clmove_status status,
                         size_t first, size_t second)
{
    char either[40], other[40];

    snprintf(either, sizeof(either), "entries %zu and %zu", first, second);
    snprintf(other, sizeof(other), "entries %zu and %zu", second, first);
    expect(copying, status, CLMOVE_OVERLAP, NULL, NULL);
    if (!strstr(copying->device->messages, other)) {
        device_expect_message(copying->device, either);
    }
}

#define CLASH(copying, first, second, ...)                                     \
    expect_clash(copying, copying_try(copying, COPIES(__VA_ARGS__)), first,    \
                 second)

#define ALLOW(copying, ...) copying_copy(copying, COPIES(__VA_ARGS__))

/* Within one layout: what one entry writes no other one writes or reads. */
static void test_conflicts(void **state)
{
    struct copying *copying = open_pair(*state, 1);

    CLASH(copying, 0, 2, {0, 0, 1, 1, 3}, {0, 0, 1, 1, 4}, {0, 0, 2, 2, 3});
    device_expect_message(copying->device, "block 3");
    CLASH(copying, 1, 2, {0, 0, 1, 1, 5}, {0, 0, 4, -1, 3}, {0, 0, 2, -1, 4});
    device_expect_message(copying->device, "block 4");
    CLASH(copying, 0, 1, {0, 0, -1, 2, 3}, {0, 0, -1, 1, 2});
    device_expect_message(copying->device, "block 2");
    /* a swap is a batch's, not a list's */
    CLASH(copying, 0, 1, {0, 0, 1, 1, 2}, {0, 0, 2, 2, 1});
    /* a shift in place whose block another entry reads */
    CLASH(copying, 0, 1, {0, 1, 1, 1, 1}, {0, 0, 1, 1, 2});
    /* among blocks of another group, in whose order it would not be found */
    CLASH(copying, 1, 2, {1, 0, 2, 2, 1}, {0, 0, 1, 1, 2}, {0, 0, 2, 2, 3});
    CLASH(copying, 0, 1, {0, 0, 1, 1, 3}, {0, 0, 3, 3, 4}, {1, 0, 3, 3, 1},
          {1, 0, 3, 3, 2});
    copying_compare(copying);

    /* Shared sources, shifts in place, equal ids of two groups are fine. */
    ALLOW(copying, {0, 1, 1, 1, 1}, {0, 0, 4, 4, 2}, {0, 0, 4, 4, 3},
          {1, 0, 1, 1, 2}, {1, 1, 3, 4, 3});
    copying_compare(copying);
    copying_close(copying);
}

/* Between two layouts ids mean different blocks: only double writes count. */
static void test_conflicts_between_layouts(void **state)
{
    struct copying *copying = open_pair(*state, 2);

    CLASH(copying, 0, 1, {1, 0, 1, 1, 3}, {1, 0, 2, 2, 3});
    device_expect_message(copying->device, "3");
    copying_compare(copying);
    ALLOW(copying, {0, 0, 1, 1, 2}, {0, 0, 2, 2, 1}, {0, 0, 3, 3, 3},
          {1, 0, 3, 3, 3});
    copying_compare(copying);
    copying_close(copying);
}

/* Groups whose states share a pool: 8 blocks of 64 bytes for groups 0 and 1,
 * the same bytes as 16 blocks of 32 for group 2; group 3 has its own. */
static struct copying *open_shared_pool(struct test_device *device)
{
    struct copying *copying = copying_new("test_shared_pool", "one pool");
    struct scene *scene = &copying->scene;

    for (uint32_t group = 0; group < 4; group++) {
        struct scene_state *state;
        scene_add_group(scene, 1);
        if (group % 3 == 0) {
            scene_add_pool(scene, SCENE_BUFFER);
        }
        state = group == 2 ? scene_add_temporal(scene, 0, 16, 32)
                           : scene_add_temporal(scene, group / 3, 8, 64);
        state->offset = 0;
        state->group = group;
    }
    copying_open_one(copying, device, device->engine);
    return copying;
}

static void test_shared_pool(void **state)
{
    struct copying *copying = open_shared_pool(*state);

    CLASH(copying, 0, 1, {0, 0, -1, 1, 3}, {1, 0, -1, 2, 3});
    device_expect_message(copying->device, "block 3");
    CLASH(copying, 0, 1, {0, 0, -1, 1, 3}, {1, 0, -1, 3, 4});
    copying_compare(copying);
    ALLOW(copying, {0, 0, -1, 1, 3}, {1, 0, -1, 1, 4}, {2, 0, -1, 0, 10});
    copying_compare(copying);
    copying_close(copying);
}

/* What counts is which bytes an entry writes: block 3 of 64 bytes is blocks 6
 * and 7 of 32. */
static void test_shared_pool_strides(void **state)
{
    struct copying *copying = open_shared_pool(*state);

    CLASH(copying, 0, 1, {0, 0, -1, 1, 3}, {2, 0, -1, 8, 6});
    CLASH(copying, 0, 1, {2, 0, -1, 7, 12}, {0, 0, -1, 1, 3});
    copying_compare(copying);
    /* neighbours are fine, and the same bytes of another pool are others */
    ALLOW(copying, {0, 0, -1, 1, 3}, {3, 0, -1, 3, 1}, {0, 0, -1, 1, 5},
          {3, 0, -1, 3, 5}, {0, 0, -1, 1, 0}, {0, 0, -1, 1, 2},
          {0, 0, -1, 7, 7});
    copying_compare(copying);
    copying_close(copying);
}

static void test_ranges(void **state)
{
    struct copying *copying = open_pair(*state, 2);
    const clmove_status range = CLMOVE_OUT_OF_RANGE;

    REFUSE(copying, range, "entry 1", "group is 2", {0, 0, 1, 1, 1},
           {2, 0, 1, 1, 2});
    REFUSE(copying, range, "conv_from", "6", {0, 0, 6, 1, 1});
    REFUSE(copying, range, "temporal_from", "6", {0, 0, 1, 6, 1});
    REFUSE(copying, range, "conv_from", "-2", {0, 0, -2, 1, 1});
    REFUSE(copying, range, "temporal_from", "-2147483648",
           {0, 0, 1, INT32_MIN, 1});
    REFUSE(copying, range, "to is 5", "4", {0, 0, 1, 1, 5});
    REFUSE(copying, range, "to is -1", "4", {0, 0, 1, 1, -1});
    REFUSE(copying, range, "to is 2147483647", "4", {0, 0, -1, 1, INT32_MAX});
    copying_compare(copying);
    ALLOW(copying, {0, 0, 5, 5, 4}, {1, 0, 5, 5, 4});
    copying_compare(copying);
    copying_close(copying);
}

/* A group whose window has more blocks than its temporal state, and one with
 * less still: an entry needs the blocks of what it copies. */
static void test_block_counts(void **state)
{
    struct copying *copying = copying_new("test_block_counts", "6, 4 and 2");
    const uint32_t pool = scene_add_pool(&copying->scene, SCENE_BUFFER);
    const clmove_status range = CLMOVE_OUT_OF_RANGE;
    const int32_t low = 1, high = 3;
    struct clmove_batch *batch = NULL;

    scene_add_group(&copying->scene, 1);
    scene_add_group(&copying->scene, 1);
    scene_add_temporal(&copying->scene, pool, 4, 40);
    scene_add_conv(&copying->scene, pool, REF_CONV_SD, 6, 4, 3, 2);
    scene_add_temporal(&copying->scene, pool, 2, 40)->group = 1;
    copying_open_one(copying, *state, ((struct test_device *)*state)->engine);
    REFUSE(copying, range, "to is 4", "states[0]", {0, 0, -1, 1, 4});
    REFUSE(copying, range, "to is 4", "states[0]", {0, 0, 1, 1, 4});
    REFUSE(copying, range, "temporal_from is 4", "states[0]", {0, 0, 1, 4, 2});
    REFUSE(copying, range, "conv_from is 6", "states[1]", {0, 0, 6, 1, 2});
    copying_compare(copying);
    ALLOW(copying, {0, 0, 1, -1, 5}, {0, 0, 4, 3, 2});
    copying_compare(copying);
    expect(copying,
           clmove_ssm_batch_create(copying->to, 0, &low, &high, 1, 0, &batch),
           CLMOVE_SUCCESS, NULL, NULL);
    clmove_batch_destroy(&batch);
    copying_close(copying);
}

/* The null block is "never touched", whatever names it. */
static void test_null_block(void **state)
{
    struct copying *copying = open_pair(*state, 2);
    const int32_t null = 0, good = 1;
    struct clmove_batch *batch = NULL;

    REFUSE(copying, CLMOVE_OUT_OF_RANGE, "null block", "group 1",
           {1, 0, 1, 1, 0});
    REFUSE(copying, CLMOVE_OUT_OF_RANGE, "null block", "conv_from",
           {1, 0, 0, 1, 1});
    REFUSE(copying, CLMOVE_OUT_OF_RANGE, "null block", "temporal_from",
           {1, 0, 1, 0, 1});
    device_clear_messages(copying->device);
    expect(copying,
           clmove_enqueue_ssm_zero(copying->to, 1, &null, 1,
                                   copying->device->queue, 0, NULL, NULL),
           CLMOVE_OUT_OF_RANGE, "null block", "0");
    expect(copying,
           clmove_ssm_batch_create(copying->to, 1, &null, &good, 1, 0, &batch),
           CLMOVE_OUT_OF_RANGE, "pair 0 is block 0 to 1", "null block");
    expect(copying,
           clmove_ssm_batch_create(copying->to, 1, &good, &null, 1, 0, &batch),
           CLMOVE_OUT_OF_RANGE, "pair 0 is block 1 to 0", "null block");
    copying_compare(copying);
    ALLOW(copying, {0, 0, 0, 0, 0});
    copying_compare(copying);
    copying_close(copying);
}

static void test_zero_ranges(void **state)
{
    static const int32_t blocks[] = {1, 2, 5, -1};
    struct copying *copying = open_pair(*state, 2);
    cl_command_queue queue = copying->device->queue;

    device_clear_messages(copying->device);
    expect(copying,
           clmove_enqueue_ssm_zero(copying->to, 2, blocks, 2, queue, 0, NULL,
                                   NULL),
           CLMOVE_OUT_OF_RANGE, "group", "2");
    expect(copying,
           clmove_enqueue_ssm_zero(copying->to, 0, blocks, 3, queue, 0, NULL,
                                   NULL),
           CLMOVE_OUT_OF_RANGE, "5", "2");
    expect(copying,
           clmove_enqueue_ssm_zero(copying->to, 0, blocks + 3, 1, queue, 0,
                                   NULL, NULL),
           CLMOVE_OUT_OF_RANGE, "-1", "0");
    copying_compare(copying);
    copying_zero(copying, 0, blocks, 0);
    copying_zero(copying, 1, blocks, 2);
    copying_compare(copying);
    copying_close(copying);
}

/* What is changed in `to`'s description, one state at a time. */
static void expect_mismatch(struct copying *copying, size_t index,
                            const struct clmove_ssm_state *changed,
                            const char *first, const char *second)
{
    struct clmove_ssm_layout_params params = copying->stage.layout_params;
    struct clmove_ssm_layout *kept = copying->to;
    struct clmove_ssm_state states[4];

    memcpy(states, params.states + 4, sizeof(states));
    states[index] = *changed;
    params.states = states;
    params.state_count = 4;
    assert_int_equal(clmove_ssm_layout_create(copying->device->engine, &params,
                                              &copying->to),
                     CLMOVE_SUCCESS);
    REFUSE(copying, CLMOVE_INVALID_ARGUMENT, first, second, {0, 0, 1, 1, 1});
    clmove_ssm_layout_destroy(&copying->to);
    copying->to = kept;
}

static void test_mismatch(void **state)
{
    struct copying *copying = open_pair(*state, 2);
    const struct clmove_ssm_state *conv = copying->stage.states + 4;
    const struct clmove_ssm_state *temporal = copying->stage.states + 5;
    struct clmove_ssm_state changed;

    changed = *temporal;
    changed.size = 39;
    expect_mismatch(copying, 1, &changed, "states[1]", "39");
    changed = *conv;
    changed.dim = 2;
    expect_mismatch(copying, 0, &changed, "states[0]", "2");
    changed = *conv;
    changed.element_size = 1;
    expect_mismatch(copying, 0, &changed, "states[0]", "1");
    changed = *conv;
    changed.group = 1;
    expect_mismatch(copying, 0, &changed, "states[0]", "group");
    changed = *temporal;
    changed.kind = CLMOVE_SSM_CONV_SD;
    changed.width = 4, changed.dim = 5, changed.element_size = 2;
    changed.size = 0;
    expect_mismatch(copying, 1, &changed, "states[1]", "temporal");
    copying_compare(copying);
    copying_close(copying);
}

/* Fewer states; more groups; layouts of another engine; layouts that share
 * bytes. */
static void test_pairs(void **state)
{
    struct test_device *device = *state;
    struct copying *copying = open_pair(device, 2);
    struct clmove_ssm_layout_params params = copying->stage.layout_params;
    struct clmove_engine *other = device_engine(device, 0, 0, NULL);
    struct clmove_ssm_layout *kept = copying->to;

    params.states += 4;
    params.state_count = 3;
    assert_int_equal(
        clmove_ssm_layout_create(device->engine, &params, &copying->to),
        CLMOVE_SUCCESS);
    REFUSE(copying, CLMOVE_INVALID_ARGUMENT, "4", "3", {0, 0, 1, 1, 1});
    clmove_ssm_layout_destroy(&copying->to);

    params.state_count = 4;
    params.group_count = 3; /* the last without a state */
    params.groups = NULL;
    assert_int_equal(
        clmove_ssm_layout_create(device->engine, &params, &copying->to),
        CLMOVE_SUCCESS);
    REFUSE(copying, CLMOVE_INVALID_ARGUMENT, "2 groups", "4 in 3",
           {2, 0, 1, 1, 1});
    clmove_ssm_layout_destroy(&copying->to);
    params.group_count = 2;
    params.groups = copying->stage.layout_params.groups;

    assert_int_equal(clmove_ssm_layout_create(other, &params, &copying->to),
                     CLMOVE_SUCCESS);
    REFUSE(copying, CLMOVE_INVALID_ARGUMENT, "engine", "", {0, 0, 1, 1, 1});
    clmove_ssm_layout_destroy(&copying->to);

    /* the same states as from's, in a layout of their own */
    params.states -= 4;
    assert_int_equal(
        clmove_ssm_layout_create(device->engine, &params, &copying->to),
        CLMOVE_SUCCESS);
    REFUSE(copying, CLMOVE_OVERLAP, "states[0]", "share", {0, 0, 1, 1, 2});
    clmove_ssm_layout_destroy(&copying->to);
    copying->to = kept;
    copying_compare(copying);
    clmove_engine_destroy(&other);
    copying_close(copying);
}

static void test_calls(void **state)
{
    struct test_device *device = *state;
    struct copying *copying = open_pair(device, 2);
    const struct clmove_ssm_copy copy = {0, 0, 1, 1, 1};
    cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, (cl_context_properties)device->info.platform, 0};
    cl_int error = CL_SUCCESS;
    cl_context context = clCreateContext(properties, 1, &device->info.device,
                                         NULL, NULL, &error);
    cl_command_queue queue =
        clCreateCommandQueue(context, device->info.device, 0, &error);
    const int32_t block = 1;

    assert_int_equal(error, CL_SUCCESS);
    device_clear_messages(device);
    expect(copying,
           clmove_enqueue_ssm_copy(copying->from, copying->to, &copy, 1, queue,
                                   0, NULL, NULL),
           CLMOVE_WRONG_QUEUE, NULL, NULL);
    expect(copying,
           clmove_enqueue_ssm_zero(copying->to, 0, &block, 1, queue, 0, NULL,
                                   NULL),
           CLMOVE_WRONG_QUEUE, NULL, NULL);
    expect(copying,
           clmove_enqueue_ssm_copy(NULL, copying->to, &copy, 1, device->queue,
                                   0, NULL, NULL),
           CLMOVE_INVALID_ARGUMENT, NULL, NULL);
    expect(copying,
           clmove_enqueue_ssm_copy(copying->from, NULL, &copy, 1, device->queue,
                                   0, NULL, NULL),
           CLMOVE_INVALID_ARGUMENT, NULL, NULL);
    expect(copying,
           clmove_enqueue_ssm_copy(copying->from, copying->to, NULL, 1,
                                   device->queue, 0, NULL, NULL),
           CLMOVE_INVALID_ARGUMENT, NULL, NULL);
    expect(copying,
           clmove_enqueue_ssm_zero(NULL, 0, &block, 1, device->queue, 0, NULL,
                                   NULL),
           CLMOVE_INVALID_ARGUMENT, NULL, NULL);
    expect(copying,
           clmove_enqueue_ssm_zero(copying->to, 0, NULL, 1, device->queue, 0,
                                   NULL, NULL),
           CLMOVE_INVALID_ARGUMENT, NULL, NULL);
    copying_copy(copying, &copy, 0);
    copying_compare(copying);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    copying_close(copying);
}

static void test_pack(void **state)
{
    struct copying *copying = open_pair(*state, 2);
    struct clmove_ssm_layout *packed = (struct clmove_ssm_layout *)copying;
    struct clmove_memory memory = copying->stage.states[4].memory;
    uint64_t size = 0;

    /* per group 24 bytes of window in 32, 40 of temporal state in 48 */
    assert_int_equal(clmove_ssm_layout_packed_size(copying->from, 3, &size),
                     CLMOVE_SUCCESS);
    assert_int_equal(size, 3 * 160);
    device_clear_messages(copying->device);
    memory.size = 400;
    expect(copying, clmove_ssm_layout_pack(copying->from, 3, &memory, &packed),
           CLMOVE_OUT_OF_RANGE, ".memory has", "3 blocks");
    assert_null(packed);
    expect(copying, clmove_ssm_layout_pack(copying->from, 0, &memory, &packed),
           CLMOVE_INVALID_ARGUMENT, "block_count", "0");
    expect(copying, clmove_ssm_layout_pack(copying->from, 1, NULL, &packed),
           CLMOVE_INVALID_ARGUMENT, "memory", "NULL");
    expect(copying, clmove_ssm_layout_pack(NULL, 1, &memory, &packed),
           CLMOVE_INVALID_ARGUMENT, NULL, NULL);
    expect(copying, clmove_ssm_layout_packed_size(copying->from, 1, NULL),
           CLMOVE_INVALID_ARGUMENT, NULL, NULL);
    copying_compare(copying);
    copying_close(copying);
}

/* However small the memory, no state may lie behind its end: what is left of it
 * for a state may be nothing, which is not all of the buffer. */
static void test_pack_in_part(void **state)
{
    enum { NEEDED = 32 + 48 + 32 + 40 }; /* the last state has no padding */
    struct copying *copying = open_pair(*state, 2);
    struct clmove_ssm_layout *packed = NULL;
    cl_int error = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(copying->device->context, CL_MEM_READ_WRITE,
                                   4096, NULL, &error);
    struct clmove_memory memory = {.buffer = buffer};

    assert_int_equal(error, CL_SUCCESS);
    for (memory.size = 1; memory.size < NEEDED; memory.size++) {
        expect(copying,
               clmove_ssm_layout_pack(copying->from, 1, &memory, &packed),
               CLMOVE_OUT_OF_RANGE, "memory has", "");
        assert_null(packed);
    }
    assert_int_equal(clmove_ssm_layout_pack(copying->from, 1, &memory, &packed),
                     CLMOVE_SUCCESS);
    clmove_ssm_layout_destroy(&packed);
    clReleaseMemObject(buffer);
    copying_close(copying);
}

/* Above 32 bits: a size that wraps would look small. */
static void test_large_packed_size(void **state)
{
    struct copying *copying = open_pair(*state, 2);
    uint64_t size = 7;

    assert_int_equal(
        clmove_ssm_layout_packed_size(copying->from, UINT32_MAX, &size),
        CLMOVE_SUCCESS);
    assert_true(size == UINT64_C(160) * UINT32_MAX);
    copying_close(copying);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_conflicts_between_layouts),
        cmocka_unit_test(test_shared_pool),
        cmocka_unit_test(test_shared_pool_strides),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_block_counts),
        cmocka_unit_test(test_null_block),
        cmocka_unit_test(test_zero_ranges),
        cmocka_unit_test(test_mismatch),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_pack),
        cmocka_unit_test(test_pack_in_part),
        cmocka_unit_test(test_large_packed_size),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
