/* Pictures of a benchmark's rows. */

#ifndef TOOLS_BENCH_PLOT_H
#define TOOLS_BENCH_PLOT_H

#include "bench_table.h"
#include "session.h"

/* Draws what the table has kept into `folder` (see plot.h): move_size,
 * move_shift, states_batch, each if there are rows for it. False after printing
 * a failure. */
bool bench_plot(const struct bench_table *table, const char *folder,
                const struct clmove_device_info *device);

#endif
