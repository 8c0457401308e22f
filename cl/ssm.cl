/* Copies of recurrent state in paged memory. */

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
 *   last group writes them, each entry by one item: a slot's by the item of the
 *   one row that names it, or else by the item that walks the slots.
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
 *       and a load before barrier p touch one byte only across that barrier;
 *     from one order to the other: two layouts, whose memories are disjoint.
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

/* Slots whose rows are looked for at once. */
#define SLOT_WINDOW (CLMOVE_SLICE_ROWS * 8)

/* Mirrors of the structures in src/ssm_tiles.h and src/ssm_step.h. */
enum { CONV_SD = 1, CONV_DS = 2, TEMPORAL = 3, SD_TO_DS = 4, DS_TO_SD = 5 };

/* A state as source and as destination; one state is both in a step. */
struct ssm_state {
    ulong src_base, dst_base; /* bytes from the bank's start to block 0 */
    ulong src_block_stride, dst_block_stride; /* bytes */
    /* temporal: its size; SD: bytes of a token; DS: row stride */
    ulong src_extent, dst_extent;
    ulong part; /* of a tile; temporal, SD: bytes; else channels */
    uint kind, group, src_bank, dst_bank;
    uint src_width, dst_width, dim, element_size;
    uint block_count, unused;
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

enum {
    MODE_PRE = 1,
    MODE_WRITES_RESULTS = 2,
    MODE_POST = 4,
    MODE_COPY = 8,
    MODE_TABLES_BY_SLOT = 16,
    MODE_KEEPS_ACCEPTED = 32,
    MODE_SKIPS_TEMPORAL = 64
};

/* What the kernel was given, so that helpers need one parameter. */
struct ssm_step {
    BANK_ARRAY *banks;
    __global const struct ssm_state *states;
    __global const struct ssm_group *groups;
    __global const int *slot_of; /* or NULL: slot is row */
    __global const int *computed;
    __global const int *scheduled;
    __global const int *query_starts; /* or NULL: scheduled */
    __global const int *draft;
    __global const int *now_computed; /* or NULL: computed and the others */
    __global const int *accepted_in;
    __global int *accepted_out;
    __global const int *column_in;
    __global int *column_out;
    __global const int *copy_source;
    __global const int *copy_destination;
    __global const int *copy_bias;
    __global int *faults; /* int [row][4], or NULL */
    uint rows, slot_count, tokens_per_block, state_count, group_count, mode;
};

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
    if (state->kind == TEMPORAL ? (step->mode & MODE_SKIPS_TEMPORAL) != 0
                                : (uint)copy->bias >= state->src_width)
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

/* Tokens of the step, drafts included. */
static int scheduled_tokens(const struct ssm_step *step, uint row)
{
    if (step->query_starts == 0)
        return step->scheduled[row];
    const long difference =
        (long)step->query_starts[row + 1] - step->query_starts[row];
    return (int)clamp(difference, (long)INT_MIN, (long)INT_MAX);
}

/* Pre-process: the step's tokens need column `cur`, the state is in `prev`. */
static uint decide_pre(const struct ssm_step *step, uint row, uint slot,
                       struct ssm_copy *copy, struct ssm_fault *fault)
{
    const int scheduled = scheduled_tokens(step, row);
    const int computed = step->computed[slot];
    const int accepted = step->accepted_in[slot];
    const int prev = step->column_in[slot];
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
    return ROW_COLUMN | ROW_COPIES |
           ((step->mode & MODE_KEEPS_ACCEPTED) != 0 ? 0 : ROW_RESETS);
}

/* Post-process: `now` tokens are computed; the running block holds the state
 * after `certain` of them for sure. */
static uint decide_boundary(const struct ssm_step *step, uint slot,
                            long certain, long now, struct ssm_copy *copy)
{
    const long blocks = now / (long)step->tokens_per_block;
    const long boundary = blocks * (long)step->tokens_per_block;
    if (boundary < certain || blocks < 1)
        return 0;
    const int column = step->column_in[slot];
    copy->source = column;
    copy->destination = (int)min(blocks - 1, (long)INT_MAX);
    copy->bias = (int)(boundary - certain);
    if (column != blocks - 1)
        return ROW_COPIES;
    return copy->bias == 0 ? ROW_RESETS : ROW_RESETS | ROW_COPIES;
}

static uint decide_post(const struct ssm_step *step, uint row, uint slot,
                        struct ssm_copy *copy, struct ssm_fault *fault)
{
    const int scheduled = scheduled_tokens(step, row);
    const int draft = step->draft[row];
    const int computed = step->computed[slot];
    const int accepted = step->accepted_in[slot];
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
    if (accepted < 1)
        return 0;
    const long certain = (long)computed + (scheduled - draft);
    return decide_boundary(step, slot, certain, certain + accepted - 1, copy);
}

/* The same from the tokens computed now. */
static uint decide_post_now(const struct ssm_step *step, uint slot,
                            struct ssm_copy *copy, struct ssm_fault *fault)
{
    const int now = step->now_computed[slot];
    const int accepted = step->accepted_in[slot];
    if (now < 0)
        return counter_fault(fault, NOW, now);
    if (accepted < 0)
        return counter_fault(fault, ACCEPTED, accepted);
    if (accepted < 1)
        return 0;
    return decide_boundary(step, slot, (long)now - accepted + 1, now, copy);
}

/* Pre-copy: the caller has decided. */
static uint decide_copy(const struct ssm_step *step, uint slot,
                        struct ssm_copy *copy, struct ssm_fault *fault)
{
    copy->source = step->copy_source[slot];
    copy->destination = step->copy_destination[slot];
    copy->bias = step->copy_bias[slot];
    if (copy->source == -1 || copy->source == copy->destination)
        return 0;
    if (copy->bias < 0)
        return counter_fault(fault, BIAS, copy->bias);
    return ROW_COPIES;
}

/* What becomes of a row, its blocks checked. Depends on nothing that the launch
 * writes, so it may be asked again. */
static uint decide(const struct ssm_step *step, uint row, uint slot,
                   struct ssm_copy *copy, struct ssm_fault *fault)
{
    uint fate;
    copy->row = (int)((step->mode & MODE_TABLES_BY_SLOT) != 0 ? slot : row);
    if ((step->mode & MODE_PRE) != 0)
        fate = decide_pre(step, row, slot, copy, fault);
    else if ((step->mode & MODE_COPY) != 0)
        fate = decide_copy(step, slot, copy, fault);
    else if (step->now_computed != 0)
        fate = decide_post_now(step, slot, copy, fault);
    else
        fate = decide_post(step, row, slot, copy, fault);
    if ((fate & ROW_COPIES) != 0 && !copy_is_fine(step, copy, fault))
        return ROW_FAULT;
    return fate;
}

/* Slots that rows name, a bit per slot of a window: by one row, by several. */
struct slot_bits {
    __local uint *named;
    __local uint *twice;
    uint first; /* slot of the window */
};

static int has_bit(__local const uint *bits, uint index)
{
    return (int)(bits[index / 32] >> (index % 32) & 1u);
}

/* Notes what slots of the window the rows name, by the whole group. */
static void note_slots(const struct ssm_step *step,
                       const struct slot_bits *slots, uint item, uint items)
{
    for (uint i = item; i < SLOT_WINDOW / 32; i += items) {
        slots->named[i] = 0;
        slots->twice[i] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint row = item; row < step->rows; row += items) {
        const uint place = (uint)step->slot_of[row] - slots->first;
        if (place >= SLOT_WINDOW)
            continue;
        const uint bit = 1u << (place % 32);
        if ((atomic_or(&slots->named[place / 32], bit) & bit) != 0)
            atomic_or(&slots->twice[place / 32], bit);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* What becomes of a row in this window. A row without a slot belongs to the
 * first window. ROW_ELSEWHERE: nothing, and nothing to write. */
static uint decide_row(const struct ssm_step *step,
                       const struct slot_bits *slots, uint row, uint *slot,
                       struct ssm_copy *copy, struct ssm_fault *fault)
{
    *slot = row;
    if (step->slot_of == 0)
        return decide(step, row, row, copy, fault);
    const int named = step->slot_of[row];
    if (named == -1)
        return ROW_ELSEWHERE;
    fault->state = -1;
    fault->column = -1;
    fault->value = named;
    if (named < 0 || (uint)named >= step->slot_count) {
        fault->kind = FAULT_SLOT;
        return slots->first == 0 ? ROW_ELSEWHERE | ROW_FAULT : ROW_ELSEWHERE;
    }
    *slot = (uint)named;
    if (*slot - slots->first >= SLOT_WINDOW)
        return ROW_ELSEWHERE;
    if (has_bit(slots->twice, *slot - slots->first)) {
        fault->kind = FAULT_SLOT_TWICE;
        return ROW_ELSEWHERE | ROW_FAULT;
    }
    return decide(step, row, *slot, copy, fault);
}

/* Results of one row, written by one item of the launch. */
static void write_results(const struct ssm_step *step, uint row, uint slot,
                          uint fate, const struct ssm_copy *copy,
                          const struct ssm_fault *fault)
{
    if ((fate & ROW_ELSEWHERE) == 0 && (step->mode & MODE_COPY) == 0)
        step->accepted_out[slot] =
            (fate & ROW_RESETS) != 0 ? 1 : step->accepted_in[slot];
    if ((fate & ROW_ELSEWHERE) == 0 && (step->mode & MODE_PRE) != 0)
        step->column_out[slot] = (fate & ROW_COLUMN) != 0
                                     ? copy->destination
                                     : step->column_in[slot];
    if ((fate & ROW_FAULT) != 0 && step->faults != 0) {
        __global int *entry = step->faults + (ulong)row * 4;
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
    const int named = step->slot_of != 0;
    const uint end = named ? min(slots->first + SLOT_WINDOW, step->slot_count)
                           : step->slot_count;
    for (uint slot = (named ? slots->first : step->rows) + item; slot < end;
         slot += items) {
        const uint place = slot - slots->first;
        if (named && has_bit(slots->named, place) &&
            !has_bit(slots->twice, place))
            continue;
        if ((step->mode & MODE_COPY) == 0)
            step->accepted_out[slot] = step->accepted_in[slot];
        if ((step->mode & MODE_PRE) != 0)
            step->column_out[slot] = step->column_in[slot];
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

/* Tokens of the window that a copy writes; bias is below the source's width. */
static uint copied_tokens(__global const struct ssm_state *state, uint bias)
{
    return min(state->src_width - bias, state->dst_width);
}

static void copy_conv_sd(__global const struct ssm_state *state, uint part,
                         __global uchar *dst, __global const uchar *src,
                         uint bias, uint item, uint items)
{
    const ulong token_stride = state->src_extent;
    const ulong begin = part * state->part;
    const ulong end = min(begin + state->part, token_stride);
    const uint tokens = copied_tokens(state, bias);
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
                     uint run, ulong dst_stride, ulong src_stride, uint width,
                     uint item, uint items)
{
    for (uint first = 0; first < count; first += items * CLMOVE_HELD) {
        ulong held[CLMOVE_HELD];
        _Pragma("unroll") for (uint k = 0; k < CLMOVE_HELD; k++)
        {
            const uint i = first + item + k * items;
            if (i < count)
                held[k] = load_value(
                    src + value_offset(i, run, src_stride, width), width);
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        _Pragma("unroll") for (uint k = 0; k < CLMOVE_HELD; k++)
        {
            const uint i = first + item + k * items;
            if (i < count)
                store_value(dst + value_offset(i, run, dst_stride, width),
                            held[k], width);
        }
    }
}

static void copy_conv_ds(__global const struct ssm_state *state, uint part,
                         __global uchar *dst, __global const uchar *src,
                         uint bias, uint item, uint items)
{
    const ulong begin = part * state->part;
    const uint rows = (uint)min(state->part, state->dim - begin);
    const uint bytes = copied_tokens(state, bias) * state->element_size;
    dst += begin * state->dst_extent;
    src += begin * state->src_extent + bias * state->element_size;
    const uint width = min(common_width((ulong)dst | (ulong)src | bytes |
                                        state->dst_extent | state->src_extent),
                           8u);
    const uint run = bytes / width;
    shift_ds(dst, src, rows * run, run, state->dst_extent, state->src_extent,
             width, item, items);
}

/* One order of a window to the other; a tile is a range of channels. Items take
 * neighbours of the destination. */
static void copy_turned(__global const struct ssm_state *state, uint part,
                        __global uchar *dst, __global const uchar *src,
                        uint bias, uint item, uint items)
{
    const ulong begin = part * state->part;
    const uint channels = (uint)min(state->part, state->dim - begin);
    const uint tokens = copied_tokens(state, bias);
    const uint size = state->element_size;
    const int to_ds = state->kind == SD_TO_DS;
    const ulong src_token = to_ds ? state->src_extent : size;
    const ulong src_channel = to_ds ? size : state->src_extent;
    const ulong dst_token = to_ds ? size : state->dst_extent;
    const ulong dst_channel = to_ds ? state->dst_extent : size;
    const uint width =
        min(common_width((ulong)dst | (ulong)src | state->src_extent |
                         state->dst_extent | size),
            8u);
    const uint run = to_ds ? tokens : channels; /* neighbours */
    src += bias * src_token + begin * src_channel;
    dst += begin * dst_channel;
    for (uint i = item; i < tokens * channels; i += items) {
        const uint outer = i / run;
        const uint inner = i - outer * run;
        const uint token = to_ds ? inner : outer;
        const uint channel = to_ds ? outer : inner;
        for (uint at = 0; at < size; at += width)
            store_value(
                dst + token * dst_token + channel * dst_channel + at,
                load_value(src + token * src_token + channel * src_channel + at,
                           width),
                width);
    }
}

static void copy_temporal(__global const struct ssm_state *state, uint part,
                          __global uchar *dst, __global const uchar *src,
                          uint item, uint items)
{
    const ulong begin = part * state->part;
    const ulong size = min(state->part, state->src_extent - begin);
    if (dst != src)
        copy_disjoint(dst + begin, src + begin, size, item, items);
}

/* One tile from block to block, by the whole group. */
static void copy_tile(BANK_ARRAY *banks, __global const struct ssm_state *state,
                      uint part, int source, int destination, uint bias,
                      uint item, uint items)
{
    __global const uchar *src =
        banks[state->src_bank] +
        (state->src_base + (ulong)source * state->src_block_stride);
    __global uchar *dst =
        banks[state->dst_bank] +
        (state->dst_base + (ulong)destination * state->dst_block_stride);
    switch (state->kind) {
    case CONV_SD:
        copy_conv_sd(state, part, dst, src, bias, item, items);
        break;
    case CONV_DS:
        copy_conv_ds(state, part, dst, src, bias, item, items);
        break;
    case TEMPORAL:
        copy_temporal(state, part, dst, src, item, items);
        break;
    default:
        copy_turned(state, part, dst, src, bias, item, items);
        break;
    }
}

/* One tile of one request, by the whole group. */
static void copy_request_tile(const struct ssm_step *step, uint2 tile,
                              const struct ssm_copy *copy, uint item,
                              uint items)
{
    __global const struct ssm_state *state = &step->states[tile.x];
    __global const struct ssm_group *group = &step->groups[state->group];
    const uint bias = (uint)copy->bias;
    if (state->kind != TEMPORAL && bias >= state->src_width)
        return;
    const long from = state->kind == TEMPORAL ? (long)copy->source + copy->bias
                                              : (long)copy->source;
    copy_tile(step->banks, state, tile.y,
              table_entry(step, group, copy->row, from),
              table_entry(step, group, copy->row, copy->destination), bias,
              item, items);
}

#define ARRAY(type, name) ((__global type *)(name + name##_offset))

#define ARRAY_OR_NULL(type, name) (name == 0 ? 0 : ARRAY(type, name))

__kernel void clmove_ssm_step(
    BANK_EACH(BANK_PARAMETER) __global const struct ssm_state *states,
    __global const uint2 *tiles, __global const struct ssm_group *groups,
    __global const uchar *slot_of, ulong slot_of_offset,
    __global const uchar *computed, ulong computed_offset,
    __global const uchar *scheduled, ulong scheduled_offset,
    __global const uchar *query_starts, ulong query_starts_offset,
    __global const uchar *draft, ulong draft_offset,
    __global const uchar *now_computed, ulong now_computed_offset,
    __global const uchar *accepted_in, ulong accepted_in_offset,
    __global uchar *accepted_out, ulong accepted_out_offset,
    __global const uchar *column_in, ulong column_in_offset,
    __global uchar *column_out, ulong column_out_offset,
    __global const uchar *copy_source, ulong copy_source_offset,
    __global const uchar *copy_destination, ulong copy_destination_offset,
    __global const uchar *copy_bias, ulong copy_bias_offset,
    __global uchar *faults, ulong faults_offset, uint slot_count,
    uint tokens_per_block, uint state_count, uint group_count, uint tile_count,
    uint rows, uint mode)
{
    BANK_ARRAY banks[CLMOVE_BANKS];
    __local uint crossing[CLMOVE_SLICE_ROWS / 32 + 1]; /* a bit per row */
    __local uint *copy_count = &crossing[CLMOVE_SLICE_ROWS / 32];
    __local struct ssm_copy copies[CLMOVE_SLICE_ROWS]; /* by row */
    __local ushort order[CLMOVE_SLICE_ROWS];           /* of rows that copy */
    __local uint named[SLOT_WINDOW / 32];
    __local uint twice[SLOT_WINDOW / 32];

    const uint item = (uint)get_local_id(0);
    const uint items = (uint)get_local_size(0);
    const struct ssm_step step = {
        banks,
        states,
        groups,
        ARRAY_OR_NULL(const int, slot_of),
        ARRAY(const int, computed),
        ARRAY(const int, scheduled),
        ARRAY_OR_NULL(const int, query_starts),
        ARRAY(const int, draft),
        ARRAY_OR_NULL(const int, now_computed),
        ARRAY(const int, accepted_in),
        ARRAY(int, accepted_out),
        ARRAY(const int, column_in),
        ARRAY(int, column_out),
        ARRAY(const int, copy_source),
        ARRAY(const int, copy_destination),
        ARRAY(const int, copy_bias),
        ARRAY_OR_NULL(int, faults),
        rows,
        slot_count,
        tokens_per_block,
        state_count,
        group_count,
        mode,
    };
    const int writes = (mode & MODE_WRITES_RESULTS) != 0 &&
                       get_group_id(0) == get_num_groups(0) - 1;
    /* Rows that name slots of one window are decided together, so that two rows
     * that name one slot are found. Without names there is one window. */
    struct slot_bits slots = {named, twice, 0};
    if (item == 0) {
        BANK_EACH(BANK_STORE)
    }
    for (uint window = 0; window == 0 || window < slot_count;
         window += SLOT_WINDOW) {
        slots.first = window;
        if (step.slot_of != 0)
            note_slots(&step, &slots, item, items);
        else if (window > 0)
            break;
        for (uint slice = 0; slice < rows; slice += CLMOVE_SLICE_ROWS) {
            const uint slice_end = min(rows, slice + CLMOVE_SLICE_ROWS);
            struct ssm_copy copy;
            struct ssm_fault fault;
            for (uint i = item; i <= CLMOVE_SLICE_ROWS / 32; i += items)
                crossing[i] = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint row = slice + item; row < slice_end; row += items) {
                uint slot;
                const uint fate =
                    decide_row(&step, &slots, row, &slot, &copy, &fault);
                if ((fate & ROW_COPIES) != 0) {
                    const uint place = row - slice;
                    copies[place] = copy;
                    atomic_or(&crossing[place / 32], 1u << (place % 32));
                    atomic_inc(copy_count);
                }
                if (writes)
                    write_results(&step, row, slot, fate, &copy, &fault);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            const uint count = *copy_count;
            /* Listed in the order of rows: every group must number the work
             * alike. */
            for (uint place = item; count > 0 && place < slice_end - slice;
                 place += items) {
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
                copy_request_tile(&step, tiles[i - place * tile_count], &copy,
                                  item, items);
            }
            /* Slices and windows clear what was read here. */
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (writes)
            keep_other_slots(&step, &slots, item, items);
        barrier(CLK_LOCAL_MEM_FENCE);
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

/*
 * clmove_ssm_indices looks up the blocks of a step's tokens. Reads the tables
 * and the per-request arrays, writes out [group][row][slots_per_row], each
 * entry by one item; nothing reads them.
 */
__kernel void
clmove_ssm_indices(BANK_EACH(BANK_PARAMETER)
                       __global const struct ssm_group *groups,
                   __global const uchar *slot_of, ulong slot_of_offset,
                   __global const uchar *computed, ulong computed_offset,
                   __global const uchar *scheduled, ulong scheduled_offset,
                   __global const uchar *query_starts,
                   ulong query_starts_offset, __global uchar *out,
                   ulong out_offset, uint slot_count, uint tokens_per_block,
                   uint group_count, uint rows, uint slots_per_row, uint mode)
{
    BANK_ARRAY banks[CLMOVE_BANKS];
    struct ssm_step step;
    step.banks = banks;
    step.scheduled = ARRAY(const int, scheduled);
    step.query_starts = ARRAY_OR_NULL(const int, query_starts);
    if (get_local_id(0) == 0) {
        BANK_EACH(BANK_STORE)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong per_group = (ulong)rows * slots_per_row;
    for (ulong i = get_global_id(0); i < per_group * group_count;
         i += get_global_size(0)) {
        const ulong index = i / per_group;
        const ulong rest = i - index * per_group;
        const uint row = (uint)(rest / slots_per_row);
        const uint number = (uint)(rest - row * (ulong)slots_per_row);
        __global const struct ssm_group *group = &groups[index];
        const int slot =
            slot_of == 0 ? (int)row : ARRAY(const int, slot_of)[row];
        int found = -1;
        if (slot >= 0 && (uint)slot < slot_count) {
            const int tokens = scheduled_tokens(&step, row);
            const int before = ARRAY(const int, computed)[slot];
            const long last = (long)before + tokens - 1;
            const long column =
                max(last, 0l) / (long)tokens_per_block + (long)number;
            if (tokens >= 0 && before >= 0 && in_table(group, column))
                found = table_entry(
                    &step, group,
                    (mode & MODE_TABLES_BY_SLOT) != 0 ? slot : (int)row,
                    column);
        }
        ARRAY(int, out)[i] = found;
    }
}

/*
 * clmove_ssm_copy copies blocks that the host listed. Reads source blocks,
 * writes destination blocks. Work is cut into (entry, tile); the library
 * refuses lists in which one entry touches a block that another writes, and
 * within an entry the copies are those of clmove_ssm_step.
 */
struct ssm_listed {
    ulong first_work;            /* tiles of earlier entries */
    uint first_tile, tile_count; /* of the entry's group */
    int conv_from, temporal_from, to;
    uint bias;
};

__kernel void clmove_ssm_copy(BANK_EACH(BANK_PARAMETER)
                                  __global const struct ssm_state *states,
                              __global const uint2 *tiles,
                              __global const struct ssm_listed *list,
                              uint count, ulong work)
{
    BANK_ARRAY banks[CLMOVE_BANKS];
    if (get_local_id(0) == 0) {
        BANK_EACH(BANK_STORE)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_group_id(0); i < work; i += get_num_groups(0)) {
        uint low = 0; /* the last entry that begins at or before i */
        for (uint high = count; high - low > 1;) {
            const uint middle = low + (high - low) / 2;
            if (list[middle].first_work <= i)
                low = middle;
            else
                high = middle;
        }
        __global const struct ssm_listed *entry = &list[low];
        const uint2 tile =
            tiles[entry->first_tile + (uint)(i - entry->first_work)];
        __global const struct ssm_state *state = &states[tile.x];
        const int from =
            state->kind == TEMPORAL ? entry->temporal_from : entry->conv_from;
        if (from < 0 ||
            (state->kind != TEMPORAL && entry->bias >= state->src_width))
            continue;
        copy_tile(banks, state, tile.y, from, entry->to, entry->bias,
                  (uint)get_local_id(0), (uint)get_local_size(0));
    }
}

/*
 * clmove_ssm_zero clears blocks that the host listed. Writes their states,
 * without the gaps, each byte by one item; the library drops blocks that are
 * named twice.
 */
static void zero_bytes(__global uchar *dst, ulong size, uint item, uint items)
{
    const ulong head = min(size, (0ul - (ulong)dst) & 15u);
    const ulong count = (size - head) / 16;
    __global uint4 *to = (__global uint4 *)(dst + head);
    for (ulong i = item; i < head; i += items)
        dst[i] = 0;
    for (ulong i = item; i < count; i += items)
        to[i] = (uint4)(0);
    for (ulong i = head + count * 16 + item; i < size; i += items)
        dst[i] = 0;
}

__kernel void clmove_ssm_zero(BANK_EACH(BANK_PARAMETER)
                                  __global const struct ssm_state *states,
                              __global const uint2 *tiles,
                              __global const int *blocks, uint tile_count,
                              ulong work, uint first_tile)
{
    BANK_ARRAY banks[CLMOVE_BANKS];
    const uint item = (uint)get_local_id(0);
    const uint items = (uint)get_local_size(0);
    if (item == 0) {
        BANK_EACH(BANK_STORE)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_group_id(0); i < work; i += get_num_groups(0)) {
        const ulong place = i / tile_count;
        const uint2 tile = tiles[first_tile + (uint)(i - place * tile_count)];
        __global const struct ssm_state *state = &states[tile.x];
        const ulong begin = tile.y * state->part;
        __global uchar *dst =
            banks[state->dst_bank] +
            (state->dst_base + (ulong)blocks[place] * state->dst_block_stride);
        /* A temporal state is one row; so is a token of SD, a channel of DS. */
        const int ds = state->kind == CONV_DS;
        const ulong whole = ds ? state->dim : state->dst_extent;
        const ulong size = min(state->part, whole - begin);
        const uint rows = ds ? (uint)size : state->dst_width;
        const ulong row_size =
            ds ? (ulong)state->dst_width * state->element_size : size;
        dst += ds ? begin * state->dst_extent : begin;
        for (uint row = 0; row < (state->kind == TEMPORAL ? 1 : rows); row++)
            zero_bytes(dst + row * state->dst_extent, row_size, item, items);
    }
}
