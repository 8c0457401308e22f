/* What the host pays for enqueueing, and for an engine. */

#include "bench.h"

#include "host_calls.h"
#include "interrupt.h"
#include "progress.h"

#include <string.h>

enum {
    CALLS = 50, /* in a row; the device's queue holds all of their commands */
    ROUNDS_MIN = 5,
    ENGINES = 5,
    ENGINES_QUICK = 2
};

static const char base_name[] = "bare clEnqueueNDRangeKernel";

/* A kernel of one item, by clEnqueueNDRangeKernel alone. */
static bool enqueue_bare(void *context, cl_command_queue queue, uint32_t turn,
                         cl_event *event)
{
    const size_t one = 1;
    cl_kernel kernel = context;
    (void)turn;
    return !session_failed(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one,
                                                  &one, 0, NULL, event),
                           "clEnqueueNDRangeKernel");
}

/* us that the host took for each of CALLS calls; waiting for the device and
 * giving back events does not count. Negative after a failure. */
static double time_calls(const struct bench *bench,
                         const struct bench_side *side, bool wants_events)
{
    cl_event events[CALLS] = {NULL};
    bool fine = true;
    const double start = progress_seconds();
    for (uint32_t i = 0; fine && i < CALLS; i++)
        fine = side->enqueue(side->context, bench->plain, i,
                             wants_events ? &events[i] : NULL);
    const double seconds = progress_seconds() - start;
    fine = !session_failed(clFinish(bench->plain), "clFinish") && fine;
    for (uint32_t i = 0; i < CALLS; i++) {
        if (events[i])
            clReleaseEvent(events[i]);
    }
    return fine ? seconds * 1e6 / CALLS : -1;
}

/* Rounds of both sides by turns, as many as fit the time; 0 after a failure. */
static uint32_t time_rounds(const struct bench *bench,
                            const struct bench_side sides[2], bool wants_events,
                            double samples[2][BENCH_ROUNDS_MAX])
{
    const double end = progress_seconds() + (bench->quick ? 0.1 : 0.5);
    uint32_t rounds = 0;
    /* The first of each side makes it ready. */
    for (int which = 0; which < 2; which++) {
        if (time_calls(bench, &sides[which], wants_events) < 0)
            return 0;
    }
    while (rounds < ROUNDS_MIN ||
           (rounds < BENCH_ROUNDS_MAX && progress_seconds() < end)) {
        for (int which = 0; which < 2; which++) {
            double us = time_calls(bench, &sides[which], wants_events);
            if (interrupt_seen() || us < 0)
                return 0;
            samples[which][rounds] = us;
        }
        rounds++;
    }
    return rounds;
}

/* A call against the base, without and with events. */
static bool time_call(struct bench *bench, const char *text, uint32_t commands,
                      struct bench_side call, cl_kernel bare)
{
    const struct bench_side sides[2] = {call, {enqueue_bare, bare}};
    double samples[2][BENCH_ROUNDS_MAX];
    for (int events = 0; events < 2; events++) {
        struct bench_name name = {
            .subject = "host", .base = base_name, .commands = commands};
        snprintf(name.text, sizeof name.text, "%s%s", text,
                 events ? ", event" : "");
        bench->rows_done++;
        if (!bench_wants(bench, name.text))
            continue;
        uint32_t rounds = time_rounds(bench, sides, events == 1, samples);
        if (rounds == 0)
            return false;
        bench_add(bench, &name, "host", samples[0], samples[1], rounds);
        progress_update(bench->rows_done);
    }
    return true;
}

static bool time_engine(struct bench *bench, uint32_t parts, const char *what)
{
    struct session session = *bench->session;
    struct bench_name name = {.subject = "host"};
    struct bench_row row;
    double samples[ENGINES];
    const char *how = "";
    size_t count = bench->quick ? ENGINES_QUICK : ENGINES;
    bench->rows_done++;
    if (!bench_wants(bench, what))
        return true;
    memset(&row, 0, sizeof row);
    for (size_t i = 0; i < count; i++) {
        double seconds = 0;
        if (interrupt_seen() ||
            session_time_engine(&session, parts, &seconds, &how) != CLI_GO_ON)
            return false;
        samples[i] = seconds * 1e6;
    }
    snprintf(name.text, sizeof name.text, "%s", what);
    bench_table_note(bench->table, "%s: %s", what, how);
    row.clock = "host";
    row.clmove = stats_of(samples, count);
    bench_table_add(bench->table, &name, &row);
    progress_update(bench->rows_done);
    return true;
}

static bool time_engines(struct bench *bench)
{
    return time_engine(bench, CLMOVE_PART_MOVES, "engine for moves") &&
           time_engine(bench, CLMOVE_PART_STATES, "engine for states") &&
           time_engine(bench, 0, "engine for both");
}

static cl_program build_bare(const struct session *session)
{
    const char *text = "kernel void bare(void) {}";
    cl_int code = CL_SUCCESS;
    cl_program program =
        clCreateProgramWithSource(session->context, 1, &text, NULL, &code);
    if (session_failed(code, "clCreateProgramWithSource"))
        return NULL;
    code = clBuildProgram(program, 1, &session->device.device, "-cl-std=CL1.2",
                          NULL, NULL);
    session_failed(code, "clBuildProgram");
    return program;
}

static cl_kernel make_bare(const struct session *session)
{
    cl_int code = CL_SUCCESS;
    cl_program program = build_bare(session);
    if (!program)
        return NULL;
    cl_kernel kernel = clCreateKernel(program, "bare", &code);
    session_failed(code, "clCreateKernel");
    clReleaseProgram(program); /* the kernel keeps it */
    return kernel;
}

static uint64_t count_rows(const struct bench *bench)
{
    (void)bench;
    return (1 + HOST_CALL_COUNT) * 2 + 3;
}

static bool run(struct bench *bench)
{
    struct host_calls calls;
    cl_kernel bare = make_bare(bench->session);
    bool fine = host_calls_open(&calls, bench->session) && bare;
    /* The base against itself tells how far rows can be trusted. */
    fine = fine && time_call(bench, "bare", 1,
                             (struct bench_side){enqueue_bare, bare}, bare);
    for (int i = 0; fine && i < HOST_CALL_COUNT; i++) {
        const struct host_call *call = &host_call_list[i];
        const struct bench_side side = {call->enqueue, &calls};
        fine = time_call(bench, call->name, call->commands, side, bare);
    }
    host_calls_close(&calls);
    if (bare)
        clReleaseKernel(bare);
    return fine && time_engines(bench);
}

const struct bench_subject bench_host = {
    "host",
    "what the host pays: for one enqueue call of each kind, without and\n"
    "with an event, against clEnqueueNDRangeKernel of one work-item (50\n"
    "calls in a row; waiting for the device does not count); and for an\n"
    "engine. The first call of each kind is not timed. Ratio and \"us more\"\n"
    "are those of one command of a call",
    CLMOVE_PART_MOVES | CLMOVE_PART_STATES,
    BENCH_TAKES_ONLY,
    true,
    count_rows,
    run};
