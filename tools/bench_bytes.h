/* How much the large cases of a benchmark move, and what their bytes are. */

#ifndef TOOLS_BENCH_BYTES_H
#define TOOLS_BENCH_BYTES_H

#include "bench.h"

/* Bytes of a large move: beyond every cache, and what the device has; a power
 * of 2. */
uint64_t bench_full_size(const struct bench *bench);

/* What kernels_fill with the seed `buffer` puts at bytes [at, at + size). The
 * words that they lie in are written: 8 bytes more than size at most. */
void bench_pattern(uint32_t buffer, uint64_t at, size_t size,
                   unsigned char *bytes);

/* Reads bytes [at, at + size) of a buffer into `found` and compares them with
 * those that are expected after clmove's command of that name. A difference is
 * printed, and a check failed. */
enum cli_exit bench_compare(const struct session *session, cl_mem buffer,
                            uint64_t at, size_t size,
                            const unsigned char *expected, unsigned char *found,
                            const struct bench_name *name);

#endif
