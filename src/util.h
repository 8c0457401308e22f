/* Arithmetic that says when it overflows. */

#ifndef UTIL_H
#define UTIL_H

#include <stdbool.h>
#include <stdint.h>

/* *sum = a + b; false when that exceeds 64 bits. */
static inline bool add_checked(uint64_t a, uint64_t b, uint64_t *sum)
{
    *sum = a + b;
    return *sum >= a;
}

/* *product = a * b; false when that exceeds 64 bits. */
static inline bool multiply_checked(uint64_t a, uint64_t b, uint64_t *product)
{
    *product = a * b;
    return a == 0 || *product / a == b;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
