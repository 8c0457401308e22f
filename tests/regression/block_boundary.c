/* Acceptance that ends at, or just past, a block boundary: vllm issue 53505. */

/* Source: vllm-project/vllm issue 53505 (also PR 40172's review). Reporters
 * suspected the copy to the column below, with a token bias mixed up with a
 * block index. */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

#include <string.h>

struct boundary_case {
    int32_t computed, scheduled, draft, accepted, column;
    int from; /* token of the source window that token 0 receives; -1: none */
    int32_t accepted_after;
};

enum { SIZE = 16, WIDTH = 5 };

static void check_case_of(struct test_device *device, int index, int v2,
                          const struct boundary_case *row)
{
    struct stage *stage = test_malloc(sizeof(*stage));
    const struct stage_image *image = &stage->images[0];
    const unsigned char *source, *destination;
    struct scene scene;

    scene_init(&scene, "test_boundary", "case %d, V%d", index, 1 + v2);
    scene.tokens_per_block = 8;
    scene_add_pool(&scene, SCENE_BUFFER);
    scene_add_conv(&scene, 0, REF_CONV_SD, 5, WIDTH, SIZE, 1);
    scene_add_temporal(&scene, 0, 5, 40);
    scene_add_group(&scene, 4);
    scene_add_row(&scene, row->computed, row->scheduled, row->draft,
                  row->accepted, row->column);
    scene_set_entries(&scene, 0, 0, ENTRIES(1, 2, 3, 4));
    if (v2) {
        scene_use_v2(&scene, SCENE_POST, 53505 + (uint64_t)index);
    }
    stage_prepare(stage, device, &scene);
    stage_create(stage, device->engine);
    stage_call(stage, SCENE_POST);
    stage_expect(stage, SCENE_POST);
    assert_true(stage_compare(stage, 0));
    assert_int_equal(
        stage_actual(stage, STAGE_ACCEPTED_OUT)[scene_slot(&scene, 0)],
        row->accepted_after);
    source = image->before + 64 + (1 + row->column) * WIDTH * SIZE;
    destination = image->actual + 64 + WIDTH * SIZE; /* column 0 */
    if (row->from < 0) {
        assert_memory_equal(image->actual, image->before, image->size);
    } else {
        assert_memory_equal(destination, source + row->from * SIZE, SIZE);
    }
    stage_close(stage);
    scene_clear(&scene);
    test_free(stage);
}

static void test_boundary(void **state)
{
    static const struct boundary_case cases[] = {
        {6, 3, 2, 2, 1, 1, 2}, {6, 3, 2, 1, 1, -1, 1}, {6, 3, 2, 3, 1, 1, 3},
        {5, 3, 2, 3, 0, 2, 1}, {7, 1, 0, 1, 0, -1, 1}, {7, 3, 2, 0, 0, -1, 0},
    };

    for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); i++) {
        check_case_of(*state, i, 0, &cases[i]);
        check_case_of(*state, i, 1, &cases[i]);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_boundary)};
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
