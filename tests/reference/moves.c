/* The definition of "right" for moves: plain C over host memory. */

#include "moves.h"

#include <stdlib.h>
#include <string.h>

int ref_move(unsigned char *dst, const unsigned char *src, size_t size)
{
    unsigned char *before = malloc(size + 1);

    if (!before) {
        return 0;
    }
    memcpy(before, src, size);
    memcpy(dst, before, size);
    free(before);
    return 1;
}

int ref_batch(const struct ref_region *regions, size_t count)
{
    size_t total = 0;
    unsigned char *before, *at;

    for (size_t i = 0; i < count; i++) {
        total += regions[i].size * regions[i].rows;
    }
    before = at = malloc(total + 1);
    if (!before) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t row = 0; row < regions[i].rows; row++) {
            memcpy(at, regions[i].src + row * regions[i].src_stride,
                   regions[i].size);
            at += regions[i].size;
        }
    }
    at = before;
    for (size_t i = 0; i < count; i++) {
        for (size_t row = 0; row < regions[i].rows; row++) {
            memcpy(regions[i].dst + row * regions[i].dst_stride, at,
                   regions[i].size);
            at += regions[i].size;
        }
    }
    free(before);
    return 1;
}

/* Whether [offset, offset + size) lies in [0, bound). */
static int lies_in(int64_t offset, int64_t size, uint64_t bound)
{
    return offset >= 0 && size >= 0 && (uint64_t)offset <= bound &&
           (uint64_t)size <= bound - (uint64_t)offset;
}

int ref_batch_device(const struct ref_device_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const int64_t src = batch->src_offsets[i];
        const int64_t dst = batch->dst_offsets[i];
        const int64_t size = batch->sizes[i];
        if (size == 0 || src == -1 || dst == -1) {
            continue;
        }
        if (!lies_in(src, size, batch->src_size) ||
            !lies_in(dst, size, batch->dst_size)) {
            if (batch->faults) {
                batch->faults[i] = 1;
            }
            continue;
        }
        if (!ref_move(batch->dst_base + dst, batch->src_base + src,
                      (size_t)size)) {
            return 0;
        }
    }
    return 1;
}
