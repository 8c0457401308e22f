/* Saying what takes long, when a call into a driver does not come back. */

#ifndef TOOLS_STALL_H
#define TOOLS_STALL_H

#include <stdint.h>

/* From now on a sentence with `what` ("case") and its number appears on stderr
 * every 15 seconds, until the next call. */
void stall_watch(const char *what, uint64_t number);

void stall_end(void);

#endif
