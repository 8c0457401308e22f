/* A step's numbers on the host, section by section as the kernels read them. */

#ifndef MAMBA_BATCH_H
#define MAMBA_BATCH_H

#include "say.h"

#include <stddef.h>
#include <stdint.h>

struct batch_limits {
    size_t rows;    /* requests of a step */
    size_t slots;   /* places that requests live in */
    size_t tokens;  /* of a step */
    size_t columns; /* of the block table */
    int table_by_slot;
};

/* Rows are added one after another; those of a batch by slot are the slots, in
 * their order. */
struct batch {
    struct batch_limits limits;
    int32_t *numbers;
    size_t size; /* int32s */
    size_t rows, tokens, wanted;
};

enum mamba_exit batch_create(struct batch *batch,
                             const struct batch_limits *limits);
void batch_destroy(struct batch *batch);

/* The start of one of the sections of sections.h. */
int32_t *batch_section(const struct batch *batch, int section);

/* No rows. */
void batch_begin(struct batch *batch);

/* The next row. `tokens` [count] are those to compute, of which the last
 * `proposed` are to be verified, and the states after the last 1 + `drafts` of
 * them are kept. A row of no tokens is idle. `computed` and the table's row are
 * set by the caller. */
void batch_add(struct batch *batch, size_t slot, const int32_t *tokens,
               size_t count, size_t proposed, size_t drafts);

#endif
