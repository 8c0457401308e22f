/* A list of moves on the device: planned on the host, or as device arrays. */

#include "batch_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Statuses that a list or an option of the user's leads to. */
static enum cli_exit refusal(clmove_status status)
{
    switch (status) {
    case CLMOVE_OUT_OF_RANGE:
    case CLMOVE_OVERLAP:
    case CLMOVE_UNSUPPORTED:
        return CLI_BAD_INPUT;
    default:
        return cli_exit_code(status);
    }
}

static enum cli_exit create_batch(struct batch_job *job, size_t size,
                                  const struct batch_options *options)
{
    const struct list *list = job->list;
    struct clmove_region *regions = calloc(list->count + 1, sizeof *regions);
    if (!regions) {
        cli_error("out of memory for %zu regions", list->count);
        return CLI_OPENCL_FAILED;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct list_entry *entry = &list->entries[i];
        regions[i].src_offset = entry->src;
        regions[i].dst_offset = entry->dst;
        regions[i].size = entry->size;
        regions[i].rows = entry->rows;
        regions[i].src_stride = entry->src_stride;
        regions[i].dst_stride = entry->dst_stride;
    }
    /* Memory of no bytes counts as absent. */
    struct clmove_memory memory =
        session_memory(job->buffer, 0, size ? size : 1);
    struct clmove_batch_params params;
    memset(&params, 0, sizeof params);
    params.memories = &memory;
    params.memory_count = 1;
    params.regions = regions;
    params.region_count = list->count;
    params.variant = options->variant;
    params.scratch_limit = options->scratch_limit;
    struct clmove_log log = session_log();
    clmove_status status = clmove_batch_create(
        job->session ? job->session->engine : NULL, &log, &params, &job->batch);
    free(regions);
    if (session_failed(status, "planning the batch"))
        return refusal(status);
    return CLI_GO_ON;
}

static bool write_array(const struct batch_job *job, cl_mem *buffer,
                        const void *data, size_t size)
{
    *buffer = session_buffer(job->session, size, "the arrays");
    if (!*buffer)
        return false;
    if (size == 0)
        return true;
    cl_int code = clEnqueueWriteBuffer(job->session->queue, *buffer, CL_TRUE, 0,
                                       size, data, 0, NULL, NULL);
    return !session_failed(code, "clEnqueueWriteBuffer");
}

/* The three arrays, one after the other; freed by the caller. */
static int64_t *expand(const struct list *list)
{
    uint64_t count = list->row_count, at = 0;
    int64_t *values = NULL;
    if (count < SIZE_MAX / 3 / sizeof *values)
        values = malloc((size_t)(count * 3 + 1) * sizeof *values);
    if (!values) {
        cli_error("out of memory for %" PRIu64 " entries", count);
        return NULL;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct list_entry *entry = &list->entries[i];
        for (uint64_t k = 0; k < entry->rows; k++, at++) {
            values[at] = (int64_t)(entry->src + k * entry->src_stride);
            values[count + at] = (int64_t)(entry->dst + k * entry->dst_stride);
            values[count * 2 + at] = (int64_t)entry->size;
        }
    }
    return values;
}

static enum cli_exit create_arrays(struct batch_job *job)
{
    size_t count = (size_t)job->list->row_count;
    int64_t *values = expand(job->list);
    int32_t *zeros = calloc(count + 1, sizeof *zeros);
    size_t size = count * sizeof *values;
    bool fine = values && zeros &&
                write_array(job, &job->src_offsets, values, size) &&
                write_array(job, &job->dst_offsets, values + count, size) &&
                write_array(job, &job->sizes, values + count * 2, size) &&
                write_array(job, &job->faults, zeros, count * sizeof *zeros);
    free(values);
    free(zeros);
    job->row_count = count;
    return fine ? CLI_GO_ON : CLI_OPENCL_FAILED;
}

enum cli_exit batch_job_create(struct batch_job *job,
                               const struct session *session,
                               const struct list *list, cl_mem buffer,
                               size_t size, const struct batch_options *options)
{
    memset(job, 0, sizeof *job);
    job->session = session;
    job->list = list;
    job->buffer = buffer;
    if (options->device_arrays && session)
        return create_arrays(job);
    return create_batch(job, size, options);
}

void batch_job_destroy(struct batch_job *job)
{
    clmove_batch_destroy(&job->batch);
    session_release(&job->src_offsets);
    session_release(&job->dst_offsets);
    session_release(&job->sizes);
    session_release(&job->faults);
}

bool batch_job_enqueue(const struct batch_job *job, cl_event *event)
{
    cl_command_queue queue = job->session->queue;
    clmove_status status;
    if (job->batch) {
        status = clmove_enqueue_batch(job->batch, queue, 0, NULL, event);
        return !session_failed(status, "clmove_enqueue_batch");
    }
    struct clmove_device_batch params;
    memset(&params, 0, sizeof params);
    params.src_base = session_memory(job->buffer, 0, 0);
    params.dst_base = params.src_base;
    params.src_offsets = session_memory(job->src_offsets, 0, 0);
    params.dst_offsets = session_memory(job->dst_offsets, 0, 0);
    params.sizes = session_memory(job->sizes, 0, 0);
    params.faults = session_memory(job->faults, 0, 0);
    params.count = job->row_count;
    status = clmove_enqueue_batch_device(job->session->engine, &params, queue,
                                         0, NULL, event);
    return !session_failed(status, "clmove_enqueue_batch_device");
}

bool batch_job_no_fault(const struct batch_job *job)
{
    if (job->batch || job->row_count == 0)
        return true;
    size_t count = (size_t)job->row_count;
    int32_t *faults = malloc(count * sizeof *faults);
    if (!faults) {
        cli_error("out of memory");
        return false;
    }
    cl_int code =
        clEnqueueReadBuffer(job->session->queue, job->faults, CL_TRUE, 0,
                            count * sizeof *faults, faults, 0, NULL, NULL);
    bool fine = !session_failed(code, "clEnqueueReadBuffer");
    for (size_t i = 0; fine && i < count; i++) {
        fine = faults[i] == 0;
        if (!fine)
            cli_error("the device skipped entry %zu as out of range", i);
    }
    free(faults);
    return fine;
}

/* In the order of enum clmove_entry_class. */
enum { CLASSES = 5 };
static const char *const class_names[CLASSES] = {"nothing", "disjoint", "left",
                                                 "right", "endangered"};

static void print_summary(const struct clmove_batch_info *info)
{
    char text[32];
    printf("entries            %" PRIu64 " in %" PRIu64 " lines, %" PRIu64
           " of them do nothing\n",
           info->entry_count, info->region_count, info->dropped_count);
    printf("moves              %" PRIu64 " after merging: %" PRIu64
           " through scratch, %" PRIu64 " overlapping themselves\n",
           info->merged_count, info->endangered_count, info->overlapping_count);
    printf("bytes moved        %" PRIu64 " (%s)\n", info->moved_size,
           session_size_text(text, info->moved_size));
    printf("scratch            %" PRIu64 " (%s)\n", info->scratch_size,
           session_size_text(text, info->scratch_size));
    printf("launches           %" PRIu64, info->launch_count);
    if (info->slice_count > 1)
        printf(", in %" PRIu64 " slices", info->slice_count);
    printf("\n");
}

static void print_entry(const struct batch_job *job, size_t index, uint64_t row,
                        const struct clmove_entry_info *info)
{
    const struct list_entry *entry = &job->list->entries[index];
    const char *name = info->entry_class < CLASSES
                           ? class_names[info->entry_class]
                           : "unknown";
    printf("%8" PRIu64 " %6" PRIu64 "  %-10s", entry->line, row, name);
    if (info->entry_class == CLMOVE_ENTRY_DROPPED) {
        printf("\n");
        return;
    }
    const char *variant = clmove_variant_name(info->variant);
    printf("  %-8s %8" PRIu64 "  %" PRIu64 "\n", variant ? variant : "unknown",
           info->move, info->move_size);
}

/* What is left out of the table, by class. */
static void print_rest(const uint64_t *rest)
{
    uint64_t sum = 0;
    for (int i = 0; i < CLASSES; i++)
        sum += rest[i];
    if (sum == 0)
        return;
    printf("and %" PRIu64 " more:", sum);
    const char *separator = " ";
    for (int i = 0; i < CLASSES; i++) {
        if (rest[i] == 0)
            continue;
        printf("%s%" PRIu64 " %s", separator, rest[i], class_names[i]);
        separator = ", ";
    }
    printf("\n");
}

static bool print_entries(const struct batch_job *job)
{
    enum { SHOWN_MAX = 40 };
    uint64_t shown = 0, rest[CLASSES] = {0};
    printf("    line    row  class       variant      move  bytes of the "
           "move\n");
    for (size_t i = 0; i < job->list->count; i++) {
        for (uint64_t row = 0; row < job->list->entries[i].rows; row++) {
            struct clmove_entry_info info;
            clmove_status status =
                clmove_batch_describe_entry(job->batch, i, row, &info);
            if (session_failed(status, "clmove_batch_describe_entry"))
                return false;
            if (shown++ < SHOWN_MAX)
                print_entry(job, i, row, &info);
            else if (info.entry_class < CLASSES)
                rest[info.entry_class]++;
        }
    }
    print_rest(rest);
    return true;
}

bool batch_job_print(const struct batch_job *job, bool entries)
{
    struct clmove_batch_info info;
    if (!job->batch) {
        printf("entries            %" PRIu64 " in device arrays\n",
               job->row_count);
        return true;
    }
    clmove_status status = clmove_batch_describe(job->batch, &info);
    if (session_failed(status, "clmove_batch_describe"))
        return false;
    print_summary(&info);
    return !entries || info.entry_count == 0 || print_entries(job);
}
