/* The tool's own kernels, built for a session. */

#include "kernels.h"

#include "embedded.h"
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

/* As in replay.cl. */
struct device_shape {
    cl_ulong page_size, layer_size, first_layer, layers;
    cl_ulong taps, width, dim, element_size, channels_first;
    cl_ulong temporal_offset, temporal_size;
    cl_ulong block_count, columns, slots;
};

struct argument {
    size_t size;
    const void *value;
};
#define ARGUMENT(value)                                                        \
    {                                                                          \
        sizeof(value), &(value)                                                \
    }

static void print_build_log(cl_program program, cl_device_id device)
{
    size_t size = 0;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL,
                          &size);
    char *text = calloc(size + 1, 1);
    if (!text)
        return;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, text,
                          NULL);
    cli_error("the compiler says:\n%s", text);
    free(text);
}

cl_program kernels_build(const struct session *session, const char *file,
                         const char *options)
{
    const char *text = NULL;
    for (size_t i = 0; i < tools_kernel_file_count; i++) {
        if (strcmp(tools_kernel_files[i].name, file) == 0)
            text = tools_kernel_files[i].text;
    }
    cl_int code = CL_SUCCESS;
    cl_device_id device = session->device.device;
    cl_program program =
        clCreateProgramWithSource(session->context, 1, &text, NULL, &code);
    if (session_failed(code, "clCreateProgramWithSource"))
        return NULL;
    code = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (code == CL_SUCCESS)
        return program;
    cli_error("building %s failed: %s (%d)", file, clmove_status_name(code),
              code);
    print_build_log(program, device);
    clReleaseProgram(program);
    return NULL;
}

static bool build(struct kernels *kernels, const struct session *session)
{
    cl_int code = CL_SUCCESS;
    cl_device_id device = session->device.device;
    kernels->program = kernels_build(session, "replay.cl", "-cl-std=CL1.2");
    if (!kernels->program)
        return false;
    const struct {
        cl_kernel *kernel;
        const char *name;
    } list[] = {
        {&kernels->fill, "fill"},         {&kernels->admit, "admit"},
        {&kernels->sample, "sample"},     {&kernels->advance, "advance"},
        {&kernels->stamp, "stamp"},       {&kernels->check, "check"},
        {&kernels->checksum, "checksum"}, {&kernels->keep, "keep"},
        {&kernels->expect, "expect"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        *list[i].kernel = clCreateKernel(kernels->program, list[i].name, &code);
        if (session_failed(code, list[i].name))
            return false;
        size_t limit = 0;
        code = clGetKernelWorkGroupInfo(*list[i].kernel, device,
                                        CL_KERNEL_WORK_GROUP_SIZE, sizeof limit,
                                        &limit, NULL);
        if (session_failed(code, "clGetKernelWorkGroupInfo"))
            return false;
        if (limit < kernels->group_size)
            kernels->group_size = limit;
    }
    return true;
}

bool kernels_create(struct kernels *kernels, const struct session *session)
{
    memset(kernels, 0, sizeof *kernels);
    kernels->queue = session->queue;
    bool cpu = (session->device.type & CL_DEVICE_TYPE_CPU) != 0;
    kernels->group_size = cpu ? 64 : 256;
    kernels->group_count = cpu ? 1 : 16;
    if (!build(kernels, session))
        return false;
    /* The tail of a temporal state needs 7 work-items. */
    if (kernels->group_size * kernels->group_count < 8)
        kernels->group_count = 8;
    return true;
}

bool kernels_bind(struct kernels *kernels, const struct session *session,
                  const struct pool *pool, uint32_t columns, uint32_t slots)
{
    const struct pool_shape *shape = &pool->shape;
    kernels->shapes = calloc(shape->buffer_count, sizeof *kernels->shapes);
    if (!kernels->shapes) {
        cli_error("out of memory");
        return false;
    }
    kernels->shape_count = shape->buffer_count;
    for (uint32_t i = 0; i < shape->buffer_count; i++) {
        struct device_shape described;
        described.page_size = shape->page_size;
        described.layer_size = shape->layer_size;
        described.first_layer = (cl_ulong)i * shape->layers_per_buffer;
        described.layers = pool_buffer_layers(shape, i);
        described.taps = shape->taps;
        described.width = shape->width;
        described.dim = shape->dim;
        described.element_size = shape->element_size;
        described.channels_first = shape->channels_first;
        described.temporal_offset = shape->temporal_offset;
        described.temporal_size = shape->temporal_size;
        described.block_count = shape->block_count;
        described.columns = columns;
        described.slots = slots;
        kernels->shapes[i] =
            session_buffer(session, sizeof described, "the pool's shape");
        if (!kernels->shapes[i])
            return false;
        cl_int code =
            clEnqueueWriteBuffer(kernels->queue, kernels->shapes[i], CL_TRUE, 0,
                                 sizeof described, &described, 0, NULL, NULL);
        if (session_failed(code, "clEnqueueWriteBuffer"))
            return false;
    }
    return true;
}

static void release(cl_kernel *kernel)
{
    if (*kernel)
        clReleaseKernel(*kernel);
    *kernel = NULL;
}

void kernels_destroy(struct kernels *kernels)
{
    release(&kernels->fill);
    release(&kernels->admit);
    release(&kernels->sample);
    release(&kernels->advance);
    release(&kernels->stamp);
    release(&kernels->check);
    release(&kernels->checksum);
    release(&kernels->keep);
    release(&kernels->expect);
    for (uint32_t i = 0; i < kernels->shape_count; i++)
        session_release(&kernels->shapes[i]);
    free(kernels->shapes);
    if (kernels->program)
        clReleaseProgram(kernels->program);
    memset(kernels, 0, sizeof *kernels);
}

static bool run(const struct kernels *kernels, cl_kernel kernel,
                const char *name, const struct argument *arguments,
                cl_uint count, cl_uint dimensions, const size_t *global,
                const size_t *local)
{
    for (cl_uint i = 0; i < count; i++) {
        cl_int code =
            clSetKernelArg(kernel, i, arguments[i].size, arguments[i].value);
        if (session_failed(code, name)) {
            cli_error("argument %u of kernel %s was refused", i, name);
            return false;
        }
    }
    cl_int code = clEnqueueNDRangeKernel(kernels->queue, kernel, dimensions,
                                         NULL, global, local, 0, NULL, NULL);
    return !session_failed(code, name);
}
#define RUN(kernels, name, arguments, dimensions, global, local)               \
    run(kernels, (kernels)->name, "the kernel " #name, arguments,              \
        sizeof(arguments) / sizeof *(arguments), dimensions, global, local)

bool kernels_fill(const struct kernels *kernels, cl_mem buffer, uint64_t size,
                  uint64_t seed)
{
    cl_ulong count = size / 8, start = seed;
    const struct argument arguments[] = {ARGUMENT(buffer), ARGUMENT(count),
                                         ARGUMENT(start)};
    size_t local = kernels->group_size;
    size_t groups = (size_t)(count / local) + 1;
    size_t global = local * (groups < 4096 ? groups : 4096);
    return RUN(kernels, fill, arguments, 1, &global, &local);
}

bool kernels_admit(const struct kernels *kernels, uint32_t slots,
                   cl_mem admitted, cl_mem accepted, cl_mem column)
{
    cl_int not_admitted = SCHEDULE_NOT_ADMITTED;
    const struct argument arguments[] = {ARGUMENT(admitted), ARGUMENT(accepted),
                                         ARGUMENT(column),
                                         ARGUMENT(not_admitted)};
    size_t global = slots;
    return RUN(kernels, admit, arguments, 1, &global, NULL);
}

bool kernels_sample(const struct kernels *kernels, uint32_t slots,
                    cl_mem scheduled, cl_mem sampled, cl_mem accepted)
{
    const struct argument arguments[] = {ARGUMENT(scheduled), ARGUMENT(sampled),
                                         ARGUMENT(accepted)};
    size_t global = slots;
    return RUN(kernels, sample, arguments, 1, &global, NULL);
}

bool kernels_advance(const struct kernels *kernels, uint32_t slots,
                     cl_mem computed, cl_mem scheduled, cl_mem draft,
                     cl_mem sampled, cl_mem now)
{
    const struct argument arguments[] = {ARGUMENT(computed),
                                         ARGUMENT(scheduled), ARGUMENT(draft),
                                         ARGUMENT(sampled), ARGUMENT(now)};
    size_t global = slots;
    return RUN(kernels, advance, arguments, 1, &global, NULL);
}

bool kernels_stamp(const struct kernels *kernels, const struct pool *pool,
                   const struct kernels_slots *arrays)
{
    bool fine = true;
    for (uint32_t i = 0; fine && i < pool->shape.buffer_count; i++) {
        cl_mem buffer = pool->buffers[i];
        cl_mem shape = kernels->shapes[i];
        const struct argument arguments[] = {
            ARGUMENT(buffer),         ARGUMENT(shape),
            ARGUMENT(arrays->table),  ARGUMENT(arrays->request),
            ARGUMENT(arrays->active), ARGUMENT(arrays->tokens),
            ARGUMENT(arrays->count),  ARGUMENT(arrays->column)};
        size_t local[3] = {kernels->group_size, 1, 1};
        size_t global[3] = {kernels->group_size * kernels->group_count,
                            arrays->slots, pool_buffer_layers(&pool->shape, i)};
        fine = RUN(kernels, stamp, arguments, 3, global, local);
    }
    return fine;
}

bool kernels_check(const struct kernels *kernels, const struct pool *pool,
                   const struct kernels_slots *arrays, cl_mem bad)
{
    bool fine = true;
    for (uint32_t i = 0; fine && i < pool->shape.buffer_count; i++) {
        cl_mem buffer = pool->buffers[i];
        cl_mem shape = kernels->shapes[i];
        const struct argument arguments[] = {ARGUMENT(buffer),
                                             ARGUMENT(shape),
                                             ARGUMENT(arrays->table),
                                             ARGUMENT(arrays->request),
                                             ARGUMENT(arrays->active),
                                             ARGUMENT(arrays->tokens),
                                             ARGUMENT(arrays->count),
                                             ARGUMENT(arrays->column),
                                             ARGUMENT(bad)};
        size_t local[3] = {kernels->group_size, 1, 1};
        size_t global[3] = {kernels->group_size * kernels->group_count,
                            arrays->slots, pool_buffer_layers(&pool->shape, i)};
        fine = RUN(kernels, check, arguments, 3, global, local);
    }
    return fine;
}

bool kernels_checksum(const struct kernels *kernels, const struct pool *pool,
                      cl_mem blocks, size_t count, cl_mem sums)
{
    bool fine = true;
    for (uint32_t i = 0; fine && i < pool->shape.buffer_count; i++) {
        cl_mem buffer = pool->buffers[i];
        cl_mem shape = kernels->shapes[i];
        cl_ulong listed = count;
        size_t local[2] = {kernels->group_size, 1};
        size_t global[2] = {kernels->group_size * count,
                            pool_buffer_layers(&pool->shape, i)};
        const struct argument arguments[] = {
            ARGUMENT(buffer), ARGUMENT(shape),
            ARGUMENT(blocks), ARGUMENT(listed),
            ARGUMENT(sums),   {local[0] * sizeof(cl_ulong), NULL}};
        fine = RUN(kernels, checksum, arguments, 2, global, local);
    }
    return fine;
}

/* The numbers of all blocks. */
static cl_mem all_blocks(const struct session *session, uint32_t count)
{
    size_t size = count * sizeof(cl_int);
    cl_int *ids = malloc(size);
    if (!ids) {
        cli_error("out of memory");
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        ids[i] = (cl_int)i;
    cl_mem buffer = session_buffer(session, size, "block ids");
    if (buffer &&
        session_failed(clEnqueueWriteBuffer(session->queue, buffer, CL_TRUE, 0,
                                            size, ids, 0, NULL, NULL),
                       "clEnqueueWriteBuffer"))
        session_release(&buffer);
    free(ids);
    return buffer;
}

bool kernels_checksum_all(const struct kernels *kernels,
                          const struct session *session,
                          const struct pool *pool, uint64_t *sums)
{
    uint32_t count = pool->shape.block_count;
    size_t size = (size_t)pool->shape.layers * count * sizeof *sums;
    cl_mem blocks = all_blocks(session, count);
    cl_mem results = session_buffer(session, size, "checksums");
    bool fine =
        blocks && results &&
        kernels_checksum(kernels, pool, blocks, count, results) &&
        !session_failed(clEnqueueReadBuffer(session->queue, results, CL_TRUE, 0,
                                            size, sums, 0, NULL, NULL),
                        "clEnqueueReadBuffer");
    session_release(&blocks);
    session_release(&results);
    return fine;
}

bool kernels_keep(const struct kernels *kernels, const struct pool *pool,
                  cl_mem blocks, size_t count, const cl_mem *kept)
{
    bool fine = true;
    for (uint32_t i = 0; fine && i < pool->shape.buffer_count; i++) {
        cl_mem buffer = pool->buffers[i];
        cl_mem shape = kernels->shapes[i];
        cl_ulong listed = count;
        const struct argument arguments[] = {ARGUMENT(buffer), ARGUMENT(shape),
                                             ARGUMENT(blocks), ARGUMENT(listed),
                                             ARGUMENT(kept[i])};
        size_t local[3] = {kernels->group_size, 1, 1};
        size_t global[3] = {kernels->group_size * kernels->group_count, count,
                            pool_buffer_layers(&pool->shape, i)};
        fine = RUN(kernels, keep, arguments, 3, global, local);
    }
    return fine;
}

bool kernels_expect(const struct kernels *kernels, const struct pool *pool,
                    const cl_mem *kept, size_t kept_count, cl_mem copies,
                    size_t count, cl_mem bad)
{
    bool fine = true;
    for (uint32_t i = 0; fine && i < pool->shape.buffer_count; i++) {
        cl_mem buffer = pool->buffers[i];
        cl_mem shape = kernels->shapes[i];
        cl_ulong pages = kept_count;
        const struct argument arguments[] = {ARGUMENT(buffer),  ARGUMENT(shape),
                                             ARGUMENT(kept[i]), ARGUMENT(pages),
                                             ARGUMENT(copies),  ARGUMENT(bad)};
        size_t local[3] = {kernels->group_size, 1, 1};
        size_t global[3] = {kernels->group_size * kernels->group_count, count,
                            pool_buffer_layers(&pool->shape, i)};
        fine = RUN(kernels, expect, arguments, 3, global, local);
    }
    return fine;
}
