/* Tiles of states, and the kernels that copy and clear listed blocks. */

/*
 * Reads source blocks, writes destination blocks. One work-group copies a tile,
 * a part of one state of one block.
 *
 * Why a tile cannot race with another of the same copy: tiles of one state have
 * disjoint byte ranges, and
 * - temporal: source and destination are different blocks, or nothing moves.
 * - conv SD: a tile is a range of byte offsets, the same in every token. An
 * item owns its offsets for all tokens and loads token t + bias before it
 * stores token t, t ascending, so that a shift within one block is a private
 * matter of the item: no barrier is needed.
 * - conv DS: a tile is a range of rows. Inside the group, all items load a
 * piece before any item stores it (barrier). Pieces ascend: what a piece stores
 * lies below all that later pieces load. A store after barrier p and a load
 * before barrier p touch one byte only across that barrier.
 * - from one order to the other: two layouts, whose memories are disjoint.
 *
 * All barriers stand in flow that is uniform for the group.
 *
 * Macros: those of common.cl.
 */

#ifndef CLMOVE_COMMON
#include "common.cl"
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

/* One tile from block to block, by the whole group. Inlined: clang 22 calls it
 * on AMD, and a call takes twice the registers. */
__attribute__((always_inline)) static void
copy_tile(BANK_ARRAY *banks, __global const struct ssm_state *state, uint part,
          int source, int destination, uint bias, uint item, uint items)
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

#endif
