/* Batches against an empty kernel and the baseline, and their planning. */

#include "baseline.h"
#include "bench.h"

#include "progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOVES = 128, /* of a batch */
    MOVE_SIZE = 32 << 10,
    PITCH = 64 << 10, /* between the moves */
    BATCH_SIZE = MOVES * PITCH,
    COLD_BATCHES = 32, /* one after the other, more than caches hold */
    PLANNED = 100000,  /* entries */
    PLANS_MAX = 50
};

struct work {
    const struct session *session;
    cl_mem buffer;
    struct clmove_batch *batches[COLD_BATCHES];
    struct baseline_batch base[COLD_BATCHES];
    uint32_t count;
};

/* The moves of a batch: to the left, over themselves. */
static void list_moves(uint32_t index, uint64_t shift,
                       struct clmove_region regions[MOVES])
{
    memset(regions, 0, MOVES * sizeof *regions);
    for (uint32_t i = 0; i < MOVES; i++) {
        regions[i].dst_offset = ((uint64_t)index * MOVES + i) * PITCH;
        regions[i].src_offset = regions[i].dst_offset + shift;
        regions[i].size = MOVE_SIZE;
    }
}

/* The batch `index` in both ways. */
static bool create_batch(struct work *work, const struct baseline *baseline,
                         uint32_t index, uint64_t shift)
{
    struct clmove_region regions[MOVES];
    list_moves(index, shift, regions);
    struct clmove_memory memory = session_memory(work->buffer, 0, 0);
    struct clmove_batch_params params;
    memset(&params, 0, sizeof params);
    params.memories = &memory;
    params.memory_count = 1;
    params.regions = regions;
    params.region_count = MOVES;
    struct clmove_log log = session_log();
    clmove_status status = clmove_batch_create(work->session->engine, &log,
                                               &params, &work->batches[index]);
    return !session_failed(status, "clmove_batch_create") &&
           baseline_batch_create(&work->base[index], baseline, work->buffer,
                                 regions, MOVES);
}

static bool enqueue_batch(void *context, cl_command_queue queue, uint32_t turn,
                          cl_event *event)
{
    const struct work *work = context;
    clmove_status status = clmove_enqueue_batch(
        work->batches[turn % work->count], queue, 0, NULL, event);
    return !session_failed(status, "clmove_enqueue_batch");
}

static bool enqueue_baseline(void *context, cl_command_queue queue,
                             uint32_t turn, cl_event *event)
{
    const struct work *work = context;
    return baseline_batch_enqueue(&work->base[turn % work->count], queue,
                                  event);
}

static unsigned char pattern(size_t i)
{
    return (unsigned char)((i * UINT64_C(0x9e3779b97f4a7c15)) >> 53);
}

/* Runs the first batch in one way; true if the device's bytes are those that
 * memmove makes of `bytes`, the pattern. */
static enum cli_exit check_side(struct work *work,
                                const struct bench_side *side, const char *name,
                                unsigned char *bytes,
                                const unsigned char *expected)
{
    cl_command_queue queue = work->session->queue;
    for (size_t i = 0; i < BATCH_SIZE; i++)
        bytes[i] = pattern(i);
    if (session_failed(clEnqueueWriteBuffer(queue, work->buffer, CL_TRUE, 0,
                                            BATCH_SIZE, bytes, 0, NULL, NULL),
                       "clEnqueueWriteBuffer") ||
        !side->enqueue(side->context, queue, 0, NULL) ||
        session_failed(clEnqueueReadBuffer(queue, work->buffer, CL_TRUE, 0,
                                           BATCH_SIZE, bytes, 0, NULL, NULL),
                       "clEnqueueReadBuffer"))
        return CLI_OPENCL_FAILED;
    for (size_t i = 0; i < BATCH_SIZE; i++) {
        if (bytes[i] == expected[i])
            continue;
        cli_error("%s: byte %zu is wrong, by %s", name, i,
                  side->enqueue == enqueue_batch ? "clmove" : "the baseline");
        return CLI_CHECK_FAILED;
    }
    return CLI_GO_ON;
}

/* Both ways must leave what memmove does. */
static enum cli_exit check_batch(struct work *work, uint64_t shift,
                                 const char *name)
{
    const struct bench_side sides[] = {{enqueue_batch, work},
                                       {enqueue_baseline, work}};
    struct clmove_region regions[MOVES];
    unsigned char *expected = malloc(BATCH_SIZE), *bytes = malloc(BATCH_SIZE);
    enum cli_exit code = expected && bytes ? CLI_GO_ON : CLI_OPENCL_FAILED;
    if (code != CLI_GO_ON)
        cli_error("out of memory");
    for (size_t i = 0; code == CLI_GO_ON && i < BATCH_SIZE; i++)
        expected[i] = pattern(i);
    list_moves(0, shift, regions);
    for (int i = 0; code == CLI_GO_ON && i < MOVES; i++)
        memmove(expected + regions[i].dst_offset,
                expected + regions[i].src_offset, MOVE_SIZE);
    for (int i = 0; code == CLI_GO_ON && i < 2; i++)
        code = check_side(work, &sides[i], name, bytes, expected);
    free(expected);
    free(bytes);
    return code;
}

static bool time_sides(struct bench *bench, struct work *work,
                       struct bench_name *name, uint64_t shift)
{
    struct session session = *bench->session;
    struct bench_side clmove = {enqueue_batch, work};
    struct bench_side nothing = {bench_enqueue_nothing, &session};
    struct bench_side baseline = {enqueue_baseline, work};
    enum cli_exit code = check_batch(work, shift, name->text);
    if (code != CLI_GO_ON) {
        bench->failure = code;
        return false;
    }
    name->base = "empty kernel";
    if (!bench_pair(bench, name, clmove, nothing))
        return false;
    name->base = "baseline";
    name->base_moves = true;
    return bench_pair(bench, name, clmove, baseline);
}

static bool time_moves(struct bench *bench, uint64_t shift, uint32_t batches)
{
    struct work work;
    struct baseline baseline;
    struct bench_name name;
    memset(&work, 0, sizeof work);
    memset(&name, 0, sizeof name);
    snprintf(name.text, sizeof name.text, "128 x 32 KiB, shift %" PRIu64 "%s",
             shift, batches > 1 ? ", cold" : "");
    if (!bench_wants(bench, name.text)) {
        bench->rows_done += 2; /* of time_sides */
        return true;
    }
    work.session = bench->session;
    work.buffer =
        session_buffer(bench->session, (size_t)batches * BATCH_SIZE, "batches");
    bool fine = baseline_create(&baseline, bench->session, NULL) && work.buffer;
    for (; fine && work.count < batches; work.count++)
        fine = create_batch(&work, &baseline, work.count, shift);
    name.subject = "batch";
    name.bytes = (uint64_t)MOVES * MOVE_SIZE;
    fine = fine && time_sides(bench, &work, &name, shift);
    clFinish(bench->session->queue);
    for (uint32_t i = 0; i < work.count; i++) {
        clmove_batch_destroy(&work.batches[i]);
        baseline_batch_destroy(&work.base[i]);
    }
    baseline_destroy(&baseline);
    session_release(&work.buffer);
    return fine;
}

/* Entries of 4 KiB in an order that no planner hopes for. */
static struct clmove_region *disjoint_regions(void)
{
    struct clmove_region *regions = calloc(PLANNED, sizeof *regions);
    for (uint64_t i = 0; regions && i < PLANNED; i++) {
        uint64_t slot = i * 38459 % PLANNED; /* coprime: every slot once */
        regions[i].src_offset = slot * 8192;
        regions[i].dst_offset = (i * 77801 % PLANNED + PLANNED) * 8192;
        regions[i].size = 4096;
    }
    return regions;
}

/* Microseconds, or negative after printing a failure. */
static double plan_once(const struct clmove_region *regions)
{
    struct clmove_memory memory =
        session_memory(NULL, 0, (size_t)PLANNED * 2 * 8192);
    struct clmove_batch_params params;
    struct clmove_log log = session_log();
    struct clmove_batch *batch = NULL;
    memset(&params, 0, sizeof params);
    params.memories = &memory;
    params.memory_count = 1;
    params.regions = regions;
    params.region_count = PLANNED;
    double start = progress_seconds();
    clmove_status status = clmove_batch_create(NULL, &log, &params, &batch);
    double us = (progress_seconds() - start) * 1e6;
    clmove_batch_destroy(&batch);
    return session_failed(status, "clmove_batch_create") ? -1 : us;
}

static bool time_planning(struct bench *bench)
{
    struct bench_name name = {.subject = "batch",
                              .text = "planning 100000 entries"};
    if (!bench_wants(bench, name.text)) {
        bench->rows_done++;
        return true;
    }
    struct clmove_region *regions = disjoint_regions();
    double samples[PLANS_MAX];
    size_t plans = bench->quick ? PLANS_MAX / 10 : PLANS_MAX;
    bool fine = regions != NULL;
    if (!fine)
        cli_error("out of memory");
    fine = fine && plan_once(regions) >= 0;
    for (size_t i = 0; fine && i < plans; i++) {
        samples[i] = plan_once(regions);
        fine = samples[i] >= 0;
    }
    free(regions);
    if (fine) {
        struct bench_row row;
        memset(&row, 0, sizeof row);
        row.clock = "host";
        row.clmove = stats_of(samples, plans);
        bench_table_add(bench->table, &name, &row);
    }
    progress_update(++bench->rows_done);
    return fine;
}

/* Many batches only where they fit. */
static bool has_room(const struct bench *bench)
{
    const struct clmove_device_info *device = &bench->session->device;
    uint64_t size = (uint64_t)COLD_BATCHES * BATCH_SIZE;
    return size <= device->max_allocation && size <= device->global_size / 4;
}

static uint64_t count_rows(const struct bench *bench)
{
    return (has_room(bench) ? 9 : 5) + bench_bulk_rows();
}

static bool run(struct bench *bench)
{
    return time_moves(bench, 16, 1) && time_moves(bench, 1, 1) &&
           (!has_room(bench) || (time_moves(bench, 16, COLD_BATCHES) &&
                                 time_moves(bench, 1, COLD_BATCHES))) &&
           time_planning(bench) && bench_bulk_run(bench);
}

const struct bench_subject bench_batch = {
    "batch",
    "128 moves of 32 KiB in one batch, against an empty kernel and the\n"
    "baseline (see states), which must leave the same bytes, and the\n"
    "planning of 100000 disjoint entries on the host; cold batches work\n"
    "on other bytes each time, more of them than caches hold. Then 1 GiB (or\n"
    "less, as moves) in entries of 1 MiB and of 64 KiB, planned by the host\n"
    "and listed on the device, against clEnqueueCopyBuffer of as many bytes.\n"
    "The first batch of each kind must leave the right bytes, or the run\n"
    "fails",
    CLMOVE_PART_MOVES,
    BENCH_TAKES_ONLY,
    true,
    count_rows,
    run};
