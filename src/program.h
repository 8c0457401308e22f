/* Builds clmove's programs for one device. */

#ifndef PROGRAM_H
#define PROGRAM_H

#include "check.h"
#include "variant.h"

/* How many numbers of banks there are to build for. */
enum { PROGRAM_BANK_CHOICES = 3 };

/* The numbers of banks, ascending. */
extern const uint32_t program_bank_counts[PROGRAM_BANK_CHOICES];

/* The compiler's options for `bank_count` banks. */
void program_options(const struct variant *variant, uint32_t bank_count,
                     char *options, size_t size);

/* Builds `text` for `bank_count` banks. A failure logs all that the compiler
 * said. */
clmove_status program_build(const struct clmove_log *log, cl_context context,
                            cl_device_id device, const char *text,
                            const struct variant *variant, uint32_t bank_count,
                            cl_program *program);

#endif
