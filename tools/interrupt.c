/* Leaving in good order on Ctrl-C. */

#include "interrupt.h"

#include <signal.h>
#include <string.h>

/* A handler has nowhere else to put it. */
static volatile sig_atomic_t seen;

static void handle(int number)
{
    (void)number;
    seen = 1;
}

void interrupt_watch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = (int)SA_RESETHAND | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

bool interrupt_seen(void)
{
    return seen != 0;
}
