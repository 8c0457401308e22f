/* Running a random case of moves on the device, against the reference. */

#include "fuzz_moves.h"

#include "fuzz_run.h"

#include <stdio.h>
#include <string.h>

static struct clmove_memory memory_of(const struct fuzz_moves *fuzz,
                                      uint32_t index)
{
    const struct fuzz_memory *from = &fuzz->memories[index];
    const struct fuzz_area *area = &fuzz->areas[from->area];
    struct clmove_memory memory;
    memset(&memory, 0, sizeof memory);
    memory.size = from->size;
    if (area->pointer) {
        memory.pointer = (char *)area->pointer + from->origin;
        memory.offset = from->start - from->origin;
    } else if (from->sub) {
        memory.buffer = from->sub;
        memory.offset = from->start - from->origin;
    } else {
        memory.buffer = area->buffer;
        memory.offset = from->start;
    }
    return memory;
}

static struct clmove_memory extra_memory(const struct fuzz_moves *fuzz,
                                         size_t offset, size_t size)
{
    const struct fuzz_area *area = &fuzz->areas[FUZZ_EXTRA_AREA];
    struct clmove_memory memory = session_memory(area->buffer, offset, size);
    memory.pointer = area->pointer;
    return memory;
}

/* Device memory, and sub-buffers where memories are named by one. */
static bool upload(struct fuzz_moves *fuzz, const struct session *session)
{
    for (uint32_t i = 0; i < FUZZ_MOVE_AREAS; i++) {
        if (fuzz->areas[i].size > 0 &&
            !fuzz_area_upload(&fuzz->areas[i], session))
            return false;
    }
    for (uint32_t i = 0; i < fuzz->memory_count; i++) {
        struct fuzz_memory *memory = &fuzz->memories[i];
        cl_buffer_region region = {memory->origin, memory->handle_size};
        cl_int code = CL_SUCCESS;
        if (fuzz->areas[memory->area].shared || memory->handle_size == 0)
            continue;
        memory->sub = clCreateSubBuffer(
            fuzz->areas[memory->area].buffer, CL_MEM_READ_WRITE,
            CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
        if (session_failed(code, "clCreateSubBuffer"))
            return false;
    }
    return true;
}

/* An allocation for `size` bytes of scratch, guards around it. */
static clmove_status make_scratch(struct fuzz_moves *fuzz,
                                  const struct session *session, size_t size,
                                  struct clmove_memory *scratch)
{
    struct fuzz_area *area = &fuzz->areas[FUZZ_EXTRA_AREA];
    struct random random = {fuzz->seed + fuzz->number};
    if (size == 0 || area->size > 0)
        return CLMOVE_SUCCESS;
    fuzz->scratch_offset = random_below(&random, 100);
    fuzz->scratch_size = size;
    area->size = fuzz->scratch_offset + size + random_below(&random, 40);
    if (!fuzz_area_create(area, random_next(&random)) ||
        !fuzz_area_upload(area, session))
        return CL_OUT_OF_HOST_MEMORY;
    *scratch = extra_memory(fuzz, fuzz->scratch_offset, size);
    return CLMOVE_SUCCESS;
}

static clmove_status call_single(struct fuzz_moves *fuzz,
                                 struct clmove_engine *engine,
                                 const struct session *session)
{
    const struct fuzz_entry *entry = &fuzz->entries[0];
    struct clmove_memory src = memory_of(fuzz, entry->src_memory);
    struct clmove_memory dst = memory_of(fuzz, entry->dst_memory);
    struct clmove_move_options options;
    memset(&options, 0, sizeof options);
    options.variant = fuzz->variant;
    size_t size = (size_t)entry->size, needed = 0;
    clmove_status status =
        clmove_move_scratch_size(engine, &src, &dst, size, &options, &needed);
    if (status == CLMOVE_SUCCESS && fuzz->gives_scratch)
        status = make_scratch(fuzz, session, needed, &options.scratch);
    if (status == CLMOVE_SUCCESS)
        status = clmove_enqueue_move(engine, &src, &dst, size, &options,
                                     session->queue, 0, NULL, NULL);
    return status;
}

static void fill_regions(const struct fuzz_moves *fuzz,
                         struct clmove_region *regions)
{
    for (uint32_t i = 0; i < fuzz->entry_count; i++) {
        const struct fuzz_entry *entry = &fuzz->entries[i];
        memset(&regions[i], 0, sizeof regions[i]);
        regions[i].src_memory = entry->src_memory;
        regions[i].dst_memory = entry->dst_memory;
        regions[i].src_offset = (uint64_t)entry->src;
        regions[i].dst_offset = (uint64_t)entry->dst;
        regions[i].size = (uint64_t)entry->size;
        regions[i].rows = entry->rows;
        regions[i].src_stride = entry->src_stride;
        regions[i].dst_stride = entry->dst_stride;
    }
}

static clmove_status create_batch(struct fuzz_moves *fuzz,
                                  struct clmove_engine *engine,
                                  const struct session *session,
                                  struct clmove_batch **batch)
{
    struct clmove_memory memories[FUZZ_MEMORIES_MAX];
    struct clmove_region regions[FUZZ_ENTRIES_MAX];
    struct clmove_batch_params params;
    struct clmove_batch_info info;
    struct clmove_log log = session_log();
    for (uint32_t i = 0; i < fuzz->memory_count; i++)
        memories[i] = memory_of(fuzz, i);
    fill_regions(fuzz, regions);
    memset(&params, 0, sizeof params);
    params.memories = memories;
    params.memory_count = fuzz->memory_count;
    params.regions = regions;
    params.region_count = fuzz->entry_count;
    params.variant = fuzz->variant;
    params.scratch_limit = fuzz->scratch_limit;
    clmove_status status = clmove_batch_create(engine, &log, &params, batch);
    if (status != CLMOVE_SUCCESS || !fuzz->gives_scratch)
        return status;
    /* How much it needs is known now: once more, with scratch of ours. */
    status = clmove_batch_describe(*batch, &info);
    clmove_batch_destroy(batch);
    if (status == CLMOVE_SUCCESS)
        status = make_scratch(fuzz, session, (size_t)info.scratch_size,
                              &params.scratch);
    if (status == CLMOVE_SUCCESS)
        status = clmove_batch_create(engine, &log, &params, batch);
    return status;
}

static clmove_status call_batch(struct fuzz_moves *fuzz,
                                struct clmove_engine *engine,
                                const struct session *session)
{
    struct clmove_batch *batch = NULL;
    clmove_status status = create_batch(fuzz, engine, session, &batch);
    for (uint32_t i = 0; status == CLMOVE_SUCCESS && i < fuzz->times; i++)
        status = clmove_enqueue_batch(batch, session->queue, 0, NULL, NULL);
    clmove_batch_destroy(&batch);
    return status;
}

static clmove_status call_device(struct fuzz_moves *fuzz,
                                 struct clmove_engine *engine,
                                 const struct session *session)
{
    struct clmove_device_batch params;
    size_t count = fuzz->entry_count + 1;
    memset(&params, 0, sizeof params);
    params.src_base = memory_of(fuzz, 0);
    params.dst_base = memory_of(fuzz, 1);
    params.src_offsets = extra_memory(fuzz, fuzz->src_offsets, count * 8);
    params.dst_offsets = extra_memory(fuzz, fuzz->dst_offsets, count * 8);
    params.sizes = extra_memory(fuzz, fuzz->sizes, count * 8);
    if (fuzz->has_faults)
        params.faults = extra_memory(fuzz, fuzz->faults, count * 4);
    params.sizes_are_int32 = fuzz->sizes_are_int32;
    params.count = fuzz->entry_count;
    return clmove_enqueue_batch_device(engine, &params, session->queue, 0, NULL,
                                       NULL);
}

static clmove_status call_library(struct fuzz_moves *fuzz,
                                  struct fuzz_engines *engines,
                                  const char **what)
{
    struct clmove_engine *engine = NULL;
    *what = "clmove_engine_create";
    clmove_status status = fuzz_engines_get(engines, fuzz->engine, &engine);
    if (status != CLMOVE_SUCCESS)
        return status;
    if (fuzz->kind == FUZZ_SINGLE) {
        *what = "clmove_enqueue_move";
        status = call_single(fuzz, engine, engines->session);
    } else if (fuzz->kind == FUZZ_BATCH) {
        *what = "a call of clmove_batch";
        status = call_batch(fuzz, engine, engines->session);
    } else {
        *what = "clmove_enqueue_batch_device";
        status = call_device(fuzz, engine, engines->session);
    }
    cl_int code = clFinish(engines->session->queue);
    if (status == CLMOVE_SUCCESS && code != CL_SUCCESS) {
        *what = "clFinish";
        status = code;
    }
    return status;
}

static void count(const struct fuzz_moves *fuzz, struct fuzz_moves_tally *tally)
{
    tally->cases[fuzz->kind]++;
    for (uint32_t i = 0; i < fuzz->entry_count; i++) {
        const struct fuzz_entry *entry = &fuzz->entries[i];
        const struct fuzz_memory *src = &fuzz->memories[entry->src_memory];
        const struct fuzz_memory *dst = &fuzz->memories[entry->dst_memory];
        if (entry->skipped)
            continue;
        int64_t distance =
            (int64_t)src->start + entry->src - (int64_t)dst->start - entry->dst;
        tally->entries += entry->rows;
        tally->bytes += (uint64_t)entry->size * entry->rows;
        if (src->area == dst->area && distance != 0 && distance < entry->size &&
            -distance < entry->size)
            tally->overlapping += entry->rows;
    }
}

enum cli_exit fuzz_moves_run(struct fuzz_moves *fuzz,
                             struct fuzz_engines *engines,
                             struct fuzz_moves_tally *tally, char *failure,
                             size_t failure_size)
{
    const struct session *session = engines->session;
    const char *what;
    if (!upload(fuzz, session))
        return CLI_OPENCL_FAILED;
    clmove_status status = call_library(fuzz, engines, &what);
    if (status != CLMOVE_SUCCESS)
        return fuzz_refused(what, status, failure, failure_size);
    for (uint32_t i = 0; i < fuzz->times; i++) {
        if (!fuzz_moves_apply(fuzz))
            return CLI_OPENCL_FAILED;
    }
    count(fuzz, tally);
    for (uint32_t i = 0; i < FUZZ_MOVE_AREAS; i++) {
        if (fuzz->areas[i].size > 0 &&
            !fuzz_area_download(&fuzz->areas[i], session))
            return CLI_OPENCL_FAILED;
    }
    /* Scratch may hold anything. */
    struct fuzz_area *extra = &fuzz->areas[FUZZ_EXTRA_AREA];
    if (fuzz->scratch_size > 0)
        memcpy(extra->expected + fuzz->scratch_offset,
               extra->found + fuzz->scratch_offset, fuzz->scratch_size);
    return fuzz_area_compare(fuzz->areas, FUZZ_MOVE_AREAS, fuzz_moves_locate,
                             fuzz, failure, failure_size)
               ? CLI_GO_ON
               : CLI_CHECK_FAILED;
}
