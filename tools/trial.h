/* States that a benchmark copies: a pool, and batches that do it in two ways.
 */

#ifndef TOOLS_TRIAL_H
#define TOOLS_TRIAL_H

#include "baseline.h"
#include "kernels.h"

enum {
    TRIAL_SETS = 15,          /* batches that take turns, at most */
    TRIAL_REQUEST_BLOCKS = 3, /* of a request: destination, two sources */
    TRIAL_DRAFTS = 3 /* windows hold as many tokens more: bias may be 3 */
};

/* The states of `requests` requests, with both ways of copying them. */
struct trial_pool {
    const struct session *session;
    uint32_t requests;
    uint64_t rotation; /* bytes to touch before the same ones come again */
    struct pool pool;
    struct kernels kernels;
    struct baseline baseline;
    struct clmove_ssm_layout *layout;
    uint64_t *filled; /* sums of the filled pool */
};

/* `request` without draft_tokens and block_count. CLI_GO_ON, or the code to
 * leave with after printing why; trial_pool_close is needed either way. */
enum cli_exit trial_pool_open(struct trial_pool *pool,
                              const struct session *session,
                              struct pool_request *request, uint32_t requests,
                              uint64_t rotation);
void trial_pool_close(struct trial_pool *pool);

/* What every row of a batch does. */
struct trial_case {
    bool by_slot; /* V2: rows name slots, tokens computed now are given */
    bool crosses; /* a block boundary; else nothing moves */
    bool same;    /* within one column, else from one to the one before */
    uint32_t rows;
    uint32_t bias;
};

/* A batch in both ways, in `sets` places of the pool by turns. */
struct trial {
    const struct trial_pool *pool;
    struct trial_case what;
    uint32_t sets;
    cl_mem numbers;  /* all of the following are parts of it */
    size_t room;     /* bytes of a part */
    uint32_t arrays; /* parts so far */
    cl_mem slot_of, computed, scheduled, draft, now_computed, accepted_in,
        accepted_out, column_in;
    cl_mem tables[TRIAL_SETS];
    struct clmove_ssm_step *steps[TRIAL_SETS];
    struct baseline_step base[TRIAL_SETS];
};

/* False after printing a failure; trial_close is needed either way. */
bool trial_open(struct trial *trial, const struct trial_pool *pool,
                const struct trial_case *what);
void trial_close(struct trial *trial);

/* Bytes that a batch moves, counted once. */
uint64_t trial_bytes(const struct trial *trial);

/* Sides of a row (see bench.h); the context is the trial. The last one is
 * clEnqueueCopyBuffer of as many bytes. */
bool trial_enqueue_clmove(void *trial, cl_command_queue queue, uint32_t turn,
                          cl_event *event);
bool trial_enqueue_baseline(void *trial, cl_command_queue queue, uint32_t turn,
                            cl_event *event);
bool trial_enqueue_copy(void *trial, cl_command_queue queue, uint32_t turn,
                        cl_event *event);

/* Runs all sets in both ways, each on a pool that was filled anew, and compares
 * all bytes of the pool, by checksums of its pages, and the accepted counts
 * with what they must be. CLI_GO_ON, CLI_CHECK_FAILED after printing `name` and
 * what differs, or the code for a failure. */
enum cli_exit trial_check(struct trial *trial, const char *model,
                          const char *name);

/* Parts of the above. */
bool trial_fill(const struct trial_pool *pool);
size_t trial_page_count(const struct trial_pool *pool);
int32_t trial_accepted(const struct trial_case *what);
#define TRIAL_NO_COUNT (-77) /* what no step leaves as accepted */

#endif
