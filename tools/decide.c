/* When states are copied, as an engine decides it on the host. */

#include "decide.h"

#include <string.h>

static struct decide_result nothing(const struct decide_row *row)
{
    struct decide_result result;
    memset(&result, 0, sizeof result);
    result.accepted = row->accepted;
    result.column = row->column;
    return result;
}

struct decide_result decide_pre(const struct decide_row *row,
                                uint32_t block_size)
{
    struct decide_result result = nothing(row);
    int64_t last_token = (int64_t)row->computed + row->scheduled - 1;
    result.column = (int32_t)(last_token / block_size);
    if (row->column < 0 || row->column == result.column)
        return result;
    result.copy = true;
    result.source = row->column;
    result.destination = result.column;
    result.bias = row->accepted > 0 ? row->accepted - 1 : 0;
    result.accepted = 1;
    return result;
}

struct decide_result decide_post(const struct decide_row *row,
                                 uint32_t block_size)
{
    struct decide_result result = nothing(row);
    int64_t certain = (int64_t)row->computed + row->scheduled - row->draft;
    int64_t now = certain + row->accepted - 1;
    int64_t boundary = now - now % block_size;
    if (row->accepted < 1 || boundary < certain || boundary == 0)
        return result;
    result.crossed = true;
    result.boundary = (int32_t)boundary;
    result.source = row->column;
    result.destination = (int32_t)(boundary / block_size) - 1;
    result.bias = (int32_t)(boundary - certain);
    bool same = result.source == result.destination;
    if (same)
        result.accepted = 1;
    result.copy = !same || result.bias > 0;
    return result;
}
