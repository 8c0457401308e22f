/* A replay on the device: the engine's arrays, the steps, their times. */

#ifndef TOOLS_REPLAY_H
#define TOOLS_REPLAY_H

#include "baseline.h"
#include "batch_rows.h"
#include "kernels.h"
#include "oracle.h"

/* How requests are named, and who decides. */
enum replay_mode {
    REPLAY_V1,        /* row i of a batch is slot i; the device decides */
    REPLAY_V2,        /* batch rows name slots; the device decides */
    REPLAY_BASELINE,  /* as V1, by the kernels of baseline.h */
    REPLAY_HOST,      /* the host decides, blocks are copied by id */
    REPLAY_CHECKPOINT /* likewise, without windows: states are saved before
                         drafts, and restored and computed again */
};

/* Per-slot numbers of a step that the host writes. */
enum replay_array {
    REPLAY_COMPUTED,
    REPLAY_SCHEDULED,
    REPLAY_DRAFT,
    REPLAY_SAMPLED,  /* accepted counts of this step */
    REPLAY_ADMITTED, /* see schedule.h */
    REPLAY_REQUEST,  /* numbers of the slots' requests */
    REPLAY_ARRAY_COUNT
};

/* What the host knows of its requests when it decides. Apart from the oracle:
 * the two are compared. */
struct replay_host {
    int32_t *accepted, *column; /* [slots] */
    struct clmove_ssm_copy *copies;
    size_t count;
};

/* What a slot's request needs after acceptance, without windows. */
struct replay_redo {
    bool again;          /* restored and computed again */
    bool save;           /* the state at the boundary goes to another block */
    int32_t destination; /* column of that block */
    int32_t first;       /* tokens up to which it is computed again, first; */
    int32_t now;         /* and then */
};

struct replay_checkpoint {
    struct clmove_ssm_layout *packed; /* a block per slot */
    cl_mem buffer;
    struct replay_redo *redo; /* [slots] */
    uint64_t saved, restored; /* requests */
    uint64_t tokens;          /* computed again */
};

/* The calls with REPLAY_BASELINE. */
struct replay_baseline {
    struct baseline kernels;
    struct baseline_step pre[2], post[2];
};

/* A call of the library in the current step, or a command of the baseline. */
struct replay_call {
    cl_event mark; /* an empty command before it, or NULL: it is one launch */
    cl_event done;
};
enum { REPLAY_CALLS_MAX = 64 };

/* Pre-process reads accepted[0] and writes accepted[1], post-process reads
 * accepted[1] and writes accepted[0]. Pre-process of one step writes the column
 * array that the next step's reads: two pairs of steps take turns, so that no
 * call has to copy its input aside. Where the host decides, it writes the same
 * arrays for the model. */
struct replay {
    const struct session *session;
    enum replay_mode mode;
    bool tables_by_row; /* V2 */
    struct schedule schedule;
    struct oracle oracle;
    struct pool pool;
    struct kernels kernels;
    struct clmove_ssm_layout *layout;
    struct clmove_ssm_step *pre[2], *post[2];
    uint32_t room; /* elements of the per-slot and per-row arrays */
    cl_mem arrays[REPLAY_ARRAY_COUNT]; /* int32 [room] */
    cl_mem table, accepted[2], column[2], faults;
    struct batch_rows rows_of; /* V2, with its arrays on the device: */
    cl_mem slot_of, query_starts, row_table, now_computed;
    struct replay_host host;
    struct replay_checkpoint checkpoint;
    struct replay_baseline baseline;
    int32_t *scratch; /* [slots] */
    void *zeros;      /* [room] of the largest element */
    uint32_t turn;    /* of the pairs */
    struct replay_call calls[REPLAY_CALLS_MAX];
    uint32_t call_count;
    double host_us;                        /* of the current step's calls */
    double *host_samples, *device_samples; /* us, [steps] */
    size_t steps_done, steps_total;
    uint64_t rows;
    double moving_us; /* device time of the steps that moved bytes */
    struct oracle_tally tally[2]; /* by enum oracle_call */
};

/* What was asked for; request.draft_tokens and request.block_count are filled
 * in. */
struct replay_params {
    struct pool_request request;
    const struct trace *trace;
    enum replay_mode mode;
    bool tables_by_row;
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
bool replay_post(struct replay *replay); /* not for REPLAY_CHECKPOINT */
bool replay_end_step(struct replay *replay);

/* With REPLAY_CHECKPOINT: after replay_pre, saves the states of requests that
 * have drafts. */
bool replay_save(struct replay *replay);

/* And after replay_sample, in place of replay_post: decides checkpoint.redo and
 * restores the states of requests that compute again; then, when they have done
 * so up to redo.first, saves states at boundaries. A caller that plays the
 * model computes them again up to redo.now after that. */
bool replay_restore(struct replay *replay);
bool replay_save_boundaries(struct replay *replay);

/* The running column as pre-process left it. */
cl_mem replay_running_column(const struct replay *replay);

/* Whether the device decides, so that there are faults. */
bool replay_has_steps(const struct replay *replay);

/* Bytes of all states of one block. */
uint64_t replay_state_bytes(const struct replay *replay);

/* Blocking transfers; false after printing a failure. */
bool replay_write(const struct replay *replay, cl_mem buffer, const void *data,
                  size_t size);
bool replay_read(const struct replay *replay, cl_mem buffer, size_t offset,
                 void *data, size_t size);

/* Parts of the above, in replay_baseline.c, replay_host.c and
 * replay_checkpoint.c. */
bool replay_baseline_create(struct replay *replay);
void replay_baseline_destroy(struct replay *replay);
bool replay_baseline_call(struct replay *replay, enum oracle_call call);
bool replay_host_create(struct replay *replay);
void replay_host_destroy(struct replay *replay);
void replay_host_admit(struct replay *replay);
/* A slot's numbers, as the host has them. */
struct clmove_ssm_request replay_request(const struct replay *replay,
                                         uint32_t slot);

bool replay_host_pre(struct replay *replay);
bool replay_host_post(struct replay *replay);
bool replay_host_read_accepted(struct replay *replay);
void replay_host_add(struct replay *replay, int32_t conv_from,
                     int32_t temporal_from, int32_t to, int32_t bias);
bool replay_host_copy(struct replay *replay, struct clmove_ssm_layout *from,
                      struct clmove_ssm_layout *to);
bool replay_checkpoint_create(struct replay *replay);
void replay_checkpoint_destroy(struct replay *replay);

#endif
