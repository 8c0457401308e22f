/* Copies of recurrent state that the device decides for itself. */

/*
 * clmove_ssm_step decides, for every request (row) of a batch, whether its
 * state crosses to another block, then copies. It reads the block tables, the
 * per-request arrays, and the source blocks; it writes the destination blocks,
 * accepted_out, column_out and faults.
 *
 * Why it cannot race:
 * - Decisions. Every group makes all of them, from arrays that the launch only
 *   reads: accepted_out and column_out are other memory than accepted_in and
 *   column_in (the library copies those aside when they are one), and only the
 *   last group writes them, each entry by one item.
 * - Copies. Work is cut into (request, tile). Tiles of one state have disjoint
 *   byte ranges; no group touches a byte that another writes, because a block
 *   that one request writes is neither read nor written by another (the
 *   caller's promise), and within one request:
 *     temporal: source and destination are different blocks, or nothing moves;
 *     conv SD: a tile is a range of byte offsets, the same in every token. An
 *       item owns its offsets for all tokens and loads token t + bias before
 *       it stores token t, t ascending, so that a shift within one block is a
 *       private matter of the item: no barrier is needed;
 *     conv DS: a tile is a range of rows. Inside the group, all items load a
 *       piece before any item stores it (barrier). Pieces ascend: what a piece
 *       stores lies below all that later pieces load. A store after barrier p
 *       and a load before barrier p touch one byte only across that barrier.
 * - Local memory is rewritten only behind a barrier that follows its last read.
 * All barriers stand in flow that is uniform for the group.
 *
 * Macros: CLMOVE_BANKS (common.cl); CLMOVE_SLICE_ROWS: requests that are
 * decided at once, a multiple of 32, bounded by local memory.
 */

#ifndef CLMOVE_COMMON
#include "common.cl"
#endif

#ifndef CLMOVE_SLICE_ROWS
#define CLMOVE_SLICE_ROWS 1024
#endif

/* Mirrors of the structures in src/ssm_step.h. */
enum { CONV_SD = 1, CONV_DS = 2, TEMPORAL = 3 };

struct ssm_state {
    ulong base;         /* bytes from the bank's start to block 0 */
    ulong block_stride; /* bytes */
    ulong extent; /* temporal: its size; SD: bytes of a token; DS: row stride */
    ulong part;   /* of a tile; temporal, SD: bytes of extent; DS: rows */
    uint kind, group, bank, block_count;
    uint width, dim, element_size, unused;
};

struct ssm_group {
    ulong table; /* bytes from the bank's start */
    uint bank, columns, row_stride;
    uint conv_width;      /* of the widest window; 0: no conv state */
    uint conv_blocks;     /* of the conv state that has the fewest */
    uint temporal_blocks; /* likewise; 0: no temporal state */
    uint has_null_block;
    int null_block;
};

enum { MODE_PRE = 1, MODE_WRITES_RESULTS = 2 };

/* What the kernel was given, so that helpers need one parameter. */
struct ssm_step {
    BANK_ARRAY *banks;
    __global const struct ssm_state *states;
    __global const struct ssm_group *groups;
    __global const int *computed;
    __global const int *scheduled;
    __global const int *draft;
    __global const int *accepted_in;
    __global int *accepted_out;
    __global const int *column_in;
    __global int *column_out;
    __global int *faults; /* int [row][4], or NULL */
    uint rows, tokens_per_block, state_count, group_count, mode;
};

/* One copy: conv window from column `source`, temporal from source + bias. */
struct ssm_copy {
    int row, source, destination, bias;
};

struct ssm_fault {
    int kind, state, column, value;
};

enum { FAULT_COUNTER = 1, FAULT_COLUMN = 2, FAULT_BLOCK = 3, FAULT_NULL = 4 };
enum { COMPUTED = 0, SCHEDULED = 1, DRAFT = 2, ACCEPTED = 3 };

/* What becomes of a row, a mask. */
enum { ROW_COPIES = 1, ROW_RESETS = 2, ROW_FAULT = 4, ROW_COLUMN = 8 };

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

/* Whether all states of a group can be copied, judged by its narrowest limits:
 * true is certain, false asks for a closer look. */
static int group_is_fine(const struct ssm_step *step,
                         __global const struct ssm_group *group,
                         const struct ssm_copy *copy)
{
    struct ssm_fault ignored;
    const long moved = (long)copy->source + copy->bias;
    int fine = 1;
    if ((uint)copy->bias < group->conv_width)
        fine = entry_is_fine(step, group, copy->row, copy->source,
                             group->conv_blocks, &ignored) &&
               entry_is_fine(step, group, copy->row, copy->destination,
                             group->conv_blocks, &ignored);
    if (fine && group->temporal_blocks > 0)
        fine = entry_is_fine(step, group, copy->row, moved,
                             group->temporal_blocks, &ignored) &&
               entry_is_fine(step, group, copy->row, copy->destination,
                             group->temporal_blocks, &ignored);
    return fine;
}

/* Whether one state can be copied. */
static int state_is_fine(const struct ssm_step *step, uint index,
                         const struct ssm_copy *copy, struct ssm_fault *fault)
{
    __global const struct ssm_state *state = &step->states[index];
    __global const struct ssm_group *group = &step->groups[state->group];
    long source = copy->source;
    if (state->kind == TEMPORAL)
        source += copy->bias;
    else if ((uint)copy->bias >= state->width)
        return 1;
    fault->state = (int)index;
    return entry_is_fine(step, group, copy->row, source, state->block_count,
                         fault) &&
           entry_is_fine(step, group, copy->row, copy->destination,
                         state->block_count, fault);
}

/* Whether every block that a copy needs is there, for all groups and states.
 * All or nothing: this comes before the first byte moves, and every group of
 * the launch comes to the same answer. */
static int copy_is_fine(const struct ssm_step *step,
                        const struct ssm_copy *copy, struct ssm_fault *fault)
{
    int fine = 1;
    for (uint i = 0; i < step->group_count && fine; i++)
        fine = group_is_fine(step, &step->groups[i], copy);
    if (fine)
        return 1;
    for (uint i = 0; i < step->state_count; i++) {
        if (!state_is_fine(step, i, copy, fault))
            return 0;
    }
    return 1;
}

static uint counter_fault(struct ssm_fault *fault, int counter, int value)
{
    fault->kind = FAULT_COUNTER;
    fault->state = -1;
    fault->column = counter;
    fault->value = value;
    return ROW_FAULT;
}

/* Pre-process: the step's tokens need column `cur`, the state is in `prev`. */
static uint decide_pre(const struct ssm_step *step, uint row,
                       struct ssm_copy *copy, struct ssm_fault *fault)
{
    const int scheduled = step->scheduled[row];
    const int computed = step->computed[row];
    const int accepted = step->accepted_in[row];
    const int prev = step->column_in[row];
    if (scheduled < 0)
        return counter_fault(fault, SCHEDULED, scheduled);
    if (scheduled < 1)
        return 0;
    if (computed < 0)
        return counter_fault(fault, COMPUTED, computed);
    if (accepted < 0)
        return counter_fault(fault, ACCEPTED, accepted);
    const uint last = (uint)computed + (uint)scheduled - 1;
    const uint cur = last / step->tokens_per_block;
    if (cur > (uint)INT_MAX)
        return counter_fault(fault, COMPUTED, computed);
    copy->source = prev;
    copy->destination = (int)cur;
    copy->bias = max(accepted - 1, 0);
    if (prev < 0 || prev == (int)cur)
        return ROW_COLUMN;
    return ROW_COLUMN | ROW_COPIES | ROW_RESETS;
}

/* Post-process: N tokens are computed now, A of them up to the last block
 * boundary, and the running block holds the state after R of them for sure. */
static uint decide_post(const struct ssm_step *step, uint row,
                        struct ssm_copy *copy, struct ssm_fault *fault)
{
    const int scheduled = step->scheduled[row];
    const int draft = step->draft[row];
    const int computed = step->computed[row];
    const int accepted = step->accepted_in[row];
    if (scheduled < 0)
        return counter_fault(fault, SCHEDULED, scheduled);
    if (draft < 0)
        return counter_fault(fault, DRAFT, draft);
    if (scheduled - draft < 1)
        return 0;
    if (computed < 0)
        return counter_fault(fault, COMPUTED, computed);
    if (accepted < 0)
        return counter_fault(fault, ACCEPTED, accepted);
    /* All below 2^33, and the quotient is divided unsigned: R is at least 1. */
    const long certain = (long)computed + (scheduled - draft);
    const long now = certain + accepted - 1;
    const long blocks = now / (long)step->tokens_per_block;
    const long boundary = blocks * (long)step->tokens_per_block;
    if (accepted < 1 || boundary < certain || blocks < 1)
        return 0;
    const int column = step->column_in[row];
    copy->source = column;
    copy->destination = (int)min(blocks - 1, (long)INT_MAX);
    copy->bias = (int)(boundary - certain);
    if (column != blocks - 1)
        return ROW_COPIES;
    return copy->bias == 0 ? ROW_RESETS : ROW_RESETS | ROW_COPIES;
}

/* What becomes of a row, its blocks checked. Depends on nothing that the launch
 * writes, so it may be asked again. */
static uint decide(const struct ssm_step *step, uint row, struct ssm_copy *copy,
                   struct ssm_fault *fault)
{
    copy->row = (int)row;
    const uint fate = (step->mode & MODE_PRE) != 0
                          ? decide_pre(step, row, copy, fault)
                          : decide_post(step, row, copy, fault);
    if ((fate & ROW_COPIES) != 0 && !copy_is_fine(step, copy, fault))
        return ROW_FAULT;
    return fate;
}

/* Results of one row, written by one item of the launch. */
static void write_results(const struct ssm_step *step, uint row, uint fate,
                          const struct ssm_copy *copy,
                          const struct ssm_fault *fault)
{
    step->accepted_out[row] =
        (fate & ROW_RESETS) != 0 ? 1 : step->accepted_in[row];
    if ((step->mode & MODE_PRE) != 0)
        step->column_out[row] =
            (fate & ROW_COLUMN) != 0 ? copy->destination : step->column_in[row];
    if ((fate & ROW_FAULT) != 0 && step->faults != 0) {
        __global int *entry = step->faults + (ulong)row * 4;
        entry[0] = fault->kind;
        entry[1] = fault->state;
        entry[2] = fault->column;
        entry[3] = fault->value;
    }
}

/* The largest power of two up to 16 that divides `bits`. */
static uint common_width(ulong bits)
{
    const uint low = (uint)bits & 15u;
    return low == 0 ? 16u : low & (0u - low);
}

/* A value of 1, 2, 4 or 8 bytes at an address that its width divides. */
static ulong load_value(__global const uchar *src, uint width)
{
    switch (width) {
    case 8:
        return *(__global const ulong *)src;
    case 4:
        return *(__global const uint *)src;
    case 2:
        return *(__global const ushort *)src;
    default:
        return *src;
    }
}

static void store_value(__global uchar *dst, ulong value, uint width)
{
    switch (width) {
    case 8:
        *(__global ulong *)dst = value;
        break;
    case 4:
        *(__global uint *)dst = (uint)value;
        break;
    case 2:
        *(__global ushort *)dst = (ushort)value;
        break;
    default:
        *dst = (uchar)value;
        break;
    }
}

/* conv SD: byte offsets [begin, end) of `tokens` tokens, in values of `width`
 * bytes. An item owns an offset for all tokens. dst may lie below src in the
 * same block. */
#define DEFINE_SHIFT_SD(name, type, LOAD, STORE)                               \
    static void name(__global uchar *dst, __global const uchar *src,           \
                     ulong begin, ulong end, ulong token_stride, uint tokens,  \
                     uint width, uint item, uint items)                        \
    {                                                                          \
        for (ulong at = begin + item * width; at < end; at += items * width) { \
            for (uint first = 0; first < tokens; first += CLMOVE_HELD) {       \
                type held[CLMOVE_HELD];                                        \
                const uint count = min(tokens - first, (uint)CLMOVE_HELD);     \
                const ulong offset = at + first * token_stride;                \
                _Pragma("unroll") for (uint k = 0; k < CLMOVE_HELD; k++)       \
                {                                                              \
                    if (k < count)                                             \
                        held[k] = LOAD(src + offset + k * token_stride);       \
                }                                                              \
                _Pragma("unroll") for (uint k = 0; k < CLMOVE_HELD; k++)       \
                {                                                              \
                    if (k < count)                                             \
                        STORE(dst + offset + k * token_stride, held[k]);       \
                }                                                              \
            }                                                                  \
        }                                                                      \
    }

#define LOAD_VECTOR(src) (*(__global const uint4 *)(src))
#define STORE_VECTOR(dst, value) (*(__global uint4 *)(dst) = (value))
#define LOAD_VALUE(src) load_value(src, width)
#define STORE_VALUE(dst, value) store_value(dst, value, width)
DEFINE_SHIFT_SD(shift_sd_vectors, uint4, LOAD_VECTOR, STORE_VECTOR)
DEFINE_SHIFT_SD(shift_sd_values, ulong, LOAD_VALUE, STORE_VALUE)

static void copy_conv_sd(__global const struct ssm_state *state, uint part,
                         __global uchar *dst, __global const uchar *src,
                         uint bias, uint item, uint items)
{
    const ulong token_stride = state->extent;
    const ulong begin = part * state->part;
    const ulong end = min(begin + state->part, token_stride);
    const uint tokens = state->width - bias;
    src += bias * token_stride;
    const uint width = common_width((ulong)dst | (ulong)src | token_stride);
    if (width == 16)
        shift_sd_vectors(dst, src, begin, end, token_stride, tokens, 16, item,
                         items);
    else
        shift_sd_values(dst, src, begin, end, token_stride, tokens, width, item,
                        items);
}

/* Bytes to value i of rows that have `run` values each. No %: next to / it
 * becomes an instruction that Oclgrind 21.10 does not know. */
static ulong value_offset(uint i, uint run, ulong row_stride, uint width)
{
    const uint row = i / run;
    return row * row_stride + (i - row * run) * (ulong)width;
}

/* conv DS: `count` values, `run` of each row, in pieces that all items load
 * before any item stores. dst may lie below src in the same rows. */
static void shift_ds(__global uchar *dst, __global const uchar *src, uint count,
                     uint run, ulong row_stride, uint width, uint item,
                     uint items)
{
    for (uint first = 0; first < count; first += items * CLMOVE_HELD) {
        ulong held[CLMOVE_HELD];
        _Pragma("unroll") for (uint k = 0; k < CLMOVE_HELD; k++)
        {
            const uint i = first + item + k * items;
            if (i < count)
                held[k] = load_value(
                    src + value_offset(i, run, row_stride, width), width);
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        _Pragma("unroll") for (uint k = 0; k < CLMOVE_HELD; k++)
        {
            const uint i = first + item + k * items;
            if (i < count)
                store_value(dst + value_offset(i, run, row_stride, width),
                            held[k], width);
        }
    }
}

static void copy_conv_ds(__global const struct ssm_state *state, uint part,
                         __global uchar *dst, __global const uchar *src,
                         uint bias, uint item, uint items)
{
    const ulong row_stride = state->extent;
    const ulong begin = part * state->part;
    const uint rows = (uint)min(state->part, state->dim - begin);
    const uint bytes = (state->width - bias) * state->element_size;
    dst += begin * row_stride;
    src += begin * row_stride + bias * state->element_size;
    const uint width =
        min(common_width((ulong)dst | (ulong)src | row_stride | bytes), 8u);
    const uint run = bytes / width;
    shift_ds(dst, src, rows * run, run, row_stride, width, item, items);
}

static void copy_temporal(__global const struct ssm_state *state, uint part,
                          __global uchar *dst, __global const uchar *src,
                          uint item, uint items)
{
    const ulong begin = part * state->part;
    const ulong size = min(state->part, state->extent - begin);
    if (dst != src)
        copy_disjoint(dst + begin, src + begin, size, item, items);
}

/* One tile of one request, by the whole group. */
static void copy_tile(const struct ssm_step *step, uint2 tile,
                      const struct ssm_copy *copy, uint item, uint items)
{
    __global const struct ssm_state *state = &step->states[tile.x];
    __global const struct ssm_group *group = &step->groups[state->group];
    const uint bias = (uint)copy->bias;
    if (state->kind != TEMPORAL && bias >= state->width)
        return;
    const long from = state->kind == TEMPORAL ? (long)copy->source + copy->bias
                                              : (long)copy->source;
    const int source = table_entry(step, group, copy->row, from);
    const int destination =
        table_entry(step, group, copy->row, copy->destination);
    __global uchar *first = step->banks[state->bank] + state->base;
    __global const uchar *src = first + (ulong)source * state->block_stride;
    __global uchar *dst = first + (ulong)destination * state->block_stride;
    switch (state->kind) {
    case CONV_SD:
        copy_conv_sd(state, tile.y, dst, src, bias, item, items);
        break;
    case CONV_DS:
        copy_conv_ds(state, tile.y, dst, src, bias, item, items);
        break;
    default:
        copy_temporal(state, tile.y, dst, src, item, items);
        break;
    }
}

#define ARRAY(type, name) ((__global type *)(name + name##_offset))

__kernel void clmove_ssm_step(
    BANK_EACH(BANK_PARAMETER) __global const struct ssm_state *states,
    __global const uint2 *tiles, __global const struct ssm_group *groups,
    __global const uchar *computed, ulong computed_offset,
    __global const uchar *scheduled, ulong scheduled_offset,
    __global const uchar *draft, ulong draft_offset,
    __global const uchar *accepted_in, ulong accepted_in_offset,
    __global uchar *accepted_out, ulong accepted_out_offset,
    __global const uchar *column_in, ulong column_in_offset,
    __global uchar *column_out, ulong column_out_offset, __global uchar *faults,
    ulong faults_offset, uint slot_count, uint tokens_per_block,
    uint state_count, uint group_count, uint tile_count, uint rows, uint mode)
{
    BANK_ARRAY banks[CLMOVE_BANKS];
    __local uint crossing[CLMOVE_SLICE_ROWS / 32 + 1]; /* a bit per row */
    __local uint *copy_count = &crossing[CLMOVE_SLICE_ROWS / 32];
    __local struct ssm_copy copies[CLMOVE_SLICE_ROWS]; /* by row */
    __local ushort order[CLMOVE_SLICE_ROWS]; /* of the rows that copy */

    const uint item = (uint)get_local_id(0);
    const uint items = (uint)get_local_size(0);
    const struct ssm_step step = {
        banks,
        states,
        groups,
        ARRAY(const int, computed),
        ARRAY(const int, scheduled),
        ARRAY(const int, draft),
        ARRAY(const int, accepted_in),
        ARRAY(int, accepted_out),
        ARRAY(const int, column_in),
        ARRAY(int, column_out),
        faults == 0 ? 0 : ARRAY(int, faults),
        rows,
        tokens_per_block,
        state_count,
        group_count,
        mode,
    };
    const int writes = (mode & MODE_WRITES_RESULTS) != 0 &&
                       get_group_id(0) == get_num_groups(0) - 1;
    if (item == 0) {
        BANK_EACH(BANK_STORE)
    }
    for (uint slice = 0; slice < rows; slice += CLMOVE_SLICE_ROWS) {
        const uint slice_end = min(rows, slice + CLMOVE_SLICE_ROWS);
        struct ssm_copy copy;
        struct ssm_fault fault;
        for (uint i = item; i <= CLMOVE_SLICE_ROWS / 32; i += items)
            crossing[i] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint row = slice + item; row < slice_end; row += items) {
            const uint fate = decide(&step, row, &copy, &fault);
            if ((fate & ROW_COPIES) != 0) {
                const uint place = row - slice;
                copies[place] = copy;
                atomic_or(&crossing[place / 32], 1u << (place % 32));
                atomic_inc(copy_count);
            }
            if (writes)
                write_results(&step, row, fate, &copy, &fault);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint count = *copy_count;
        if (count == 0) {
            /* Nothing to list or copy. The next slice may clear the counter
             * once all items have read it. */
            barrier(CLK_LOCAL_MEM_FENCE);
            continue;
        }
        /* Listed in the order of rows: every group must number the work
         * alike. */
        for (uint place = item; place < slice_end - slice; place += items) {
            const uint word = crossing[place / 32];
            const uint bit = 1u << (place % 32);
            if ((word & bit) == 0)
                continue;
            uint number = popcount(word & (bit - 1u));
            for (uint i = 0; i < place / 32; i++)
                number += popcount(crossing[i]);
            order[number] = (ushort)place;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const ulong work = (ulong)count * tile_count;
        for (ulong i = get_group_id(0); i < work; i += get_num_groups(0)) {
            const ulong place = i / tile_count;
            copy = copies[order[place]];
            copy_tile(&step, tiles[i - place * tile_count], &copy, item, items);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    /* Slots outside the batch keep their value. */
    for (uint slot = rows + item; writes && slot < slot_count; slot += items) {
        step.accepted_out[slot] = step.accepted_in[slot];
        if ((mode & MODE_PRE) != 0)
            step.column_out[slot] = step.column_in[slot];
    }
}

/*
 * clmove_ssm_aside copies accepted and running columns to scratch, for a step
 * whose results go where its inputs are. Reads both arrays, writes scratch
 * [2][slot_count]; every entry is written by one item and read by none. An
 * array that is not given is left out.
 */
__kernel void clmove_ssm_aside(__global const uchar *accepted,
                               ulong accepted_offset,
                               __global const uchar *column,
                               ulong column_offset, __global int *scratch,
                               uint slot_count)
{
    for (ulong slot = get_global_id(0); slot < slot_count;
         slot += get_global_size(0)) {
        if (accepted != 0)
            scratch[slot] = ARRAY(const int, accepted)[slot];
        if (column != 0)
            scratch[slot_count + slot] = ARRAY(const int, column)[slot];
    }
}
