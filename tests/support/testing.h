/* cmocka, with the headers that it needs before it; how tests wait. */

#ifndef TESTING_H
#define TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

/* Less than a second. */
static inline void sleep_milliseconds(long milliseconds)
{
    const struct timespec time = {0, milliseconds * 1000000};

    nanosleep(&time, NULL);
}

#endif
