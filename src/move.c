/* Single moves: check, plan, enqueue. */

#include <clmove/move.h>

#include "chain.h"
#include "engine.h"
#include "jobs.h"
#include "memory.h"
#include "util.h"

enum { VIEW_SRC, VIEW_DST, VIEW_SCRATCH, VIEW_COUNT };

/* A move on its way from the arguments to the queue. */
struct move {
    struct clmove_engine *engine;
    size_t size;
    struct memory_view views[VIEW_COUNT];
    struct memory_binding bindings[VIEW_COUNT];
    bool has_scratch; /* given by the caller */
    bool nothing;     /* no byte moves */
    bool driver;
    struct job_plan plan; /* unless nothing or driver */
};

static clmove_status look_up(struct move *move, unsigned index,
                             const char *name,
                             const struct clmove_memory *given)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &move->engine->log;
    /* Access is checked later: it depends on the variant. */
    const struct memory_use use = {move->engine->context, &move->engine->device,
                                   log, false, false};
    struct clmove_memory memory = *given;
    struct memory_view *view = &move->views[index];
    if (memory.pointer != NULL && memory.size == 0 && index != VIEW_SCRATCH)
        memory.size = move->size > 0 ? move->size : 1;
    CHECK_STATUS(memory_look_up(&use, name, &memory, view));
    if (index == VIEW_SCRATCH)
        goto out;
    CHECK(move->size <= view->size, CLMOVE_OUT_OF_RANGE,
          "size is %zu, and %s has %llu bytes from its offset on", move->size,
          name, (unsigned long long)view->size);
    view->size = move->size;
out:
    return status;
}

/* Whether clEnqueueCopyBuffer or clEnqueueSVMMemcpy can take a disjoint move.
 */
static bool driver_can(const struct move *move)
{
    return (move->views[VIEW_SRC].root == NULL) ==
           (move->views[VIEW_DST].root == NULL);
}

static clmove_status choose_variant(struct move *move,
                                    const struct clmove_move_options *options,
                                    const struct job_move *jobs,
                                    uint32_t *variant)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_engine *engine = move->engine;
    const struct clmove_log *log = &engine->log;
    const bool kernel_allowed =
        (move->views[VIEW_SRC].flags & CL_MEM_WRITE_ONLY) == 0 &&
        (move->views[VIEW_DST].flags & CL_MEM_READ_ONLY) == 0;
    *variant = options == NULL ? CLMOVE_VARIANT_AUTO : options->variant;
    CHECK(clmove_variant_name(*variant) != NULL, CLMOVE_INVALID_ARGUMENT,
          "options->variant is %u, and is none of enum clmove_variant",
          *variant);
    CHECK(job_variant_can(*variant, jobs->overlaps), CLMOVE_INVALID_ARGUMENT,
          "options->variant is %s, which cannot move bytes between ranges that "
          "overlap",
          clmove_variant_name(*variant));
    CHECK(*variant != CLMOVE_VARIANT_DRIVER || driver_can(move),
          CLMOVE_INVALID_ARGUMENT,
          "options->variant is driver, which cannot move between a buffer and "
          "a pointer");
    if (*variant == CLMOVE_VARIANT_AUTO &&
        job_variant_can(engine->forced_variant, jobs->overlaps) &&
        (engine->forced_variant != CLMOVE_VARIANT_DRIVER || driver_can(move)))
        *variant = engine->forced_variant;
    if (*variant == CLMOVE_VARIANT_AUTO && !jobs->overlaps &&
        driver_can(move) && move->size >= engine->variant.driver_min)
        *variant = CLMOVE_VARIANT_DRIVER;
    if (*variant != CLMOVE_VARIANT_DRIVER && !kernel_allowed) {
        CHECK(!jobs->overlaps && driver_can(move), CLMOVE_ACCESS_DENIED,
              "%s, and only a disjoint move between two buffers can be left to "
              "the driver",
              (move->views[VIEW_SRC].flags & CL_MEM_WRITE_ONLY) != 0
                  ? "src is CL_MEM_WRITE_ONLY"
                  : "dst is CL_MEM_READ_ONLY");
        *variant = CLMOVE_VARIANT_DRIVER;
    }
    if (*variant == CLMOVE_VARIANT_AUTO)
        *variant = job_choose(&engine->variant.jobs, jobs);
out:
    return status;
}

/* Everything but the queue: what is to be moved, and how. */
static clmove_status resolve(struct clmove_engine *engine,
                             const struct clmove_memory *src,
                             const struct clmove_memory *dst, size_t size,
                             const struct clmove_move_options *options,
                             struct move *move)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = engine == NULL ? NULL : &engine->log;
    uint32_t variant = 0;
    CHECK(engine != NULL && src != NULL && dst != NULL, CLMOVE_INVALID_ARGUMENT,
          "%s is NULL",
          engine == NULL ? "engine"
          : src == NULL  ? "src"
                         : "dst");
    CHECK(engine->moves.ready, CLMOVE_INVALID_ARGUMENT,
          "the engine was made without CLMOVE_PART_MOVES");
    *move = (struct move){.engine = engine, .size = size};
    CHECK_STATUS(look_up(move, VIEW_SRC, "src", src));
    CHECK_STATUS(look_up(move, VIEW_DST, "dst", dst));
    const struct memory_view *from = &move->views[VIEW_SRC];
    const struct memory_view *to = &move->views[VIEW_DST];
    const struct job_move jobs = {view_origin(from), view_origin(to), size,
                                  views_overlap(from, to) &&
                                      !views_equal(from, to)};
    CHECK_STATUS(choose_variant(move, options, &jobs, &variant));
    move->has_scratch = options != NULL && !memory_is_absent(&options->scratch);
    if (move->has_scratch)
        CHECK_STATUS(
            look_up(move, VIEW_SCRATCH, "options->scratch", &options->scratch));
    bind_views(move->views, move->has_scratch ? 3 : 2, move->bindings);
    move->nothing = size == 0 || views_equal(from, to);
    move->driver = variant == CLMOVE_VARIANT_DRIVER;
    if (!move->nothing && !move->driver)
        CHECK(job_plan_move(&engine->variant.jobs, variant, &jobs, &move->plan),
              CLMOVE_UNSUPPORTED, "size is %zu: too many jobs for %s", size,
              clmove_variant_name(variant));
out:
    return status;
}

static clmove_status check_scratch(const struct move *move)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &move->engine->log;
    const struct memory_view *scratch = &move->views[VIEW_SCRATCH];
    if (!move->has_scratch)
        goto out;
    CHECK(scratch->size >= move->plan.scratch_size, CLMOVE_OUT_OF_RANGE,
          "options->scratch has %llu bytes, and the move needs %llu",
          (unsigned long long)scratch->size,
          (unsigned long long)move->plan.scratch_size);
    CHECK((scratch->flags & (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)) == 0,
          CLMOVE_ACCESS_DENIED,
          "options->scratch is not readable and writable by kernels");
    for (unsigned i = 0; i < VIEW_SCRATCH; i++)
        CHECK(!views_overlap(scratch, &move->views[i]), CLMOVE_OVERLAP,
              "options->scratch overlaps %s", i == VIEW_SRC ? "src" : "dst");
out:
    return status;
}

clmove_status clmove_move_scratch_size(
    struct clmove_engine *engine, const struct clmove_memory *src,
    const struct clmove_memory *dst, size_t size,
    const struct clmove_move_options *options, size_t *bytes)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = engine == NULL ? NULL : &engine->log;
    struct move move;
    CHECK(bytes != NULL, CLMOVE_INVALID_ARGUMENT, "bytes is NULL");
    *bytes = 0;
    CHECK_STATUS(resolve(engine, src, dst, size, options, &move));
    *bytes = (size_t)move.plan.scratch_size;
out:
    return status;
}

static cl_int enqueue_driver(const struct move *move, struct chain *chain,
                             bool wants_event)
{
    const struct memory_binding *src = &move->bindings[VIEW_SRC];
    const struct memory_binding *dst = &move->bindings[VIEW_DST];
    cl_event event = NULL;
    cl_event *wanted = wants_event ? &event : NULL;
    const cl_int status =
        src->pointer != NULL
            ? clEnqueueSVMMemcpy(
                  chain->queue, CL_FALSE, (char *)dst->pointer + dst->offset,
                  (const char *)src->pointer + src->offset, move->size,
                  chain_wait_count(chain), chain_wait_list(chain), wanted)
            : clEnqueueCopyBuffer(chain->queue, src->handle, dst->handle,
                                  (size_t)src->offset, (size_t)dst->offset,
                                  move->size, chain_wait_count(chain),
                                  chain_wait_list(chain), wanted);
    if (status == CL_SUCCESS)
        chain_add(chain, event);
    return status;
}

/* Offsets in a plan count from the roots; a kernel's count from what is bound.
 */
static cl_ulong rebase(const struct move *move, cl_uint place)
{
    return move->bindings[place].offset - view_origin(&move->views[place]);
}

/* One launch, a group for each job. */
static cl_int enqueue_family(const struct move *move, struct chain *chain,
                             const struct job_family *planned, bool wants_event)
{
    enum { ARGUMENTS = 3 };
    const bool edges = planned->distance != 0;
    const struct memory_binding bindings[ARGUMENTS] = {
        move->bindings[VIEW_SRC], move->bindings[VIEW_DST],
        move->bindings[edges ? VIEW_SCRATCH : VIEW_DST]};
    const struct engine_kernel *kernel = NULL;
    struct job_family family = *planned;
    family.src += rebase(move, VIEW_SRC);
    family.dst += rebase(move, VIEW_DST);
    family.edge += edges ? bindings[2].offset : 0;
    cl_int status = engine_call_kernel(
        move->engine, (family.mode & JOB_SAVE) != 0 ? CALL_SAVE : CALL_MOVE,
        bindings, ARGUMENTS, &kernel);
    for (cl_uint i = 0; i < ARGUMENTS && status == CL_SUCCESS; i++)
        status = memory_set_argument(kernel->kernel, i, &bindings[i]);
    if (status == CL_SUCCESS)
        status =
            clSetKernelArg(kernel->kernel, ARGUMENTS, sizeof family, &family);
    if (status == CL_SUCCESS)
        status = chain_kernel(chain, kernel->kernel, family.job_count,
                              kernel->group_size, wants_event);
    return status;
}

static cl_int enqueue_plan(struct move *move, struct chain *chain,
                           bool wants_event)
{
    struct clmove_engine *engine = move->engine;
    const struct job_plan *plan = &move->plan;
    const bool takes = plan->scratch_size > 0 && !move->has_scratch;
    struct scratch_lease lease = {0};
    cl_int status = CL_SUCCESS;
    if (plan->launch_count > 1)
        status = chain_prepare(chain, wants_event);
    if (takes) {
        if (status == CL_SUCCESS)
            status = scratch_take(&engine->moves.scratch, engine->context,
                                  chain->queue, chain->in_order,
                                  (size_t)plan->scratch_size, &lease);
        move->bindings[VIEW_SCRATCH] =
            (struct memory_binding){.handle = lease.buffer};
    }
    for (uint32_t i = 0; i < plan->launch_count && status == CL_SUCCESS; i++) {
        const bool last = i + 1 == plan->launch_count;
        status =
            enqueue_family(move, chain, &plan->launches[i],
                           wants_event || !last || (takes && !chain->in_order));
    }
    if (takes)
        scratch_give(&lease, chain->in_order, chain->last);
    return status;
}

clmove_status clmove_enqueue_move(struct clmove_engine *engine,
                                  const struct clmove_memory *src,
                                  const struct clmove_memory *dst, size_t size,
                                  const struct clmove_move_options *options,
                                  cl_command_queue queue, cl_uint wait_count,
                                  const cl_event *wait_list, cl_event *event)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct move move;
    struct chain chain = {
        .queue = queue, .wait_count = wait_count, .wait_list = wait_list};
    cl_int result = CL_SUCCESS;
    CHECK_STATUS(resolve(engine, src, dst, size, options, &move));
    CHECK_STATUS(check_scratch(&move));
    CHECK_STATUS(engine_check_queue(engine, queue, wait_count, wait_list));
    /* One call at a time: kernels' arguments, and the order of commands that
     * use one scratch. */
    pthread_mutex_lock(&engine->moves.mutex);
    if (move.nothing)
        result = engine_enqueue_nothing(engine, &chain, event != NULL);
    else if (move.driver)
        result = enqueue_driver(&move, &chain, event != NULL);
    else
        result = enqueue_plan(&move, &chain, event != NULL);
    pthread_mutex_unlock(&engine->moves.mutex);
    status = chain_finish(&chain, &engine->log, result, event);
out:
    return status;
}
