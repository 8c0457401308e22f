/* Kernels of moves broken on purpose, each with what must catch it. */

#include "edit.h"
#include "moving_batch.h"
#include "runner.h"
#include "testing.h"

#include <string.h>

/* usage: test_move_broken [--probe NAME | [--case TEXT] [TEST]]
 *
 * Without --probe: faults that show in the data; each of their moves is right
 * with the real text and wrong with the broken one. With it: a few small moves
 * with the broken text of that name ("none": the real one), for a race detector
 * to watch; the data is not looked at. */

enum { MAX_EDITS = 2 };

struct broken {
    const char *name;
    size_t edit_count;
    struct text_edit edits[MAX_EDITS];
};

#define BOTH_FENCES "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
#define LOCAL_FENCE "barrier(CLK_LOCAL_MEM_FENCE);"

/* What stands around the two barriers of a tile. */
#define BEFORE_STORES(text) text "\n        store_tile("
#define BEHIND_STORES(text)                                                    \
    "store_tile(dst + begin, tile, held, here, item, items);\n        " text

#define CHANGED(where, from, to)                                               \
    {                                                                          \
        {                                                                      \
            "move.cl", where(from), where(to), 1                               \
        }                                                                      \
    }

/* The edge that the next span overwrites is taken from where it was. */
#define EDGE_NOT_SAVED                                                         \
    {                                                                          \
        "move.cl", "const int meets = distance != 0 &&",                       \
            "const int meets = 0 &&", 1                                        \
    }

/* A legal order of groups, in which the spans that move first are those that
 * others still have to read: with more groups than a device runs at once. */
#define LAST_SPAN_FIRST                                                        \
    {                                                                          \
        "move.cl", "MOVE_ARGUMENTS(family, (uint)get_group_id(0)), tile,",     \
            "MOVE_ARGUMENTS(family, family.mode == JOB_UP ? "                  \
            "family.job_count - 1u - (uint)get_group_id(0) : "                 \
            "(uint)get_group_id(0)), tile,",                                   \
            1                                                                  \
    }

/* Vectors that hold bytes beside the run. */
#define NARROW "    const uint full = (size - head) / 16;\n"
#define WHOLE "    const uint full = (size - head + 15) / 16;\n"
#define LOADS "    const uint first_bytes"
#define STORES(narrow)                                                         \
    "    const uint narrow = " narrow ";\n    const uint shift"

/* Caught by a race detector. */
static const struct broken probes[] = {
    {"none", 0, {{NULL, NULL, NULL, 0}}},
    {"tile, barrier removed", 1, CHANGED(BEFORE_STORES, BOTH_FENCES, "")},
    {"tile, local fence only", 1,
     CHANGED(BEFORE_STORES, BOTH_FENCES, LOCAL_FENCE)},
    {"next tile, barrier removed", 1, CHANGED(BEHIND_STORES, LOCAL_FENCE, "")},
    {"edge not saved", 1, {EDGE_NOT_SAVED}},
    {"whole vectors loaded", 1, {{"move.cl", NARROW LOADS, WHOLE LOADS, 1}}},
    {"whole vectors stored",
     1,
     {{"move.cl", NARROW STORES("size - full * 16"), WHOLE STORES("0"), 1}}},
    {"whole edges loaded",
     1,
     {{"move.cl", "size >= 16 && place - skew <= size - 16", "size > 0", 1}}},
};

enum { PROBES = sizeof(probes) / sizeof(probes[0]) };

/* Caught by comparing data. */
static const struct broken edge_not_saved = {
    "edge not saved", 2, {EDGE_NOT_SAVED, LAST_SPAN_FIRST}};
static const struct broken last_span_first = {
    "last span first", 1, {LAST_SPAN_FIRST}};
static const struct broken direction_swapped = {
    "direction swapped",
    1,
    {{"move.cl", "const int up = (mode & JOB_KIND) != JOB_DOWN;",
      "const int up = (mode & JOB_KIND) == JOB_DOWN;", 1}}};
static const struct broken phase_wrong = {
    "phase wrong",
    1,
    {{"common.cl", "(phase & 7u) * 8", "(phase & 3u) * 8", 1}}};
static const struct broken slice_forgotten = {
    "slice forgotten",
    1,
    {{"move.cl", "(bank == CLMOVE_BANKS ? 0 : slice)", "0", 1}}};
static const struct broken bound_forgotten = {
    "bound forgotten",
    1,
    {{"move.cl", "(ulong)dst > lists->dst_size - (ulong)size", "0", 1}}};
static const struct broken entry_swapped = {
    "entry's direction swapped",
    1,
    {{"move.cl", "share->up = entry.dst < entry.src;",
      "share->up = entry.dst > entry.src;", 1}}};

/* An engine with the broken text, as a GPU gets it. */
static struct clmove_engine *broken_engine(struct test_device *device,
                                           const struct broken *broken,
                                           const struct moving_shape *shape)
{
    struct text_edit edits[MAX_EDITS + 1] = {moving_gpu_edit};
    struct edited_folder folder;
    struct clmove_engine *engine;

    memcpy(edits + 1, broken->edits, broken->edit_count * sizeof(edits[0]));
    edited_folder_open(&folder, TEST_KERNEL_PATH, edits,
                       broken->edit_count + 1);
    engine = moving_engine_of(device, shape, folder.path);
    edited_folder_close(&folder);
    return engine;
}

/* 1 if a move gives the right bytes. */
static int is_right(struct clmove_engine *engine, struct moving *moving,
                    const struct moving_move *move)
{
    moving_fill(moving, 1);
    moving_move(engine, move);
    return moving_check(moving, "", NULL);
}

enum { SIZE = 20000, MANY_SPANS = 2 << 20 };

static const struct moving_shape plain_shape = {.tile_size = 256,
                                                .gpu_text = 1};

/* Moves by `variant` in both directions that the real text does right, and
 * the broken one wrong (or right, if it is a control). */
static void expect_caught(struct test_device *device,
                          const struct broken *broken, uint32_t variant,
                          size_t size, size_t shift, int caught)
{
    struct clmove_engine *real = moving_engine(device, &plain_shape);
    struct clmove_engine *engine = broken_engine(device, broken, &plain_shape);
    struct moving moving;

    moving_open(&moving, device, MOVING_BUFFER,
                size < SIZE / 2 ? SIZE : size + shift + 16);
    for (int left = 0; left < 2; left++) {
        const struct moving_move move = {
            &moving, &moving, left ? 7 + shift : 7, left ? 7 : 7 + shift,
            size,    variant};
        assert_true(is_right(real, &moving, &move));
        assert_int_equal(is_right(engine, &moving, &move), !caught);
    }
    moving_close(&moving);
    clmove_engine_destroy(&engine);
    clmove_engine_destroy(&real);
}

static void test_edge_not_saved(void **state)
{
    expect_caught(*state, &edge_not_saved, CLMOVE_VARIANT_SPLIT, MANY_SPANS, 5,
                  1);
    /* The order alone does no harm. */
    expect_caught(*state, &last_span_first, CLMOVE_VARIANT_SPLIT, MANY_SPANS, 5,
                  0);
}

static void test_direction_swapped(void **state)
{
    expect_caught(*state, &direction_swapped, CLMOVE_VARIANT_GROUP, 9001, 19,
                  1);
    /* Tiles of a piece, and pieces of a column; no edges, whose places would be
     * wrong too. */
    expect_caught(*state, &direction_swapped, CLMOVE_VARIANT_SEGMENTS, 9001,
                  2000, 1);
}

static void test_phase_wrong(void **state)
{
    /* A phase of 3 is right as it is; one of 12 is not. */
    expect_caught(*state, &phase_wrong, CLMOVE_VARIANT_GROUP, 9001, 12, 1);
    expect_caught(*state, &phase_wrong, CLMOVE_VARIANT_DISJOINT, 9001, 10012,
                  1);
}

/* A rotation of slots with little scratch. */
static void test_slice_forgotten(void **state)
{
    enum { SLOTS = 20, SLOT = 100 };
    struct test_device *device = *state;
    struct clmove_engine *real = moving_engine(device, &plain_shape);
    struct clmove_engine *engine =
        broken_engine(device, &slice_forgotten, &plain_shape);
    struct clmove_region regions[SLOTS];
    struct moving moving;
    const struct moving_place place = {.moving = &moving};
    const struct moving_list list = {.places = &place,
                                     .place_count = 1,
                                     .regions = regions,
                                     .region_count = SLOTS,
                                     .scratch_limit = SLOTS * 16};

    for (size_t i = 0; i < SLOTS; i++) {
        regions[i] =
            (struct clmove_region){.src_offset = i * SLOT,
                                   .dst_offset = (i * 7 + 3) % SLOTS * SLOT,
                                   .size = SLOT};
    }
    moving_open(&moving, device, MOVING_BUFFER, SLOTS * SLOT);
    moving_fill(&moving, 1);
    moving_batch_run(device, real, &list);
    assert_true(moving_check(&moving, __func__, "real"));
    moving_fill(&moving, 1);
    moving_batch_run(device, engine, &list);
    assert_false(moving_check(&moving, __func__, NULL));
    moving_close(&moving);
    clmove_engine_destroy(&engine);
    clmove_engine_destroy(&real);
}

/* One entry in device memory: 1 if it leaves the right bytes. */
static int entry_is_right(struct test_device *device,
                          struct clmove_engine *engine, int64_t src,
                          int64_t dst, int64_t size)
{
    enum { BASE = 2000 };
    int64_t entry[3];
    struct moving moving, lists;
    struct clmove_device_batch params = {.count = 1};
    int right;

    entry[0] = src;
    entry[1] = dst;
    entry[2] = size;
    moving_open(&moving, device, MOVING_BUFFER, BASE + 1000);
    moving_open(&lists, device, MOVING_BUFFER, sizeof(entry));
    moving_fill(&moving, 1);
    moving_load(&lists, entry);
    params.src_base = params.dst_base = moving_memory(&moving, 0);
    params.src_base.size = params.dst_base.size = BASE;
    params.src_offsets = moving_memory(&lists, 0);
    params.dst_offsets = moving_memory(&lists, 8);
    params.sizes = moving_memory(&lists, 16);
    moving_status(device,
                  clmove_enqueue_batch_device(engine, &params, device->queue, 0,
                                              NULL, NULL),
                  CLMOVE_SUCCESS);
    if (src + size <= BASE && dst + size <= BASE) {
        assert_true(ref_move(moving.expected + dst, moving.expected + src,
                             (size_t)size));
    }
    right = moving_check(&moving, "", NULL);
    moving_close(&moving);
    moving_close(&lists);
    return right;
}

static void test_device_entries(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *real = moving_engine(device, &plain_shape);
    struct clmove_engine *unbound =
        broken_engine(device, &bound_forgotten, &plain_shape);
    struct clmove_engine *swapped =
        broken_engine(device, &entry_swapped, &plain_shape);

    assert_true(entry_is_right(device, real, 0, 1901, 100));
    assert_false(entry_is_right(device, unbound, 0, 1901, 100));
    assert_true(entry_is_right(device, real, 0, 17, 1500));
    assert_false(entry_is_right(device, swapped, 0, 17, 1500));
    assert_true(entry_is_right(device, real, 17, 0, 1500));
    assert_false(entry_is_right(device, swapped, 17, 0, 1500));
    clmove_engine_destroy(&real);
    clmove_engine_destroy(&unbound);
    clmove_engine_destroy(&swapped);
}

/* Text that was copied but not edited is right, and every probe's edits still
 * match. */
static void test_copied_text_is_right(void **state)
{
    expect_caught(*state, &probes[0], CLMOVE_VARIANT_SPLIT, 9001, 12, 0);
    for (size_t i = 1; i < PROBES; i++) {
        struct edited_folder folder;
        edited_folder_open(&folder, TEST_KERNEL_PATH, probes[i].edits,
                           probes[i].edit_count);
        edited_folder_close(&folder);
    }
}

static const struct broken *probe;

/* Moves that need every barrier, with groups of 8 items: bytes alone, less than
 * a tile, several tiles; then spans, and columns out of phase, that begin at a
 * buffer's start and end at its odd end. */
static void test_probe(void **state)
{
    static const struct {
        size_t size, shift;
        uint32_t variant;
    } moves[] = {{37, 3, CLMOVE_VARIANT_GROUP},
                 {130, 16, CLMOVE_VARIANT_GROUP},
                 {700, 16, CLMOVE_VARIANT_GROUP},
                 {325, 5, CLMOVE_VARIANT_SPLIT},
                 {300, 67, CLMOVE_VARIANT_SEGMENTS}};
    const struct moving_shape shape = {.group_size = 8, .tile_size = 64};
    struct test_device *device = *state;
    struct clmove_engine *engine = broken_engine(device, probe, &shape);
    struct moving moving;

    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        for (int left = 0; left < 2; left++) {
            const size_t shift = moves[i].shift;
            moving_open(&moving, device, MOVING_BUFFER, moves[i].size + shift);
            moving_fill(&moving, 1);
            moving_move(engine,
                        &(struct moving_move){
                            &moving, &moving, left ? shift : 0,
                            left ? 0 : shift, moves[i].size, moves[i].variant});
            (void)moving_check(&moving, __func__, NULL);
            moving_close(&moving);
        }
    }
    clmove_engine_destroy(&engine);
}

static int probe_main(const char *name)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_probe)};
    char *arguments[] = {"test_move_broken", NULL};

    for (size_t i = 0; i < PROBES; i++) {
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
        cmocka_unit_test(test_edge_not_saved),
        cmocka_unit_test(test_direction_swapped),
        cmocka_unit_test(test_phase_wrong),
        cmocka_unit_test(test_slice_forgotten),
        cmocka_unit_test(test_device_entries),
        cmocka_unit_test(test_copied_text_is_right),
    };

    if (argc == 3 && strcmp(argv[1], "--probe") == 0) {
        return probe_main(argv[2]);
    }
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
