/* The part of a replay that keeps checkpoints in place of windows. */

#include "replay.h"

#include "progress.h"

#include <inttypes.h>
#include <stdlib.h>

bool replay_checkpoint_create(struct replay *replay)
{
    struct replay_checkpoint *checkpoint = &replay->checkpoint;
    const struct session *session = replay->session;
    uint32_t slots = replay->schedule.slots;
    uint64_t bytes = 0;
    checkpoint->redo = calloc(slots, sizeof *checkpoint->redo);
    if (!checkpoint->redo) {
        cli_error("out of memory for %u slots", slots);
        return false;
    }
    clmove_status status =
        clmove_ssm_layout_packed_size(replay->layout, slots, &bytes);
    if (session_failed(status, "clmove_ssm_layout_packed_size"))
        return false;
    if (bytes > session->device.max_allocation) {
        cli_error("the checkpoints of %u slots need %" PRIu64
                  " bytes; one buffer of the device has at most %" PRIu64
                  "; use fewer --layers or a larger --shrink",
                  slots, bytes, session->device.max_allocation);
        return false;
    }
    checkpoint->buffer =
        session_buffer(session, (size_t)bytes, "the checkpoints");
    if (!checkpoint->buffer)
        return false;
    struct clmove_memory memory =
        session_memory(checkpoint->buffer, 0, (size_t)bytes);
    status = clmove_ssm_layout_pack(replay->layout, slots, &memory,
                                    &checkpoint->packed);
    return !session_failed(status, "clmove_ssm_layout_pack");
}

void replay_checkpoint_destroy(struct replay *replay)
{
    clmove_ssm_layout_destroy(&replay->checkpoint.packed);
    session_release(&replay->checkpoint.buffer);
    free(replay->checkpoint.redo);
}

/* The block that a slot's model works in. */
static int32_t running_block(const struct replay *replay, uint32_t slot)
{
    return schedule_block(&replay->schedule, slot, replay->host.column[slot]);
}

bool replay_save(struct replay *replay)
{
    const struct schedule *schedule = &replay->schedule;
    for (uint32_t slot = 0; slot < schedule->slots; slot++) {
        if (schedule->draft[slot] < 1)
            continue;
        int32_t block = running_block(replay, slot);
        replay_host_add(replay, block, block, (int32_t)slot, 0);
    }
    replay->checkpoint.saved += replay->host.count;
    replay->tally[ORACLE_PRE].bytes +=
        replay->host.count * replay_state_bytes(replay);
    return replay_host_copy(replay, replay->layout, replay->checkpoint.packed);
}

/* The step left the state after all its tokens, accepted or not: right when all
 * were accepted, unless a boundary lies before the last one. Then the state
 * there is wanted, too, and has to be computed on its own. */
static struct replay_redo plan(const struct replay *replay, uint32_t slot)
{
    struct clmove_ssm_request row = replay_request(replay, slot);
    struct clmove_ssm_decision result;
    struct replay_redo redo;
    /* The trace's counters are no fault. */
    clmove_ssm_decide_post(&row, replay->schedule.block_size, &result);
    redo.now = row.computed + row.scheduled - row.draft + row.accepted - 1;
    redo.first = result.boundary > 0 ? result.boundary : redo.now;
    redo.again = row.accepted <= row.draft || redo.first < redo.now;
    redo.save = result.boundary > 0 && result.destination != row.column;
    redo.destination = result.destination;
    return redo;
}

bool replay_restore(struct replay *replay)
{
    static const struct replay_redo nothing = {false, false, 0, 0, 0};
    const struct schedule *schedule = &replay->schedule;
    struct replay_checkpoint *checkpoint = &replay->checkpoint;
    if (!replay_host_read_accepted(replay))
        return false;
    double start = progress_seconds();
    for (uint32_t slot = 0; slot < schedule->slots; slot++) {
        struct replay_redo *redo = &checkpoint->redo[slot];
        *redo = schedule->scheduled[slot] > 0 ? plan(replay, slot) : nothing;
        if (!redo->again)
            continue;
        replay_host_add(replay, (int32_t)slot, (int32_t)slot,
                        running_block(replay, slot), 0);
        checkpoint->tokens += (uint64_t)(redo->now - schedule->computed[slot]);
    }
    replay->host_us += (progress_seconds() - start) * 1e6;
    checkpoint->restored += replay->host.count;
    replay->tally[ORACLE_POST].bytes +=
        replay->host.count * replay_state_bytes(replay);
    return replay_host_copy(replay, checkpoint->packed, replay->layout);
}

bool replay_save_boundaries(struct replay *replay)
{
    const struct schedule *schedule = &replay->schedule;
    struct replay_host *host = &replay->host;
    double start = progress_seconds();
    for (uint32_t slot = 0; slot < schedule->slots; slot++) {
        const struct replay_redo *redo = &replay->checkpoint.redo[slot];
        if (schedule->scheduled[slot] > 0)
            host->accepted[slot] = 1; /* nothing is left to step over */
        if (!redo->save)
            continue;
        int32_t block = running_block(replay, slot);
        replay_host_add(replay, block, block,
                        schedule_block(schedule, slot, redo->destination), 0);
    }
    replay->host_us += (progress_seconds() - start) * 1e6;
    replay->tally[ORACLE_POST].copies += host->count;
    replay->tally[ORACLE_POST].bytes +=
        host->count * replay_state_bytes(replay);
    return replay_host_copy(replay, replay->layout, replay->layout) &&
           replay_write(replay, replay->accepted[0], host->accepted,
                        schedule->slots * sizeof(int32_t));
}
