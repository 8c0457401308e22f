/* Gets clmove's programs for one device: compiled, or from the cache. */

#ifndef PROGRAM_H
#define PROGRAM_H

#include "binary.h"
#include "check.h"
#include "variant.h"

/* How many numbers of banks there are to build for. */
enum { PROGRAM_BANK_CHOICES = 3, PROGRAM_PARTS = 2 };

/* The parts, in the order of enum clmove_part's bits. */
struct program_part {
    const char *name;       /* its kernel files begin with it */
    const char *kernels[8]; /* ends with NULL */
    uint32_t bank_counts[PROGRAM_BANK_CHOICES]; /* ascending */
};
extern const struct program_part program_parts[PROGRAM_PARTS];

/* The compiler's options for a part with `bank_count` banks. */
void program_options(const struct variant *variant,
                     const struct program_part *part, uint32_t bank_count,
                     char *options, size_t size);

/* For whom programs are made. */
struct program_target {
    const struct clmove_log *log;
    cl_context context;
    cl_device_id device;
    const struct variant *variant;
    struct binary_cache *cache;
};

/* The program of a part's `text` for `bank_count` banks. One that the cache
 * holds, but the driver does not take, is built and replaced. A failure to
 * build logs all that the compiler said. */
clmove_status program_make(const struct program_target *target,
                           const struct program_part *part, const char *text,
                           uint32_t bank_count, cl_program *program);

#endif
