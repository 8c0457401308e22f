/* Rules of batches, one by one, with literal bytes. */

#include "plan_world.h"
#include "testing.h"

#include <stdio.h>
#include <string.h>

enum { ROOM = 8192 };

static struct clmove_region region(uint64_t src, uint64_t dst, uint64_t size)
{
    return (struct clmove_region){
        .src_offset = src, .dst_offset = dst, .size = size};
}

/* A log that keeps the last sentence. */
static char said[512];

static void keep(void *user, int level, const char *message)
{
    (void)user;
    assert_int_equal(level, CLMOVE_LOG_ERROR);
    snprintf(said, sizeof said, "%s", message);
}

static const struct clmove_log keeper = {keep, NULL};

/* One memory that holds `text`. */
static void set_text(struct plan_world *world, const char *text)
{
    const size_t size = strlen(text);
    world_set_roots(world, 1, &size, NULL);
    world_add_space(world, 0, 0, size, false);
    world_fill(world, 1);
    memcpy(world->bytes + world->root_starts[0], text, size);
}

/* Plans and carries out; the memory must hold `after`, guards what they held.
 */
static struct clmove_batch_info move_text(struct plan_world *world,
                                          const char *before, const char *after,
                                          const struct clmove_region *regions,
                                          size_t count, uint64_t scratch_limit)
{
    unsigned char guarded[ROOM];
    struct plan plan;
    set_text(world, before);
    memcpy(guarded, world->bytes, world->size);
    memcpy(guarded + world->root_starts[0], after, strlen(after));
    struct plan_params params = world_params(world, regions, count);
    params.scratch_limit = scratch_limit;
    assert_int_equal(plan_make(&keeper, &params, &plan), CLMOVE_SUCCESS);
    if (!world_run(world, &params, &plan))
        fail_msg("%s", world->fault);
    assert_memory_equal(world->bytes, guarded, world->size);
    const struct clmove_batch_info info = plan.info;
    plan_release(&plan);
    return info;
}

#define MOVE_TEXT(world, before, after, limit, ...)                            \
    move_text((world), (before), (after),                                      \
              (const struct clmove_region[]){__VA_ARGS__},                     \
              sizeof((const struct clmove_region[]){__VA_ARGS__}) /            \
                  sizeof(struct clmove_region),                                \
              (limit))

/* Plans what must be refused; *said has the sentence. */
static void refuse_text(struct plan_world *world, size_t size,
                        const struct clmove_region *regions, size_t count,
                        struct plan_params wishes, clmove_status wanted,
                        const char *sentence)
{
    struct plan plan;
    world_set_roots(world, 1, &size, NULL);
    world_add_space(world, 0, 0, size, false);
    struct plan_params params = world_params(world, regions, count);
    params.variant = wishes.variant;
    params.scratch_limit = wishes.scratch_limit;
    said[0] = '\0';
    assert_int_equal(plan_make(&keeper, &params, &plan), wanted);
    plan_release(&plan);
    assert_string_equal(said, sentence);
}

#define REFUSE(world, size, wishes, wanted, sentence, ...)                     \
    refuse_text((world), (size), (const struct clmove_region[]){__VA_ARGS__},  \
                sizeof((const struct clmove_region[]){__VA_ARGS__}) /          \
                    sizeof(struct clmove_region),                              \
                (wishes), (wanted), (sentence))

static const struct plan_params defaults;

static void test_chain_and_cycle(void **state)
{
    struct clmove_batch_info info =
        MOVE_TEXT(*state, "AAAABBBBCCCCDDDD", "CCCCAAAABBBBDDDD", 0,
                  region(0, 4, 4), region(4, 8, 4), region(8, 0, 4));
    assert_int_equal(info.entry_count, 3);
    assert_int_equal(info.merged_count, 2); /* 0->4 with 4->8 */
    assert_int_equal(info.endangered_count, 2);
    assert_int_equal(info.launch_count, 2);
    assert_int_equal(info.moved_size, 12);
    /* A chain whose entries lie apart. */
    info = MOVE_TEXT(*state, "AAAABBBBCCCCDDDD", "AAAABBBBBBBBAAAA", 0,
                     region(0, 12, 4), region(4, 8, 4));
    assert_int_equal(info.endangered_count, 0);
    assert_int_equal(info.launch_count, 1);
    info = MOVE_TEXT(*state, "AAAABBBBCCCCDDDD", "AAAAAAAABBBBBBBB", 0,
                     region(4, 12, 4), region(4, 8, 4), region(0, 4, 4));
    assert_int_equal(info.endangered_count, 1);  /* 4->12 */
    assert_int_equal(info.overlapping_count, 1); /* the other two */
}

/* A destination that ends where a source begins, or the other way round. */
static void test_touching_is_harmless(void **state)
{
    const struct clmove_batch_info info =
        MOVE_TEXT(*state, "AAAABBBBCCCCDDDD", "AAAADDDDAAAADDDD", 0,
                  region(0, 8, 4), region(12, 4, 4));
    assert_int_equal(info.merged_count, 2);
    assert_int_equal(info.endangered_count, 0);
    assert_int_equal(info.launch_count, 1);
}

static void test_swap_and_rotation(void **state)
{
    struct clmove_batch_info info =
        MOVE_TEXT(*state, "AAAAbbbbCCCC", "CCCCbbbbAAAA", 0, region(0, 8, 4),
                  region(8, 0, 4));
    assert_int_equal(info.endangered_count, 2);
    assert_int_equal(info.launch_count, 2);
    assert_true(info.scratch_size >= 8);
    MOVE_TEXT(*state, "0123456789", "9012345678", 0, region(0, 1, 9),
              region(9, 0, 1));
    MOVE_TEXT(*state, "0123456789", "1234567890", 0, region(1, 0, 9),
              region(0, 9, 1));
}

static void test_one_source_many_destinations(void **state)
{
    struct clmove_batch_info info =
        MOVE_TEXT(*state, "AABBCCDD", "AAAAAABB", 0, region(0, 2, 2),
                  region(0, 4, 2), region(2, 6, 2));
    assert_int_equal(info.endangered_count, 1);
    /* The source itself is written by a third. */
    info = MOVE_TEXT(*state, "AABBCCDD", "DDAAAADD", 0, region(0, 2, 2),
                     region(0, 4, 2), region(6, 0, 2));
    assert_int_equal(info.endangered_count, 2);
}

static void test_neighbours_become_one(void **state)
{
    struct clmove_batch_info info =
        MOVE_TEXT(*state, "0123456789ab", "012301234567", 0, region(2, 6, 3),
                  region(0, 4, 2), region(5, 9, 3));
    assert_int_equal(info.merged_count, 1);
    assert_int_equal(info.overlapping_count, 1);
    assert_int_equal(info.endangered_count, 0);
    assert_int_equal(info.scratch_size, 0);
    assert_int_equal(info.launch_count, 1);
    /* Touching destinations alone are not enough. */
    info = MOVE_TEXT(*state, "0123456789ab", "012345012367", 0, region(0, 6, 4),
                     region(6, 10, 2));
    assert_int_equal(info.merged_count, 2);
}

static void test_nothing(void **state)
{
    struct plan_world *world = *state;
    struct plan plan;
    /* Reports of zero and exact moves. */
    struct clmove_batch_info info = MOVE_TEXT(
        world, "0123456789abcdef", "0123456789abcdef", 0, region(0, 0, 16),
        region(16, 0, 0), region(0, 16, 0), region(3, 3, 5));
    assert_int_equal(info.dropped_count, 4);
    assert_int_equal(info.entry_count, 4);
    assert_int_equal(info.launch_count, 0);
    assert_int_equal(info.slice_count, 1);
    const struct plan_params params = world_params(world, NULL, 0);
    assert_int_equal(plan_make(&keeper, &params, &plan), CLMOVE_SUCCESS);
    assert_int_equal(plan.launch_count, 0);
    assert_int_equal(plan.info.entry_count, 0);
    plan_release(&plan);
    /* A move onto itself writes nothing, so another may write there. */
    MOVE_TEXT(world, "01234567", "45674567", 0, region(0, 0, 4),
              region(4, 0, 4));
    /* Touching, and one byte short of touching. */
    info = MOVE_TEXT(world, "01234567", "01230123", 0, region(0, 4, 4));
    assert_int_equal(info.overlapping_count, 0);
    info = MOVE_TEXT(world, "01234567", "01201234", 0, region(0, 3, 5));
    assert_int_equal(info.overlapping_count, 1);
    info = MOVE_TEXT(world, "aabbccddeeff", "aaaacccceeff", 0, region(0, 2, 2),
                     region(4, 6, 2), region(8, 8, 2));
    (void)info;
}

static void test_three_far_apart(void **state)
{
    char before[49], after[49];
    for (int i = 0; i < 48; i++)
        before[i] = after[i] = (char)('A' + i / 4);
    memcpy(after + 8, before, 8);
    memcpy(after + 24, before + 16, 8);
    memcpy(after + 40, before + 32, 8);
    before[48] = after[48] = '\0';
    const struct clmove_batch_info info =
        MOVE_TEXT(*state, before, after, 0, region(0, 8, 8), region(16, 24, 8),
                  region(32, 40, 8));
    assert_int_equal(info.merged_count, 3);
    assert_int_equal(info.launch_count, 1);
    assert_int_equal(info.endangered_count, 0);
}

static void test_rectangles(void **state)
{
    /* Three rows of four, a column to the right: rows overlap themselves. */
    struct clmove_region rectangle = region(0, 1, 3);
    rectangle.rows = 3;
    rectangle.src_stride = rectangle.dst_stride = 4;
    struct clmove_batch_info info =
        MOVE_TEXT(*state, "abcdefghijkl", "aabceefgiijk", 0, rectangle);
    assert_int_equal(info.entry_count, 3);
    assert_int_equal(info.merged_count, 3);
    assert_int_equal(info.overlapping_count, 3);
    assert_int_equal(info.endangered_count, 0);
    /* A row down: rows endanger each other, and are whole lines, so one. */
    rectangle = region(0, 4, 4);
    rectangle.rows = 2;
    rectangle.src_stride = rectangle.dst_stride = 4;
    info = MOVE_TEXT(*state, "abcdefghijkl", "abcdabcdefgh", 0, rectangle);
    assert_int_equal(info.merged_count, 1);
    assert_int_equal(info.overlapping_count, 1);
    /* Narrower than the line: rows of their own, the first one endangers. */
    rectangle.size = 3;
    info = MOVE_TEXT(*state, "abcdefghijkl", "abcdabchefgl", 0, rectangle);
    assert_int_equal(info.endangered_count, 1);
    /* Rows are drawn together and apart. */
    rectangle = region(0, 6, 2);
    rectangle.rows = 3;
    rectangle.src_stride = 2;
    rectangle.dst_stride = 2;
    MOVE_TEXT(*state, "abcdef......", "abcdefabcdef", 0, rectangle);
    /* One row that lies on itself is dropped. */
    rectangle = region(2, 0, 2);
    rectangle.rows = 3;
    rectangle.src_stride = 2;
    rectangle.dst_stride = 4;
    info = MOVE_TEXT(*state, "..abcdefgh", "ababcdefef", 0, rectangle);
    assert_int_equal(info.dropped_count, 1);
    assert_int_equal(info.moved_size, 4);
}

static void test_refused_writers(void **state)
{
    REFUSE(*state, 64, defaults, CLMOVE_OVERLAP,
           "regions[0] and regions[2] both write byte 11 of memories[0]",
           region(40, 4, 8), region(50, 20, 2), region(32, 11, 4));
    REFUSE(*state, 64, defaults, CLMOVE_OVERLAP,
           "regions[0] and regions[1] both write byte 8 of memories[0]",
           region(0, 8, 4), region(16, 8, 4));
    struct clmove_region rows = region(0, 32, 4);
    rows.rows = 3;
    rows.src_stride = 4;
    rows.dst_stride = 3;
    REFUSE(*state, 64, defaults, CLMOVE_OVERLAP,
           "two rows of regions[0] write byte 35 of memories[0]", rows);
}

static void test_refused_ranges(void **state)
{
    REFUSE(*state, 32, defaults, CLMOVE_OUT_OF_RANGE,
           "regions[1]: src_offset 32 + size 1 runs past the 32 bytes of "
           "memories[0]",
           region(0, 1, 1), region(32, 0, 1));
    REFUSE(*state, 32, defaults, CLMOVE_OUT_OF_RANGE,
           "regions[0]: dst_offset 33 + size 0 runs past the 32 bytes of "
           "memories[0]",
           region(0, 33, 0));
    REFUSE(*state, 32, defaults, CLMOVE_OUT_OF_RANGE,
           "regions[0]: dst_offset 18446744073709551615 + size 2 runs past the "
           "32 bytes of memories[0]",
           region(0, UINT64_MAX, 2));
    struct clmove_region rows = region(0, 0, 4);
    rows.rows = UINT64_MAX;
    rows.src_stride = 1ull << 40;
    rows.dst_stride = 4;
    REFUSE(*state, 32, defaults, CLMOVE_OUT_OF_RANGE,
           "regions[0]: src_offset 0 + 18446744073709551614 further rows * "
           "src_stride 1099511627776 + size 4 runs past the 32 bytes of "
           "memories[0]",
           rows);
    rows = region(0, UINT64_MAX - 7, 4); /* the second row is at byte 8 */
    rows.rows = 2;
    rows.src_stride = rows.dst_stride = 16;
    REFUSE(*state, 32, defaults, CLMOVE_OUT_OF_RANGE,
           "regions[0]: dst_offset 18446744073709551608 + 1 further rows * "
           "dst_stride 16 + size 4 runs past the 32 bytes of memories[0]",
           rows);
    struct clmove_region other = region(0, 4, 4);
    other.dst_memory = 7;
    REFUSE(*state, 32, defaults, CLMOVE_INVALID_ARGUMENT,
           "regions[0].dst_memory is 7, and there are 1 memories", other);
    rows = region(0, 0, 0); /* nothing to do, 2^64 times */
    rows.rows = UINT64_MAX;
    REFUSE(*state, 32, defaults, CLMOVE_OUT_OF_RANGE,
           "regions[1]: the rows exceed 64 bits", rows, region(0, 0, 0));
    rows = region(0, 8, 1);
    rows.rows = 1ull << 40; /* strides 0: more rows than can be held */
    REFUSE(*state, 32, defaults, CLMOVE_UNSUPPORTED,
           "regions[0] brings the rows to more than the 2147483647 that a "
           "batch can hold",
           rows);
}

static void test_slices(void **state)
{
    /* Three slots of ten, 0->2, 1->0, 2->1, with room for two bytes each. */
    struct clmove_batch_info info =
        MOVE_TEXT(*state, "0123456789abcdefghijABCDEFGHIJ",
                  "abcdefghijABCDEFGHIJ0123456789", 7, region(0, 20, 10),
                  region(10, 0, 10), region(20, 10, 10));
    assert_int_equal(info.slice_count, 5);
    assert_int_equal(info.launch_count, 10);
    assert_int_equal(info.scratch_size, 6);
    /* Ten bytes fit, packed. */
    info = MOVE_TEXT(*state, "01234abcde", "abcde01234", 10, region(0, 5, 5),
                     region(5, 0, 5));
    assert_int_equal(info.slice_count, 1);
    assert_int_equal(info.scratch_size, 10);
    /* Four bytes a slot, and one left over. */
    info = MOVE_TEXT(*state, "01234abcde", "abcde01234", 9, region(0, 5, 5),
                     region(5, 0, 5));
    assert_int_equal(info.slice_count, 2);
    assert_int_equal(info.launch_count, 4);
    assert_int_equal(info.scratch_size, 8);
    /* A move that writes into what slices read comes last. */
    info = MOVE_TEXT(*state, "01234567abcdefghABCDEFGHstuvwxyz",
                     "stuvwxyzabcdefgh01234567stabwxyz", 9, region(24, 0, 8),
                     region(0, 16, 8), region(8, 26, 2));
    assert_int_equal(info.endangered_count, 2);
    assert_int_equal(info.slice_count, 2);
    assert_int_equal(info.launch_count, 5);
}

/* Places in another memory say nothing of slots. */
static void test_slices_of_two(void **state)
{
    struct plan_world *world = *state;
    const size_t sizes[2] = {16, 48};
    struct clmove_region regions[3] = {region(0, 10, 8), region(8, 18, 8),
                                       region(40, 0, 8)};
    struct plan plan;
    world_set_roots(world, 2, sizes, NULL);
    world_add_space(world, 0, 0, 16, true);
    world_add_space(world, 1, 0, 48, true);
    regions[0].dst_memory = regions[1].dst_memory = regions[2].src_memory = 1;
    world_fill(world, 1);
    memcpy(world->bytes + world->root_starts[0], "abcdefghijklmnop", 16);
    struct plan_params params = world_params(world, regions, 3);
    params.scratch_limit = 8; /* the first two are endangered */
    assert_int_equal(plan_make(&keeper, &params, &plan), CLMOVE_SUCCESS);
    assert_int_equal(plan.info.slice_count, 2);
    if (!world_run(world, &params, &plan))
        fail_msg("%s", world->fault);
    assert_memory_equal(world->bytes + world->root_starts[1] + 10,
                        "abcdefghijklmnop", 16);
    plan_release(&plan);
}

static void test_refused_scratch(void **state)
{
    struct plan_params wishes = {.scratch_limit = 1};
    REFUSE(*state, 16, wishes, CLMOVE_OUT_OF_RANGE,
           "scratch_limit is 1, and the batch needs 10 bytes for 2 moves whose "
           "sources others write; they cannot be sliced within the limit",
           region(0, 5, 5), region(5, 0, 5));
    wishes.scratch_limit = 6;
    REFUSE(*state, 16, wishes, CLMOVE_OUT_OF_RANGE,
           "scratch_limit is 6, and the batch needs 9 bytes for 2 moves whose "
           "sources others write; they cannot be sliced within the limit",
           region(0, 5, 5), region(5, 0, 4));
    wishes = (struct plan_params){.variant = CLMOVE_VARIANT_DISJOINT};
    REFUSE(*state, 16, wishes, CLMOVE_INVALID_ARGUMENT,
           "variant is disjoint, and the move of 8 bytes to byte 3 of "
           "memories[0] overlaps itself",
           region(0, 3, 8));
}

/* Disjoint moves stay apart when together they would overlap. */
static void test_forced_disjoint(void **state)
{
    struct plan_world *world = *state;
    const struct clmove_region regions[2] = {region(0, 4, 4), region(4, 8, 4)};
    struct plan plan;
    set_text(world, "AAAABBBBCCCC");
    struct plan_params params = world_params(world, regions, 2);
    params.variant = CLMOVE_VARIANT_DISJOINT;
    assert_int_equal(plan_make(&keeper, &params, &plan), CLMOVE_SUCCESS);
    assert_int_equal(plan.info.merged_count, 2);
    assert_int_equal(plan.info.endangered_count, 1);
    assert_true(world_run(world, &params, &plan));
    assert_memory_equal(world->bytes + world->root_starts[0], "AAAAAAAABBBB",
                        12);
    plan_release(&plan);
}

/* Two memories of one root are compared in the root, two roots are not. */
static void test_memories(void **state)
{
    struct plan_world *world = *state;
    const size_t sizes[2] = {32, 32};
    struct clmove_region regions[2] = {region(0, 0, 16), region(0, 0, 16)};
    struct plan plan;
    world_set_roots(world, 2, sizes, NULL);
    world_add_space(world, 0, 0, 32, true);
    world_add_space(world, 0, 8, 24, true);
    world_add_space(world, 1, 0, 32, true);
    regions[0].dst_memory = 1; /* root 0: 0..16 to 8..24 */
    regions[1].src_memory = 1;
    regions[1].dst_memory = 2;
    struct plan_params params = world_params(world, regions, 2);
    assert_int_equal(plan_make(&keeper, &params, &plan), CLMOVE_SUCCESS);
    assert_int_equal(plan.moves[0].entry_class, CLMOVE_ENTRY_RIGHT);
    assert_int_equal(plan.moves[1].entry_class, CLMOVE_ENTRY_ENDANGERED);
    assert_int_equal(plan.entry_moves[0], 0);
    assert_int_equal(plan.entry_moves[1], 1);
    plan_release(&plan);
    regions[1] = region(20, 8, 2); /* byte 8 of memories[0] */
    assert_int_equal(plan_make(&keeper, &params, &plan), CLMOVE_OVERLAP);
    assert_string_equal(
        said, "regions[0] and regions[1] both write byte 8 of memories[0]");
    plan_release(&plan);
}

/* Moves that touch across a border of memories stay two: a handle reaches no
 * further. */
static void test_touching_memories(void **state)
{
    struct plan_world *world = *state;
    const size_t sizes[2] = {32, 32};
    struct clmove_region regions[2] = {region(0, 0, 16), region(16, 0, 16)};
    struct plan plan;
    world_set_roots(world, 2, sizes, NULL);
    world_add_space(world, 0, 0, 32, true);
    world_add_space(world, 1, 0, 16, true);
    world_add_space(world, 1, 16, 16, true);
    world_fill(world, 1);
    for (int i = 0; i < 2; i++) { /* to both parts, then from both */
        regions[0].src_memory = i ? 1 : 0;
        regions[1].src_memory = i ? 2 : 0;
        regions[0].dst_memory = i ? 0 : 1;
        regions[1].dst_memory = i ? 0 : 2;
        regions[1].src_offset = i ? 0 : 16;
        regions[1].dst_offset = i ? 16 : 0;
        struct plan_params params = world_params(world, regions, 2);
        assert_int_equal(plan_make(&keeper, &params, &plan), CLMOVE_SUCCESS);
        assert_int_equal(plan.move_count, 2);
        if (!world_run(world, &params, &plan))
            fail_msg("%s", world->fault);
        plan_release(&plan);
    }
}

/* More buffers than a launch reaches: more launches, few of them. */
static void test_many_bindings(void **state)
{
    struct plan_world *world = *state;
    enum { SPACES = 78, SIZE = 16 };
    const size_t size = SPACES * SIZE;
    struct clmove_region regions[SPACES];
    unsigned char before[ROOM], after[ROOM], marks[ROOM];
    struct plan plan;
    world_set_roots(world, 1, &size, NULL);
    for (uint32_t i = 0; i < SPACES; i++) {
        world_add_space(world, 0, i * SIZE, SIZE, true);
        regions[i] = region(0, 0, SIZE);
        regions[i].src_memory = i * 37 % SPACES;
        regions[i].dst_memory = i;
    }
    world_fill(world, 5);
    memcpy(before, world->bytes, world->size);
    assert_true(world_reference(world, regions, SPACES, before, after, marks));
    struct plan_params params = world_params(world, regions, SPACES);
    params.bank_limit = 16;
    assert_int_equal(plan_make(&keeper, &params, &plan), CLMOVE_SUCCESS);
    if (!world_run(world, &params, &plan))
        fail_msg("%s", world->fault);
    assert_memory_equal(world->bytes, after, world->size);
    assert_true(plan.launch_count > 2);
    assert_true(plan.launch_count <= 12);
    plan_release(&plan);
}

static int setup(void **state)
{
    static struct plan_world world;
    world_create(&world, ROOM);
    *state = &world;
    return 0;
}

static int teardown(void **state)
{
    world_destroy(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain_and_cycle),
        cmocka_unit_test(test_touching_is_harmless),
        cmocka_unit_test(test_swap_and_rotation),
        cmocka_unit_test(test_one_source_many_destinations),
        cmocka_unit_test(test_neighbours_become_one),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_three_far_apart),
        cmocka_unit_test(test_rectangles),
        cmocka_unit_test(test_refused_writers),
        cmocka_unit_test(test_refused_ranges),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_slices_of_two),
        cmocka_unit_test(test_refused_scratch),
        cmocka_unit_test(test_forced_disjoint),
        cmocka_unit_test(test_memories),
        cmocka_unit_test(test_touching_memories),
        cmocka_unit_test(test_many_bindings),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
