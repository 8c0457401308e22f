/* A recorded decode: what every running slot did in every step. */

#ifndef TOOLS_TRACE_H
#define TOOLS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_row {
    uint32_t slot;
    int32_t computed;  /* tokens before the step */
    int32_t scheduled; /* at least 1 */
    int32_t draft;     /* below scheduled */
    int32_t accepted;  /* 1 .. draft + 1 */
};

/* The rows of one step: first .. first + count - 1. Steps in which no slot runs
 * are not listed. */
struct trace_step {
    uint64_t number;
    size_t first, count;
    uint64_t
        scheduled; /* tokens of all its rows; batches count them in int32 */
};

struct trace {
    uint32_t block_size, draft_tokens, slots;
    uint64_t declared_steps;
    struct trace_row *rows;
    size_t row_count;
    struct trace_step *steps;
    size_t step_count;
};

/* Reads a trace file. Prints FILE:LINE and what is wrong, and returns false
 * with nothing to free, when it is not one, or not all of one. */
bool trace_load(struct trace *trace, const char *path);

void trace_free(struct trace *trace);

#endif
