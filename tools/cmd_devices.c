/* clmove devices: what there is, and what would be used. */

#include "commands.h"
#include "session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Lists the OpenCL platforms and devices with the limits that matter here,\n"
    "says which device a command without --device would use, and why a device\n"
    "cannot be used. Devices are numbered PLATFORM:DEVICE as clinfo -l does.\n"
    "Exit code 3 when there is no usable device.\n";

/* The last message of the log, instead of stderr. */
static void keep_message(void *user, int level, const char *message)
{
    char *kept = user;
    if (level == CLMOVE_LOG_ERROR)
        snprintf(kept, 1024, "%s", message);
}

static const char *type_name(cl_device_type type)
{
    if (type & CL_DEVICE_TYPE_GPU)
        return "gpu";
    if (type & CL_DEVICE_TYPE_ACCELERATOR)
        return "accelerator";
    if (type & CL_DEVICE_TYPE_CPU)
        return "cpu";
    return "other";
}

static void print_svm(uint64_t svm)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } bits[] = {{CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, "coarse-grained buffers"},
                {CL_DEVICE_SVM_FINE_GRAIN_BUFFER, "fine-grained buffers"},
                {CL_DEVICE_SVM_FINE_GRAIN_SYSTEM, "any host pointer"},
                {CL_DEVICE_SVM_ATOMICS, "atomics"}};
    printf("       shared memory   ");
    const char *before = "";
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        if (svm & bits[i].bit) {
            printf("%s%s", before, bits[i].name);
            before = ", ";
        }
    }
    printf("%s\n", *before ? "" : "none");
}

static void print_device(const struct clmove_device_info *info, bool selected)
{
    char global[32], largest[32], local[32];
    printf("  %u:%u  %s (%s)%s\n", info->platform_index, info->device_index,
           info->name, type_name(info->type),
           selected ? "  <- used by default" : "");
    printf("       vendor          %s\n", info->vendor);
    printf("       version         %s\n", info->version);
    printf("       driver          %s\n", info->driver_version);
    printf("       compiler        %s\n", info->c_version);
    printf("       compute units   %u\n", info->compute_units);
    printf("       work-group      at most %zu work-items\n",
           info->max_group_size);
    printf("       memory          %s, one buffer at most %s (%" PRIu64
           " bytes)\n",
           session_size_text(global, info->global_size),
           session_size_text(largest, info->max_allocation),
           info->max_allocation);
    printf("       local memory    %s\n",
           session_size_text(local, info->local_size));
    printf("       kernel arguments at most %zu bytes\n",
           info->max_parameter_size);
    printf("       addresses       %u bits, buffers aligned to %u bytes\n",
           info->address_bits, info->base_align_bits / 8);
    print_svm(info->svm);
    if (info->unsupported)
        printf("       usable          no: %s\n", info->unsupported);
    else
        printf("       usable          yes\n");
}

static void print_devices(const struct clmove_device_info *infos, size_t count,
                          uint32_t platform,
                          const struct clmove_device_info *selected)
{
    size_t printed = 0;
    for (size_t i = 0; i < count; i++) {
        if (infos[i].platform_index != platform)
            continue;
        print_device(&infos[i], infos[i].device == selected->device);
        printed++;
    }
    if (printed == 0)
        printf("  no device\n");
}

static bool print_platforms(const struct clmove_device_info *infos,
                            size_t count,
                            const struct clmove_device_info *selected)
{
    cl_uint platform_count = 0;
    /* The loader gives an error of its own when there is no platform. */
    if (clGetPlatformIDs(0, NULL, &platform_count) != CL_SUCCESS)
        platform_count = 0;
    if (platform_count == 0) {
        cli_error("no OpenCL platform is installed (on Debian or Ubuntu, "
                  "pocl-opencl-icd gives one that runs on the CPU)");
        return false;
    }
    cl_platform_id *platforms = calloc(platform_count, sizeof *platforms);
    if (!platforms || clGetPlatformIDs(platform_count, platforms, NULL)) {
        cli_error("the OpenCL platforms cannot be listed");
        free(platforms);
        return false;
    }
    for (cl_uint i = 0; i < platform_count; i++) {
        char name[256] = "?", version[256] = "?";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name,
                          NULL);
        clGetPlatformInfo(platforms[i], CL_PLATFORM_VERSION, sizeof version,
                          version, NULL);
        printf("Platform %u: %s, %s\n", i, name, version);
        print_devices(infos, count, i, selected);
    }
    free(platforms);
    return true;
}

enum cli_exit cmd_devices(int argc, char **argv)
{
    const struct cli_command command = {"devices", NULL, NULL, help,
                                        NULL,      0,    NULL};
    enum cli_exit code = cli_parse(&command, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    struct clmove_device_info *infos = NULL;
    size_t count = 0;
    struct clmove_log log = session_log();
    clmove_status status = clmove_device_list(&log, &infos, &count);
    if (session_failed(status, "clmove_device_list"))
        return CLI_OPENCL_FAILED;
    char message[1024] = "";
    struct clmove_log keep = {keep_message, message};
    struct clmove_device_info selected;
    memset(&selected, 0, sizeof selected);
    status = clmove_device_select(NULL, &keep, &selected);
    code = CLI_NO_DEVICE;
    if (print_platforms(infos, count, &selected)) {
        code = CLI_FINE;
        if (status != CLMOVE_SUCCESS) {
            printf("No device would be used by default.\n");
            cli_error("%s", *message ? message : clmove_status_name(status));
            code = cli_exit_code(status);
        }
    }
    clmove_device_list_free(&infos);
    return code;
}
