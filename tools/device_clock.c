/* Device time of enqueued calls, by events. */

#include "device_clock.h"

bool device_clock_mark(const struct session *session, cl_event *mark)
{
    /* A move of no bytes is a kernel that does nothing. Markers have no times
     * on some devices. */
    struct clmove_memory memory = session_memory(session->mark, 0, 0);
    clmove_status status =
        clmove_enqueue_move(session->engine, &memory, &memory, 0, NULL,
                            session->queue, 0, NULL, mark);
    return !session_failed(status, "an empty command");
}

double device_clock_between(cl_event first, cl_event second)
{
    cl_ulong from = 0, to = 0;
    if (clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_END, sizeof from,
                                &from, NULL) != CL_SUCCESS ||
        clGetEventProfilingInfo(second, CL_PROFILING_COMMAND_END, sizeof to,
                                &to, NULL) != CL_SUCCESS ||
        from == 0 || to < from)
        return -1;
    return (double)(to - from) * 1e-3;
}

void device_clock_release(cl_event *event)
{
    if (*event)
        clReleaseEvent(*event);
    *event = NULL;
}
