/* Every combination of order, layout, block, bias, element, requests, groups.
 */

#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

enum { WIDTH = 5, COLUMNS = WIDTH + 2 };

struct combination {
    enum scene_operation operation;
    int v2, kind, same;
    int32_t bias;
    uint32_t element, requests, groups;
};

static const uint32_t request_counts[] = {1, 2, 8, 16, 33};

static void add_rows(struct scene *scene, const struct combination *of)
{
    for (uint32_t i = 0; i < of->requests; i++) {
        /* R = 16 - bias, N = A = 16; without pre-process's help from c */
        scene_add_row(scene, 14 - of->bias, of->bias + 2, of->bias,
                      of->bias + 1, of->same ? 0 : 1);
        scene_set_copy(scene, i, 1, 0, of->bias);
    }
    scene_own_blocks(scene, 1, COLUMNS);
}

/* Pre-copy names two columns; "same" then means one block behind both. */
static void alias_blocks(struct scene *scene)
{
    for (uint32_t g = 0; g < scene->group_count; g++) {
        struct scene_group *group = &scene->groups[g];
        for (uint32_t row = 0; row < scene->row_count; row++) {
            int32_t *entries = group->entries + (size_t)row * group->row_stride;
            entries[0] = entries[1];
        }
    }
}

static void check_combination(struct test_device *device,
                              const struct combination *of)
{
    struct scene *scene = test_malloc(sizeof(*scene));
    const uint32_t blocks = 1 + COLUMNS * of->requests;

    scene_init(scene, of->operation == SCENE_POST ? "test_post" : "test_copy",
               "V%d, %s, %s block, bias %d, element %u, %u requests, %u groups",
               1 + of->v2, of->kind == REF_CONV_SD ? "SD" : "DS",
               of->same ? "same" : "distinct", of->bias, of->element,
               of->requests, of->groups);
    for (uint32_t g = 0; g < of->groups; g++) {
        uint32_t pool = scene_add_pool(scene, SCENE_BUFFER);
        scene_add_group(scene, COLUMNS);
        scene_add_conv(scene, pool, of->kind, blocks, WIDTH, 3 + g, of->element)
            ->group = g;
        scene_add_temporal(scene, pool, blocks, 8 * of->element + g)->group = g;
    }
    add_rows(scene, of);
    if (of->same && of->operation == SCENE_PRE_COPY) {
        alias_blocks(scene);
    }
    if (of->v2) {
        scene_use_v2(scene, of->operation, of->element + of->requests);
        scene->tables_by_slot = of->groups == 2;
    }
    scene_check(scene, device, device->engine, of->operation);
    scene_clear(scene);
    test_free(scene);
}

static void check_biases(struct test_device *device, struct combination of)
{
    for (of.same = 0; of.same < 2; of.same++) {
        for (of.bias = 0; of.bias <= WIDTH; of.bias++) {
            check_combination(device, &of);
        }
    }
}

/* All of them, nothing left out. */
static void test_post(void **state)
{
    for (uint32_t index = 0; index < 2 * 2 * 4 * 5 * 2; index++) {
        const struct combination of = {
            .operation = SCENE_POST,
            .v2 = (int)(index % 2),
            .kind = index / 2 % 2 ? REF_CONV_DS : REF_CONV_SD,
            .element = 1u << index / 4 % 4,
            .requests = request_counts[index / 16 % 5],
            .groups = 1 + index / 80};
        check_biases(*state, of);
    }
}

/* The same for pre-copy, thin: both ends of requests, and two groups only with
 * 2-byte elements. What is left out is bulk: pre-copy's copies are post's. */
static void test_copy(void **state)
{
    for (uint32_t index = 0; index < 2 * 2 * 4 * 2 * 2; index++) {
        const struct combination of = {.operation = SCENE_PRE_COPY,
                                       .v2 = (int)(index % 2),
                                       .kind = index / 2 % 2 ? REF_CONV_DS
                                                             : REF_CONV_SD,
                                       .element = 1u << index / 4 % 4,
                                       .requests = index / 16 % 2 ? 33 : 1,
                                       .groups = 1 + index / 32};
        if (of.groups == 1 || of.element == 2) {
            check_biases(*state, of);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_post),
        cmocka_unit_test(test_copy),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
