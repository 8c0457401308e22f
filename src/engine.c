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

void engine_release_kernel(struct engine_kernel *kernel)
{
    if (kernel->kernel != NULL)
        clReleaseKernel(kernel->kernel);
    kernel->kernel = NULL;
}

void engine_release(struct clmove_engine *engine)
{
    if (engine == NULL || atomic_fetch_sub(&engine->references, 1) != 1)
        return;
    for (size_t i = 0; i < CALL_COUNT; i++) {
        for (size_t j = 0; j < 64; j++)
            engine_release_kernel(&engine->moves.calls[i].kernels[j]);
    }
    engine_release_kernel(&engine->nothing);
    scratch_release(&engine->moves.scratch);
    for (size_t i = 0; i < PROGRAM_PARTS; i++) {
        for (size_t j = 0; j < PROGRAM_BANK_CHOICES; j++) {
            if (engine->parts[i].programs[j] != NULL)
                clReleaseProgram(engine->parts[i].programs[j]);
        }
        free(engine->parts[i].text);
    }
    binary_cache_close(&engine->cache);
    if (engine->context != NULL)
        clReleaseContext(engine->context);
    pthread_mutex_destroy(&engine->mutex);
    pthread_mutex_destroy(&engine->moves.mutex);
    free(engine);
}

/* The banks of the largest program that the device takes: a bank is a pointer,
 * and the other arguments need less than 384 bytes; it lies in local memory as
 * well, beside 20 bytes for each request of a slice, a stage and some more. */
static size_t bank_choice_limit(const struct clmove_engine *engine,
                                const uint32_t *counts)
{
    const struct clmove_device_info *device = &engine->device;
    size_t choice = PROGRAM_BANK_CHOICES - 1;
    for (; choice > 0; choice--) {
        const uint64_t pointers = (counts[choice] + 1) * sizeof(cl_ulong);
        if (pointers + 384 <= device->max_parameter_size &&
            pointers + (uint64_t)engine->variant.slice_rows * 20 +
                    engine->variant.stage_size + 300 <=
                device->local_size)
            break;
    }
    return choice;
}

clmove_status engine_program(struct clmove_engine *engine, uint32_t part,
                             size_t bank_count, cl_program *program,
                             uint32_t *banks)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &engine->log;
    const struct program_target target = {log, engine->context,
                                          engine->device.device,
                                          &engine->variant, &engine->cache};
    const size_t index = part == CLMOVE_PART_STATES;
    const uint32_t *counts = program_parts[index].bank_counts;
    const size_t limit = bank_choice_limit(engine, counts);
    struct engine_part *own = &engine->parts[index];
    size_t choice = 0;
    CHECK(own->wanted, CLMOVE_INVALID_ARGUMENT,
          "the engine was made without the part %s",
          part == CLMOVE_PART_STATES ? "CLMOVE_PART_STATES"
                                     : "CLMOVE_PART_MOVES");
    while (choice < limit && counts[choice] < bank_count)
        choice++;
    pthread_mutex_lock(&engine->mutex);
    if (own->programs[choice] == NULL)
        status = program_make(&target, &program_parts[index], own->text,
                              counts[choice], &own->programs[choice]);
    *program = own->programs[choice];
    pthread_mutex_unlock(&engine->mutex);
    *banks = counts[choice];
out:
    return status;
}

clmove_status engine_make_kernel(const struct clmove_engine *engine,
                                 cl_program program, const char *name,
                                 uint32_t group_size,
                                 struct engine_kernel *kernel)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &engine->log;
    cl_int created = CL_SUCCESS;
    size_t limit = 0;
    size_t fixed[3] = {0, 0, 0}; /* by the kernel's text */
    kernel->kernel = clCreateKernel(program, name, &created);
    CHECK(created == CL_SUCCESS, created, "making the kernel %s failed with %s",
          name, clmove_status_name(created));
    CHECK_CL(clGetKernelWorkGroupInfo(kernel->kernel, engine->device.device,
                                      CL_KERNEL_WORK_GROUP_SIZE, sizeof limit,
                                      &limit, NULL));
    CHECK_CL(clGetKernelWorkGroupInfo(kernel->kernel, engine->device.device,
                                      CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                      sizeof fixed, fixed, NULL));
    kernel->group_size = fixed[0] != 0
                             ? (uint32_t)fixed[0]
                             : (uint32_t)max_u64(min_u64(limit, group_size), 1);
    log_message(log, CLMOVE_LOG_INFO, status,
                "kernel %s: groups of %u work-items, %zu allowed", name,
                kernel->group_size, limit);
out:
    /* One that is kept without a group size would do nothing, silently. */
    if (status != CLMOVE_SUCCESS)
        engine_release_kernel(kernel);
    return status;
}

cl_int engine_enqueue_nothing(const struct clmove_engine *engine,
                              struct chain *chain, bool wants_event)
{
    return chain_kernel(chain, engine->nothing.kernel, 1, 1, wants_event);
}

static clmove_status make_call_kernel(struct clmove_engine *engine,
                                      enum engine_call call,
                                      struct engine_kernel *kernel)
{
    static const char *const names[CALL_COUNT] = {"clmove_move", "clmove_save",
                                                  "clmove_batch_device"};
    clmove_status status = CLMOVE_SUCCESS;
    cl_program program = NULL;
    uint32_t banks = 0;
    CHECK_STATUS(
        engine_program(engine, CLMOVE_PART_MOVES, 1, &program, &banks));
    status = engine_make_kernel(engine, program, names[call],
                                engine->variant.move_group_size, kernel);
out:
    return status;
}

cl_int engine_call_kernel(struct clmove_engine *engine, enum engine_call call,
                          const struct memory_binding *bindings, size_t count,
                          const struct engine_kernel **kernel)
{
    size_t kinds = 0;
    for (size_t i = 0; i < count; i++)
        kinds |= (size_t)(bindings[i].pointer != NULL) << i;
    struct engine_kernel *own = &engine->moves.calls[call].kernels[kinds];
    cl_int status = CL_SUCCESS;
    if (own->kernel == NULL)
        status = make_call_kernel(engine, call, own);
    *kernel = own;
    return status;
}

/* The kernels for buffers only: the usual ones are there before the first call.
 */
static clmove_status make_call_kernels(struct clmove_engine *engine)
{
    clmove_status status = CLMOVE_SUCCESS;
    for (unsigned i = 0; i < CALL_COUNT; i++)
        CHECK_STATUS(make_call_kernel(engine, (enum engine_call)i,
                                      &engine->moves.calls[i].kernels[0]));
    engine->moves.ready = true;
out:
    return status;
}

/* The first program of each part, and the kernels that are not made per
 * object. */
static clmove_status build_parts(const struct clmove_engine_params *params,
                                 const char *directory,
                                 struct clmove_engine *engine)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &engine->log;
    cl_program program = NULL;
    uint32_t banks = 0;
    CHECK((params->parts & ~3u) == 0, CLMOVE_INVALID_ARGUMENT,
          "params->parts is 0x%x, and only the bits of enum clmove_part have a "
          "meaning",
          params->parts);
    for (uint32_t i = 0; i < PROGRAM_PARTS; i++) {
        engine->parts[i].wanted =
            params->parts == 0 || (params->parts & 1u << i) != 0;
        if (!engine->parts[i].wanted)
            continue;
        CHECK_STATUS(source_load(log, directory, program_parts[i].name,
                                 &engine->parts[i].text));
        CHECK_STATUS(engine_program(engine, 1u << i, 1, &program, &banks));
        if (engine->nothing.kernel == NULL)
            CHECK_STATUS(engine_make_kernel(engine, program, "clmove_nothing",
                                            1, &engine->nothing));
        if (1u << i == CLMOVE_PART_MOVES)
            CHECK_STATUS(make_call_kernels(engine));
    }
out:
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

/* `given`, or if that is 0 a number from the environment, or 0. */
static clmove_status choose_number(const struct clmove_log *log,
                                   const char *name, uint32_t given,
                                   uint32_t *number)
{
    clmove_status status = CLMOVE_SUCCESS;
    const char *text = getenv(name);
    *number = given;
    if (given != 0 || text == NULL || text[0] == '\0')
        goto out;
    const unsigned long value = strtoul(text, NULL, 10);
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
    struct variant_wishes wishes = {0};
    const char *forced = getenv("CLMOVE_VARIANT");
    CHECK_STATUS(choose_number(log, "CLMOVE_GROUP_SIZE", params->group_size,
                               &wishes.group_size));
    CHECK_STATUS(choose_number(log, "CLMOVE_GROUP_COUNT", params->group_count,
                               &wishes.group_count));
    CHECK_STATUS(choose_number(log, "CLMOVE_TILE_SIZE", params->tile_size,
                               &wishes.tile_size));
    CHECK(wishes.group_count <= 1u << 20, CLMOVE_INVALID_ARGUMENT,
          "params->group_count is %u, and must be at most 1048576",
          wishes.group_count);
    CHECK(wishes.tile_size == 0 ||
              (wishes.tile_size >= 16 && wishes.tile_size <= 1u << 30),
          CLMOVE_INVALID_ARGUMENT,
          "the tile size is %u, and must be 16 to 1073741824",
          wishes.tile_size);
    if (forced != NULL && forced[0] != '\0')
        CHECK(variant_from_name(forced, &engine->forced_variant),
              CLMOVE_INVALID_ARGUMENT,
              "the environment's CLMOVE_VARIANT is \"%s\", and must be auto, "
              "driver, disjoint, group, split or segments",
              forced);
    engine->variant = variant_choose(&engine->device, &wishes);
out:
    return status;
}

clmove_status clmove_engine_create(const struct clmove_engine_params *params,
                                   struct clmove_engine **engine)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = params == NULL ? NULL : &params->log;
    struct clmove_engine *made = NULL;
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
    pthread_mutex_init(&made->moves.mutex, NULL);
    made->log = params->log;
    made->cache.folder = -1;
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
    CHECK_CL(clRetainContext(params->context));
    made->context = params->context;
    binary_cache_open(log, &made->device, params->cache_directory,
                      &made->cache);
    CHECK_STATUS(build_parts(params, directory, made));
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
        .uses_cache = engine->cache.folder >= 0,
        .programs_cached = atomic_load(&engine->cache.loaded),
        .programs_built = atomic_load(&engine->cache.built),
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
