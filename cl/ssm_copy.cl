/* Tiles of states, and the kernels that copy and clear listed blocks. */

/*
 * Reads source blocks, writes destination blocks. One work-group copies a tile,
 * a part of one state of one block.
 *
 * Why a tile cannot race with another of the same copy: tiles of one state have
 * disjoint byte ranges, and
 * - temporal: source and destination are different blocks, or nothing moves.
 * - conv SD to another block: the same; the tiles cut the copied tokens, one
 * range, into disjoint ones.
 * - conv SD in one block: a tile is a range of byte offsets, the same in every
 * token. An item owns its offsets for all tokens and loads token t + bias
 * before it stores token t, t ascending, so that the shift is a private matter
 * of the item: no barrier is needed.
 * - conv DS: a tile is a range of rows. A piece of it, some rows or a part of
 * one, is loaded to local memory by all items before any item stores it
 * (barrier), and read there before local memory is filled again (barrier).
 * Pieces of one row ascend: what a piece stores lies below all that later
 * pieces load. Where rows lie without gaps, pieces are whole rows, the tokens
 * in front of the copied ones too: they belong to the tile's rows, so nobody
 * else writes them. Then the next piece is loaded to registers while this one
 * is stored: other rows, and no vector reaches beyond its piece. On a CPU an
 * item owns rows, and loads each value before it stores what it held.
 * - from one order to the other: two layouts, whose memories are disjoint.
 *
 * All barriers stand in flow that is uniform for the group.
 *
 * Macros: those of common.cl; CLMOVE_STAGE: bytes of a piece, a multiple of 16;
 * CLMOVE_GROUP.
 */

#ifndef CLMOVE_COMMON
#include "common.cl"
#endif
#ifndef CLMOVE_SSM_COPY
#define CLMOVE_SSM_COPY

/* Work-items in a group of the kernels that copy states, for compilers that
 * have to know; 0: any number. The kernels are right with each. */
#ifndef CLMOVE_GROUP
#define CLMOVE_GROUP 0
#endif
#if CLMOVE_GROUP > 0
#define MOVER __attribute__((reqd_work_group_size(CLMOVE_GROUP, 1, 1)))
#define MOVER_ITEMS ((uint)CLMOVE_GROUP)
#else
#define MOVER
#define MOVER_ITEMS ((uint)get_local_size(0))
#endif

#ifndef CLMOVE_STAGE
#define CLMOVE_STAGE 8192
#endif

/* Mirrors of the structures in src/ssm_tiles.h. */
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

/* What a launch works on: this, the states, and behind them the tiles, each a
 * state and a part of it. One argument, since each costs host time. */
struct ssm_cut {
    uint state_count, tile_count, unused[2];
};

static __global const struct ssm_state *
cut_states(__global const struct ssm_cut *cut)
{
    return (__global const struct ssm_state *)(cut + 1);
}

static __global const uint2 *cut_tiles(__global const struct ssm_cut *cut)
{
    return (__global const uint2 *)(cut_states(cut) + cut->state_count);
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

/* Tokens that an item holds of a window. More would take registers from all
 * copies, so that fewer groups run at once. */
#define CLMOVE_TOKENS 4

/* conv SD: byte offsets [begin, end) of `tokens` tokens, in vectors, to which
 * all addresses are aligned. An item owns an offset for all tokens. dst may lie
 * below src in the same block. */
static void shift_sd(__global uchar *dst, __global const uchar *src,
                     ulong begin, ulong end, ulong token_stride, uint tokens,
                     uint item, uint items)
{
    ROLLED
    for (ulong at = begin + item * 16; at < end; at += items * 16) {
        for (uint first = 0; first < tokens; first += CLMOVE_TOKENS) {
            uint4 held[CLMOVE_TOKENS];
            const uint count = min(tokens - first, (uint)CLMOVE_TOKENS);
            const ulong offset = at + first * token_stride;
            _Pragma("unroll") for (uint k = 0; k < CLMOVE_TOKENS; k++)
            {
                held[k] =
                    *(__global const uint4 *)(src + offset +
                                              min(k, count - 1) * token_stride);
            }
            _Pragma("unroll") for (uint k = 0; k < CLMOVE_TOKENS; k++)
            {
                if (k < count)
                    *(__global uint4 *)(dst + offset + k * token_stride) =
                        held[k];
            }
        }
    }
}

/* The same in values of `width` bytes, up to 8. */
static void shift_sd_narrow(__global uchar *dst, __global const uchar *src,
                            ulong begin, ulong end, ulong token_stride,
                            uint tokens, uint width, uint item, uint items)
{
    ROLLED
    for (ulong at = begin + item * width; at < end; at += items * width) {
        ROLLED
        for (uint token = 0; token < tokens; token++) {
            const ulong offset = at + token * token_stride;
            store_value(dst + offset, load_value(src + offset, width), width);
        }
    }
}

/* Tokens of the window that a copy writes; bias is below the source's width. */
static uint copied_tokens(__global const struct ssm_state *state, uint bias)
{
    return min(state->src_width - bias, state->dst_width);
}

/* What of a state a group copies: bytes, of each token in SD order, or rows. */
struct ssm_range {
    ulong begin, end;
};

/* A tile, or the share that one of several groups takes of it. Cuts are at
 * multiples of 256, as those of tiles. */
static struct ssm_range tile_range(__global const struct ssm_state *state,
                                   uint part, uint share, uint shares)
{
    const int bytes = state->kind == TEMPORAL || state->kind == CONV_SD;
    const ulong whole = bytes ? state->src_extent : (ulong)state->dim;
    struct ssm_range range;
    range.begin = part * state->part;
    range.end = min(range.begin + state->part, whole);
    if (shares > 1) {
        const ulong size = range.end - range.begin;
        /* Fewer than 2^32 times 256: numbers of 64 bits divide slowly. */
        const uint pieces = (uint)(size / 256);
        const ulong length = (ulong)(pieces / shares + 1) * 256;
        range.begin = min(range.begin + share * length, range.end);
        range.end = min(range.begin + length, range.end);
    }
    return range;
}

/* conv SD within one block. */
static void copy_conv_sd(__global const struct ssm_state *state,
                         const struct ssm_range *range, __global uchar *dst,
                         __global const uchar *src, uint bias, uint item,
                         uint items)
{
    const ulong token_stride = state->src_extent;
    const ulong begin = range->begin;
    const ulong end = range->end;
    const uint tokens = copied_tokens(state, bias);
    src += bias * token_stride;
    const uint width = common_width((ulong)dst | (ulong)src | token_stride);
    if (width == 16)
        shift_sd(dst, src, begin, end, token_stride, tokens, item, items);
    else
        shift_sd_narrow(dst, src, begin, end, token_stride, tokens, width, item,
                        items);
}

#if CLMOVE_CPU
#define STAGE_VECTORS 1 /* not used */

/* conv DS: `size` bytes of each of `rows` rows. An item owns a row. Both
 * strides in bytes; dst may lie below src in the same row. */
static void shift_ds(__global uchar *dst, __global const uchar *src, uint rows,
                     ulong size, ulong dst_stride, ulong src_stride, uint item,
                     uint items)
{
    for (uint row = item; row < rows; row += items) {
        __global const uchar *from = src + row * src_stride;
        __global uchar *to = dst + row * dst_stride;
        ulong at = 0;
        for (; at + 8 <= size; at += 8)
            vstore8(vload8(0, from + at), 0, to + at);
        for (; at < size; at++)
            to[at] = from[at];
    }
}
#else

/* Room for a piece that keeps its source's address modulo 16. */
#define STAGE_VECTORS (CLMOVE_STAGE / 16 + 1)

/* Vectors of the next piece that an item holds while it stores this one: all of
 * them in groups of the usual size. */
#define STAGE_ITEMS (CLMOVE_GROUP > 0 ? CLMOVE_GROUP : 256)
#define STAGE_SHARE ((CLMOVE_STAGE / 16 + STAGE_ITEMS - 1) / STAGE_ITEMS)
#define STAGE_HELD (STAGE_SHARE < CLMOVE_HELD ? STAGE_SHARE : CLMOVE_HELD)

/* Bytes in front of the first vector of a span, and its vectors. */
static uint span_head(__global const uchar *src, uint size)
{
    return min(size, (uint)(0ul - (ulong)src) & 15u);
}

static uint span_count(__global const uchar *src, uint size)
{
    return (size - span_head(src, size)) / 16;
}

/* Loads an item's vectors of a span, as many as it holds. */
static void hold_span(uint4 *held, __global const uchar *src, uint size,
                      uint item, uint items)
{
    const uint count = span_count(src, size);
    __global const uint4 *from =
        (__global const uint4 *)(src + span_head(src, size));
    _Pragma("unroll") for (uint k = 0; k < STAGE_HELD; k++)
    {
        held[k] = (uint4)(0);
        if (count > 0)
            held[k] = from[min(item + k * items, count - 1)];
    }
}

/* A span to a stage whose start is aligned as src is, modulo 16: the vectors
 * that items hold, and the rest. */
static void stage_span(__local uchar *stage, const uint4 *held,
                       __global const uchar *src, uint size, uint item,
                       uint items)
{
    const uint head = span_head(src, size);
    const uint count = span_count(src, size);
    __global const uint4 *from = (__global const uint4 *)(src + head);
    __local uint4 *to = (__local uint4 *)(stage + head);
    _Pragma("unroll") for (uint k = 0; k < STAGE_HELD; k++)
    {
        if (item + k * items < count)
            to[item + k * items] = held[k];
    }
    if (STAGE_HELD * items < CLMOVE_STAGE / 16) { /* a group of few items */
        ROLLED
        for (uint i = item + STAGE_HELD * items; i < count; i += items)
            to[i] = from[i];
    }
    ROLLED
    for (uint i = item; i < size - count * 16; i += items) {
        const uint at = i < head ? i : i + count * 16;
        stage[at] = src[at];
    }
}

/* `size` bytes of each of `rows` rows, close together, in values of `width`
 * bytes, up to 4. No %: next to / it becomes an instruction that Oclgrind 21.10
 * does not know. */
static void stage_rows(__local uchar *stage, __global const uchar *src,
                       uint rows, uint size, ulong stride, uint width,
                       uint item, uint items)
{
    const uint run = size / width;
    ROLLED
    for (uint i = item; i < rows * run; i += items) {
        const uint row = i / run;
        __global const uchar *from =
            src + row * stride + (i - row * run) * width;
        __local uchar *to = stage + i * width;
        if (width == 4)
            *(__local uint *)to = *(__global const uint *)from;
        else if (width == 2)
            *(__local ushort *)to = *(__global const ushort *)from;
        else
            *to = *from;
    }
}

/* How an item walks values of rows, `run` of each: a division for every value
 * would be slow, but they are equally far apart but for the ends of rows. */
struct walk {
    uint run, row, at;
    uint rows, next_row, next_at;
};

static struct walk walk_rows(uint rows, uint run, uint item, uint items)
{
    struct walk walk;
    walk.run = run;
    walk.row = item / run;
    walk.at = item - walk.row * run;
    walk.rows = rows;
    walk.next_row = items / run;
    walk.next_at = items - walk.next_row * run;
    return walk;
}

/* Values of rows from a stage in which they are `apart` bytes apart; the rows
 * of more than one lie within a tile, so that 32 bits hold an offset. `width`
 * is 1, 2 or 4 and divides dst and its stride; `even` divides it and places in
 * the stage, and is half of it at least. Both are constants, which saves the
 * loop its branches. */
__attribute__((always_inline)) static void
unstage_values(__global uchar *dst, __local const uchar *stage, uint apart,
               uint stride, uint width, uint even, struct walk walk)
{
    ROLLED
    while (walk.row < walk.rows) {
        __local const uchar *from =
            stage + (walk.row * apart + walk.at * width);
        __global uchar *to = dst + (walk.row * stride + walk.at * width);
        if (even == 4) {
            *(__global uint *)to = *(__local const uint *)from;
        } else if (width == 4) {
            __local const ushort *halves = (__local const ushort *)from;
            *(__global uint *)to = halves[0] | (uint)halves[1] << 16;
        } else if (width == 2) {
            *(__global ushort *)to = *(__local const ushort *)from;
        } else {
            *to = *from;
        }
        walk.row += walk.next_row;
        walk.at += walk.next_at;
        if (walk.at >= walk.run) {
            walk.at -= walk.run;
            walk.row++;
        }
    }
}

/* `size` bytes of each row: in the widest values that fit, then what is left of
 * rows in narrower ones; bytes, where the stage holds them at odd places. */
static void unstage_rows(__global uchar *dst, __local const uchar *stage,
                         uint start, uint apart, uint rows, uint size,
                         ulong stride, uint item, uint items)
{
    uint width = common_width((ulong)dst | stride | 4u);
    ROLLED
    for (uint at = 0; at < size;) {
        const uint even = common_width((start + at) | apart | width);
        if (even == 1)
            width = 1;
        while (width > size - at)
            width /= 2;
        const uint run = (size - at) / width;
        const struct walk walk = walk_rows(rows, run, item, items);
        __global uchar *to = dst + at;
        __local const uchar *from = stage + start + at;
        if (width == 1)
            unstage_values(to, from, apart, (uint)stride, 1, 1, walk);
        else if (width == 2)
            unstage_values(to, from, apart, (uint)stride, 2, 2, walk);
        else if (even == 2)
            unstage_values(to, from, apart, (uint)stride, 4, 2, walk);
        else
            unstage_values(to, from, apart, (uint)stride, 4, 4, walk);
        at += run * width;
    }
}

/* conv DS: `size` bytes of each of `rows` rows, `shift` bytes from the start of
 * the source's row, which is src_row bytes long. dst may lie below src + shift
 * in the same row. */
static void shift_ds(__global uchar *dst, __global const uchar *src, uint rows,
                     uint size, uint shift, uint src_row, ulong dst_stride,
                     ulong src_stride, __local uchar *stage, uint item,
                     uint items)
{
    const int whole = src_stride == src_row && src_row <= CLMOVE_STAGE;
    const uint piece = whole ? size : min(size, (uint)CLMOVE_STAGE);
    uint step = CLMOVE_STAGE / (whole ? src_row : piece);
    if (step > 16)
        step = step / 16 * 16; /* pieces of aligned rows are whole vectors */
    uint4 held[STAGE_HELD];
    hold_span(held, src, whole ? min(step, rows) * src_row : 0, item, items);
    for (uint row = 0; row < rows; row += step) {
        const uint count = min(step, rows - row);
        __global const uchar *from = src + row * src_stride;
        __global uchar *to = dst + row * dst_stride;
        for (uint at = 0; at < size; at += piece) {
            const uint bytes = min(piece, size - at);
            const uint start = whole ? (uint)(ulong)from & 15u : 0u;
            /* All have read the last piece: the stage may be filled again. */
            barrier(CLK_LOCAL_MEM_FENCE);
            if (whole)
                stage_span(stage + start, held, from, count * src_row, item,
                           items);
            else
                stage_rows(stage, from + shift + at, count, bytes, src_stride,
                           common_width((ulong)(from + shift + at) |
                                        src_stride | bytes | 4u),
                           item, items);
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            if (whole && count < rows - row)
                hold_span(held, from + count * src_row,
                          min(step, rows - row - count) * src_row, item, items);
            unstage_rows(to + at, stage, whole ? start + shift : 0u,
                         whole ? src_row : bytes, count, bytes, dst_stride,
                         item, items);
        }
    }
}
#endif

static void copy_conv_ds(__global const struct ssm_state *state,
                         const struct ssm_range *range, __global uchar *dst,
                         __global const uchar *src, uint bias,
                         __local uchar *stage, uint item, uint items)
{
    const uint rows = (uint)(range->end - range->begin);
    const uint size = copied_tokens(state, bias) * state->element_size;
    const uint shift = bias * state->element_size;
    dst += range->begin * state->dst_extent;
    src += range->begin * state->src_extent;
#if CLMOVE_CPU
    (void)stage;
    shift_ds(dst, src + shift, rows, size, state->dst_extent, state->src_extent,
             item, items);
#else
    shift_ds(dst, src, rows, size, shift,
             state->src_width * state->element_size, state->dst_extent,
             state->src_extent, stage, item, items);
#endif
}

/* One order of a window to the other; a tile is a range of channels. Items take
 * neighbours of the destination. */
static void copy_turned(__global const struct ssm_state *state,
                        const struct ssm_range *range, __global uchar *dst,
                        __global const uchar *src, uint bias, uint item,
                        uint items)
{
    const ulong begin = range->begin;
    const uint channels = (uint)(range->end - begin);
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
    ROLLED
    for (uint i = item; i < tokens * channels; i += items) {
        const uint outer = i / run;
        const uint inner = i - outer * run;
        const uint token = to_ds ? inner : outer;
        const uint channel = to_ds ? outer : inner;
        ROLLED
        for (uint at = 0; at < size; at += width)
            store_value(
                dst + token * dst_token + channel * dst_channel + at,
                load_value(src + token * src_token + channel * src_channel + at,
                           width),
                width);
    }
}

/* Temporal, and conv SD, to another block. Tokens of SD lie without gaps, so
 * that the copied ones are one range; tiles cut it as they cut a token. */
static void copy_range(__global const struct ssm_state *state,
                       const struct ssm_range *range, __global uchar *dst,
                       __global const uchar *src, uint bias, uint item,
                       uint items)
{
    const int sd = state->kind == CONV_SD;
    const ulong tokens = sd ? copied_tokens(state, bias) : 1u;
    const ulong skipped = sd ? bias * state->src_extent : 0ul;
    copy_disjoint(dst + range->begin * tokens,
                  src + skipped + range->begin * tokens,
                  (range->end - range->begin) * tokens, item, items);
}

/* A part of a state from block to block, by the whole group; `turns`: whether
 * one order may become the other. Inlined: clang 22
 * calls it on AMD, and a call takes twice the registers. */
__attribute__((always_inline)) static void
copy_tile(BANK_ARRAY *banks, __global const struct ssm_state *state, int turns,
          const struct ssm_range *range, int source, int destination, uint bias,
          __local uchar *stage, uint item, uint items)
{
    __global const uchar *src =
        banks[state->src_bank] +
        (state->src_base + (ulong)source * state->src_block_stride);
    __global uchar *dst =
        banks[state->dst_bank] +
        (state->dst_base + (ulong)destination * state->dst_block_stride);
    switch (state->kind) {
    case CONV_SD:
    case TEMPORAL:
        if (dst != src)
            copy_range(state, range, dst, src, bias, item, items);
        else if (state->kind == CONV_SD)
            copy_conv_sd(state, range, dst, src, bias, item, items);
        break;
    case CONV_DS:
        copy_conv_ds(state, range, dst, src, bias, stage, item, items);
        break;
    default:
        if (turns)
            copy_turned(state, range, dst, src, bias, item, items);
        break;
    }
}

/*
 * clmove_ssm_copy copies blocks that the host listed. Reads source blocks,
 * writes destination blocks. Work is cut into (entry, tile); the library
 * refuses lists in which one entry touches a block that another writes, and
 * within an entry the copies are those of clmove_ssm_step.
 */
struct ssm_listed {
    ulong first_work;        /* tiles of earlier entries */
    uint first_tile, unused; /* of the entry's group */
    int conv_from, temporal_from, to;
    uint bias;
};

/* What a call differs by. A few entries go along, which saves the host a
 * buffer. */
#define FEW_COPIES 12
struct ssm_copies {
    ulong work;
    uint count, few; /* few: 1, or 0 if the entries lie in the list */
    struct ssm_listed entries[FEW_COPIES];
};

/* Where what goes along is looked at. Under a dynamic index an argument may be
 * copied to slow memory of each item, so local memory keeps it; AMD's compiler
 * reads it where it lies, and knows then that all items read the same. */
#ifdef __AMDGCN__
#define KEEP_FEW(kept, given, count) (void)(kept);
#define FEW(kept, given) (given)
#else
#define KEEP_FEW(kept, given, count)                                           \
    _Pragma("unroll") for (uint k = 0; k < (count); k++)                       \
    {                                                                          \
        (kept)[k] = (given)[k];                                                \
    }
#define FEW(kept, given) (kept)
#endif

MOVER __kernel void clmove_ssm_copy(BANK_EACH(BANK_PARAMETER)
                                        __global const struct ssm_cut *cut,
                                    __global const struct ssm_listed *list,
                                    const struct ssm_copies call)
{
    BANK_ARRAY banks[CLMOVE_BANKS];
    __global const struct ssm_state *states = cut_states(cut);
    __global const uint2 *tiles = cut_tiles(cut);
    __local uint4 stage[STAGE_VECTORS];
    __local struct ssm_listed few[FEW_COPIES];
    if (get_local_id(0) == 0) {
        BANK_EACH(BANK_STORE)
        KEEP_FEW(few, call.entries, FEW_COPIES)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_group_id(0); i < call.work; i += get_num_groups(0)) {
        uint low = 0; /* the last entry that begins at or before i */
        ROLLED
        for (uint high = call.count; high - low > 1;) {
            const uint middle = low + (high - low) / 2;
            const ulong first = call.few != 0
                                    ? FEW(few, call.entries)[middle].first_work
                                    : list[middle].first_work;
            if (first <= i)
                low = middle;
            else
                high = middle;
        }
        const struct ssm_listed entry =
            call.few != 0 ? FEW(few, call.entries)[low] : list[low];
        const uint2 tile =
            tiles[entry.first_tile + (uint)(i - entry.first_work)];
        __global const struct ssm_state *state = &states[tile.x];
        const int from =
            state->kind == TEMPORAL ? entry.temporal_from : entry.conv_from;
        if (from < 0 ||
            (state->kind != TEMPORAL && entry.bias >= state->src_width))
            continue;
        const struct ssm_range range = tile_range(state, tile.y, 0, 1);
        copy_tile(banks, state, 1, &range, from, entry.to, entry.bias,
                  (__local uchar *)stage, (uint)get_local_id(0), MOVER_ITEMS);
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
    const ulong body = (size - head) / 16 * 16;
    ROLLED
    for (ulong i = item * 16; i < body; i += items * 16)
        *(__global uint4 *)(dst + head + i) = (uint4)(0);
    ROLLED
    for (ulong i = item; i < size - body; i += items)
        dst[i < head ? i : i + body] = 0;
}

#define FEW_BLOCKS 32
struct ssm_blocks {
    ulong work;
    uint first_tile, tile_count; /* of the group */
    uint few, unused; /* few: 1, or 0 if the blocks lie in the list */
    int blocks[FEW_BLOCKS];
};

__kernel void clmove_ssm_zero(BANK_EACH(BANK_PARAMETER)
                                  __global const struct ssm_cut *cut,
                              __global const int *list,
                              const struct ssm_blocks call)
{
    BANK_ARRAY banks[CLMOVE_BANKS];
    __global const struct ssm_state *states = cut_states(cut);
    __global const uint2 *tiles = cut_tiles(cut);
    const uint item = (uint)get_local_id(0);
    const uint items = (uint)get_local_size(0);
    __local int few[FEW_BLOCKS];
    if (item == 0) {
        BANK_EACH(BANK_STORE)
        KEEP_FEW(few, call.blocks, FEW_BLOCKS)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_group_id(0); i < call.work; i += get_num_groups(0)) {
        const ulong place = i / call.tile_count;
        const uint2 tile =
            tiles[call.first_tile + (uint)(i - place * call.tile_count)];
        const int block =
            call.few != 0 ? FEW(few, call.blocks)[place] : list[place];
        __global const struct ssm_state *state = &states[tile.x];
        const ulong begin = tile.y * state->part;
        __global uchar *dst =
            banks[state->dst_bank] +
            (state->dst_base + (ulong)block * state->dst_block_stride);
        /* A temporal state is one row; so is a token of SD, a channel of DS. */
        const int ds = state->kind == CONV_DS;
        const ulong whole = ds ? state->dim : state->dst_extent;
        const ulong size = min(state->part, whole - begin);
        const uint rows = ds ? (uint)size : state->dst_width;
        const ulong row_size =
            ds ? (ulong)state->dst_width * state->element_size : size;
        dst += ds ? begin * state->dst_extent : begin;
        ROLLED
        for (uint row = 0; row < (state->kind == TEMPORAL ? 1 : rows); row++)
            zero_bytes(dst + row * state->dst_extent, row_size, item, items);
    }
}

#endif
