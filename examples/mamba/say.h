/* What the program says when something is wrong, and how it leaves. */

#ifndef MAMBA_SAY_H
#define MAMBA_SAY_H

#include <clmove/status.h>
#include <stdbool.h>

/* What functions that can fail return, and what the program exits with. */
enum mamba_exit {
    MAMBA_FINE = 0,
    MAMBA_DIFFERS = 1,
    MAMBA_BAD_INPUT = 2,
    MAMBA_NO_DEVICE = 3,
    MAMBA_OPENCL_FAILED = 4,
    MAMBA_INTERRUPTED = 130
};

/* "clmove-mamba: SENTENCE" on stderr. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True after saying "WHAT failed: CODE", for a code other than success. */
bool failed(clmove_status status, const char *what);

/* MAMBA_FINE, or MAMBA_OPENCL_FAILED after saying so. */
enum mamba_exit check(clmove_status status, const char *what);

/* MAMBA_BAD_INPUT after saying so. */
enum mamba_exit out_of_memory(void);

/* Leaves the function with the code of a call that was not fine. */
#define TRY(call)                                                              \
    do {                                                                       \
        const enum mamba_exit code_ = (call);                                  \
        if (code_ != MAMBA_FINE)                                               \
            return code_;                                                      \
    } while (0)

#endif
