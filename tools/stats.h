/* Minimum, median, 99th percentile, maximum of samples. */

#ifndef TOOLS_STATS_H
#define TOOLS_STATS_H

#include <stddef.h>

struct stats {
    double minimum, median, p99, maximum, sum;
};

/* Sorts `samples` in place. All zero when there is none. The percentiles are
 * samples themselves (nearest rank). */
struct stats stats_of(double *samples, size_t count);

#endif
