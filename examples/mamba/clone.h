/* State copies without clmove: by the host, through a clone. */

#ifndef MAMBA_CLONE_H
#define MAMBA_CLONE_H

#include "states.h"

/* What an engine does that has only the driver's copies: they may not overlap,
 * so each window is cloned and copied back, one command after another. */

enum mamba_exit clone_copy(struct states *states,
                           const struct clmove_ssm_copy *copies, size_t count);

/* Whole blocks, from one pool to another. */
enum mamba_exit clone_blocks(struct states *states, cl_mem from, cl_mem to,
                             const struct clmove_ssm_copy *copies,
                             size_t count);

/* Notes the event of a move; it becomes the states'. */
enum mamba_exit states_add_event(struct states *states, cl_event event);

#endif
