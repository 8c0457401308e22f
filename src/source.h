/* The text of the kernels: built in, or from a folder. */

#ifndef SOURCE_H
#define SOURCE_H

#include "check.h"

#include <stdbool.h>
#include <stddef.h>

struct clmove_embedded {
    const char *name;
    const char *text;
};

/* Made from cl/ when the library is built. */
extern const struct clmove_embedded clmove_kernel_files[];
extern const size_t clmove_kernel_file_count;

/* common.cl and the files whose names begin with `part`, each behind a #line of
 * its own.
 * `directory` NULL: the built-in text. *text is freed by the caller. */
clmove_status source_load(const struct clmove_log *log, const char *directory,
                          const char *part, char **text);

#endif
