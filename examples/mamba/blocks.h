/* The blocks of the state pool: who has them, and what prefixes they hold. */

#ifndef MAMBA_BLOCKS_H
#define MAMBA_BLOCKS_H

#include "say.h"

#include <stddef.h>
#include <stdint.h>

/* Block 0 is the null block and belongs to nobody. A block that holds the state
 * after a known prefix stays findable after its last user gave it back, until
 * its room is needed: the one unused for the longest time goes first. */
struct blocks {
    struct block *entries; /* [count] */
    size_t count;
    uint64_t clock; /* of uses */
};

enum { BLOCKS_NULL = 0 };

enum mamba_exit blocks_create(struct blocks *blocks, size_t count);
void blocks_destroy(struct blocks *blocks);

/* A block of one's own, with one user. Never fails while at most count - 1 are
 * in use; else returns BLOCKS_NULL. */
int32_t blocks_take(struct blocks *blocks);

/* One user less. The null block is fine. */
void blocks_give_back(struct blocks *blocks, int32_t block);

/* The block holds the state after these tokens, and nobody writes it any more.
 * Another block that does so already keeps the name. Tokens are copied. */
enum mamba_exit blocks_name(struct blocks *blocks, int32_t block,
                            const int32_t *tokens, size_t count);

/* A block with the state after exactly these tokens, with one user more, or
 * BLOCKS_NULL. */
int32_t blocks_find(struct blocks *blocks, const int32_t *tokens, size_t count);

#endif
