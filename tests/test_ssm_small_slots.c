/* Slots, block lists, indices over tiny shapes, for a race detector. */

#include "copying.h"
#include "edit.h"
#include "runner.h"
#include "scenes.h"
#include "testing.h"

#include <stdio.h>

/* 3 items that share a tile, 3 groups that share the work. */
static struct clmove_engine *small_engine(struct test_device *device)
{
    return device_engine(device, 3, 3, NULL);
}

static void add_small_states(struct scene *scene, uint32_t rows)
{
    uint32_t pool = scene_add_pool(scene, SCENE_BUFFER);

    scene->pools[pool].tail = 0;
    scene_add_conv(scene, pool, REF_CONV_SD, 1 + 4 * rows, 4, 3, 1);
    scene_add_conv(scene, pool, REF_CONV_DS, 1 + 4 * rows, 4, 3, 1);
    scene_add_temporal(scene, pool, 1 + 4 * rows, 7);
    scene_add_group(scene, 4);
}

/* Every call, tables by row and by slot, results in place; a row without a
 * slot, one with a bad slot, two with one. */
static void test_slots(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = small_engine(device);

    for (int op = SCENE_PRE; op <= SCENE_INDICES; op++) {
        for (int by_slot = 0; by_slot < 2; by_slot++) {
            struct scene scene;
            scene_init(&scene, __func__, "operation %d, by slot %d", op,
                       by_slot);
            add_small_states(&scene, 6);
            for (uint32_t i = 0; i < 6; i++) {
                scene_add_row(&scene, op == SCENE_POST ? 13 : 16, 3, 1, 2,
                              op == SCENE_POST && i % 2);
                scene_set_copy(&scene, i, (int32_t)(i % 2), 1 - (int)(i % 2),
                               1);
            }
            scene_own_blocks(&scene, 1, 4);
            scene_set_entries(&scene, 0, 0, ENTRIES(1, 1, 2, 3));
            scene_use_v2(&scene, (enum scene_operation)op, (uint64_t)by_slot);
            if (op == SCENE_INDICES) {
                scene.slots_per_row = 2;
            }
            scene_set_slot(&scene, 2, -1);
            scene_set_slot(&scene, 3, 77);
            scene_set_slot(&scene, 4, scene.extras[5].slot);
            scene.accepted_in_place = scene.column_in_place = by_slot;
            scene_check(&scene, device, engine, (enum scene_operation)op);
            scene_clear(&scene);
        }
    }
    clmove_engine_destroy(&engine);
}

/* Slices of 32 rows, windows of 256 slots: the real text, made small. */
static void test_slices(void **state)
{
    static const struct text_edit edit = {
        "ssm_decide.cl", "#define SLOT_WINDOW (CLMOVE_SLICE_ROWS * 8)",
        "#undef CLMOVE_SLICE_ROWS\n#define CLMOVE_SLICE_ROWS 32\n"
        "#define SLOT_WINDOW (CLMOVE_SLICE_ROWS * 8)",
        1};
    struct test_device *device = *state;
    struct edited_folder folder;
    struct clmove_engine *engine;

    edited_folder_open(&folder, TEST_KERNEL_PATH, &edit, 1);
    engine = device_engine(device, 3, 2, folder.path);
    edited_folder_close(&folder);
    for (int op = SCENE_PRE; op <= SCENE_POST; op++) {
        struct scene scene;
        scene_init(&scene, __func__, "operation %d", op);
        add_small_states(&scene, 70);
        for (uint32_t i = 0; i < 70; i++) {
            scene_add_row(&scene, op == SCENE_POST ? 13 : 16, 3, 1, 2,
                          op == SCENE_POST && i % 2);
        }
        scene_own_blocks(&scene, 1, 4);
        scene.extra_slots = 600;
        scene_use_v2(&scene, (enum scene_operation)op, 1);
        scene_set_slot(&scene, 69, scene.extras[1].slot);
        scene_set_slot(&scene, 40, -1);
        scene_check(&scene, device, engine, (enum scene_operation)op);
        scene_clear(&scene);
    }
    clmove_engine_destroy(&engine);
}

static struct copying *new_copying(const char *test, int from_kind, int to_kind,
                                   uint32_t element, uint64_t offset)
{
    struct copying *copying;
    char detail[60];

    snprintf(detail, sizeof(detail), "kind %d to %d, element %u, offset %u",
             from_kind, to_kind, element, (unsigned)offset);
    copying = copying_new(test, detail);
    scene_add_group(&copying->scene, 1);
    for (uint32_t side = 0; side < (to_kind ? 2u : 1u); side++) {
        const uint32_t pool = scene_add_pool(&copying->scene, SCENE_BUFFER);
        const int kind = side ? to_kind : from_kind;
        struct scene_state *state = scene_add_conv(&copying->scene, pool, kind,
                                                   4, 5 - side, 3, element);
        copying->scene.pools[pool].lead = 0;
        copying->scene.pools[pool].tail = 0;
        state->offset = offset * (side + 1);
        if (kind == REF_CONV_DS && side) {
            state->row_stride = scene_row_stride(state) + element;
        }
        scene_add_temporal(&copying->scene, pool, 4, 19);
    }
    return copying;
}

/* SD and DS to each other; a shift within a block; a clear. */
static void test_lists(void **state)
{
    static const uint64_t offsets[] = {0, 1, 3};
    struct test_device *device = *state;
    struct clmove_engine *engine = small_engine(device);

    for (uint32_t kinds = 0; kinds < 4; kinds++) {
        for (uint32_t element = 1; element <= 8; element *= 2) {
            const int from = kinds & 1 ? REF_CONV_DS : REF_CONV_SD;
            const int to = kinds & 2 ? REF_CONV_DS : REF_CONV_SD;
            struct copying *copying =
                new_copying(__func__, from, to, element, offsets[element % 3]);
            copying_open_two(copying, device, engine);
            copying_copy(copying, COPIES({0, 1, 3, 3, 0}, {0, 0, 2, 1, 2}));
            copying_zero(copying, 0, (const int32_t[]){3, 1}, 2);
            copying_compare(copying);
            copying_close(copying);
        }
    }
    clmove_engine_destroy(&engine);
}

static void test_shifts(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = small_engine(device);

    for (int kind = REF_CONV_SD; kind <= REF_CONV_DS; kind++) {
        for (uint32_t element = 1; element <= 4; element *= 4) {
            struct copying *copying =
                new_copying(__func__, kind, 0, element, 1);
            copying->scene.states[0].width = 17;
            copying_open_one(copying, device, engine);
            copying_copy(copying, COPIES({0, 1, 1, 1, 1}, {0, 3, 2, 3, 2}));
            copying_compare(copying);
            copying_close(copying);
        }
    }
    clmove_engine_destroy(&engine);
}

/* A checkpoint, and more buffers than the smallest launch takes. */
static void test_packed(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = small_engine(device);
    struct copying *copying = copying_new(__func__, "5 buffers");

    scene_add_group(&copying->scene, 1);
    scene_add_group(&copying->scene, 1);
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t pool = scene_add_pool(&copying->scene, SCENE_BUFFER);
        if (i == 3) {
            scene_add_temporal(&copying->scene, pool, 3, 21)->group = 1;
        } else {
            scene_add_conv(&copying->scene, pool,
                           i % 2 ? REF_CONV_DS : REF_CONV_SD, 3, 4, 3, 2)
                ->group = i % 2;
        }
    }
    copying_add_packed(copying, 2, 0);
    copying_open_packed(copying, device, engine);
    copying_copy(copying, COPIES({0, 0, 1, 1, 0}, {1, 0, 2, 2, 1}));
    copying_turn(copying);
    copying_zero(copying, 1, (const int32_t[]){2}, 1);
    copying_copy(copying, COPIES({0, 0, 0, 0, 2}, {1, 0, 1, 1, 0}));
    copying_compare(copying);
    copying_close(copying);
    clmove_engine_destroy(&engine);
}

/* Always 8 slots: Oclgrind 21.10 takes what a kernel wrote as uninitialised
 * where a buffer follows a smaller one that was freed, and the scratch of
 * results in place has the slots' size. */
static void test_random_tiny(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = small_engine(device);

    for (uint64_t seed = 101; seed <= 120; seed++) {
        enum scene_operation op = seed % 2 ? SCENE_PRE : SCENE_POST;
        struct scene scene;
        scene_init(&scene, __func__, "seed %u", (unsigned)seed);
        scene_fill_random(&scene, seed, 8);
        scene.extra_slots = 8 - scene.row_count;
        scene_use_v2(&scene, op, seed / 2);
        scene.skip_temporal = seed % 5 == 0;
        scene_check(&scene, device, engine, op);
        scene_clear(&scene);
    }
    clmove_engine_destroy(&engine);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),  cmocka_unit_test(test_slices),
        cmocka_unit_test(test_lists),  cmocka_unit_test(test_shifts),
        cmocka_unit_test(test_packed), cmocka_unit_test(test_random_tiny),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
