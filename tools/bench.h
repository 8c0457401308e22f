/* Timing two ways of doing one thing, by turns. */

#ifndef TOOLS_BENCH_H
#define TOOLS_BENCH_H

#include "bench_table.h"
#include "model.h"
#include "session.h"
#include "trace.h"

/* What was asked for. */
struct bench_options {
    bool quick;
    const char *only; /* texts, semicolons between them; NULL: all cases */
    struct model models[CLI_LIST_MAX];
    int model_count; /* 0: the subject's own */
    const char *trace_name;
    const struct trace *trace;
    uint64_t layers, shrink; /* of the trace's model; 0: all, whole */
    bool skip_sd, skip_ds;   /* of the trace's layouts */
};

enum { BENCH_ROUNDS_MAX = 200, BENCH_CLOCKS = 2, BENCH_SUMMARY_ROWS = 512 };

/* What the rows of one clock come to. */
struct bench_summary {
    const char *clock;
    double ratios[BENCH_SUMMARY_ROWS]; /* of rows; pairs' median */
    uint32_t rows, rows_behind;
    uint32_t pairs, pairs_behind;
};

struct bench {
    const struct session *session;
    cl_command_queue plain; /* without profiling, which may cost time */
    const struct bench_options *options;
    bool quick;
    struct bench_table *table;
    uint64_t rows_done;
    uint32_t rounds; /* of each clock; 0: as many as fit the time */
    struct bench_summary *summary; /* [BENCH_CLOCKS], or NULL: none */
    enum cli_exit failure;         /* what a part that failed comes to */
};

/* One way. `turn` grows with every call, so that a call can work on other bytes
 * than the one before. False after printing a failure. */
struct bench_side {
    bool (*enqueue)(void *context, cl_command_queue queue, uint32_t turn,
                    cl_event *event);
    void *context;
};

/* Prepares timing on an opened session. bench_close always. */
bool bench_open(struct bench *bench, const struct session *session,
                const struct bench_options *options, struct bench_table *table);
void bench_close(struct bench *bench);

/* Whether a case of this name is asked for. */
bool bench_wants(const struct bench *bench, const char *text);

/* Times clmove against `base`, adds the rows of the table, one per clock. False
 * after printing a failure, or when interrupted. */
bool bench_pair(struct bench *bench, const struct bench_name *name,
                struct bench_side clmove, struct bench_side base);

/* Adds a row of samples in us; each pair's are next to each other in time.
 * Sorts them. */
void bench_add(struct bench *bench, const struct bench_name *name,
               const char *clock, double *clmove, double *base,
               uint32_t rounds);

/* A part of the benchmark: what it is called, does, needs. */
struct bench_subject {
    const char *name; /* "move" */
    const char *help; /* what it times, lines separated by \n */
    uint32_t parts;   /* enum clmove_part */
    uint32_t takes;   /* options of its own: BENCH_TAKES_MODEL, ... */
    bool in_all;
    uint64_t (*count_rows)(const struct bench *bench);
    bool (*run)(struct bench *bench);
};
enum {
    BENCH_TAKES_MODEL = 1,
    BENCH_TAKES_TRACE = 2,
    BENCH_TAKES_PLOT = 4,
    BENCH_TAKES_ONLY = 8
};
extern const struct bench_subject bench_move, bench_batch, bench_states,
    bench_host, bench_replay;

/* Large batches, a part of bench_batch. */
uint64_t bench_bulk_rows(void);
bool bench_bulk_run(struct bench *bench);

/* An empty command of clmove's, as a side; the context is the session. */
bool bench_enqueue_nothing(void *session, cl_command_queue queue, uint32_t turn,
                           cl_event *event);

#endif
