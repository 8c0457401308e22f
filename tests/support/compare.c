/* Byte patterns, comparing whole allocations, telling what differs. */

#include "compare.h"

#include "runner.h"

#include <string.h>

static uint64_t mix(uint64_t value)
{
    value ^= value >> 30;
    value *= UINT64_C(0xbf58476d1ce4e5b9);
    value ^= value >> 27;
    value *= UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

unsigned char pattern_byte(uint64_t seed, uint64_t position)
{
    return (unsigned char)(mix(seed * UINT64_C(0x9e3779b97f4a7c15) + position +
                               1) >>
                           24);
}

void fill_pattern(unsigned char *bytes, size_t size, uint64_t seed)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = pattern_byte(seed, i);
    }
}

uint64_t random_next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return mix(*state);
}

uint32_t random_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)((random_next(state) >> 32) * bound >> 32);
}

size_t first_difference(const unsigned char *expected,
                        const unsigned char *actual, size_t size)
{
    if (size == 0 || memcmp(expected, actual, size) == 0) {
        return size;
    }
    for (size_t i = 0; i < size; i++) {
        if (expected[i] != actual[i]) {
            return i;
        }
    }
    return size;
}

static void print_row(FILE *file, const char *side, const unsigned char *bytes,
                      const unsigned char *other, size_t from, size_t to)
{
    fprintf(file, "  %-8s %10zu:", side, from);
    for (size_t i = from; i < to; i++) {
        fprintf(file, bytes[i] == other[i] ? " %02x " : "[%02x]", bytes[i]);
    }
    fprintf(file, "\n");
}

static void print_case(const struct check_case *check)
{
    fprintf(check->report, "test %s, case \"%s\", seed %llu: %s\n", check->test,
            check->detail, (unsigned long long)check->seed, check->what);
}

static void print_repeat(const struct check_case *check)
{
    fprintf(check->report, "  repeat with:");
    runner_print_environment(check->report);
    fprintf(check->report, " %s --case '%s' %s\n", runner_path(), check->detail,
            check->test);
    fflush(check->report);
}

int check_bytes(const struct check_case *check, const void *expected,
                const void *actual, size_t size)
{
    const unsigned char *left = expected;
    const unsigned char *right = actual;
    size_t bad = first_difference(left, right, size);
    size_t count = 0;
    size_t from, to;

    if (bad == size) {
        return 1;
    }
    if (!check->report) {
        return 0;
    }
    for (size_t i = bad; i < size; i++) {
        count += left[i] != right[i];
    }
    print_case(check);
    fprintf(check->report,
            "  first difference at offset %zu of %zu, %zu bytes differ\n", bad,
            size, count);
    from = bad / 16 * 16 >= 16 ? bad / 16 * 16 - 16 : 0;
    for (int row = 0; row < 4 && from < size; row++, from += 16) {
        to = size - from < 16 ? size : from + 16;
        print_row(check->report, "expected", left, right, from, to);
        print_row(check->report, "device", right, left, from, to);
    }
    print_repeat(check);
    return 0;
}

int check_failed(const struct check_case *check, const char *sentence)
{
    if (check->report) {
        print_case(check);
        fprintf(check->report, "  %s\n", sentence);
        print_repeat(check);
    }
    return 0;
}
