/* The results of a benchmark, as text for people, as a file for programs. */

#ifndef TOOLS_BENCH_TABLE_H
#define TOOLS_BENCH_TABLE_H

#include "stats.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What is timed. */
struct bench_name {
    const char *subject; /* "move" */
    const char *model;   /* of the states; NULL: none */
    char text[40];       /* "left 16" */
    uint64_t bytes;      /* moved, counted once; 0: no rate */
    const char *base;    /* what it is compared with; NULL: nothing */
    bool base_moves;     /* as many bytes */
    uint32_t commands;   /* of one call; 0: not counted */
};

/* Microseconds. */
struct bench_row {
    const char *clock; /* "device", "wall", "host" */
    struct stats clmove, base;
    double paired; /* median of the pairs' ratios */
};

/* A row that was added. */
struct bench_kept {
    struct bench_name name; /* without the model, which may be gone */
    char model[64];
    struct bench_row row;
};

struct bench_table {
    FILE *tsv;               /* NULL: none */
    const char *path;        /* of the tsv */
    bool keeps;              /* rows, for pictures */
    struct bench_kept *kept; /* [kept_count] */
    size_t kept_count;
    size_t row_count; /* of all rows, kept or not */
    int form;         /* of the rows above: what the head line names */
};

/* `path` may be NULL. False after printing why it cannot be written. */
bool bench_table_open(struct bench_table *table, const char *path,
                      const char *device);

/* A line of text, in the file a comment. */
void bench_table_note(struct bench_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* How many times slower the base is, by command where they are counted. */
double bench_ratio(const struct bench_name *name, double clmove, double base);

/* One line. */
void bench_table_add(struct bench_table *table, const struct bench_name *name,
                     const struct bench_row *row);

/* Frees what was kept. False after printing that the file could not be written.
 */
bool bench_table_close(struct bench_table *table);

#endif
