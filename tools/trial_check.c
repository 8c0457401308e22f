/* Whether both ways of a benchmark of states leave the bytes that they must. */

#include "trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 2 };
static const char *const side_names[SIDES] = {"clmove", "the baseline"};

/* What a side left. */
struct outcome {
    uint64_t *sums;
    int32_t *accepted;
};

static bool run_sets(struct trial *trial, int side)
{
    cl_command_queue queue = trial->pool->session->queue;
    bool fine = true;
    for (uint32_t set = 0; fine && set < trial->sets; set++)
        fine = side == 0 ? trial_enqueue_clmove(trial, queue, set, NULL)
                         : trial_enqueue_baseline(trial, queue, set, NULL);
    return fine;
}

static bool run_side(struct trial *trial, int side,
                     const struct outcome *outcome)
{
    cl_command_queue queue = trial->pool->session->queue;
    size_t size = trial->what.rows * sizeof(int32_t);
    for (uint32_t i = 0; i < trial->what.rows; i++)
        outcome->accepted[i] = TRIAL_NO_COUNT;
    return !session_failed(
               clEnqueueWriteBuffer(queue, trial->accepted_out, CL_TRUE, 0,
                                    size, outcome->accepted, 0, NULL, NULL),
               "clEnqueueWriteBuffer") &&
           trial_fill(trial->pool) && run_sets(trial, side) &&
           kernels_checksum_all(&trial->pool->kernels, trial->pool->session,
                                &trial->pool->pool, outcome->sums) &&
           !session_failed(
               clEnqueueReadBuffer(queue, trial->accepted_out, CL_TRUE, 0, size,
                                   outcome->accepted, 0, NULL, NULL),
               "clEnqueueReadBuffer");
}

static bool right_accepted(const struct trial *trial, const char *name,
                           int side, const struct outcome *outcome)
{
    int32_t expected = trial_accepted(&trial->what);
    for (uint32_t i = 0; i < trial->what.rows; i++) {
        if (outcome->accepted[i] == expected)
            continue;
        cli_error("%s: %s left accepted[%u] = %" PRId32 ", and not %" PRId32,
                  name, side_names[side], i, outcome->accepted[i], expected);
        return false;
    }
    return true;
}

/* Each row that crosses writes one page in each layer. */
static bool right_count(const struct trial *trial, const char *name, int side,
                        const struct outcome *outcome)
{
    const struct trial_pool *pool = trial->pool;
    uint64_t expected = 0, changed = 0;
    if (trial->what.crosses)
        expected =
            (uint64_t)trial->sets * trial->what.rows * pool->pool.shape.layers;
    for (size_t i = 0; i < trial_page_count(pool); i++)
        changed += outcome->sums[i] != pool->filled[i];
    if (changed == expected)
        return true;
    cli_error("%s: %s changed %" PRIu64 " pages, and not %" PRIu64, name,
              side_names[side], changed, expected);
    return false;
}

static bool same_bytes(const struct trial *trial, const char *name,
                       const struct outcome *outcomes)
{
    size_t blocks = trial->pool->pool.shape.block_count;
    for (size_t i = 0; i < trial_page_count(trial->pool); i++) {
        if (outcomes[0].sums[i] == outcomes[1].sums[i])
            continue;
        cli_error("%s: clmove and the baseline leave different bytes in layer "
                  "%zu, block %zu",
                  name, i / blocks, i % blocks);
        return false;
    }
    return true;
}

enum cli_exit trial_check(struct trial *trial, const char *model,
                          const char *text)
{
    char name[120];
    snprintf(name, sizeof name, "%s %s", model, text);
    struct outcome outcomes[SIDES] = {{NULL, NULL}, {NULL, NULL}};
    bool ran = true, right = true;
    for (int side = 0; ran && side < SIDES; side++) {
        struct outcome *outcome = &outcomes[side];
        outcome->sums =
            calloc(trial_page_count(trial->pool), sizeof *outcome->sums);
        outcome->accepted = calloc(trial->what.rows, sizeof *outcome->accepted);
        ran = outcome->sums && outcome->accepted;
        if (!ran)
            cli_error("out of memory");
        ran = ran && run_side(trial, side, outcome);
        right = ran && right && right_accepted(trial, name, side, outcome) &&
                right_count(trial, name, side, outcome);
    }
    right = ran && right && same_bytes(trial, name, outcomes);
    for (int side = 0; side < SIDES; side++) {
        free(outcomes[side].sums);
        free(outcomes[side].accepted);
    }
    if (!ran)
        return CLI_OPENCL_FAILED;
    return right ? CLI_GO_ON : CLI_CHECK_FAILED;
}
