/* Device time of enqueued calls, by events. */

#ifndef TOOLS_DEVICE_CLOCK_H
#define TOOLS_DEVICE_CLOCK_H

#include "session.h"

/* Enqueues an empty command, and returns its event in *mark. A call that is
 * enqueued next takes from the end of that command to its own end: a call of
 * several launches has an event for the last one only. False after printing the
 * failure. The engine must have moves. */
bool device_clock_mark(const struct session *session, cl_event *mark);

/* Microseconds between the ends of two finished commands; negative when the
 * device does not say. */
double device_clock_between(cl_event first, cl_event second);

void device_clock_release(cl_event *event);

#endif
