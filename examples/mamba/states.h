/* The recurrent states of all requests, and how they are moved. */

#ifndef MAMBA_STATES_H
#define MAMBA_STATES_H

#include "batch.h"
#include "machine.h"
#include "settings.h"

/* Where arrays of [slot] lie in the numbers that outlive a step. Accepted
 * counts and running columns come twice: pre-process reads the first and writes
 * the second, which the model and post-process read; post-process writes the
 * first again. In one buffer, since a launch costs time for each. */
enum number {
    NUMBER_ACCEPTED,
    NUMBER_COLUMN,
    NUMBER_ACCEPTED_NOW,
    NUMBER_COLUMN_NOW,
    NUMBER_FAULTS, /* struct clmove_ssm_fault [row] */
    NUMBER_COUNT = NUMBER_FAULTS + 4
};

/* A block holds the states of all layers, each a window and a matrix. */
struct states {
    const struct machine *machine;
    const struct settings *settings;
    const struct batch *batch;
    struct forward_states places;
    size_t window;                  /* tokens of a window */
    size_t block_size;              /* bytes */
    cl_mem batch_buffer;            /* the batch's numbers */
    cl_mem numbers;                 /* int: see enum number */
    cl_mem checkpoints;             /* a block for each slot */
    cl_mem clone;                   /* a window of one layer */
    int32_t *mirror;                /* settings->clone: numbers on their way */
    int32_t *settled_drafts;        /* int [row] on its way */
    struct clmove_ssm_fault *found; /* [row] */
    struct clmove_ssm_layout *layout, *packed;
    struct clmove_ssm_step *before, *after;
    cl_event *events; /* of moves in the step */
    size_t event_count, event_capacity;
    double moving_seconds; /* device time of all moves so far */
};

/* What a request's numbers come to on the host, for every slot. */
struct states_seat {
    int32_t accepted, column;
};

/* The batch's limits must stand. states_destroy is needed after a failure,
 * too. */
enum mamba_exit states_create(struct states *states,
                              const struct machine *machine,
                              const struct settings *settings,
                              const struct batch *batch, size_t block_count);
void states_destroy(struct states *states);

/* A new request in a slot, whose state is in `column` (-1: it has none). */
enum mamba_exit states_admit(struct states *states, size_t slot,
                             int32_t column);

/* Uploads the batch and brings the states to where the step's tokens are. Where
 * the host decides, `copies` say how, and `seats` [slot] what then holds. */
enum mamba_exit states_before(struct states *states,
                              const struct clmove_ssm_copy *copies,
                              size_t count, const struct states_seat *seats);

/* Saves the states at block boundaries, after the step's tokens were accepted;
 * as states_before. */
enum mamba_exit states_after(struct states *states,
                             const struct clmove_ssm_copy *copies,
                             size_t count);

/* Corrects the batch's drafts on the device, so that states_after passes rows
 * over: [row]. */
enum mamba_exit states_settle(struct states *states, const int32_t *drafts);

/* Copies blocks to checkpoints, or back; see struct clmove_ssm_copy. */
enum mamba_exit states_save(struct states *states,
                            const struct clmove_ssm_copy *copies, size_t count);
enum mamba_exit states_restore(struct states *states,
                               const struct clmove_ssm_copy *copies,
                               size_t count);

/* Waits for the step, adds up the time of its moves, and says whether a request
 * was at fault. */
enum mamba_exit states_end_step(struct states *states);

#endif
