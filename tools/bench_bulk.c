/* Large batches, planned by the host and listed on the device, against one
 * clEnqueueCopyBuffer of as many bytes. */

#include "bench_bytes.h"

#include "kernels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 2 };
static const uint64_t sizes[SIZES] = {1 << 20, 64 << 10}; /* of an entry */

/* Entry i moves slot slot_of(i) of buffers[0] to slot i of buffers[1]. */
struct work {
    const struct session *session;
    struct kernels kernels;
    cl_mem buffers[2];
    uint64_t full;        /* bytes of each */
    uint64_t size, count; /* of entries */
    struct clmove_batch *batch;
    cl_mem lists[3];                 /* int64: sources, destinations, sizes */
    unsigned char *found, *expected; /* an entry each, and a word more */
};

/* Each slot once, no two neighbours together: counts are powers of 2. */
static uint64_t slot_of(const struct work *work, uint64_t entry)
{
    return (entry * 38459 + 5) % work->count;
}

static bool enqueue_planned(void *context, cl_command_queue queue,
                            uint32_t turn, cl_event *event)
{
    const struct work *work = context;
    (void)turn;
    clmove_status status =
        clmove_enqueue_batch(work->batch, queue, 0, NULL, event);
    return !session_failed(status, "clmove_enqueue_batch");
}

static bool enqueue_listed(void *context, cl_command_queue queue, uint32_t turn,
                           cl_event *event)
{
    const struct work *work = context;
    struct clmove_device_batch params;
    (void)turn;
    memset(&params, 0, sizeof params);
    params.src_base = session_memory(work->buffers[0], 0, 0);
    params.dst_base = session_memory(work->buffers[1], 0, 0);
    params.src_offsets = session_memory(work->lists[0], 0, 0);
    params.dst_offsets = session_memory(work->lists[1], 0, 0);
    params.sizes = session_memory(work->lists[2], 0, 0);
    params.count = work->count;
    clmove_status status = clmove_enqueue_batch_device(
        work->session->engine, &params, queue, 0, NULL, event);
    return !session_failed(status, "clmove_enqueue_batch_device");
}

static bool enqueue_copy(void *context, cl_command_queue queue, uint32_t turn,
                         cl_event *event)
{
    const struct work *work = context;
    (void)turn;
    cl_int code = clEnqueueCopyBuffer(queue, work->buffers[0], work->buffers[1],
                                      0, 0, (size_t)work->full, 0, NULL, event);
    return !session_failed(code, "clEnqueueCopyBuffer");
}

/* Ways to move all entries. */
enum { WAYS = 2 };
static const struct way {
    const char *name;
    bool (*enqueue)(void *context, cl_command_queue queue, uint32_t turn,
                    cl_event *event);
} ways[WAYS] = {{"planned", enqueue_planned}, {"listed", enqueue_listed}};

static struct bench_name name_way(const struct work *work, int way)
{
    struct bench_name name = {.subject = "batch",
                              .bytes = work->full,
                              .base = "clEnqueueCopyBuffer",
                              .base_moves = true};
    const bool mib = work->size >= 1 << 20;
    snprintf(name.text, sizeof name.text, "%" PRIu64 " x %" PRIu64 " %s, %s",
             work->count, work->size >> (mib ? 20 : 10), mib ? "MiB" : "KiB",
             ways[way].name);
    return name;
}

/* Entries once: all bytes of the destination must be the sources'. */
static enum cli_exit check(struct work *work, const struct bench_side *side,
                           const struct bench_name *name)
{
    const size_t size = (size_t)work->size;
    enum cli_exit code = CLI_GO_ON;
    for (uint32_t i = 0; i < 2; i++)
        if (!kernels_fill(&work->kernels, work->buffers[i], work->full, i))
            return CLI_OPENCL_FAILED;
    if (!side->enqueue(side->context, work->session->queue, 0, NULL))
        return CLI_OPENCL_FAILED;
    for (uint64_t i = 0; code == CLI_GO_ON && i < work->count; i++) {
        bench_pattern(0, slot_of(work, i) * size, size, work->expected);
        code = bench_compare(work->session, work->buffers[1], i * size, size,
                             work->expected, work->found, name);
    }
    return code;
}

/* The entries as a planned batch and as lists. */
static bool create_entries(struct work *work)
{
    const size_t count = (size_t)work->count;
    const struct session *session = work->session;
    struct clmove_region *regions = calloc(count, sizeof *regions);
    int64_t *numbers = malloc(count * sizeof *numbers);
    struct clmove_memory memories[2];
    struct clmove_batch_params params;
    struct clmove_log log = session_log();
    bool fine = regions && numbers;
    if (!fine)
        cli_error("out of memory");
    for (size_t i = 0; fine && i < count; i++) {
        regions[i].dst_memory = 1;
        regions[i].src_offset = slot_of(work, i) * work->size;
        regions[i].dst_offset = i * work->size;
        regions[i].size = work->size;
    }
    for (int list = 0; fine && list < 3; list++) {
        for (size_t i = 0; i < count; i++)
            numbers[i] = (int64_t)(list == 0   ? regions[i].src_offset
                                   : list == 1 ? regions[i].dst_offset
                                               : regions[i].size);
        work->lists[list] =
            session_buffer(session, count * sizeof *numbers, "a list");
        fine = work->lists[list] &&
               !session_failed(clEnqueueWriteBuffer(session->queue,
                                                    work->lists[list], CL_TRUE,
                                                    0, count * sizeof *numbers,
                                                    numbers, 0, NULL, NULL),
                               "clEnqueueWriteBuffer");
    }
    for (int i = 0; i < 2; i++)
        memories[i] = session_memory(work->buffers[i], 0, 0);
    memset(&params, 0, sizeof params);
    params.memories = memories;
    params.memory_count = 2;
    params.regions = regions;
    params.region_count = count;
    fine = fine && !session_failed(clmove_batch_create(session->engine, &log,
                                                       &params, &work->batch),
                                   "clmove_batch_create");
    free(regions);
    free(numbers);
    return fine;
}

static bool open_work(struct work *work)
{
    bool fine = kernels_create(&work->kernels, work->session);
    for (int i = 0; fine && i < 2; i++) {
        work->buffers[i] =
            session_buffer(work->session, (size_t)work->full, "entries");
        fine = work->buffers[i] != NULL;
    }
    return fine;
}

/* Makes the entries of the size in hand, and their batch. */
static bool open_size(struct work *work)
{
    work->found = malloc((size_t)work->size + 8);
    work->expected = malloc((size_t)work->size + 8);
    if (!work->found || !work->expected) {
        cli_error("out of memory");
        return false;
    }
    return create_entries(work);
}

static void close_size(struct work *work)
{
    clFinish(work->session->queue);
    clmove_batch_destroy(&work->batch);
    for (int i = 0; i < 3; i++)
        session_release(&work->lists[i]);
    free(work->found);
    free(work->expected);
    work->found = work->expected = NULL;
}

static bool time_way(struct bench *bench, struct work *work, int way)
{
    const struct bench_name name = name_way(work, way);
    struct bench_side clmove = {ways[way].enqueue, work};
    struct bench_side copy = {enqueue_copy, work};
    enum cli_exit code = check(work, &clmove, &name);
    if (code != CLI_GO_ON) {
        bench->failure = code;
        return false;
    }
    return bench_pair(bench, &name, clmove, copy);
}

uint64_t bench_bulk_rows(void)
{
    return SIZES * WAYS;
}

/* Opens what is asked for alone: it takes gigabytes. */
bool bench_bulk_run(struct bench *bench)
{
    struct work work;
    bool fine = true, opened = false;
    memset(&work, 0, sizeof work);
    work.session = bench->session;
    work.full = bench_full_size(bench);
    for (int i = 0; fine && i < SIZES; i++) {
        work.size = sizes[i];
        work.count = work.full / work.size;
        for (int way = 0; fine && way < WAYS; way++) {
            const struct bench_name name = name_way(&work, way);
            if (!bench_wants(bench, name.text)) {
                bench->rows_done++;
                continue;
            }
            fine = (opened || open_work(&work)) &&
                   (work.batch || open_size(&work)) &&
                   time_way(bench, &work, way);
            opened = true;
        }
        close_size(&work);
    }
    for (int i = 0; i < 2; i++)
        session_release(&work.buffers[i]);
    kernels_destroy(&work.kernels);
    return fine;
}
