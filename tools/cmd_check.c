/* clmove check: random state copies against a plain reference. */

#include "commands.h"
#include "fuzz_run.h"
#include "interrupt.h"
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "Makes random cases until the time is up: layouts (conv states of both\n"
    "orders and all element sizes, temporal states, padded pages, odd offsets, "
    "1\n"
    "to 3 groups, 1 to 20 buffers, shared virtual memory where the device has\n"
    "it), block tables (several columns with one block, blocks that requests\n"
    "share, wrong ids), counters (negative and huge ones too), pre- and\n"
    "post-process, results in place or apart, six launch shapes. Every byte "
    "of\n"
    "every allocation, gaps and guards included, is compared with a reference\n"
    "that runs on the host over an untouched snapshot.\n"
    "\n"
    "A case depends on the seed, its number and nothing else, except that\n"
    "devices without shared virtual memory get buffers instead. On a "
    "difference\n"
    "the case, the first wrong byte and the command that repeats it are "
    "printed;\n"
    "the exit code is 1.\n";

struct options {
    uint64_t seconds, seed, number;
    const char *device;
};

/* A value that no user gives: options left out keep it. */
#define NOT_GIVEN UINT64_MAX

static enum cli_exit parse(struct options *options, int argc, char **argv)
{
    options->seconds = 10;
    options->seed = options->number = NOT_GIVEN;
    options->device = NULL;
    const struct cli_option list[] = {
        {"seconds", CLI_NUMBER, "N", "How long to go on. Default 10.",
         &options->seconds, 1, 1000000, NULL},
        {"seed", CLI_NUMBER, "N", "Of all cases. Default: from the clock.",
         &options->seed, 0, NOT_GIVEN - 1, NULL},
        {"case", CLI_NUMBER, "N", "Run only this case of the seed.",
         &options->number, 0, NOT_GIVEN - 1, NULL},
        {"device", CLI_TEXT, "S",
         "gpu, cpu, accelerator, PLATFORM:DEVICE or a part\nof a name. "
         "Default: CLMOVE_DEVICE, else the first\nof gpu, accelerator, cpu.",
         &options->device, 0, 0, NULL}};
    const struct cli_command command = {
        "check", NULL, NULL, help, list, sizeof list / sizeof *list, NULL};
    enum cli_exit code = cli_parse(&command, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    if (options->number != NOT_GIVEN && options->seed == NOT_GIVEN) {
        cli_error("check: --case needs the --seed that it belongs to");
        return CLI_BAD_INPUT;
    }
    if (options->seed == NOT_GIVEN)
        options->seed = (uint64_t)time(NULL) % 1000000007;
    return CLI_GO_ON;
}

struct run {
    const struct session *session;
    struct fuzz_engines engines;
    struct fuzz_tally tally;
    struct fuzz_case fuzz;
    char failure[2048];
    bool shared; /* the device has shared virtual memory */
};

static void print_failure(const struct run *run)
{
    const struct clmove_device_info *device = &run->session->device;
    char what[256];
    fuzz_case_describe(&run->fuzz, what, sizeof what);
    progress_clear();
    printf("case %" PRIu64 " of seed %" PRIu64 " is wrong: %s\n%s",
           run->fuzz.number, run->fuzz.seed, what, run->failure);
    printf("repeat with: clmove check --seed %" PRIu64 " --case %" PRIu64
           " --device %u:%u\n",
           run->fuzz.seed, run->fuzz.number, device->platform_index,
           device->device_index);
}

static enum cli_exit run_case(struct run *run, uint64_t seed, uint64_t number)
{
    enum cli_exit code = CLI_OPENCL_FAILED;
    if (fuzz_case_create(&run->fuzz, seed, number, run->shared))
        code = fuzz_run(&run->fuzz, &run->engines, run->session, &run->tally,
                        run->failure, sizeof run->failure);
    if (code == CLI_CHECK_FAILED)
        print_failure(run);
    else if (code == CLI_OPENCL_FAILED)
        cli_error("at case %" PRIu64 " of seed %" PRIu64, number, seed);
    fuzz_case_destroy(&run->fuzz, run->session);
    return code;
}

static void print_summary(const struct run *run, uint64_t cases, double seconds)
{
    const struct fuzz_tally *tally = &run->tally;
    printf("cases              %" PRIu64 " in %.1f s, %.0f per second\n", cases,
           seconds, seconds > 0 ? (double)cases / seconds : 0);
    printf("rows               %" PRIu64 " copied (%" PRIu64
           " of them in place), %" PRIu64 " at fault, %" PRIu64 " untouched\n",
           tally->copied, tally->in_place, tally->faults, tally->untouched);
}

static enum cli_exit run_all(struct run *run, const struct options *options)
{
    bool one = options->number != NOT_GIVEN;
    uint64_t first = one ? options->number : 0, cases = 0;
    double start = progress_seconds(), spent = 0;
    enum cli_exit code = CLI_GO_ON;
    progress_begin("check", "cases", 0);
    do {
        code = run_case(run, options->seed, first + cases);
        cases++;
        spent = progress_seconds() - start;
        progress_update_timed(cases, spent, (double)options->seconds);
    } while (code == CLI_GO_ON && !one && !interrupt_seen() &&
             spent < (double)options->seconds);
    progress_end();
    if (code != CLI_GO_ON)
        return code;
    print_summary(run, cases, spent);
    if (interrupt_seen() && spent < (double)options->seconds && !one) {
        cli_error("interrupted; no difference so far");
        return CLI_INTERRUPTED;
    }
    printf("no difference\n");
    return CLI_FINE;
}

enum cli_exit cmd_check(int argc, char **argv)
{
    struct options options;
    enum cli_exit code = parse(&options, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    interrupt_watch();
    struct session session;
    struct run *run = calloc(1, sizeof *run);
    if (!run) {
        cli_error("out of memory");
        return CLI_OPENCL_FAILED;
    }
    code = session_open(&session, options.device);
    if (code == CLI_GO_ON) {
        const struct clmove_device_info *device = &session.device;
        run->session = &session;
        run->shared = device->version_number >= 200 && device->svm != 0;
        printf("device             %s (%u:%u)\n", device->name,
               device->platform_index, device->device_index);
        printf("seed               %" PRIu64 "\n", options.seed);
        fflush(stdout);
        code = run_all(run, &options);
        fuzz_engines_destroy(&run->engines);
    }
    session_close(&session);
    free(run);
    return code;
}
