/* Strict reading of numbers from text. */

#include "number.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_digits(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
    }
    return size > 0;
}

enum number_result number_read(const char *text, size_t size, uint64_t *value)
{
    if (size == 0)
        return NUMBER_EMPTY;
    if (text[0] == '-' && is_digits(text + 1, size - 1))
        return NUMBER_NEGATIVE;
    if (!is_digits(text, size))
        return NUMBER_NOT_A_NUMBER;
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return NUMBER_TOO_LARGE;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return NUMBER_FINE;
}

static int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

static enum number_result read_any(const char *text, size_t size,
                                   uint64_t *value)
{
    if (size < 2 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
        return number_read(text, size, value);
    uint64_t sum = 0;
    bool large = false;
    for (size_t i = 2; i < size; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0)
            return NUMBER_NOT_A_NUMBER;
        large = large || sum >> 60 != 0;
        sum = sum << 4 | (uint64_t)digit;
    }
    if (size == 2)
        return NUMBER_NOT_A_NUMBER;
    if (large)
        return NUMBER_TOO_LARGE;
    *value = sum;
    return NUMBER_FINE;
}

/* Takes a number that was read, or says why not. */
static bool accept(enum number_result result, uint64_t read, const char *text,
                   size_t size, uint64_t minimum, uint64_t maximum,
                   uint64_t *value, char *why, size_t why_size)
{
    int shown = size > 40 ? 40 : (int)size;
    switch (result) {
    case NUMBER_EMPTY:
        snprintf(why, why_size, "is empty");
        return false;
    case NUMBER_NEGATIVE:
        snprintf(why, why_size, "is negative: %.*s", shown, text);
        return false;
    case NUMBER_NOT_A_NUMBER:
        snprintf(why, why_size, "is not a whole number: \"%.*s\"", shown, text);
        return false;
    case NUMBER_TOO_LARGE:
        snprintf(why, why_size, "must be at most %" PRIu64 ", not %.*s",
                 maximum, shown, text);
        return false;
    case NUMBER_FINE:
        break;
    }
    if (read < minimum || read > maximum) {
        if (maximum == UINT64_MAX)
            snprintf(why, why_size,
                     "must be at least %" PRIu64 ", not %" PRIu64, minimum,
                     read);
        else
            snprintf(why, why_size,
                     "must be %" PRIu64 " to %" PRIu64 ", not %" PRIu64,
                     minimum, maximum, read);
        return false;
    }
    *value = read;
    return true;
}

bool number_read_within(const char *text, size_t size, uint64_t minimum,
                        uint64_t maximum, uint64_t *value, char *why,
                        size_t why_size)
{
    uint64_t read = 0;
    enum number_result result = number_read(text, size, &read);
    return accept(result, read, text, size, minimum, maximum, value, why,
                  why_size);
}

bool number_read_any_within(const char *text, size_t size, uint64_t minimum,
                            uint64_t maximum, uint64_t *value, char *why,
                            size_t why_size)
{
    uint64_t read = 0;
    enum number_result result = read_any(text, size, &read);
    return accept(result, read, text, size, minimum, maximum, value, why,
                  why_size);
}
