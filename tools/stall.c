/* Saying what takes long, when a call into a driver does not come back. */

#include "stall.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STALL_SECONDS = 15 };

/* A handler can only reach what is here already: the sentence, made before. */
static char sentence[160];
static volatile sig_atomic_t sentence_size;

static void handle(int number)
{
    (void)number;
    ssize_t written = write(STDERR_FILENO, sentence, (size_t)sentence_size);
    (void)written; /* nothing could be done about it here */
    alarm(STALL_SECONDS);
}

void stall_watch(const char *what, uint64_t number)
{
    struct sigaction action;
    alarm(0);
    int size =
        snprintf(sentence, sizeof sentence,
                 "clmove: %s %" PRIu64 " has been running for %d s or more\n",
                 what, number, STALL_SECONDS);
    sentence_size = size < (int)sizeof sentence ? size : 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    alarm(STALL_SECONDS);
}

void stall_end(void)
{
    alarm(0);
}
