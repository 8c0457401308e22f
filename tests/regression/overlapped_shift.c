/* Overlapped shift of a window in one block, repeated: vllm PR 50729. */

/* Source: vllm-project/vllm PR 50729 (the same in vllm-ascend PR 15592). Loads
 * and stores of an in-place shift had no memmove order; runs failed now and
 * then. Hence the many runs. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

enum { TOKENS = 5, DIM = 2048, BLOCKS = 4, BLOCK = 2 };

/* Every element of the pool has a value of its own. */
static void fill_unique(struct stage *stage)
{
    struct stage_image *image = &stage->images[0];

    for (size_t i = 0; i + 1 < image->size; i += 2) {
        image->before[i] = (unsigned char)(i / 2);
        image->before[i + 1] = (unsigned char)(i / 2 >> 8);
    }
    stage_reset(stage);
}

static void check_bias(struct test_device *device, int32_t bias, int runs)
{
    struct stage *stage = test_malloc(sizeof(*stage));
    struct scene scene;

    scene_init(&scene, "test_shift", "bias %d", bias);
    scene_add_pool(&scene, SCENE_BUFFER);
    scene_add_conv(&scene, 0, REF_CONV_SD, BLOCKS, TOKENS, DIM, 2);
    scene_add_group(&scene, 2);
    scene.tokens_per_block = 16;
    scene_add_row(&scene, 15 - bias, 6, 5, bias + 1, 0);
    scene_set_entries(&scene, 0, 0, ENTRIES(BLOCK, 1));
    stage_prepare(stage, device, &scene);
    stage_create(stage, device->engine);
    fill_unique(stage);
    stage_expect(stage, SCENE_POST);
    for (int token = 0; token + bias < TOKENS; token++) {
        /* what the reference says, said once more with literal offsets */
        const size_t block = 64 + (size_t)BLOCK * TOKENS * DIM * 2;
        const size_t size = DIM * 2;
        assert_memory_equal(
            stage->images[0].expected + block + (size_t)token * size,
            stage->images[0].before + block + (size_t)(token + bias) * size,
            size);
    }
    for (int run = 0; run < runs; run++) {
        stage_reset(stage);
        stage_expect(stage, SCENE_POST);
        stage_call(stage, SCENE_POST);
        assert_true(stage_compare(stage, 0));
    }
    stage_close(stage);
    scene_clear(&scene);
    test_free(stage);
}

static void test_shift(void **state)
{
    struct test_device *device = *state;

    for (int32_t bias = 1; bias <= 4; bias++) {
        check_bias(device, bias, device_is_cpu(device) ? 50 : 1000);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shift)};
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
