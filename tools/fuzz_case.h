/* A random case: layouts, tables, numbers; all of it from seed and number. */

#ifndef TOOLS_FUZZ_CASE_H
#define TOOLS_FUZZ_CASE_H

#include "fuzz_area.h"
#include "fuzz_engines.h"
#include "random.h"

#include <reference.h>

enum {
    FUZZ_STATES_MAX = 24,
    FUZZ_GROUPS_MAX = 3,
    FUZZ_LIST_MAX = 60,
    FUZZ_POOL_AREAS_MAX = 20,
    FUZZ_ARRAY_AREAS_MAX = 3,
    FUZZ_AREAS_MAX = FUZZ_POOL_AREAS_MAX + FUZZ_ARRAY_AREAS_MAX
};

/* Which call is made. */
enum fuzz_call {
    FUZZ_PRE,
    FUZZ_POST,
    FUZZ_PRE_COPY,
    FUZZ_INDICES,
    FUZZ_COPY, /* from here on the host lists blocks */
    FUZZ_ZERO,
    FUZZ_PERMUTE,
    FUZZ_CALLS
};

/* How many buffers states and tables lie in. */
enum fuzz_buffers {
    FUZZ_ONE_BUFFER, /* one for the states, one for everything else */
    FUZZ_SOME_BUFFERS,
    FUZZ_MANY_BUFFERS, /* more than 14 */
    FUZZ_BUFFERS
};

/* A place in an area. */
struct fuzz_place {
    uint32_t area;
    size_t offset, size;
};

struct fuzz_state {
    struct clmove_ssm_state described; /* all but the memory */
    struct fuzz_place place;           /* first to last byte */
    uint64_t extent;                   /* of a block */
};

enum fuzz_array {
    FUZZ_SLOT_OF,
    FUZZ_COMPUTED,
    FUZZ_SCHEDULED,
    FUZZ_QUERY_STARTS,
    FUZZ_DRAFT,
    FUZZ_NOW,
    FUZZ_ACCEPTED_IN,
    FUZZ_ACCEPTED_OUT,
    FUZZ_COLUMN_IN,
    FUZZ_COLUMN_OUT,
    FUZZ_COPY_SOURCE,
    FUZZ_COPY_DESTINATION,
    FUZZ_COPY_BIAS,
    FUZZ_INDICES_OUT,
    FUZZ_FAULTS,
    FUZZ_ARRAYS
};

/* What the host lists, by call. */
struct fuzz_list {
    uint32_t count;
    uint32_t group;                               /* of zero, permute */
    struct clmove_ssm_copy copies[FUZZ_LIST_MAX]; /* of copy */
    int32_t from[FUZZ_LIST_MAX];                  /* of permute */
    int32_t to[FUZZ_LIST_MAX];                    /* of zero, permute */
};

struct fuzz_case {
    uint64_t seed, number;
    struct random random; /* while it is made */
    enum fuzz_call call;
    uint32_t engine;
    enum fuzz_buffers buffers;
    struct fuzz_area areas[FUZZ_AREAS_MAX];
    uint32_t pool_areas, area_count;
    struct fuzz_state states[FUZZ_STATES_MAX];
    struct fuzz_state others[FUZZ_STATES_MAX]; /* the second layout, if any */
    uint32_t state_count;
    bool two_layouts, others_first; /* copy: between two, from the second */
    bool packed;                    /* the second is a packed one */
    struct fuzz_place packed_place;
    struct clmove_ssm_group groups[FUZZ_GROUPS_MAX];
    uint32_t group_count;
    bool groups_share; /* groups have blocks in one pool */
    struct fuzz_place tables[FUZZ_GROUPS_MAX];
    uint32_t columns[FUZZ_GROUPS_MAX], row_stride[FUZZ_GROUPS_MAX];
    struct fuzz_place arrays[FUZZ_ARRAYS]; /* size 0: absent */
    uint32_t flags;                        /* enum clmove_ssm_step_flag */
    bool named;                            /* rows name their slots */
    bool starts, now;       /* query starts, tokens computed now are given */
    uint32_t slots_per_row; /* of indices */
    uint32_t tokens_per_block, rows, max_rows, slot_count;
    uint32_t blocks_per_row; /* of its own, in each group */
    uint32_t block_count;    /* of every state, at least */
    uint32_t width;          /* of the widest window */
    struct fuzz_list list;
};

/* Makes case `number` of a seed, host images included; `shared` allows shared
 * virtual memory. False when out of memory. fuzz_case_destroy always. */
bool fuzz_case_create(struct fuzz_case *fuzz, uint64_t seed, uint64_t number,
                      bool shared);
void fuzz_case_destroy(struct fuzz_case *fuzz, const struct session *session);

/* Parts of fuzz_case_create. In fuzz_case.c: room for `size` bytes at the end
 * of an area; a tensor of its own. In fuzz_arrays.c: the call; its arrays and
 * tables. In fuzz_rows.c: the numbers and tables; the
 * block ids of a group in random order, for free(), of which the third may be
 * the null block. In fuzz_lists.c: the second layout; the list. */
struct fuzz_place fuzz_place_in(struct fuzz_case *fuzz, uint32_t index,
                                size_t size, size_t alignment);
void fuzz_place_alone(struct fuzz_case *fuzz, struct fuzz_state *state,
                      uint32_t area);
void fuzz_arrays_choose(struct fuzz_case *fuzz);
void fuzz_arrays_make(struct fuzz_case *fuzz);
bool fuzz_rows_fill(struct fuzz_case *fuzz);
int32_t *fuzz_shuffled_ids(struct fuzz_case *fuzz, uint32_t group,
                           uint32_t *count);
void fuzz_lists_make_others(struct fuzz_case *fuzz);
bool fuzz_lists_fill(struct fuzz_case *fuzz);

/* The case as the reference sees it: inputs from `before`, results and states
 * in `expected`. */
struct fuzz_reference {
    struct ref_state states[FUZZ_STATES_MAX], others[FUZZ_STATES_MAX];
    int32_t *indices; /* results */
    struct ref_group groups[FUZZ_GROUPS_MAX];
    struct ref_table tables[FUZZ_GROUPS_MAX];
    struct ref_step step;
};
void fuzz_case_reference(const struct fuzz_case *fuzz,
                         struct fuzz_reference *reference);

/* Whether the call takes a step, rather than a list of the host's. */
bool fuzz_case_has_step(const struct fuzz_case *fuzz);

/* "post-process, 5 states in 3 buffers, ..." */
void fuzz_case_describe(const struct fuzz_case *fuzz, char *text, size_t size);

/* What lies at an offset of an area: "state 3 (ds), block 7, byte 12". As
 * fuzz_area_compare wants it. */
void fuzz_case_locate(const void *fuzz, uint32_t area, size_t offset,
                      char *text, size_t size);

#endif
