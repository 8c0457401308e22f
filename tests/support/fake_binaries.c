/* A driver that gives binaries, counts its calls, and fails when told to. */

#include "next_function.h"

#include "fake_binaries.h"

#include <pthread.h>

struct fake_binaries fake_binaries;

enum { NAME_SIZE = 64, PROGRAMS = 64 };

static const char pocl_name[] = "Portable Computing Language";

/* Programs that came from a binary. */
static struct {
    pthread_mutex_t mutex;
    cl_program programs[PROGRAMS];
} made = {PTHREAD_MUTEX_INITIALIZER, {NULL}};

/* Replaces `old` in the list of programs; NULL is a free place. */
static int replace_program(cl_program old, cl_program new)
{
    int found = 0;

    pthread_mutex_lock(&made.mutex);
    for (int i = 0; i < PROGRAMS && !found; i++) {
        if (made.programs[i] == old) {
            made.programs[i] = new;
            found = 1;
        }
    }
    pthread_mutex_unlock(&made.mutex);
    return found;
}

/* A program's address may be that of one that is gone. */
static void forget_program(cl_program program)
{
    while (program && replace_program(program, NULL)) {
    }
}

static int is_from_binary(cl_program program)
{
    return replace_program(program, program);
}

static cl_int give_text(const char *text, size_t size, void *value,
                        size_t *size_ret)
{
    if (value && size < strlen(text) + 1) {
        return CL_INVALID_VALUE;
    }
    if (value) {
        memcpy(value, text, strlen(text) + 1);
    }
    if (size_ret) {
        *size_ret = strlen(text) + 1;
    }
    return CL_SUCCESS;
}

static cl_int real_platform_info(cl_platform_id platform, cl_platform_info what,
                                 size_t size, void *value, size_t *size_ret)
{
    cl_int(CL_API_CALL * real)(cl_platform_id, cl_platform_info, size_t, void *,
                               size_t *);

    find_next("clGetPlatformInfo", &real);
    return real(platform, what, size, value, size_ret);
}

static int is_pocl(cl_platform_id platform)
{
    char name[256] = "";

    real_platform_info(platform, CL_PLATFORM_NAME, sizeof(name) - 1, name,
                       NULL);
    return strcmp(name, pocl_name) == 0;
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                     cl_platform_info what, size_t size,
                                     void *value, size_t *size_ret)
{
    if (what == CL_PLATFORM_NAME && is_pocl(platform)) {
        return give_text("Platform with binaries", size, value, size_ret);
    }
    if (what == CL_PLATFORM_VERSION && fake_binaries.no_platform_version) {
        if (value) {
            memset(value, rand() & 0xff, size); /* must not be used */
        }
        return CL_INVALID_VALUE;
    }
    return real_platform_info(platform, what, size, value, size_ret);
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info what,
                                   size_t size, void *value, size_t *size_ret)
{
    cl_int(CL_API_CALL * real)(cl_device_id, cl_device_info, size_t, void *,
                               size_t *);

    if (what == CL_DRIVER_VERSION && fake_binaries.driver_version) {
        return give_text(fake_binaries.driver_version, size, value, size_ret);
    }
    find_next("clGetDeviceInfo", &real);
    if (what == CL_DEVICE_LOCAL_MEM_SIZE && fake_binaries.local_size != 0) {
        memcpy(value, &fake_binaries.local_size, sizeof(cl_ulong));
        return CL_SUCCESS;
    }
    return real(device, what, size, value, size_ret);
}

static void device_name(cl_device_id device, char name[NAME_SIZE])
{
    memset(name, 0, NAME_SIZE);
    clGetDeviceInfo(device, CL_DEVICE_NAME, NAME_SIZE - 1, name, NULL);
}

static int is_pocl_device(cl_device_id device)
{
    cl_platform_id platform = NULL;

    clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform,
                    NULL);
    return is_pocl(platform);
}

static cl_program real_from_source(cl_context context, cl_uint count,
                                   const char **texts, const size_t *sizes,
                                   cl_int *error)
{
    cl_program(CL_API_CALL * real)(cl_context, cl_uint, const char **,
                                   const size_t *, cl_int *);
    cl_program program;

    find_next("clCreateProgramWithSource", &real);
    program = real(context, count, texts, sizes, error);
    forget_program(program);
    return program;
}

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context,
                                                 cl_uint count,
                                                 const char **texts,
                                                 const size_t *sizes,
                                                 cl_int *error)
{
    fake_binaries.from_source++;
    return real_from_source(context, count, texts, sizes, error);
}

/* A program of the text behind the name, if that is the device's. */
static cl_program from_fake(cl_context context, cl_device_id device,
                            const unsigned char *binary, size_t size,
                            cl_int *accepted, cl_int *error)
{
    const char *text = (const char *)binary + NAME_SIZE;
    char name[NAME_SIZE];

    device_name(device, name);
    if (size <= NAME_SIZE || memcmp(name, binary, NAME_SIZE) != 0) {
        *accepted = *error = CL_INVALID_BINARY;
        return NULL;
    }
    size -= NAME_SIZE + 1; /* the zero at its end is no source */
    *accepted = CL_SUCCESS;
    return real_from_source(context, 1, &text, &size, error);
}

cl_program CL_API_CALL clCreateProgramWithBinary(
    cl_context context, cl_uint count, const cl_device_id *devices,
    const size_t *sizes, const unsigned char **binaries, cl_int *accepted,
    cl_int *error)
{
    cl_program(CL_API_CALL * real)(cl_context, cl_uint, const cl_device_id *,
                                   const size_t *, const unsigned char **,
                                   cl_int *, cl_int *);
    cl_program program;

    fake_binaries.from_binary++;
    if (count != 1 || !accepted || !error) {
        abort(); /* not what clmove does */
    }
    if (fake_binaries.create_status != CL_SUCCESS) {
        *error = fake_binaries.create_status;
        return NULL;
    }
    if (is_pocl_device(devices[0])) {
        program = from_fake(context, devices[0], binaries[0], sizes[0],
                            accepted, error);
    } else {
        find_next("clCreateProgramWithBinary", &real);
        program =
            real(context, count, devices, sizes, binaries, accepted, error);
    }
    if (program && fake_binaries.binary_status != CL_SUCCESS) {
        *accepted = fake_binaries.binary_status;
    }
    forget_program(program);
    if (program && !replace_program(NULL, program)) {
        abort(); /* more of them than there is room for */
    }
    return program;
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count,
                                  const cl_device_id *devices,
                                  const char *options,
                                  void(CL_CALLBACK *done)(cl_program, void *),
                                  void *user)
{
    cl_int(CL_API_CALL * real)(cl_program, cl_uint, const cl_device_id *,
                               const char *,
                               void(CL_CALLBACK *)(cl_program, void *), void *);

    if (fake_binaries.build_status != CL_SUCCESS && is_from_binary(program)) {
        return fake_binaries.build_status;
    }
    find_next("clBuildProgram", &real);
    return real(program, count, devices, options, done, user);
}

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *name,
                                     cl_int *error)
{
    cl_kernel(CL_API_CALL * real)(cl_program, const char *, cl_int *);

    if (fake_binaries.missing_kernel &&
        strcmp(name, fake_binaries.missing_kernel) == 0 &&
        is_from_binary(program)) {
        *error = CL_INVALID_KERNEL_NAME;
        return NULL;
    }
    find_next("clCreateKernel", &real);
    return real(program, name, error);
}

static cl_int real_program_info(cl_program program, cl_program_info what,
                                size_t size, void *value, size_t *size_ret)
{
    cl_int(CL_API_CALL * real)(cl_program, cl_program_info, size_t, void *,
                               size_t *);

    find_next("clGetProgramInfo", &real);
    return real(program, what, size, value, size_ret);
}

/* Writes a binary for each device that wants one; returns their number. */
static int write_binaries(unsigned char **binaries, size_t count,
                          const cl_device_id *devices, cl_program program,
                          size_t text_size)
{
    int written = 0;

    for (size_t i = 0; i < count; i++) {
        char name[NAME_SIZE];
        if (!binaries[i]) {
            continue;
        }
        device_name(devices[i], name);
        memcpy(binaries[i], name, NAME_SIZE);
        /* the zero at its end has room: sizes count it */
        real_program_info(program, CL_PROGRAM_SOURCE, text_size,
                          binaries[i] + NAME_SIZE, NULL);
        written++;
    }
    return written;
}

static cl_int fake_program_info(cl_program program, cl_program_info what,
                                size_t size, void *value,
                                const cl_device_id *devices, size_t count)
{
    size_t text_size = 0;
    int written;

    real_program_info(program, CL_PROGRAM_SOURCE, 0, NULL, &text_size);
    if (what == CL_PROGRAM_BINARY_SIZES) {
        if (size < count * sizeof(size_t)) {
            return CL_INVALID_VALUE;
        }
        for (size_t i = 0; i < count; i++) {
            ((size_t *)value)[i] = NAME_SIZE + text_size;
        }
        return CL_SUCCESS;
    }
    if (size < count * sizeof(void *)) {
        return CL_INVALID_VALUE;
    }
    written = write_binaries(value, count, devices, program, text_size);
    fake_binaries.unwanted += written > 1 ? written - 1 : 0;
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info what,
                                    size_t size, void *value, size_t *size_ret)
{
    cl_device_id devices[16] = {NULL};
    size_t devices_size = 0;

    if (!value ||
        (what != CL_PROGRAM_BINARIES && what != CL_PROGRAM_BINARY_SIZES)) {
        return real_program_info(program, what, size, value, size_ret);
    }
    if (fake_binaries.query_status != CL_SUCCESS) {
        return fake_binaries.query_status;
    }
    if (fake_binaries.empty && what == CL_PROGRAM_BINARY_SIZES) {
        memset(value, 0, size);
        return CL_SUCCESS;
    }
    real_program_info(program, CL_PROGRAM_DEVICES, sizeof(devices), devices,
                      &devices_size);
    if (!devices[0] || !is_pocl_device(devices[0])) {
        return real_program_info(program, what, size, value, size_ret);
    }
    return fake_program_info(program, what, size, value, devices,
                             devices_size / sizeof(devices[0]));
}
