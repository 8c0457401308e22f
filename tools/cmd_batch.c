/* clmove batch: a list of moves, on the bytes of a file or of a pattern. */

#include "batch_job.h"
#include "commands.h"
#include "device_clock.h"
#include "files.h"
#include "hex.h"
#include "progress.h"
#include "random.h"
#include "stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Moves bytes inside one device buffer as LIST says: as if every source "
    "were\n"
    "read before any destination is written. LIST is a text file, or - for\n"
    "standard input, with a move a line:\n"
    "\n"
    "    src dst size [rows src_stride dst_stride]\n"
    "\n"
    "src and dst are offsets and size a count of bytes, decimal or 0x; # "
    "starts a\n"
    "comment. With the last three, the line stands for a rectangle: rows of "
    "size\n"
    "bytes, that many bytes apart. The order of lines never matters. No byte "
    "may\n"
    "be written twice.\n"
    "\n"
    "With --in and --out the buffer holds the file's bytes, and the result is\n"
    "written to --out, which may be the same file; it is replaced in one go, "
    "and\n"
    "left alone when anything fails. Without them the buffer is as large as "
    "the\n"
    "list needs and holds a pattern. The result is compared with the host's "
    "in\n"
    "every case; a difference ends with exit code 1.\n"
    "\n"
    "With --device-arrays the entries are read by the device, each a move of "
    "its\n"
    "own; no entry may read what another one writes.\n"
    "\n"
    "With --repeat the list is moved N more times, over its own results, and\n"
    "timed: device time by events, and the wall time of all of them in a row.\n"
    "GB/s counts bytes read and bytes written.\n";

static const char *const variants[] = {"auto",  "disjoint", "group",
                                       "split", "segments", NULL};
static const uint32_t variant_numbers[] = {
    CLMOVE_VARIANT_AUTO, CLMOVE_VARIANT_DISJOINT, CLMOVE_VARIANT_GROUP,
    CLMOVE_VARIANT_SPLIT, CLMOVE_VARIANT_SEGMENTS};

struct options {
    const char *list, *in, *out, *device;
    bool plan, device_arrays;
    int variant;
    uint64_t scratch, repeat;
};

static bool refuse(const char *sentence)
{
    cli_error("batch: %s", sentence);
    return false;
}

static bool check_options(const struct options *options)
{
    if (options->out && !options->in)
        return refuse("--out needs --in");
    if (options->in && !options->out && !options->plan)
        return refuse("--in needs --out, or --plan");
    if (options->plan && options->out)
        return refuse("--plan writes nothing, so it takes no --out");
    if (options->plan && options->repeat)
        return refuse("--plan moves nothing, so it takes no --repeat");
    if (options->device_arrays && options->scratch)
        return refuse("--device-arrays uses no scratch, so it takes no "
                      "--scratch");
    if (options->device_arrays && options->variant != 0)
        return refuse("--device-arrays has one kernel, so it takes no "
                      "--variant");
    return true;
}

static enum cli_exit parse(struct options *options, int argc, char **argv)
{
    memset(options, 0, sizeof *options);
    const struct cli_option list[] = {
        {"in", CLI_TEXT, "FILE", "What the buffer holds before.", &options->in,
         0, 0, NULL},
        {"out", CLI_TEXT, "FILE", "Receives what it holds after.",
         &options->out, 0, 0, NULL},
        {"plan", CLI_FLAG, NULL,
         "Only print how the list would be moved. Needs no\ndevice.",
         &options->plan, 0, 0, NULL},
        {"device-arrays", CLI_FLAG, NULL,
         "Hand the list over in device memory.", &options->device_arrays, 0, 0,
         NULL},
        {"scratch", CLI_NUMBER, "BYTES",
         "Scratch memory at most. Default: what is needed.", &options->scratch,
         1, UINT64_MAX, NULL},
        {"variant", CLI_CHOICE, "auto|disjoint|group|split|segments",
         "How moves that overlap themselves are moved.\nDefault auto.",
         &options->variant, 0, 0, variants},
        {"repeat", CLI_NUMBER, "N", "Time N more runs.", &options->repeat, 1,
         1000000, NULL},
        {"device", CLI_TEXT, "S",
         "gpu, cpu, accelerator, PLATFORM:DEVICE or a part\nof a name. "
         "Default: CLMOVE_DEVICE, else the first\nof gpu, accelerator, cpu.",
         &options->device, 0, 0, NULL}};
    const struct cli_command command = {
        "batch",       NULL, "LIST", help, list, sizeof list / sizeof *list,
        &options->list};
    enum cli_exit code = cli_parse(&command, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    return check_options(options) ? CLI_GO_ON : CLI_BAD_INPUT;
}

static struct batch_options job_options(const struct options *options)
{
    struct batch_options result = {options->device_arrays,
                                   variant_numbers[options->variant],
                                   options->scratch};
    return result;
}

static enum cli_exit plan(const struct options *options,
                          const struct list *list)
{
    uint64_t size = list->extent;
    if (options->in &&
        (!file_size(options->in, &size) || !list_fits(list, size, options->in)))
        return CLI_BAD_INPUT;
    struct batch_job job;
    const struct batch_options wanted = job_options(options);
    enum cli_exit code =
        batch_job_create(&job, NULL, list, NULL, (size_t)size, &wanted);
    if (code == CLI_GO_ON)
        code = batch_job_print(&job, true) ? CLI_FINE : CLI_OPENCL_FAILED;
    batch_job_destroy(&job);
    return code;
}

/* The bytes of a run. */
struct images {
    unsigned char *before, *expected, *found;
    size_t size;
};

static bool allocate(struct images *images)
{
    size_t room = images->size ? images->size : 1;
    images->expected = malloc(room);
    images->found = malloc(room);
    if (images->expected && images->found)
        return true;
    cli_error("out of memory for %zu bytes", images->size);
    return false;
}

static bool fill_pattern(struct images *images, uint64_t size)
{
    struct random random = {size};
    images->size = (size_t)size;
    images->before = size < SIZE_MAX - 8 ? malloc(images->size + 8) : NULL;
    if (!images->before) {
        cli_error("out of memory for %" PRIu64 " bytes", size);
        return false;
    }
    for (size_t i = 0; i < images->size; i += 8) {
        uint64_t word = random_next(&random);
        memcpy(images->before + i, &word, sizeof word);
    }
    return true;
}

static bool prepare(struct images *images, const struct options *options,
                    const struct list *list)
{
    bool fine = options->in
                    ? file_load(options->in, &images->before, &images->size) &&
                          list_fits(list, images->size, options->in)
                    : fill_pattern(images, list->extent);
    if (!fine || !allocate(images))
        return false;
    memcpy(images->expected, images->before, images->size);
    list_apply(list, images->before, images->expected);
    return true;
}

static bool compare(const struct images *images)
{
    size_t offset =
        hex_first_difference(images->expected, images->found, images->size);
    if (offset == images->size)
        return true;
    char rows[1200];
    hex_rows(rows, sizeof rows, images->expected, images->found, images->size,
             offset, 0);
    printf("result             WRONG: byte %zu differs from the host's "
           "result\n%s",
           offset, rows);
    return false;
}

static bool transfer(const struct session *session, cl_mem buffer,
                     struct images *images, bool back)
{
    if (images->size == 0)
        return true;
    cl_int code =
        back
            ? clEnqueueReadBuffer(session->queue, buffer, CL_TRUE, 0,
                                  images->size, images->found, 0, NULL, NULL)
            : clEnqueueWriteBuffer(session->queue, buffer, CL_TRUE, 0,
                                   images->size, images->before, 0, NULL, NULL);
    return !session_failed(code, back ? "clEnqueueReadBuffer"
                                      : "clEnqueueWriteBuffer");
}

static uint64_t moved_bytes(const struct list *list)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (!list_entry_idle(&list->entries[i]))
            sum += list->entries[i].size * list->entries[i].rows;
    }
    return sum;
}

static void print_rate(const char *name, double us, uint64_t bytes)
{
    printf("%-18s %.1f us", name, us);
    if (us > 0)
        printf(", %.2f GB/s", 2 * (double)bytes / us * 1e-3);
    printf("\n");
}

static double *time_each(const struct batch_job *job, size_t count)
{
    double *samples = calloc(count, sizeof *samples);
    bool fine = samples != NULL;
    for (size_t i = 0; fine && i < count; i++) {
        cl_event mark = NULL, last = NULL;
        fine = device_clock_mark(job->session, &mark) &&
               batch_job_enqueue(job, &last) &&
               !session_failed(clFinish(job->session->queue), "clFinish");
        samples[i] = fine ? device_clock_between(mark, last) : -1;
        device_clock_release(&mark);
        device_clock_release(&last);
        progress_update(i);
    }
    if (fine)
        return samples;
    free(samples);
    return NULL;
}

static enum cli_exit time_runs(const struct batch_job *job, size_t count)
{
    uint64_t bytes = moved_bytes(job->list);
    progress_begin("batch", "runs", count);
    double *samples = time_each(job, count);
    progress_end();
    if (!samples)
        return CLI_OPENCL_FAILED;
    struct stats stats = stats_of(samples, count);
    bool has_events = samples[0] >= 0; /* the smallest, now */
    free(samples);
    double start = progress_seconds();
    for (size_t i = 0; i < count; i++) {
        if (!batch_job_enqueue(job, NULL))
            return CLI_OPENCL_FAILED;
    }
    if (session_failed(clFinish(job->session->queue), "clFinish"))
        return CLI_OPENCL_FAILED;
    double wall = (progress_seconds() - start) * 1e6 / (double)count;
    if (has_events)
        print_rate("device, median", stats.median, bytes);
    else
        printf("device, median     - (the device gives no times)\n");
    print_rate("wall, mean", wall, bytes);
    return CLI_GO_ON;
}

/* Moves once, compares, writes the file; then the timed runs. */
static enum cli_exit move(const struct batch_job *job, struct images *images,
                          const struct options *options)
{
    const struct session *session = job->session;
    if (!transfer(session, job->buffer, images, false) ||
        !batch_job_enqueue(job, NULL) ||
        session_failed(clFinish(session->queue), "clFinish") ||
        !batch_job_no_fault(job) ||
        !transfer(session, job->buffer, images, true))
        return CLI_OPENCL_FAILED;
    if (!compare(images))
        return CLI_CHECK_FAILED;
    printf("result             equals the host's (%zu bytes)\n", images->size);
    if (options->repeat) {
        enum cli_exit code = time_runs(job, (size_t)options->repeat);
        if (code != CLI_GO_ON)
            return code;
    }
    if (options->out &&
        !file_replace(options->out, images->found, images->size))
        return CLI_BAD_INPUT;
    return CLI_FINE;
}

static enum cli_exit run_on_device(const struct session *session,
                                   const struct options *options,
                                   const struct list *list,
                                   struct images *images)
{
    cl_mem buffer = session_buffer(session, images->size, "the moves");
    if (!buffer)
        return CLI_OPENCL_FAILED;
    struct batch_job job;
    const struct batch_options wanted = job_options(options);
    enum cli_exit code =
        batch_job_create(&job, session, list, buffer, images->size, &wanted);
    if (code == CLI_GO_ON && !batch_job_print(&job, false))
        code = CLI_OPENCL_FAILED;
    if (code == CLI_GO_ON)
        code = move(&job, images, options);
    clFinish(session->queue);
    batch_job_destroy(&job);
    session_release(&buffer);
    return code;
}

static enum cli_exit open_device(struct session *session,
                                 const struct options *options, uint64_t size)
{
    enum cli_exit code =
        session_open(session, options->device, CLMOVE_PART_MOVES);
    if (code != CLI_GO_ON)
        return code;
    const struct clmove_device_info *device = &session->device;
    if (size > device->max_allocation) {
        cli_error("the buffer needs %" PRIu64
                  " bytes, and the device allows %" PRIu64 " in one",
                  size, device->max_allocation);
        return CLI_BAD_INPUT;
    }
    printf("device             %s (%u:%u)\n", device->name,
           device->platform_index, device->device_index);
    return CLI_GO_ON;
}

/* What can be refused without a device is refused first. */
static enum cli_exit run(const struct options *options, const struct list *list)
{
    uint64_t size = list->extent;
    if (options->in &&
        (!file_size(options->in, &size) || !list_fits(list, size, options->in)))
        return CLI_BAD_INPUT;
    struct images images = {NULL, NULL, NULL, 0};
    struct session session;
    enum cli_exit code = open_device(&session, options, size);
    if (code == CLI_GO_ON && !prepare(&images, options, list))
        code = CLI_BAD_INPUT;
    if (code == CLI_GO_ON)
        code = run_on_device(&session, options, list, &images);
    session_close(&session);
    free(images.before);
    free(images.expected);
    free(images.found);
    return code;
}

enum cli_exit cmd_batch(int argc, char **argv)
{
    struct options options;
    struct list list;
    enum cli_exit code = parse(&options, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    if (!list_load(&list, options.list) ||
        !list_has_no_conflict(&list, options.device_arrays))
        code = CLI_BAD_INPUT;
    else
        code = options.plan ? plan(&options, &list) : run(&options, &list);
    list_free(&list);
    return code;
}
