/* A step's numbers on the host, section by section as the kernels read them. */

#include "batch.h"

#include "sections.h"

#include <stdlib.h>
#include <string.h>

enum mamba_exit batch_create(struct batch *batch,
                             const struct batch_limits *limits)
{
    const size_t rows = limits->rows;
    const size_t table_rows = limits->table_by_slot ? limits->slots : rows;
    const size_t sizes[SECTION_COUNT] = {
        [SECTION_TOKENS] = limits->tokens,
        [SECTION_STARTS] = rows + 1,
        [SECTION_SLOTS] = rows,
        [SECTION_COMPUTED] = limits->slots,
        [SECTION_DRAFTS] = rows,
        [SECTION_PROPOSED] = rows,
        [SECTION_WANTED] = limits->tokens,
        [SECTION_TABLE] = table_rows * limits->columns,
    };
    memset(batch, 0, sizeof *batch);
    batch->limits = *limits;
    batch->size = HEAD_SIZE;
    for (int i = 0; i < SECTION_COUNT; i++)
        batch->size += sizes[i];
    batch->numbers = calloc(batch->size, sizeof *batch->numbers);
    if (!batch->numbers)
        return out_of_memory();
    size_t start = HEAD_SIZE;
    for (int i = 0; i < SECTION_COUNT; i++) {
        batch->numbers[i] = (int32_t)start;
        start += sizes[i];
    }
    batch->numbers[HEAD_COLUMNS] = (int32_t)limits->columns;
    batch->numbers[HEAD_TABLE_BY_SLOT] = limits->table_by_slot;
    return MAMBA_FINE;
}

void batch_destroy(struct batch *batch)
{
    free(batch->numbers);
    memset(batch, 0, sizeof *batch);
}

int32_t *batch_section(const struct batch *batch, int section)
{
    return batch->numbers + batch->numbers[section];
}

void batch_begin(struct batch *batch)
{
    batch->rows = batch->tokens = batch->wanted = 0;
    batch_section(batch, SECTION_STARTS)[0] = 0;
}

void batch_add(struct batch *batch, size_t slot, const int32_t *tokens,
               size_t count, size_t proposed, size_t drafts)
{
    const size_t row = batch->rows++;
    const size_t start = batch->tokens;
    batch->tokens += count;
    if (count > 0)
        memcpy(batch_section(batch, SECTION_TOKENS) + start, tokens,
               count * sizeof *tokens);
    batch_section(batch, SECTION_STARTS)[row + 1] = (int32_t)batch->tokens;
    batch_section(batch, SECTION_SLOTS)[row] = (int32_t)slot;
    batch_section(batch, SECTION_DRAFTS)[row] = (int32_t)drafts;
    batch_section(batch, SECTION_PROPOSED)[row] = (int32_t)proposed;
    for (size_t i = 0; count > 0 && i <= proposed; i++)
        batch_section(batch, SECTION_WANTED)[batch->wanted++] =
            (int32_t)(batch->tokens - 1 - proposed + i);
}
