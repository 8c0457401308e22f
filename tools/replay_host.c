/* The part of a replay in which the host decides and blocks are copied by id.
 */

#include "replay.h"

#include "device_clock.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

bool replay_host_create(struct replay *replay)
{
    struct replay_host *host = &replay->host;
    size_t slots = replay->schedule.slots;
    host->accepted = calloc(slots, sizeof(int32_t));
    host->column = calloc(slots, sizeof(int32_t));
    host->copies = calloc(slots, sizeof *host->copies);
    if (host->accepted && host->column && host->copies)
        return true;
    cli_error("out of memory for %zu slots", slots);
    return false;
}

void replay_host_destroy(struct replay *replay)
{
    free(replay->host.accepted);
    free(replay->host.column);
    free(replay->host.copies);
}

void replay_host_admit(struct replay *replay)
{
    const struct schedule *schedule = &replay->schedule;
    for (uint32_t i = 0; i < schedule->slots; i++) {
        if (schedule->admitted[i] == SCHEDULE_NOT_ADMITTED)
            continue;
        replay->host.accepted[i] = 1;
        replay->host.column[i] = schedule->admitted[i];
    }
}

void replay_host_add(struct replay *replay, int32_t conv_from,
                     int32_t temporal_from, int32_t to, int32_t bias)
{
    struct clmove_ssm_copy *copy = &replay->host.copies[replay->host.count++];
    memset(copy, 0, sizeof *copy);
    copy->bias = (uint32_t)bias;
    copy->conv_from = conv_from;
    copy->temporal_from = replay->pool.shape.temporal_size ? temporal_from : -1;
    copy->to = to;
}

bool replay_host_copy(struct replay *replay, struct clmove_ssm_layout *from,
                      struct clmove_ssm_layout *to)
{
    struct replay_host *host = &replay->host;
    struct replay_call *call = &replay->calls[replay->call_count];
    if (host->count == 0)
        return true;
    replay->call_count++;
    if (!device_clock_mark(replay->session, &call->mark))
        return false;
    double start = progress_seconds();
    clmove_status status =
        clmove_enqueue_ssm_copy(from, to, host->copies, host->count,
                                replay->session->queue, 0, NULL, &call->done);
    replay->host_us += (progress_seconds() - start) * 1e6;
    /* The call has its own copy of the list: whoever still reads this one
     * finds blocks that do not exist. */
    memset(host->copies, 0x7f, host->count * sizeof *host->copies);
    host->count = 0;
    return !session_failed(status, "clmove_enqueue_ssm_copy");
}

struct clmove_ssm_request replay_request(const struct replay *replay,
                                         uint32_t slot)
{
    const struct schedule *schedule = &replay->schedule;
    struct clmove_ssm_request request = {
        schedule->computed[slot], schedule->scheduled[slot],
        schedule->draft[slot], replay->host.accepted[slot],
        replay->host.column[slot]};
    return request;
}

/* clmove_ssm_decide_pre or clmove_ssm_decide_post. */
typedef clmove_status (*decide_rule)(const struct clmove_ssm_request *request,
                                     uint32_t tokens_per_block,
                                     struct clmove_ssm_decision *decision);

/* Decides the rows of the step, one way or the other, and lists their
 * copies. */
static bool decide(struct replay *replay, decide_rule rule)
{
    const struct schedule *schedule = &replay->schedule;
    double start = progress_seconds();
    for (uint32_t slot = 0; slot < schedule->slots; slot++) {
        if (schedule->scheduled[slot] < 1)
            continue;
        struct clmove_ssm_request request = replay_request(replay, slot);
        struct clmove_ssm_decision result;
        if (session_failed(rule(&request, schedule->block_size, &result),
                           "the decision"))
            return false;
        replay->host.accepted[slot] = result.accepted;
        replay->host.column[slot] = result.column;
        if (!result.copies)
            continue;
        replay_host_add(replay, schedule_block(schedule, slot, result.source),
                        schedule_block(schedule, slot,
                                       (int64_t)result.source + result.bias),
                        schedule_block(schedule, slot, result.destination),
                        result.bias);
    }
    replay->host_us += (progress_seconds() - start) * 1e6;
    return true;
}

bool replay_host_pre(struct replay *replay)
{
    size_t size = replay->schedule.slots * sizeof(int32_t);
    return decide(replay, clmove_ssm_decide_pre) &&
           replay_host_copy(replay, replay->layout, replay->layout) &&
           replay_write(replay, replay->accepted[1], replay->host.accepted,
                        size) &&
           replay_write(replay, replay_running_column(replay),
                        replay->host.column, size);
}

/* The wait for the device that a decision on the host costs. */
bool replay_host_read_accepted(struct replay *replay)
{
    double start = progress_seconds();
    bool fine =
        replay_read(replay, replay->accepted[1], 0, replay->host.accepted,
                    replay->schedule.slots * sizeof(int32_t));
    replay->host_us += (progress_seconds() - start) * 1e6;
    return fine;
}

bool replay_host_post(struct replay *replay)
{
    return replay_host_read_accepted(replay) &&
           decide(replay, clmove_ssm_decide_post) &&
           replay_host_copy(replay, replay->layout, replay->layout) &&
           replay_write(replay, replay->accepted[0], replay->host.accepted,
                        replay->schedule.slots * sizeof(int32_t));
}
