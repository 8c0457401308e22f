/* Timing two ways of doing one thing, by turns. */

#ifndef TOOLS_BENCH_H
#define TOOLS_BENCH_H

#include "bench_table.h"
#include "session.h"

struct bench {
    const struct session *session;
    cl_command_queue plain; /* without profiling, which may cost time */
    bool quick;
    struct bench_table *table;
    uint64_t rows_done;
};

/* One way. `turn` grows with every call, so that a call can work on other bytes
 * than the one before. False after printing a failure. */
struct bench_side {
    bool (*enqueue)(void *context, cl_command_queue queue, uint32_t turn,
                    cl_event *event);
    void *context;
};

/* Prepares timing on an opened session. bench_close always. */
bool bench_open(struct bench *bench, const struct session *session, bool quick,
                struct bench_table *table);
void bench_close(struct bench *bench);

/* Times clmove against `base`, adds the rows of the table, one per clock. False
 * after printing a failure, or when interrupted. */
bool bench_pair(struct bench *bench, const struct bench_name *name,
                struct bench_side clmove, struct bench_side base);

/* A part of the benchmark. */
struct bench_subject {
    const char *name; /* "move" */
    uint64_t (*count_rows)(const struct bench *bench);
    bool (*run)(struct bench *bench);
};
extern const struct bench_subject bench_move, bench_batch;

/* An empty command of clmove's, as a side; the context is the session. */
bool bench_enqueue_nothing(void *session, cl_command_queue queue, uint32_t turn,
                           cl_event *event);

#endif
