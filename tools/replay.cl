/* What an engine does around the state copies of a replay: kernels of the tool.
 *
 * fill      writes a pattern over a whole buffer
 * admit     starts requests: accepted 1, running column as given
 * sample    writes the accepted counts of the rows of a step
 * advance   writes how many tokens they have now
 * stamp     writes states that say which tokens they belong to
 * check     reads states, reports the first byte that says something else
 * checksum  sums up pages, one work-group per page
 * keep      copies pages to where no call writes
 * expect    compares the pages that copies wrote with what was kept
 *
 * No launch reads what it writes, and every byte is written by one work-item:
 * fill, admit, sample, advance own the elements they visit; in stamp, a slot's
 * running block and the draft blocks after it are its own, and an item owns the
 * element or word that it visits; so does keep. check, checksum and expect
 * write results only, check and expect by atomic_min. Pages start at multiples
 * of 16 bytes and temporal states too.
 *
 * Macros: none. */

/* All ulong, so that host and device agree on it. Layers are those of one
 * buffer; first_layer is the number of its first one in the model. */
struct shape {
    ulong page_size, layer_size, first_layer, layers;
    ulong taps, width, dim, element_size, channels_first;
    ulong temporal_offset, temporal_size;
    ulong block_count, columns, slots;
};

#define NO_BLOCK 0xfffffffeu
#define POSITION_MAX 0xfffffffdu

static ulong mix(ulong value)
{
    value ^= value >> 30;
    value *= 0xbf58476d1ce4e5b9ul;
    value ^= value >> 27;
    value *= 0x94d049bb133111ebul;
    return value ^ value >> 31;
}

/* A stamp's key: whose state it is, and after or of which token. */
static ulong stamp_key(uint request, ulong layer, uint temporal, long token)
{
    ulong whose = (ulong)request << 32 ^ layer << 1 ^ temporal;
    return mix(mix(whose + 0x9e3779b97f4a7c15ul) ^ (ulong)token);
}

/* Eight bytes of a stamp. */
static ulong stamp_word(ulong key, ulong word)
{
    return mix(key + word * 0x9e3779b97f4a7c15ul);
}

/* One byte of it, at a byte position of the state (or of the conv token). */
static uchar stamp_byte(ulong key, ulong position)
{
    return (uchar)(stamp_word(key, position / 8) >> (8 * (position % 8)));
}

static ulong element_offset(__global const struct shape *shape, ulong token,
                            ulong channel)
{
    ulong place = shape->channels_first ? channel * shape->width + token
                                        : token * shape->dim + channel;
    return place * shape->element_size;
}

/* The page of a slot's column in a layer of this buffer; 0 when there is none
 * (then *found is 0). */
static ulong page_offset(__global const struct shape *shape,
                         __global const int *table, uint slot, long column,
                         ulong layer, int *found)
{
    *found = 0;
    if (column < 0 || (ulong)column >= shape->columns)
        return 0;
    int block = table[slot * shape->columns + (ulong)column];
    if (block < 0 || (ulong)block >= shape->block_count)
        return 0;
    *found = 1;
    return layer * shape->layer_size + (ulong)block * shape->page_size;
}

__kernel void fill(__global ulong *pool, ulong count, ulong seed)
{
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0))
        pool[i] = stamp_word(seed, i);
}

__kernel void admit(__global const int *admitted, __global int *accepted,
                    __global int *column, int not_admitted)
{
    size_t slot = get_global_id(0);
    if (admitted[slot] == not_admitted)
        return;
    accepted[slot] = 1;
    column[slot] = admitted[slot];
}

__kernel void sample(__global const int *scheduled, __global const int *sampled,
                     __global int *accepted)
{
    size_t slot = get_global_id(0);
    if (scheduled[slot] > 0)
        accepted[slot] = sampled[slot];
}

__kernel void advance(__global const int *computed,
                      __global const int *scheduled, __global const int *draft,
                      __global const int *sampled, __global int *now)
{
    size_t slot = get_global_id(0);
    if (scheduled[slot] > 0)
        now[slot] =
            computed[slot] + scheduled[slot] - draft[slot] + sampled[slot] - 1;
}

static void stamp_conv(__global uchar *page, __global const struct shape *shape,
                       ulong count, uint request, ulong layer, long first_token)
{
    for (ulong channel = get_global_id(0); channel < shape->dim;
         channel += get_global_size(0)) {
        ulong position = channel * shape->element_size;
        for (ulong token = 0; token < count; token++) {
            ulong key = stamp_key(request, layer, 0, first_token + (long)token);
            ulong offset = element_offset(shape, token, channel);
            for (ulong k = 0; k < shape->element_size; k++)
                page[offset + k] = stamp_byte(key, position + k);
        }
    }
}

static void stamp_temporal(__global uchar *state, ulong size, ulong key)
{
    __global ulong *words = (__global ulong *)state;
    for (ulong i = get_global_id(0); i < size / 8; i += get_global_size(0))
        words[i] = stamp_word(key, i);
    ulong tail = size / 8 * 8 + get_global_id(0);
    if (tail < size)
        state[tail] = stamp_byte(key, tail);
}

/* Range: items, slots, layers of the buffer; at least 8 items. For a slot with
 * active > 0: the conv tokens after[slot] - (taps - 1) and on, taps - 1 + draft
 * of them, in the block of its column; the temporal states after `after` + j
 * tokens, j up to draft, in the blocks of column + j. */
__kernel void stamp(__global uchar *pool, __global const struct shape *shape,
                    __global const int *table, __global const int *request,
                    __global const int *active, __global const int *after,
                    __global const int *draft, __global const int *column)
{
    uint slot = (uint)get_global_id(1);
    ulong layer = get_global_id(2);
    int found;
    if (active[slot] < 1)
        return;
    uint who = (uint)request[slot];
    ulong name = shape->first_layer + layer;
    ulong page = page_offset(shape, table, slot, column[slot], layer, &found);
    ulong count = shape->taps - 1 + (ulong)draft[slot];
    if (found && count <= shape->width)
        stamp_conv(pool + page, shape, count, who, name,
                   (long)after[slot] - (long)(shape->taps - 1));
    for (int j = 0; shape->temporal_size && j <= draft[slot]; j++) {
        page = page_offset(shape, table, slot, (long)column[slot] + j, layer,
                           &found);
        if (found)
            stamp_temporal(pool + page + shape->temporal_offset,
                           shape->temporal_size,
                           stamp_key(who, name, 1, (long)after[slot] + j));
    }
}

static void report(volatile __global uint *bad, ulong position)
{
    atomic_min(bad, position < POSITION_MAX ? (uint)position : POSITION_MAX);
}

static void check_conv(__global const uchar *page,
                       __global const struct shape *shape, ulong first,
                       uint request, ulong layer, long tokens,
                       volatile __global uint *bad)
{
    ulong count = shape->taps - 1;
    for (ulong channel = get_global_id(0); channel < shape->dim;
         channel += get_global_size(0)) {
        ulong position = channel * shape->element_size;
        for (ulong i = 0; i < count; i++) {
            long token = tokens - (long)count + (long)i;
            ulong key = stamp_key(request, layer, 0, token);
            ulong offset = element_offset(shape, first + i, channel);
            for (ulong k = 0; token >= 0 && k < shape->element_size; k++) {
                if (page[offset + k] != stamp_byte(key, position + k))
                    report(bad, offset + k);
            }
        }
    }
}

static void check_temporal(__global const uchar *state, ulong size, ulong key,
                           volatile __global uint *bad)
{
    __global const ulong *words = (__global const ulong *)state;
    for (ulong i = get_global_id(0); i < size / 8; i += get_global_size(0)) {
        ulong wrong = words[i] ^ stamp_word(key, i);
        if (wrong)
            report(bad, i * 8 + (63 - clz(wrong & (0 - wrong))) / 8);
    }
    ulong tail = size / 8 * 8 + get_global_id(0);
    if (tail < size && state[tail] != stamp_byte(key, tail))
        report(bad, tail);
}

/* Range as for stamp. For a slot with active > 0 and tokens > 0, with k =
 * max(accepted - 1, 0): conv slots k .. k + taps - 2 of the block of its column
 * hold the tokens before `tokens`, and the temporal state of column + k is the
 * one after `tokens`. bad[layer][slot][conv, temporal] starts as 0xffffffff
 * and receives the first wrong byte's offset in the state, or NO_BLOCK. */
__kernel void check(__global const uchar *pool,
                    __global const struct shape *shape,
                    __global const int *table, __global const int *request,
                    __global const int *active, __global const int *tokens,
                    __global const int *accepted, __global const int *column,
                    volatile __global uint *bad)
{
    uint slot = (uint)get_global_id(1);
    ulong layer = get_global_id(2);
    int found;
    if (active[slot] < 1 || tokens[slot] < 1)
        return;
    uint who = (uint)request[slot];
    ulong name = shape->first_layer + layer;
    ulong skip = accepted[slot] > 1 ? (ulong)accepted[slot] - 1 : 0;
    bad += (name * shape->slots + slot) * 2;
    ulong page = page_offset(shape, table, slot, column[slot], layer, &found);
    if (!found || skip + shape->taps - 1 > shape->width)
        atomic_min(&bad[0], NO_BLOCK);
    else
        check_conv(pool + page, shape, skip, who, name, tokens[slot], &bad[0]);
    if (!shape->temporal_size)
        return;
    page = page_offset(shape, table, slot, (long)column[slot] + (long)skip,
                       layer, &found);
    if (!found)
        atomic_min(&bad[1], NO_BLOCK);
    else
        check_temporal(pool + page + shape->temporal_offset,
                       shape->temporal_size,
                       stamp_key(who, name, 1, tokens[slot]), &bad[1]);
}

/* Range: one group per listed block, times layers of the buffer (dimension 1,
 * group size 1 there). sums[layer of the model][index in the list]. Every byte
 * of the page counts, padding too. `partial` has a word per work-item. */
__kernel void checksum(__global const uchar *pool,
                       __global const struct shape *shape,
                       __global const int *blocks, ulong listed,
                       __global ulong *sums, __local ulong *partial)
{
    ulong index = get_group_id(0), layer = get_global_id(1);
    size_t item = get_local_id(0), items = get_local_size(0);
    __global const ulong *words =
        (__global const ulong *)(pool + layer * shape->layer_size +
                                 (ulong)blocks[index] * shape->page_size);
    ulong sum = 0;
    for (ulong i = item; i < shape->page_size / 8; i += items) {
        ulong value = (words[i] ^ (i + 1) * 0x9e3779b97f4a7c15ul);
        value = (value ^ value >> 32) * 0xd6e8feb86659fd93ul;
        sum += value ^ value >> 29;
    }
    partial[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        for (size_t i = 1; i < items; i++)
            sum += partial[i];
        sums[(shape->first_layer + layer) * listed + index] = sum;
    }
}

/* Range: items, listed blocks, layers of the buffer. kept[layer of the buffer]
 * [index in the list] becomes the page. */
__kernel void keep(__global const uchar *pool,
                   __global const struct shape *shape,
                   __global const int *blocks, ulong listed,
                   __global uchar *kept)
{
    ulong index = get_global_id(1), layer = get_global_id(2);
    __global const ulong *from =
        (__global const ulong *)(pool + layer * shape->layer_size +
                                 (ulong)blocks[index] * shape->page_size);
    __global ulong *to =
        (__global ulong *)(kept + (layer * listed + index) * shape->page_size);
    for (ulong i = get_global_id(0); i < shape->page_size / 8;
         i += get_global_size(0))
        to[i] = from[i];
}

/* A copy: the block that it wrote, and the places in `kept` of the destination,
 * of the block of the conv window, of the block of the temporal state. */
struct expected_copy {
    int block, old, window, temporal;
    ulong bias;
};

/* A byte of the page after the copy; pages are as they were before it. */
static uchar expected_byte(__global const struct shape *shape,
                           __global const uchar *old,
                           __global const uchar *window,
                           __global const uchar *temporal, ulong bias,
                           ulong place)
{
    const ulong element = shape->element_size;
    const ulong conv_size = shape->width * shape->dim * element;
    if (place < conv_size) {
        const ulong step =
            shape->channels_first ? element : shape->dim * element;
        const ulong token = place / step % shape->width;
        return token + bias < shape->width ? window[place + bias * step]
                                           : old[place];
    }
    if (place >= shape->temporal_offset &&
        place < shape->temporal_offset + shape->temporal_size)
        return temporal[place];
    return old[place];
}

/* Range: items, copies, layers of the buffer. bad[layer of the model][copy]
 * starts as 0xffffffff and receives the first wrong byte's offset in the page.
 * Every byte of the page counts, padding too. */
__kernel void expect(__global const uchar *pool,
                     __global const struct shape *shape,
                     __global const uchar *kept, ulong kept_pages,
                     __global const struct expected_copy *copies,
                     volatile __global uint *bad)
{
    ulong index = get_global_id(1), layer = get_global_id(2);
    const struct expected_copy copy = copies[index];
    const ulong size = shape->page_size;
    __global const uchar *page =
        pool + layer * shape->layer_size + (ulong)copy.block * size;
    __global const uchar *layer_kept = kept + layer * kept_pages * size;
    __global const uchar *old = layer_kept + (ulong)copy.old * size;
    __global const uchar *window = layer_kept + (ulong)copy.window * size;
    __global const uchar *temporal = layer_kept + (ulong)copy.temporal * size;
    const ulong temporal_end = shape->temporal_offset + shape->temporal_size;
    bad += (shape->first_layer + layer) * get_global_size(1) + index;
    for (ulong i = get_global_id(0) * 8; i < size;
         i += get_global_size(0) * 8) {
        const ulong found = *(__global const ulong *)(page + i);
        if (i >= shape->temporal_offset && i + 8 <= temporal_end &&
            found == *(__global const ulong *)(temporal + i))
            continue;
        for (ulong k = i; k < i + 8; k++) {
            if (page[k] !=
                expected_byte(shape, old, window, temporal, copy.bias, k))
                report(bad, k);
        }
    }
}
