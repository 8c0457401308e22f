/* Moves of bytes, overlapping or not. */

/*
 * The work is cut into jobs, one for each work-group; a family is all jobs of
 * one launch of a move. A job moves pieces at equal distances from each other:
 * each piece in memmove's order, and the pieces in that order too.
 *
 * Reads the banks and scratch, writes the banks and scratch.
 *
 * Why it cannot race:
 * - Between groups. The library plans launches so that no byte that a job
 *   writes is touched by another job of the launch. A move that overlaps itself
 *   is cut into spans, and those into columns, a job each. Spans meet at their
 *   edges only: the bytes that one needs from the other's place were saved to
 *   scratch by an earlier launch, and are taken from there. Where a span has
 *   several columns, the pieces of a column are as far apart as source and
 *   destination are, so that each is stored where the one before it was loaded:
 *   columns have no byte in common.
 * - Within a group. All items load a tile before any item stores it: a barrier
 *   with both fences stands between. A local one stands before the next tile is
 *   loaded, since local memory is written again. No tile is loaded from where
 *   an earlier one was stored: that is memmove's order.
 * - No access leaves the bytes that are moved: those beside them may be another
 *   group's.
 * All barriers stand in flow that is uniform for the group.
 *
 * Macros: those of common.cl, CLMOVE_TILE, CLMOVE_BATCH_SLICE.
 */

#ifndef CLMOVE_COMMON
#include "common.cl"
#endif

/* Bytes that a group holds in local memory at once, a multiple of 16. */
#ifndef CLMOVE_TILE
#define CLMOVE_TILE 16384
#endif

/* Bytes that memory stores at once: 128 on most GPUs. A multiple of 16. */
#define LINE 128u

#if CLMOVE_CPU

/* A group is a loop on one core, so its first item does all of a piece, in
 * registers: no barrier, which PoCL's compiler would take long for. Loads and
 * stores are fast at any address. */
#define TILE_VECTORS 1

/* 16 bytes at any address. */
typedef uint4 __attribute__((aligned(1))) any_vector;

/* `count` vectors: loaded before any of them is stored. */
#define MOVE_VECTORS(dst, src, count)                                          \
    do {                                                                       \
        uint4 values[count];                                                   \
        _Pragma("unroll") for (uint k = 0; k < count; k++)                     \
        {                                                                      \
            values[k] = ((__global const any_vector *)(src))[k];               \
        }                                                                      \
        _Pragma("unroll") for (uint k = 0; k < count; k++)                     \
        {                                                                      \
            ((__global any_vector *)(dst))[k] = values[k];                     \
        }                                                                      \
    } while (0)

/* In blocks of 8 vectors, of one, of a byte, in memmove's order: what a block
 * stores lies behind all that later ones load. */
static void move_run(__global uchar *dst, __global const uchar *src, ulong size,
                     int up)
{
    ulong done = 0;
    for (; size - done >= 128; done += 128) {
        const ulong at = up ? done : size - done - 128;
        MOVE_VECTORS(dst + at, src + at, 8);
    }
    for (; size - done >= 16; done += 16) {
        const ulong at = up ? done : size - done - 16;
        MOVE_VECTORS(dst + at, src + at, 1);
    }
    for (; done < size; done++) {
        const ulong at = up ? done : size - done - 1;
        dst[at] = src[at];
    }
}

static void move_piece(__global uchar *dst, __global const uchar *low,
                       __global const uchar *high, uint boundary, uint size,
                       int up, __local uint4 *tile, uint item, uint items)
{
    (void)tile;
    (void)items;
    for (uint part = 0; item == 0 && part < 2; part++) {
        const int behind = up ? part == 1 : part == 0;
        move_run(behind ? dst + boundary : dst, behind ? high : low,
                 behind ? size - boundary : boundary, up);
    }
}

#else

/* A group loads a sixteenth more than a tile at once, where that saves it a
 * second round. A source that is not aligned begins up to 15 bytes after the
 * start. */
#define TILE_MOST (CLMOVE_TILE + CLMOVE_TILE / 256 * 16)
#define TILE_VECTORS (TILE_MOST / 16 + 1)

/* Of what is stored first, where a piece is cut into tiles. */
#define TILE_ALIGN (CLMOVE_TILE % LINE == 0 ? LINE : 16u)

/* A run of bytes in two parts: byte i is low[i] below `boundary`, else
 * high[i - boundary]. The parts meet at addresses that are multiples of 16. */
#define RUN_PARAMETERS                                                         \
    __global const uchar *low, __global const uchar *high, uint boundary,      \
        uint size
#define RUN low, high, boundary, size

/* A byte of a run; 0 beside it. */
static uchar run_byte(RUN_PARAMETERS, int i)
{
    if (i < 0 || i >= (int)size)
        return 0;
    return (uint)i < boundary ? low[i] : high[(uint)i - boundary];
}

/* A part's whole vectors, and where in the tile they go. */
struct part {
    __global const uint4 *from;
    __local uint4 *to;
    uint count;
};

/* `full` vectors from byte `head` of a run on, as two parts: the longer one
 * first. */
static void find_parts(RUN_PARAMETERS, uint head, uint full, __local uint4 *to,
                       struct part *most, struct part *rest)
{
    const uint end = head + full * 16;
    const uint turn = min(max(boundary, head), end);
    const uint below = (turn - head) / 16;
    const struct part first = {(__global const uint4 *)(low + head), to, below};
    const struct part second = {
        (__global const uint4 *)(high + (int)(turn - boundary)), to + below,
        full - below};
    (void)size;
    *most = below * 2 < full ? second : first;
    *rest = below * 2 < full ? first : second;
}

/* Loads a run of up to TILE_MOST bytes into local memory, in phase with its
 * source, and returns that phase: byte i of the run is byte phase + i of the
 * tile. Vectors that the run begins or ends in are loaded byte by byte, and
 * filled with zeros. */
static uint load_tile(__local uint4 *tile, RUN_PARAMETERS, uint item,
                      uint items)
{
    const uint phase = (uint)(ulong)(boundary > 0 ? low : high) & 15u;
    const uint head = min((0u - phase) & 15u, size);
    const uint full = (size - head) / 16;
    const uint first_bytes = head > 0 ? 16 : 0;
    const uint narrow = first_bytes + (head + full * 16 < size ? 16 : 0);
    const int last = (int)(head + full * 16) - (int)first_bytes;
    __local uchar *bytes = (__local uchar *)tile + phase;
    struct part most, rest;
    /* Of what lies in one place, the second part is what is more than a tile.
     */
    if (boundary == size && head + CLMOVE_TILE < size) {
        boundary = head + CLMOVE_TILE;
        high = low + boundary;
    }
    find_parts(RUN, head, full, tile + (phase != 0), &most, &rest);
    /* On their way beside the many loads of the longer part. */
    uint4 rest_held = 0;
    uchar byte_held = 0;
    const int i = (int)item + (item < first_bytes ? 0 - (int)phase : last);
    if (item < rest.count)
        rest_held = rest.from[item];
    if (item < narrow)
        byte_held = run_byte(RUN, i);
    for (uint v = item; v < most.count; v += CLMOVE_HELD * items) {
        uint4 held[CLMOVE_HELD];
        _Pragma("unroll") for (uint k = 0; k < CLMOVE_HELD; k++)
        {
            if (v + k * items < most.count)
                held[k] = most.from[v + k * items];
        }
        _Pragma("unroll") for (uint k = 0; k < CLMOVE_HELD; k++)
        {
            if (v + k * items < most.count)
                most.to[v + k * items] = held[k];
        }
    }
    if (item < rest.count)
        rest.to[item] = rest_held;
    if (item < narrow)
        bytes[i] = byte_held;
    /* More than one for each item: small groups, long edges. */
    for (uint v = item + items; v < rest.count; v += items)
        rest.to[v] = rest.from[v];
    for (uint n = item + items; n < narrow; n += items) {
        const int k = (int)n + (n < first_bytes ? 0 - (int)phase : last);
        bytes[k] = run_byte(RUN, k);
    }
    return phase;
}

/* Stores a run that load_tile has loaded. */
static void store_tile(__global uchar *dst, __local const uint4 *tile,
                       uint phase, uint size, uint item, uint items)
{
    __local const uchar *bytes = (__local const uchar *)tile + phase;
    const uint head = min((0u - (uint)(ulong)dst) & 15u, size);
    const uint full = (size - head) / 16;
    const uint narrow = size - full * 16;
    const uint shift = (phase + head) & 15u;
    __local const ulong2 *from =
        (__local const ulong2 *)tile + (phase + head) / 16;
    __global uint4 *to = (__global uint4 *)(dst + head);
    if (shift == 0) {
        for (uint v = item; v < full; v += items)
            to[v] = as_uint4(from[v]);
    } else {
        for (uint v = item; v < full; v += items)
            to[v] = pair_value((pair)(from[v], from[v + 1]), shift);
    }
    for (uint n = item; n < narrow; n += items) {
        const uint i = n < head ? n : n + full * 16;
        dst[i] = bytes[i];
    }
}

/* `size` bytes from two places, or one, in memmove's order: tile by tile, each
 * but the ends aligned at its source, since nobody waits for a narrow store,
 * and such that its vectors are stored as whole lines. */
static void move_piece(__global uchar *dst, __global const uchar *low,
                       __global const uchar *high, uint boundary, uint size,
                       int up, __local uint4 *tile, uint item, uint items)
{
    const uint phase = (uint)(ulong)(boundary > 0 ? low : high);
    const uint to = (uint)(ulong)dst;
    const uint skew = (to + ((phase - to) & 15u)) & (TILE_ALIGN - 1);
    /* The last one is longer than a tile rather than followed by a short one.
     */
    const uint tiles =
        size <= TILE_MOST
            ? 1
            : (skew + size - TILE_MOST + CLMOVE_TILE - 1) / CLMOVE_TILE + 1;
    for (uint done = 0; done < tiles; done++) {
        const uint i = up ? done : tiles - 1 - done;
        const uint begin = i == 0 ? 0 : i * CLMOVE_TILE - skew;
        const uint here =
            (i + 1 == tiles ? size : (i + 1) * CLMOVE_TILE - skew) - begin;
        const uint part = min(max(boundary, begin), begin + here) - begin;
        const uint held =
            load_tile(tile, low + begin, high + (int)(begin + part - boundary),
                      part, here, item, items);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        store_tile(dst + begin, tile, held, here, item, items);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif

/* Mirrors of the structures in src/jobs.h. */
enum { JOB_DISJOINT = 0, JOB_UP = 1, JOB_DOWN = 2, JOB_KIND = 3, JOB_SAVE = 4 };

/* Places below are bytes from a multiple of `align`, the last one that is not
 * behind the destination: `skew` + i for byte i of the move. A span is a range
 * of places; a job moves what is stored in its column: pieces of `piece` bytes,
 * `stride` apart, from the column's start. Of disjoint moves, and of those in
 * one span, no edges are saved. */
struct family {
    ulong src, dst; /* of byte 0, bytes from the banks' starts */
    ulong size;     /* of the move, bytes */
    ulong span, stride;
    ulong piece;             /* bytes at most */
    ulong edge;              /* of the first, bytes from the start of scratch */
    ulong distance;          /* between source and destination; 0: no edges */
    uint src_bank, dst_bank; /* CLMOVE_BANKS means scratch */
    uint mode;
    uint columns; /* of a span */
    uint pieces;  /* of a column at most */
    uint align;   /* a power of 2 */
    uint job_count;
};

struct small_move {
    ulong src, dst;
    uint size, banks; /* source bank, destination bank * 65536 */
};

/* What a group does: a job of a family, or small moves. */
struct chunk {
    uint first;  /* family, or small move */
    uint job;    /* of the family; not used by small moves */
    uint count;  /* of small moves; 1 for a job */
    uint smalls; /* not 0: small moves */
};

/* A family's fields, passed on one by one: a structure that is passed on takes
 * a copy in slow memory with it. */
#define MOVE_PARAMETERS                                                        \
    ulong size, ulong span, ulong stride, ulong piece_size, ulong distance,    \
        uint mode, uint columns, uint pieces, uint align, uint job
#define MOVE_ARGUMENTS(family, job)                                            \
    (family).size, (family).span, (family).stride, (family).piece,             \
        (family).distance, (family).mode, (family).columns, (family).pieces,   \
        (family).align, job

/* Vectors of an edge: `distance` bytes at the start of the next span when
 * moving up, at the end of the one before when moving down. */
static ulong edge_vectors(ulong distance)
{
    return (distance + 15) / 16;
}

/* Edges are saved from the next multiple of 16 on. */
static __global uchar *edges_start(__global uchar *scratch)
{
    return scratch + ((0u - (uint)(ulong)scratch) & 15u);
}

/* A vector of an edge: its bytes at place + 0 to 15 of the source, 0 for those
 * that are none of the move's. The first byte of the move is at skew. */
static uint4 load_edge(__global const uchar *src, ulong place, uint skew,
                       ulong size)
{
    ulong2 vector = 0;
    if (size >= 16 && place - skew <= size - 16)
        return *(__global const uint4 *)(src + place);
    /* Rare; unrolled it would take registers from the moves. */
    ROLLED
    for (uint i = 16; i > 0; i--) {
        ulong byte = 0;
        if (place + i - 1 - skew < size)
            byte = src[place + i - 1];
        if (i > 8)
            vector.y = vector.y << 8 | byte;
        else
            vector.x = vector.x << 8 | byte;
    }
    return as_uint4(vector);
}

/* Job of a family that saves edges: columns are parts of an edge here, pieces
 * the number of edges. Spans move later, so nothing is stored that is loaded.
 */
static void save_edges(__global uchar *dst_bank, __global const uchar *src_bank,
                       __global uchar *scratch, MOVE_PARAMETERS, uint item,
                       uint items)
{
    (void)stride;
    const uint skew = (uint)(ulong)dst_bank & (align - 1);
    __global const uchar *src = src_bank - skew;
    __global uint4 *saved = (__global uint4 *)edges_start(scratch);
    const int up = (mode & JOB_KIND) == JOB_UP;
    const uint row = job / columns;
    const ulong vectors = edge_vectors(distance);
    const ulong begin = (job - row * columns) * (piece_size / 16);
    const uint width = (uint)min(piece_size / 16, vectors - begin);
    const ulong first = row * (ulong)pieces;
    const ulong edges = (skew + size - 1) / span;
    const uint count =
        first >= edges ? 0 : (uint)min(edges - first, (ulong)pieces) * width;
    uint edge = item / width;
    uint vector = item - edge * width;
    const uint edge_step = items / width;
    const uint vector_step = items - edge_step * width;
    for (uint i = item; i < count; i += items) {
        const ulong number = first + edge;
        const ulong at = begin + vector;
        /* Where the bytes are stored, and with that where they are loaded. */
        const ulong place = (number + 1) * span + at * 16 +
                            (up ? 0 - distance : distance - vectors * 16);
        saved[number * vectors + at] = load_edge(src, place, skew, size);
        edge += edge_step;
        vector += vector_step;
        if (vector >= width) {
            vector -= width;
            edge++;
        }
    }
}

/* Job of a family that moves. What lies behind the span's end in the source
 * (moving up; before its beginning moving down) comes from the saved edge. */
static void move_column(__global uchar *dst_bank,
                        __global const uchar *src_bank,
                        __global const uchar *edges, MOVE_PARAMETERS,
                        __local uint4 *tile, uint item, uint items)
{
    const uint skew = (uint)(ulong)dst_bank & (align - 1);
    __global uchar *dst = dst_bank - skew;
    __global const uchar *src = src_bank - skew;
    const int up = (mode & JOB_KIND) != JOB_DOWN;
    const ulong end = skew + size; /* places from skew on are moved */
    const uint row = columns == 1 ? job : job / columns;
    const ulong at = (job - row * columns) * piece_size;
    const uint width = (uint)min(piece_size, stride - at);
    const ulong begin = row * span; /* of the span */
    const ulong vectors = edge_vectors(distance);
    const int meets = distance != 0 && (up ? begin + span < end : row > 0);
    /* Where loads turn to the edge, and what lies there. */
    const ulong border = begin + (up ? span - distance : distance);
    __global const uchar *edge =
        edges + (up ? row * vectors * 16 : row * vectors * 16 - distance);
    ulong place = begin + at + (up ? 0 : (pieces - 1) * stride);
    for (uint left = pieces; left > 0; left--) {
        const ulong first = max(place, (ulong)skew);
        const ulong last = min(place + width, end);
        place = up ? place + stride : place - stride;
        if (first >= last)
            continue; /* before or behind the move: for all items alike */
        const uint here = (uint)(last - first);
        __global const uchar *low = src + first;
        __global const uchar *high = low;
        uint boundary = here;
        if (meets) {
            boundary = (uint)(min(max(border, first), last) - first);
            high =
                up ? edge + (long)(first + boundary - border) : low + boundary;
            low = up ? low : edge + (first - begin);
        }
        move_piece(dst + first, low, high, boundary, here, up, tile, item,
                   items);
    }
}

/* One family, a job for each group. */
__kernel void clmove_move(__global const uchar *src_bank,
                          __global uchar *dst_bank, __global uchar *scratch,
                          const struct family family)
{
    __local uint4 tile[TILE_VECTORS];
    move_column(dst_bank + family.dst, src_bank + family.src,
                edges_start(scratch + family.edge),
                MOVE_ARGUMENTS(family, (uint)get_group_id(0)), tile,
                (uint)get_local_id(0), (uint)get_local_size(0));
}

/* The same for a family that saves edges: together they would take registers
 * that moves need. */
__kernel void clmove_save(__global const uchar *src_bank,
                          __global uchar *dst_bank, __global uchar *scratch,
                          const struct family family)
{
    save_edges(dst_bank + family.dst, src_bank + family.src,
               scratch + family.edge,
               MOVE_ARGUMENTS(family, (uint)get_group_id(0)),
               (uint)get_local_id(0), (uint)get_local_size(0));
}

/* Small moves have few registers and few loads in flight: other moves in the
 * same kernel need the registers. */
static void copy_small(__global uchar *dst, __global const uchar *src,
                       ulong size, uint item, uint items)
{
    struct cut cut;
    cut_range(dst, src, size, &cut);
    const ulong body = cut.head + cut.count * 16;
    __global uint4 *to = (__global uint4 *)(dst + cut.head);
    copy_bytes(dst, src, cut.head, item, items);
    for (ulong i = item; i < cut.count; i += items)
        to[i] = pair_value(load_pair(src + cut.head, i, cut.phase), cut.phase);
    copy_bytes(dst + body, src + body, size - body, item, items);
}

/*
 * clmove_batch carries out one launch of a planned batch, a chunk for each
 * group. Places outside of scratch are `slice` bytes further on. Chunks are
 * numbered once, on the host; no two of them, and no two small moves of one
 * chunk, have a byte in common that either writes. Small moves are disjoint
 * copies; teams of TEAM items take one each.
 */
#define TEAM 32u

static __global uchar *find_bank(BANK_ARRAY *banks, uint bank, ulong slice)
{
    return banks[bank] + (bank == CLMOVE_BANKS ? 0 : slice);
}

static void do_smalls(BANK_ARRAY *banks,
                      __global const struct small_move *moves, uint count,
                      ulong slice, uint item, uint items)
{
    const uint team_items = min(items, TEAM);
    const uint teams = items / team_items;
    const uint team = item / team_items;
    if (team >= teams)
        return; /* the rest of a group that is no multiple of TEAM */
    for (uint i = team; i < count; i += teams) {
        const struct small_move move = moves[i];
        copy_small(find_bank(banks, move.banks >> 16, slice) + move.dst,
                   find_bank(banks, move.banks & 0xffffu, slice) + move.src,
                   move.size, item - team * team_items, team_items);
    }
}

/* What a launch differs by. The lists are families, then small moves, then
 * chunks. */
struct batch_launch {
    ulong smalls, chunks; /* of the lists and of the launch, bytes from the
                             lists' start */
    ulong slice;
};

__kernel void clmove_batch(BANK_EACH(BANK_PARAMETER) __global uchar *scratch,
                           __global const uchar *lists,
                           const struct batch_launch launch)
{
    BANK_ARRAY banks[CLMOVE_BANKS + 1];
    __local uint4 tile[TILE_VECTORS];
    const uint item = (uint)get_local_id(0);
    const uint items = (uint)get_local_size(0);
    if (item == 0) {
        BANK_EACH(BANK_STORE)
        banks[CLMOVE_BANKS] = scratch;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong slice = launch.slice;
    const struct chunk chunk = ((
        __global const struct chunk *)(lists + launch.chunks))[get_group_id(0)];
    if (chunk.smalls != 0) {
        do_smalls(banks,
                  (__global const struct small_move *)(lists + launch.smalls) +
                      chunk.first,
                  chunk.count, slice, item, items);
        return;
    }
    __global const struct family *family =
        (__global const struct family *)lists + chunk.first;
    __global uchar *dst =
        find_bank(banks, family->dst_bank, slice) + family->dst;
    __global const uchar *src =
        find_bank(banks, family->src_bank, slice) + family->src;
    __global uchar *edges = banks[CLMOVE_BANKS] + family->edge;
    if ((family->mode & JOB_SAVE) != 0)
        save_edges(dst, src, edges, MOVE_ARGUMENTS(*family, chunk.job), item,
                   items);
    else
        move_column(dst, src, edges_start(edges),
                    MOVE_ARGUMENTS(*family, chunk.job), tile, item, items);
}

/*
 * clmove_batch_device moves entries that are listed in device memory. Reads the
 * lists and the sources, writes the destinations and the faults. Entries do not
 * touch each other (the caller's promise). An entry that overlaps itself is one
 * group's work; any other is cut into tiles, which are disjoint. Groups form
 * teams: each looks at slices of its own, whose tiles its groups number alike,
 * from lists that the launch only reads, and take by turns. A fault is written
 * by one item, of the first group of a team.
 */
#ifndef CLMOVE_BATCH_SLICE
#define CLMOVE_BATCH_SLICE 256
#endif
#define DEVICE_TILE 32768ul
#define WHOLE_PIECE (1ul << 30) /* sizes of pieces have 32 bits */

/* Up to this many slices all groups are one team; above, there is a team for
 * each slice, since looking at all of them would cost more than it balances. */
#define SHARED_SLICES 16ul

struct entry_lists {
    __global uchar *src_base, *dst_base;
    ulong src_size, dst_size; /* of the bases, bytes */
    __global const long *src_offsets, *dst_offsets;
    __global const uchar *sizes;
    uint sizes_are_int32;
};

struct entry {
    __global const uchar *src;
    __global uchar *dst;
    ulong size; /* 0: nothing to do */
};

/* Entry i, checked; *fault is 1 where it lies outside its base. */
static struct entry read_entry(__local const struct entry_lists *lists, ulong i,
                               int *fault)
{
    struct entry entry = {lists->src_base, lists->dst_base, 0};
    const long src = lists->src_offsets[i];
    const long dst = lists->dst_offsets[i];
    const long size = lists->sizes_are_int32 != 0
                          ? ((__global const int *)lists->sizes)[i]
                          : ((__global const long *)lists->sizes)[i];
    *fault = 0;
    if (size == 0 || src == -1 || dst == -1)
        return entry;
    *fault = size < 0 || src < 0 || dst < 0 || (ulong)size > lists->src_size ||
             (ulong)size > lists->dst_size ||
             (ulong)src > lists->src_size - (ulong)size ||
             (ulong)dst > lists->dst_size - (ulong)size;
    entry.src += src;
    entry.dst += dst;
    if (*fault == 0 && entry.src != entry.dst)
        entry.size = (ulong)size;
    return entry;
}

static int overlaps_itself(const struct entry *entry)
{
    const ulong src = (ulong)entry->src;
    const ulong dst = (ulong)entry->dst;
    return (src > dst ? src - dst : dst - src) < entry->size;
}

static ulong entry_tiles(const struct entry *entry)
{
    if (entry->size == 0)
        return 0;
    return overlaps_itself(entry) ? 1ul : (entry->size - 1) / DEVICE_TILE + 1ul;
}

/* What a group moves at once: a tile of an entry, or all of an entry that
 * overlaps itself. */
struct share {
    __global const uchar *src;
    __global uchar *dst;
    ulong size;
    uint up;
};

/* Finds tile `number` of the slice that begins with entry `first`: the item
 * that looks at its entry writes it down for all. */
static void find_share(__local const struct entry_lists *lists, ulong first,
                       __local const ulong *sums, ulong number,
                       __local struct share *share, uint item, uint items)
{
    barrier(CLK_LOCAL_MEM_FENCE); /* the last one has been read */
    for (uint i = item; i < CLMOVE_BATCH_SLICE; i += items) {
        const ulong before = i == 0 ? 0 : sums[i - 1];
        if (number < before || number >= sums[i])
            continue;
        int fault = 0;
        const struct entry entry = read_entry(lists, first + i, &fault);
        const int whole = overlaps_itself(&entry);
        const ulong begin = whole ? 0 : (number - before) * DEVICE_TILE;
        share->src = entry.src + begin;
        share->dst = entry.dst + begin;
        share->size = whole ? entry.size : min(entry.size - begin, DEVICE_TILE);
        share->up = entry.dst < entry.src;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

static void move_share(__local const struct share *share, __local uint4 *tile,
                       uint item, uint items)
{
    const uint pieces = (uint)((share->size - 1) / WHOLE_PIECE) + 1;
    for (uint done = 0; done < pieces; done++) {
        const ulong at = (share->up ? done : pieces - 1 - done) * WHOLE_PIECE;
        const uint size = (uint)min(share->size - at, WHOLE_PIECE);
        move_piece(share->dst + at, share->src + at, share->src, size, size,
                   (int)share->up, tile, item, items);
    }
}

/* The tiles of entries [first, end): sums[i] becomes those of entries up to and
 * with first + i. Returns the total. `sums` has two halves. */
static ulong number_tiles(__local const struct entry_lists *lists, ulong first,
                          uint count, __local ulong *sums, __global int *faults,
                          uint item, uint items)
{
    for (uint i = item; i < CLMOVE_BATCH_SLICE; i += items) {
        int fault = 0;
        ulong tiles = 0;
        if (i < count) {
            const struct entry entry = read_entry(lists, first + i, &fault);
            tiles = entry_tiles(&entry);
            if (fault != 0 && faults != 0)
                faults[first + i] = 1;
        }
        sums[i] = tiles;
    }
    uint from = 0;
    ROLLED
    for (uint reach = 1; reach < CLMOVE_BATCH_SLICE; reach *= 2) {
        const uint to = CLMOVE_BATCH_SLICE - from;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = item; i < CLMOVE_BATCH_SLICE; i += items)
            sums[to + i] =
                sums[from + i] + (i >= reach ? sums[from + i - reach] : 0ul);
        from = to;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (from != 0) {
        for (uint i = item; i < CLMOVE_BATCH_SLICE; i += items)
            sums[i] = sums[from + i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return sums[CLMOVE_BATCH_SLICE - 1];
}

/* Where each memory begins, in bytes from what the kernel is given for it, and
 * the rest of a call. */
struct device_batch {
    ulong src_base, dst_base, src_offsets, dst_offsets, sizes, faults;
    ulong src_size, dst_size; /* of the bases, bytes */
    ulong count;
    ulong sizes_are_int32;
};

/* A fixed size of groups, which keeps this kernel from the limit on registers
 * that the others have on NVIDIA: it needs more. */
MOVER __kernel void clmove_batch_device(__global uchar *src_base,
                                        __global uchar *dst_base,
                                        __global const uchar *src_offsets,
                                        __global const uchar *dst_offsets,
                                        __global const uchar *sizes,
                                        __global uchar *faults,
                                        const struct device_batch batch)
{
    /* In local memory, since registers are for what is moved. */
    __local struct entry_lists lists;
    __local ulong sums[CLMOVE_BATCH_SLICE * 2];
    __local struct share share;
    __local uint4 tile[TILE_VECTORS];
    const uint item = (uint)get_local_id(0);
    const uint items = MOVER_ITEMS;
    const uint group = (uint)get_group_id(0);
    const uint groups = (uint)get_num_groups(0);
    const ulong slices =
        (batch.count + CLMOVE_BATCH_SLICE - 1) / CLMOVE_BATCH_SLICE;
    const uint teams =
        slices <= SHARED_SLICES ? 1 : (uint)min(slices, (ulong)groups);
    const uint member = group / teams;
    const uint team = group - member * teams;
    const uint members = (groups - team + teams - 1) / teams;
    __global int *fault_list = faults == 0 || member != 0
                                   ? 0
                                   : (__global int *)(faults + batch.faults);
    ulong number = member; /* this group's next tile */
    if (item == 0) {
        lists.src_base = src_base + batch.src_base;
        lists.dst_base = dst_base + batch.dst_base;
        lists.src_size = batch.src_size;
        lists.dst_size = batch.dst_size;
        lists.src_offsets =
            (__global const long *)(src_offsets + batch.src_offsets);
        lists.dst_offsets =
            (__global const long *)(dst_offsets + batch.dst_offsets);
        lists.sizes = sizes + batch.sizes;
        lists.sizes_are_int32 = (uint)batch.sizes_are_int32;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong slice = team; slice < slices; slice += teams) {
        const ulong first = slice * CLMOVE_BATCH_SLICE;
        const uint in_slice =
            (uint)min(batch.count - first, (ulong)CLMOVE_BATCH_SLICE);
        const ulong total = number_tiles(&lists, first, in_slice, sums,
                                         fault_list, item, items);
        for (; number < total; number += members) {
            find_share(&lists, first, sums, number, &share, item, items);
            move_share(&share, tile, item, items);
        }
        number -= total;              /* in the team's next slice */
        barrier(CLK_LOCAL_MEM_FENCE); /* sums are written again */
    }
}
