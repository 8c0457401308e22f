/* What pre- and post-process do with one request, decided on the host. */

#include <clmove/ssm.h>
#include <stdbool.h>
#include <string.h>

/* Mirrors decide_pre and decide_post of cl/ssm_decide.cl. */

static clmove_status begin(const struct clmove_ssm_request *request,
                           uint32_t tokens_per_block,
                           struct clmove_ssm_decision *decision)
{
    if (request == NULL || decision == NULL || tokens_per_block == 0)
        return CLMOVE_INVALID_ARGUMENT;
    memset(decision, 0, sizeof *decision);
    decision->accepted = request->accepted;
    decision->column = request->column;
    return CLMOVE_SUCCESS;
}

clmove_status clmove_ssm_decide_pre(const struct clmove_ssm_request *request,
                                    uint32_t tokens_per_block,
                                    struct clmove_ssm_decision *decision)
{
    const clmove_status status = begin(request, tokens_per_block, decision);
    if (status != CLMOVE_SUCCESS || request->scheduled == 0)
        return status;
    if (request->scheduled < 0 || request->computed < 0 ||
        request->accepted < 0)
        return CLMOVE_OUT_OF_RANGE;
    const int64_t tokens = (int64_t)request->computed + request->scheduled;
    const int64_t column = (tokens - 1) / tokens_per_block;
    if (column > INT32_MAX)
        return CLMOVE_OUT_OF_RANGE;
    decision->column = (int32_t)column;
    if (request->column < 0 || request->column == column)
        return CLMOVE_SUCCESS;
    decision->copies = 1;
    decision->source = request->column;
    decision->destination = (int32_t)column;
    decision->bias = request->accepted > 0 ? request->accepted - 1 : 0;
    decision->accepted = 1;
    return CLMOVE_SUCCESS;
}

clmove_status clmove_ssm_decide_post(const struct clmove_ssm_request *request,
                                     uint32_t tokens_per_block,
                                     struct clmove_ssm_decision *decision)
{
    const clmove_status status = begin(request, tokens_per_block, decision);
    if (status != CLMOVE_SUCCESS)
        return status;
    const int64_t sure = (int64_t)request->scheduled - request->draft;
    if (request->scheduled < 0 || request->draft < 0 ||
        (sure > 0 && (request->computed < 0 || request->accepted < 0)))
        return CLMOVE_OUT_OF_RANGE;
    if (sure < 1 || request->accepted < 1)
        return CLMOVE_SUCCESS;
    const int64_t certain = request->computed + sure;
    const int64_t now = certain + request->accepted - 1;
    const int64_t blocks = now / tokens_per_block;
    const int64_t boundary = blocks * tokens_per_block;
    if (boundary < certain || blocks < 1)
        return CLMOVE_SUCCESS;
    if (boundary > INT32_MAX)
        return CLMOVE_OUT_OF_RANGE;
    const bool same = request->column == blocks - 1;
    decision->source = request->column;
    decision->destination = (int32_t)(blocks - 1);
    decision->bias = (int32_t)(boundary - certain);
    decision->boundary = (int32_t)boundary;
    decision->copies = !same || decision->bias > 0;
    if (same)
        decision->accepted = 1;
    return CLMOVE_SUCCESS;
}
