/* Timing two ways of doing one thing, by turns. */

#include "bench.h"

#include "device_clock.h"
#include "interrupt.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS_MIN = 5, /* a median of fewer says nothing */
    ROUNDS_MAX = BENCH_ROUNDS_MAX,
    TOGETHER = 8,  /* rounds queued at once: the device never waits for us */
    IN_A_ROW = 256 /* commands in a row at most */
};

/* Two sides, and what they took: CLMOVE, BASE. */
enum { SIDES = 2 };
struct pair {
    struct bench *bench;
    struct bench_side side[SIDES];
    double *samples[SIDES]; /* us, [ROUNDS_MAX] */
    double guess[SIDES];    /* us */
    uint32_t turn; /* of both: a side finds no bytes warm from the other */
};

bool bench_open(struct bench *bench, const struct session *session,
                const struct bench_options *options, struct bench_table *table)
{
    cl_int code = CL_SUCCESS;
    memset(bench, 0, sizeof *bench);
    bench->session = session;
    bench->options = options;
    bench->quick = options->quick;
    bench->table = table;
    bench->failure = CLI_OPENCL_FAILED;
    bench->plain = clCreateCommandQueue(session->context,
                                        session->device.device, 0, &code);
    return !session_failed(code, "clCreateCommandQueue");
}

void bench_close(struct bench *bench)
{
    if (bench->plain)
        clReleaseCommandQueue(bench->plain);
    memset(bench, 0, sizeof *bench);
}

bool bench_enqueue_nothing(void *context, cl_command_queue queue, uint32_t turn,
                           cl_event *event)
{
    const struct session *session = context;
    struct clmove_memory memory = session_memory(session->mark, 0, 0);
    (void)turn;
    return !session_failed(clmove_enqueue_move(session->engine, &memory,
                                               &memory, 0, NULL, queue, 0, NULL,
                                               event),
                           "an empty command");
}

static bool finish(cl_command_queue queue)
{
    return !session_failed(clFinish(queue), "clFinish");
}

/* `count` commands of a side in a row, from the first call to the end of the
 * last command: us. Negative after a failure. */
static double time_row(struct pair *pair, int which, uint32_t count)
{
    cl_command_queue queue = pair->bench->plain;
    const struct bench_side *side = &pair->side[which];
    double start = progress_seconds();
    for (uint32_t i = 0; i < count; i++) {
        if (!side->enqueue(side->context, queue, pair->turn++, NULL))
            return -1;
    }
    if (!finish(queue))
        return -1;
    return (progress_seconds() - start) * 1e6;
}

/* Makes both sides ready, and finds out roughly what they take. */
static bool warm_up(struct pair *pair)
{
    for (int which = 0; which < SIDES; which++) {
        /* The first one may compile; the second one fills caches. */
        if (time_row(pair, which, 1) < 0 || time_row(pair, which, 1) < 0)
            return false;
        double us = time_row(pair, which, 2);
        if (us < 0)
            return false;
        pair->guess[which] = us / 2 + 0.1;
    }
    return true;
}

/* Seconds that one clock of a pair may take. */
static double budget(const struct bench *bench)
{
    return bench->quick ? 0.15 : 1;
}

static uint32_t count_rounds(const struct pair *pair, uint32_t in_a_row)
{
    if (pair->bench->rounds)
        return pair->bench->rounds;
    double one = (pair->guess[0] + pair->guess[1]) * in_a_row * 1e-6;
    double rounds = budget(pair->bench) / one;
    if (rounds < ROUNDS_MIN)
        return ROUNDS_MIN;
    return rounds < ROUNDS_MAX ? (uint32_t)rounds : ROUNDS_MAX;
}

/* Rounds first .. first + count - 1 by events. *known is cleared when the
 * device gives no times. */
static bool time_events(struct pair *pair, uint32_t first, uint32_t count,
                        bool *known)
{
    const struct session *session = pair->bench->session;
    cl_event marks[TOGETHER][SIDES] = {{NULL}},
             ends[TOGETHER][SIDES] = {{NULL}};
    bool fine = true;
    for (uint32_t i = 0; i < count; i++) {
        for (int which = 0; fine && which < SIDES; which++) {
            const struct bench_side *side = &pair->side[which];
            fine = device_clock_mark(session, &marks[i][which]) &&
                   side->enqueue(side->context, session->queue, pair->turn++,
                                 &ends[i][which]);
        }
    }
    fine = finish(session->queue) && fine;
    for (uint32_t i = 0; i < count; i++) {
        for (int which = 0; which < SIDES; which++) {
            double us =
                fine ? device_clock_between(marks[i][which], ends[i][which])
                     : -1;
            pair->samples[which][first + i] = us;
            *known = *known && us >= 0;
            device_clock_release(&marks[i][which]);
            device_clock_release(&ends[i][which]);
        }
    }
    return fine;
}

static void summarize(struct bench_summary *summaries, const char *clock,
                      const double *ratios, double ratio, uint32_t rounds)
{
    struct bench_summary *summary = summaries;
    while (summary->clock && strcmp(summary->clock, clock) != 0)
        summary++;
    summary->clock = clock;
    if (summary->rows < BENCH_SUMMARY_ROWS)
        summary->ratios[summary->rows++] = ratio;
    summary->rows_behind += ratio < 1;
    summary->pairs += rounds;
    for (uint32_t i = 0; i < rounds; i++)
        summary->pairs_behind += ratios[i] < 1;
}

void bench_add(struct bench *bench, const struct bench_name *name,
               const char *clock, double *clmove, double *base, uint32_t rounds)
{
    double ratios[ROUNDS_MAX];
    struct bench_row row;
    for (uint32_t i = 0; i < rounds; i++)
        ratios[i] = bench_ratio(name, clmove[i], base[i]);
    row.clock = clock;
    row.clmove = stats_of(clmove, rounds);
    row.base = stats_of(base, rounds);
    row.paired = stats_of(ratios, rounds).median;
    if (bench->summary)
        summarize(bench->summary, clock, ratios, row.paired, rounds);
    bench_table_add(bench->table, name, &row);
}

static bool by_device(struct pair *pair, const struct bench_name *name)
{
    uint32_t rounds = count_rounds(pair, 1);
    bool known = true;
    for (uint32_t done = 0; done < rounds; done += TOGETHER) {
        uint32_t count = rounds - done < TOGETHER ? rounds - done : TOGETHER;
        if (interrupt_seen() || !time_events(pair, done, count, &known))
            return false;
    }
    if (known)
        bench_add(pair->bench, name, "device", pair->samples[0],
                  pair->samples[1], rounds);
    return true;
}

static bool by_wall(struct pair *pair, const struct bench_name *name)
{
    /* Enough in a row that waiting for the last one does not count. */
    double slower =
        pair->guess[0] > pair->guess[1] ? pair->guess[0] : pair->guess[1];
    double wanted = (pair->bench->quick ? 1000 : 4000) / slower;
    uint32_t in_a_row = wanted < 2 ? 2 : IN_A_ROW;
    if (wanted >= 2 && wanted < IN_A_ROW)
        in_a_row = (uint32_t)wanted;
    uint32_t rounds = count_rounds(pair, in_a_row);
    for (uint32_t i = 0; i < rounds; i++) {
        for (int which = 0; which < SIDES; which++) {
            double us = time_row(pair, which, in_a_row);
            if (interrupt_seen() || us < 0)
                return false;
            pair->samples[which][i] = us / in_a_row;
        }
    }
    bench_add(pair->bench, name, "wall", pair->samples[0], pair->samples[1],
              rounds);
    return true;
}

bool bench_wants(const struct bench *bench, const char *text)
{
    for (const char *only = bench->options->only; only; only++) {
        char part[64];
        const size_t length = strcspn(only, ";");
        snprintf(part, sizeof part, "%.*s", (int)length, only);
        if (strstr(text, part))
            return true;
        only += length;
        if (*only == '\0')
            return false;
    }
    return true;
}

bool bench_pair(struct bench *bench, const struct bench_name *name,
                struct bench_side clmove, struct bench_side base)
{
    struct pair pair;
    if (!bench_wants(bench, name->text)) {
        bench->rows_done++;
        return true;
    }
    memset(&pair, 0, sizeof pair);
    pair.bench = bench;
    pair.side[0] = clmove;
    pair.side[1] = base;
    bool fine = true;
    for (int which = 0; which < SIDES; which++) {
        pair.samples[which] = calloc(ROUNDS_MAX, sizeof(double));
        fine = fine && pair.samples[which];
    }
    if (!fine)
        cli_error("out of memory");
    fine = fine && warm_up(&pair) && by_device(&pair, name) &&
           by_wall(&pair, name);
    for (int which = 0; which < SIDES; which++)
        free(pair.samples[which]);
    progress_update(++bench->rows_done);
    return fine;
}
