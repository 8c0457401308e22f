/* The reference against literal values: no device, no library. */

#include "reference.h"
#include "testing.h"

#include <string.h>

/* One request, one group, any states; the tests change what they are about. */
struct world {
    struct ref_state states[4];
    struct ref_group group;
    struct ref_table table;
    int32_t entries[8];
    int32_t computed, scheduled, draft, column;
    int32_t accepted, accepted_out, column_out;
    struct ref_fault fault;
    struct ref_step step;
    unsigned char bytes[4096];
};

static void world_init(struct world *world, uint32_t tokens_per_block)
{
    memset(world, 0, sizeof(*world));
    for (int i = 0; i < 8; i++) {
        world->entries[i] = i;
    }
    world->table.entries = world->entries;
    world->table.columns = 8;
    world->table.row_stride = 8;
    world->step.states = world->states;
    world->step.groups = &world->group;
    world->step.tables = &world->table;
    world->step.group_count = 1;
    world->step.tokens_per_block = tokens_per_block;
    world->step.rows = 1;
    world->step.slot_count = 1;
    world->step.computed = &world->computed;
    world->step.scheduled = &world->scheduled;
    world->step.draft = &world->draft;
    world->step.accepted_in = &world->accepted;
    world->step.accepted_out = &world->accepted_out;
    world->step.column_in = &world->column;
    world->step.column_out = &world->column_out;
    world->step.faults = &world->fault;
    world->accepted_out = world->column_out = -99;
}

static void world_set(struct world *world, int32_t computed, int32_t scheduled,
                      int32_t draft, int32_t accepted, int32_t column)
{
    world->computed = computed;
    world->scheduled = scheduled;
    world->draft = draft;
    world->accepted = accepted;
    world->column = column;
}

/* A DS or SD state of 1-byte elements. */
static struct ref_state *world_conv(struct world *world, int kind,
                                    uint32_t width, uint32_t dim)
{
    struct ref_state *state = &world->states[world->step.state_count++];
    state->kind = kind;
    state->memory = world->bytes;
    state->block_count = 8;
    state->block_stride = (uint64_t)width * dim;
    state->row_stride = width;
    state->width = width;
    state->dim = dim;
    state->element_size = 1;
    return state;
}

enum outcome { NONE, MOVE, RESET_ONLY };

struct table_case {
    int32_t computed, scheduled, draft, accepted, block, column;
    enum outcome outcome;
    int64_t destination, bias;
    int32_t accepted_after;
};

static void check_table(const struct table_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct table_case *row = &cases[i];
        struct world world;
        struct ref_decision decision;
        world_init(&world, (uint32_t)row->block);
        world_set(&world, row->computed, row->scheduled, row->draft,
                  row->accepted, row->column);
        decision = ref_decide_post(&world.step, 0);
        ref_post(&world.step);
        assert_int_equal(decision.fault.kind, REF_FAULT_NONE);
        assert_int_equal(decision.copy, row->outcome == MOVE);
        assert_int_equal(world.accepted_out, row->accepted_after);
        assert_int_equal(world.column_out, row->column); /* passed on */
        if (row->outcome != NONE) {
            assert_int_equal(decision.destination, row->destination);
            assert_int_equal(decision.bias, row->bias);
            assert_int_equal(decision.source, row->column);
        }
    }
}

/* vllm-project/vllm: tests of the mamba cache's post-processing; computed,
 * scheduled, draft, accepted, block size. */
static void test_post_table(void **state)
{
    static const struct table_case cases[] = {
        {60, 5, 2, 3, 16, 3, MOVE, 3, 1, 1},
        {30, 3, 0, 2, 16, 1, NONE, 0, 0, 2},
        {45, 8, 3, 4, 16, 2, NONE, 0, 0, 4},
        {10, 6, 0, 2, 16, 0, RESET_ONLY, 0, 0, 1},
        {28, 2, 0, 3, 16, 1, MOVE, 1, 2, 1},
        {1085, 3, 2, 3, 1088, 0, MOVE, 0, 2, 1},
        {6, 3, 2, 2, 8, 1, MOVE, 0, 1, 2},
        {6, 3, 2, 1, 8, 1, NONE, 0, 0, 1},
        {7, 3, 2, 0, 8, 0, NONE, 0, 0, 0},
        {0, 1, 1, 1, 8, 0, NONE, 0, 0, 1},
        {15, 0, 0, 3, 16, 0, NONE, 0, 0, 3},
    };
    (void)state;
    check_table(cases, sizeof(cases) / sizeof(cases[0]));
}

/* vllm-project/vllm issue 53505: acceptance that ends at or past a boundary. */
static void test_post_boundary(void **state)
{
    static const struct table_case cases[] = {
        {6, 3, 2, 2, 8, 1, MOVE, 0, 1, 2},
        {6, 3, 2, 1, 8, 1, NONE, 0, 0, 1},
        {6, 3, 2, 3, 8, 1, MOVE, 0, 1, 3},
        {5, 3, 2, 3, 8, 0, MOVE, 0, 2, 1},
        {7, 1, 0, 1, 8, 0, RESET_ONLY, 0, 0, 1},
        {7, 3, 2, 0, 8, 0, NONE, 0, 0, 0},
        /* Two boundaries in one step: only the last is saved. */
        {6, 12, 11, 12, 4, 4, MOVE, 3, 9, 12},
    };
    (void)state;
    check_table(cases, sizeof(cases) / sizeof(cases[0]));
}

static void test_post_not_scheduled(void **state)
{
    struct world world;
    (void)state;
    world_init(&world, 16);
    /* Stale numbers of a row outside the step are no fault. */
    world_set(&world, -5, 2, 2, -7, -1);
    ref_post(&world.step);
    assert_int_equal(world.accepted_out, -7);
    assert_int_equal(world.fault.kind, REF_FAULT_NONE);
}

static void expect_fault(const struct ref_fault *fault, int32_t kind,
                         int32_t index, int32_t column, int32_t value)
{
    assert_int_equal(fault->kind, kind);
    assert_int_equal(fault->state, index);
    assert_int_equal(fault->column, column);
    assert_int_equal(fault->value, value);
}

static void test_post_negative_counters(void **state)
{
    struct world world;
    (void)state;
    world_init(&world, 16);
    world_set(&world, -1, -2, -3, -4, 0);
    ref_post(&world.step);
    expect_fault(&world.fault, REF_FAULT_COUNTER, -1, REF_COUNTER_SCHEDULED,
                 -2);
    assert_int_equal(world.accepted_out, -4);

    world_set(&world, -1, 2, -3, -4, 0);
    ref_post(&world.step);
    expect_fault(&world.fault, REF_FAULT_COUNTER, -1, REF_COUNTER_DRAFT, -3);

    world_set(&world, -1, 2, 0, -4, 0);
    ref_post(&world.step);
    expect_fault(&world.fault, REF_FAULT_COUNTER, -1, REF_COUNTER_COMPUTED, -1);

    world_set(&world, 1, 2, 0, -4, 0);
    ref_post(&world.step);
    expect_fault(&world.fault, REF_FAULT_COUNTER, -1, REF_COUNTER_ACCEPTED, -4);
}

struct pre_case {
    int32_t computed, scheduled, accepted, block, column;
    int copy;
    int64_t bias;
    int32_t accepted_after, column_after;
};

static void test_pre_table(void **state)
{
    static const struct pre_case cases[] = {
        {16, 1, 1, 16, 0, 1, 0, 1, 1}, /* the next block */
        {16, 3, 3, 16, 0, 1, 2, 1, 1}, {15, 3, 2, 16, 0, 1, 1, 1, 1},
        {14, 2, 2, 16, 0, 0, 0, 2, 0}, /* still in the block */
        {0, 5, 1, 16, -1, 0, 0, 1, 0}, /* a new request */
        {32, 5, 1, 16, 1, 1, 0, 1, 2}, /* prefix found: column 1 is it */
        {20, 0, 3, 16, 7, 0, 0, 3, 7}, /* not in the step */
        {20, 1, 0, 16, 0, 1, 0, 1, 1}, /* accepted 0: bias 0 */
        {40, 4, 4, 16, 3, 1, 3, 1, 2}, /* back by a column */
        {5, 1, 9, 1, 4, 1, 8, 1, 5},   /* blocks of one token */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world world;
        struct ref_decision decision;
        world_init(&world, (uint32_t)cases[i].block);
        world_set(&world, cases[i].computed, cases[i].scheduled, 0,
                  cases[i].accepted, cases[i].column);
        decision = ref_decide_pre(&world.step, 0);
        ref_pre(&world.step);
        assert_int_equal(decision.copy, cases[i].copy);
        assert_int_equal(decision.bias, cases[i].bias);
        assert_int_equal(world.accepted_out, cases[i].accepted_after);
        assert_int_equal(world.column_out, cases[i].column_after);
        assert_int_equal(world.fault.kind, REF_FAULT_NONE);
    }
}

static void test_pre_faults(void **state)
{
    struct world world;
    (void)state;
    world_init(&world, 1);
    world_set(&world, INT32_MAX, INT32_MAX, 0, 1, 3);
    ref_pre(&world.step);
    expect_fault(&world.fault, REF_FAULT_COUNTER, -1, REF_COUNTER_COMPUTED,
                 INT32_MAX);
    assert_int_equal(world.accepted_out, 1);
    assert_int_equal(world.column_out, 3);

    world_set(&world, 3, -1, 0, 1, 3);
    ref_pre(&world.step);
    expect_fault(&world.fault, REF_FAULT_COUNTER, -1, REF_COUNTER_SCHEDULED,
                 -1);

    /* The destination column 8 is past the table; the column stays. */
    world_conv(&world, REF_CONV_SD, 4, 2);
    world_set(&world, 8, 1, 0, 1, 3);
    ref_pre(&world.step);
    expect_fault(&world.fault, REF_FAULT_COLUMN, 0, 8, 8);
    assert_int_equal(world.column_out, 3);
}

/* Sandermage/genesis-vllm-patches issue 17: rows of a DS window. */
static void ds_shift(unsigned char *bytes, int32_t destination)
{
    struct world world;
    struct ref_decision decision;
    world_init(&world, 16);
    world_conv(&world, REF_CONV_DS, 6, 4);
    memset(world.bytes, 99, sizeof(world.bytes));
    for (int row = 0; row < 4; row++) {
        for (int token = 0; token < 6; token++) {
            world.bytes[row * 6 + token] = (unsigned char)(10 * row + token);
        }
    }
    memset(&decision, 0, sizeof(decision));
    decision.copy = 1;
    decision.bias = 1;
    decision.destination = destination;
    ref_copy(&world.step, 0, &decision);
    memcpy(bytes, world.bytes, 72);
}

static void test_ds_rows(void **state)
{
    static const unsigned char distinct[24] = {1,  2,  3,  4,  5,  99, 11, 12,
                                               13, 14, 15, 99, 21, 22, 23, 24,
                                               25, 99, 31, 32, 33, 34, 35, 99};
    static const unsigned char same[24] = {1,  2,  3,  4,  5,  5,  11, 12,
                                           13, 14, 15, 15, 21, 22, 23, 24,
                                           25, 25, 31, 32, 33, 34, 35, 35};
    unsigned char bytes[72];
    (void)state;
    ds_shift(bytes, 1);
    assert_memory_equal(bytes + 24, distinct, 24);
    assert_int_equal(bytes[0], 0);
    assert_int_equal(bytes[23], 35);
    assert_int_equal(bytes[48], 99);
    ds_shift(bytes, 0);
    assert_memory_equal(bytes, same, 24);
    assert_int_equal(bytes[24], 99);
}

static void test_sd_in_place(void **state)
{
    static const unsigned char want[11] = {9, 4, 5, 6, 7, 8, 9, 6, 7, 8, 9};
    struct world world;
    struct ref_decision decision;
    (void)state;
    world_init(&world, 16);
    world_conv(&world, REF_CONV_SD, 5, 2)->memory = world.bytes + 1;
    world.bytes[0] = 9;
    for (int i = 0; i < 10; i++) {
        world.bytes[1 + i] = (unsigned char)i;
    }
    memset(&decision, 0, sizeof(decision));
    decision.copy = 1;
    decision.bias = 2; /* windows overlap: 2 * 2 < 5 */
    ref_copy(&world.step, 0, &decision);
    assert_memory_equal(world.bytes, want, sizeof(want));

    decision.bias = 5; /* shifted out whole: nothing moves */
    ref_copy(&world.step, 0, &decision);
    assert_memory_equal(world.bytes, want, sizeof(want));
}

/* vllm-project/vllm issue 41884: the source entry lies past the row's blocks.
 */
static void test_temporal_past_row(void **state)
{
    static const int32_t entries[4] = {7, 6, -1, -1};
    struct world world;
    struct ref_state *temporal;
    (void)state;
    world_init(&world, 16);
    memcpy(world.entries, entries, sizeof(entries));
    world.table.columns = 4;
    temporal = world_conv(&world, REF_TEMPORAL, 0, 0);
    temporal->size = 12;
    temporal->block_stride = 20;
    for (int i = 0; i < 160; i++) {
        world.bytes[i] = (unsigned char)i;
    }
    /* R = 30, N = 32, A = 32: column 1 to 1 with bias 2, then bias 1. */
    world_set(&world, 29, 3, 2, 3, 1);
    ref_post(&world.step);
    expect_fault(&world.fault, REF_FAULT_BLOCK, 0, 3, -1);
    assert_int_equal(world.accepted_out, 3);
    world_set(&world, 30, 3, 2, 2, 1);
    ref_post(&world.step);
    expect_fault(&world.fault, REF_FAULT_BLOCK, 0, 2, -1);
    world_set(&world, 27, 5, 4, 5, 1); /* R 28, N 32: column 1 + 4 */
    ref_post(&world.step);
    expect_fault(&world.fault, REF_FAULT_COLUMN, 0, 5, 4);
    for (int i = 0; i < 160; i++) {
        assert_int_equal(world.bytes[i], i);
    }
    /* Healthy: column 1 + 1 names block 5; 12 bytes of it move to block 6. */
    world.entries[2] = 5;
    world.fault.kind = 77;
    world_set(&world, 30, 3, 2, 2, 1);
    ref_post(&world.step);
    assert_int_equal(world.fault.kind, 77);
    assert_int_equal(world.accepted_out, 1);
    for (int i = 0; i < 160; i++) {
        int moved = i >= 120 && i < 132;
        assert_int_equal(world.bytes[i], moved ? i - 20 : i);
    }
}

static void test_null_block(void **state)
{
    struct world world;
    (void)state;
    world_init(&world, 16);
    world_conv(&world, REF_CONV_SD, 4, 2);
    world_set(&world, 14, 3, 2, 3, 1); /* column 1 to 0, bias 1 */
    world.entries[0] = -1;
    world.group.null_block = -1;
    ref_post(&world.step);
    expect_fault(&world.fault, REF_FAULT_BLOCK, 0, 0, -1);
    world.group.has_null_block = 1;
    ref_post(&world.step);
    expect_fault(&world.fault, REF_FAULT_NULL_BLOCK, 0, 0, -1);
    world.entries[0] = 8;
    ref_post(&world.step);
    expect_fault(&world.fault, REF_FAULT_BLOCK, 0, 0, 8);
    world.entries[0] = world.entries[1] = 0;
    world.group.null_block = 0;
    ref_post(&world.step);
    expect_fault(&world.fault, REF_FAULT_NULL_BLOCK, 0, 1, 0);
}

/* A window narrower than the bias touches nothing, so nothing is checked. */
static void test_untouched_is_unchecked(void **state)
{
    struct world world;
    (void)state;
    world_init(&world, 16);
    world_conv(&world, REF_CONV_SD, 2, 2);
    world.entries[0] = world.entries[1] = -1;
    world_set(&world, 13, 5, 4, 4, 0); /* R 14, N 17, A 16: bias 2, in place */
    world.fault.kind = 77;
    ref_post(&world.step);
    assert_int_equal(world.fault.kind, 77);
    assert_int_equal(world.accepted_out, 1);
}

/* Padding and the neighbour's state in a shared page stay. */
static void test_padded_page(void **state)
{
    struct world world;
    struct ref_state *conv, *temporal;
    (void)state;
    world_init(&world, 16);
    conv = world_conv(&world, REF_CONV_SD, 4, 2);
    conv->block_stride = 24;
    temporal = world_conv(&world, REF_TEMPORAL, 0, 0);
    temporal->memory = world.bytes + 8;
    temporal->size = 12;
    temporal->block_stride = 24;
    for (int i = 0; i < 240; i++) {
        world.bytes[i] = (unsigned char)i;
    }
    world_set(&world, 14, 3, 2, 2, 1); /* column 1 to 0, bias 1: 15, 16, 16 */
    ref_post(&world.step);
    for (int i = 0; i < 240; i++) {
        int want = i;
        if (i < 6) {
            want = 24 + 2 + i; /* conv: block 1, one token of 2 bytes on */
        } else if (i >= 8 && i < 20) {
            want = 48 + i; /* temporal: block 1 + 1 */
        }
        assert_int_equal(world.bytes[i], want);
    }
}

/* Two rows, results in place: both decide on the numbers from before. */
static void test_slots_in_place(void **state)
{
    struct world world;
    int32_t computed[2] = {7, 7}, scheduled[2] = {1, 0}, draft[2] = {0, 0};
    int32_t accepted[4] = {1, 3, -5, 9}, column[4] = {0, 6, 7, 8};
    (void)state;
    world_init(&world, 8);
    world.step.rows = 2;
    world.step.slot_count = 4;
    world.step.computed = computed;
    world.step.scheduled = scheduled;
    world.step.draft = draft;
    world.step.accepted_in = world.step.accepted_out = accepted;
    world.step.column_in = world.step.column_out = column;
    world.step.faults = NULL;
    accepted[0] = 5; /* R 8, N 12, A 8: column 0 to 0, bias 0 */
    ref_post(&world.step);
    assert_int_equal(accepted[0], 1);
    assert_int_equal(accepted[1], 3);
    assert_int_equal(accepted[2], -5);
    assert_int_equal(accepted[3], 9);
    computed[0] = 8;
    ref_pre(&world.step);
    assert_int_equal(column[0], 1);
    assert_int_equal(column[1], 6);
    assert_int_equal(column[3], 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_post_table),
        cmocka_unit_test(test_post_boundary),
        cmocka_unit_test(test_post_not_scheduled),
        cmocka_unit_test(test_post_negative_counters),
        cmocka_unit_test(test_pre_table),
        cmocka_unit_test(test_pre_faults),
        cmocka_unit_test(test_ds_rows),
        cmocka_unit_test(test_sd_in_place),
        cmocka_unit_test(test_temporal_past_row),
        cmocka_unit_test(test_null_block),
        cmocka_unit_test(test_untouched_is_unchecked),
        cmocka_unit_test(test_padded_page),
        cmocka_unit_test(test_slots_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
