/* Device memory for a move's saved bytes, kept and reused. */

#include "scratch.h"

#include <stdint.h>

static void empty_slot(struct scratch_slot *slot)
{
    /* Commands that still run keep the objects alive. */
    if (slot->buffer != NULL)
        clReleaseMemObject(slot->buffer);
    if (slot->queue != NULL)
        clReleaseCommandQueue(slot->queue);
    if (slot->last != NULL)
        clReleaseEvent(slot->last);
    *slot = (struct scratch_slot){0};
}

/* Whether an out-of-order queue has finished with a slot; a command that failed
 * has finished too. */
static bool is_idle(const struct scratch_slot *slot)
{
    cl_int state = CL_QUEUED;
    if (slot->queue != NULL)
        return false;
    if (slot->last == NULL)
        return true;
    return clGetEventInfo(slot->last, CL_EVENT_COMMAND_EXECUTION_STATUS,
                          sizeof state, &state, NULL) == CL_SUCCESS &&
           state <= CL_COMPLETE;
}

/* The slot of an in-order queue, else one that may be made its own. */
static struct scratch_slot *in_order_slot(struct scratch *scratch,
                                          cl_command_queue queue)
{
    for (unsigned i = 0; i < SCRATCH_SLOTS; i++) {
        if (scratch->slots[i].queue == queue)
            return &scratch->slots[i];
    }
    struct scratch_slot *slot = &scratch->slots[scratch->next];
    scratch->next = (scratch->next + 1) % SCRATCH_SLOTS;
    empty_slot(slot);
    return slot;
}

/* An idle slot, the large enough one if there is; NULL when all are busy. */
static struct scratch_slot *idle_slot(struct scratch *scratch, size_t size)
{
    struct scratch_slot *found = NULL;
    for (unsigned i = 0; i < SCRATCH_SLOTS; i++) {
        struct scratch_slot *slot = &scratch->slots[i];
        if (!is_idle(slot))
            continue;
        if (slot->size >= size)
            return slot;
        found = slot;
    }
    return found;
}

cl_int scratch_take(struct scratch *scratch, cl_context context,
                    cl_command_queue queue, bool in_order, size_t size,
                    struct scratch_lease *lease)
{
    cl_int status = CL_SUCCESS;
    struct scratch_slot *slot =
        in_order ? in_order_slot(scratch, queue) : idle_slot(scratch, size);
    if (slot != NULL && slot->size >= size) {
        *lease = (struct scratch_lease){slot->buffer, slot};
        return CL_SUCCESS;
    }
    /* Powers of two, so that a queue's buffer is not made anew for every
     * slightly larger move. */
    size_t rounded = 64 * 1024;
    while (rounded < size && rounded < SIZE_MAX / 2)
        rounded *= 2;
    if (rounded < size)
        rounded = size;
    cl_mem buffer =
        clCreateBuffer(context, CL_MEM_READ_WRITE, rounded, NULL, &status);
    if (status != CL_SUCCESS)
        return status;
    *lease = (struct scratch_lease){buffer, slot};
    if (slot == NULL)
        return CL_SUCCESS;
    empty_slot(slot);
    slot->buffer = buffer;
    slot->size = rounded;
    if (!in_order)
        return CL_SUCCESS;
    /* A slot without an owner would pass for idle while it is in use. */
    status = clRetainCommandQueue(queue);
    if (status == CL_SUCCESS)
        slot->queue = queue;
    else
        empty_slot(slot);
    return status;
}

void scratch_give(struct scratch_lease *lease, bool in_order, cl_event last)
{
    if (lease->slot == NULL) {
        if (lease->buffer != NULL)
            clReleaseMemObject(lease->buffer);
        return;
    }
    if (in_order || last == NULL)
        return;
    if (clRetainEvent(last) != CL_SUCCESS) {
        empty_slot(lease->slot); /* nobody could tell when it is idle */
        return;
    }
    if (lease->slot->last != NULL)
        clReleaseEvent(lease->slot->last);
    lease->slot->last = last;
}

void scratch_release(struct scratch *scratch)
{
    for (unsigned i = 0; i < SCRATCH_SLOTS; i++)
        empty_slot(&scratch->slots[i]);
}
