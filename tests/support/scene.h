/* The description of one state-copy call: states, tables, numbers. */

#ifndef SCENE_H
#define SCENE_H

#include "reference.h"

#include <stdarg.h>

enum {
    SCENE_MAX_STATES = 128,
    SCENE_MAX_POOLS = 128,
    SCENE_MAX_GROUPS = 72,
    SCENE_MAX_ROWS = 2600
};

enum scene_operation { SCENE_PRE, SCENE_POST, SCENE_PRE_COPY, SCENE_INDICES };

enum scene_pool_kind {
    SCENE_BUFFER,
    SCENE_SUB_BUFFER,  /* a window of another pool's buffer */
    SCENE_SVM,         /* skip the test first where there is none */
    SCENE_HOST_POINTER /* over host memory at an odd address */
};

/* One allocation: `lead` guard bytes, the states, `tail` guard bytes. */
struct scene_pool {
    enum scene_pool_kind kind;
    uint32_t parent; /* sub-buffer: the pool it is a window of */
    uint64_t origin; /* sub-buffer: bytes from its parent's start */
    uint64_t lead, tail;
};

/* Zero strides: the natural ones. */
struct scene_state {
    int kind; /* REF_CONV_SD, ... */
    uint32_t group, block_count, width, dim, element_size;
    uint64_t block_stride, row_stride, size;
    uint32_t pool;
    uint64_t offset; /* from the pool's lead; SCENE_NEXT: after the states that
                        were added before, at a multiple of 16 */
};

#define SCENE_NEXT UINT64_MAX

struct scene_group {
    struct ref_group null;
    uint32_t columns, row_stride;
    int32_t *entries; /* [SCENE_MAX_ROWS][row_stride], -1 unless set */
};

struct scene_row {
    int32_t computed, scheduled, draft, accepted, column;
};

/* Further numbers of a row, for steps that use slots. */
struct scene_extra {
    int32_t slot; /* what the row's entry in slot_of is */
    int32_t now;  /* with now_is_given */
    int32_t source, destination, bias;
    int now_is_given; /* else N = c + s - d + a - 1 */
};

/* What a step is given for post-process in place of c, s and d. */
enum scene_now {
    SCENE_NOW_ABSENT,
    SCENE_NOW_ALONE,
    SCENE_NOW_BESIDE /* c, s and d are there, and of no use: all negative */
};

struct scene {
    char test[64], detail[160];
    uint64_t seed;
    struct scene_pool pools[SCENE_MAX_POOLS];
    uint32_t pool_count;
    struct scene_state states[SCENE_MAX_STATES];
    uint32_t state_count;
    struct scene_group groups[SCENE_MAX_GROUPS];
    uint32_t group_count;
    struct scene_row rows[SCENE_MAX_ROWS];
    uint32_t row_count;
    uint32_t max_rows;    /* 0: row_count */
    uint32_t extra_slots; /* slots outside the batch */
    struct scene_extra extras[SCENE_MAX_ROWS];
    int uses_slots;        /* slot_of is given, from the extras */
    int tables_by_slot;    /* the tables' entries above still are by row */
    int uses_starts;       /* query_starts in place of scheduled */
    const int32_t *starts; /* [max_rows + 1], or NULL: from the rows */
    enum scene_now now;    /* now_computed */
    int uses_copies;       /* copy_source, copy_destination, copy_bias */
    int keep_accepted, skip_temporal;
    uint32_t slots_per_row; /* of SCENE_INDICES; 0: that is not called */
    uint32_t tokens_per_block;
    int accepted_in_place, column_in_place;
    int no_faults;      /* no fault array */
    int packed_arrays;  /* tables and arrays share one buffer */
    int shared_tables;  /* all tables share one buffer */
    int rest_of_memory; /* states say size 0 */
};

/* The test's name is __func__, the rest says which case of it. The seed is
 * a hash of both. */
void scene_init(struct scene *scene, const char *test, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void scene_clear(struct scene *scene);

/* Returns the pool's index. */
uint32_t scene_add_pool(struct scene *scene, enum scene_pool_kind kind);

/* Returns the group's index. The table's rows are `columns` + 3 apart. */
uint32_t scene_add_group(struct scene *scene, uint32_t columns);

/* States go to group 0 of pool `pool`, unless the caller changes that. */
struct scene_state *scene_add_conv(struct scene *scene, uint32_t pool, int kind,
                                   uint32_t block_count, uint32_t width,
                                   uint32_t dim, uint32_t element_size);
struct scene_state *scene_add_temporal(struct scene *scene, uint32_t pool,
                                       uint32_t block_count, uint64_t size);

/* Returns the row's index. */
uint32_t scene_add_row(struct scene *scene, int32_t computed, int32_t scheduled,
                       int32_t draft, int32_t accepted, int32_t column);

/* Sets the first entries of a row of a table. */
void scene_set_entries(struct scene *scene, uint32_t group, uint32_t row,
                       const int32_t *entries, size_t count);

/* Row's slot, with uses_slots. */
void scene_set_slot(struct scene *scene, uint32_t row, int32_t slot);

/* Row's copy, for SCENE_PRE_COPY. */
void scene_set_copy(struct scene *scene, uint32_t row, int32_t source,
                    int32_t destination, int32_t bias);

/* Rows of a step at most; slots that there are. */
uint32_t scene_max_rows(const struct scene *scene);
uint32_t scene_slot_count(const struct scene *scene);

/* The slot whose numbers a row has, or -1 when it names none. */
int64_t scene_slot(const struct scene *scene, uint32_t row);

#define ENTRIES(...)                                                           \
    (const int32_t[]){__VA_ARGS__},                                            \
        sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)

/* Every row gets `count` blocks of its own in every table, from `first` up. */
void scene_own_blocks(struct scene *scene, uint32_t first, uint32_t count);

/* Bytes of one block of a state, from its first to its last. */
uint64_t scene_block_extent(const struct scene_state *state);
uint64_t scene_block_stride(const struct scene_state *state);
uint64_t scene_row_stride(const struct scene_state *state);

/* From the state's first byte to its last block's last one. */
uint64_t scene_state_extent(const struct scene_state *state);

/* Gives every SCENE_NEXT state its place. */
void scene_place_states(struct scene *scene);

/* Bytes of a pool's allocation, guards included. */
uint64_t scene_pool_size(const struct scene *scene, uint32_t pool);

#endif
