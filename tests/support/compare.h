/* Byte patterns, comparing whole allocations, telling what differs. */

#ifndef COMPARE_H
#define COMPARE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The byte of a position: a hash, so that a byte at a wrong place shows. */
unsigned char pattern_byte(uint64_t seed, uint64_t position);

void fill_pattern(unsigned char *bytes, size_t size, uint64_t seed);

/* A small generator for random scenes; the state is the caller's. */
uint64_t random_next(uint64_t *state);

/* A number in [0, bound). */
uint32_t random_below(uint64_t *state, uint32_t bound);

/* Which case is being compared, for the report. */
struct check_case {
    const char *test;   /* the cmocka test's name */
    const char *detail; /* which case of it */
    uint64_t seed;
    const char *what; /* the compared memory */
    FILE *report;     /* NULL: nothing is printed */
};

/* The first offset at which two arrays differ, or `size`. */
size_t first_difference(const unsigned char *expected,
                        const unsigned char *actual, size_t size);

/* 1 if all bytes are equal. Otherwise prints the case, the first bad offset,
 * rows of both sides in hex, the command that repeats just this case; 0. */
int check_bytes(const struct check_case *check, const void *expected,
                const void *actual, size_t size);

/* Same for a single sentence in place of bytes. Always 0. */
int check_failed(const struct check_case *check, const char *sentence);

#endif
