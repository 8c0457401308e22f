/* Running a random case on the device, against the reference. */

#ifndef TOOLS_FUZZ_RUN_H
#define TOOLS_FUZZ_RUN_H

#include "fuzz_case.h"

/* What the cases so far came to. */
struct fuzz_tally {
    uint64_t cases[FUZZ_CALLS];
    uint64_t copied, in_place, faults, untouched; /* rows */
    uint64_t entries;                             /* of the host's lists */
};

/* CLI_GO_ON when every byte is right; CLI_CHECK_FAILED with `failure` set (a
 * call that refused a case included); CLI_OPENCL_FAILED after printing why. */
enum cli_exit fuzz_run(struct fuzz_case *fuzz, struct fuzz_engines *engines,
                       struct fuzz_tally *tally, char *failure,
                       size_t failure_size);

/* For a call that returned `status`: CLI_CHECK_FAILED with `failure` set when
 * the library refused it, CLI_OPENCL_FAILED after printing when OpenCL did. */
enum cli_exit fuzz_refused(const char *what, clmove_status status,
                           char *failure, size_t failure_size);

#endif
