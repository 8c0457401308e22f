/* The device, and the model's weights and kernels on it. */

#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text of sections.h and mamba.cl, made by cl/embed.py. */
struct clmove_embedded {
    const char *name;
    const char *text;
};
extern const struct clmove_embedded mamba_kernel_files[];
extern const size_t mamba_kernel_file_count;

static void print_message(void *user, int level, const char *message)
{
    (void)user;
    if (level == CLMOVE_LOG_ERROR)
        say("%s", message);
    else if (level == CLMOVE_LOG_WARNING)
        say("warning: %s", message);
}

enum mamba_exit machine_buffer(const struct machine *machine, size_t size,
                               const char *what, cl_mem *buffer)
{
    cl_int code = CL_SUCCESS;
    *buffer =
        clCreateBuffer(machine->context, CL_MEM_READ_WRITE, size, NULL, &code);
    if (code == CL_SUCCESS)
        return MAMBA_FINE;
    say("a buffer of %zu bytes for %s cannot be made: %s (%d)", size, what,
        clmove_status_name(code), code);
    *buffer = NULL;
    return MAMBA_OPENCL_FAILED;
}

void machine_release(cl_mem *buffer)
{
    if (*buffer)
        clReleaseMemObject(*buffer);
    *buffer = NULL;
}

/* What the choice of a device, or the environment, leads to. */
static enum mamba_exit opened(clmove_status status)
{
    switch (status) {
    case CLMOVE_SUCCESS:
        return MAMBA_FINE;
    case CLMOVE_NO_DEVICE:
    case CLMOVE_UNSUPPORTED_DEVICE:
        return MAMBA_NO_DEVICE;
    case CLMOVE_AMBIGUOUS_DEVICE:
    case CLMOVE_NO_KERNEL_TEXT:
    case CLMOVE_INVALID_ARGUMENT:
        return MAMBA_BAD_INPUT;
    default:
        return MAMBA_OPENCL_FAILED;
    }
}

static enum mamba_exit open_device(struct machine *machine,
                                   const char *selection)
{
    const struct clmove_log log = {print_message, NULL};
    clmove_status status =
        clmove_device_select(selection, &log, &machine->device);
    TRY(opened(status));
    cl_device_id device = machine->device.device;
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, (cl_context_properties)machine->device.platform,
        0};
    machine->context =
        clCreateContext(properties, 1, &device, NULL, NULL, &status);
    TRY(check(status, "clCreateContext"));
    machine->queue = clCreateCommandQueue(machine->context, device,
                                          CL_QUEUE_PROFILING_ENABLE, &status);
    TRY(check(status, "clCreateCommandQueue"));
    const struct clmove_engine_params params = {.context = machine->context,
                                                .device = device,
                                                .log = log,
                                                .parts = CLMOVE_PART_STATES};
    status = clmove_engine_create(&params, &machine->engine);
    failed(status, "clmove_engine_create");
    return opened(status);
}

static size_t round_up(size_t value, size_t step)
{
    return (value + step - 1) / step * step;
}

static void print_build_log(const struct machine *machine)
{
    size_t size = 0;
    clGetProgramBuildInfo(machine->program, machine->device.device,
                          CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *text = calloc(size + 1, 1);
    if (text)
        clGetProgramBuildInfo(machine->program, machine->device.device,
                              CL_PROGRAM_BUILD_LOG, size, text, NULL);
    say("the model's kernels do not compile:\n%s", text ? text : "");
    free(text);
}

static enum mamba_exit build_program(struct machine *machine)
{
    const struct model *model = machine->model;
    const char *texts[2] = {NULL, NULL};
    char options[512];
    cl_int status = CL_SUCCESS;
    for (size_t i = 0; i < mamba_kernel_file_count; i++)
        texts[i] = mamba_kernel_files[i].text;
    machine->program = clCreateProgramWithSource(
        machine->context, (cl_uint)mamba_kernel_file_count, texts, NULL,
        &status);
    TRY(check(status, "clCreateProgramWithSource"));
    snprintf(options, sizeof options,
             "-cl-std=CL1.2 -DLANES=%zu -DD=%zu -DH=%zu -DP=%zu -DN=%zu "
             "-DK=%zu -DV=%zu -DIN_STRIDE=%zu -DV_STRIDE=%zu",
             machine->lanes, model->width, model->heads, model->head_size,
             model->state_size, model->taps, model->token_count,
             machine->in_stride, round_up(model->token_count, machine->lanes));
    status = clBuildProgram(machine->program, 1, &machine->device.device,
                            options, NULL, NULL);
    if (status == CL_BUILD_PROGRAM_FAILURE)
        print_build_log(machine);
    return check(status, "clBuildProgram");
}

static enum mamba_exit make_kernels(struct machine *machine)
{
    static const char *const names[KERNEL_COUNT] = {
        "mamba_embed", "mamba_in",   "mamba_conv",  "mamba_scan",
        "mamba_out",   "mamba_head", "mamba_accept"};
    cl_int status = CL_SUCCESS;
    machine->max_group = 64;
    for (int i = 0; i < KERNEL_COUNT; i++) {
        size_t limit = 0;
        machine->kernels[i] =
            clCreateKernel(machine->program, names[i], &status);
        TRY(check(status, names[i]));
        status = clGetKernelWorkGroupInfo(
            machine->kernels[i], machine->device.device,
            CL_KERNEL_WORK_GROUP_SIZE, sizeof limit, &limit, NULL);
        TRY(check(status, names[i]));
        if (limit < machine->max_group)
            machine->max_group = limit;
    }
    return MAMBA_FINE;
}

/* Floats that grow as weights are added. */
struct upload {
    float *values;
    size_t count;
};

/* Adds rows of a tensor as columns, `stride` floats apart and zeros behind
 * them; a tensor of one row stays as it is. Returns where it starts. */
static cl_int add_transposed(struct upload *upload,
                             const struct model_tensor *tensor, size_t stride)
{
    const size_t start = upload->count;
    for (size_t column = 0; column < tensor->columns; column++)
        for (size_t row = 0; row < tensor->rows; row++)
            upload->values[start + column * stride + row] =
                tensor->values[row * tensor->columns + column];
    upload->count += tensor->columns * stride;
    return (cl_int)start;
}

static cl_int add(struct upload *upload, const struct model_tensor *tensor)
{
    const size_t start = upload->count;
    const size_t count = tensor->rows * tensor->columns;
    memcpy(upload->values + start, tensor->values, count * sizeof(float));
    upload->count += count;
    return (cl_int)start;
}

static void add_layer(struct machine *machine, struct upload *upload, size_t i)
{
    const struct model_layer *layer = &machine->model->layers[i];
    machine->layers[i] = (struct machine_layer){
        .norm = add(upload, &layer->norm),
        .in_proj = add_transposed(upload, &layer->in_proj, machine->in_stride),
        .conv_weight = add(upload, &layer->conv_weight),
        .conv_bias = add(upload, &layer->conv_bias),
        .dt_bias = add(upload, &layer->dt_bias),
        .a_log = add(upload, &layer->a_log),
        .d = add(upload, &layer->d),
        .gate_norm = add(upload, &layer->gate_norm),
        .out_proj =
            add_transposed(upload, &layer->out_proj, machine->model->width)};
}

static enum mamba_exit upload_weights(struct machine *machine)
{
    const struct model *model = machine->model;
    const size_t width = model->width;
    /* Every tensor, with room to pad matrices. */
    const size_t per_layer = width + machine->in_stride * width +
                             model->channels * (model->taps + 1) +
                             3 * model->heads + model->inner +
                             model->inner * width;
    const size_t tokens = round_up(model->token_count, machine->lanes);
    const size_t capacity =
        model->layer_count * per_layer + width * (2 * tokens + 1);
    struct upload upload = {calloc(capacity, sizeof(float)), 0};
    cl_int status = CL_SUCCESS;
    if (!upload.values)
        return out_of_memory();
    machine->embedding = add(&upload, &model->embedding);
    for (size_t i = 0; i < model->layer_count; i++)
        add_layer(machine, &upload, i);
    machine->final_norm = add(&upload, &model->final_norm);
    machine->head = add_transposed(&upload, &model->head, tokens);
    machine->weights = clCreateBuffer(
        machine->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
        upload.count * sizeof(float), upload.values, &status);
    free(upload.values);
    return check(status, "clCreateBuffer for the weights");
}

enum mamba_exit machine_open(struct machine *machine, const struct model *model,
                             const char *selection)
{
    memset(machine, 0, sizeof *machine);
    machine->model = model;
    TRY(open_device(machine, selection));
    /* A CPU's item works on a vector; a GPU's items are its lanes. */
    machine->lanes = (machine->device.type & CL_DEVICE_TYPE_CPU) != 0 ? 8 : 1;
    machine->in_stride = round_up(model->projected, machine->lanes);
    TRY(build_program(machine));
    TRY(make_kernels(machine));
    return upload_weights(machine);
}

void machine_close(struct machine *machine)
{
    machine_release(&machine->weights);
    for (int i = 0; i < KERNEL_COUNT; i++) {
        if (machine->kernels[i])
            clReleaseKernel(machine->kernels[i]);
    }
    if (machine->program)
        clReleaseProgram(machine->program);
    clmove_engine_destroy(&machine->engine);
    if (machine->queue) {
        clFinish(machine->queue);
        clReleaseCommandQueue(machine->queue);
    }
    if (machine->context)
        clReleaseContext(machine->context);
    memset(machine, 0, sizeof *machine);
}
