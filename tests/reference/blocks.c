/* State copies by block id in plain C, one element of one token at a time. */

#include "reference.h"

#include <stdlib.h>
#include <string.h>

/* Only docs/semantics.md was followed here, as in reference.c. */

static unsigned char *block_address(const struct ref_state *state,
                                    int64_t block)
{
    return state->memory + (uint64_t)block * state->block_stride;
}

/* Where channel `channel` of token `token` lies in a conv block. */
static uint64_t element_offset(const struct ref_state *state, uint64_t token,
                               uint64_t channel)
{
    if (state->kind == REF_CONV_SD) {
        return (token * state->dim + channel) * state->element_size;
    }
    return channel * state->row_stride + token * state->element_size;
}

void ref_copy_block(const struct ref_state *from, int64_t from_block,
                    const struct ref_state *to, int64_t to_block, uint64_t bias)
{
    const unsigned char *source = block_address(from, from_block);
    unsigned char *destination = block_address(to, to_block);

    if (from->kind == REF_TEMPORAL) {
        memmove(destination, source, from->size);
        return;
    }
    /* Upwards: token t + bias is read before anything is written over it. */
    for (uint64_t token = 0; token < to->width && token + bias < from->width;
         token++) {
        for (uint64_t channel = 0; channel < from->dim; channel++) {
            memmove(destination + element_offset(to, token, channel),
                    source + element_offset(from, token + bias, channel),
                    from->element_size);
        }
    }
}

void ref_copy_blocks(const struct ref_state *from, const struct ref_state *to,
                     size_t state_count, const struct ref_block_copy *copies,
                     size_t count)
{
    /* No entry touches what another one writes, so their order is no matter. */
    for (size_t i = 0; i < count; i++) {
        for (size_t state = 0; state < state_count; state++) {
            int32_t source = from[state].kind == REF_TEMPORAL
                                 ? copies[i].temporal_from
                                 : copies[i].conv_from;
            if (from[state].group == copies[i].group && source != -1) {
                ref_copy_block(&from[state], source, &to[state], copies[i].to,
                               copies[i].bias);
            }
        }
    }
}

static void zero_block(const struct ref_state *state, int64_t block)
{
    unsigned char *at = block_address(state, block);

    if (state->kind == REF_TEMPORAL) {
        memset(at, 0, state->size);
        return;
    }
    for (uint64_t token = 0; token < state->width; token++) {
        for (uint64_t channel = 0; channel < state->dim; channel++) {
            memset(at + element_offset(state, token, channel), 0,
                   state->element_size);
        }
    }
}

void ref_zero_blocks(const struct ref_state *states, size_t state_count,
                     uint32_t group, const int32_t *blocks, size_t count)
{
    for (size_t state = 0; state < state_count; state++) {
        for (size_t i = 0; i < count && states[state].group == group; i++) {
            zero_block(&states[state], blocks[i]);
        }
    }
}

static void permute_state(const struct ref_state *state, const int32_t *from,
                          const int32_t *to, size_t count)
{
    size_t size = (size_t)(state->block_count * state->block_stride);
    struct ref_state before = *state;

    /* The last block may have no gap behind it: copy none either. */
    if (state->kind == REF_TEMPORAL) {
        size -= (size_t)(state->block_stride - state->size);
    } else {
        size -=
            (size_t)(state->block_stride - 1 -
                     element_offset(state, state->width - 1, state->dim - 1) -
                     (state->element_size - 1));
    }
    before.memory = malloc(size);
    if (!before.memory) {
        abort();
    }
    memcpy(before.memory, state->memory, size);
    for (size_t i = 0; i < count; i++) {
        ref_copy_block(&before, from[i], state, to[i], 0);
    }
    free(before.memory);
}

void ref_permute_blocks(const struct ref_state *states, size_t state_count,
                        uint32_t group, const int32_t *from, const int32_t *to,
                        size_t count)
{
    for (size_t i = 0; i < state_count; i++) {
        if (states[i].group == group) {
            permute_state(&states[i], from, to, count);
        }
    }
}
