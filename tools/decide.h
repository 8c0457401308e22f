/* When states are copied, as an engine decides it on the host. */

#ifndef TOOLS_DECIDE_H
#define TOOLS_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Written from docs/semantics.md, apart from the reference: the two are
 * compared. */

/* What a request's row says. */
struct decide_row {
    int32_t computed, scheduled, draft, accepted;
    int32_t column; /* running column */
};

struct decide_result {
    bool copy;                   /* states move: source, destination, bias */
    bool crossed;                /* post: a boundary was passed */
    int32_t source, destination; /* columns */
    int32_t bias;                /* tokens */
    int32_t boundary;            /* post, if crossed: its token */
    int32_t accepted, column;    /* as they are afterwards */
};

/* scheduled >= 1, draft < scheduled, nothing negative but a new request's
 * column. */
struct decide_result decide_pre(const struct decide_row *row,
                                uint32_t block_size);
struct decide_result decide_post(const struct decide_row *row,
                                 uint32_t block_size);

#endif
