/* The function of OpenCL that one of a test's own stands in for. */

#ifndef NEXT_FUNCTION_H
#define NEXT_FUNCTION_H

/* Include this first, before any system header, for RTLD_NEXT. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* *function = the next one of that name; a cast is not ISO C. */
static inline void find_next(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found) {
        abort();
    }
    memcpy(function, &found, sizeof(found));
}

#endif
