/* Rows of conv windows in DS order, copied by way of local memory. */

/*
 * Reads source rows, writes destination rows, which may be the same ones.
 *
 * Why it cannot race: a group has rows of its own. A piece of them, some rows
 * or a part of one, is loaded to local memory by all items before any item
 * stores it (barrier), and read there before local memory is filled again
 * (barrier). Pieces of one row ascend: what a piece stores lies below all that
 * later pieces load. Where rows lie without gaps, pieces are whole rows, the
 * tokens in front of the copied ones too: they belong to the group's rows, so
 * nobody else writes them. Then the next piece is loaded to registers while
 * this one is stored: other rows, and no vector reaches beyond its piece. On a
 * CPU an item owns rows, and loads each value before it stores what it held.
 *
 * Macros: those of common.cl; CLMOVE_STAGE: bytes of a piece, a multiple of 16.
 */

#ifndef CLMOVE_COMMON
#include "common.cl"
#endif
#ifndef CLMOVE_SSM_ROWS
#define CLMOVE_SSM_ROWS

#ifndef CLMOVE_STAGE
#define CLMOVE_STAGE 8192
#endif

/* The largest power of two up to 16 that divides `bits`. */
static uint common_width(ulong bits)
{
    const uint low = (uint)bits & 15u;
    return low == 0 ? 16u : low & (0u - low);
}

/* A hint that a line will be wanted soon, which is no access: it changes
 * nothing, and cannot race. NVIDIA's driver 580 takes the built-in function for
 * nothing. */
#ifdef __NV_CL_C_VERSION
#define PREFETCH(at) __asm__ volatile("prefetch.global.L2 [%0];" ::"l"(at))
#else
#define PREFETCH(at) prefetch(at, 1)
#endif

/* By the whole group; devices fetch 32 bytes at least. */
static void prefetch_bytes(__global const uchar *bytes, uint size, uint item,
                           uint items)
{
    ROLLED
    for (uint at = item * 32; at < size; at += items * 32)
        PREFETCH(bytes + at);
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
    /* Of rows of another block a part is stored, for which the device needs the
     * rest: it is better fetched in one go. */
    const int fetches = whole && dst != src && dst_stride == src_row;
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
            if (fetches)
                prefetch_bytes(to, count * src_row, item, items);
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

#endif
