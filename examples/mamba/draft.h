/* Drafts by prompt lookup: what followed the last time. */

#ifndef MAMBA_DRAFT_H
#define MAMBA_DRAFT_H

#include <stddef.h>
#include <stdint.h>

/* Looks in tokens [count] for the latest earlier place that agrees with their
 * end for the most tokens, 2 to 16, and writes up to `limit` tokens that
 * followed there to `draft`. Returns how many. */
size_t draft_lookup(const int32_t *tokens, size_t count, int32_t *draft,
                    size_t limit);

#endif
