/* What `clmove check` makes: every class of cases that it should. */

#include "fuzz_case.h"
#include "fuzz_moves.h"
#include "testing.h"

#include <clmove/move.h>
#include <string.h>

enum { CASES = 6000, SEED = 7 };

/* How often something was made, by what it is called. */
struct count {
    const char *name;
    uint64_t made;
};
static struct count counts[200];

static void add(const char *name, bool made)
{
    struct count *count = counts;

    while (count->name && strcmp(count->name, name) != 0) {
        count++;
    }
    assert_true(count < counts + sizeof(counts) / sizeof(counts[0]) - 1);
    count->name = name;
    count->made += made;
}

static void all_were_made(void)
{
    int missing = 0;

    for (const struct count *count = counts; count->name; count++) {
        if (count->made == 0) {
            print_error("never made: %s\n", count->name);
            missing++;
        }
    }
    memset(counts, 0, sizeof(counts));
    assert_int_equal(missing, 0);
}

static unsigned char alignments[16][16];

static void count_single(const struct fuzz_moves *fuzz)
{
    const struct fuzz_entry *entry = &fuzz->entries[0];
    const struct fuzz_memory *from = &fuzz->memories[entry->src_memory];
    const struct fuzz_memory *to = &fuzz->memories[entry->dst_memory];
    const int64_t src = (int64_t)from->start + entry->src;
    const int64_t dst = (int64_t)to->start + entry->dst;
    const int64_t size = entry->size;
    const int apart = from->area != to->area;

    add("a move of no bytes", size == 0);
    add("a move of 1 byte", size == 1);
    add("a move of 15 bytes", size == 15);
    add("a move of 16 bytes", size == 16);
    add("a move of 17 bytes", size == 17);
    add("a move of 64 KiB and more", size >= 65536);
    add("between two allocations", apart);
    add("onto itself", !apart && src == dst && size > 0);
    add("left over itself", !apart && dst < src && dst + size > src);
    add("right over itself", !apart && src < dst && src + size > dst);
    add("left by 1 byte", !apart && dst + 1 == src);
    add("left, touching", !apart && dst < src && dst + size == src);
    add("right, touching", !apart && src < dst && src + size == dst);
    add("from the start", src == 0);
    add("to the start", dst == 0);
    add("from the end", src + size == (int64_t)fuzz->areas[from->area].size);
    add("to the end", dst + size == (int64_t)fuzz->areas[to->area].size);
    alignments[src % 16][dst % 16] = 1;
}

static void count_entries(const struct fuzz_moves *fuzz)
{
    const int device = fuzz->kind == FUZZ_DEVICE_BATCH;

    for (uint32_t i = 0; i < fuzz->entry_count; i++) {
        const struct fuzz_entry *entry = &fuzz->entries[i];
        add("an entry of no bytes on the host", !device && entry->size == 0);
        add("an entry of no bytes on the device", device && entry->size == 0);
        add("a rectangle", entry->rows > 1);
        add("a row read again", entry->rows > 1 && entry->src_stride == 0);
        add("offset -1", device && entry->src == -1);
        add("a negative offset", device && entry->dst == INT64_MIN);
        add("a negative size", device && entry->size < 0);
        add("a size beyond the base", device && entry->size == INT64_MAX);
        add("a fault", entry->fault);
        add("skipped without a fault", entry->skipped && !entry->fault);
    }
    add("an empty list", !device && fuzz->entry_count == 0);
    add("an empty device list", device && fuzz->entry_count == 0);
    add("a full slice of a device list", device && fuzz->entry_count == 256);
    add("a slice and one", device && fuzz->entry_count == 257);
    add("sizes of 4 bytes", device && fuzz->sizes_are_int32);
    add("no faults wanted", device && !fuzz->has_faults);
    add("limited scratch", fuzz->scratch_limit > 0);
    add("enqueued twice", fuzz->times > 1);
}

static void test_moves(void **state)
{
    static const char *const variants[] = {"auto",  "driver", "disjoint",
                                           "group", "split",  "segments"};
    static struct fuzz_moves fuzz;
    const struct fuzz_moves_wishes wishes = {
        .singles = true, .batches = true, .any_variant = true, .shared = true};
    const struct session session = {.context = NULL};
    int alignment_count = 0;

    (void)state;
    for (uint64_t i = 0; i < CASES; i++) {
        assert_true(fuzz_moves_create(&fuzz, SEED, i, &wishes));
        for (uint32_t k = 0; k <= CLMOVE_VARIANT_SEGMENTS; k++) {
            add(variants[k], fuzz.variant == k);
        }
        for (uint32_t k = 0; k < fuzz.memory_count; k++) {
            const struct fuzz_memory *memory = &fuzz.memories[k];
            const int shared = fuzz.areas[memory->area].shared;
            add("a sub-buffer", !shared && memory->handle_size > 0);
            add("shared memory", shared);
            add("a pointer into it", shared && memory->origin > 0);
        }
        add("scratch of the caller's", fuzz.gives_scratch);
        if (fuzz.kind == FUZZ_SINGLE) {
            count_single(&fuzz);
        } else {
            count_entries(&fuzz);
        }
        fuzz_moves_destroy(&fuzz, &session);
    }
    all_were_made();
    for (int i = 0; i < 256; i++) {
        alignment_count += alignments[i / 16][i % 16];
    }
    assert_int_equal(alignment_count, 256);
}

static void count_layout(const struct fuzz_case *fuzz)
{
    for (uint32_t i = 0; i < fuzz->state_count; i++) {
        const struct clmove_ssm_state *state = &fuzz->states[i].described;
        const int conv = state->kind != CLMOVE_SSM_TEMPORAL;
        add("conv SD", state->kind == CLMOVE_SSM_CONV_SD);
        add("conv DS", state->kind == CLMOVE_SSM_CONV_DS);
        add("temporal", !conv);
        add("elements of 1 byte", conv && state->element_size == 1);
        add("elements of 2 bytes", conv && state->element_size == 2);
        add("elements of 4 bytes", conv && state->element_size == 4);
        add("elements of 8 bytes", conv && state->element_size == 8);
        add("gaps between rows", state->row_stride > 0);
        add("gaps between blocks", state->block_stride > 0);
        add("a window of one token", conv && state->width == 1);
        add("a temporal state of 1 byte", !conv && state->size == 1);
    }
    add("groups in one pool", fuzz->groups_share);
    add("more than 14 buffers", fuzz->pool_areas > 14);
    add("two layouts", fuzz->two_layouts);
    add("a packed layout", fuzz->packed);
    add("an empty list of blocks",
        !fuzz_case_has_step(fuzz) && fuzz->list.count == 0);
}

static void count_row(const struct fuzz_case *fuzz, const struct ref_step *step,
                      uint32_t row)
{
    static const char *const faults[] = {
        "no fault", "a wrong counter", "a wrong column",    "a wrong block",
        "the null", "a wrong slot",    "a slot named twice"};
    const struct ref_decision decision =
        fuzz->call == FUZZ_PRE    ? ref_decide_pre(step, row)
        : fuzz->call == FUZZ_POST ? ref_decide_post(step, row)
                                  : ref_decide_pre_copy(step, row);
    const int copies = decision.copy && decision.fault.kind == REF_FAULT_NONE;

    for (int i = 0; i <= REF_FAULT_SLOT_TWICE; i++) {
        add(faults[i], decision.fault.kind == i);
    }
    add("a fault beyond the first state", decision.fault.state > 0);
    add("bias 0", copies && decision.bias == 0);
    add("bias 1", copies && decision.bias == 1);
    add("bias 3", copies && decision.bias == 3);
    add("bias of all windows", copies && decision.bias >= fuzz->width);
    add("within a column", copies && decision.source == decision.destination);
    add("accepted becomes 1", decision.reset);
    add("a skipped row", step->slot_of && step->slot_of[row] == -1);
    if (step->query_starts) {
        const int64_t tokens =
            (int64_t)step->query_starts[row + 1] - step->query_starts[row];
        add("more tokens than an int32 holds", tokens > INT32_MAX);
        add("fewer tokens than an int32 holds", tokens < INT32_MIN);
        add("no tokens", tokens == 0);
    }
}

static void count_step(struct fuzz_case *fuzz)
{
    struct fuzz_reference reference;
    const struct fuzz_place *arrays = fuzz->arrays;

    for (uint32_t i = 0; i < fuzz->area_count; i++) {
        memcpy(fuzz->areas[i].expected, fuzz->areas[i].before,
               fuzz->areas[i].size);
    }
    fuzz_case_reference(fuzz, &reference);
    for (uint32_t row = 0; row < fuzz->rows; row++) {
        count_row(fuzz, &reference.step, row);
    }
    add("no rows", fuzz->rows == 0);
    add("more than 1024 rows", fuzz->rows > 1024);
    add("more than 8192 slots", fuzz->slot_count > 8192);
    add("a token per block", fuzz->tokens_per_block == 1);
    add("results in place",
        reference.step.accepted_out &&
            arrays[FUZZ_ACCEPTED_IN].area == arrays[FUZZ_ACCEPTED_OUT].area &&
            arrays[FUZZ_ACCEPTED_IN].offset ==
                arrays[FUZZ_ACCEPTED_OUT].offset);
    add("tables by slot", fuzz->flags & CLMOVE_SSM_TABLES_BY_SLOT);
    add("accepted kept", fuzz->flags & CLMOVE_SSM_KEEP_ACCEPTED);
    add("temporal skipped", fuzz->flags & CLMOVE_SSM_SKIP_TEMPORAL);
    add("no faults wanted", arrays[FUZZ_FAULTS].size == 0);
}

static void test_states(void **state)
{
    static const char *const calls[FUZZ_CALLS] = {
        "pre", "post", "pre-copy", "indices", "copy", "zero", "permute"};
    static struct fuzz_case fuzz;
    const struct session session = {.context = NULL};

    (void)state;
    for (uint64_t i = 0; i < CASES; i++) {
        assert_true(fuzz_case_create(&fuzz, SEED, i, true));
        for (int k = 0; k < FUZZ_CALLS; k++) {
            add(calls[k], (int)fuzz.call == k);
        }
        count_layout(&fuzz);
        if (fuzz_case_has_step(&fuzz) && fuzz.call != FUZZ_INDICES) {
            count_step(&fuzz);
        }
        fuzz_case_destroy(&fuzz, &session);
    }
    all_were_made();
}

/* Each launch shape with each choice of buffers: as cases go on, and for the
 * first case of a few seeds. */
static void test_runs(void **state)
{
    enum { PAIRS = FUZZ_ENGINES * FUZZ_BUFFERS };
    static struct fuzz_case fuzz;
    const struct session session = {.context = NULL};
    unsigned char made[2][PAIRS] = {{0}};

    (void)state;
    for (uint64_t i = 0; i < 2 * (PAIRS * 8); i++) {
        const int first = i % 2 == 0;
        assert_true(fuzz_case_create(&fuzz, first ? i : SEED,
                                     first ? 0 : i / 16 * FUZZ_RUN, false));
        made[first][fuzz.engine * FUZZ_BUFFERS + (uint32_t)fuzz.buffers] = 1;
        fuzz_case_destroy(&fuzz, &session);
    }
    for (int i = 0; i < PAIRS; i++) {
        assert_true(made[0][i] && made[1][i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
