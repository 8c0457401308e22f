/* Kernels broken on purpose, each with what must catch it. */

#include "big_pool.h"
#include "edit.h"
#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

#include <stdlib.h>
#include <string.h>

/* usage: test_broken [--probe NAME | [--case TEXT] [TEST]]
 *
 * Without --probe: faults that show in the data; each of their scenes is right
 * with the real text and wrong with the broken one. With it: one small call
 * with the broken text of that name ("none": the real one), for a race detector
 * to watch; the data is not looked at. */

enum { MAX_EDITS = 3 };

struct broken {
    const char *name;
    size_t edit_count;
    struct text_edit edits[MAX_EDITS];
};

/* Caught by comparing data. */
static const struct broken walked_downwards = {
    "tokens walked downwards",
    2,
    {{"ssm_copy.cl",
      "for (uint first = 0; first < tokens; first += CLMOVE_TOKENS)",
      "for (uint first = (tokens - 1) / CLMOVE_TOKENS * CLMOVE_TOKENS; "
      "first < tokens; first -= CLMOVE_TOKENS)",
      1},
     {"ssm_copy.cl", "for (uint token = 0; token < tokens; token++)",
      "for (uint token = tokens - 1; token < tokens; token--)", 1}},
};

static const struct broken tail_overwritten = {
    "tail tokens overwritten",
    1,
    {{"ssm_copy.cl", "min(state->src_width - bias, state->dst_width)",
      "state->dst_width", 1}},
};

static const struct broken stride_as_size = {
    "stride used as size",
    1,
    {{"ssm_copy.cl", "whole = bytes ? state->src_extent",
      "whole = bytes ? state->src_block_stride", 1}},
};

static const struct broken not_widened = {
    "block id not widened",
    2,
    {{"ssm_copy.cl", "(ulong)source * state->src_block_stride",
      "(ulong)((uint)source * (uint)state->src_block_stride)", 1},
     {"ssm_copy.cl", "(ulong)destination * state->dst_block_stride",
      "(ulong)((uint)destination * (uint)state->dst_block_stride)", 1}},
};

/* Caught by a race detector. */
static const struct broken probes[] = {
    {"none", 0, {{NULL, NULL, NULL, 0}}},
    {"barrier removed",
     1,
     {{"ssm_rows.cl", "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
       "", 1}}},
    {"local fence only",
     1,
     {{"ssm_rows.cl", "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE",
       "CLK_LOCAL_MEM_FENCE", 1}}},
    {"accepted read from the array being written",
     1,
     {{"ssm_decide.cl", "&described->arrays[i]",
       "&described->arrays[i == ARRAY_ACCEPTED_IN ? ARRAY_ACCEPTED_OUT : i]",
       1}}},
    {"stage filled while others read it",
     1,
     {{"ssm_rows.cl",
       "filled again. */\n            barrier(CLK_LOCAL_MEM_FENCE);",
       "filled again. */", 1}}},
};

/* An engine with the broken text; 0: the device's usual launch shape. */
static struct clmove_engine *broken_engine(struct test_device *device,
                                           const struct broken *broken,
                                           uint32_t group_size,
                                           uint32_t group_count)
{
    struct edited_folder folder;
    struct clmove_engine *engine;

    edited_folder_open(&folder, TEST_KERNEL_PATH, broken->edits,
                       broken->edit_count);
    engine = device_engine(device, group_size, group_count, folder.path);
    edited_folder_close(&folder);
    return engine;
}

/* Windows of 20 tokens: longer than any chunk that is held at once. The blocks
 * in use lie in the middle of the pool. */
static void add_wide_scene(struct scene *scene, const char *test, int kind,
                           uint32_t dim, int32_t bias)
{
    uint32_t pool;

    scene_init(scene, test, "kind %d, dim %u, bias %d", kind, dim, bias);
    pool = scene_add_pool(scene, SCENE_BUFFER);
    scene_add_conv(scene, pool, kind, 12, 20, dim, 2);
    scene_add_group(scene, 4);
    scene_add_in_place_rows(scene, 1, bias);
    scene_own_blocks(scene, 4, 4);
}

static void add_window_scene(struct scene *scene, const char *test, int kind,
                             int32_t bias)
{
    add_wide_scene(scene, test, kind, 6, bias);
}

static void expect_caught(struct scene *scene, struct test_device *device,
                          struct clmove_engine *broken)
{
    assert_true(scene_is_right(scene, device, device->engine, SCENE_POST));
    assert_false(scene_is_right(scene, device, broken, SCENE_POST));
    scene_clear(scene);
}

static void test_walked_downwards(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine =
        broken_engine(device, &walked_downwards, 0, 0);
    struct scene scene;

    for (int32_t bias = 1; bias <= 2; bias++) {
        /* single values, then vectors */
        add_wide_scene(&scene, __func__, REF_CONV_SD, 6, bias);
        expect_caught(&scene, device, engine);
        add_wide_scene(&scene, __func__, REF_CONV_SD, 16, bias);
        expect_caught(&scene, device, engine);
    }
    clmove_engine_destroy(&engine);
}

static void test_tail_overwritten(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine =
        broken_engine(device, &tail_overwritten, 0, 0);
    struct scene scene;

    for (int32_t bias = 1; bias <= 2; bias++) {
        add_window_scene(&scene, __func__, REF_CONV_SD, bias);
        expect_caught(&scene, device, engine);
        add_window_scene(&scene, __func__, REF_CONV_DS, bias);
        expect_caught(&scene, device, engine);
    }
    clmove_engine_destroy(&engine);
}

static void test_stride_as_size(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = broken_engine(device, &stride_as_size, 0, 0);
    struct scene scene;

    scene_init(&scene, __func__, "gap of 12 bytes");
    scene_add_pool(&scene, SCENE_BUFFER);
    scene_add_temporal(&scene, 0, 12, 100)->block_stride = 112;
    scene_add_group(&scene, 4);
    scene_add_in_place_rows(&scene, 1, 1);
    scene_own_blocks(&scene, 4, 4);
    expect_caught(&scene, device, engine);
    clmove_engine_destroy(&engine);
}

static void test_not_widened(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine;
    struct big_pool pool;

    if (!big_pool_open(&pool, device, BIG_SIZE)) {
        runner_skip("no way to a pool of 4.3 GB on this device");
        return;
    }
    engine = broken_engine(device, &not_widened, 0, 0);
    assert_true(big_pool_copies(&pool, device->engine, 2, 4, 0));
    assert_false(big_pool_copies(&pool, engine, 2, 4, 1));
    assert_true(big_pool_copies(&pool, device->engine, 4, 0, 0));
    assert_false(big_pool_copies(&pool, engine, 4, 0, 1));
    clmove_engine_destroy(&engine);
    big_pool_close(&pool);
}

/* Text that was copied but not edited is right: the folder is not what makes
 * the others wrong. And every probe's edits still match. */
static void test_copied_text_is_right(void **state)
{
    struct test_device *device = *state;

    for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
        struct clmove_engine *engine = broken_engine(device, &probes[i], 0, 0);
        struct scene scene;
        if (i == 0) {
            add_window_scene(&scene, __func__, REF_CONV_DS, 1);
            assert_true(scene_is_right(&scene, device, engine, SCENE_POST));
            scene_clear(&scene);
        }
        clmove_engine_destroy(&engine);
    }
}

/* An edit that does not match as often as it says is refused. */
static void test_edits_must_match(void **state)
{
    static const struct text_edit once = {"ssm.cl", "two", "2", 1};
    static const struct text_edit twice = {"ssm.cl", "two", "2", 2};
    static const struct text_edit other = {"common.cl", "two", "2", 7};
    char *text;

    (void)state;
    assert_null(edit_text("ssm.cl", "one two two", &once, 1));
    assert_null(edit_text("ssm.cl", "one three", &once, 1));
    text = edit_text("ssm.cl", "one two two", &twice, 1);
    assert_string_equal(text, "one 2 2");
    free(text);
    text = edit_text("ssm.cl", "one two", &other, 1);
    assert_string_equal(text, "one two");
    free(text);
}

/* What the probes run: a DS window shifted in place, accepted in place. Small
 * enough to be watched, with two groups that decide alike. */
static void run_probe(struct test_device *device, const struct broken *broken)
{
    struct clmove_engine *engine = broken_engine(device, broken, 3, 2);
    struct stage *stage = test_malloc(sizeof(*stage));
    struct scene scene;

    scene_init(&scene, "probe", "%s", broken->name);
    scene_add_pool(&scene, SCENE_BUFFER);
    scene_add_conv(&scene, 0, REF_CONV_DS, 12, 6, 4, 1);
    scene_add_conv(&scene, 0, REF_CONV_SD, 12, 6, 4, 1);
    scene_add_group(&scene, 4);
    scene.accepted_in_place = 1;
    scene_add_in_place_rows(&scene, 2, 1);
    scene_own_blocks(&scene, 1, 4);
    stage_prepare(stage, device, &scene);
    stage_create(stage, engine);
    stage_call(stage, SCENE_POST);
    stage_close(stage);
    scene_clear(&scene);
    test_free(stage);
    clmove_engine_destroy(&engine);
}

static const struct broken *probe;

static void test_probe(void **state)
{
    run_probe(*state, probe);
}

static int probe_main(const char *name)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_probe)};
    char *arguments[] = {"test_broken", NULL};

    for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
        if (strcmp(probes[i].name, name) == 0) {
            probe = &probes[i];
            return RUNNER_DEVICE_TESTS(1, arguments, tests);
        }
    }
    fprintf(stderr, "no probe is called \"%s\"\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walked_downwards),
        cmocka_unit_test(test_tail_overwritten),
        cmocka_unit_test(test_stride_as_size),
        cmocka_unit_test(test_not_widened),
        cmocka_unit_test(test_copied_text_is_right),
        cmocka_unit_test(test_edits_must_match),
    };

    if (argc == 3 && strcmp(argv[1], "--probe") == 0) {
        return probe_main(argv[2]);
    }
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
