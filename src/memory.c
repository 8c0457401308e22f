/* Looks up a clmove_memory: root buffer, origin, size, access flags. */

#include "memory.h"

#include "util.h"

bool memory_is_absent(const struct clmove_memory *memory)
{
    return memory->buffer == NULL && memory->pointer == NULL &&
           memory->pointer_kind == 0 && memory->offset == 0 &&
           memory->size == 0;
}

static clmove_status look_up_pointer(const struct memory_use *use,
                                     const char *name,
                                     const struct clmove_memory *memory,
                                     struct memory_view *view)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = use->log;
    const uint64_t address = (uintptr_t)memory->pointer;
    uint64_t end = 0;
    CHECK(memory->pointer_kind == CLMOVE_POINTER_SVM, CLMOVE_UNSUPPORTED,
          "%s: pointer_kind is %u, and only CLMOVE_POINTER_SVM (0) is "
          "supported",
          name, memory->pointer_kind);
    CHECK(use->device->svm != 0, CLMOVE_UNSUPPORTED,
          "%s: a pointer is given, and the device %s has no shared virtual "
          "memory",
          name, use->device->name);
    CHECK(memory->size != 0, CLMOVE_INVALID_ARGUMENT,
          "%s: size is 0, and a pointer needs one", name);
    CHECK(add_checked(address, memory->offset, &end) &&
              add_checked(end, memory->size, &end),
          CLMOVE_OUT_OF_RANGE,
          "%s: offset %zu + size %zu runs over the address space", name,
          memory->offset, memory->size);
    *view = (struct memory_view){
        .pointer = memory->pointer,
        .handle_origin = address,
        .handle_size = memory->offset + memory->size,
        .offset = memory->offset,
        .size = memory->size,
        .misalignment = address % 16,
        .flags = CL_MEM_READ_WRITE,
    };
out:
    return status;
}

static clmove_status check_access(const struct memory_use *use,
                                  const char *name, cl_mem_flags flags)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = use->log;
    CHECK(!use->writes || (flags & CL_MEM_READ_ONLY) == 0, CLMOVE_ACCESS_DENIED,
          "%s: the buffer is CL_MEM_READ_ONLY, and the call writes it", name);
    CHECK(!use->reads || (flags & CL_MEM_WRITE_ONLY) == 0, CLMOVE_ACCESS_DENIED,
          "%s: the buffer is CL_MEM_WRITE_ONLY, and the call reads it", name);
out:
    return status;
}

static clmove_status look_up_buffer(const struct memory_use *use,
                                    const char *name,
                                    const struct clmove_memory *memory,
                                    struct memory_view *view)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = use->log;
    cl_context context = NULL;
    cl_mem parent = NULL;
    cl_mem_object_type type = 0;
    cl_mem_flags flags = 0;
    size_t origin = 0;
    size_t size = 0;
    void *host = NULL;
    const cl_mem buffer = memory->buffer;
    status = clGetMemObjectInfo(buffer, CL_MEM_TYPE, sizeof type, &type, NULL);
    CHECK(status == CL_SUCCESS && type == CL_MEM_OBJECT_BUFFER,
          CLMOVE_INVALID_ARGUMENT, "%s: the handle is no OpenCL buffer", name);
    CHECK_CL(clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof context,
                                &context, NULL));
    CHECK(context == use->context, CLMOVE_INVALID_ARGUMENT,
          "%s: the buffer belongs to another context than the engine", name);
    CHECK_CL(clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL));
    CHECK_CL(
        clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    CHECK_CL(clGetMemObjectInfo(buffer, CL_MEM_ASSOCIATED_MEMOBJECT,
                                sizeof parent, &parent, NULL));
    if (parent != NULL)
        CHECK_CL(clGetMemObjectInfo(buffer, CL_MEM_OFFSET, sizeof origin,
                                    &origin, NULL));
    if ((flags & CL_MEM_USE_HOST_PTR) != 0)
        CHECK_CL(clGetMemObjectInfo(buffer, CL_MEM_HOST_PTR, sizeof host, &host,
                                    NULL));
    CHECK(memory->pointer_kind == 0, CLMOVE_INVALID_ARGUMENT,
          "%s: pointer_kind is %u, and a buffer has none", name,
          memory->pointer_kind);
    CHECK(memory->offset <= size, CLMOVE_OUT_OF_RANGE,
          "%s: offset %zu lies past the buffer's %zu bytes", name,
          memory->offset, size);
    CHECK(memory->size <= size - memory->offset, CLMOVE_OUT_OF_RANGE,
          "%s: offset %zu + size %zu runs past the buffer's %zu bytes", name,
          memory->offset, memory->size, size);
    CHECK_STATUS(check_access(use, name, flags));
    *view = (struct memory_view){
        .root = parent != NULL ? parent : buffer,
        .handle = buffer,
        .handle_origin = origin,
        .handle_size = size,
        .offset = memory->offset,
        .size = memory->size != 0 ? memory->size : size - memory->offset,
        .misalignment = (uintptr_t)host % 16,
        .flags = flags,
    };
out:
    return status;
}

clmove_status memory_look_up(const struct memory_use *use, const char *name,
                             const struct clmove_memory *memory,
                             struct memory_view *view)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = use->log;
    CHECK(memory->buffer == NULL || memory->pointer == NULL,
          CLMOVE_INVALID_ARGUMENT,
          "%s: both buffer and pointer are set, and exactly one must be", name);
    CHECK(memory->buffer != NULL || memory->pointer != NULL,
          CLMOVE_INVALID_ARGUMENT, "%s: neither buffer nor pointer is set",
          name);
    status = memory->buffer != NULL ? look_up_buffer(use, name, memory, view)
                                    : look_up_pointer(use, name, memory, view);
out:
    return status;
}

cl_int memory_set_argument(cl_kernel kernel, cl_uint index,
                           const struct memory_binding *binding)
{
    if (binding != NULL && binding->pointer != NULL)
        return clSetKernelArgSVMPointer(kernel, index, binding->pointer);
    const cl_mem handle = binding == NULL ? NULL : binding->handle;
    return clSetKernelArg(kernel, index, sizeof handle, &handle);
}
