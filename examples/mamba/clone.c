/* State copies without clmove: by the host, through a clone. */

#include "clone.h"

static enum mamba_exit copy_range(struct states *states, cl_mem from, cl_mem to,
                                  size_t source, size_t destination,
                                  size_t size)
{
    cl_event event = NULL;
    TRY(check(clEnqueueCopyBuffer(states->machine->queue, from, to, source,
                                  destination, size, 0, NULL, &event),
              "clEnqueueCopyBuffer"));
    return states_add_event(states, event);
}

/* `tokens` of each channel; [channel][token] windows. */
static enum mamba_exit copy_rows(struct states *states, cl_mem from, cl_mem to,
                                 size_t source, size_t destination,
                                 size_t tokens)
{
    const size_t pitch = states->window * sizeof(float);
    const size_t source_origin[3] = {source, 0, 0};
    const size_t destination_origin[3] = {destination, 0, 0};
    const size_t region[3] = {tokens * sizeof(float),
                              states->machine->model->channels, 1};
    cl_event event = NULL;
    TRY(check(clEnqueueCopyBufferRect(states->machine->queue, from, to,
                                      source_origin, destination_origin, region,
                                      pitch, 0, pitch, 0, 0, NULL, &event),
              "clEnqueueCopyBufferRect"));
    return states_add_event(states, event);
}

static enum mamba_exit copy_window(struct states *states, size_t source,
                                   size_t destination, size_t bias)
{
    const cl_mem pool = states->places.pool;
    const size_t token = (size_t)states->places.token_stride * sizeof(float);
    const size_t tokens = states->window - bias;
    if (states->settings->ds) {
        TRY(copy_rows(states, pool, states->clone, source + bias * token, 0,
                      tokens));
        return copy_rows(states, states->clone, pool, 0, destination, tokens);
    }
    TRY(copy_range(states, pool, states->clone, source + bias * token, 0,
                   tokens * token));
    return copy_range(states, states->clone, pool, 0, destination,
                      tokens * token);
}

enum mamba_exit clone_copy(struct states *states,
                           const struct clmove_ssm_copy *copies, size_t count)
{
    const struct model *model = states->machine->model;
    const size_t layer_size =
        (size_t)states->places.layer_stride * sizeof(float);
    const size_t temporal = (size_t)states->places.temporal * sizeof(float);
    for (size_t i = 0; i < count; i++) {
        const size_t to = (size_t)copies[i].to * states->block_size;
        const size_t conv = (size_t)copies[i].conv_from * states->block_size;
        const size_t matrix =
            (size_t)copies[i].temporal_from * states->block_size;
        for (size_t j = 0; j < model->layer_count; j++) {
            const size_t layer = j * layer_size;
            if (copies[i].bias < states->window)
                TRY(copy_window(states, conv + layer, to + layer,
                                copies[i].bias));
            if (matrix != to)
                TRY(copy_range(states, states->places.pool, states->places.pool,
                               matrix + layer + temporal, to + layer + temporal,
                               layer_size - temporal));
        }
    }
    return MAMBA_FINE;
}

enum mamba_exit clone_blocks(struct states *states, cl_mem from, cl_mem to,
                             const struct clmove_ssm_copy *copies, size_t count)
{
    for (size_t i = 0; i < count; i++)
        TRY(copy_range(
            states, from, to, (size_t)copies[i].conv_from * states->block_size,
            (size_t)copies[i].to * states->block_size, states->block_size));
    return MAMBA_FINE;
}
