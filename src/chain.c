/* The commands of one call, each behind the one before it. */

#include "chain.h"

cl_int chain_prepare(struct chain *chain, bool wants_event)
{
    cl_command_queue_properties properties = 0;
    const cl_int status =
        clGetCommandQueueInfo(chain->queue, CL_QUEUE_PROPERTIES,
                              sizeof properties, &properties, NULL);
    chain->in_order =
        status == CL_SUCCESS &&
        (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
    chain->loose = chain->in_order && !wants_event;
    return status;
}

void chain_add(struct chain *chain, cl_event event)
{
    if (chain->last != NULL)
        clReleaseEvent(chain->last);
    chain->last = event;
    chain->enqueued++;
}

cl_int chain_kernel(struct chain *chain, cl_kernel kernel, size_t group_count,
                    size_t group_size, bool wants_event)
{
    const size_t global = group_count * group_size;
    cl_event event = NULL;
    const cl_int status = clEnqueueNDRangeKernel(
        chain->queue, kernel, 1, NULL, &global, &group_size,
        chain_wait_count(chain), chain_wait_list(chain),
        wants_event && !chain->loose ? &event : NULL);
    if (status == CL_SUCCESS)
        chain_add(chain, event);
    return status;
}

clmove_status chain_finish(struct chain *chain, const struct clmove_log *log,
                           cl_int result, cl_event *event)
{
    clmove_status status = CLMOVE_SUCCESS;
    if (event != NULL && chain->last != NULL) {
        *event = chain->last;
        chain->last = NULL;
    }
    CHECK(result == CL_SUCCESS || chain->enqueued > 0, result,
          "enqueueing failed with %s, and nothing was enqueued",
          clmove_status_name(result));
    CHECK(result == CL_SUCCESS, CLMOVE_PARTLY_ENQUEUED,
          "enqueueing failed with %s after %u commands",
          clmove_status_name(result), chain->enqueued);
out:
    if (chain->last != NULL)
        clReleaseEvent(chain->last);
    chain->last = NULL;
    return status;
}
