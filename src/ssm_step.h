/* A step: a layout with the arrays of one kind of step, bound and checked. */

#ifndef SSM_STEP_H
#define SSM_STEP_H

#include "memory.h"
#include "ssm.h"

/* The per-request arrays, in the order of the kernel's parameters. */
enum step_array {
    ARRAY_COMPUTED,
    ARRAY_SCHEDULED,
    ARRAY_DRAFT,
    ARRAY_ACCEPTED_IN,
    ARRAY_ACCEPTED_OUT,
    ARRAY_COLUMN_IN,
    ARRAY_COLUMN_OUT,
    ARRAY_FAULTS,
    ARRAY_COUNT
};

/* Mirrors of the structures in cl/ssm.cl. */
struct device_state {
    cl_ulong base, block_stride, extent, part;
    cl_uint kind, group, bank, block_count;
    cl_uint width, dim, element_size, unused;
};

struct device_group {
    cl_ulong table;
    cl_uint bank, columns, row_stride, conv_width, conv_blocks, temporal_blocks,
        has_null_block;
    cl_int null_block;
};

_Static_assert(sizeof(struct device_state) == 64, "as in cl/ssm.cl");
_Static_assert(sizeof(struct device_group) == 40, "as in cl/ssm.cl");
_Static_assert(sizeof(struct clmove_ssm_fault) == 16, "as in cl/ssm.cl");

/* The mode of a launch, a mask, as in cl/ssm.cl. */
enum { MODE_PRE = 1, MODE_WRITES_RESULTS = 2 };

/* One launch of a call: the states that its banks can reach. */
struct step_launch {
    struct engine_kernel kernel;
    cl_mem states; /* struct device_state [all states] */
    cl_mem tiles;  /* cl_uint2 [tile_count]: state, part */
    uint32_t tile_count;
    cl_uint rows_argument; /* index of `rows`; `mode` follows */
};

struct clmove_ssm_step {
    struct clmove_ssm_layout *layout;
    struct clmove_ssm_step_params params; /* tables is not valid any more */
    pthread_mutex_t mutex;                /* guards the kernels' arguments */
    struct step_launch *launches;
    size_t launch_count;
    cl_mem groups;   /* struct device_group [group_count] */
    cl_mem scratch;  /* int32 [2][slot_count], or NULL */
    cl_kernel aside; /* copies in-place arrays to scratch, or NULL */
    bool has[ARRAY_COUNT];
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

/* Index of the first state's and the first array's view. */
static inline size_t plan_total(const struct step_plan *plan)
{
    return plan->table_count + plan->state_count + ARRAY_COUNT;
}

/* Makes the launches of a step from its plan. */
clmove_status step_make_launches(struct clmove_ssm_step *step,
                                 const struct step_plan *plan);

#endif
