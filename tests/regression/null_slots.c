/* Padding rows and null blocks that a clamp made real: tokenspeed PR 700. */

/* Source: lightseekorg/tokenspeed PR 700; vllm-project/vllm PR 39064. Padding
 * rows carried -1, a clamp turned it into slot 0, which was a live request's;
 * elsewhere block 0 was the null block, and kernels wrote to it. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

#include <string.h>

enum { SIZE = 64, SLOTS = 6, LEAD = 64 };

static const int32_t map[5] = {-1, 2, -1, 0, 5};

/* Slot s has the blocks 2 s and 2 s + 1, so that slot 0 has block 0, all of it
 * 0xa5. With a null block 0 the row that names slot 0 is at fault. */
static void check_map(struct test_device *device, int has_null, int by_slot)
{
    struct stage *stage = test_malloc(sizeof(*stage));
    const struct stage_image *image = &stage->images[0];
    unsigned char slot_0[2 * SIZE];
    struct scene scene;

    scene_init(&scene, "test_map", "null block %d, by slot %d", has_null,
               by_slot);
    scene_add_pool(&scene, SCENE_BUFFER);
    scene_add_temporal(&scene, 0, 2 * SLOTS, SIZE);
    scene_add_group(&scene, 2);
    scene.groups[0].null.has_null_block = has_null;
    scene.extra_slots = SLOTS - 5;
    scene.tables_by_slot = by_slot;
    for (uint32_t row = 0; row < 5; row++) {
        const int32_t slot = map[row] < 0 ? 0 : map[row];
        /* column 0 to 1 where pre-process gets to it */
        scene_add_row(&scene, 16, 1, 0, 1, 0);
        scene_set_slot(&scene, row, map[row]);
        scene_set_entries(&scene, 0, row, ENTRIES(2 * slot, 2 * slot + 1));
    }
    stage_prepare(stage, device, &scene);
    stage_create(stage, device->engine);
    memset(image->before + LEAD, 0xa5, SIZE);
    memset(image->before + LEAD + SIZE, 0x11, SIZE);
    stage_reset(stage);
    stage_call(stage, SCENE_PRE);
    stage_expect(stage, SCENE_PRE);
    assert_true(stage_compare(stage, 0));

    memset(slot_0, 0xa5, sizeof(slot_0));
    if (has_null) {
        memset(slot_0 + SIZE, 0x11, SIZE);
    }
    assert_memory_equal(image->actual + LEAD, slot_0, sizeof(slot_0));
    for (int slot = 1; slot < SLOTS; slot++) {
        const size_t at = LEAD + 2 * (size_t)slot * SIZE;
        if (slot == 2 || slot == 5) {
            assert_memory_equal(image->actual + at + SIZE, image->before + at,
                                SIZE);
        } else {
            assert_memory_equal(image->actual + at, image->before + at,
                                2 * SIZE);
        }
    }
    stage_close(stage);
    scene_clear(&scene);
    test_free(stage);
}

static void test_map(void **state)
{
    for (int mask = 0; mask < 4; mask++) {
        check_map(*state, mask & 1, mask >> 1);
    }
}

/* Padding alone: not one byte of anything changes. */
static void test_padding_alone(void **state)
{
    struct stage *stage = test_malloc(sizeof(*stage));
    struct scene scene;

    scene_init(&scene, __func__, "3 rows");
    scene_add_pool(&scene, SCENE_BUFFER);
    scene_add_temporal(&scene, 0, 4, SIZE);
    scene_add_group(&scene, 2);
    for (uint32_t row = 0; row < 3; row++) {
        scene_add_row(&scene, 16, 1, 0, 1, 0);
        scene_set_slot(&scene, row, -1);
        scene_set_entries(&scene, 0, row, ENTRIES(0, 1));
        scene_set_copy(&scene, row, 0, 1, 0);
    }
    stage_prepare(stage, *state, &scene);
    stage_create(stage, stage->device->engine);
    for (int op = SCENE_PRE; op <= SCENE_PRE_COPY; op++) {
        stage_call(stage, (enum scene_operation)op);
        stage_expect(stage, (enum scene_operation)op);
        assert_true(stage_compare(stage, 0));
        assert_memory_equal(stage->images[0].actual, stage->images[0].before,
                            stage->images[0].size);
    }
    stage_close(stage);
    scene_clear(&scene);
    test_free(stage);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_padding_alone),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
