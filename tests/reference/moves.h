/* The definition of "right" for moves: plain C over host memory. */

#ifndef REFERENCE_MOVES_H
#define REFERENCE_MOVES_H

#include <stddef.h>
#include <stdint.h>

/* Written from docs/semantics.md alone; nothing shared with src/ or cl/. All
 * functions return 1, or 0 when the host is out of memory (nothing is written
 * then). */

/* dst holds what src held, however the two overlap. */
int ref_move(unsigned char *dst, const unsigned char *src, size_t size);

/* `rows` rows of `size` bytes. */
struct ref_region {
    unsigned char *dst;
    const unsigned char *src;
    size_t size, rows, src_stride, dst_stride;
};

/* All sources are read before any destination is written. */
int ref_batch(const struct ref_region *regions, size_t count);

/* Entries as they lie in device memory; offsets count from the bases. */
struct ref_device_batch {
    unsigned char *dst_base;
    const unsigned char *src_base;
    uint64_t dst_size, src_size; /* of the bases */
    const int64_t *src_offsets, *dst_offsets, *sizes;
    int32_t *faults; /* or NULL */
    size_t count;
};

/* Each entry is a move of its own; what lies outside a base is skipped. */
int ref_batch_device(const struct ref_device_batch *batch);

#endif
