/* The commands of one call, each behind the one before it. */

#ifndef CHAIN_H
#define CHAIN_H

#include "check.h"

#include <stdbool.h>
#include <stdint.h>

/* One call on its way into the queue. In an in-order queue each command waits
 * for the call's own wait list, and follows the one before it by the queue's
 * order. In an out-of-order queue the first waits for that list, and each other
 * one for the event of the one before it. So a wait list that fails stops them
 * all; in an in-order queue such events would not do: Intel's CPU runtime
 * reports the command that it stopped as complete, and runs the next. */
struct chain {
    cl_command_queue queue;
    cl_uint wait_count;
    const cl_event *wait_list;
    cl_event last;     /* of the command enqueued last, or NULL */
    uint32_t enqueued; /* commands */
    bool in_order;     /* the queue, as chain_prepare found it */
    bool loose;        /* no events between commands */
};

/* For a call of several commands. An event between two of them costs the host a
 * microsecond, and only an out-of-order queue needs it, or the caller, who gets
 * that of the last command that could be enqueued. */
cl_int chain_prepare(struct chain *chain, bool wants_event);

/* What the next command waits for. */
static inline cl_uint chain_wait_count(const struct chain *chain)
{
    return chain->enqueued == 0 || chain->in_order ? chain->wait_count : 1;
}

static inline const cl_event *chain_wait_list(const struct chain *chain)
{
    return chain->enqueued == 0 || chain->in_order ? chain->wait_list
                                                   : &chain->last;
}

/* Takes in a command that was enqueued; `event` may be NULL for the last. */
void chain_add(struct chain *chain, cl_event event);

/* Enqueues a kernel. Without `wants_event` no command may follow. */
cl_int chain_kernel(struct chain *chain, cl_kernel kernel, size_t group_count,
                    size_t group_size, bool wants_event);

/* The status of the whole call, whose last OpenCL code is `result`. Gives the
 * last event to *event, if that is wanted and there is one. */
clmove_status chain_finish(struct chain *chain, const struct clmove_log *log,
                           cl_int result, cl_event *event);

#endif
