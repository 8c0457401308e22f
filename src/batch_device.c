/* Batches whose entries lie in device memory. */

#include <clmove/move.h>

#include "chain.h"
#include "engine.h"
#include "memory.h"
#include "util.h"

/* Everything the kernel is given by address, in the order of its parameters. */
enum {
    VIEW_SRC_BASE,
    VIEW_DST_BASE,
    VIEW_SRC_OFFSETS,
    VIEW_DST_OFFSETS,
    VIEW_SIZES,
    VIEW_FAULTS,
    VIEW_COUNT
};

struct device_batch {
    struct memory_view views[VIEW_COUNT];
    struct memory_binding bindings[VIEW_COUNT];
    bool has_faults;
};

/* Mirror of struct device_batch in cl/move.cl. */
struct device_numbers {
    cl_ulong offsets[VIEW_COUNT];
    cl_ulong src_size, dst_size, count, sizes_are_int32;
};

_Static_assert(sizeof(struct device_numbers) == 80, "as in cl/move.cl");

static clmove_status look_up_array(const struct clmove_engine *engine,
                                   const char *name,
                                   const struct clmove_memory *memory,
                                   uint64_t count, uint64_t entry_size,
                                   bool writes, struct memory_view *view)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &engine->log;
    const struct memory_use use = {engine->context, &engine->device, log,
                                   !writes, writes};
    CHECK_STATUS(memory_look_up(&use, name, memory, view));
    CHECK((view->misalignment + view->offset) % entry_size == 0,
          CLMOVE_INVALID_ARGUMENT,
          "%s: offset %llu puts its entries at an address that is no multiple "
          "of their %llu bytes",
          name, (unsigned long long)view->offset,
          (unsigned long long)entry_size);
    CHECK(count <= view->size / entry_size, CLMOVE_OUT_OF_RANGE,
          "%s has %llu bytes, and %llu entries of %llu bytes are needed", name,
          (unsigned long long)view->size, (unsigned long long)count,
          (unsigned long long)entry_size);
    view->size = count * entry_size;
out:
    return status;
}

static clmove_status look_up(const struct clmove_engine *engine,
                             const struct clmove_device_batch *params,
                             struct device_batch *batch)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &engine->log;
    struct memory_view *views = batch->views;
    const uint64_t count = params->count;
    const struct memory_use reads = {engine->context, &engine->device, log,
                                     true, false};
    const struct memory_use writes = {engine->context, &engine->device, log,
                                      false, true};
    CHECK_STATUS(memory_look_up(&reads, "src_base", &params->src_base,
                                &views[VIEW_SRC_BASE]));
    CHECK_STATUS(memory_look_up(&writes, "dst_base", &params->dst_base,
                                &views[VIEW_DST_BASE]));
    CHECK_STATUS(look_up_array(engine, "src_offsets", &params->src_offsets,
                               count, 8, false, &views[VIEW_SRC_OFFSETS]));
    CHECK_STATUS(look_up_array(engine, "dst_offsets", &params->dst_offsets,
                               count, 8, false, &views[VIEW_DST_OFFSETS]));
    CHECK_STATUS(look_up_array(engine, "sizes", &params->sizes, count,
                               params->sizes_are_int32 != 0 ? 4 : 8, false,
                               &views[VIEW_SIZES]));
    batch->has_faults = !memory_is_absent(&params->faults);
    if (batch->has_faults)
        CHECK_STATUS(look_up_array(engine, "faults", &params->faults, count, 4,
                                   true, &views[VIEW_FAULTS]));
out:
    return status;
}

/* No list lies where entries are written, and faults lie nowhere else. */
static clmove_status check_apart(const struct clmove_engine *engine,
                                 const struct device_batch *batch)
{
    static const char *const names[VIEW_COUNT] = {"src_base",    "dst_base",
                                                  "src_offsets", "dst_offsets",
                                                  "sizes",       "faults"};
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &engine->log;
    const struct memory_view *views = batch->views;
    for (unsigned i = VIEW_SRC_OFFSETS; i < VIEW_COUNT; i++)
        CHECK(!views_overlap(&views[i], &views[VIEW_DST_BASE]), CLMOVE_OVERLAP,
              "%s overlaps dst_base", names[i]);
    for (unsigned i = 0; i < VIEW_FAULTS; i++)
        CHECK(!views_overlap(&views[i], &views[VIEW_FAULTS]), CLMOVE_OVERLAP,
              "faults overlaps %s", names[i]);
out:
    return status;
}

static cl_int set_arguments(cl_kernel kernel, const struct device_batch *batch,
                            const struct clmove_device_batch *params)
{
    struct device_numbers numbers = {
        .src_size = batch->views[VIEW_SRC_BASE].size,
        .dst_size = batch->views[VIEW_DST_BASE].size,
        .count = params->count,
        .sizes_are_int32 = params->sizes_are_int32 != 0};
    cl_int status = CL_SUCCESS;
    for (cl_uint i = 0; i < VIEW_COUNT && status == CL_SUCCESS; i++) {
        const bool given = i != VIEW_FAULTS || batch->has_faults;
        numbers.offsets[i] = batch->bindings[i].offset;
        status =
            memory_set_argument(kernel, i, given ? &batch->bindings[i] : NULL);
    }
    if (status == CL_SUCCESS)
        status = clSetKernelArg(kernel, VIEW_COUNT, sizeof numbers, &numbers);
    return status;
}

static cl_int enqueue(struct clmove_engine *engine,
                      const struct device_batch *batch,
                      const struct clmove_device_batch *params,
                      struct chain *chain, bool wants_event)
{
    const struct engine_kernel *kernel = NULL;
    cl_int status = CL_SUCCESS;
    if (params->count == 0)
        return engine_enqueue_nothing(engine, chain, wants_event);
    status = engine_call_kernel(engine, CALL_BATCH_DEVICE, batch->bindings,
                                VIEW_COUNT, &kernel);
    if (status == CL_SUCCESS)
        status = set_arguments(kernel->kernel, batch, params);
    if (status == CL_SUCCESS)
        status =
            chain_kernel(chain, kernel->kernel, engine->variant.entry_groups,
                         kernel->group_size, wants_event);
    return status;
}

clmove_status
clmove_enqueue_batch_device(struct clmove_engine *engine,
                            const struct clmove_device_batch *params,
                            cl_command_queue queue, cl_uint wait_count,
                            const cl_event *wait_list, cl_event *event)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = engine == NULL ? NULL : &engine->log;
    struct device_batch batch = {0};
    struct chain chain = {
        .queue = queue, .wait_count = wait_count, .wait_list = wait_list};
    CHECK(engine != NULL && params != NULL, CLMOVE_INVALID_ARGUMENT,
          "%s is NULL", engine == NULL ? "engine" : "params");
    CHECK(engine->moves.ready, CLMOVE_INVALID_ARGUMENT,
          "the engine was made without CLMOVE_PART_MOVES");
    if (params->count > 0) {
        CHECK_STATUS(look_up(engine, params, &batch));
        CHECK_STATUS(check_apart(engine, &batch));
        bind_views(batch.views, batch.has_faults ? VIEW_COUNT : VIEW_FAULTS,
                   batch.bindings);
    }
    CHECK_STATUS(engine_check_queue(engine, queue, wait_count, wait_list));
    pthread_mutex_lock(&engine->moves.mutex);
    const cl_int result =
        enqueue(engine, &batch, params, &chain, event != NULL);
    pthread_mutex_unlock(&engine->moves.mutex);
    status = chain_finish(&chain, log, result, event);
out:
    return status;
}
