/* A replay on the device: the engine's arrays, the steps, their times. */

#ifndef TOOLS_REPLAY_H
#define TOOLS_REPLAY_H

#include "kernels.h"
#include "oracle.h"

/* Per-slot numbers of a step that the host writes. */
enum replay_array {
    REPLAY_COMPUTED,
    REPLAY_SCHEDULED,
    REPLAY_DRAFT,
    REPLAY_SAMPLED,  /* accepted counts of this step */
    REPLAY_ADMITTED, /* see schedule.h */
    REPLAY_REQUEST,  /* numbers of the slots' requests */
    REPLAY_AFTER,    /* tokens that certainly stay: c + s - d */
    REPLAY_ARRAY_COUNT
};

/* Pre-process reads accepted[0] and writes accepted[1], post-process reads
 * accepted[1] and writes accepted[0]. Pre-process of one step writes the column
 * array that the next step's reads: two pairs of steps take turns, so that no
 * call has to copy its input aside. */
struct replay {
    const struct session *session;
    struct schedule schedule;
    struct oracle oracle;
    struct pool pool;
    struct kernels kernels;
    struct clmove_ssm_layout *layout;
    struct clmove_ssm_step *pre[2], *post[2];
    cl_mem arrays[REPLAY_ARRAY_COUNT]; /* int32 [slots] */
    cl_mem table, accepted[2], column[2], faults;
    int32_t *scratch; /* [slots] */
    void *zeros;      /* [slots] of the largest element */
    uint32_t turn;    /* of the pairs */
    cl_event events[2];
    double host_us;                        /* of the current step's calls */
    double *host_samples, *device_samples; /* us, [steps] */
    size_t steps_done, steps_total;
    uint64_t rows;
    double moving_us; /* device time of the steps that moved bytes */
    struct oracle_tally tally[2]; /* by enum oracle_call */
};

/* What was asked for; request.block_count is filled in. */
struct replay_params {
    struct pool_request request;
    const struct trace *trace;
    uint32_t block_size;
    size_t steps;
};

/* Prepares everything, the pool filled with a pattern. CLI_GO_ON, or the code
 * to leave with after printing why. replay_destroy is needed either way. */
enum cli_exit replay_create(struct replay *replay,
                            const struct session *session,
                            struct replay_params *params);
void replay_destroy(struct replay *replay);

/* One step is these five, in this order; false after printing a failure. */
bool replay_begin_step(struct replay *replay);
bool replay_pre(struct replay *replay);
bool replay_sample(struct replay *replay);
bool replay_post(struct replay *replay);
bool replay_end_step(struct replay *replay);

/* The running column as pre-process left it. */
cl_mem replay_running_column(const struct replay *replay);

/* Blocking transfers; false after printing a failure. */
bool replay_write(const struct replay *replay, cl_mem buffer, const void *data,
                  size_t size);
bool replay_read(const struct replay *replay, cl_mem buffer, size_t offset,
                 void *data, size_t size);

#endif
