/* A batch: a plan with what its launches are given. */

#ifndef BATCH_H
#define BATCH_H

#include "bind.h"
#include "engine.h"
#include "plan.h"

enum { BATCH_BANKS = 64 };

struct clmove_batch {
    struct clmove_engine *engine; /* NULL: it can be described, no more */
    struct clmove_log log;
    struct plan plan; /* jobs are gone where there are buffers of them */
    size_t memory_count;
    struct memory_view *views;       /* handles are retained */
    struct memory_binding *bindings; /* by the plan's numbers */
    pthread_mutex_t mutex;           /* guards the kernel's arguments */
    cl_program program;              /* the engine keeps it */
    struct engine_kernel kernel;     /* none: nothing moves, or mixed */
    bool mixed;                      /* buffers and SVM: a kernel per launch */
    uint32_t bank_count;
    uint32_t bound[BATCH_BANKS];     /* the binding that a bank's argument is */
    const struct plan_launch *given; /* whose numbers the kernel has, or NULL */
    cl_mem lists;                    /* families, small moves, chunks */
    uint64_t first_small, first_chunk; /* bytes from the lists' start */
    cl_mem own_scratch;                /* or NULL */
    cl_mem given_scratch;              /* retained, or NULL */
    struct memory_binding scratch;
};

/* The kernel's arguments behind the banks. */
enum { ARGUMENT_SCRATCH, ARGUMENT_LISTS, ARGUMENT_LAUNCH };

/* Mirror of struct batch_launch in cl/move.cl. */
struct device_launch {
    cl_ulong smalls, chunks, slice;
};

_Static_assert(sizeof(struct device_launch) == 24, "as in cl/move.cl");

/* Makes a kernel with all arguments but the banks and the launch's numbers. */
clmove_status batch_make_kernel(const struct clmove_batch *batch,
                                struct engine_kernel *made);

#endif
