/* A step of the model: the launches of all its layers. */

#include "machine.h"

#include <string.h>

enum mamba_exit forward_create(struct forward *forward,
                               const struct machine *machine, size_t max_tokens,
                               size_t max_rows)
{
    const struct model *model = machine->model;
    const size_t floats = max_tokens * sizeof(float);
    memset(forward, 0, sizeof *forward);
    TRY(machine_buffer(machine, floats * model->width, "x", &forward->x));
    TRY(machine_buffer(machine, floats * machine->in_stride, "projections",
                       &forward->projected));
    TRY(machine_buffer(machine, floats * model->channels, "convolutions",
                       &forward->convolved));
    TRY(machine_buffer(machine, floats * model->inner, "y", &forward->y));
    TRY(machine_buffer(machine, max_tokens * sizeof(cl_int), "next tokens",
                       &forward->next));
    return machine_buffer(machine, max_rows * sizeof(cl_int), "counts",
                          &forward->counts);
}

void forward_destroy(struct forward *forward)
{
    machine_release(&forward->x);
    machine_release(&forward->projected);
    machine_release(&forward->convolved);
    machine_release(&forward->y);
    machine_release(&forward->next);
    machine_release(&forward->counts);
}

/* A launch being put together: argument after argument, then the groups. */
struct launch {
    const struct machine *machine;
    cl_kernel kernel;
    cl_uint argument;
    cl_int status;
};

static struct launch begin(const struct machine *machine,
                           enum machine_kernel kernel)
{
    return (struct launch){machine, machine->kernels[kernel], 0, CL_SUCCESS};
}

static void give(struct launch *launch, size_t size, const void *value)
{
    if (launch->status == CL_SUCCESS)
        launch->status =
            clSetKernelArg(launch->kernel, launch->argument++, size, value);
}

#define GIVE(launch, value) give(launch, sizeof(value), &(value))

static enum mamba_exit finish(struct launch *launch, size_t groups_x,
                              size_t groups_y, size_t items)
{
    const size_t limit = launch->machine->max_group;
    const size_t size = items < limit ? items : limit;
    const size_t global[2] = {groups_x * size, groups_y};
    const size_t local[2] = {size, 1};
    if (launch->status == CL_SUCCESS)
        launch->status =
            clEnqueueNDRangeKernel(launch->machine->queue, launch->kernel, 2,
                                   NULL, global, local, 0, NULL, NULL);
    return check(launch->status, "a launch of the model");
}

/* Groups that give each of `count` items one, at the most that a group has. */
static size_t groups_for(const struct machine *machine, size_t count)
{
    return (count + machine->max_group - 1) / machine->max_group;
}

static enum mamba_exit project_in(const struct forward *forward,
                                  const struct machine *machine,
                                  const struct machine_layer *layer,
                                  size_t tokens)
{
    struct launch launch = begin(machine, KERNEL_IN);
    GIVE(&launch, machine->weights);
    GIVE(&launch, layer->norm);
    GIVE(&launch, layer->in_proj);
    GIVE(&launch, forward->x);
    GIVE(&launch, forward->projected);
    /* On a GPU several groups share a token's rows. */
    const size_t items = machine->in_stride / machine->lanes;
    const size_t parts = machine->lanes > 1 ? 1 : groups_for(machine, items);
    return finish(&launch, tokens, parts, machine->lanes > 1 ? 16 : 64);
}

/* What mamba_conv and mamba_scan read of the batch. */
static void give_batch(struct launch *launch, const struct forward_step *step)
{
    GIVE(launch, step->batch);
    GIVE(launch, step->numbers);
    GIVE(launch, step->accepted);
    GIVE(launch, step->column);
}

static enum mamba_exit convolve(const struct forward *forward,
                                const struct machine *machine,
                                const struct forward_states *states,
                                const struct forward_step *step, size_t index)
{
    const struct machine_layer *layer = &machine->layers[index];
    const cl_long window = states->layer_stride * (cl_long)index;
    struct launch launch = begin(machine, KERNEL_CONV);
    GIVE(&launch, machine->weights);
    GIVE(&launch, layer->conv_weight);
    GIVE(&launch, layer->conv_bias);
    give_batch(&launch, step);
    GIVE(&launch, forward->projected);
    GIVE(&launch, states->pool);
    GIVE(&launch, window);
    GIVE(&launch, states->block_stride);
    GIVE(&launch, states->channel_stride);
    GIVE(&launch, states->token_stride);
    GIVE(&launch, forward->convolved);
    return finish(&launch, groups_for(machine, machine->model->channels),
                  step->rows, machine->max_group);
}

static enum mamba_exit scan(const struct forward *forward,
                            const struct machine *machine,
                            const struct forward_states *states,
                            const struct forward_step *step, size_t index)
{
    const struct machine_layer *layer = &machine->layers[index];
    const cl_long matrix =
        states->layer_stride * (cl_long)index + states->temporal;
    struct launch launch = begin(machine, KERNEL_SCAN);
    GIVE(&launch, machine->weights);
    GIVE(&launch, layer->dt_bias);
    GIVE(&launch, layer->a_log);
    GIVE(&launch, layer->d);
    give_batch(&launch, step);
    GIVE(&launch, forward->projected);
    GIVE(&launch, forward->convolved);
    GIVE(&launch, states->pool);
    GIVE(&launch, matrix);
    GIVE(&launch, states->block_stride);
    GIVE(&launch, forward->y);
    return finish(&launch, step->rows, machine->model->heads,
                  machine->model->head_size);
}

static enum mamba_exit project_out(const struct forward *forward,
                                   const struct machine *machine,
                                   const struct machine_layer *layer,
                                   size_t tokens)
{
    struct launch launch = begin(machine, KERNEL_OUT);
    GIVE(&launch, machine->weights);
    GIVE(&launch, layer->gate_norm);
    GIVE(&launch, layer->out_proj);
    GIVE(&launch, forward->projected);
    GIVE(&launch, forward->y);
    GIVE(&launch, forward->x);
    return finish(&launch, tokens, 1, machine->model->width / machine->lanes);
}

static enum mamba_exit embed(const struct forward *forward,
                             const struct machine *machine,
                             const struct forward_step *step)
{
    const cl_int tokens = (cl_int)step->tokens;
    struct launch launch = begin(machine, KERNEL_EMBED);
    GIVE(&launch, machine->weights);
    GIVE(&launch, machine->embedding);
    GIVE(&launch, step->batch);
    GIVE(&launch, forward->x);
    GIVE(&launch, tokens);
    return finish(&launch,
                  groups_for(machine, step->tokens * machine->model->width), 1,
                  machine->max_group);
}

static enum mamba_exit choose(const struct forward *forward,
                              const struct machine *machine,
                              const struct forward_step *step)
{
    const cl_int rows = (cl_int)step->rows;
    struct launch launch = begin(machine, KERNEL_HEAD);
    GIVE(&launch, machine->weights);
    GIVE(&launch, machine->final_norm);
    GIVE(&launch, machine->head);
    GIVE(&launch, step->batch);
    GIVE(&launch, forward->x);
    GIVE(&launch, forward->next);
    TRY(finish(&launch, step->wanted, 1,
               (machine->model->token_count - 1) / machine->lanes + 1));
    launch = begin(machine, KERNEL_ACCEPT);
    GIVE(&launch, step->batch);
    GIVE(&launch, rows);
    GIVE(&launch, forward->next);
    GIVE(&launch, forward->counts);
    GIVE(&launch, step->numbers);
    GIVE(&launch, step->accepted);
    return finish(&launch, groups_for(machine, step->rows), 1,
                  machine->max_group);
}

enum mamba_exit forward_enqueue(const struct forward *forward,
                                const struct machine *machine,
                                const struct forward_states *states,
                                const struct forward_step *step)
{
    TRY(embed(forward, machine, step));
    for (size_t i = 0; i < machine->model->layer_count; i++) {
        const struct machine_layer *layer = &machine->layers[i];
        TRY(project_in(forward, machine, layer, step->tokens));
        TRY(convolve(forward, machine, states, step, i));
        TRY(scan(forward, machine, states, step, i));
        TRY(project_out(forward, machine, layer, step->tokens));
    }
    return choose(forward, machine, step);
}
