/* A progress bar with the time left, on a terminal only. */

#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdint.h>

/* One bar at a time, drawn on stderr. When stderr is no terminal every call
 * does nothing. */

/* `what` ("replay") and `unit` ("steps") must outlive the bar. */
void progress_begin(const char *what, const char *unit, uint64_t total);

/* `done` of the total; draws at most a few times a second. */
void progress_update(uint64_t done);

/* The same where the total is a time: `done` units after part / whole of the
 * time. */
void progress_update_timed(uint64_t done, double part, double whole);

/* Removes the line; a later update draws it again. */
void progress_clear(void);

/* Removes the line for good. */
void progress_end(void);

/* Seconds of a clock that never goes backwards. */
double progress_seconds(void);

#endif
