/* Strict reading of numbers from text. */

#ifndef TOOLS_NUMBER_H
#define TOOLS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum number_result {
    NUMBER_FINE,
    NUMBER_EMPTY,
    NUMBER_NEGATIVE, /* a minus sign before digits */
    NUMBER_NOT_A_NUMBER,
    NUMBER_TOO_LARGE /* above UINT64_MAX */
};

/* Reads `size` bytes as decimal digits and nothing else: no sign, no space, no
 * prefix. *value is written for NUMBER_FINE only. */
enum number_result number_read(const char *text, size_t size, uint64_t *value);

/* The same, within minimum .. maximum. On a refusal `why` receives the end of
 * a sentence about `text` ("is negative", "must be 1 to 8, not 9"). */
bool number_read_within(const char *text, size_t size, uint64_t minimum,
                        uint64_t maximum, uint64_t *value, char *why,
                        size_t why_size);

/* The same, and 0x with hexadecimal digits is read as well. */
bool number_read_any_within(const char *text, size_t size, uint64_t minimum,
                            uint64_t maximum, uint64_t *value, char *why,
                            size_t why_size);

#endif
