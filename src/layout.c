/* Geometry of state tensors, pure arithmetic. */

#include "layout.h"

#include "util.h"

/* Both sets have one stride; a's origin is not above b's, which lies before a's
 * end. */
static bool same_stride_overlap(const struct strided_set *a,
                                const struct strided_set *b)
{
    /* Between the starts of two blocks of a, or in its last block. */
    const uint64_t rest = (b->origin - a->origin) % a->stride;
    return rest < a->size || a->stride - rest < b->size;
}

bool strided_sets_overlap(const struct strided_set *a,
                          const struct strided_set *b)
{
    if (a->count == 0 || b->count == 0 || a->size == 0 || b->size == 0)
        return false;
    if (a->origin > b->origin) {
        const struct strided_set *swap = a;
        a = b;
        b = swap;
    }
    const uint64_t a_last = a->origin + (a->count - 1) * a->stride;
    if (a_last < b->origin && b->origin - a_last >= a->size)
        return false; /* a ends before b begins: the usual case */
    if (a->stride == b->stride)
        return same_stride_overlap(a, b);
    /* Different strides: walk both, always forward in the one that ends
     * first. */
    uint64_t i = 0;
    uint64_t j = 0;
    while (i < a->count && j < b->count) {
        const uint64_t a_start = a->origin + i * a->stride;
        const uint64_t b_start = b->origin + j * b->stride;
        if (a_start <= b_start ? b_start - a_start < a->size
                               : a_start - b_start < b->size)
            return true;
        if (a_start < b_start)
            i++;
        else
            j++;
    }
    return false;
}

static const char *kind_name(uint32_t kind)
{
    switch (kind) {
    case CLMOVE_SSM_CONV_SD:
        return "conv SD";
    case CLMOVE_SSM_CONV_DS:
        return "conv DS";
    default:
        return "temporal";
    }
}

static clmove_status complete_conv(const struct clmove_log *log,
                                   uint32_t draft_tokens, size_t index,
                                   struct clmove_ssm_state *state,
                                   uint64_t *extent)
{
    clmove_status status = CLMOVE_SUCCESS;
    const uint32_t element = state->element_size;
    CHECK(element == 1 || element == 2 || element == 4 || element == 8,
          CLMOVE_INVALID_ARGUMENT,
          "states[%zu].element_size is %u, and must be 1, 2, 4 or 8", index,
          element);
    CHECK(state->width > 0 && state->dim > 0, CLMOVE_INVALID_ARGUMENT,
          "states[%zu].%s is 0, and must be at least 1", index,
          state->width == 0 ? "width" : "dim");
    CHECK(state->size == 0, CLMOVE_INVALID_ARGUMENT,
          "states[%zu].size is %llu, and is for temporal states only", index,
          (unsigned long long)state->size);
    CHECK(state->taps == 0 ||
              state->width >= (uint64_t)state->taps - 1 + draft_tokens,
          CLMOVE_INVALID_ARGUMENT,
          "states[%zu].width is %u, and must be at least taps %u - 1 + "
          "draft_tokens %u",
          index, state->width, state->taps, draft_tokens);
    const uint64_t row = (uint64_t)state->width * element;
    CHECK(row < UINT32_C(1) << 30, CLMOVE_UNSUPPORTED,
          "states[%zu].width is %u: rows of 1 GiB and more are not supported",
          index, state->width);
    if (state->kind == CLMOVE_SSM_CONV_SD) {
        CHECK(state->row_stride == 0, CLMOVE_INVALID_ARGUMENT,
              "states[%zu].row_stride is %llu, and is for conv DS only", index,
              (unsigned long long)state->row_stride);
        *extent = row * state->dim; /* 30 and 32 bits */
        goto out;
    }
    if (state->row_stride == 0)
        state->row_stride = row;
    CHECK(state->row_stride >= row, CLMOVE_INVALID_ARGUMENT,
          "states[%zu].row_stride is %llu, and must be at least width %u * "
          "element_size %u",
          index, (unsigned long long)state->row_stride, state->width, element);
    CHECK(multiply_checked(state->row_stride, state->dim - 1, extent) &&
              add_checked(*extent, row, extent),
          CLMOVE_OUT_OF_RANGE, "states[%zu]: dim * row_stride exceeds 64 bits",
          index);
out:
    return status;
}

clmove_status layout_complete_state(
    const struct clmove_log *log, const struct clmove_ssm_layout_params *params,
    size_t index, struct clmove_ssm_state *state, uint64_t *extent)
{
    clmove_status status = CLMOVE_SUCCESS;
    *state = params->states[index];
    CHECK(state->kind >= CLMOVE_SSM_CONV_SD &&
              state->kind <= CLMOVE_SSM_TEMPORAL,
          CLMOVE_INVALID_ARGUMENT,
          "states[%zu].kind is %u, and must be one of enum clmove_ssm_kind",
          index, state->kind);
    CHECK(state->group < params->group_count, CLMOVE_INVALID_ARGUMENT,
          "states[%zu].group is %u, and there are %zu groups", index,
          state->group, params->group_count);
    CHECK(state->block_count > 0 && state->block_count <= INT32_MAX,
          CLMOVE_INVALID_ARGUMENT,
          "states[%zu].block_count is %u, and must be 1 to 2147483647", index,
          state->block_count);
    if (state->kind == CLMOVE_SSM_TEMPORAL) {
        CHECK(state->size > 0, CLMOVE_INVALID_ARGUMENT,
              "states[%zu].size is 0, and a temporal state has at least 1 byte",
              index);
        CHECK(state->width == 0 && state->dim == 0 &&
                  state->element_size == 0 && state->taps == 0 &&
                  state->row_stride == 0,
              CLMOVE_INVALID_ARGUMENT,
              "states[%zu] is temporal, and width, dim, element_size, taps and "
              "row_stride are for conv states only",
              index);
        *extent = state->size;
    } else {
        CHECK_STATUS(
            complete_conv(log, params->draft_tokens, index, state, extent));
    }
    if (state->block_stride == 0)
        state->block_stride = *extent;
    CHECK(state->block_stride >= *extent, CLMOVE_INVALID_ARGUMENT,
          "states[%zu].block_stride is %llu, and a block of this %s state "
          "takes %llu bytes",
          index, (unsigned long long)state->block_stride,
          kind_name(state->kind), (unsigned long long)*extent);
out:
    return status;
}

bool layout_state_span(const struct clmove_ssm_state *state, uint64_t extent,
                       uint64_t *span)
{
    return multiply_checked(state->block_stride, state->block_count - 1,
                            span) &&
           add_checked(*span, extent, span);
}

struct state_tiles layout_state_tiles(const struct clmove_ssm_state *state,
                                      uint32_t tile_size)
{
    /* Parts of byte ranges are multiples of 256 bytes, so that all tiles of a
     * block have one alignment. */
    uint64_t part = tile_size;
    uint64_t whole = state->size;
    switch (state->kind) {
    case CLMOVE_SSM_CONV_SD:
        whole = (uint64_t)state->dim * state->element_size;
        part = max_u64(tile_size / state->width / 256 * 256, 256);
        break;
    case CLMOVE_SSM_CONV_DS:
        whole = state->dim;
        part = max_u64(tile_size / state->row_stride, 1);
        break;
    default:
        break;
    }
    return (struct state_tiles){part, (whole - 1) / part + 1};
}
