/* What a pre- or post-process of the replay must come to, decided on the host.
 */

#ifndef TOOLS_ORACLE_H
#define TOOLS_ORACLE_H

#include "pool.h"
#include "schedule.h"

#include <reference.h>

/* The engine's two per-slot results, as they must be, with the decisions of the
 * last call. Decisions come from the reference. */
struct oracle {
    const struct schedule *schedule;
    struct pool_shape shape;
    struct ref_state *states; /* as in pool_layout; memory unset */
    size_t state_count;
    bool settles;  /* after a step, states are computed again up to the last
                      accepted token: post-process then decides which
                      boundaries were passed, and accepted becomes 1 */
    uint32_t room; /* slots and more, which stay 0 */
    int32_t *accepted, *column;           /* [room] */
    int32_t *accepted_next, *column_next; /* [room] results of a call */
    struct ref_decision *decisions;       /* [slots] */
};

/* Copies that calls came to. */
struct oracle_tally {
    uint64_t copies;   /* requests whose states moved */
    uint64_t in_place; /* of these, shifted in their own column */
    uint64_t crossed;  /* post-process: requests that passed a boundary */
    uint64_t bytes;    /* moved */
};

enum oracle_call { ORACLE_PRE, ORACLE_POST };

bool oracle_create(struct oracle *oracle, const struct schedule *schedule,
                   const struct pool_shape *shape, uint32_t room);
void oracle_destroy(struct oracle *oracle);

/* Takes in the requests that the schedule admits in its current step. */
void oracle_admit(struct oracle *oracle);

/* Takes in the accepted counts of the current step, as a sampler would. */
void oracle_sample(struct oracle *oracle);

/* Decides every row, fills accepted_next and column_next, adds to the tally. No
 * state moves. */
void oracle_decide(struct oracle *oracle, enum oracle_call call,
                   struct oracle_tally *tally);

/* Carries out the call on host memory: `memory` holds layers of `layer_size`
 * bytes, in which `table` names `block_count` pages. */
void oracle_apply(struct oracle *oracle, enum oracle_call call,
                  unsigned char *memory, uint64_t layer_size,
                  const int32_t *table, uint32_t block_count);

/* The results become the state. */
void oracle_commit(struct oracle *oracle, enum oracle_call call);

#endif
