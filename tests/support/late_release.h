/* Events that live longer than their owner wants. */

#ifndef LATE_RELEASE_H
#define LATE_RELEASE_H

/* PoCL 3.1 takes an event that waits for a failing one, and that nobody holds
 * any more, for one that is still there, and aborts. A program that is linked
 * with this file has a clReleaseEvent that can hold events back meanwhile, the
 * library's calls included. A source of the program, not of a library: it
 * stands in for OpenCL's own function. */

/* From here on, releases are only noted. */
void late_release_begin(void);

/* They are made now. Returns their number. */
int late_release_end(void);

#endif
