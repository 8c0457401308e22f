/* A list of moves on the device: planned on the host, or as device arrays. */

#ifndef TOOLS_BATCH_JOB_H
#define TOOLS_BATCH_JOB_H

#include "list.h"
#include "session.h"

struct batch_options {
    bool device_arrays;
    uint32_t variant;       /* enum clmove_variant */
    uint64_t scratch_limit; /* 0: none */
};

struct batch_job {
    const struct session *session; /* NULL: to be described only */
    const struct list *list;
    struct clmove_batch *batch; /* NULL with device arrays */
    cl_mem buffer;
    cl_mem src_offsets, dst_offsets, sizes, faults;
    uint64_t row_count; /* of the device arrays */
};

/* Plans a list over `size` bytes: of `buffer`, or of nothing when the session
 * is NULL. CLI_GO_ON, or the code to leave with after printing why.
 * batch_job_destroy is needed either way. */
enum cli_exit batch_job_create(struct batch_job *job,
                               const struct session *session,
                               const struct list *list, cl_mem buffer,
                               size_t size,
                               const struct batch_options *options);
void batch_job_destroy(struct batch_job *job);

/* Enqueues it once; false after printing the failure. */
bool batch_job_enqueue(const struct batch_job *job, cl_event *event);

/* Whether the device skipped no entry; prints which one it skipped. Waits. */
bool batch_job_no_fault(const struct batch_job *job);

/* Prints what the batch comes to, and with `entries` what becomes of each, up
 * to a limit. */
bool batch_job_print(const struct batch_job *job, bool entries);

#endif
