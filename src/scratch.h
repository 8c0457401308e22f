/* Device memory for a move's saved bytes, kept and reused. */

#ifndef SCRATCH_H
#define SCRATCH_H

#include "check.h"

#include <stdbool.h>

/* Buffers that are kept; calls beyond them get one that lives for the call. */
enum { SCRATCH_SLOTS = 8 };

/* A kept buffer belongs to an in-order queue, whose commands use it one after
 * another, or it was last used by an out-of-order queue until `last` ends. */
struct scratch_slot {
    cl_mem buffer;
    size_t size;
    cl_command_queue queue; /* in-order owner, retained, or NULL */
    cl_event last;          /* or NULL */
};

struct scratch {
    struct scratch_slot slots[SCRATCH_SLOTS];
    unsigned next; /* slot that gives way to a new queue */
};

/* What a call may use: `slot` NULL says that the buffer is the call's own. */
struct scratch_lease {
    cl_mem buffer;
    struct scratch_slot *slot;
};

/* Finds or makes `size` bytes that no unfinished command uses, other than
 * earlier commands of the same in-order queue. Not thread-safe. */
cl_int scratch_take(struct scratch *scratch, cl_context context,
                    cl_command_queue queue, bool in_order, size_t size,
                    struct scratch_lease *lease);

/* Ends a lease; `last` is the last command that uses it, or NULL. */
void scratch_give(struct scratch_lease *lease, bool in_order, cl_event last);

void scratch_release(struct scratch *scratch);

#endif
