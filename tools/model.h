/* The shapes of published models' recurrent states. */

#ifndef TOOLS_MODEL_H
#define TOOLS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

struct model {
    char name[64];
    uint32_t layers;           /* recurrent ones */
    uint32_t taps;             /* of the short convolution, at least 2 */
    uint32_t conv_dim;         /* channels */
    uint32_t conv_element;     /* bytes */
    uint64_t temporal_outer;   /* outermost dimension; 0: no temporal state */
    uint64_t temporal_inner;   /* product of the other dimensions */
    uint32_t temporal_element; /* bytes */
};

/* Finds a model in a table file, or with path NULL in the built-in one. The
 * whole table is checked first. Prints what is wrong, an unknown name together
 * with the known ones, and returns false. */
bool model_find(struct model *model, const char *path, const char *name);

#endif
