/* A random case of moves: one move, a batch, or a batch in device memory. */

#ifndef TOOLS_FUZZ_MOVES_H
#define TOOLS_FUZZ_MOVES_H

#include "fuzz_area.h"
#include "fuzz_engines.h"
#include "random.h"

enum {
    FUZZ_DATA_AREAS = 3,
    FUZZ_EXTRA_AREA = FUZZ_DATA_AREAS, /* scratch, or the device arrays */
    FUZZ_MOVE_AREAS = FUZZ_DATA_AREAS + 1,
    FUZZ_MEMORIES_MAX = 6,
    FUZZ_ENTRIES_MAX = 700
};

enum fuzz_moves_kind { FUZZ_SINGLE, FUZZ_BATCH, FUZZ_DEVICE_BATCH };

/* How a memory is named: a window of an area. */
struct fuzz_memory {
    uint32_t area;
    size_t start, size; /* the bytes that calls are given */
    size_t origin;      /* of the sub-buffer, or of the pointer, in the area */
    size_t handle_size; /* of the sub-buffer; 0: the whole buffer is named */
    cl_mem sub;         /* while the case runs */
};

/* Offsets from the start of memories. Device batches have no rows. */
struct fuzz_entry {
    uint32_t src_memory, dst_memory;
    int64_t src, dst, size;
    uint32_t rows, src_stride, dst_stride;
    bool skipped; /* device batches: nothing is moved */
    bool fault;   /* and this is out of range */
};

/* What the cases so far came to. */
struct fuzz_moves_tally {
    uint64_t cases[3]; /* by enum fuzz_moves_kind */
    uint64_t entries, overlapping, bytes;
};

struct fuzz_moves {
    uint64_t seed, number;
    struct random random; /* while it is made */
    enum fuzz_moves_kind kind;
    uint32_t engine, variant; /* variant: enum clmove_variant */
    bool shared;              /* shared virtual memory may be used */
    bool disjoint_only;       /* the variant cannot move within one range */
    uint32_t budget;          /* bytes */
    struct fuzz_area areas[FUZZ_MOVE_AREAS];
    uint32_t data_areas;
    struct fuzz_memory memories[FUZZ_MEMORIES_MAX];
    uint32_t memory_count;
    struct fuzz_entry entries[FUZZ_ENTRIES_MAX];
    uint32_t entry_count;
    uint32_t times;         /* enqueued */
    uint64_t scratch_limit; /* batches; 0: none */
    bool gives_scratch;
    size_t scratch_offset, scratch_size; /* in the extra area, while it runs */
    /* Device batches: places in the extra area. */
    size_t src_offsets, dst_offsets, sizes, faults;
    bool sizes_are_int32, has_faults;
};

/* What may be made. */
struct fuzz_moves_wishes {
    bool singles, batches;
    bool any_variant;
    uint32_t variant; /* unless any_variant */
    bool shared;
};

/* Makes case `number` of a seed, host images included. False when out of
 * memory. fuzz_moves_destroy always. */
bool fuzz_moves_create(struct fuzz_moves *fuzz, uint64_t seed, uint64_t number,
                       const struct fuzz_moves_wishes *wishes);
void fuzz_moves_destroy(struct fuzz_moves *fuzz, const struct session *session);

/* Part of fuzz_moves_create: the ranges, in fuzz_moves_make.c. Sizes the
 * areas. */
void fuzz_moves_make(struct fuzz_moves *fuzz);
/* The arrays of a device batch, written into the extra area's image. */
void fuzz_moves_fill_arrays(struct fuzz_moves *fuzz);

/* Applies the entries once to `expected`. False when out of memory. */
bool fuzz_moves_apply(struct fuzz_moves *fuzz);

void fuzz_moves_describe(const struct fuzz_moves *fuzz, char *text,
                         size_t size);

/* As fuzz_area_compare wants it. */
void fuzz_moves_locate(const void *fuzz, uint32_t area, size_t offset,
                       char *text, size_t size);

/* As fuzz_run. */
enum cli_exit fuzz_moves_run(struct fuzz_moves *fuzz,
                             struct fuzz_engines *engines,
                             struct fuzz_moves_tally *tally, char *failure,
                             size_t failure_size);

#endif
