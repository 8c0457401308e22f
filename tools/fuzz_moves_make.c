/* The ranges of a random case of moves. */

#include "fuzz_moves.h"

#include <clmove/move.h>
#include <string.h>

/* Sub-buffers start at multiples of this: more than any device asks for. */
enum { SUB_ALIGNMENT = 4096 };

/* Moves of no bytes, now and then. */
static bool is_empty(struct random *random)
{
    return random_chance(random, 3);
}

/* 1 .. budget, small ones often. */
static uint32_t some_size(struct random *random, uint32_t budget)
{
    static const uint32_t most[] = {80, 80, 1000, 16384, 131072, 1u << 21};
    uint32_t limit = most[random_below(random, 6)];
    if (limit > budget)
        limit = budget;
    return 1 + random_below(random, limit);
}

/* 1 .. size - 1, for size >= 2: bytes, vectors, pages, anything. */
static uint32_t some_shift(struct random *random, uint32_t size)
{
    uint32_t shift = 1 + random_below(random, size - 1);
    switch (random_below(random, 5)) {
    case 0:
        shift = 1 + random_below(random, 17);
        break;
    case 1:
        shift = 16 * (1 + random_below(random, 64));
        break;
    case 2:
        shift = size / (1 + random_below(random, 20));
        break;
    case 3:
        shift = size - 1 - random_below(random, 17);
        break;
    default:
        break;
    }
    return shift >= 1 && shift < size ? shift
                                      : 1 + random_below(random, size - 1);
}

static uint32_t some_gap(struct random *random)
{
    return random_chance(random, 40) ? 0 : random_below(random, 50);
}

/* A memory of `size` bytes from `start` of an area, named one way or another.
 */
static uint32_t add_memory(struct fuzz_moves *fuzz, uint32_t area, size_t start,
                           size_t size)
{
    struct random *random = &fuzz->random;
    struct fuzz_memory *memory = &fuzz->memories[fuzz->memory_count];
    memory->area = area;
    memory->start = start;
    memory->size = size;
    if (random_chance(random, 50)) {
        /* A sub-buffer that ends where the memory does or later, or a pointer
         * into the allocation. */
        size_t pages = start / SUB_ALIGNMENT;
        memory->origin =
            random_below(random, (uint32_t)pages + 1) * SUB_ALIGNMENT;
        memory->handle_size = start + size - memory->origin;
        if (random_chance(random, 50))
            memory->handle_size += random_below(random, 20);
    }
    return fuzz->memory_count++;
}

/* The area behind the last memory: a guard, or none. */
static void end_area(struct fuzz_moves *fuzz, uint32_t area)
{
    size_t end = 1;
    for (uint32_t i = 0; i < fuzz->memory_count; i++) {
        const struct fuzz_memory *memory = &fuzz->memories[i];
        size_t own = memory->start + memory->size;
        if (memory->handle_size)
            own = memory->origin + memory->handle_size;
        if (memory->area == area && own > end)
            end = own;
    }
    fuzz->areas[area].size = end + random_below(&fuzz->random, 40);
}

static size_t some_start(struct random *random)
{
    size_t start = random_below(random, 70);
    if (random_chance(random, 50))
        start += SUB_ALIGNMENT * (1 + random_below(random, 2));
    return start;
}

static void make_single(struct fuzz_moves *fuzz)
{
    struct random *random = &fuzz->random;
    uint32_t size = is_empty(random) ? 0 : some_size(random, fuzz->budget);
    uint32_t shift = 0;
    size_t src = some_start(random), dst = src;
    struct fuzz_entry *entry = &fuzz->entries[0];
    uint32_t dst_area = 0;
    if (!fuzz->disjoint_only && size > 1 && random_chance(random, 70)) {
        shift = some_shift(random, size);
    } else if (random_chance(random, 50)) {
        shift = size + some_gap(random);
    } else if (random_chance(random, 90)) {
        dst_area = 1;
        dst = some_start(random);
    }
    if (random_chance(random, 50))
        src += shift;
    else
        dst += shift;
    fuzz->data_areas = dst_area + 1;
    fuzz->entry_count = 1;
    entry->src_memory = add_memory(fuzz, 0, src, size);
    entry->dst_memory = add_memory(fuzz, dst_area, dst, size);
    entry->size = size;
    entry->rows = 1;
}

/* Whether [a, a + size) and [b, b + size) share a byte, not being equal. */
static bool overlaps(int64_t a, int64_t b, int64_t size)
{
    return a != b && (a > b ? a - b : b - a) < size;
}

static struct fuzz_entry *new_entry(struct fuzz_moves *fuzz, int64_t src,
                                    int64_t dst, int64_t size)
{
    struct fuzz_entry *entry = &fuzz->entries[fuzz->entry_count++];
    memset(entry, 0, sizeof *entry);
    entry->src = src;
    entry->dst = dst;
    entry->size = size;
    entry->rows = 1;
    return entry;
}

static void shuffle(struct random *random, uint32_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = random_below(random, i + 1);
        uint32_t kept = values[i];
        values[i] = values[other];
        values[other] = kept;
    }
}

/* Whole slots of one memory: permutations, swaps, copies of one to many. */
static void make_slots(struct fuzz_moves *fuzz)
{
    struct random *random = &fuzz->random;
    uint32_t to[400], from[400];
    uint32_t count = 2 + random_below(random, 398);
    uint32_t size = some_size(random, fuzz->budget / count + 1);
    uint32_t gap = some_gap(random);
    bool permutes = random_chance(random, 60);
    for (uint32_t i = 0; i < count; i++)
        to[i] = from[i] = i;
    shuffle(random, to, count);
    if (permutes)
        shuffle(random, from, count);
    uint32_t used = permutes ? count : 1 + random_below(random, count);
    for (uint32_t i = 0; i < used; i++) {
        uint32_t source = permutes ? from[i] : random_below(random, count);
        new_entry(fuzz, (int64_t)source * (size + gap),
                  (int64_t)to[i] * (size + gap), size);
    }
    add_memory(fuzz, 0, some_start(random), (size_t)count * (size + gap));
    fuzz->data_areas = 1;
    if (random_chance(random, 40))
        fuzz->scratch_limit = (uint64_t)count * (32 + random_below(random, 99));
}

/* A source for a destination of the memory `dst_memory`. */
static void choose_source(struct fuzz_moves *fuzz, struct fuzz_entry *entry)
{
    struct random *random = &fuzz->random;
    int64_t room = (int64_t)fuzz->memories[entry->dst_memory].size;
    entry->src_memory = entry->dst_memory;
    if (entry->rows > 1) {
        uint32_t spare = (uint32_t)(room - entry->size) / (entry->rows - 1);
        entry->src_stride =
            random_chance(random, 40)
                ? entry->dst_stride
                : random_below(random, 3 * (uint32_t)entry->size);
        if (entry->src_stride > spare)
            entry->src_stride = spare;
    }
    int64_t extent =
        entry->size + (int64_t)entry->src_stride * (entry->rows - 1);
    int64_t shift =
        entry->size > 1 ? some_shift(random, (uint32_t)entry->size) : 1;
    entry->src =
        random_chance(random, 50) ? entry->dst + shift : entry->dst - shift;
    if (random_chance(random, 50)) {
        entry->src_memory = random_below(random, fuzz->memory_count);
        room = (int64_t)fuzz->memories[entry->src_memory].size;
        entry->src = random_below(random, (uint32_t)room);
    }
    if (random_chance(random, 4))
        entry->src = entry->dst;
    if (entry->src > room - extent)
        entry->src = room - extent;
    if (entry->src < 0)
        entry->src = 0;
}

/* Whether the entry lies in its memories, and the variant can move it. */
static bool is_possible(const struct fuzz_moves *fuzz,
                        const struct fuzz_entry *entry)
{
    const struct fuzz_memory *src = &fuzz->memories[entry->src_memory];
    const struct fuzz_memory *dst = &fuzz->memories[entry->dst_memory];
    int64_t extent =
        entry->size + (int64_t)entry->src_stride * (entry->rows - 1);
    if (entry->src + extent > (int64_t)src->size)
        return false;
    for (uint32_t row = 0; fuzz->disjoint_only && row < entry->rows; row++) {
        int64_t a =
            (int64_t)src->start + entry->src + (int64_t)row * entry->src_stride;
        int64_t b =
            (int64_t)dst->start + entry->dst + (int64_t)row * entry->dst_stride;
        if (src->area == dst->area && overlaps(a, b, entry->size))
            return false;
    }
    return true;
}

/* Cuts a memory into destinations, some of them rectangles. */
static void cut_memory(struct fuzz_moves *fuzz, uint32_t memory, uint32_t most)
{
    struct random *random = &fuzz->random;
    size_t room = fuzz->memories[memory].size;
    uint32_t largest = 1 + (uint32_t)room / (1 + random_below(random, 30));
    for (size_t at = some_gap(random); fuzz->entry_count < most;) {
        struct fuzz_entry entry = {0};
        entry.dst_memory = memory;
        entry.dst = (int64_t)at;
        entry.size = is_empty(random) ? 0 : some_size(random, largest);
        entry.rows =
            random_chance(random, 15) ? 2 + random_below(random, 5) : 1;
        if (entry.rows > 1)
            entry.dst_stride = (uint32_t)entry.size + some_gap(random);
        size_t extent =
            (size_t)entry.size + (size_t)entry.dst_stride * (entry.rows - 1);
        if (at + extent > room)
            return;
        at += extent + some_gap(random);
        bool fine = false;
        for (int attempt = 0; attempt < 8 && !fine; attempt++) {
            choose_source(fuzz, &entry);
            fine = is_possible(fuzz, &entry);
        }
        if (fine)
            fuzz->entries[fuzz->entry_count++] = entry;
    }
}

/* Destinations in up to three areas; sources anywhere, also through a second
 * name of the same area. */
static void make_mixed(struct fuzz_moves *fuzz)
{
    struct random *random = &fuzz->random;
    fuzz->data_areas = 1 + random_below(random, FUZZ_DATA_AREAS);
    uint32_t named = 0;
    for (uint32_t i = 0; i < fuzz->data_areas; i++) {
        size_t size = 1 + some_size(random, fuzz->budget / fuzz->data_areas);
        if (random_chance(random, 60))
            size = 1 + random_below(random, fuzz->budget / fuzz->data_areas);
        add_memory(fuzz, i, some_start(random), size);
    }
    named = fuzz->memory_count;
    for (uint32_t i = 0; i < named && random_chance(random, 50); i++) {
        const struct fuzz_memory *memory = &fuzz->memories[i];
        size_t cut = random_below(random, (uint32_t)memory->size);
        add_memory(fuzz, i, memory->start + cut, memory->size - cut);
    }
    uint32_t most =
        1 + random_below(random, random_chance(random, 20) ? 300 : 30);
    for (uint32_t i = 0; i < named; i++)
        cut_memory(fuzz, i, most * (i + 1) / named);
}

/* Many moves by one distance, touching each other or not. */
static void make_shifted(struct fuzz_moves *fuzz)
{
    struct random *random = &fuzz->random;
    uint32_t count = 1 + random_below(random, 160);
    uint32_t size = some_size(random, fuzz->budget / count + 1);
    uint32_t gap = some_gap(random);
    uint32_t pitch = size + gap;
    uint32_t shift = size > 1 && !fuzz->disjoint_only ? some_shift(random, size)
                                                      : pitch * count;
    bool up = random_chance(random, 50);
    for (uint32_t i = 0; i < count; i++) {
        int64_t low = (int64_t)i * pitch;
        new_entry(fuzz, up ? low : low + shift, up ? low + shift : low, size);
    }
    add_memory(fuzz, 0, some_start(random), (size_t)count * pitch + shift);
    fuzz->data_areas = 1;
}

static void make_batch(struct fuzz_moves *fuzz)
{
    struct random *random = &fuzz->random;
    uint32_t choice = random_below(random, 100);
    if (choice < 30)
        make_slots(fuzz);
    else if (choice < 80)
        make_mixed(fuzz);
    else if (choice < 97)
        make_shifted(fuzz);
    else
        add_memory(fuzz, 0, 1, 1); /* no entry at all */
    if (fuzz->data_areas == 0)
        fuzz->data_areas = 1;
    for (uint32_t i = fuzz->entry_count; i > 1; i--) {
        uint32_t other = random_below(random, i);
        struct fuzz_entry kept = fuzz->entries[i - 1];
        fuzz->entries[i - 1] = fuzz->entries[other];
        fuzz->entries[other] = kept;
    }
    fuzz->times = random_chance(random, 20) ? 2 : 1;
    fuzz->gives_scratch = random_chance(random, 25);
}

/* An entry that the device must skip. */
static void spoil(struct fuzz_moves *fuzz, struct fuzz_entry *entry)
{
    struct random *random = &fuzz->random;
    int64_t src_room = (int64_t)fuzz->memories[0].size;
    int64_t dst_room = (int64_t)fuzz->memories[1].size;
    bool small = fuzz->sizes_are_int32;
    entry->skipped = true;
    entry->fault = true;
    switch (random_below(random, 9)) {
    case 0:
        entry->size = 0;
        break;
    case 1:
        entry->src = -1;
        break;
    case 2:
        entry->dst = -1;
        break;
    case 3:
        entry->size = random_chance(random, 50) ? -1 : -entry->size;
        break;
    case 4:
        entry->src = random_chance(random, 50) ? -2 : INT64_MIN;
        break;
    case 5:
        entry->dst = random_chance(random, 50) ? -2 : INT64_MIN;
        break;
    case 6:
        entry->size = small ? INT32_MAX : INT64_MAX;
        break;
    case 7:
        entry->src =
            random_chance(random, 50) ? src_room - entry->size + 1 : INT64_MAX;
        break;
    default:
        entry->dst =
            random_chance(random, 50) ? dst_room - entry->size + 1 : INT64_MAX;
        break;
    }
    if (entry->size == 0 || entry->src == -1 || entry->dst == -1)
        entry->fault = false;
}

/* Cells that hold an entry each, source and destination; or destinations in one
 * area, and sources anywhere in the other. */
static void make_device(struct fuzz_moves *fuzz)
{
    struct random *random = &fuzz->random;
    static const uint32_t counts[] = {0, 1, 2, 20, 255, 256, 257, 600};
    uint32_t count = counts[random_below(random, 8)];
    if (random_chance(random, 50) && count > 1)
        count = random_below(random, count);
    bool together = random_chance(random, 60);
    uint32_t largest = fuzz->budget / (count + 1) / 2 + 1;
    int64_t at = 0, src_room = 1 + some_size(random, fuzz->budget);
    for (uint32_t i = 0; i < count; i++) {
        int64_t size = some_size(random, largest);
        if (i == 0 && random_chance(random, 30))
            size = some_size(random, fuzz->budget / 2);
        at += some_gap(random);
        if (!together) {
            if (size > src_room)
                size = src_room;
            uint32_t spare = (uint32_t)(src_room - size) + 1;
            new_entry(fuzz, random_below(random, spare), at, size);
            at += size;
            continue;
        }
        int64_t shift = size + some_gap(random);
        if (size > 1 && random_chance(random, 60))
            shift = some_shift(random, (uint32_t)size);
        bool up = random_chance(random, 50);
        new_entry(fuzz, up ? at : at + shift, up ? at + shift : at, size);
        at += shift + size;
    }
    size_t room = (size_t)at + 1;
    size_t start = some_start(random);
    fuzz->data_areas = together ? 1 : 2;
    add_memory(fuzz, 0, start, together ? room : (size_t)src_room);
    add_memory(fuzz, together ? 0 : 1, together ? start : some_start(random),
               room);
    fuzz->sizes_are_int32 = random_chance(random, 50);
    fuzz->has_faults = random_chance(random, 75);
    for (uint32_t i = 0; i < fuzz->entry_count; i++) {
        fuzz->entries[i].dst_memory = 1;
        if (random_chance(random, 10))
            spoil(fuzz, &fuzz->entries[i]);
    }
}

/* Room in the extra area, after a gap. */
static size_t take(struct fuzz_moves *fuzz, size_t size, size_t alignment)
{
    struct fuzz_area *area = &fuzz->areas[FUZZ_EXTRA_AREA];
    size_t gap = random_below(&fuzz->random, 40);
    size_t place = (area->size + gap + alignment - 1) / alignment * alignment;
    area->size = place + size;
    return place;
}

void fuzz_moves_make(struct fuzz_moves *fuzz)
{
    fuzz->times = 1;
    if (fuzz->kind == FUZZ_SINGLE) {
        make_single(fuzz);
        fuzz->gives_scratch = random_chance(&fuzz->random, 30);
    } else if (fuzz->kind == FUZZ_BATCH) {
        make_batch(fuzz);
    } else {
        make_device(fuzz);
        /* An array of no entries takes some room as well. */
        size_t count = fuzz->entry_count + 1;
        fuzz->src_offsets = take(fuzz, count * 8, 8);
        fuzz->dst_offsets = take(fuzz, count * 8, 8);
        fuzz->sizes = take(fuzz, count * 8, fuzz->sizes_are_int32 ? 4 : 8);
        fuzz->faults = take(fuzz, count * 4, 4);
        take(fuzz, 0, 1);
    }
    for (uint32_t i = 0; i < fuzz->data_areas; i++)
        end_area(fuzz, i);
}

static void put(unsigned char *bytes, size_t index, int64_t value, bool small)
{
    int32_t narrow = (int32_t)value;
    if (small)
        memcpy(bytes + index * 4, &narrow, 4);
    else
        memcpy(bytes + index * 8, &value, 8);
}

void fuzz_moves_fill_arrays(struct fuzz_moves *fuzz)
{
    unsigned char *bytes = fuzz->areas[FUZZ_EXTRA_AREA].before;
    for (uint32_t i = 0; i < fuzz->entry_count; i++) {
        const struct fuzz_entry *entry = &fuzz->entries[i];
        put(bytes + fuzz->src_offsets, i, entry->src, false);
        put(bytes + fuzz->dst_offsets, i, entry->dst, false);
        put(bytes + fuzz->sizes, i, entry->size, fuzz->sizes_are_int32);
    }
}
