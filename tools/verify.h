/* Proof that a replay's copies are right: meaning, bytes, everything else. */

#ifndef TOOLS_VERIFY_H
#define TOOLS_VERIFY_H

#include "replay.h"

enum verify_compare {
    VERIFY_AUTO,  /* whole when the pool is at most VERIFY_WHOLE_MAX bytes, else
                     device */
    VERIFY_WHOLE, /* the whole pool on the host */
    VERIFY_BLOCKS, /* touched blocks on the host, checksums of the others */
    VERIFY_DEVICE  /* touched blocks on the device, checksums of the others */
};

#define VERIFY_WHOLE_MAX (UINT64_C(256) << 20)

struct verify;

/* Starts from the pool as replay_create filled it. NULL after printing why. */
struct verify *verify_create(struct replay *replay,
                             enum verify_compare compare);
void verify_destroy(struct verify **verify);

/* Each returns false when a check failed (verify_failure is then set), or after
 * printing a failure of OpenCL or memory (verify_failure is NULL). */

/* After replay_begin_step: gives requests that do not start at 0 the state
 * that a prefix cache would have. */
bool verify_admitted(struct verify *verify);

/* Around replay_pre and replay_post, after oracle_decide. */
bool verify_before(struct verify *verify, enum oracle_call call);
bool verify_after(struct verify *verify, enum oracle_call call);

/* The forward pass, after pre-process: check, then stamp. */
bool verify_forward(struct verify *verify);

/* With REPLAY_CHECKPOINT, before replay_save, after replay_restore, and after
 * replay_save_boundaries. The last two play the model, which computes again.
 * oracle_decide(ORACLE_POST) comes before verify_restored. */
bool verify_saving(struct verify *verify);
bool verify_restored(struct verify *verify);
bool verify_redone(struct verify *verify);

/* After post-process: what was saved means what it should. */
bool verify_saved(struct verify *verify);

/* After the last step: what the engine would read next, every block's checksum.
 * *hash receives the hash over what it would read next. */
bool verify_finish(struct verify *verify, uint64_t *hash);

uint64_t verify_checks(const struct verify *verify);
const char *verify_failure(const struct verify *verify);

#endif
