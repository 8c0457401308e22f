/* Asks OpenCL for its devices. */

#include <clmove/device.h>

#include "check.h"
#include "select.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies a string property, spaces at its ends removed, cut to `size`. */
static void trim(char *out, size_t size, const char *text)
{
    text += strspn(text, " \t\n");
    size_t used = strlen(text);
    while (used > 0 && strchr(" \t\n", text[used - 1]) != NULL)
        used--;
    if (used > size - 1)
        used = size - 1;
    memcpy(out, text, used);
    out[used] = '\0';
}

static cl_int device_string(cl_device_id device, cl_device_info what, char *out,
                            size_t size)
{
    size_t needed = 0;
    cl_int status = clGetDeviceInfo(device, what, 0, NULL, &needed);
    if (status != CL_SUCCESS)
        return status;
    char *text = calloc(needed + 1, 1);
    if (text == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    status = clGetDeviceInfo(device, what, needed, text, NULL);
    if (status == CL_SUCCESS)
        trim(out, size, text);
    free(text);
    return status;
}

static cl_int platform_string(cl_platform_id platform, cl_platform_info what,
                              char *out, size_t size)
{
    size_t needed = 0;
    cl_int status = clGetPlatformInfo(platform, what, 0, NULL, &needed);
    if (status != CL_SUCCESS)
        return status;
    char *text = calloc(needed + 1, 1);
    if (text == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    status = clGetPlatformInfo(platform, what, needed, text, NULL);
    if (status == CL_SUCCESS)
        trim(out, size, text);
    free(text);
    return status;
}

/* 120 for a text that has "1.2" as its first number. */
static uint32_t version_number(const char *text)
{
    unsigned major = 0;
    unsigned minor = 0;
    text += strcspn(text, "0123456789");
    if (sscanf(text, "%u.%u", &major, &minor) != 2 || major > 99 || minor > 9)
        return 0;
    return major * 100 + minor * 10;
}

struct capabilities {
    cl_bool available, compiler, little_endian, int64;
};

static const char *unsupported_reason(const struct clmove_device_info *info,
                                      const struct capabilities *has)
{
    if (!has->available)
        return "the device is not available";
    if (!has->compiler)
        return "its driver has no compiler";
    if (info->c_version_number < 120)
        return "its OpenCL C is older than 1.2";
    if (!has->little_endian)
        return "it is big-endian";
    if (!has->int64)
        return "it has no 64-bit integers (cles_khr_int64)";
    if (info->local_size < 1024)
        return "it has less than 1024 bytes of local memory";
    if (info->max_parameter_size < 512)
        return "its kernels take less than 512 bytes of arguments";
    return NULL;
}

static cl_int query_capabilities(cl_device_id device, struct capabilities *has)
{
    char profile[64] = "";
    char extensions[8192] = "";
    cl_int status = clGetDeviceInfo(device, CL_DEVICE_AVAILABLE,
                                    sizeof(cl_bool), &has->available, NULL);
    if (status == CL_SUCCESS)
        status = clGetDeviceInfo(device, CL_DEVICE_COMPILER_AVAILABLE,
                                 sizeof(cl_bool), &has->compiler, NULL);
    if (status == CL_SUCCESS)
        status = clGetDeviceInfo(device, CL_DEVICE_ENDIAN_LITTLE,
                                 sizeof(cl_bool), &has->little_endian, NULL);
    if (status == CL_SUCCESS)
        status =
            device_string(device, CL_DEVICE_PROFILE, profile, sizeof profile);
    if (status == CL_SUCCESS)
        status = device_string(device, CL_DEVICE_EXTENSIONS, extensions,
                               sizeof extensions);
    /* The full profile always has them. */
    has->int64 = strcmp(profile, "EMBEDDED_PROFILE") != 0 ||
                 strstr(extensions, "cles_khr_int64") != NULL;
    return status;
}

static cl_int query_strings(struct clmove_device_info *info)
{
    const struct {
        cl_device_info what;
        char *out;
        size_t size;
    } wanted[] = {
        {CL_DEVICE_NAME, info->name, sizeof info->name},
        {CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor},
        {CL_DEVICE_VERSION, info->version, sizeof info->version},
        {CL_DRIVER_VERSION, info->driver_version, sizeof info->driver_version},
        {CL_DEVICE_OPENCL_C_VERSION, info->c_version, sizeof info->c_version},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const cl_int status = device_string(info->device, wanted[i].what,
                                            wanted[i].out, wanted[i].size);
        if (status != CL_SUCCESS)
            return status;
    }
    return platform_string(info->platform, CL_PLATFORM_NAME,
                           info->platform_name, sizeof info->platform_name);
}

static cl_int query_numbers(struct clmove_device_info *info)
{
    size_t sizes[16] = {0};
    cl_uint dimensions = 0;
    const struct {
        cl_device_info what;
        size_t size;
        void *out;
    } wanted[] = {
        {CL_DEVICE_TYPE, sizeof info->type, &info->type},
        {CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint), &info->compute_units},
        {CL_DEVICE_ADDRESS_BITS, sizeof(cl_uint), &info->address_bits},
        {CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(cl_uint),
         &info->base_align_bits},
        {CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t), &info->max_group_size},
        {CL_DEVICE_MAX_PARAMETER_SIZE, sizeof(size_t),
         &info->max_parameter_size},
        {CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong), &info->local_size},
        {CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong), &info->global_size},
        {CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong), &info->max_allocation},
        {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, sizeof dimensions, &dimensions},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const cl_int status = clGetDeviceInfo(
            info->device, wanted[i].what, wanted[i].size, wanted[i].out, NULL);
        if (status != CL_SUCCESS)
            return status;
    }
    if (dimensions > sizeof sizes / sizeof sizes[0])
        return CL_SUCCESS;
    const cl_int status =
        clGetDeviceInfo(info->device, CL_DEVICE_MAX_WORK_ITEM_SIZES,
                        dimensions * sizeof sizes[0], sizes, NULL);
    if (status == CL_SUCCESS && sizes[0] < info->max_group_size)
        info->max_group_size = sizes[0]; /* the limit per dimension */
    return status;
}

/* All of `info` but the indices. */
static cl_int query(cl_device_id device, struct clmove_device_info *info)
{
    struct capabilities has = {0};
    info->device = device;
    cl_int status =
        clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof info->platform,
                        &info->platform, NULL);
    if (status == CL_SUCCESS)
        status = query_strings(info);
    if (status == CL_SUCCESS)
        status = query_numbers(info);
    if (status == CL_SUCCESS)
        status = query_capabilities(device, &has);
    if (status != CL_SUCCESS)
        return status;
    info->version_number = version_number(info->version);
    info->c_version_number = version_number(info->c_version);
    cl_device_svm_capabilities svm = 0;
    if (info->version_number >= 200 &&
        clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm,
                        NULL) == CL_SUCCESS)
        info->svm = svm;
    info->unsupported = unsupported_reason(info, &has);
    return CL_SUCCESS;
}

struct list {
    struct clmove_device_info *infos;
    size_t count;
};

/* Adds the devices of one platform; on failure the list is as before. */
static cl_int add_platform(struct list *list, cl_platform_id platform,
                           uint32_t platform_index)
{
    cl_uint count = 0;
    cl_int status =
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count);
    if (status == CL_DEVICE_NOT_FOUND || (status == CL_SUCCESS && count == 0))
        return CL_SUCCESS;
    if (status != CL_SUCCESS)
        return status;
    const size_t total = list->count + count;
    struct clmove_device_info *grown =
        realloc(list->infos, total * sizeof *grown);
    if (grown == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    list->infos = grown;
    cl_device_id *devices = calloc(count, sizeof(cl_device_id));
    if (devices == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    status = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices, NULL);
    for (cl_uint i = 0; i < count && status == CL_SUCCESS; i++) {
        struct clmove_device_info *info = &list->infos[list->count + i];
        memset(info, 0, sizeof *info);
        status = query(devices[i], info);
        info->platform_index = platform_index;
        info->device_index = i;
    }
    free(devices);
    if (status == CL_SUCCESS)
        list->count = total;
    return status;
}

clmove_status clmove_device_list(const struct clmove_log *log,
                                 struct clmove_device_info **infos,
                                 size_t *count)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct list list = {NULL, 0};
    cl_platform_id *platforms = NULL;
    cl_uint platform_count = 0;
    CHECK(infos != NULL && count != NULL, CLMOVE_INVALID_ARGUMENT, "%s is NULL",
          infos == NULL ? "infos" : "count");
    *infos = NULL;
    *count = 0;
    /* Every failure here means that the loader found nothing to ask. */
    if (clGetPlatformIDs(0, NULL, &platform_count) != CL_SUCCESS ||
        platform_count == 0)
        goto out;
    platforms = calloc(platform_count, sizeof(cl_platform_id));
    CHECK_MEMORY(platforms);
    CHECK_CL(clGetPlatformIDs(platform_count, platforms, NULL));
    for (cl_uint i = 0; i < platform_count; i++) {
        const cl_int result = add_platform(&list, platforms[i], i);
        CHECK(result != CL_OUT_OF_HOST_MEMORY, result, "out of host memory");
        if (result != CL_SUCCESS)
            log_message(log, CLMOVE_LOG_WARNING, result,
                        "platform %u is skipped: asking for its devices gave "
                        "%s",
                        i, clmove_status_name(result));
    }
    if (list.count > 0) {
        *infos = list.infos;
        *count = list.count;
        list.infos = NULL;
    }
out:
    free(list.infos);
    free(platforms);
    return status;
}

void clmove_device_list_free(struct clmove_device_info **infos)
{
    if (infos == NULL)
        return;
    free(*infos);
    *infos = NULL;
}

/* The devices there are, a line each, as the rest of a refusal. */
static char *list_text(const struct clmove_device_info *infos, size_t count)
{
    const size_t line = sizeof infos->name + sizeof infos->platform_name + 200;
    const size_t size = count * line + 64;
    char *text = malloc(size);
    if (text == NULL)
        return NULL;
    size_t used = (size_t)snprintf(text, size, "%s",
                                   count == 0 ? "there is no OpenCL device"
                                              : "the devices are");
    for (size_t i = 0; i < count; i++) {
        const struct clmove_device_info *info = &infos[i];
        used += (size_t)snprintf(
            text + used, size - used, "\n  %u:%u  %s (%s)%s%s",
            info->platform_index, info->device_index, info->name,
            info->platform_name,
            info->unsupported == NULL ? "" : ", not usable: ",
            info->unsupported == NULL ? "" : info->unsupported);
    }
    return text;
}

static const char *refusal(clmove_status status)
{
    switch (status) {
    case CLMOVE_AMBIGUOUS_DEVICE:
        return "several devices answer";
    case CLMOVE_UNSUPPORTED_DEVICE:
        return "no usable device answers";
    default:
        return "no device answers";
    }
}

clmove_status clmove_device_select(const char *selection,
                                   const struct clmove_log *log,
                                   struct clmove_device_info *info)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct clmove_device_info *infos = NULL;
    char *text = NULL;
    size_t count = 0;
    size_t index = 0;
    const char *origin = "selection";
    CHECK(info != NULL, CLMOVE_INVALID_ARGUMENT, "info is NULL");
    if (selection == NULL || selection[0] == '\0') {
        selection = getenv("CLMOVE_DEVICE");
        origin = selection == NULL || selection[0] == '\0' ? "default selection"
                                                           : "CLMOVE_DEVICE";
    }
    CHECK_STATUS(clmove_device_list(log, &infos, &count));
    status = select_device(infos, count, selection, &index);
    if (status == CLMOVE_SUCCESS) {
        *info = infos[index];
        goto out;
    }
    text = list_text(infos, count);
    log_message(log, CLMOVE_LOG_ERROR, status, "%s to the %s \"%s\"; %s",
                refusal(status), origin,
                selection == NULL || selection[0] == '\0'
                    ? "gpu, accelerator, cpu"
                    : selection,
                text == NULL ? "" : text);
out:
    free(text);
    clmove_device_list_free(&infos);
    return status;
}

clmove_status clmove_device_describe(cl_device_id device,
                                     struct clmove_device_info *info)
{
    if (info == NULL)
        return CLMOVE_INVALID_ARGUMENT;
    memset(info, 0, sizeof *info);
    const cl_int status = query(device, info);
    if (status != CL_SUCCESS)
        return status;
    info->platform_index = UINT32_MAX;
    info->device_index = UINT32_MAX;
    struct clmove_device_info *infos = NULL;
    size_t count = 0;
    if (clmove_device_list(NULL, &infos, &count) != CLMOVE_SUCCESS)
        return CLMOVE_SUCCESS; /* the indices are all that is missing */
    for (size_t i = 0; i < count; i++) {
        if (infos[i].device == device) {
            info->platform_index = infos[i].platform_index;
            info->device_index = infos[i].device_index;
        }
    }
    clmove_device_list_free(&infos);
    return CLMOVE_SUCCESS;
}
