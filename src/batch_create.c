/* A batch made: memories looked up, moves planned, jobs handed to the device.
 */

#include "batch.h"

#include "memory.h"
#include "util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A batch on its way. */
struct making {
    struct clmove_batch *batch;
    const struct clmove_batch_params *params;
    struct memory_binding *bindings; /* [memory_count + 1], scratch last */
    struct plan_space *spaces;       /* [memory_count] */
    unsigned char *uses;             /* [memory_count]: USE_* */
    struct plan_params plan;
    cl_program program;
    bool has_scratch;
};

enum { USE_READ = 1, USE_WRITE = 2 };

static clmove_status allocate(struct making *making)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct clmove_batch *batch = making->batch;
    const struct clmove_log *log = &batch->log;
    const size_t count = making->params->memory_count + 1;
    CHECK(making->params->memory_count < INT32_MAX, CLMOVE_UNSUPPORTED,
          "params->memory_count is %zu, and a batch can have %d",
          making->params->memory_count, INT32_MAX - 1);
    batch->views = calloc(count, sizeof batch->views[0]);
    batch->bindings = calloc(count, sizeof batch->bindings[0]);
    making->bindings = calloc(count, sizeof making->bindings[0]);
    making->spaces = calloc(count, sizeof making->spaces[0]);
    making->uses = calloc(count, sizeof making->uses[0]);
    CHECK_MEMORY(batch->views);
    CHECK_MEMORY(batch->bindings);
    CHECK_MEMORY(making->bindings);
    CHECK_MEMORY(making->spaces);
    CHECK_MEMORY(making->uses);
out:
    return status;
}

/* Which memories are read and written; the planner refuses bad numbers. */
static void find_uses(struct making *making)
{
    const struct clmove_batch_params *params = making->params;
    for (size_t i = 0; i < params->region_count; i++) {
        const struct clmove_region *region = &params->regions[i];
        if (region->size == 0 || region->src_memory >= params->memory_count ||
            region->dst_memory >= params->memory_count)
            continue;
        making->uses[region->src_memory] |= USE_READ;
        making->uses[region->dst_memory] |= USE_WRITE;
    }
}

static clmove_status look_up(struct making *making, const char *name,
                             const struct clmove_memory *memory, unsigned uses,
                             struct memory_view *view)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_engine *engine = making->batch->engine;
    const struct clmove_log *log = &making->batch->log;
    const struct memory_use use = {engine->context, &engine->device, log,
                                   (uses & USE_READ) != 0,
                                   (uses & USE_WRITE) != 0};
    struct memory_view found;
    CHECK_STATUS(memory_look_up(&use, name, memory, &found));
    if (found.handle != NULL)
        CHECK_CL(clRetainMemObject(found.handle));
    *view = found;
out:
    return status;
}

static clmove_status look_up_scratch(struct making *making)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct clmove_batch *batch = making->batch;
    const struct clmove_log *log = &batch->log;
    const struct clmove_batch_params *params = making->params;
    struct memory_view *view = &batch->views[params->memory_count];
    making->has_scratch = !memory_is_absent(&params->scratch);
    if (!making->has_scratch)
        goto out;
    CHECK_STATUS(look_up(making, "params->scratch", &params->scratch,
                         USE_READ | USE_WRITE, view));
    batch->given_scratch = view->handle;
    for (size_t i = 0; i < params->memory_count; i++)
        CHECK(!views_overlap(view, &batch->views[i]), CLMOVE_OVERLAP,
              "params->scratch overlaps params->memories[%zu]", i);
out:
    return status;
}

/* What the planner may know of a memory, and the number of its binding. */
static void describe_space(struct making *making, size_t index)
{
    struct clmove_batch *batch = making->batch;
    const struct memory_view *view = &batch->views[index];
    const struct memory_binding *binding = &making->bindings[index];
    struct plan_space *space = &making->spaces[index];
    size_t root = 0;
    uint32_t number = 0;
    while (batch->views[root].root != view->root)
        root++;
    while (number < making->plan.binding_count &&
           !bindings_share(&batch->bindings[number], binding))
        number++;
    if (number == making->plan.binding_count)
        batch->bindings[making->plan.binding_count++] = *binding;
    *space = (struct plan_space){.root = (uint32_t)root,
                                 .binding = number,
                                 .origin = view_origin(view),
                                 .size = view->size,
                                 .base = binding->offset - view_origin(view)};
}

static clmove_status resolve(struct making *making)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct clmove_batch *batch = making->batch;
    struct clmove_engine *engine = batch->engine;
    const struct clmove_batch_params *params = making->params;
    const size_t count = params->memory_count;
    char name[48];
    find_uses(making);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "params->memories[%zu]", i);
        CHECK_STATUS(look_up(making, name, &params->memories[i],
                             making->uses[i], &batch->views[i]));
        batch->memory_count = i + 1;
    }
    CHECK_STATUS(look_up_scratch(making));
    bind_views(batch->views, count + making->has_scratch, making->bindings);
    for (size_t i = 0; i < count; i++)
        describe_space(making, i);
    if (making->has_scratch)
        batch->scratch = making->bindings[count];
    making->plan.scratch_base = batch->scratch.offset;
    CHECK_STATUS(engine_program(engine, CLMOVE_PART_MOVES,
                                making->plan.binding_count, &making->program,
                                &batch->bank_count));
    making->plan.bank_limit = batch->bank_count;
    making->plan.jobs = engine->variant.jobs;
    if (params->variant == CLMOVE_VARIANT_AUTO &&
        engine->forced_variant > CLMOVE_VARIANT_DISJOINT)
        making->plan.variant = engine->forced_variant;
out:
    return status;
}

/* Without an engine: memories are sizes, the device a GPU like any other. */
static clmove_status imagine(struct making *making)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &making->batch->log;
    const struct clmove_batch_params *params = making->params;
    const struct clmove_device_info device = {.type = CL_DEVICE_TYPE_GPU};
    const struct variant_wishes wishes = {0};
    for (size_t i = 0; i < params->memory_count; i++) {
        const struct clmove_memory *memory = &params->memories[i];
        CHECK(memory->buffer == NULL && memory->pointer == NULL,
              CLMOVE_INVALID_ARGUMENT,
              "params->memories[%zu] has a buffer or pointer, and without an "
              "engine only its size can be used",
              i);
        making->spaces[i] = (struct plan_space){
            .root = (uint32_t)i, .binding = (uint32_t)i, .size = memory->size};
    }
    making->plan.binding_count = (uint32_t)params->memory_count;
    making->plan.bank_limit = BATCH_BANKS;
    making->plan.jobs = variant_choose(&device, &wishes).jobs;
out:
    return status;
}

/* A buffer of `size` bytes, or none for 0. */
static clmove_status make_buffer(const struct clmove_batch *batch, void *data,
                                 size_t size, cl_mem *buffer)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &batch->log;
    cl_int created = CL_SUCCESS;
    if (size == 0)
        goto out;
    *buffer =
        clCreateBuffer(batch->engine->context,
                       data == NULL ? CL_MEM_READ_WRITE
                                    : CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                       size, data, &created);
    CHECK(created == CL_SUCCESS, created,
          "making a buffer of %zu bytes for %s failed with %s", size,
          data == NULL ? "scratch" : "the batch's jobs",
          clmove_status_name(created));
out:
    return status;
}

static clmove_status make_scratch(struct making *making)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct clmove_batch *batch = making->batch;
    const struct clmove_log *log = &batch->log;
    const uint64_t size = batch->plan.info.scratch_size;
    if (making->has_scratch) {
        const uint64_t has = batch->views[making->params->memory_count].size;
        CHECK(has >= size, CLMOVE_OUT_OF_RANGE,
              "params->scratch has %llu bytes, and the batch needs %llu",
              (unsigned long long)has, (unsigned long long)size);
        goto out;
    }
    CHECK(size <= SIZE_MAX, CLMOVE_UNSUPPORTED,
          "the batch needs %llu bytes of scratch", (unsigned long long)size);
    CHECK_STATUS(make_buffer(batch, NULL, (size_t)size, &batch->own_scratch));
    batch->scratch = (struct memory_binding){.handle = batch->own_scratch};
out:
    return status;
}

/* Copies `size` bytes to the end of `used`, if there are any. */
static void append(char *bytes, size_t *used, const void *data, size_t size)
{
    if (size > 0)
        memcpy(bytes + *used, data, size);
    *used += size;
}

/* Hands the plan's lists to the device, in one buffer: a launch costs host time
 * for each argument. */
static clmove_status make_lists(struct clmove_batch *batch)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &batch->log;
    struct plan *plan = &batch->plan;
    const size_t families = plan->family_count * sizeof plan->families[0];
    const size_t smalls = plan->small_count * sizeof plan->smalls[0];
    const size_t chunks = plan->chunk_count * sizeof plan->chunks[0];
    size_t used = 0;
    char *bytes = malloc(families + smalls + chunks + 1);
    CHECK_MEMORY(bytes);
    append(bytes, &used, plan->families, families);
    batch->first_small = used;
    append(bytes, &used, plan->smalls, smalls);
    batch->first_chunk = used;
    append(bytes, &used, plan->chunks, chunks);
    CHECK_STATUS(make_buffer(batch, bytes, used, &batch->lists));
    free(plan->families);
    free(plan->smalls);
    free(plan->chunks);
    plan->families = NULL;
    plan->smalls = NULL;
    plan->chunks = NULL;
out:
    free(bytes);
    return status;
}

clmove_status batch_make_kernel(const struct clmove_batch *batch,
                                struct engine_kernel *made)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &batch->log;
    const cl_uint banks = batch->bank_count;
    CHECK_STATUS(
        engine_make_kernel(batch->engine, batch->program, "clmove_batch",
                           batch->engine->variant.move_group_size, made));
    const cl_kernel kernel = made->kernel;
    CHECK_CL(memory_set_argument(
        kernel, banks + ARGUMENT_SCRATCH,
        batch->plan.info.scratch_size > 0 ? &batch->scratch : NULL));
    CHECK_CL(clSetKernelArg(kernel, banks + ARGUMENT_LISTS, sizeof batch->lists,
                            &batch->lists));
out:
    return status;
}

/* The kernel of all calls, unless an argument would be now a buffer, now SVM:
 * see struct engine_kinds. */
static clmove_status make_kernel(struct making *making)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct clmove_batch *batch = making->batch;
    const struct clmove_log *log = &batch->log;
    batch->program = making->program;
    for (size_t i = 1; i < batch->memory_count; i++) {
        if ((batch->views[i].root == NULL) != (batch->views[0].root == NULL))
            batch->mixed = true;
    }
    if (batch->mixed)
        goto out;
    CHECK_STATUS(batch_make_kernel(batch, &batch->kernel));
    /* Banks that a launch does not use are given something that exists. */
    for (cl_uint i = 0; i < batch->bank_count; i++)
        CHECK_CL(
            memory_set_argument(batch->kernel.kernel, i, &batch->bindings[0]));
out:
    return status;
}

static clmove_status check_params(const struct clmove_log *log,
                                  const struct clmove_batch_params *params)
{
    clmove_status status = CLMOVE_SUCCESS;
    CHECK(params->memories != NULL || params->memory_count == 0,
          CLMOVE_INVALID_ARGUMENT,
          "params->memories is NULL, and memory_count is %zu",
          params->memory_count);
    CHECK(params->regions != NULL || params->region_count == 0,
          CLMOVE_INVALID_ARGUMENT,
          "params->regions is NULL, and region_count is %zu",
          params->region_count);
    CHECK(clmove_variant_name(params->variant) != NULL, CLMOVE_INVALID_ARGUMENT,
          "params->variant is %u, and is none of enum clmove_variant",
          params->variant);
    CHECK(params->variant != CLMOVE_VARIANT_DRIVER, CLMOVE_INVALID_ARGUMENT,
          "params->variant is driver, which is not for batches");
out:
    return status;
}

static clmove_status make(struct making *making)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct clmove_batch *batch = making->batch;
    const struct clmove_batch_params *params = making->params;
    const struct clmove_log *log = &batch->log;
    CHECK_STATUS(check_params(log, params));
    CHECK_STATUS(allocate(making));
    making->plan.variant = params->variant;
    making->plan.scratch_limit = params->scratch_limit;
    CHECK_STATUS(batch->engine != NULL ? resolve(making) : imagine(making));
    making->plan.spaces = making->spaces;
    making->plan.space_count = params->memory_count;
    making->plan.regions = params->regions;
    making->plan.region_count = params->region_count;
    CHECK_STATUS(plan_make(log, &making->plan, &batch->plan));
    if (batch->engine == NULL)
        goto out;
    CHECK_STATUS(make_scratch(making));
    if (batch->plan.launch_count == 0)
        goto out;
    CHECK_STATUS(make_lists(batch));
    CHECK_STATUS(make_kernel(making));
out:
    return status;
}

clmove_status clmove_batch_create(struct clmove_engine *engine,
                                  const struct clmove_log *log,
                                  const struct clmove_batch_params *params,
                                  struct clmove_batch **batch)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct making making = {.params = params};
    struct clmove_batch *made = NULL;
    if (log == NULL && engine != NULL)
        log = &engine->log;
    if (batch != NULL)
        *batch = NULL;
    CHECK(params != NULL && batch != NULL, CLMOVE_INVALID_ARGUMENT,
          "%s is NULL", params == NULL ? "params" : "batch");
    made = calloc(1, sizeof *made);
    CHECK_MEMORY(made);
    pthread_mutex_init(&made->mutex, NULL);
    made->engine = engine;
    if (engine != NULL)
        engine_retain(engine);
    if (log != NULL)
        made->log = *log;
    making.batch = made;
    CHECK_STATUS(make(&making));
    *batch = made;
    made = NULL;
out:
    free(making.bindings);
    free(making.spaces);
    free(making.uses);
    clmove_batch_destroy(&made);
    return status;
}
