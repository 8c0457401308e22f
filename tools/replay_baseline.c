/* A replay whose calls are those of the baseline. */

#include "progress.h"
#include "replay.h"

#include <string.h>

/* The arrays of the library's steps; see replay.c. */
static bool create(struct replay *replay, enum oracle_call call, uint32_t turn,
                   struct baseline_step *step)
{
    struct baseline_numbers numbers;
    int from = call == ORACLE_PRE ? 0 : 1;
    memset(&numbers, 0, sizeof numbers);
    numbers.pre = call == ORACLE_PRE;
    numbers.columns = replay->schedule.columns;
    numbers.slots = replay->room;
    numbers.tokens_per_block = replay->schedule.block_size;
    numbers.table = replay->table;
    numbers.computed = replay->arrays[REPLAY_COMPUTED];
    numbers.scheduled = replay->arrays[REPLAY_SCHEDULED];
    numbers.draft = replay->arrays[REPLAY_DRAFT];
    numbers.accepted_in = replay->accepted[from];
    numbers.accepted_out = replay->accepted[1 - from];
    numbers.column_in = replay->column[numbers.pre ? turn : 1 - turn];
    numbers.column_out = numbers.pre ? replay->column[1 - turn] : NULL;
    return baseline_step_create(step, &replay->baseline.kernels, &numbers);
}

bool replay_baseline_create(struct replay *replay)
{
    struct replay_baseline *baseline = &replay->baseline;
    uint32_t commands = 2 * (1 + replay->pool.shape.buffer_count);
    if (commands > REPLAY_CALLS_MAX) {
        cli_error("the baseline reaches a pool in %d buffers at most, not in "
                  "%u; use fewer --layers",
                  REPLAY_CALLS_MAX / 2 - 1, replay->pool.shape.buffer_count);
        return false;
    }
    if (!baseline_create(&baseline->kernels, replay->session, &replay->pool))
        return false;
    for (uint32_t turn = 0; turn < 2; turn++) {
        if (!create(replay, ORACLE_PRE, turn, &baseline->pre[turn]) ||
            !create(replay, ORACLE_POST, turn, &baseline->post[turn]))
            return false;
    }
    return true;
}

void replay_baseline_destroy(struct replay *replay)
{
    for (int i = 0; i < 2; i++) {
        baseline_step_destroy(&replay->baseline.pre[i]);
        baseline_step_destroy(&replay->baseline.post[i]);
    }
    baseline_destroy(&replay->baseline.kernels);
}

/* Each command is timed by itself: what the device waits between them, because
 * the host has not enqueued the next one yet, is not counted. */
bool replay_baseline_call(struct replay *replay, enum oracle_call call)
{
    const struct baseline_step *step =
        call == ORACLE_PRE ? &replay->baseline.pre[replay->turn]
                           : &replay->baseline.post[replay->turn];
    double start = progress_seconds();
    bool fine = true;
    for (uint32_t i = 0; fine && i < baseline_step_commands(step); i++)
        fine = baseline_step_enqueue_one(
            step, i, replay->schedule.slots, replay->session->queue,
            &replay->calls[replay->call_count++].done);
    replay->host_us += (progress_seconds() - start) * 1e6;
    return fine;
}
