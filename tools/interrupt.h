/* Leaving in good order on Ctrl-C. */

#ifndef TOOLS_INTERRUPT_H
#define TOOLS_INTERRUPT_H

#include <stdbool.h>

/* From now on the first SIGINT only sets a flag; a second one ends the process
 * as usual. */
void interrupt_watch(void);

bool interrupt_seen(void);

#endif
