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
 * - conv DS: a tile is a range of rows; ssm_rows.cl says why they are safe.
 * - from one order to the other: two layouts, whose memories are disjoint.
 *
 * All barriers stand in flow that is uniform for the group.
 *
 * Macros: those of ssm_rows.cl.
 */

#ifndef CLMOVE_SSM_ROWS
#include "ssm_rows.cl"
#endif
#ifndef CLMOVE_SSM_COPY
#define CLMOVE_SSM_COPY

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

/* Bytes of it; of 2^32 or more, some. */
static uint cut_size(__global const struct ssm_cut *cut)
{
    return (uint)(sizeof(struct ssm_cut) +
                  cut->state_count * sizeof(struct ssm_state) +
                  cut->tile_count * sizeof(uint2));
}

/* `count` vectors from src to dst, disjoint, in phase. */
static void copy_vectors(__global uchar *dst, __global const uchar *src,
                         ulong count, uint item, uint items)
{
    __global const uint4 *from = (__global const uint4 *)src;
    __global uint4 *to = (__global uint4 *)dst;
    const ulong step = CLMOVE_HELD * (ulong)items;
    ulong i = item;
    for (; i + step - items < count; i += step) {
        uint4 held[CLMOVE_HELD];
        _Pragma("unroll") for (uint k = 0; k < CLMOVE_HELD; k++)
        {
            held[k] = from[i + k * items];
        }
        _Pragma("unroll") for (uint k = 0; k < CLMOVE_HELD; k++)
        {
            to[i + k * items] = held[k];
        }
    }
    if (i >= count)
        return;
    /* Fewer than all, and still in flight together. */
    uint4 held[CLMOVE_HELD];
    _Pragma("unroll") for (uint k = 0; k < CLMOVE_HELD; k++)
    {
        held[k] = from[min(i + k * items, count - 1)];
    }
    _Pragma("unroll") for (uint k = 0; k < CLMOVE_HELD; k++)
    {
        if (i + k * items < count)
            to[i + k * items] = held[k];
    }
}

/* `size` bytes from src to dst, disjoint, by all items of the group. No access
 * leaves either range. Copies in phase are the fast ones. */
static void copy_disjoint(__global uchar *dst, __global const uchar *src,
                          ulong size, uint item, uint items)
{
    struct cut cut;
    cut_range(dst, src, size, &cut);
    const ulong body = cut.head + cut.count * 16;
    copy_bytes(dst, src, cut.head, item, items);
    copy_bytes(dst + body, src + body, size - body, item, items);
    dst += cut.head;
    src += cut.head;
    if (cut.phase == 0) {
        copy_vectors(dst, src, cut.count, item, items);
        return;
    }
    __global uint4 *to = (__global uint4 *)dst;
    ROLLED
    for (ulong i = item; i < cut.count; i += items)
        to[i] = pair_value(load_pair(src, i, cut.phase), cut.phase);
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
 * reads it where it lies, and knows then that all items read the same. By
 * words: on whole structures NVIDIA's compiler (13.0) reads memory that it has
 * freed. */
#ifdef __AMDGCN__
#define KEEP_FEW(kept, given) (void)(kept);
#define FEW(kept, given) (given)
#else
#define KEEP_FEW(kept, given)                                                  \
    _Pragma("unroll") for (uint k = 0; k < sizeof(kept) / 4; k++)              \
    {                                                                          \
        ((__local uint *)(kept))[k] = ((const uint *)(given))[k];              \
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
        KEEP_FEW(few, call.entries)
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
        KEEP_FEW(few, call.blocks)
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
