/* A step: a layout with the arrays of one kind of step, bound and checked. */

#ifndef SSM_STEP_H
#define SSM_STEP_H

#include "memory.h"
#include "ssm.h"
#include "ssm_tiles.h"

/* The per-request arrays, as in cl/ssm_decide.cl. */
enum step_array {
    ARRAY_SLOT_OF,
    ARRAY_COMPUTED,
    ARRAY_SCHEDULED,
    ARRAY_QUERY_STARTS,
    ARRAY_DRAFT,
    ARRAY_NOW_COMPUTED,
    ARRAY_ACCEPTED_IN,
    ARRAY_ACCEPTED_OUT,
    ARRAY_COLUMN_IN,
    ARRAY_COLUMN_OUT,
    ARRAY_COPY_SOURCE,
    ARRAY_COPY_DESTINATION,
    ARRAY_COPY_BIAS,
    ARRAY_FAULTS,
    ARRAY_COUNT
};

/* Mirror of struct ssm_group in cl/ssm_decide.cl. */
struct device_group {
    cl_ulong table;
    cl_uint bank, columns, row_stride, conv_width, conv_blocks, temporal_blocks,
        has_null_block;
    cl_int null_block;
};

/* Mirrors of struct ssm_array and struct ssm_description there; the groups
 * follow the latter. */
struct device_array {
    cl_ulong offset;
    cl_uint bank, given;
};
struct device_description {
    struct device_array arrays[ARRAY_COUNT];
    cl_uint slot_count, tokens_per_block, state_count, group_count;
};

/* Mirror of struct ssm_aside in cl/ssm.cl. */
struct device_aside {
    cl_ulong accepted, column, slot_count;
};

/* Work-items in its groups, which copy a slot each. */
enum { ASIDE_GROUP = 64 };

_Static_assert(sizeof(struct device_aside) == 24, "as in cl/ssm.cl");
_Static_assert(sizeof(struct device_description) == 240,
               "as in cl/ssm_decide.cl");
_Static_assert(sizeof(struct device_group) == 40, "as in cl/ssm_decide.cl");
_Static_assert(sizeof(struct clmove_ssm_fault) == 16, "as in cl/ssm_decide.cl");

/* The mode of a launch, a mask, as in cl/ssm_decide.cl. */
enum {
    MODE_PRE = 1,
    MODE_WRITES_RESULTS = 2,
    MODE_POST = 4,
    MODE_COPY = 8,
    MODE_TABLES_BY_SLOT = 16,
    MODE_KEEPS_ACCEPTED = 32,
    MODE_SKIPS_TEMPORAL = 64
};

/* One launch of a call: the states that its banks can reach. */
struct step_launch {
    struct engine_kernel kernel;
    struct tile_launch tiles;
    cl_uint rows_argument;          /* index of `rows`; `mode` follows */
    cl_uint given_rows, given_mode; /* what the kernel has; no rows: nothing */
};

struct clmove_ssm_step {
    struct clmove_ssm_layout *layout;
    struct clmove_ssm_step_params params; /* tables is not valid any more */
    pthread_mutex_t mutex;                /* guards the kernels' arguments */
    struct step_launch *launches;
    size_t launch_count;
    cl_mem description;         /* struct device_description, and groups */
    cl_mem scratch;             /* int32 [2][slot_count], or NULL */
    struct engine_kernel aside; /* copies in-place arrays to scratch, or none */
    struct engine_kernel indices[2]; /* look up blocks, for a buffer, for SVM */
    cl_uint indices_out_argument;    /* index of `out`; the numbers follow */
    bool has[ARRAY_COUNT];
    /* Tables, states and arrays, for what a call is given later. */
    struct memory_view *views;
    size_t view_count, table_count;
    size_t retained_count; /* of the caller's buffers */
    cl_mem *retained;
};

/* Everything that one launch uses, looked up: tables, then states, then
 * arrays. */
struct step_plan {
    const struct clmove_ssm_step *step;
    size_t table_count, state_count;
    struct clmove_ssm_table *tables; /* row strides filled in */
    struct memory_view *views;
    struct memory_binding *bindings;
    struct memory_view *arrays; /* within views; size 0 when absent */
    struct memory_binding *array_bindings;
    bool accepted_in_place, column_in_place;
};

static inline size_t plan_total(const struct step_plan *plan)
{
    return plan->table_count + plan->state_count + ARRAY_COUNT;
}

/* The name of an array in clmove_ssm_step_params. */
const char *step_array_name(enum step_array array);

/* Whether a view shares a byte with a block of a state. */
bool step_overlaps_state(const struct clmove_ssm_layout *layout, size_t state,
                         const struct memory_view *view);

/* Makes the launches of a step from its plan. */
clmove_status step_make_launches(struct clmove_ssm_step *step,
                                 const struct step_plan *plan);

#endif
