/* The reference's slots and other inputs against literal values. */

#include "reference.h"
#include "testing.h"

#include <string.h>

enum { ROWS = 4, SLOTS = 6, COLUMNS = 4, BLOCKS = 32 };

/* Temporal states of one byte, so that a copy is one number; block b holds
 * 100 + b. Row r (or slot r) owns the blocks 4 r to 4 r + 3. */
struct world {
    struct ref_state states[2];
    struct ref_group group;
    struct ref_table table;
    int32_t entries[SLOTS * COLUMNS];
    int32_t slot_of[ROWS], scheduled[ROWS], draft[ROWS], starts[ROWS + 1];
    int32_t computed[SLOTS], now[SLOTS], accepted[SLOTS], column[SLOTS];
    int32_t source[SLOTS], destination[SLOTS], bias[SLOTS];
    int32_t accepted_out[SLOTS], column_out[SLOTS];
    struct ref_fault faults[ROWS];
    unsigned char bytes[BLOCKS], windows[BLOCKS * 4];
    struct ref_step step;
};

static void set_slot(struct world *world, int slot, int32_t computed,
                     int32_t accepted, int32_t column)
{
    world->computed[slot] = computed;
    world->accepted[slot] = accepted;
    world->column[slot] = column;
}

/* A window of 4 tokens of one byte: token t of block b is 4 b + t. */
static void add_states(struct world *world)
{
    struct ref_state *temporal = &world->states[0];
    struct ref_state *conv = &world->states[1];

    temporal->kind = REF_TEMPORAL;
    temporal->memory = world->bytes;
    temporal->block_count = conv->block_count = BLOCKS;
    temporal->block_stride = temporal->size = 1;
    conv->kind = REF_CONV_SD;
    conv->memory = world->windows;
    conv->block_stride = conv->width = 4;
    conv->dim = conv->element_size = 1;
    for (int i = 0; i < BLOCKS; i++) {
        world->bytes[i] = (unsigned char)(100 + i);
    }
    for (int i = 0; i < BLOCKS * 4; i++) {
        world->windows[i] = (unsigned char)i;
    }
}

/* Every slot: 14 tokens computed, one accepted, running column 0; every row: 3
 * tokens scheduled, so that pre-process goes from column 0 to 1 (B = 16). */
static void world_init(struct world *world)
{
    struct ref_step *step = &world->step;

    memset(world, 0, sizeof(*world));
    add_states(world);
    for (int i = 0; i < SLOTS * COLUMNS; i++) {
        world->entries[i] = i;
    }
    for (int i = 0; i < SLOTS; i++) {
        set_slot(world, i, 14, 1, 0);
        world->accepted_out[i] = world->column_out[i] = -99;
        world->source[i] = -1;
    }
    for (int i = 0; i < ROWS; i++) {
        world->slot_of[i] = i;
        world->scheduled[i] = 3;
        world->starts[i + 1] = world->starts[i] + 3;
    }
    world->table = (struct ref_table){world->entries, COLUMNS, COLUMNS};
    step->states = world->states;
    step->state_count = 2;
    step->groups = &world->group;
    step->tables = &world->table;
    step->group_count = 1;
    step->tokens_per_block = 16;
    step->rows = ROWS;
    step->slot_count = SLOTS;
    step->slot_of = world->slot_of;
    step->computed = world->computed;
    step->scheduled = world->scheduled;
    step->draft = world->draft;
    step->accepted_in = world->accepted;
    step->accepted_out = world->accepted_out;
    step->column_in = world->column;
    step->column_out = world->column_out;
    step->copy_source = world->source;
    step->copy_destination = world->destination;
    step->copy_bias = world->bias;
    step->faults = world->faults;
}

static void expect_fault(const struct ref_fault *fault, int32_t kind,
                         int32_t index, int32_t column, int32_t value)
{
    assert_int_equal(fault->kind, kind);
    assert_int_equal(fault->state, index);
    assert_int_equal(fault->column, column);
    assert_int_equal(fault->value, value);
}

static void expect_no_faults(const struct world *world)
{
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(world->faults[i].kind, REF_FAULT_NONE);
    }
}

/* Row 0 is slot 5, row 2 is slot 0; 1 and 3 are padding. */
static void test_slots(void **state)
{
    static const int32_t slots[ROWS] = {5, -1, 0, -1};
    static const int32_t columns[SLOTS] = {1, 0, 0, 0, 0, 1};
    static const int32_t accepted[SLOTS] = {1, 7, 7, 7, 7, 1};
    struct world world;

    (void)state;
    world_init(&world);
    memcpy(world.slot_of, slots, sizeof(slots));
    for (int i = 0; i < SLOTS; i++) {
        world.accepted[i] = 7;
    }
    world.accepted[0] = 3; /* bias 2 */
    world.accepted[5] = 1;
    ref_pre(&world.step);
    expect_no_faults(&world);
    assert_memory_equal(world.column_out, columns, sizeof(columns));
    assert_memory_equal(world.accepted_out, accepted, sizeof(accepted));
    /* by row: row 0 has blocks 0 to 3, row 2 has 8 to 11 */
    assert_int_equal(world.bytes[1], 100);
    assert_int_equal(world.bytes[9], 110); /* column 0 + 2 */
    assert_int_equal(world.bytes[5], 105);
    assert_int_equal(world.bytes[21], 121);
    assert_memory_equal(&world.windows[9 * 4], ((unsigned char[]){34, 35}), 2);
    assert_memory_equal(&world.windows[9 * 4 + 2], ((unsigned char[]){38, 39}),
                        2);

    world_init(&world);
    memcpy(world.slot_of, slots, sizeof(slots));
    world.step.tables_by_slot = 1;
    ref_pre(&world.step);
    expect_no_faults(&world);
    /* by slot: slot 5 has blocks 20 to 23, slot 0 has 0 to 3 */
    assert_int_equal(world.bytes[1], 100);
    assert_int_equal(world.bytes[21], 120);
    assert_int_equal(world.bytes[9], 109);
}

static void test_slot_faults(void **state)
{
    static const int32_t slots[ROWS] = {2, 6, 2, -2};
    struct world world;

    (void)state;
    world_init(&world);
    memcpy(world.slot_of, slots, sizeof(slots));
    world.scheduled[2] = -1; /* comes after the slot: is not reported */
    world.scheduled[3] = 0;
    ref_pre(&world.step);
    expect_fault(&world.faults[0], REF_FAULT_SLOT_TWICE, -1, -1, 2);
    expect_fault(&world.faults[1], REF_FAULT_SLOT, -1, -1, 6);
    expect_fault(&world.faults[2], REF_FAULT_SLOT_TWICE, -1, -1, 2);
    expect_fault(&world.faults[3], REF_FAULT_SLOT, -1, -1, -2);
    for (int i = 0; i < SLOTS; i++) {
        assert_int_equal(world.column_out[i], 0);
        assert_int_equal(world.accepted_out[i], 1);
    }
    for (int i = 0; i < BLOCKS; i++) {
        assert_int_equal(world.bytes[i], 100 + i);
    }

    /* -1 twice is nothing; a row past the batch names no slot. */
    world_init(&world);
    memcpy(world.slot_of, ((int32_t[ROWS]){-1, 3, -1, 3}), 16);
    world.step.rows = 3;
    ref_pre(&world.step);
    expect_no_faults(&world);
    assert_int_equal(world.column_out[3], 1);
}

static void test_query_starts(void **state)
{
    struct world world;

    (void)state;
    world_init(&world);
    world.step.query_starts = world.starts;
    world.step.scheduled = NULL;
    memcpy(world.starts, ((int32_t[]){7, 9, 9, 8, 11}), 20);
    ref_pre(&world.step);
    assert_int_equal(world.column_out[0], 0); /* 14 + 2 */
    assert_int_equal(world.column_out[1], 0); /* not in the step */
    expect_fault(&world.faults[2], REF_FAULT_COUNTER, -1, REF_COUNTER_SCHEDULED,
                 -1);
    assert_int_equal(world.column_out[3], 1); /* 14 + 3 */

    /* Differences of 2^32 - 1 and its negative. */
    memcpy(world.starts, ((int32_t[]){INT32_MIN, INT32_MAX, INT32_MIN, 0, 0}),
           20);
    memset(world.faults, 0, sizeof(world.faults));
    ref_pre(&world.step);
    expect_fault(&world.faults[0], REF_FAULT_COLUMN, 0, 134217728, 4);
    expect_fault(&world.faults[1], REF_FAULT_COUNTER, -1, REF_COUNTER_SCHEDULED,
                 INT32_MIN);
    assert_int_equal(world.faults[3].kind, REF_FAULT_NONE);
}

/* N given: now, accepted, column; what becomes of it. */
static void test_now_computed(void **state)
{
    static const struct {
        int32_t now, accepted, column;
        int copy, reset;
        int64_t destination, bias;
    } cases[] = {
        {65, 3, 3, 1, 1, 3, 1}, /* semantics' first row: R 63 */
        {34, 2, 1, 0, 0, 0, 0}, /* A 32 below R 33 */
        {17, 2, 0, 0, 1, 0, 0}, /* same column, bias 0 */
        {32, 3, 1, 1, 1, 1, 2},
        {16, 1, 1, 1, 0, 0, 0},
        {15, 15, 0, 0, 0, 0, 0},  /* no boundary yet */
        {16, 0, 0, 0, 0, 0, 0},   /* took no part */
        {16, 20, 0, 1, 1, 0, 19}, /* R -3: the rule takes it as it is */
        {INT32_MAX, INT32_MAX, 0, 1, 0, 134217726, 2147483631},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world world;
        struct ref_decision decision;
        world_init(&world);
        world.step.now_computed = world.now;
        world.step.computed = world.step.scheduled = world.step.draft = NULL;
        world.step.state_count = 0; /* no block is looked at */
        world.now[0] = cases[i].now;
        set_slot(&world, 0, -5, cases[i].accepted, cases[i].column);
        decision = ref_decide_post(&world.step, 0);
        assert_int_equal(decision.fault.kind, REF_FAULT_NONE);
        assert_int_equal(decision.copy, cases[i].copy);
        assert_int_equal(decision.reset, cases[i].reset);
        if (cases[i].copy) {
            assert_int_equal(decision.destination, cases[i].destination);
            assert_int_equal(decision.bias, cases[i].bias);
        }
    }
}

static void test_now_faults(void **state)
{
    struct world world;

    (void)state;
    world_init(&world);
    world.step.now_computed = world.now;
    world.now[0] = -1;
    set_slot(&world, 0, 0, -1, 0);
    set_slot(&world, 1, 0, -1, 0);
    set_slot(&world, 2, 0, 0, 0);
    world.now[2] = INT32_MIN;
    ref_post(&world.step);
    expect_fault(&world.faults[0], REF_FAULT_COUNTER, -1, REF_COUNTER_NOW, -1);
    expect_fault(&world.faults[1], REF_FAULT_COUNTER, -1, REF_COUNTER_ACCEPTED,
                 -1);
    expect_fault(&world.faults[2], REF_FAULT_COUNTER, -1, REF_COUNTER_NOW,
                 INT32_MIN);
    assert_int_equal(world.accepted_out[0], -1);
}

static void test_pre_copy(void **state)
{
    struct world world;

    (void)state;
    world_init(&world);
    world.source[0] = 0, world.destination[0] = 3, world.bias[0] = 1;
    world.source[1] = -1, world.bias[1] = -1;   /* nothing */
    world.source[2] = world.destination[2] = 1; /* nothing */
    world.bias[2] = -1;
    world.source[3] = 1, world.destination[3] = 0, world.bias[3] = -1;
    ref_pre_copy(&world.step);
    assert_int_equal(world.bytes[3], 101);
    assert_memory_equal(&world.windows[12], ((unsigned char[]){1, 2, 3, 15}),
                        4);
    expect_fault(&world.faults[3], REF_FAULT_COUNTER, -1, REF_COUNTER_BIAS, -1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(world.faults[i].kind, REF_FAULT_NONE);
    }
    assert_int_equal(world.accepted_out[0], -99);
    assert_int_equal(world.column_out[0], -99);
    assert_int_equal(world.bytes[5], 105);

    world.source[3] = -2, world.bias[3] = 0;
    ref_pre_copy(&world.step);
    expect_fault(&world.faults[3], REF_FAULT_COLUMN, 0, -2, COLUMNS);
}

static void test_keep_and_skip(void **state)
{
    struct world world;

    (void)state;
    world_init(&world);
    world.step.keep_accepted = world.step.skip_temporal = 1;
    set_slot(&world, 1, 14, 3, 0);
    world.entries[4 + 2] = -1; /* the temporal source: nobody looks */
    ref_pre(&world.step);
    expect_no_faults(&world);
    assert_int_equal(world.accepted_out[1], 3);
    assert_int_equal(world.column_out[1], 1);
    assert_int_equal(world.bytes[5], 105);
    assert_memory_equal(&world.windows[5 * 4], ((unsigned char[]){18, 19}), 2);
    world.step.skip_temporal = 0;
    ref_pre(&world.step);
    expect_fault(&world.faults[1], REF_FAULT_BLOCK, 0, 2, -1);
}

static void test_indices(void **state)
{
    /* columns 1, 2 of row 0; 3 and past the table; padding; no slot */
    static const int32_t want[] = {1, 2, 3, 7, -1, -1, -1, -1, -1, -1, -1, -1};
    static const int32_t by_slot[] = {5,  6,  7,  19, -1, -1,
                                      -1, -1, -1, -1, -1, -1};
    int32_t out[12];
    struct world world;

    (void)state;
    world_init(&world);
    memcpy(world.slot_of, ((int32_t[ROWS]){1, 4, -1, 6}), 16);
    world.computed[4] = 50;
    ref_indices(&world.step, 3, out);
    assert_memory_equal(out, want, sizeof(want));
    world.step.tables_by_slot = 1;
    ref_indices(&world.step, 3, out);
    assert_memory_equal(out, by_slot, sizeof(by_slot));

    world.step.rows = 2;
    world.step.tokens_per_block = 1;
    world.computed[1] = 0, world.scheduled[0] = 0; /* (0 - 1) / 1: column 0 */
    world.computed[4] = -1;
    ref_indices(&world.step, 1, out);
    assert_memory_equal(out, ((int32_t[]){4, -1}), 8);
    world.scheduled[0] = -1, world.computed[4] = INT32_MAX;
    world.scheduled[1] = INT32_MAX;
    ref_indices(&world.step, 1, out);
    assert_memory_equal(out, ((int32_t[]){-1, -1}), 8);
}

/* SD of 5 tokens to DS of 3 with a row gap, and back. */
static void test_block_copies(void **state)
{
    unsigned char wide[2 * 10], narrow[2 * 8], side[4] = {7, 8, 9, 10};
    struct ref_state from[2] = {{.kind = REF_CONV_SD,
                                 .memory = wide,
                                 .block_count = 2,
                                 .block_stride = 10,
                                 .width = 5,
                                 .dim = 2,
                                 .element_size = 1},
                                {.kind = REF_TEMPORAL,
                                 .memory = side,
                                 .block_count = 4,
                                 .block_stride = 1,
                                 .size = 1}};
    struct ref_state to[2] = {from[0], from[1]};
    const struct ref_block_copy there[] = {{0, 2, 1, 3, 0}};
    const struct ref_block_copy back[] = {{0, 1, 0, -1, 0}, {0, 4, 1, 2, 1}};

    (void)state;
    to[0].kind = REF_CONV_DS, to[0].memory = narrow;
    to[0].block_stride = 8, to[0].row_stride = 4, to[0].width = 3;
    for (int i = 0; i < 20; i++) {
        wide[i] = (unsigned char)i;
    }
    memset(narrow, 99, sizeof(narrow));
    ref_copy_blocks(from, to, 2, there, 1);
    assert_memory_equal(
        narrow, ((unsigned char[]){14, 16, 18, 99, 15, 17, 19, 99, 99}), 9);
    assert_memory_equal(side, ((unsigned char[]){10, 8, 9, 10}), 4);
    ref_copy_blocks(to, from, 2, back, 2);
    assert_memory_equal(wide, ((unsigned char[]){16, 17, 18, 19, 4, 5}), 6);
    assert_memory_equal(wide + 10, ((unsigned char[]){10, 11, 12}), 3);
    assert_memory_equal(side, ((unsigned char[]){10, 9, 9, 10}), 4);
}

static void test_zero_and_permute(void **state)
{
    unsigned char bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    /* one channel, window of 1, blocks 2 bytes apart: odd ones are gaps */
    const struct ref_state one = {.kind = REF_CONV_SD,
                                  .memory = bytes,
                                  .block_count = 4,
                                  .block_stride = 2,
                                  .width = 1,
                                  .dim = 1,
                                  .element_size = 1};
    const int32_t from[] = {0, 1, 2}, to[] = {1, 2, 0}, zero[] = {3, 1, 3};

    (void)state;
    ref_permute_blocks(&one, 1, 0, from, to, 3);
    assert_memory_equal(bytes, ((unsigned char[]){5, 2, 1, 4, 3, 6, 7, 8}), 8);
    ref_permute_blocks(&one, 1, 1, from, to, 3); /* another group */
    assert_memory_equal(bytes, ((unsigned char[]){5, 2, 1, 4, 3, 6, 7, 8}), 8);
    ref_zero_blocks(&one, 1, 0, zero, 3);
    assert_memory_equal(bytes, ((unsigned char[]){5, 2, 0, 4, 3, 6, 0, 8}), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_slot_faults),
        cmocka_unit_test(test_query_starts),
        cmocka_unit_test(test_now_computed),
        cmocka_unit_test(test_now_faults),
        cmocka_unit_test(test_pre_copy),
        cmocka_unit_test(test_keep_and_skip),
        cmocka_unit_test(test_indices),
        cmocka_unit_test(test_block_copies),
        cmocka_unit_test(test_zero_and_permute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
