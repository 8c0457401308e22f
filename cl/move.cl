/* Moves of bytes, overlapping or not. */

/*
 * The work is cut into jobs: pieces of one size at equal distances (a family).
 * One work-group does a job. A job is a disjoint copy, or a span: a part of an
 * overlapping move, which a group moves in memmove's order.
 *
 * Reads the banks and scratch, writes the banks and scratch.
 *
 * Why it cannot race:
 * - Between groups. The library plans launches so that no byte that a job
 *   writes is touched by another job of the launch. Neighbouring spans of one
 *   overlapping move meet at their edges only: the bytes that one needs from
 *   the other's place were saved to scratch by an earlier launch, and are taken
 *   from there.
 * - Within a group. A span is moved in tiles, upwards when the destination lies
 *   below the source, else downwards. All items load a tile before any item
 *   stores it: a barrier with both fences stands between. The next tile may be
 *   loaded before that barrier: what it loads lies beyond all that earlier
 *   tiles store, even where a vector reaches below or above the bytes that it
 *   is loaded for (see move_up, move_down). The edge of a span is stored last,
 *   after the barrier that follows the last load.
 * - A work-group that does several jobs or entries needs no barrier between
 *   them: they have no byte in common that either writes.
 * All barriers stand in flow that is uniform for the group.
 *
 * Macros: those of common.cl.
 */

#ifndef CLMOVE_COMMON
#include "common.cl"
#endif

/* Vectors of a tile that an item holds. Two, and the next two on their way,
 * keep enough loads in flight on a GPU. */
#if CLMOVE_CPU
#define TILE_VECTORS 8
#else
#define TILE_VECTORS 2
#endif

/* Mirrors of the structures in src/jobs.h. */
enum {
    JOB_DISJOINT = 0,
    JOB_UP = 1,
    JOB_DOWN = 2,
    JOB_KIND = 3,
    JOB_FROM_END = 4
};

/* Piece i starts i strides after piece 0 (strides may be negative: all sums
 * wrap) and has min(size, limit - i * limit_stride) bytes; with FROM_END a
 * piece that is cut short loses its beginning, else its end. A disjoint piece
 * is cut into tiles, a job each; a span is one job. */
struct family {
    ulong src, dst;               /* of piece 0, bytes from the bank's start */
    ulong src_stride, dst_stride; /* bytes between pieces */
    ulong size;
    ulong limit, limit_stride;
    ulong tile;              /* bytes of a job at most */
    ulong edge;              /* of span 0, bytes from the start of scratch */
    ulong edge_stride;       /* bytes between the spans' edges */
    ulong edge_size;         /* of all spans but the last; 0: no edges */
    uint src_bank, dst_bank; /* CLMOVE_BANKS means scratch */
    uint mode;
    uint tiles; /* jobs of a piece */
    uint job_count;
    uint unused;
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

/* Bytes to a lower address, one at a time, in memmove's order. Stores of one
 * round lie below all that later rounds load. */
static void bytes_up(__global uchar *dst, __global const uchar *src, ulong size,
                     uint item, uint items)
{
    for (ulong first = 0; first < size; first += items) {
        const ulong i = first + item;
        uchar held = 0;
        if (i < size)
            held = src[i];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (i < size)
            dst[i] = held;
    }
}

/* The same to a higher address, from the end. */
static void bytes_down(__global uchar *dst, __global const uchar *src,
                       ulong size, uint item, uint items)
{
    for (ulong done = 0; done < size; done += items) {
        const int mine = item < size - done;
        const ulong i = size - 1 - done - item;
        uchar held = 0;
        if (mine)
            held = src[i];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (mine)
            dst[i] = held;
    }
}

/* A tile: TILE_VECTORS vectors of every item, side by side. */
static void load_tile(pair *held, __global const uchar *src, uint phase,
                      uint item, uint items)
{
    _Pragma("unroll") for (uint k = 0; k < TILE_VECTORS; k++)
    {
        held[k] = load_pair(src, item + k * items, phase);
    }
}

static void store_tile(const pair *held, __global uchar *dst, uint phase,
                       uint item, uint items)
{
    _Pragma("unroll") for (uint k = 0; k < TILE_VECTORS; k++)(
        (__global uint4 *)dst)[item + k * items] = pair_value(held[k], phase);
}

/* Less than a tile: `count` vectors that all items load before any stores. */
static void move_rest(__global uchar *dst, __global const uchar *src,
                      uint phase, uint count, uint item, uint items)
{
    pair held[TILE_VECTORS];
    _Pragma("unroll") for (uint k = 0; k < TILE_VECTORS; k++)
    {
        if (item + k * items < count)
            held[k] = load_pair(src, item + k * items, phase);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    _Pragma("unroll") for (uint k = 0; k < TILE_VECTORS; k++)
    {
        if (item + k * items < count)
            ((__global uint4 *)dst)[item + k * items] =
                pair_value(held[k], phase);
    }
}

/* Vectors to a lower address. With the distance s, vector i is stored at 16 i;
 * what is loaded for it begins at 16 (i + floor(s / 16)): never below its own
 * place, so never where an earlier tile, or the head, is stored. */
static void vectors_up(__global uchar *dst, __global const uchar *src,
                       uint phase, ulong count, uint item, uint items)
{
    const uint step = TILE_VECTORS * items;
    const ulong bytes = step * 16ul;
    const ulong tiles = count / step;
    pair held[TILE_VECTORS];
    pair next[TILE_VECTORS];
    if (tiles > 0)
        load_tile(held, src, phase, item, items);
    for (ulong tile = 0; tile < tiles; tile++) {
        if (tile + 1 < tiles)
            load_tile(next, src + bytes, phase, item, items);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        store_tile(held, dst, phase, item, items);
        _Pragma("unroll") for (uint k = 0; k < TILE_VECTORS; k++)
        {
            held[k] = next[k];
        }
        src += bytes;
        dst += bytes;
    }
    move_rest(dst, src, phase, (uint)(count - tiles * step), item, items);
}

/* Vectors to a higher address, from the end. With the distance s, vector i is
 * stored at 16 i; what is loaded for it ends at 16 (i + 2 - ceil(s / 16)) at
 * most: never above its own place. */
static void vectors_down(__global uchar *dst, __global const uchar *src,
                         uint phase, ulong count, uint item, uint items)
{
    const uint step = TILE_VECTORS * items;
    const ulong bytes = step * 16ul;
    const ulong tiles = count / step;
    pair held[TILE_VECTORS];
    pair next[TILE_VECTORS];
    src += tiles * bytes;
    dst += tiles * bytes;
    move_rest(dst, src, phase, (uint)(count - tiles * step), item, items);
    if (tiles > 0)
        load_tile(held, src - bytes, phase, item, items);
    for (ulong tile = 0; tile < tiles; tile++) {
        src -= bytes;
        dst -= bytes;
        if (tile + 1 < tiles)
            load_tile(next, src - bytes, phase, item, items);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        store_tile(held, dst, phase, item, items);
        _Pragma("unroll") for (uint k = 0; k < TILE_VECTORS; k++)
        {
            held[k] = next[k];
        }
    }
}

/* `size` bytes to a lower address in the same memory. */
static void move_up(__global uchar *dst, __global const uchar *src, ulong size,
                    uint item, uint items)
{
    struct cut cut;
    cut_range(dst, src, size, &cut);
    const ulong body = cut.head + cut.count * 16;
    bytes_up(dst, src, cut.head, item, items);
    vectors_up(dst + cut.head, src + cut.head, cut.phase, cut.count, item,
               items);
    bytes_up(dst + body, src + body, size - body, item, items);
}

/* `size` bytes to a higher address in the same memory. */
static void move_down(__global uchar *dst, __global const uchar *src,
                      ulong size, uint item, uint items)
{
    struct cut cut;
    cut_range(dst, src, size, &cut);
    const ulong body = cut.head + cut.count * 16;
    bytes_down(dst + body, src + body, size - body, item, items);
    vectors_down(dst + cut.head, src + cut.head, cut.phase, cut.count, item,
                 items);
    bytes_down(dst, src, cut.head, item, items);
}

/* copy_disjoint with few registers and few loads in flight: for edges and small
 * moves, beside code that needs the registers. */
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

/* Where a piece lies, in bytes from the banks' starts. */
struct piece {
    ulong src, dst, size;
};

static void make_piece(ulong src, ulong src_stride, ulong dst, ulong dst_stride,
                       ulong size, ulong limit, ulong limit_stride, uint mode,
                       uint index, struct piece *piece)
{
    piece->size = min(size, limit - index * limit_stride);
    const ulong skip = (mode & JOB_FROM_END) != 0 ? size - piece->size : 0;
    piece->src = src + index * src_stride + skip;
    piece->dst = dst + index * dst_stride + skip;
}

/* Piece `index` of a family. A macro: a family that is passed on to a function
 * takes a copy in slow memory with it. */
#define FIND_PIECE(family, index, piece)                                       \
    make_piece((family).src, (family).src_stride, (family).dst,                \
               (family).dst_stride, (family).size, (family).limit,             \
               (family).limit_stride, (family).mode, index, piece)

/* Tile `number` of a disjoint piece by the whole group. */
static void copy_tile(__global uchar *dst_bank, __global const uchar *src_bank,
                      const struct piece *piece, ulong tile, uint number,
                      uint item, uint items)
{
    const ulong begin = number * tile;
    if (begin < piece->size)
        copy_disjoint(dst_bank + (piece->dst + begin),
                      src_bank + (piece->src + begin),
                      min(piece->size - begin, tile), item, items);
}

/* A span by the whole group. All spans but the last in memmove's order meet
 * `edge` bytes that the next one overwrites: above their own when moving up,
 * below when moving down. Those come from `edges`. */
static void move_span(__global uchar *dst_bank, __global const uchar *src_bank,
                      const struct piece *piece, int up, ulong edge,
                      __global const uchar *edges, uint item, uint items)
{
    __global uchar *dst = dst_bank + piece->dst;
    __global const uchar *src = src_bank + piece->src;
    const ulong own = piece->size - edge;
    if (up)
        move_up(dst, src, own, item, items);
    else
        move_down(dst + edge, src + edge, own, item, items);
    copy_small(up ? dst + own : dst, edges, edge, item, items);
}

/* One disjoint family, a job for each group. */
__kernel void clmove_copy(__global const uchar *src_bank,
                          __global uchar *dst_bank, const struct family family)
{
    const uint job = (uint)get_group_id(0);
    const uint index = job / family.tiles;
    struct piece piece;
    FIND_PIECE(family, index, &piece);
    copy_tile(dst_bank, src_bank, &piece, family.tile,
              job - index * family.tiles, (uint)get_local_id(0),
              (uint)get_local_size(0));
}

/* One family of spans, a span for each group. */
__kernel void clmove_shift(__global const uchar *src_bank,
                           __global uchar *dst_bank,
                           __global const uchar *scratch,
                           const struct family family)
{
    const uint job = (uint)get_group_id(0);
    struct piece piece;
    FIND_PIECE(family, job, &piece);
    move_span(dst_bank, src_bank, &piece, (family.mode & JOB_KIND) == JOB_UP,
              job + 1 < family.job_count ? family.edge_size : 0,
              scratch + (family.edge + job * family.edge_stride),
              (uint)get_local_id(0), (uint)get_local_size(0));
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
    __global uchar *dst = find_bank(banks, family->dst_bank, slice);
    __global const uchar *src = find_bank(banks, family->src_bank, slice);
    const uint kind = family->mode & JOB_KIND;
    const uint index = chunk.job / family->tiles;
    struct piece piece;
    FIND_PIECE(*family, index, &piece);
    if (kind == JOB_DISJOINT)
        copy_tile(dst, src, &piece, family->tile,
                  chunk.job - index * family->tiles, item, items);
    else
        move_span(dst, src, &piece, kind == JOB_UP,
                  chunk.job + 1 < family->job_count ? family->edge_size : 0,
                  banks[CLMOVE_BANKS] +
                      (family->edge + chunk.job * family->edge_stride),
                  item, items);
}

/*
 * clmove_batch_device moves entries that are listed in device memory. Reads the
 * lists and the sources, writes the destinations and the faults. Entries do not
 * touch each other (the caller's promise). An entry that overlaps itself is one
 * group's work; any other is cut into tiles that disjoint groups share. The
 * work is numbered by every group alike, from lists that the launch only reads.
 * A fault is written by one item: of the first group if all groups look at all
 * entries, else of the group that looks at the entry.
 */
#ifndef CLMOVE_BATCH_SLICE
#define CLMOVE_BATCH_SLICE 256
#endif
#define DEVICE_TILE 32768ul

/* Up to this many slices all groups share every entry; above, a slice is the
 * work of one group, since looking at all of them would cost more than it
 * balances. */
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
static struct entry read_entry(const struct entry_lists *lists, ulong i,
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

static void move_entry_tile(const struct entry *entry, ulong tile, uint item,
                            uint items)
{
    if (overlaps_itself(entry)) {
        if (entry->dst < entry->src)
            move_up(entry->dst, entry->src, entry->size, item, items);
        else
            move_down(entry->dst, entry->src, entry->size, item, items);
        return;
    }
    const ulong begin = tile * DEVICE_TILE;
    copy_disjoint(entry->dst + begin, entry->src + begin,
                  min(entry->size - begin, DEVICE_TILE), item, items);
}

/* The tiles of entries [first, end): sums[i] becomes those of entries up to and
 * with first + i. Returns the total. `sums` has two halves. */
static ulong number_tiles(const struct entry_lists *lists, ulong first,
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

__kernel void clmove_batch_device(__global uchar *src_base,
                                  __global uchar *dst_base,
                                  __global const uchar *src_offsets,
                                  __global const uchar *dst_offsets,
                                  __global const uchar *sizes,
                                  __global uchar *faults,
                                  const struct device_batch batch)
{
    const ulong count = batch.count;
    __local ulong sums[CLMOVE_BATCH_SLICE * 2];
    const uint item = (uint)get_local_id(0);
    const uint items = (uint)get_local_size(0);
    const ulong group = get_group_id(0);
    const ulong groups = get_num_groups(0);
    const ulong slices = (count + CLMOVE_BATCH_SLICE - 1) / CLMOVE_BATCH_SLICE;
    const int shared = slices <= SHARED_SLICES;
    const struct entry_lists lists = {
        src_base + batch.src_base,
        dst_base + batch.dst_base,
        batch.src_size,
        batch.dst_size,
        (__global const long *)(src_offsets + batch.src_offsets),
        (__global const long *)(dst_offsets + batch.dst_offsets),
        sizes + batch.sizes,
        (uint)batch.sizes_are_int32};
    __global int *fault_list = faults == 0 || (shared && group != 0)
                                   ? 0
                                   : (__global int *)(faults + batch.faults);
    ulong numbered = 0; /* tiles of earlier slices */
    for (ulong slice = shared ? 0 : group; slice < slices;
         slice += shared ? 1 : groups) {
        const ulong first = slice * CLMOVE_BATCH_SLICE;
        const uint in_slice =
            (uint)min(count - first, (ulong)CLMOVE_BATCH_SLICE);
        const ulong total = number_tiles(&lists, first, in_slice, sums,
                                         fault_list, item, items);
        /* This group's first tile in the slice, and the step to its next. */
        ulong tile = shared ? (group + groups - numbered % groups) % groups : 0;
        uint i = 0;
        for (; tile < total; tile += shared ? groups : 1) {
            int fault = 0;
            /* Bounded: PoCL 3.1 cannot cut a kernel at a loop without end. */
            while (i < CLMOVE_BATCH_SLICE - 1 && sums[i] <= tile)
                i++;
            const struct entry entry = read_entry(&lists, first + i, &fault);
            move_entry_tile(&entry, tile - (i == 0 ? 0 : sums[i - 1]), item,
                            items);
        }
        numbered += total;
        barrier(CLK_LOCAL_MEM_FENCE); /* sums are written again */
    }
}
