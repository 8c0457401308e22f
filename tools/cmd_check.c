/* clmove check: random copies, moves, batches against a plain reference. */

#include "commands.h"
#include "fuzz_moves.h"
#include "fuzz_run.h"
#include "interrupt.h"
#include "progress.h"
#include "stall.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "Makes random cases until the time is up, and compares every byte of "
    "every\n"
    "allocation, gaps and guards included, with a reference that runs on the "
    "host\n"
    "over an untouched snapshot. Cases are\n"
    "  states   layouts (conv states of both orders and all element sizes, "
    "temporal\n"
    "           states, padded pages, odd offsets, 1 to 3 groups, 1 to 20 "
    "buffers),\n"
    "           block tables by row or slot (several columns with one block, "
    "blocks\n"
    "           that requests share, wrong ids), rows that name slots "
    "(padding, "
    "wrong\n"
    "           ones, the same twice), counters (negative and huge ones too), "
    "each\n"
    "           way of giving them; pre- and post-process, pre-copy, state "
    "indices,\n"
    "           results in place or apart; block copies within a layout and "
    "between\n"
    "           two (other widths, orders and gaps, packed ones), zero, "
    "permutations;\n"
    "  moves    single moves of every variant: any offset, size and distance, "
    "left\n"
    "           and right, within one buffer, between two, through "
    "sub-buffers, with\n"
    "           scratch of the engine's or the caller's;\n"
    "  batches  lists planned on the host (permutations, rectangles, chains, "
    "limited\n"
    "           scratch) and lists in device memory (both widths of sizes, "
    "entries\n"
    "           to be skipped, with and without faults);\n"
    "each with shared virtual memory where the device has it, and in five "
    "launch\n"
    "shapes.\n"
    "\n"
    "A case depends on the seed, its number, --only, --variant and nothing "
    "else,\n"
    "except that devices without shared virtual memory get buffers instead. On "
    "a\n"
    "difference the case, the first wrong byte and the command that repeats it "
    "are\n"
    "printed; the exit code is 1. The case that is running when the time is up "
    "is\n"
    "finished; it may have to wait for a compiler.\n";

enum only { ONLY_ALL, ONLY_STATES, ONLY_MOVES, ONLY_BATCHES };
static const char *const only_names[] = {"all", "states", "moves", "batches",
                                         NULL};

/* The numbers of enum clmove_variant, then any. */
enum { VARIANT_ANY = CLMOVE_VARIANT_SEGMENTS + 1 };
static const char *const variants[] = {"auto",  "driver",   "disjoint", "group",
                                       "split", "segments", "any",      NULL};

struct options {
    uint64_t seconds, seed, number;
    const char *device;
    int only, variant;
};

/* A value that no user gives: options left out keep it. */
#define NOT_GIVEN UINT64_MAX

static enum cli_exit parse(struct options *options, int argc, char **argv)
{
    options->seconds = 10;
    options->seed = options->number = NOT_GIVEN;
    options->device = NULL;
    options->only = ONLY_ALL;
    options->variant = VARIANT_ANY;
    const struct cli_option list[] = {
        {"seconds", CLI_NUMBER, "N", "How long to go on. Default 10.",
         &options->seconds, 1, 1000000, NULL},
        {"seed", CLI_NUMBER, "N", "Of all cases. Default: from the clock.",
         &options->seed, 0, NOT_GIVEN - 1, NULL},
        {"case", CLI_NUMBER, "N", "Run only this case of the seed.",
         &options->number, 0, NOT_GIVEN - 1, NULL},
        {"only", CLI_CHOICE, "all|states|moves|batches",
         "Only cases of this kind. Default all.", &options->only, 0, 0,
         only_names},
        {"variant", CLI_CHOICE, "auto|driver|disjoint|group|split|segments|any",
         "Force a variant of moves and batches, and leave\nstates out. Default "
         "any: each case its own.",
         &options->variant, 0, 0, variants},
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
    if (options->only == ONLY_STATES && options->variant != VARIANT_ANY) {
        cli_error("check: states have no variants, so --only states takes no "
                  "--variant");
        return CLI_BAD_INPUT;
    }
    if (options->only == ONLY_BATCHES &&
        options->variant == CLMOVE_VARIANT_DRIVER) {
        cli_error("check: batches cannot be left to the driver");
        return CLI_BAD_INPUT;
    }
    if (options->seed == NOT_GIVEN)
        options->seed = (uint64_t)time(NULL) % 1000000007;
    return CLI_GO_ON;
}

struct run {
    const struct options *options;
    struct fuzz_engines engines;
    struct fuzz_tally states_tally;
    struct fuzz_moves_tally moves_tally;
    struct fuzz_case states;
    struct fuzz_moves moves;
    struct fuzz_moves_wishes wishes;
    uint64_t states_cases;
    char failure[2048];
    bool shared; /* the device has shared virtual memory */
};

static void print_failure(const struct run *run, uint64_t number,
                          const char *what)
{
    const struct options *options = run->options;
    const struct clmove_device_info *device = &run->engines.session->device;
    progress_clear();
    printf("case %" PRIu64 " of seed %" PRIu64 " is wrong: %s\n%s", number,
           options->seed, what, run->failure);
    printf("repeat with: clmove check --seed %" PRIu64 " --case %" PRIu64,
           options->seed, number);
    if (options->only != ONLY_ALL)
        printf(" --only %s", only_names[options->only]);
    if (options->variant != VARIANT_ANY)
        printf(" --variant %s", variants[options->variant]);
    printf(" --device %u:%u\n", device->platform_index, device->device_index);
}

static enum cli_exit run_states(struct run *run, uint64_t number)
{
    enum cli_exit code = CLI_OPENCL_FAILED;
    struct fuzz_case *fuzz = &run->states;
    if (fuzz_case_create(fuzz, run->options->seed, number, run->shared))
        code = fuzz_run(fuzz, &run->engines, &run->states_tally, run->failure,
                        sizeof run->failure);
    if (code == CLI_CHECK_FAILED) {
        char what[256];
        fuzz_case_describe(fuzz, what, sizeof what);
        print_failure(run, number, what);
    }
    fuzz_case_destroy(fuzz, run->engines.session);
    run->states_cases++;
    return code;
}

static enum cli_exit run_moves(struct run *run, uint64_t number)
{
    enum cli_exit code = CLI_OPENCL_FAILED;
    struct fuzz_moves *fuzz = &run->moves;
    if (fuzz_moves_create(fuzz, run->options->seed, number, &run->wishes))
        code = fuzz_moves_run(fuzz, &run->engines, &run->moves_tally,
                              run->failure, sizeof run->failure);
    if (code == CLI_CHECK_FAILED) {
        char what[256];
        fuzz_moves_describe(fuzz, what, sizeof what);
        print_failure(run, number, what);
    }
    fuzz_moves_destroy(fuzz, run->engines.session);
    return code;
}

/* States and moves take turns, unless only one of them is wanted. */
static enum cli_exit run_case(struct run *run, uint64_t number)
{
    const struct options *options = run->options;
    bool states = options->only == ONLY_STATES ||
                  (options->only == ONLY_ALL &&
                   options->variant == VARIANT_ANY && number % 2 == 0);
    stall_watch("case", number);
    enum cli_exit code =
        states ? run_states(run, number) : run_moves(run, number);
    stall_end();
    if (code == CLI_OPENCL_FAILED)
        cli_error("at case %" PRIu64 " of seed %" PRIu64, number,
                  options->seed);
    return code;
}

static void print_states(const struct fuzz_tally *tally, uint64_t cases)
{
    const uint64_t *of = tally->cases;
    printf("states             %" PRIu64 " cases: %" PRIu64
           " pre-process, %" PRIu64 " post-process, %" PRIu64
           " pre-copy, %" PRIu64 " indices, %" PRIu64 " block copies, %" PRIu64
           " zero, %" PRIu64 " permutations\n",
           cases, of[FUZZ_PRE], of[FUZZ_POST], of[FUZZ_PRE_COPY],
           of[FUZZ_INDICES], of[FUZZ_COPY], of[FUZZ_ZERO], of[FUZZ_PERMUTE]);
    printf("rows               %" PRIu64 " copied (%" PRIu64
           " of them in place), %" PRIu64 " at fault, %" PRIu64 " untouched\n",
           tally->copied, tally->in_place, tally->faults, tally->untouched);
    printf("blocks listed      %" PRIu64 "\n", tally->entries);
}

static void print_summary(const struct run *run, uint64_t cases, double seconds)
{
    const struct fuzz_tally *states = &run->states_tally;
    const struct fuzz_moves_tally *moves = &run->moves_tally;
    printf("cases              %" PRIu64 " in %.1f s, %.0f per second (%.1f s "
           "to make engines)\n",
           cases, seconds, seconds > 0 ? (double)cases / seconds : 0,
           run->engines.build_seconds);
    if (run->states_cases > 0)
        print_states(states, run->states_cases);
    if (cases == run->states_cases)
        return;
    printf("moves              %" PRIu64 " single, %" PRIu64
           " batches, %" PRIu64 " batches in device memory\n",
           moves->cases[FUZZ_SINGLE], moves->cases[FUZZ_BATCH],
           moves->cases[FUZZ_DEVICE_BATCH]);
    printf("entries            %" PRIu64 " (%" PRIu64
           " overlapped themselves), %" PRIu64 " bytes\n",
           moves->entries, moves->overlapping, moves->bytes);
}

static enum cli_exit run_all(struct run *run)
{
    const struct options *options = run->options;
    bool one = options->number != NOT_GIVEN;
    uint64_t first = one ? options->number : 0, cases = 0;
    double start = progress_seconds(), spent = 0;
    enum cli_exit code = CLI_GO_ON;
    progress_begin("check", "cases", 0);
    do {
        code = run_case(run, first + cases);
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

/* The parts of an engine that the cases need: building takes time. */
static uint32_t needed_parts(const struct options *options)
{
    bool states =
        options->only == ONLY_STATES ||
        (options->only == ONLY_ALL && options->variant == VARIANT_ANY);
    /* Permutations of blocks are moves. */
    return CLMOVE_PART_MOVES | (states ? CLMOVE_PART_STATES : 0u);
}

static enum cli_exit run_on(const struct session *session,
                            const struct options *options)
{
    const struct clmove_device_info *device = &session->device;
    struct run *run = calloc(1, sizeof *run);
    if (!run) {
        cli_error("out of memory");
        return CLI_OPENCL_FAILED;
    }
    run->options = options;
    run->engines.session = session;
    run->engines.parts = needed_parts(options);
    run->shared = device->version_number >= 200 && device->svm != 0;
    run->wishes.singles = options->only != ONLY_BATCHES;
    run->wishes.batches = options->only != ONLY_MOVES;
    run->wishes.any_variant = options->variant == VARIANT_ANY;
    run->wishes.variant = run->wishes.any_variant ? CLMOVE_VARIANT_AUTO
                                                  : (uint32_t)options->variant;
    run->wishes.shared = run->shared;
    printf("device             %s (%u:%u)\n", device->name,
           device->platform_index, device->device_index);
    printf("seed               %" PRIu64 "\n", options->seed);
    fflush(stdout);
    enum cli_exit code = run_all(run);
    fuzz_engines_destroy(&run->engines);
    free(run);
    return code;
}

enum cli_exit cmd_check(int argc, char **argv)
{
    struct options options;
    struct session session;
    enum cli_exit code = parse(&options, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    interrupt_watch();
    code = session_open(&session, options.device, needed_parts(&options));
    if (code == CLI_GO_ON)
        code = run_on(&session, &options);
    session_close(&session);
    return code;
}
