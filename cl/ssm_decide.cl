/* What becomes of the requests of a batch: decisions, and their results. */

/*
 * Reads the block tables and the per-request arrays, writes accepted_out,
 * column_out and faults.
 *
 * Why it cannot race: every group makes all decisions, from arrays that the
 * launch only reads: accepted_out and column_out are other memory than
 * accepted_in and column_in (the library copies those aside when they are one),
 * and only the last group writes them, each entry by one item: a slot's by the
 * item of the one row that names it, or else by the item that walks the slots.
 * Local memory is rewritten only behind a barrier that follows its last read.
 *
 * Macros: CLMOVE_SLICE_ROWS: requests that are decided at once, a multiple of
 * 32, bounded by local memory.
 */

#ifndef CLMOVE_SSM_COPY
#include "ssm_copy.cl"
#endif
#ifndef CLMOVE_SSM_DECIDE
#define CLMOVE_SSM_DECIDE

#ifndef CLMOVE_SLICE_ROWS
#define CLMOVE_SLICE_ROWS 1024
#endif

/* Slots whose rows are looked for at once. */
#define SLOT_WINDOW (CLMOVE_SLICE_ROWS * 8)

/* Mirrors of the structures in src/ssm_step.h. */
struct ssm_group {
    ulong table; /* bytes from the bank's start */
    uint bank, columns, row_stride;
    uint conv_width;      /* of the widest window; 0: no conv state */
    uint conv_blocks;     /* of the conv state that has the fewest */
    uint temporal_blocks; /* likewise; 0: no temporal state */
    uint has_null_block;
    int null_block;
};

enum {
    MODE_PRE = 1,
    MODE_WRITES_RESULTS = 2,
    MODE_POST = 4,
    MODE_COPY = 8,
    MODE_TABLES_BY_SLOT = 16,
    MODE_KEEPS_ACCEPTED = 32,
    MODE_SKIPS_TEMPORAL = 64
};

/* The per-request arrays, as in src/ssm_step.h. */
enum {
    ARRAY_SLOT_OF, /* or absent: slot is row */
    ARRAY_COMPUTED,
    ARRAY_SCHEDULED,
    ARRAY_QUERY_STARTS, /* or absent: scheduled */
    ARRAY_DRAFT,
    ARRAY_NOW_COMPUTED, /* or absent: computed and others */
    ARRAY_ACCEPTED_IN,
    ARRAY_ACCEPTED_OUT,
    ARRAY_COLUMN_IN,
    ARRAY_COLUMN_OUT, /* or absent, but not in pre-process */
    ARRAY_COPY_SOURCE,
    ARRAY_COPY_DESTINATION,
    ARRAY_COPY_BIAS,
    ARRAY_FAULTS, /* int [row][4], or absent */
    ARRAY_COUNT
};

struct ssm_array {
    ulong offset; /* bytes from the bank's start */
    uint bank, given;
};

/* A step as the library describes it, with the groups behind it. A launch costs
 * host time for each argument, so this is one. */
struct ssm_description {
    struct ssm_array arrays[ARRAY_COUNT];
    uint slot_count, tokens_per_block, state_count, group_count;
};

/* What helpers need. The arrays' addresses are in local memory: they take no
 * registers from the copies. */
struct ssm_step {
    BANK_ARRAY *banks;
    BANK_ARRAY *arrays; /* [ARRAY_COUNT]; NULL: absent */
    __global const struct ssm_state *states;
    __global const struct ssm_group *groups;
    uint rows, slot_count, tokens_per_block, state_count, group_count, mode;
};

#define IS_GIVEN(step, array) ((step)->arrays[array] != 0)
#define INTS(step, array) ((__global int *)(step)->arrays[array])

static __global const struct ssm_group *
described_groups(__global const struct ssm_description *described)
{
    return (__global const struct ssm_group *)(described + 1);
}

/* Looks the arrays up; the banks are there already. */
static void find_arrays(BANK_ARRAY *banks, BANK_ARRAY *arrays,
                        __global const struct ssm_description *described,
                        uint item, uint items)
{
    ROLLED
    for (uint i = item; i < ARRAY_COUNT; i += items) {
        __global const struct ssm_array *array = &described->arrays[i];
        arrays[i] = array->given != 0 ? banks[array->bank] + array->offset : 0;
    }
}

/* One copy: conv window from column `source`, temporal from source + bias.
 * `row` is the table's. */
struct ssm_copy {
    int row, source, destination, bias;
};

struct ssm_fault {
    int kind, state, column, value;
};

enum {
    FAULT_COUNTER = 1,
    FAULT_COLUMN = 2,
    FAULT_BLOCK = 3,
    FAULT_NULL = 4,
    FAULT_SLOT = 5,
    FAULT_SLOT_TWICE = 6
};
enum {
    COMPUTED = 0,
    SCHEDULED = 1,
    DRAFT = 2,
    ACCEPTED = 3,
    NOW = 4,
    BIAS = 5
};

/* What becomes of a row, a mask. */
enum {
    ROW_COPIES = 1,
    ROW_RESETS = 2,
    ROW_FAULT = 4,
    ROW_COLUMN = 8,
    ROW_ELSEWHERE = 16 /* its slot is not this row's to write */
};

static int table_entry(const struct ssm_step *step,
                       __global const struct ssm_group *group, int row,
                       long column)
{
    __global const uchar *bank = step->banks[group->bank];
    __global const int *table = (__global const int *)(bank + group->table);
    return table[(ulong)row * group->row_stride + (ulong)column];
}

static int in_table(__global const struct ssm_group *group, long column)
{
    return column >= 0 && column < (long)group->columns;
}

/* Checks one entry that a copy needs; what is wrong with it goes to `fault`. */
static int entry_is_fine(const struct ssm_step *step,
                         __global const struct ssm_group *group, int row,
                         long column, uint block_count, struct ssm_fault *fault)
{
    fault->column = (int)min(column, (long)INT_MAX);
    if (!in_table(group, column)) {
        fault->kind = FAULT_COLUMN;
        fault->value = (int)group->columns;
        return 0;
    }
    fault->value = table_entry(step, group, row, column);
    if (group->has_null_block != 0 && fault->value == group->null_block) {
        fault->kind = FAULT_NULL;
        return 0;
    }
    fault->kind = FAULT_BLOCK;
    return fault->value >= 0 && (uint)fault->value < block_count;
}

/* Whether every block that a copy needs is there, for all states. */
static int blocks_are_fine(const struct ssm_step *step,
                           const struct ssm_copy *copy, struct ssm_fault *fault)
{
    ROLLED
    for (uint i = 0; i < step->state_count; i++) {
        __global const struct ssm_state *state = &step->states[i];
        const int temporal = state->kind == TEMPORAL;
        if (temporal ? (step->mode & MODE_SKIPS_TEMPORAL) != 0
                     : (uint)copy->bias >= state->src_width)
            continue;
        fault->state = (int)i;
        long column = (long)copy->source + (temporal ? copy->bias : 0);
        ROLLED
        for (uint end = 0; end < 2; end++) {
            if (!entry_is_fine(step, &step->groups[state->group], copy->row,
                               column, state->block_count, fault))
                return 0;
            column = copy->destination;
        }
    }
    return 1;
}

/* Whether an entry, if it is needed, names one of the first `blocks`. */
static int entry_fits(const struct ssm_step *step,
                      __global const struct ssm_group *group, int row,
                      long column, int needed, uint blocks)
{
    const int inside = needed & in_table(group, column);
    int block = -1;
    if (inside)
        block = table_entry(step, group, row, column);
    const int null =
        (group->has_null_block != 0) & (block == group->null_block);
    return !needed | (inside & !null & ((uint)block < blocks));
}

/* The same for a group, by the narrowest limits of its states: 0 may be wrong.
 * Its entries are on their way together. */
static int group_fits(const struct ssm_step *step,
                      __global const struct ssm_group *group,
                      const struct ssm_copy *copy)
{
    const int conv = (uint)copy->bias < group->conv_width;
    const int temporal =
        group->temporal_blocks != 0 && (step->mode & MODE_SKIPS_TEMPORAL) == 0;
    const uint conv_blocks = conv ? group->conv_blocks : UINT_MAX;
    const uint temporal_blocks = temporal ? group->temporal_blocks : UINT_MAX;
    const long source = copy->source;
    return entry_fits(step, group, copy->row, source, conv, conv_blocks) &
           entry_fits(step, group, copy->row, source + copy->bias, temporal,
                      temporal_blocks) &
           entry_fits(step, group, copy->row, copy->destination,
                      conv | temporal, min(conv_blocks, temporal_blocks));
}

/* All or nothing: this comes before the first byte moves, and every group of
 * the launch comes to the same answer. Where a group does not fit, a closer
 * look follows. */
static int copy_is_fine(const struct ssm_step *step,
                        const struct ssm_copy *copy, struct ssm_fault *fault)
{
    int fits = 1;
    ROLLED
    for (uint i = 0; i < step->group_count; i++)
        fits &= group_fits(step, &step->groups[i], copy);
    return fits || blocks_are_fine(step, copy, fault);
}

static uint counter_fault(struct ssm_fault *fault, int counter, int value)
{
    fault->kind = FAULT_COUNTER;
    fault->column = counter;
    fault->value = value;
    return ROW_FAULT;
}

/* Tokens of the step, drafts included. */
static int scheduled_tokens(const struct ssm_step *step, uint row)
{
    if (!IS_GIVEN(step, ARRAY_QUERY_STARTS))
        return INTS(step, ARRAY_SCHEDULED)[row];
    return sub_sat(INTS(step, ARRAY_QUERY_STARTS)[row + 1],
                   INTS(step, ARRAY_QUERY_STARTS)[row]);
}

/* What pre- and post-process decide from: loaded before anything is looked at,
 * so that an item can have the loads of two rows in flight. */
struct ssm_inputs {
    int slot;             /* as named */
    int scheduled, draft; /* 0 where computed is what is computed now */
    int computed, accepted, column;
};

/* Whether post-process is told what is computed now, not what was before. */
static int gives_now(const struct ssm_step *step)
{
    return (step->mode & MODE_POST) != 0 && IS_GIVEN(step, ARRAY_NOW_COMPUTED);
}

static void load_inputs(const struct ssm_step *step, uint row,
                        struct ssm_inputs *inputs)
{
    const int now = gives_now(step);
    const int named = IS_GIVEN(step, ARRAY_SLOT_OF)
                          ? INTS(step, ARRAY_SLOT_OF)[row]
                          : (int)row;
    const uint slot = (uint)named;
    inputs->slot = named;
    if (slot >= step->slot_count || (step->mode & MODE_COPY) != 0)
        return;
    inputs->accepted = INTS(step, ARRAY_ACCEPTED_IN)[slot];
    inputs->column = INTS(step, ARRAY_COLUMN_IN)[slot];
    inputs->computed =
        INTS(step, now ? ARRAY_NOW_COMPUTED : ARRAY_COMPUTED)[slot];
    inputs->scheduled = now ? 0 : scheduled_tokens(step, row);
    inputs->draft = (step->mode & MODE_POST) != 0 && !now
                        ? INTS(step, ARRAY_DRAFT)[row]
                        : 0;
}

/* Pre-process: the step's tokens need column `cur`, the state is in `prev`. */
static uint decide_pre(const struct ssm_step *step,
                       const struct ssm_inputs *inputs, struct ssm_copy *copy,
                       struct ssm_fault *fault)
{
    const int prev = inputs->column;
    const uint last = (uint)inputs->computed + (uint)inputs->scheduled - 1;
    const uint cur = last / step->tokens_per_block;
    if (cur > (uint)INT_MAX)
        return counter_fault(fault, COMPUTED, inputs->computed);
    copy->source = prev;
    copy->destination = (int)cur;
    copy->bias = max(inputs->accepted - 1, 0);
    if (prev < 0 || prev == (int)cur)
        return ROW_COLUMN;
    return ROW_COLUMN | ROW_COPIES |
           ((step->mode & MODE_KEEPS_ACCEPTED) != 0 ? 0 : ROW_RESETS);
}

/* Post-process: `now` tokens are computed; the running block holds the state
 * after `certain` of them for sure. */
static uint decide_post(const struct ssm_step *step,
                        const struct ssm_inputs *inputs, struct ssm_copy *copy)
{
    const int accepted = inputs->accepted;
    if (accepted < 1)
        return 0;
    const long certain =
        (long)inputs->computed +
        (gives_now(step) ? 1 - accepted : inputs->scheduled - inputs->draft);
    const long now = certain + accepted - 1;
    /* Numbers of 64 bits divide slowly. This one has 33, its half 32. */
    const long tokens = step->tokens_per_block;
    long blocks = (uint)((ulong)now / 2) / step->tokens_per_block * 2l;
    if (now - blocks * tokens >= tokens)
        blocks++;
    const long boundary = blocks * tokens;
    if (boundary < certain || blocks < 1)
        return 0;
    copy->source = inputs->column;
    copy->destination = (int)min(blocks - 1, (long)INT_MAX);
    copy->bias = (int)(boundary - certain);
    if (inputs->column != blocks - 1)
        return ROW_COPIES;
    return copy->bias == 0 ? ROW_RESETS : ROW_RESETS | ROW_COPIES;
}

/* Pre-copy: the caller has decided. */
static uint decide_copy(const struct ssm_step *step, uint slot,
                        struct ssm_copy *copy, struct ssm_fault *fault)
{
    copy->source = INTS(step, ARRAY_COPY_SOURCE)[slot];
    copy->destination = INTS(step, ARRAY_COPY_DESTINATION)[slot];
    copy->bias = INTS(step, ARRAY_COPY_BIAS)[slot];
    if (copy->source == -1 || copy->source == copy->destination)
        return 0;
    if (copy->bias < 0)
        return counter_fault(fault, BIAS, copy->bias);
    return ROW_COPIES;
}

/* Pre- or post-process: the first counter that is wrong, or what is to do. */
static uint decide_by_counters(const struct ssm_step *step,
                               const struct ssm_inputs *inputs,
                               struct ssm_copy *copy, struct ssm_fault *fault)
{
    const int told_now = gives_now(step);
    int counter = SCHEDULED;
    int value = inputs->scheduled;
    if (value >= 0) {
        counter = DRAFT;
        value = inputs->draft;
    }
    if (value >= 0) {
        if (!told_now && inputs->scheduled <= value)
            return 0;
        counter = told_now ? NOW : COMPUTED;
        value = inputs->computed;
    }
    if (value >= 0) {
        counter = ACCEPTED;
        value = inputs->accepted;
    }
    if (value < 0)
        return counter_fault(fault, counter, value);
    return (step->mode & MODE_PRE) != 0 ? decide_pre(step, inputs, copy, fault)
                                        : decide_post(step, inputs, copy);
}

/* What becomes of a row, its blocks checked. Depends on nothing that the launch
 * writes, so it may be asked again. */
static uint decide(const struct ssm_step *step, uint row, uint slot,
                   const struct ssm_inputs *inputs, struct ssm_copy *copy,
                   struct ssm_fault *fault)
{
    copy->row = (int)((step->mode & MODE_TABLES_BY_SLOT) != 0 ? slot : row);
    const uint fate = (step->mode & MODE_COPY) != 0
                          ? decide_copy(step, slot, copy, fault)
                          : decide_by_counters(step, inputs, copy, fault);
    if ((fate & ROW_COPIES) != 0 && !copy_is_fine(step, copy, fault))
        return ROW_FAULT;
    return fate;
}

/* Slots that rows name, a bit per slot of a window: by one row, by several.
 * Neighbours have theirs in different words, since items that change one word
 * wait for each other. */
struct slot_bits {
    __local uint *named;
    __local uint *twice;
    uint first; /* slot of the window */
};

#define SLOT_WORDS (SLOT_WINDOW / 32)

static int has_bit(__local const uint *bits, uint index)
{
    return (int)(bits[index % SLOT_WORDS] >> (index / SLOT_WORDS) & 1u);
}

static void note_slot(const struct slot_bits *slots, int slot)
{
    const uint place = (uint)slot - slots->first;
    const uint word = place % SLOT_WORDS;
    const uint bit = 1u << (place / SLOT_WORDS % 32);
    if (place < SLOT_WINDOW && (atomic_or(&slots->named[word], bit) & bit) != 0)
        atomic_or(&slots->twice[word], bit);
}

/* Notes what slots of the window the rows name, by the whole group. */
static void note_slots(const struct ssm_step *step,
                       const struct slot_bits *slots, uint item, uint items)
{
    ROLLED
    for (uint i = item; i < SLOT_WORDS; i += items) {
        slots->named[i] = 0;
        slots->twice[i] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    /* Two at once, so that both are on their way together. */
    ROLLED
    for (uint row = item; row < step->rows; row += items * 2) {
        const uint other = min(row + items, step->rows - 1);
        const int first = INTS(step, ARRAY_SLOT_OF)[row];
        const int second = INTS(step, ARRAY_SLOT_OF)[other];
        note_slot(slots, first);
        if (other == row + items)
            note_slot(slots, second);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* What becomes of a row in this window. A row without a slot belongs to the
 * first window. ROW_ELSEWHERE: nothing, and nothing to write. */
static uint decide_row(const struct ssm_step *step,
                       const struct slot_bits *slots, uint row,
                       const struct ssm_inputs *inputs, struct ssm_copy *copy,
                       struct ssm_fault *fault)
{
    const int named = inputs->slot;
    const uint slot = (uint)named;
    fault->state = -1; /* of a slot or a counter there is none */
    if (IS_GIVEN(step, ARRAY_SLOT_OF)) {
        if (named == -1)
            return ROW_ELSEWHERE;
        fault->column = -1;
        fault->value = named;
        if (slot >= step->slot_count) {
            fault->kind = FAULT_SLOT;
            return slots->first == 0 ? ROW_ELSEWHERE | ROW_FAULT
                                     : ROW_ELSEWHERE;
        }
        if (slot - slots->first >= SLOT_WINDOW)
            return ROW_ELSEWHERE;
        if (has_bit(slots->twice, slot - slots->first)) {
            fault->kind = FAULT_SLOT_TWICE;
            return ROW_ELSEWHERE | ROW_FAULT;
        }
    }
    return decide(step, row, slot, inputs, copy, fault);
}

/* Post-process passes the running columns on to who wants them. */
static int writes_columns(const struct ssm_step *step)
{
    return (step->mode & MODE_COPY) == 0 && IS_GIVEN(step, ARRAY_COLUMN_OUT);
}

/* Results of one row, written by one item of the launch. */
static void write_results(const struct ssm_step *step, uint row, uint fate,
                          const struct ssm_inputs *inputs,
                          const struct ssm_copy *copy,
                          const struct ssm_fault *fault)
{
    const uint slot = (uint)inputs->slot;
    if ((fate & ROW_ELSEWHERE) == 0 && (step->mode & MODE_COPY) == 0)
        INTS(step, ARRAY_ACCEPTED_OUT)
    [slot] = (fate & ROW_RESETS) != 0 ? 1 : inputs->accepted;
    if ((fate & ROW_ELSEWHERE) == 0 && writes_columns(step))
        INTS(step, ARRAY_COLUMN_OUT)
    [slot] = (fate & ROW_COLUMN) != 0 ? copy->destination : inputs->column;
    if ((fate & ROW_FAULT) != 0 && IS_GIVEN(step, ARRAY_FAULTS)) {
        __global int *entry = INTS(step, ARRAY_FAULTS) + (ulong)row * 4;
        entry[0] = fault->kind;
        entry[1] = fault->state;
        entry[2] = fault->column;
        entry[3] = fault->value;
    }
}

/* Slots of the window that no row has written keep their value. */
static void keep_other_slots(const struct ssm_step *step,
                             const struct slot_bits *slots, uint item,
                             uint items)
{
    const int named = IS_GIVEN(step, ARRAY_SLOT_OF);
    const uint end = named ? min(slots->first + SLOT_WINDOW, step->slot_count)
                           : step->slot_count;
    ROLLED
    for (uint slot = (named ? slots->first : step->rows) + item; slot < end;
         slot += items) {
        const uint place = slot - slots->first;
        if (named && has_bit(slots->named, place) &&
            !has_bit(slots->twice, place))
            continue;
        if ((step->mode & MODE_COPY) == 0)
            INTS(step, ARRAY_ACCEPTED_OUT)
        [slot] = INTS(step, ARRAY_ACCEPTED_IN)[slot];
        if (writes_columns(step))
            INTS(step, ARRAY_COLUMN_OUT)
        [slot] = INTS(step, ARRAY_COLUMN_IN)[slot];
    }
}

#endif
