/* clmove bench: times against what OpenCL has, in one run. */

#include "bench.h"
#include "commands.h"
#include "interrupt.h"
#include "progress.h"

#include <string.h>

static const char help[] =
    "Times clmove against a baseline, by turns in one run. WHAT is\n"
    "  move   moves within one buffer by 1 byte to 64 MiB, left and right, "
    "and\n"
    "         disjoint ones, left to the variant that clmove takes and by its\n"
    "         kernel, against clEnqueueCopyBuffer of as many disjoint bytes\n"
    "  batch  128 moves of 32 KiB in one batch, against an empty kernel, and "
    "the\n"
    "         planning of 100000 disjoint entries on the host; cold batches "
    "work\n"
    "         on other bytes each time, more of them than caches hold\n"
    "Large moves are of 1 GiB, or 128 MiB on a CPU, or less where the device "
    "has\n"
    "not that much; with --quick of 128 or 32 MiB.\n"
    "\n"
    "The clock \"device\" is by events, from the end of an empty command "
    "before the\n"
    "call to the end of its last command; left out where events have no times. "
    "The\n"
    "clock \"wall\" is for many calls in a row with one wait at the end, "
    "divided by\n"
    "their number. Times are medians, minima and 99th percentiles; GB/s counts "
    "bytes\n"
    "read and bytes written; the ratio is the baseline's median over clmove's, "
    "so\n"
    "that more is better.\n";

struct options {
    const char *what, *tsv, *device;
    bool quick;
};

static const struct bench_subject *const subjects[] = {&bench_move,
                                                       &bench_batch};
enum { SUBJECT_COUNT = sizeof subjects / sizeof *subjects };

static enum cli_exit parse(struct options *options, int argc, char **argv)
{
    memset(options, 0, sizeof *options);
    const struct cli_option list[] = {
        {"quick", CLI_FLAG, NULL, "Fewer bytes and rounds.", &options->quick, 0,
         0, NULL},
        {"tsv", CLI_TEXT, "FILE", "Write the results to a table as well.",
         &options->tsv, 0, 0, NULL},
        {"device", CLI_TEXT, "S",
         "gpu, cpu, accelerator, PLATFORM:DEVICE or a part\nof a name. "
         "Default: CLMOVE_DEVICE, else the first\nof gpu, accelerator, cpu.",
         &options->device, 0, 0, NULL}};
    const struct cli_command command = {
        "bench",       NULL, "WHAT", help, list, sizeof list / sizeof *list,
        &options->what};
    return cli_parse(&command, argc, argv);
}

static const struct bench_subject *find_subject(const char *name)
{
    for (int i = 0; i < SUBJECT_COUNT; i++) {
        if (strcmp(subjects[i]->name, name) == 0)
            return subjects[i];
    }
    cli_error("bench: WHAT must be move or batch, not \"%.40s\"", name);
    return NULL;
}

static enum cli_exit run(struct bench *bench,
                         const struct bench_subject *subject)
{
    const struct clmove_device_info *device = &bench->session->device;
    printf("device             %s (%u:%u), driver %s\n", device->name,
           device->platform_index, device->device_index,
           device->driver_version);
    progress_begin("bench", "cases", subject->count_rows(bench));
    bool fine = subject->run(bench);
    progress_end();
    if (fine)
        return CLI_FINE;
    if (!interrupt_seen())
        return CLI_OPENCL_FAILED;
    cli_error("interrupted");
    return CLI_INTERRUPTED;
}

enum cli_exit cmd_bench(int argc, char **argv)
{
    struct options options;
    enum cli_exit code = parse(&options, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    const struct bench_subject *subject = find_subject(options.what);
    if (!subject)
        return CLI_BAD_INPUT;
    interrupt_watch();
    struct session session;
    struct bench bench;
    struct bench_table table;
    memset(&bench, 0, sizeof bench);
    code = session_open(&session, options.device, CLMOVE_PART_MOVES);
    if (code == CLI_GO_ON &&
        !bench_table_open(&table, options.tsv, session.device.name))
        code = CLI_BAD_INPUT;
    if (code == CLI_GO_ON) {
        code = CLI_OPENCL_FAILED;
        if (bench_open(&bench, &session, options.quick, &table))
            code = run(&bench, subject);
        bench_close(&bench);
        if (!bench_table_close(&table) && code == CLI_FINE)
            code = CLI_BAD_INPUT;
    }
    session_close(&session);
    return code;
}
