/* The engine: one device of one context, with clmove's programs built for it.
 */

#include "engine.h"

#include "source.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

void engine_retain(struct clmove_engine *engine)
{
    atomic_fetch_add(&engine->references, 1);
}

void engine_release(struct clmove_engine *engine)
{
    if (engine == NULL || atomic_fetch_sub(&engine->references, 1) != 1)
        return;
    for (size_t i = 0; i < PROGRAM_BANK_CHOICES; i++) {
        if (engine->programs[i] != NULL)
            clReleaseProgram(engine->programs[i]);
    }
    if (engine->context != NULL)
        clReleaseContext(engine->context);
    pthread_mutex_destroy(&engine->mutex);
    free(engine->text);
    free(engine);
}

/* The banks of the largest program that the device takes: a bank is a pointer,
 * and the other arguments need less than 384 bytes. */
static size_t bank_choice_limit(const struct clmove_device_info *device)
{
    size_t choice = PROGRAM_BANK_CHOICES - 1;
    while (choice > 0 && program_bank_counts[choice] * sizeof(cl_ulong) + 384 >
                             device->max_parameter_size)
        choice--;
    return choice;
}

clmove_status engine_program(struct clmove_engine *engine, size_t bank_count,
                             cl_program *program, uint32_t *banks)
{
    clmove_status status = CLMOVE_SUCCESS;
    const size_t limit = bank_choice_limit(&engine->device);
    size_t choice = 0;
    while (choice < limit && program_bank_counts[choice] < bank_count)
        choice++;
    pthread_mutex_lock(&engine->mutex);
    if (engine->programs[choice] == NULL)
        status = program_build(&engine->log, engine->context,
                               engine->device.device, engine->text,
                               &engine->variant, program_bank_counts[choice],
                               &engine->programs[choice]);
    pthread_mutex_unlock(&engine->mutex);
    *program = engine->programs[choice];
    *banks = program_bank_counts[choice];
    return status;
}

static cl_device_id parent_device(cl_device_id device)
{
    cl_device_id parent = NULL;
    if (clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent,
                        NULL) != CL_SUCCESS)
        return NULL;
    return parent;
}

static clmove_status check_context(const struct clmove_log *log,
                                   cl_context context, cl_device_id device)
{
    clmove_status status = CLMOVE_SUCCESS;
    cl_device_id *devices = NULL;
    size_t size = 0;
    bool found = false;
    CHECK_CL(clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &size));
    devices = malloc(size + 1);
    CHECK_MEMORY(devices);
    CHECK_CL(
        clGetContextInfo(context, CL_CONTEXT_DEVICES, size, devices, NULL));
    /* PoCL 3.1 lists the parent in the place of a sub-device. */
    for (cl_device_id wanted = device; wanted != NULL && !found;
         wanted = parent_device(wanted)) {
        for (size_t i = 0; i < size / sizeof devices[0]; i++)
            found = found || devices[i] == wanted;
    }
    CHECK(found, CLMOVE_INVALID_ARGUMENT,
          "params->device is not one of the context's %zu devices",
          size / sizeof devices[0]);
out:
    free(devices);
    return status;
}

/* A number from 1 to 2^20 from the environment; 0 when it is not set. */
static clmove_status environment_number(const struct clmove_log *log,
                                        const char *name, uint32_t *number)
{
    clmove_status status = CLMOVE_SUCCESS;
    const char *text = getenv(name);
    *number = 0;
    if (text == NULL || text[0] == '\0')
        goto out;
    char *end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    CHECK(strspn(text, "0123456789") == strlen(text) && value >= 1 &&
              value <= 1ul << 20,
          CLMOVE_INVALID_ARGUMENT,
          "the environment's %s is \"%s\", and must be a number from 1 to "
          "1048576",
          name, text);
    *number = (uint32_t)value;
out:
    return status;
}

static clmove_status choose_variant(const struct clmove_engine_params *params,
                                    struct clmove_engine *engine)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &engine->log;
    uint32_t group_size = params->group_size;
    uint32_t group_count = params->group_count;
    if (group_size == 0)
        CHECK_STATUS(environment_number(log, "CLMOVE_GROUP_SIZE", &group_size));
    if (group_count == 0)
        CHECK_STATUS(
            environment_number(log, "CLMOVE_GROUP_COUNT", &group_count));
    CHECK(group_count <= 1u << 20, CLMOVE_INVALID_ARGUMENT,
          "params->group_count is %u, and must be at most 1048576",
          group_count);
    engine->variant = variant_choose(&engine->device, group_size, group_count);
out:
    return status;
}

clmove_status clmove_engine_create(const struct clmove_engine_params *params,
                                   struct clmove_engine **engine)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = params == NULL ? NULL : &params->log;
    struct clmove_engine *made = NULL;
    cl_program program = NULL;
    uint32_t banks = 0;
    if (engine != NULL)
        *engine = NULL;
    CHECK(params != NULL && engine != NULL, CLMOVE_INVALID_ARGUMENT,
          "%s is NULL", params == NULL ? "params" : "engine");
    CHECK(params->context != NULL && params->device != NULL,
          CLMOVE_INVALID_ARGUMENT, "params->%s is NULL",
          params->context == NULL ? "context" : "device");
    CHECK_STATUS(check_context(log, params->context, params->device));
    made = calloc(1, sizeof *made);
    CHECK_MEMORY(made);
    atomic_init(&made->references, 1);
    pthread_mutex_init(&made->mutex, NULL);
    made->log = params->log;
    CHECK_CL(clmove_device_describe(params->device, &made->device));
    CHECK(made->device.unsupported == NULL, CLMOVE_UNSUPPORTED_DEVICE,
          "the device %s cannot be used: %s", made->device.name,
          made->device.unsupported);
    CHECK_STATUS(choose_variant(params, made));
    const char *directory = params->kernel_directory;
    if (directory == NULL)
        directory = getenv("CLMOVE_KERNEL_DIR");
    if (directory != NULL && directory[0] == '\0')
        directory = NULL;
    CHECK_STATUS(source_load(log, directory, &made->text));
    CHECK_CL(clRetainContext(params->context));
    made->context = params->context;
    CHECK_STATUS(engine_program(made, 1, &program, &banks));
    *engine = made;
    made = NULL;
out:
    engine_release(made);
    return status;
}

void clmove_engine_destroy(struct clmove_engine **engine)
{
    if (engine == NULL)
        return;
    engine_release(*engine);
    *engine = NULL;
}

clmove_status clmove_engine_describe(const struct clmove_engine *engine,
                                     struct clmove_engine_info *info)
{
    if (engine == NULL || info == NULL)
        return CLMOVE_INVALID_ARGUMENT;
    *info = (struct clmove_engine_info){
        .device = engine->device,
        .group_size = engine->variant.group_size,
        .group_count = engine->variant.group_count,
        .tile_size = engine->variant.tile_size,
        .slice_rows = engine->variant.slice_rows,
    };
    return CLMOVE_SUCCESS;
}

static clmove_status check_wait_list(const struct clmove_log *log,
                                     cl_uint wait_count,
                                     const cl_event *wait_list)
{
    clmove_status status = CLMOVE_SUCCESS;
    CHECK((wait_count == 0) == (wait_list == NULL), CL_INVALID_EVENT_WAIT_LIST,
          "wait_count is %u, and wait_list is %s", wait_count,
          wait_list == NULL ? "NULL" : "not NULL");
    for (cl_uint i = 0; i < wait_count; i++)
        CHECK(wait_list[i] != NULL, CL_INVALID_EVENT_WAIT_LIST,
              "wait_list[%u] is NULL", i);
out:
    return status;
}

clmove_status engine_check_queue(const struct clmove_engine *engine,
                                 cl_command_queue queue, cl_uint wait_count,
                                 const cl_event *wait_list)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &engine->log;
    cl_context context = NULL;
    cl_device_id device = NULL;
    cl_command_queue_properties properties = 0;
    CHECK(queue != NULL, CLMOVE_INVALID_ARGUMENT, "queue is NULL");
    CHECK_CL(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context,
                                   &context, NULL));
    CHECK_CL(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device,
                                   &device, NULL));
    CHECK(context == engine->context, CLMOVE_WRONG_QUEUE,
          "the queue belongs to another context than the engine");
    CHECK(device == engine->device.device, CLMOVE_WRONG_QUEUE,
          "the queue belongs to another device than the engine's %s",
          engine->device.name);
    CHECK_CL(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES,
                                   sizeof properties, &properties, NULL));
    CHECK((properties & CL_QUEUE_ON_DEVICE) == 0, CLMOVE_WRONG_QUEUE,
          "the queue lives on the device, and a host queue is needed");
    /* PoCL 3.1 crashes where it should refuse these. */
    status = check_wait_list(log, wait_count, wait_list);
out:
    return status;
}
