/* Copies by block id: between layouts, within one, of every shape. */

#include "compare.h"
#include "copying.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>
#include <string.h>

/* One side of a copy. */
struct flavour {
    int kind;
    uint32_t width, row_gap, block_gap, blocks;
};

/* Two groups, each with a window and a temporal state, in one pool. */
static void add_flavour(struct scene *scene, const struct flavour *of)
{
    static const uint32_t dims[] = {6, 5}, elements[] = {2, 4};
    const uint32_t pool = scene_add_pool(scene, SCENE_BUFFER);

    for (uint32_t group = 0; group < 2; group++) {
        struct scene_state *state =
            scene_add_conv(scene, pool, of->kind, of->blocks, of->width,
                           dims[group], elements[group]);
        state->group = group;
        if (of->kind == REF_CONV_DS) {
            state->row_stride = scene_row_stride(state) + of->row_gap;
        }
        state->block_stride = scene_block_extent(state) + of->block_gap;
        state = scene_add_temporal(scene, pool, of->blocks, 33 + 16 * group);
        state->group = group;
        state->block_stride = state->size + of->block_gap;
    }
}

static struct copying *new_pair(const char *test, const char *detail,
                                const struct flavour *from,
                                const struct flavour *to)
{
    struct copying *copying = copying_new(test, detail);

    scene_add_group(&copying->scene, 1);
    scene_add_group(&copying->scene, 1);
    add_flavour(&copying->scene, from);
    if (to) {
        add_flavour(&copying->scene, to);
    }
    return copying;
}

static void check_pair(struct test_device *device, const struct flavour *from,
                       const struct flavour *to, uint32_t bias)
{
    struct copying *copying;
    char detail[120];

    snprintf(detail, sizeof(detail),
             "kind %d, width %u, gaps %u %u to kind %d, width %u, gaps %u %u, "
             "bias %u",
             from->kind, from->width, from->row_gap, from->block_gap, to->kind,
             to->width, to->row_gap, to->block_gap, bias);
    if (!runner_wants_case(detail)) {
        return;
    }
    copying = new_pair("test_layouts", detail, from, to);
    copying_open_two(copying, device, device->engine);
    copying_copy(copying, COPIES({0, bias, 3, 5, 0}, {1, bias, 0, 0, 0},
                                 {0, 0, 1, -1, 3}, {1, bias, -1, 2, 4},
                                 {0, bias, 3, 5, 2}, {1, 1, -1, -1, 1}));
    copying_compare(copying);
    copying_close(copying);
}

/* Every pair of SD and DS, windows of all relations, gaps on either side. */
static void test_layouts(void **state)
{
    static const uint32_t widths[][2] = {{5, 5}, {3, 5},  {9, 3},
                                         {1, 4}, {20, 5}, {5, 20}};
    static const uint32_t biases[] = {0, 1, 2, 4, 5, 19, 4000000000};

    for (uint32_t kinds = 0; kinds < 4; kinds++) {
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 7; j++) {
                const uint32_t gap = (uint32_t)(i + j) % 4;
                const struct flavour from = {
                    kinds & 1 ? REF_CONV_DS : REF_CONV_SD, widths[i][0],
                    gap == 1 ? 3 : 0, gap & 1 ? 7 : 0, 6};
                const struct flavour to = {
                    kinds & 2 ? REF_CONV_DS : REF_CONV_SD, widths[i][1],
                    gap == 2 ? 6 : 0, gap & 2 ? 5 : 16, 5};
                check_pair(*state, &from, &to, biases[j]);
            }
        }
    }
}

/* Copy on write of a prefix: one source, several destinations, one layout. */
static void test_fork(void **state)
{
    struct test_device *device = *state;

    for (int kind = REF_CONV_SD; kind <= REF_CONV_DS; kind++) {
        const struct flavour flavour = {kind, 5, 0, 0, 12};
        struct copying *copying = new_pair(
            __func__, kind == REF_CONV_SD ? "SD" : "DS", &flavour, NULL);
        copying_open_one(copying, device, device->engine);
        copying_copy(copying,
                     COPIES({0, 0, 4, 4, 0}, {0, 0, 4, 4, 11}, {0, 0, 4, 4, 3},
                            {1, 0, 4, 4, 5}, {1, 2, 0, 1, 4 + 2}));
        copying_compare(copying);
        copying_close(copying);
    }
}

/* A window shifted within its own block, alone and with the temporal state from
 * elsewhere; windows longer than any piece that is held at once. */
static void test_self_shift(void **state)
{
    static const uint32_t widths[] = {2, 5, 8, 9, 17, 40};
    struct test_device *device = *state;

    for (int kind = REF_CONV_SD; kind <= REF_CONV_DS; kind++) {
        for (int i = 0; i < 6; i++) {
            const struct flavour flavour = {kind, widths[i], 0, 3, 9};
            struct copying *copying;
            char detail[60];
            snprintf(detail, sizeof(detail), "kind %d, width %u", kind,
                     widths[i]);
            copying = new_pair(__func__, detail, &flavour, NULL);
            copying_open_one(copying, device, device->engine);
            copying_copy(copying,
                         COPIES({0, 1, 2, 2, 2}, {1, 1, 2, 2, 2},
                                {0, 2, 4, 5, 4}, {0, 0, 6, 6, 6},
                                {1, widths[i] - 1, 8, -1, 8},
                                {1, widths[i], 7, -1, 7}, {0, 1, 0, 1, 1}));
            copying_compare(copying);
            copying_close(copying);
        }
    }
}

/* The state after the accepted step, out of a side buffer: temporal states
 * [request][step], windows out of a row of taps - 1 + steps tokens. */
static void test_selection(void **state)
{
    enum { REQUESTS = 5, STEPS = 4, TAPS = 4 };
    static const uint32_t accepted[REQUESTS] = {1, 4, 2, 3, 1};
    struct test_device *device = *state;
    struct copying *copying = copying_new(__func__, "5 requests, 4 steps");
    struct scene *scene = &copying->scene;
    struct clmove_ssm_copy copies[REQUESTS];
    uint32_t side = scene_add_pool(scene, SCENE_BUFFER);
    uint32_t pool = scene_add_pool(scene, SCENE_BUFFER);

    scene_add_group(scene, 1);
    scene_add_conv(scene, side, REF_CONV_SD, REQUESTS, TAPS - 1 + STEPS, 12, 2);
    scene_add_temporal(scene, side, REQUESTS * STEPS, 200);
    scene_add_temporal(scene, side, REQUESTS * STEPS, 120);
    scene_add_conv(scene, pool, REF_CONV_DS, 20, TAPS - 1, 12, 2);
    scene_add_temporal(scene, pool, 20, 200)->block_stride = 256;
    scene_add_temporal(scene, pool, 20, 120);
    copying_open_two(copying, device, device->engine);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const uint32_t step = accepted[i] - 1;
        copies[i] = (struct clmove_ssm_copy){0, step, (int32_t)i,
                                             (int32_t)(i * STEPS + step),
                                             (int32_t)(19 - 3 * i)};
    }
    copying_copy(copying, copies, REQUESTS);
    copying_compare(copying);
    copying_close(copying);
}

/* Save to a packed checkpoint, clear, restore: through another order of blocks,
 * back to where they were, then to other blocks. */
static void check_checkpoint(struct test_device *device, int kind,
                             uint64_t offset)
{
    const struct flavour flavour = {kind, 4, kind == REF_CONV_DS ? 6u : 0u, 11,
                                    9};
    struct copying *copying;
    char detail[60];

    snprintf(detail, sizeof(detail), "kind %d, offset %u", kind,
             (unsigned)offset);
    copying = new_pair("test_checkpoint", detail, &flavour, NULL);
    copying_add_packed(copying, 6, offset);
    copying_open_packed(copying, device, device->engine);
    copying_copy(copying, COPIES({0, 0, 8, 8, 1}, {1, 0, 8, 8, 1},
                                 {0, 0, 2, 2, 4}, {1, 0, 5, 3, 0}));
    copying_compare(copying);
    copying_turn(copying);
    copying_zero(copying, 0, (const int32_t[]){2, 8}, 2);
    copying_zero(copying, 1, (const int32_t[]){8, 5, 3}, 3);
    copying_compare(copying);
    /* the window of block 5 and the temporal state of block 3 */
    copying_copy(copying,
                 COPIES({0, 0, 1, 1, 8}, {1, 0, 1, 1, 8}, {0, 0, 4, 4, 2},
                        {1, 0, 0, -1, 5}, {1, 0, -1, 0, 3}));
    copying_compare(copying);
    copying_copy(copying, COPIES({0, 0, 1, 4, 0}, {1, 0, 0, 1, 7}));
    copying_compare(copying);
    copying_close(copying);
}

static void test_checkpoint(void **state)
{
    static const uint64_t offsets[] = {0, 16, 1, 8};

    for (int i = 0; i < 4; i++) {
        check_checkpoint(*state, REF_CONV_SD, offsets[i]);
        check_checkpoint(*state, REF_CONV_DS, offsets[i]);
    }
}

/* There and back gives the very bytes: the pool after is the pool before. */
static void test_round_trip(void **state)
{
    struct test_device *device = *state;
    const struct flavour flavour = {REF_CONV_DS, 6, 5, 9, 4};
    struct copying *copying = new_pair(__func__, "4 blocks", &flavour, NULL);
    const struct stage_image *image = &copying->stage.images[0];
    const int32_t blocks[] = {0, 1, 2, 3};

    copying_add_packed(copying, 4, 0);
    copying_open_packed(copying, device, device->engine);
    for (uint32_t group = 0; group < 2; group++) {
        copying_copy(copying, COPIES({group, 0, 0, 0, 3}, {group, 0, 1, 1, 1},
                                     {group, 0, 2, 2, 0}, {group, 0, 3, 3, 2}));
    }
    copying_turn(copying);
    copying_zero(copying, 0, blocks, 4);
    copying_zero(copying, 1, blocks, 4);
    copying_compare(copying);
    assert_memory_not_equal(image->actual, image->before, image->size);
    for (uint32_t group = 0; group < 2; group++) {
        copying_copy(copying, COPIES({group, 0, 3, 3, 0}, {group, 0, 1, 1, 1},
                                     {group, 0, 0, 0, 2}, {group, 0, 2, 2, 3}));
    }
    copying_compare(copying);
    assert_memory_equal(image->actual, image->before, image->size);
    copying_close(copying);
}

/* One buffer per state on both sides: every number of banks, several
 * launches. */
static void test_many_buffers(void **state)
{
    static const uint32_t counts[] = {1, 2, 8, 9, 17, 33, 64};
    struct test_device *device = *state;

    for (int i = 0; i < 7; i++) {
        struct copying *copying;
        char detail[40];
        snprintf(detail, sizeof(detail), "%u states", counts[i]);
        copying = copying_new(__func__, detail);
        scene_add_group(&copying->scene, 1);
        scene_add_group(&copying->scene, 1);
        for (uint32_t j = 0; j < 2 * counts[i]; j++) {
            const uint32_t index = j % counts[i];
            uint32_t pool = scene_add_pool(&copying->scene, SCENE_BUFFER);
            struct scene_state *added;
            if (index % 3 == 2) {
                added = scene_add_temporal(&copying->scene, pool, 5, 41);
            } else {
                added = scene_add_conv(
                    &copying->scene, pool,
                    (index + (j >= counts[i])) % 2 ? REF_CONV_SD : REF_CONV_DS,
                    5, 4, 3, 2);
            }
            added->group = index % 2;
        }
        copying_open_two(copying, device, device->engine);
        copying_copy(copying,
                     COPIES({0, 1, 0, 0, 4}, {1, 0, 2, 3, 1}, {1, 2, 4, 4, 2}));
        copying_turn(copying);
        copying_copy(copying, COPIES({1, 1, 1, 1, 0}, {0, 0, 4, 2, 3}));
        copying_zero(copying, 1, (const int32_t[]){4}, 1);
        copying_compare(copying);
        copying_close(copying);
    }
}

/* States of several tiles, at places and sizes that nothing divides. */
static void test_large_states(void **state)
{
    struct test_device *device = *state;

    for (uint32_t mask = 0; mask < 8; mask++) {
        const uint32_t element = 1u << mask % 4;
        struct copying *copying;
        char detail[40];
        snprintf(detail, sizeof(detail), "mask %u", mask);
        copying = copying_new(__func__, detail);
        scene_add_group(&copying->scene, 1);
        for (uint32_t side = 0; side < 2; side++) {
            uint32_t pool = scene_add_pool(&copying->scene, SCENE_BUFFER);
            const int ds = (int)(mask >> 2 ^ side);
            copying->scene.pools[pool].tail = 0;
            scene_add_conv(&copying->scene, pool,
                           ds ? REF_CONV_DS : REF_CONV_SD, 3, 5 - side, 4099,
                           element)
                ->offset = 3 * side;
            scene_add_temporal(&copying->scene, pool, 3, 70001);
        }
        copying_open_two(copying, device, device->engine);
        copying_copy(copying, COPIES({0, 1, 0, 2, 0}, {0, 0, 1, 0, 2}));
        copying_zero(copying, 0, (const int32_t[]){1, 2, 1}, 3);
        copying_compare(copying);
        copying_close(copying);
    }
}

/* SVM on one side, and pools that several groups share. */
static void test_other_memory(void **state)
{
    struct test_device *device = *state;
    const struct flavour flavour = {REF_CONV_SD, 5, 0, 0, 6};
    struct copying *copying;

    if (!device_has_svm(device)) {
        runner_skip("no SVM on this device");
        return;
    }
    copying = new_pair(__func__, "SVM to buffer", &flavour, &flavour);
    copying->scene.pools[0].kind = SCENE_SVM;
    copying_open_two(copying, device, device->engine);
    copying_copy(copying, COPIES({0, 1, 0, 0, 5}, {1, 2, 4, 3, 0}));
    copying_turn(copying);
    copying_copy(copying, COPIES({0, 1, 5, 5, 0}, {1, 2, 0, 0, 1}));
    copying_zero(copying, 0, (const int32_t[]){5, 4}, 2);
    copying_compare(copying);
    copying_close(copying);
}

/* Random pairs of layouts, random lists that keep the rule. */
static void add_random_side(struct scene *scene, uint64_t *random,
                            uint32_t blocks, uint32_t first)
{
    const uint32_t pool = scene_add_pool(scene, SCENE_BUFFER);
    uint64_t end = random_below(random, 8);

    for (uint32_t i = 0; i < (first ? first : 4); i++) {
        const struct scene_state *like = &scene->states[i];
        struct scene_state *state;
        if (first ? like->kind == REF_TEMPORAL : random_below(random, 3) == 0) {
            state = scene_add_temporal(scene, pool, blocks,
                                       first ? like->size
                                             : 1 + random_below(random, 150));
        } else {
            state = scene_add_conv(
                scene, pool,
                random_below(random, 2) ? REF_CONV_SD : REF_CONV_DS, blocks,
                1 + random_below(random, 9),
                first ? like->dim : 1 + random_below(random, 20),
                first ? like->element_size : 1u << random_below(random, 4));
        }
        state->group = first ? like->group : random_below(random, 2);
        if (state->kind == REF_CONV_DS) {
            state->row_stride =
                scene_row_stride(state) + random_below(random, 6);
        }
        state->block_stride =
            scene_block_extent(state) + random_below(random, 20);
        state->offset = end;
        end += scene_state_extent(state) + random_below(random, 5);
    }
}

static size_t random_list(uint64_t *random, uint32_t from_blocks,
                          uint32_t to_blocks, struct clmove_ssm_copy *copies)
{
    size_t count = 0;

    for (uint32_t group = 0; group < 2; group++) {
        for (uint32_t to = 0; to < to_blocks; to++) {
            if (random_below(random, 3) == 0) {
                continue;
            }
            copies[count++] = (struct clmove_ssm_copy){
                group, random_below(random, 4),
                (int32_t)random_below(random, from_blocks + 1) - 1,
                (int32_t)random_below(random, from_blocks + 1) - 1,
                (int32_t)to};
        }
    }
    for (size_t i = 0; i < count; i++) {
        const size_t other = random_below(random, (uint32_t)count);
        const struct clmove_ssm_copy kept = copies[i];
        copies[i] = copies[other];
        copies[other] = kept;
    }
    return count;
}

static void test_random(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = device_engine(device, 5, 3, NULL);

    for (uint32_t seed = 1; seed <= 150; seed++) {
        const uint32_t from_blocks = 1 + seed % 7, to_blocks = 1 + seed % 5;
        struct clmove_ssm_copy copies[20];
        struct copying *copying;
        uint64_t random = seed;
        char detail[40];
        snprintf(detail, sizeof(detail), "seed %u", seed);
        if (!runner_wants_case(detail)) {
            continue;
        }
        copying = copying_new(__func__, detail);
        scene_add_group(&copying->scene, 1);
        scene_add_group(&copying->scene, 1);
        add_random_side(&copying->scene, &random, from_blocks, 0);
        add_random_side(&copying->scene, &random, to_blocks, 4);
        copying_open_two(copying, device, seed % 2 ? device->engine : engine);
        for (int run = 0; run < 2; run++) {
            const size_t count =
                random_list(&random, run ? to_blocks : from_blocks,
                            run ? from_blocks : to_blocks, copies);
            copying_copy(copying, copies, count);
            copying_turn(copying);
        }
        copying_compare(copying);
        copying_close(copying);
    }
    clmove_engine_destroy(&engine);
}

/* Many calls in flight, each with a list of its own that is gone at once. */
static void test_in_flight(void **state)
{
    enum { CALLS = 60 };
    struct test_device *device = *state;
    const struct flavour flavour = {REF_CONV_DS, 5, 0, 0, 8};
    struct copying *copying = new_pair(__func__, "60 calls", &flavour, NULL);
    clmove_status status;

    copying_open_one(copying, device, device->engine);
    for (int i = 0; i < CALLS; i++) {
        const int32_t from = i % 8, to = (3 * i + 1) % 8;
        struct clmove_ssm_copy copy = {(uint32_t)i % 2, (uint32_t)i % 3, from,
                                       from, to};
        const struct ref_block_copy expected = {copy.group, copy.bias, from,
                                                from, to};
        status = clmove_enqueue_ssm_copy(copying->from, copying->to, &copy, 1,
                                         device->queue, 0, NULL, NULL);
        memset(&copy, 0, sizeof(copy));
        assert_int_equal(status, CLMOVE_SUCCESS);
        ref_copy_blocks(copying->from_states, copying->to_states,
                        copying->state_count, &expected, 1);
    }
    assert_int_equal(clFinish(device->queue), CL_SUCCESS);
    copying_compare(copying);
    copying_close(copying);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_self_shift),
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_checkpoint),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_many_buffers),
        cmocka_unit_test(test_large_states),
        cmocka_unit_test(test_other_memory),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_in_flight),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
