/* What states are timed against: copies as the published kernels make them. */

/*
 * baseline_snapshot  carries results over that the step does not change
 * baseline_step      decides and copies, a group for each (tile, state, row)
 * baseline_batch     moves the entries of a list, a group for each
 *
 * The design is that of the published kernels: a grid of (tile of 16, state,
 * request) whose groups decide each for itself and leave early; a temporal
 * state is split over the 16 tiles, a conv state is the work of tile 0; SD is
 * copied as wide vectors, DS by element.
 *
 * Preconditions, none of them checked: numbers, columns and blocks are right;
 * no block that one request writes is touched by another; conv tokens, temporal
 * states and all offsets are multiples of 16 bytes; entries of a batch lie
 * apart and move to the left.
 *
 * Why it cannot race where they hold: states and requests are apart, and so are
 * the tiles of a temporal state, whose source is another block than its
 * destination. A conv state is one group's work; in its own block it is moved
 * to the left chunk by chunk, each chunk loaded by all items before a barrier
 * and stored behind it, and what later chunks load lies above all that was
 * stored. Results are written by one item and read by none: they are other
 * arrays than the inputs.
 *
 * Macros: BASELINE_GROUP, work-items in a group; BASELINE_ELEMENT, the type of
 * a conv element.
 */

#ifndef BASELINE_GROUP
#define BASELINE_GROUP 256
#endif
#ifndef BASELINE_ELEMENT
#define BASELINE_ELEMENT ushort
#endif

#define TILES 16
#define HELD 8     /* vectors, or elements, that an item has in flight */
#define CHUNK 1024 /* bytes of a batch entry between two barriers */

#define GROUP_OF(size) __attribute__((reqd_work_group_size(size, 1, 1)))

typedef BASELINE_ELEMENT element;

enum { CONV_SD, CONV_DS, TEMPORAL };

/* All ulong, so that host and device agree on it. */
struct state {
    ulong kind, first, block_stride; /* bytes from the pool's begin */
    ulong width, dim;                /* conv */
    ulong size;                      /* bytes: of a token, or temporal */
};

/* What a row comes to. */
struct copy {
    int wanted, source, destination, bias;
};

static void copy_apart(__global uint4 *dst, __global const uint4 *src,
                       ulong count, ulong item)
{
    const ulong step = BASELINE_GROUP * HELD;
    const ulong whole = count - count % step;
    for (ulong base = item; base < whole; base += step) {
        uint4 held[HELD];
#pragma unroll
        for (int i = 0; i < HELD; i++)
            held[i] = src[base + (ulong)i * BASELINE_GROUP];
#pragma unroll
        for (int i = 0; i < HELD; i++)
            dst[base + (ulong)i * BASELINE_GROUP] = held[i];
    }
    for (ulong i = whole + item; i < count; i += BASELINE_GROUP)
        dst[i] = src[i];
}

/* To the left, within one block. */
static void shift_tokens(__global uint4 *dst, __global const uint4 *src,
                         ulong count, ulong item)
{
    for (ulong base = 0; base < count; base += BASELINE_GROUP * HELD) {
        uint4 held[HELD];
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            const ulong at = base + (ulong)i * BASELINE_GROUP + item;
            if (at < count)
                held[i] = src[at];
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            const ulong at = base + (ulong)i * BASELINE_GROUP + item;
            if (at < count)
                dst[at] = held[i];
        }
    }
}

/* Elements, in the order of channels and then of tokens. */
static void copy_rows(__global element *dst, __global const element *src,
                      const struct state *state, uint bias, int same, uint item)
{
    const uint width = (uint)state->width;
    const uint kept = width - bias;
    const uint count = (uint)state->dim * kept;
    for (uint base = 0; base < count; base += BASELINE_GROUP * HELD) {
        element held[HELD];
        uint places[HELD];
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            const uint at = base + (uint)i * BASELINE_GROUP + item;
            const uint row = at / kept;
            places[i] = row * width + (at - row * kept);
            if (at < count)
                held[i] = src[places[i] + bias];
        }
        if (same)
            barrier(CLK_GLOBAL_MEM_FENCE);
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            if (base + (uint)i * BASELINE_GROUP + item < count)
                dst[places[i]] = held[i];
        }
    }
}

static struct copy decide_pre(int computed, int scheduled, int accepted,
                              int column, int tokens_per_block)
{
    struct copy copy = {0, column, 0, max(accepted - 1, 0)};
    copy.destination = (computed + scheduled - 1) / tokens_per_block;
    copy.wanted = column >= 0 && column != copy.destination;
    return copy;
}

/* `before`: tokens before the accepted ones. */
static struct copy decide_post(int before, int accepted, int column,
                               int tokens_per_block)
{
    const int block = (before + accepted - 1) / tokens_per_block;
    struct copy copy = {0, column, block - 1,
                        block * tokens_per_block - before};
    copy.wanted = accepted >= 1 && block >= 1 && copy.bias >= 0;
    return copy;
}

__kernel void baseline_snapshot(__global const int *accepted_in,
                                __global int *accepted_out,
                                __global const int *column_in,
                                __global int *column_out, uint count)
{
    const uint i = (uint)get_global_id(0);
    if (i >= count)
        return;
    accepted_out[i] = accepted_in[i];
    if (column_out != 0)
        column_out[i] = column_in[i];
}

static void copy_state(__global uchar *pool, const struct state *state,
                       __global const int *blocks, const struct copy *copy,
                       ulong tile, ulong item)
{
    const int temporal = state->kind == TEMPORAL;
    const ulong from =
        (ulong)blocks[copy->source + (temporal ? copy->bias : 0)];
    const ulong to = (ulong)blocks[copy->destination];
    __global uchar *src = pool + state->first + from * state->block_stride;
    __global uchar *dst = pool + state->first + to * state->block_stride;
    const ulong bias = (ulong)copy->bias;
    if (temporal) {
        const ulong vectors = state->size / 16;
        const ulong part = (vectors + TILES - 1) / TILES;
        const ulong begin = min(tile * part, vectors);
        copy_apart((__global uint4 *)dst + begin, (__global uint4 *)src + begin,
                   min(part, vectors - begin), item);
        return;
    }
    if (bias >= state->width)
        return;
    if (state->kind == CONV_DS) {
        if (from == to)
            copy_rows((__global element *)dst, (__global element *)src, state,
                      (uint)bias, 1, (uint)item);
        else
            copy_rows((__global element *)dst, (__global element *)src, state,
                      (uint)bias, 0, (uint)item);
        return;
    }
    const ulong vectors = (state->width - bias) * state->size / 16;
    src += bias * state->size;
    if (from == to)
        shift_tokens((__global uint4 *)dst, (__global uint4 *)src, vectors,
                     item);
    else
        copy_apart((__global uint4 *)dst, (__global uint4 *)src, vectors, item);
}

/* Without slot_of a row is its slot. now_computed stands for computed,
 * scheduled and draft, in post-process. The launch of the pool's first states
 * writes the results. */
GROUP_OF(BASELINE_GROUP)
__kernel void
baseline_step(__global uchar *pool, __global const struct state *states,
              __global const int *table, uint columns,
              __global const int *slot_of, __global const int *computed,
              __global const int *scheduled, __global const int *draft,
              __global const int *now_computed, __global const int *accepted_in,
              __global int *accepted_out, __global const int *column_in,
              __global int *column_out, int tokens_per_block, int pre,
              int writes)
{
    const ulong tile = get_group_id(0);
    const struct state state = states[get_group_id(1)];
    const uint row = (uint)get_group_id(2);
    const ulong item = get_local_id(0);
    if (state.kind != TEMPORAL && tile != 0)
        return;
    const int slot = slot_of == 0 ? (int)row : slot_of[row];
    if (slot < 0)
        return;
    const int accepted = accepted_in[slot];
    const int column = column_in[slot];
    struct copy copy;
    if (now_computed == 0 &&
        (pre ? scheduled[row] : scheduled[row] - draft[row]) < 1)
        return;
    if (pre)
        copy = decide_pre(computed[slot], scheduled[row], accepted, column,
                          tokens_per_block);
    else
        copy = decide_post(now_computed != 0
                               ? now_computed[slot] - accepted + 1
                               : computed[slot] + scheduled[row] - draft[row],
                           accepted, column, tokens_per_block);
    if (writes && tile == 0 && get_group_id(1) == 0 && item == 0) {
        if (pre)
            column_out[slot] = copy.destination;
        if (copy.wanted && (pre || copy.source == copy.destination))
            accepted_out[slot] = 1;
    }
    if (!copy.wanted || (copy.source == copy.destination && copy.bias == 0))
        return;
    copy_state(pool, &state, table + row * columns, &copy, tile, item);
}

/* entries: source, destination, size. */
GROUP_OF(BASELINE_GROUP)
__kernel void baseline_batch(__global uchar *buffer,
                             __global const ulong *entries)
{
    const ulong item = get_local_id(0);
    __global const ulong *entry = entries + get_group_id(0) * 3;
    __global const uchar *src = buffer + entry[0];
    __global uchar *dst = buffer + entry[1];
    const ulong size = entry[2];
    for (ulong base = 0; base < size; base += CHUNK) {
        uchar held[CHUNK / BASELINE_GROUP];
        for (ulong i = 0; i < CHUNK / BASELINE_GROUP; i++) {
            const ulong at = base + i * BASELINE_GROUP + item;
            if (at < size)
                held[i] = src[at];
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        for (ulong i = 0; i < CHUNK / BASELINE_GROUP; i++) {
            const ulong at = base + i * BASELINE_GROUP + item;
            if (at < size)
                dst[at] = held[i];
        }
    }
}
