/* What the program says when something is wrong, and how it leaves. */

#include "say.h"

#include <stdarg.h>
#include <stdio.h>

void say(const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    fputs("clmove-mamba: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

bool failed(clmove_status status, const char *what)
{
    if (status == CLMOVE_SUCCESS)
        return false;
    say("%s failed: %s (%d)", what, clmove_status_name(status), status);
    return true;
}

enum mamba_exit check(clmove_status status, const char *what)
{
    return failed(status, what) ? MAMBA_OPENCL_FAILED : MAMBA_FINE;
}

enum mamba_exit out_of_memory(void)
{
    say("out of memory");
    return MAMBA_BAD_INPUT;
}
