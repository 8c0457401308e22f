/* Text files that are part of the program. */

#ifndef TOOLS_EMBEDDED_H
#define TOOLS_EMBEDDED_H

#include <stddef.h>

/* As embed.py writes them; the text ends with a NUL. */
struct clmove_embedded {
    const char *name;
    const char *text;
};

extern const struct clmove_embedded tools_models_files[];
extern const struct clmove_embedded tools_kernel_files[];
extern const size_t tools_kernel_file_count;

#endif
