/* The blocks of the state pool: who has them, and what prefixes they hold. */

#include "blocks.h"

#include <stdlib.h>
#include <string.h>

struct block {
    size_t users;
    uint64_t used;   /* clock of the last use */
    int32_t *prefix; /* [prefix_count], or NULL: no known prefix */
    size_t prefix_count;
};

enum mamba_exit blocks_create(struct blocks *blocks, size_t count)
{
    memset(blocks, 0, sizeof *blocks);
    blocks->entries = calloc(count, sizeof *blocks->entries);
    if (!blocks->entries)
        return out_of_memory();
    blocks->count = count;
    return MAMBA_FINE;
}

void blocks_destroy(struct blocks *blocks)
{
    for (size_t i = 0; i < blocks->count; i++)
        free(blocks->entries[i].prefix);
    free(blocks->entries);
    memset(blocks, 0, sizeof *blocks);
}

/* Unnamed blocks first, then those unused for longer. */
static int is_better(const struct block *block, const struct block *best)
{
    if ((block->prefix == NULL) != (best->prefix == NULL))
        return block->prefix == NULL;
    return block->used < best->used;
}

int32_t blocks_take(struct blocks *blocks)
{
    struct block *best = NULL;
    for (size_t i = BLOCKS_NULL + 1; i < blocks->count; i++) {
        struct block *block = &blocks->entries[i];
        if (block->users == 0 && (!best || is_better(block, best)))
            best = block;
    }
    if (!best)
        return BLOCKS_NULL;
    free(best->prefix);
    *best = (struct block){.users = 1, .used = ++blocks->clock};
    return (int32_t)(best - blocks->entries);
}

void blocks_give_back(struct blocks *blocks, int32_t block)
{
    if (block == BLOCKS_NULL)
        return;
    blocks->entries[block].users--;
    blocks->entries[block].used = ++blocks->clock;
}

static struct block *find(const struct blocks *blocks, const int32_t *tokens,
                          size_t count)
{
    for (size_t i = BLOCKS_NULL + 1; i < blocks->count; i++) {
        struct block *block = &blocks->entries[i];
        if (block->prefix && block->prefix_count == count &&
            memcmp(block->prefix, tokens, count * sizeof *tokens) == 0)
            return block;
    }
    return NULL;
}

enum mamba_exit blocks_name(struct blocks *blocks, int32_t block,
                            const int32_t *tokens, size_t count)
{
    struct block *named = &blocks->entries[block];
    if (named->prefix || find(blocks, tokens, count))
        return MAMBA_FINE;
    named->prefix = malloc(count * sizeof *tokens);
    if (!named->prefix)
        return out_of_memory();
    memcpy(named->prefix, tokens, count * sizeof *tokens);
    named->prefix_count = count;
    return MAMBA_FINE;
}

int32_t blocks_find(struct blocks *blocks, const int32_t *tokens, size_t count)
{
    struct block *block = find(blocks, tokens, count);
    if (!block)
        return BLOCKS_NULL;
    block->users++;
    block->used = ++blocks->clock;
    return (int32_t)(block - blocks->entries);
}
