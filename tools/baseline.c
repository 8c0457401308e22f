/* What states are timed against: kernels of the published design. */

#include "baseline.h"

#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILES = 16, VECTOR = 16 }; /* as in baseline.cl */

/* As in baseline.cl. */
enum { CONV_SD, CONV_DS, TEMPORAL };
struct device_state {
    cl_ulong kind, first, block_stride, width, dim, size;
};

static const char *element_type(uint32_t size)
{
    switch (size) {
    case 1:
        return "uchar";
    case 4:
        return "uint";
    case 8:
        return "ulong";
    default:
        return "ushort";
    }
}

static bool build(struct baseline *baseline)
{
    const struct clmove_device_info *device = &baseline->session->device;
    bool cpu = (device->type & (CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU)) ==
               CL_DEVICE_TYPE_CPU; /* simulators claim every type */
    baseline->group_size = cpu ? 1 : 256;
    while (baseline->group_size > device->max_group_size)
        baseline->group_size /= 2;
    char options[120];
    snprintf(
        options, sizeof options,
        "-cl-std=CL1.2 -DBASELINE_GROUP=%zu -DBASELINE_ELEMENT=%s",
        baseline->group_size,
        element_type(baseline->pool ? baseline->pool->shape.element_size : 2));
    baseline->program =
        kernels_build(baseline->session, "baseline.cl", options);
    return baseline->program != NULL;
}

static void describe(const struct pool_shape *shape, uint32_t layer,
                     struct device_state *states)
{
    memset(states, 0, 2 * sizeof *states);
    states[0].kind = shape->channels_first ? CONV_DS : CONV_SD;
    states[0].first = pool_layer_offset(shape, layer);
    states[0].block_stride = shape->page_size;
    states[0].width = shape->width;
    states[0].dim = shape->dim;
    states[0].size = shape->token_size;
    states[1].kind = TEMPORAL;
    states[1].first = states[0].first + shape->temporal_offset;
    states[1].block_stride = shape->page_size;
    states[1].size = shape->temporal_size;
}

/* The states of one of the pool's buffers. */
static cl_mem upload_states(const struct baseline *baseline, uint32_t buffer)
{
    const struct pool_shape *shape = &baseline->pool->shape;
    uint32_t layers = pool_buffer_layers(shape, buffer);
    uint32_t per_layer = pool_states_per_layer(shape);
    /* One more than needed: layers are described in pairs. */
    struct device_state *states =
        calloc((size_t)layers * per_layer + 1, sizeof *states);
    if (!states) {
        cli_error("out of memory");
        return NULL;
    }
    for (uint32_t i = 0; i < layers; i++)
        describe(shape, buffer * shape->layers_per_buffer + i,
                 &states[(size_t)i * per_layer]);
    size_t size = (size_t)layers * per_layer * sizeof *states;
    cl_mem memory =
        session_buffer(baseline->session, size, "the baseline's states");
    if (memory && session_failed(clEnqueueWriteBuffer(baseline->session->queue,
                                                      memory, CL_TRUE, 0, size,
                                                      states, 0, NULL, NULL),
                                 "clEnqueueWriteBuffer"))
        session_release(&memory);
    free(states);
    return memory;
}

bool baseline_create(struct baseline *baseline, const struct session *session,
                     const struct pool *pool)
{
    memset(baseline, 0, sizeof *baseline);
    baseline->session = session;
    baseline->pool = pool;
    if (!build(baseline))
        return false;
    if (!pool)
        return true;
    const struct pool_shape *shape = &pool->shape;
    if (shape->token_size % VECTOR || shape->temporal_size % VECTOR) {
        cli_error("the baseline copies %d bytes at once, which does not divide "
                  "a conv token of %zu bytes or a temporal state of %zu",
                  VECTOR, (size_t)shape->token_size,
                  (size_t)shape->temporal_size);
        return false;
    }
    baseline->states = calloc(shape->buffer_count, sizeof *baseline->states);
    bool fine = baseline->states != NULL;
    if (!fine)
        cli_error("out of memory");
    for (uint32_t i = 0; fine && i < shape->buffer_count; i++) {
        baseline->states[i] = upload_states(baseline, i);
        fine = baseline->states[i] != NULL;
    }
    return fine;
}

void baseline_destroy(struct baseline *baseline)
{
    for (uint32_t i = 0;
         baseline->states && i < baseline->pool->shape.buffer_count; i++)
        session_release(&baseline->states[i]);
    free(baseline->states);
    if (baseline->program)
        clReleaseProgram(baseline->program);
    memset(baseline, 0, sizeof *baseline);
}

struct argument {
    size_t size;
    const void *value;
};
#define ARGUMENT(value)                                                        \
    {                                                                          \
        sizeof(value), &(value)                                                \
    }

static cl_kernel make_kernel(const struct baseline *baseline, const char *name,
                             const struct argument *arguments, cl_uint count)
{
    cl_int code = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(baseline->program, name, &code);
    if (session_failed(code, name))
        return NULL;
    for (cl_uint i = 0; i < count; i++) {
        code = clSetKernelArg(kernel, i, arguments[i].size, arguments[i].value);
        if (session_failed(code, name)) {
            cli_error("argument %u of %s was refused", i, name);
            clReleaseKernel(kernel);
            return NULL;
        }
    }
    return kernel;
}
#define MAKE_KERNEL(baseline, name, arguments)                                 \
    make_kernel(baseline, name, arguments,                                     \
                sizeof(arguments) / sizeof *(arguments))

static cl_kernel make_snapshot(const struct baseline *baseline,
                               const struct baseline_numbers *numbers)
{
    cl_uint slots = numbers->slots;
    const struct argument arguments[] = {
        ARGUMENT(numbers->accepted_in), ARGUMENT(numbers->accepted_out),
        ARGUMENT(numbers->column_in), ARGUMENT(numbers->column_out),
        ARGUMENT(slots)};
    return MAKE_KERNEL(baseline, "baseline_snapshot", arguments);
}

static cl_kernel make_copy(const struct baseline *baseline,
                           const struct baseline_numbers *numbers,
                           uint32_t buffer)
{
    cl_uint columns = numbers->columns;
    cl_int tokens_per_block = (cl_int)numbers->tokens_per_block,
           pre = numbers->pre, writes = buffer == 0;
    const struct argument arguments[] = {
        ARGUMENT(baseline->pool->buffers[buffer]),
        ARGUMENT(baseline->states[buffer]),
        ARGUMENT(numbers->table),
        ARGUMENT(columns),
        ARGUMENT(numbers->slot_of),
        ARGUMENT(numbers->computed),
        ARGUMENT(numbers->scheduled),
        ARGUMENT(numbers->draft),
        ARGUMENT(numbers->now_computed),
        ARGUMENT(numbers->accepted_in),
        ARGUMENT(numbers->accepted_out),
        ARGUMENT(numbers->column_in),
        ARGUMENT(numbers->column_out),
        ARGUMENT(tokens_per_block),
        ARGUMENT(pre),
        ARGUMENT(writes)};
    return MAKE_KERNEL(baseline, "baseline_step", arguments);
}

bool baseline_step_create(struct baseline_step *step,
                          const struct baseline *baseline,
                          const struct baseline_numbers *numbers)
{
    uint32_t buffers = baseline->pool->shape.buffer_count;
    memset(step, 0, sizeof *step);
    step->baseline = baseline;
    step->slots = numbers->slots;
    step->snapshot = make_snapshot(baseline, numbers);
    step->copies = calloc(buffers, sizeof *step->copies);
    bool fine = step->snapshot && step->copies;
    for (uint32_t i = 0; fine && i < buffers; i++) {
        step->copies[i] = make_copy(baseline, numbers, i);
        fine = step->copies[i] != NULL;
    }
    return fine;
}

void baseline_step_destroy(struct baseline_step *step)
{
    if (step->snapshot)
        clReleaseKernel(step->snapshot);
    for (uint32_t i = 0;
         step->copies && i < step->baseline->pool->shape.buffer_count; i++) {
        if (step->copies[i])
            clReleaseKernel(step->copies[i]);
    }
    free(step->copies);
    memset(step, 0, sizeof *step);
}

static bool enqueue_copy(const struct baseline_step *step, uint32_t buffer,
                         uint32_t rows, cl_command_queue queue, cl_event *event)
{
    const struct pool_shape *shape = &step->baseline->pool->shape;
    size_t states = (size_t)pool_buffer_layers(shape, buffer) *
                    pool_states_per_layer(shape);
    size_t local[3] = {step->baseline->group_size, 1, 1};
    size_t global[3] = {local[0] * TILES, states, rows};
    return !session_failed(clEnqueueNDRangeKernel(queue, step->copies[buffer],
                                                  3, NULL, global, local, 0,
                                                  NULL, event),
                           "the kernel baseline_step");
}

static bool enqueue_snapshot(const struct baseline_step *step,
                             cl_command_queue queue, cl_event *event)
{
    size_t local = step->baseline->group_size;
    size_t global = (step->slots + local - 1) / local * local;
    return !session_failed(clEnqueueNDRangeKernel(queue, step->snapshot, 1,
                                                  NULL, &global, &local, 0,
                                                  NULL, event),
                           "the kernel baseline_snapshot");
}

uint32_t baseline_step_commands(const struct baseline_step *step)
{
    return 1 + step->baseline->pool->shape.buffer_count;
}

bool baseline_step_enqueue_one(const struct baseline_step *step,
                               uint32_t command, uint32_t rows,
                               cl_command_queue queue, cl_event *event)
{
    return command == 0 ? enqueue_snapshot(step, queue, event)
                        : enqueue_copy(step, command - 1, rows, queue, event);
}

bool baseline_step_enqueue(const struct baseline_step *step, uint32_t rows,
                           cl_command_queue queue, cl_event *event)
{
    uint32_t commands = baseline_step_commands(step);
    bool fine = true;
    for (uint32_t i = 0; fine && i < commands; i++)
        fine = baseline_step_enqueue_one(step, i, rows, queue,
                                         i + 1 == commands ? event : NULL);
    return fine;
}

bool baseline_batch_create(struct baseline_batch *batch,
                           const struct baseline *baseline, cl_mem buffer,
                           const struct clmove_region *regions, size_t count)
{
    const struct session *session = baseline->session;
    size_t size = count * 3 * sizeof(cl_ulong);
    cl_ulong *entries = malloc(size);
    memset(batch, 0, sizeof *batch);
    batch->group_size = baseline->group_size;
    batch->count = count;
    if (!entries) {
        cli_error("out of memory");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        entries[i * 3] = regions[i].src_offset;
        entries[i * 3 + 1] = regions[i].dst_offset;
        entries[i * 3 + 2] = regions[i].size;
    }
    batch->entries = session_buffer(session, size, "the baseline's entries");
    bool fine = batch->entries &&
                !session_failed(clEnqueueWriteBuffer(
                                    session->queue, batch->entries, CL_TRUE, 0,
                                    size, entries, 0, NULL, NULL),
                                "clEnqueueWriteBuffer");
    free(entries);
    const struct argument arguments[] = {ARGUMENT(buffer),
                                         ARGUMENT(batch->entries)};
    if (fine)
        batch->kernel = MAKE_KERNEL(baseline, "baseline_batch", arguments);
    return batch->kernel != NULL;
}

void baseline_batch_destroy(struct baseline_batch *batch)
{
    if (batch->kernel)
        clReleaseKernel(batch->kernel);
    session_release(&batch->entries);
    memset(batch, 0, sizeof *batch);
}

bool baseline_batch_enqueue(const struct baseline_batch *batch,
                            cl_command_queue queue, cl_event *event)
{
    size_t local = batch->group_size, global = local * batch->count;
    return !session_failed(clEnqueueNDRangeKernel(queue, batch->kernel, 1, NULL,
                                                  &global, &local, 0, NULL,
                                                  event),
                           "the kernel baseline_batch");
}
