/* The opened device: context, queue, engine. */

#include "session.h"

#include "progress.h"
#include "user_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_message(void *user, int level, const char *message)
{
    (void)user;
    if (level == CLMOVE_LOG_ERROR)
        cli_error("%s", message);
    else if (level == CLMOVE_LOG_WARNING)
        cli_error("warning: %s", message);
}

struct clmove_log session_log(void)
{
    struct clmove_log log = {print_message, NULL};
    return log;
}

bool session_failed(clmove_status status, const char *what)
{
    if (status == CLMOVE_SUCCESS)
        return false;
    cli_error("%s failed: %s (%d)", what, clmove_status_name(status), status);
    return true;
}

enum cli_exit session_open_device(struct session *session,
                                  const char *selection)
{
    memset(session, 0, sizeof *session);
    struct clmove_log log = session_log();
    clmove_status status =
        clmove_device_select(selection, &log, &session->device);
    if (status != CLMOVE_SUCCESS)
        return cli_exit_code(status);
    cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, (cl_context_properties)session->device.platform,
        0};
    cl_int code = CL_SUCCESS;
    session->context = clCreateContext(properties, 1, &session->device.device,
                                       NULL, NULL, &code);
    if (session_failed(code, "clCreateContext"))
        return CLI_OPENCL_FAILED;
    return CLI_GO_ON;
}

enum cli_exit session_make_engine(struct session *session, uint32_t parts)
{
    char folder[USER_CACHE_ROOM];
    struct clmove_engine_params params;
    memset(&params, 0, sizeof params);
    params.context = session->context;
    params.device = session->device.device;
    params.log = session_log();
    params.parts = parts;
    params.cache_directory = user_cache_folder(folder);
    clmove_status status = clmove_engine_create(&params, &session->engine);
    if (session_failed(status, "clmove_engine_create"))
        return cli_exit_code(status);
    return CLI_GO_ON;
}

enum cli_exit session_time_engine(struct session *session, uint32_t parts,
                                  double *seconds, const char **how)
{
    struct clmove_engine_info info;
    double start = progress_seconds();
    enum cli_exit code = session_make_engine(session, parts);
    *seconds = progress_seconds() - start;
    if (code != CLI_GO_ON)
        return code;
    clmove_engine_describe(session->engine, &info);
    clmove_engine_destroy(&session->engine);
    *how = info.programs_built > 0 ? "compiled" : "taken from the folder";
    if (!info.uses_cache)
        *how = "compiled; no folder is used";
    return CLI_GO_ON;
}

enum cli_exit session_open(struct session *session, const char *selection,
                           uint32_t parts)
{
    enum cli_exit result = session_open_device(session, selection);
    if (result != CLI_GO_ON)
        return result;
    cl_int code = CL_SUCCESS;
    session->queue =
        clCreateCommandQueue(session->context, session->device.device,
                             CL_QUEUE_PROFILING_ENABLE, &code);
    if (session_failed(code, "clCreateCommandQueue"))
        return CLI_OPENCL_FAILED;
    result = session_make_engine(session, parts);
    if (result != CLI_GO_ON)
        return result;
    session->mark = session_buffer(session, 16, "empty commands");
    return session->mark ? CLI_GO_ON : CLI_OPENCL_FAILED;
}

void session_close(struct session *session)
{
    session_release(&session->mark);
    clmove_engine_destroy(&session->engine);
    if (session->queue) {
        clFinish(session->queue);
        clReleaseCommandQueue(session->queue);
    }
    if (session->context)
        clReleaseContext(session->context);
    memset(session, 0, sizeof *session);
}

cl_mem session_buffer(const struct session *session, size_t size,
                      const char *what)
{
    cl_int code = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(session->context, CL_MEM_READ_WRITE,
                                   size ? size : 1, NULL, &code);
    if (code == CL_SUCCESS)
        return buffer;
    cli_error("clCreateBuffer of %zu bytes for %s failed: %s (%d)", size, what,
              clmove_status_name(code), code);
    return NULL;
}

struct clmove_memory session_memory(cl_mem buffer, size_t offset, size_t size)
{
    struct clmove_memory memory;
    memset(&memory, 0, sizeof memory);
    memory.buffer = buffer;
    memory.offset = offset;
    memory.size = size;
    return memory;
}

void session_release(cl_mem *buffer)
{
    if (*buffer)
        clReleaseMemObject(*buffer);
    *buffer = NULL;
}

const char *session_size_text(char *text, uint64_t size)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    if (size < 1024) {
        snprintf(text, 32, "%" PRIu64 " bytes", size);
        return text;
    }
    double value = (double)size / 1024;
    int unit = 0;
    while (value >= 1024 && unit < 3) {
        value /= 1024;
        unit++;
    }
    snprintf(text, 32, value < 10 ? "%.2f %s" : "%.1f %s", value, units[unit]);
    return text;
}
