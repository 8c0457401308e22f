/* A batch used: enqueued, described, destroyed. */

#include "batch.h"

#include "chain.h"
#include "memory.h"
#include "util.h"

#include <stdlib.h>

static void release_buffer(cl_mem buffer)
{
    if (buffer != NULL)
        clReleaseMemObject(buffer);
}

void clmove_batch_destroy(struct clmove_batch **batch)
{
    struct clmove_batch *own = batch == NULL ? NULL : *batch;
    if (own == NULL)
        return;
    for (size_t i = 0; i < own->memory_count; i++)
        release_buffer(own->views[i].handle);
    release_buffer(own->given_scratch);
    release_buffer(own->own_scratch);
    release_buffer(own->lists);
    engine_release_kernel(&own->kernel);
    plan_release(&own->plan);
    pthread_mutex_destroy(&own->mutex);
    engine_release(own->engine);
    free(own->views);
    free(own->bindings);
    free(own);
    *batch = NULL;
}

/* Gives the launch's banks to the kernel; most have them already. */
static cl_int set_banks(struct clmove_batch *batch,
                        const struct plan_launch *launch)
{
    for (uint32_t i = 0; i < launch->binding_count; i++) {
        const uint32_t wanted = batch->plan.bindings[launch->first_binding + i];
        if (batch->bound[i] == wanted)
            continue;
        const cl_int status = memory_set_argument(batch->kernel.kernel, i,
                                                  &batch->bindings[wanted]);
        if (status != CL_SUCCESS)
            return status;
        batch->bound[i] = wanted;
    }
    return CL_SUCCESS;
}

static cl_int set_all_banks(const struct clmove_batch *batch,
                            const struct plan_launch *launch, cl_kernel kernel)
{
    const uint32_t *wanted = &batch->plan.bindings[launch->first_binding];
    cl_int status = CL_SUCCESS;
    for (uint32_t i = 0; i < batch->bank_count && status == CL_SUCCESS; i++)
        status = memory_set_argument(
            kernel, i,
            i < launch->binding_count ? &batch->bindings[wanted[i]] : NULL);
    return status;
}

static cl_int set_numbers(const struct clmove_batch *batch,
                          const struct plan_launch *launch, cl_kernel kernel)
{
    const struct device_launch numbers = {
        batch->first_small,
        batch->first_chunk + launch->first_chunk * sizeof(struct job_chunk),
        launch->slice};
    return clSetKernelArg(kernel, batch->bank_count + ARGUMENT_LAUNCH,
                          sizeof numbers, &numbers);
}

/* Gives the batch's kernel what it does not have since the last launch. */
static cl_int set_changed(struct clmove_batch *batch,
                          const struct plan_launch *launch)
{
    if (batch->given == launch)
        return CL_SUCCESS;
    batch->given = NULL;
    cl_int status = set_banks(batch, launch);
    if (status == CL_SUCCESS)
        status = set_numbers(batch, launch, batch->kernel.kernel);
    if (status == CL_SUCCESS)
        batch->given = launch;
    return status;
}

/* The kernel of one launch of a mixed batch. */
static cl_int make_own(const struct clmove_batch *batch,
                       const struct plan_launch *launch,
                       struct engine_kernel *own)
{
    cl_int status = batch_make_kernel(batch, own);
    if (status == CL_SUCCESS)
        status = set_all_banks(batch, launch, own->kernel);
    if (status == CL_SUCCESS)
        status = set_numbers(batch, launch, own->kernel);
    return status;
}

static cl_int enqueue_launch(struct clmove_batch *batch, struct chain *chain,
                             const struct plan_launch *launch, bool wants_event)
{
    struct engine_kernel own = {0};
    const struct engine_kernel *kernel = batch->mixed ? &own : &batch->kernel;
    cl_int status = batch->mixed ? make_own(batch, launch, &own)
                                 : set_changed(batch, launch);
    if (status == CL_SUCCESS)
        status = chain_kernel(chain, kernel->kernel, launch->chunk_count,
                              kernel->group_size, wants_event);
    engine_release_kernel(&own);
    return status;
}

clmove_status clmove_enqueue_batch(struct clmove_batch *batch,
                                   cl_command_queue queue, cl_uint wait_count,
                                   const cl_event *wait_list, cl_event *event)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = batch == NULL ? NULL : &batch->log;
    struct chain chain = {
        .queue = queue, .wait_count = wait_count, .wait_list = wait_list};
    cl_int result = CL_SUCCESS;
    CHECK(batch != NULL, CLMOVE_INVALID_ARGUMENT, "batch is NULL");
    CHECK(batch->engine != NULL, CLMOVE_INVALID_ARGUMENT,
          "the batch was made without an engine, to be described only");
    CHECK_STATUS(
        engine_check_queue(batch->engine, queue, wait_count, wait_list));
    const struct plan *plan = &batch->plan;
    if (plan->launch_count == 0) {
        result = engine_enqueue_nothing(batch->engine, &chain, event != NULL);
    } else {
        if (plan->launch_count > 1)
            result = chain_prepare(&chain, event != NULL);
        pthread_mutex_lock(&batch->mutex);
        for (uint32_t i = 0; i < plan->launch_count && result == CL_SUCCESS;
             i++)
            result =
                enqueue_launch(batch, &chain, &plan->launches[i],
                               event != NULL || i + 1 < plan->launch_count);
        pthread_mutex_unlock(&batch->mutex);
    }
    status = chain_finish(&chain, log, result, event);
out:
    return status;
}

clmove_status clmove_batch_describe(const struct clmove_batch *batch,
                                    struct clmove_batch_info *info)
{
    if (batch == NULL || info == NULL)
        return CLMOVE_INVALID_ARGUMENT;
    *info = batch->plan.info;
    return CLMOVE_SUCCESS;
}

clmove_status clmove_batch_describe_entry(const struct clmove_batch *batch,
                                          uint64_t region, uint64_t row,
                                          struct clmove_entry_info *info)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = batch == NULL ? NULL : &batch->log;
    CHECK(batch != NULL && info != NULL, CLMOVE_INVALID_ARGUMENT, "%s is NULL",
          batch == NULL ? "batch" : "info");
    const struct plan *plan = &batch->plan;
    CHECK(region < plan->info.region_count, CLMOVE_OUT_OF_RANGE,
          "region is %llu, and the batch has %llu", (unsigned long long)region,
          (unsigned long long)plan->info.region_count);
    const struct plan_region *own = &plan->regions[region];
    CHECK(row < own->rows, CLMOVE_OUT_OF_RANGE,
          "row is %llu, and regions[%llu] has %llu", (unsigned long long)row,
          (unsigned long long)region, (unsigned long long)own->rows);
    const uint32_t number = own->first_entry == PLAN_NONE
                                ? PLAN_NONE
                                : plan->entry_moves[own->first_entry + row];
    *info = (struct clmove_entry_info){.move = UINT64_MAX};
    if (number == PLAN_NONE)
        goto out;
    const struct plan_move *move = &plan->moves[number];
    *info = (struct clmove_entry_info){move->entry_class, move->variant, number,
                                       move->size};
out:
    return status;
}
