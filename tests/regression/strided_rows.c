/* A strided window treated as flat: genesis-vllm-patches issue 17. */

/* Source: Sandermage/genesis-vllm-patches issue 17; vllm-project/vllm issue
 * 38898, PR 45682. The tail of a DS window was packed and copied flat, so every
 * row after the first landed at a shifted place. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

#include <string.h>

enum { TOKENS = 6, DIM = 4, BLOCK_BYTES = TOKENS * DIM };

/* source[row][token] = 10 row + token, everything else 99; literal results. */
static void check_literal(struct test_device *device, int32_t column,
                          const int32_t *entries, size_t destination,
                          const unsigned char *want)
{
    struct stage *stage = test_malloc(sizeof(*stage));
    struct stage_image *image = &stage->images[0];
    struct scene scene;

    scene_init(&scene, "test_ds_rows", "column %d", column);
    scene_add_pool(&scene, SCENE_BUFFER);
    scene_add_conv(&scene, 0, REF_CONV_DS, 3, TOKENS, DIM, 1);
    scene_add_group(&scene, 2);
    scene_add_row(&scene, 13, 4, 2, 2, column); /* R 15, N 16, bias 1 */
    scene_set_entries(&scene, 0, 0, entries, 2);
    stage_prepare(stage, device, &scene);
    stage_create(stage, device->engine);
    memset(image->before, 99, image->size);
    for (int row = 0; row < DIM; row++) {
        for (int token = 0; token < TOKENS; token++) {
            image->before[64 + BLOCK_BYTES + row * TOKENS + token] =
                (unsigned char)(10 * row + token);
        }
    }
    stage_reset(stage);
    stage_call(stage, SCENE_POST);
    stage_expect(stage, SCENE_POST);
    assert_true(stage_compare(stage, 0));
    assert_memory_equal(image->actual + 64 + destination * BLOCK_BYTES, want,
                        BLOCK_BYTES);
    stage_close(stage);
    scene_clear(&scene);
    test_free(stage);
}

static void test_ds_rows(void **state)
{
    static const unsigned char distinct[BLOCK_BYTES] = {
        1,  2,  3,  4,  5,  99, 11, 12, 13, 14, 15, 99,
        21, 22, 23, 24, 25, 99, 31, 32, 33, 34, 35, 99};
    static const unsigned char same[BLOCK_BYTES] = {
        1,  2,  3,  4,  5,  5,  11, 12, 13, 14, 15, 15,
        21, 22, 23, 24, 25, 25, 31, 32, 33, 34, 35, 35};
    static const int32_t two_blocks[2] = {2, 1}, one_block[2] = {1, 2};

    check_literal(*state, 1, two_blocks, 2, distinct);
    check_literal(*state, 0, one_block, 1, same);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ds_rows)};
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
