/* clmove bench: times against what OpenCL has, in one run. */

#include "bench.h"
#include "bench_plot.h"
#include "commands.h"
#include "interrupt.h"
#include "plot.h"
#include "progress.h"

#include <string.h>

static const char help_before[] =
    "Times clmove against a base, by turns in one run. WHAT is all, or\n";

static const char help_after[] =
    "Moves are of 1 GiB at most, or 128 MiB on a CPU, or less where the device "
    "has\n"
    "not that much; with --quick of 128 or 32 MiB. States are those of whole "
    "models,\n"
    "or of fewer layers on a CPU, with --quick, and where memory is short.\n"
    "\n"
    "The clock \"device\" is by events, from the end of an empty command "
    "before the\n"
    "call to the end of its last command; left out where events have no times. "
    "The\n"
    "clock \"wall\" is for many calls in a row with one wait at the end, "
    "divided by\n"
    "their number. Times are medians, minima and 99th percentiles; GB/s counts "
    "bytes\n"
    "read and bytes written; the ratio is the base's median over clmove's, so "
    "that\n"
    "more is better; \"paired\" is the median of the ratios of neighbours in "
    "time.\n";

static const struct bench_subject *const subjects[] = {
    &bench_move, &bench_batch, &bench_states, &bench_host, &bench_replay};
enum { SUBJECT_COUNT = sizeof subjects / sizeof *subjects };

/* The options that not every subject takes. */
static const struct {
    uint32_t takes;
    const char *name;
} own_options[] = {
    {BENCH_TAKES_MODEL, "model"},
    {BENCH_TAKES_PLOT, "plot"},
    {BENCH_TAKES_ONLY, "only"},
    {BENCH_TAKES_TRACE, "trace, --layout, --layers or --shrink"}};

enum { NOT_GIVEN = -1 };
enum { LAYOUT_SD, LAYOUT_DS, LAYOUT_BOTH };

struct options {
    const char *what, *tsv, *plot, *device;
    struct cli_list models;
    int layout;
    struct bench_options bench;
    struct trace trace;
    uint32_t given; /* of own_options, a mask */
};

/* The lines of a subject's help, indented behind its name. */
static size_t add_subject(char *text, size_t size,
                          const struct bench_subject *subject)
{
    size_t used = (size_t)snprintf(text, size, "  %-7s", subject->name);
    for (const char *line = subject->help; line;) {
        const char *end = strchr(line, '\n');
        int width = end ? (int)(end - line) : (int)strlen(line);
        used +=
            (size_t)snprintf(text + used, size - used, "%*s%.*s\n",
                             line == subject->help ? 0 : 9, "", width, line);
        line = end ? end + 1 : NULL;
    }
    return used;
}

static void write_help(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", help_before);
    for (int i = 0; i < SUBJECT_COUNT; i++)
        used += add_subject(text + used, size - used, subjects[i]);
    snprintf(text + used, size - used, "%s", help_after);
}

static enum cli_exit parse(struct options *options, int argc, char **argv)
{
    static const char *const layouts[] = {"sd", "ds", "both", NULL};
    char help[4096];
    memset(options, 0, sizeof *options);
    options->layout = NOT_GIVEN;
    write_help(help, sizeof help);
    const struct cli_option list[] = {
        {"quick", CLI_FLAG, NULL, "Fewer bytes and rounds.",
         &options->bench.quick, 0, 0, NULL},
        {"only", CLI_TEXT, "TEXTS",
         "Only cases whose names contain one of these texts,\nsemicolons "
         "between "
         "them. Not for replay.",
         &options->bench.only, 0, 0, NULL},
        {"tsv", CLI_TEXT, "FILE", "Write the results to a table as well.",
         &options->tsv, 0, 0, NULL},
        {"plot", CLI_TEXT, "DIR",
         "move, states: Draw the results into this folder with\ngnuplot: "
         "move_size.svg, move_shift.svg,\nstates_batch.svg, with data and "
         "scripts beside them.",
         &options->plot, 0, 0, NULL},
        {"model", CLI_LIST, "NAME",
         "states, replay: a model of the built-in table. For\nstates it may be "
         "given several times; default\nqwen3.5-9b and nemotron-3-super-120b.",
         &options->models, 0, 0, NULL},
        {"trace", CLI_TEXT, "FILE", "replay: the recorded decode.",
         &options->bench.trace_name, 0, 0, NULL},
        {"layout", CLI_CHOICE, "sd|ds|both",
         "replay: the order of conv states. Default both.", &options->layout, 0,
         0, layouts},
        {"layers", CLI_NUMBER, "N",
         "replay: only the first N recurrent layers.", &options->bench.layers,
         1, UINT32_MAX, NULL},
        {"shrink", CLI_NUMBER, "N",
         "replay: divides the conv dim and the outermost\ntemporal dimension.",
         &options->bench.shrink, 1, UINT32_MAX, NULL},
        {"device", CLI_TEXT, "S",
         "gpu, cpu, accelerator, PLATFORM:DEVICE or a part\nof a name. "
         "Default: CLMOVE_DEVICE, else the first\nof gpu, accelerator, cpu.",
         &options->device, 0, 0, NULL}};
    const struct cli_command command = {
        "bench",       NULL, "WHAT", help, list, sizeof list / sizeof *list,
        &options->what};
    enum cli_exit code = cli_parse(&command, argc, argv);
    const struct bench_options *bench = &options->bench;
    if (options->models.count > 0)
        options->given |= BENCH_TAKES_MODEL;
    if (options->plot)
        options->given |= BENCH_TAKES_PLOT;
    if (bench->only)
        options->given |= BENCH_TAKES_ONLY;
    if (bench->trace_name || bench->layers || bench->shrink ||
        options->layout != NOT_GIVEN)
        options->given |= BENCH_TAKES_TRACE;
    return code;
}

/* The subjects that WHAT names; 0 after printing that it names none. */
static int find_subjects(const char *what, const struct bench_subject **found)
{
    char names[120] = "";
    int count = 0;
    for (int i = 0; i < SUBJECT_COUNT; i++) {
        bool all = strcmp(what, "all") == 0 && subjects[i]->in_all;
        if (all || strcmp(what, subjects[i]->name) == 0)
            found[count++] = subjects[i];
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s, ", subjects[i]->name);
    }
    if (count == 0)
        cli_error("bench: WHAT must be %sor all, not \"%.40s\"", names, what);
    return count;
}

/* An option that no subject takes would be a mistake. */
static bool options_suit(const struct options *options,
                         const struct bench_subject *const *chosen, int count)
{
    uint32_t taken = 0;
    for (int i = 0; i < count; i++)
        taken |= chosen[i]->takes;
    for (size_t i = 0; i < sizeof own_options / sizeof *own_options; i++) {
        if (options->given & own_options[i].takes & ~taken) {
            cli_error("bench: --%s is not for %s", own_options[i].name,
                      options->what);
            return false;
        }
    }
    return true;
}

/* Reads what the options name. A trace is one decode of one model. */
static bool load(struct options *options)
{
    struct bench_options *bench = &options->bench;
    bench->skip_sd = options->layout == LAYOUT_DS;
    bench->skip_ds = options->layout == LAYOUT_SD;
    if (strcmp(options->what, bench_replay.name) == 0 &&
        (!bench->trace_name || options->models.count != 1)) {
        cli_error("bench: replay needs --trace FILE and one --model NAME");
        return false;
    }
    for (int i = 0; i < options->models.count; i++) {
        if (!model_find(&bench->models[i], NULL, options->models.text[i]))
            return false;
        bench->model_count++;
    }
    if (!bench->trace_name)
        return true;
    bench->trace = &options->trace;
    return trace_load(&options->trace, bench->trace_name);
}

static enum cli_exit run(struct bench *bench,
                         const struct bench_subject *const *chosen, int count)
{
    const struct clmove_device_info *device = &bench->session->device;
    uint64_t rows = 0;
    bool fine = true;
    printf("device             %s (%u:%u), driver %s\n", device->name,
           device->platform_index, device->device_index,
           device->driver_version);
    for (int i = 0; i < count; i++)
        rows += chosen[i]->count_rows(bench);
    progress_begin("bench", "cases", rows);
    for (int i = 0; fine && i < count; i++)
        fine = chosen[i]->run(bench);
    progress_end();
    if (fine && bench->table->row_count == 0) {
        cli_error("bench: no case has a name with one of the texts \"%s\"",
                  bench->options->only);
        return CLI_BAD_INPUT;
    }
    if (fine)
        return CLI_FINE;
    if (!interrupt_seen())
        return bench->failure;
    cli_error("interrupted");
    return CLI_INTERRUPTED;
}

static enum cli_exit open_and_run(const struct options *options,
                                  const struct bench_subject *const *chosen,
                                  int count)
{
    uint32_t parts = 0;
    for (int i = 0; i < count; i++)
        parts |= chosen[i]->parts;
    struct session session;
    struct bench bench;
    struct bench_table table;
    memset(&bench, 0, sizeof bench);
    enum cli_exit code = session_open(&session, options->device, parts);
    if (code == CLI_GO_ON &&
        !bench_table_open(&table, options->tsv, session.device.name))
        code = CLI_BAD_INPUT;
    if (code == CLI_GO_ON) {
        code = CLI_OPENCL_FAILED;
        table.keeps = options->plot != NULL;
        if (bench_open(&bench, &session, &options->bench, &table))
            code = run(&bench, chosen, count);
        bench_close(&bench);
        if (code == CLI_FINE && options->plot &&
            !bench_plot(&table, options->plot, &session.device))
            code = CLI_BAD_INPUT;
        if (!bench_table_close(&table) && code == CLI_FINE)
            code = CLI_BAD_INPUT;
    }
    session_close(&session);
    return code;
}

enum cli_exit cmd_bench(int argc, char **argv)
{
    struct options options;
    const struct bench_subject *chosen[SUBJECT_COUNT];
    enum cli_exit code = parse(&options, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    int count = find_subjects(options.what, chosen);
    if (count == 0 || !options_suit(&options, chosen, count) ||
        (options.plot && !plot_prepare(options.plot)) || !load(&options))
        return CLI_BAD_INPUT;
    interrupt_watch();
    code = open_and_run(&options, chosen, count);
    trace_free(&options.trace);
    return code;
}
