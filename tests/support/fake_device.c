/* A device that passes for a GPU, so that a CPU runs the text meant for one. */

/* CLMOVE_TEST_AS: "nvidia", a GPU by that vendor, or "gpu", one by nobody in
 * particular. A source of the program, not of a library: it stands in for
 * OpenCL's own functions. */

#include "next_function.h"

#include <CL/cl.h>

static cl_int give(const void *answer, size_t answer_size, size_t size,
                   void *value, size_t *size_ret)
{
    if (value && size < answer_size) {
        return CL_INVALID_VALUE;
    }
    if (value) {
        memcpy(value, answer, answer_size);
    }
    if (size_ret) {
        *size_ret = answer_size;
    }
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info what,
                                   size_t size, void *value, size_t *size_ret)
{
    static const char vendor[] = "NVIDIA Corporation";
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    const cl_uint units = 5; /* no power of two, and more than a CPU's 2 */
    const char *as = getenv("CLMOVE_TEST_AS");
    cl_int(CL_API_CALL * real)(cl_device_id, cl_device_info, size_t, void *,
                               size_t *);

    if (as && what == CL_DEVICE_TYPE) {
        return give(&type, sizeof(type), size, value, size_ret);
    }
    if (as && what == CL_DEVICE_MAX_COMPUTE_UNITS) {
        return give(&units, sizeof(units), size, value, size_ret);
    }
    if (as && what == CL_DEVICE_VENDOR && strcmp(as, "nvidia") == 0) {
        return give(vendor, sizeof(vendor), size, value, size_ret);
    }
    find_next("clGetDeviceInfo", &real);
    return real(device, what, size, value, size_ret);
}

/* Without NVIDIA's own options, which no other compiler knows. */
cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint device_count,
                                  const cl_device_id *devices,
                                  const char *options,
                                  void(CL_CALLBACK *notify)(cl_program, void *),
                                  void *user)
{
    cl_int(CL_API_CALL * real)(cl_program, cl_uint, const cl_device_id *,
                               const char *,
                               void(CL_CALLBACK *)(cl_program, void *), void *);
    char *known = options ? strdup(options) : NULL;
    char *own = known ? strstr(known, "-cl-nv-") : NULL;
    cl_int error;

    if (getenv("CLMOVE_TEST_AS") && own) {
        memset(own, ' ', strcspn(own, " "));
    }
    find_next("clBuildProgram", &real);
    error = real(program, device_count, devices, known, notify, user);
    free(known);
    return error;
}
