/* The checks that give a call its status and its sentence. */

#ifndef CHECK_H
#define CHECK_H

#include <clmove/log.h>
#include <clmove/memory.h>
#include <clmove/status.h>

/* Formats a sentence for the callback, if there is one; returns `status`. */
__attribute__((format(printf, 4, 5))) clmove_status
log_message(const struct clmove_log *log, int level, clmove_status status,
            const char *format, ...);

/* Both expect `const struct clmove_log *log`, `clmove_status status` and a
 * label `out` where they stand. */
#define CHECK(condition, code, ...)                                            \
    do {                                                                       \
        if (!(condition)) {                                                    \
            status = log_message(log, CLMOVE_LOG_ERROR, (code), __VA_ARGS__);  \
            goto out;                                                          \
        }                                                                      \
    } while (0)

#define CHECK_CL(call)                                                         \
    do {                                                                       \
        status = (call);                                                       \
        CHECK(status == CL_SUCCESS, status, "%s failed with %s", #call,        \
              clmove_status_name(status));                                     \
    } while (0)

/* For a call that has said why it failed. */
#define CHECK_STATUS(call)                                                     \
    do {                                                                       \
        status = (call);                                                       \
        if (status != CLMOVE_SUCCESS)                                          \
            goto out;                                                          \
    } while (0)

#define CHECK_MEMORY(pointer)                                                  \
    CHECK((pointer) != NULL, CL_OUT_OF_HOST_MEMORY, "out of host memory")

#endif
