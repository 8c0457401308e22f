/* Sends sentences to the host's log callback. */

#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

clmove_status log_message(const struct clmove_log *log, int level,
                          clmove_status status, const char *format, ...)
{
    if (log == NULL || log->callback == NULL)
        return status;
    char small[512];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(small, sizeof small, format, arguments);
    va_end(arguments);
    char *text = small;
    if (size >= (int)sizeof small) { /* a build log: any length */
        char *large = malloc((size_t)size + 1);
        if (large != NULL) {
            va_start(arguments, format);
            vsnprintf(large, (size_t)size + 1, format, arguments);
            va_end(arguments);
            text = large;
        }
    }
    log->callback(log->user, level, text);
    if (text != small)
        free(text);
    return status;
}
