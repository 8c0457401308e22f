/* What states are timed against: kernels of the published design. */

#ifndef TOOLS_BASELINE_H
#define TOOLS_BASELINE_H

#include "pool.h"

/* baseline.cl says what the kernels do, and what they take for granted. */
struct baseline {
    const struct session *session;
    cl_program program;
    size_t group_size;
    const struct pool *pool;
    cl_mem *states; /* [pool->shape.buffer_count] descriptions */
};

/* Builds the kernels. `pool` must outlive the baseline; NULL: for batches only.
 * Prints a failure, or why the pool's states do not suit. baseline_destroy is
 * needed either way. */
bool baseline_create(struct baseline *baseline, const struct session *session,
                     const struct pool *pool);
void baseline_destroy(struct baseline *baseline);

/* The arrays of a step, as in struct clmove_ssm_step_params; results must be
 * other arrays than the inputs. Absent ones are NULL. */
struct baseline_numbers {
    bool pre; /* pre-process; else post-process */
    uint32_t columns, slots;
    uint32_t tokens_per_block;
    cl_mem table, slot_of, computed, scheduled, draft, now_computed;
    cl_mem accepted_in, accepted_out, column_in;
    cl_mem column_out; /* pre-process only */
};

/* A step with kernels of its own, their arguments set once. */
struct baseline_step {
    const struct baseline *baseline;
    uint32_t slots;
    cl_kernel snapshot;
    cl_kernel *copies; /* one per buffer of the pool */
};

bool baseline_step_create(struct baseline_step *step,
                          const struct baseline *baseline,
                          const struct baseline_numbers *numbers);
void baseline_step_destroy(struct baseline_step *step);

/* Enqueues it on an in-order queue; `event`, of its last command, may be NULL.
 */
bool baseline_step_enqueue(const struct baseline_step *step, uint32_t rows,
                           cl_command_queue queue, cl_event *event);

/* The same command by command: 0 to baseline_step_commands - 1. */
uint32_t baseline_step_commands(const struct baseline_step *step);
bool baseline_step_enqueue_one(const struct baseline_step *step,
                               uint32_t command, uint32_t rows,
                               cl_command_queue queue, cl_event *event);

/* A batch of moves to the left, which lie apart. */
struct baseline_batch {
    size_t group_size, count;
    cl_mem entries;
    cl_kernel kernel;
};

bool baseline_batch_create(struct baseline_batch *batch,
                           const struct baseline *baseline, cl_mem buffer,
                           const struct clmove_region *regions, size_t count);
void baseline_batch_destroy(struct baseline_batch *batch);

bool baseline_batch_enqueue(const struct baseline_batch *batch,
                            cl_command_queue queue, cl_event *event);

#endif
