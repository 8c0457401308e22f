/* Calls of OpenCL, and allocations, that fail on request and are counted. */

#include "faults.h"

#include <CL/cl.h>
#include <stdlib.h>

struct faults faults;

static int fails(const char *name)
{
    if (faults.at == 0 || --faults.at > 0) {
        return 0;
    }
    faults.name = name;
    return 1;
}

/* The head of a function that stands in for another one. */
#define STAND_IN(result, name, parameters)                                     \
    result __real_##name parameters;                                           \
    result __wrap_##name parameters;                                           \
    result __wrap_##name parameters

STAND_IN(void *, malloc, (size_t size))
{
    void *made = fails("malloc") ? NULL : __real_malloc(size);
    faults.allocations += made != NULL;
    return made;
}

STAND_IN(void *, calloc, (size_t count, size_t size))
{
    void *made = fails("calloc") ? NULL : __real_calloc(count, size);
    faults.allocations += made != NULL;
    return made;
}

STAND_IN(void *, realloc, (void *old, size_t size))
{
    void *made = fails("realloc") ? NULL : __real_realloc(old, size);
    faults.allocations += made != NULL && !old;
    return made;
}

STAND_IN(void, free, (void *old))
{
    faults.allocations -= old != NULL;
    __real_free(old);
}

/* A call that gives an object, and its error by pointer. */
#define MAKES(result, name, parameters, arguments)                             \
    STAND_IN(result, name, parameters)                                         \
    {                                                                          \
        if (fails(#name)) {                                                    \
            *error = CL_OUT_OF_RESOURCES;                                      \
            return NULL;                                                       \
        }                                                                      \
        result made = __real_##name arguments;                                 \
        faults.objects += made != NULL;                                        \
        return made;                                                           \
    }

/* A call that adds `more` objects where it succeeds. */
#define ASKS(more, name, parameters, arguments)                                \
    STAND_IN(cl_int, name, parameters)                                         \
    {                                                                          \
        const cl_int status =                                                  \
            fails(#name) ? CL_OUT_OF_RESOURCES : __real_##name arguments;      \
        faults.objects += status == CL_SUCCESS ? (more) : 0;                   \
        return status;                                                         \
    }

#define INFO(name, object, what)                                               \
    ASKS(0, name,                                                              \
         (object of, what wanted, size_t size, void *value, size_t *needed),   \
         (of, wanted, size, value, needed))

/* A release never fails. */
#define RELEASES(name, object)                                                 \
    STAND_IN(cl_int, name, (object old))                                       \
    {                                                                          \
        faults.objects--;                                                      \
        return __real_##name(old);                                             \
    }

MAKES(cl_mem, clCreateBuffer,
      (cl_context context, cl_mem_flags flags, size_t size, void *host,
       cl_int *error),
      (context, flags, size, host, error))
MAKES(cl_kernel, clCreateKernel,
      (cl_program program, const char *name, cl_int *error),
      (program, name, error))
MAKES(cl_program, clCreateProgramWithSource,
      (cl_context context, cl_uint count, const char **texts,
       const size_t *sizes, cl_int *error),
      (context, count, texts, sizes, error))

ASKS(0, clBuildProgram,
     (cl_program program, cl_uint count, const cl_device_id *devices,
      const char *options,
      void(CL_CALLBACK *notify)(cl_program program, void *user), void *user),
     (program, count, devices, options, notify, user))
ASKS(event != NULL, clEnqueueNDRangeKernel,
     (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
      const size_t *offset, const size_t *global, const size_t *local,
      cl_uint wait_count, const cl_event *wait_list, cl_event *event),
     (queue, kernel, dimensions, offset, global, local, wait_count, wait_list,
      event))
ASKS(event != NULL, clEnqueueCopyBuffer,
     (cl_command_queue queue, cl_mem src, cl_mem dst, size_t src_offset,
      size_t dst_offset, size_t size, cl_uint wait_count,
      const cl_event *wait_list, cl_event *event),
     (queue, src, dst, src_offset, dst_offset, size, wait_count, wait_list,
      event))
ASKS(0, clSetKernelArg,
     (cl_kernel kernel, cl_uint index, size_t size, const void *value),
     (kernel, index, size, value))
ASKS(0, clSetKernelArgSVMPointer,
     (cl_kernel kernel, cl_uint index, const void *value),
     (kernel, index, value))
ASKS(0, clGetKernelWorkGroupInfo,
     (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info wanted,
      size_t size, void *value, size_t *needed),
     (kernel, device, wanted, size, value, needed))
INFO(clGetCommandQueueInfo, cl_command_queue, cl_command_queue_info)
INFO(clGetContextInfo, cl_context, cl_context_info)
INFO(clGetEventInfo, cl_event, cl_event_info)
INFO(clGetMemObjectInfo, cl_mem, cl_mem_info)
ASKS(1, clRetainCommandQueue, (cl_command_queue queue), (queue))
ASKS(1, clRetainContext, (cl_context context), (context))
ASKS(1, clRetainEvent, (cl_event event), (event))
ASKS(1, clRetainMemObject, (cl_mem buffer), (buffer))
RELEASES(clReleaseCommandQueue, cl_command_queue)
RELEASES(clReleaseContext, cl_context)
RELEASES(clReleaseEvent, cl_event)
RELEASES(clReleaseKernel, cl_kernel)
RELEASES(clReleaseMemObject, cl_mem)
RELEASES(clReleaseProgram, cl_program)
