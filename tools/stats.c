/* Minimum, median, 99th percentile, maximum of samples. */

#include "stats.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double rank(const double *samples, size_t count, size_t percent)
{
    size_t place = (count * percent + 99) / 100;
    return samples[place ? place - 1 : 0];
}

struct stats stats_of(double *samples, size_t count)
{
    struct stats result = {0, 0, 0, 0, 0};
    if (count == 0)
        return result;
    qsort(samples, count, sizeof *samples, compare);
    for (size_t i = 0; i < count; i++)
        result.sum += samples[i];
    result.minimum = samples[0];
    result.median = rank(samples, count, 50);
    result.p99 = rank(samples, count, 99);
    result.maximum = samples[count - 1];
    return result;
}
