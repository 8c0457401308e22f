/* Drafts by prompt lookup: what followed the last time. */

#include "draft.h"

#include <string.h>

enum { SHORTEST = 2, LONGEST = 16 };

/* How many tokens before `end` agree with those at the end of all. */
static size_t agreement(const int32_t *tokens, size_t count, size_t end)
{
    size_t length = 0;
    while (length < LONGEST && length < end &&
           tokens[end - 1 - length] == tokens[count - 1 - length])
        length++;
    return length;
}

size_t draft_lookup(const int32_t *tokens, size_t count, int32_t *draft,
                    size_t limit)
{
    size_t best = 0, longest = SHORTEST - 1;
    for (size_t end = count - 1; end >= SHORTEST && longest < LONGEST; end--) {
        const size_t length = agreement(tokens, count, end);
        if (length > longest) {
            longest = length;
            best = end;
        }
    }
    if (best == 0)
        return 0;
    const size_t found = count - best < limit ? count - best : limit;
    memcpy(draft, tokens + best, found * sizeof *draft);
    return found;
}
