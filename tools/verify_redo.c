/* The checks of a replay that keeps checkpoints in place of windows. */

#include "verify_parts.h"

#include <string.h>

static bool read_page(const struct verify *verify, uint32_t layer,
                      int32_t block, unsigned char *page)
{
    const struct replay *replay = verify->replay;
    const struct pool_shape *shape = &replay->pool.shape;
    uint64_t offset =
        pool_layer_offset(shape, layer) + (uint64_t)block * shape->page_size;
    return replay_read(replay, pool_layer_buffer(&replay->pool, layer),
                       (size_t)offset, page, (size_t)shape->page_size);
}

static unsigned char *kept_page(const struct verify *verify, uint32_t slot,
                                uint32_t layer)
{
    const struct pool_shape *shape = &verify->replay->pool.shape;
    size_t index = (size_t)slot * shape->layers + layer;
    return verify->kept + index * (size_t)shape->page_size;
}

static bool make_room(struct verify *verify)
{
    const struct replay *replay = verify->replay;
    const struct pool_shape *shape = &replay->pool.shape;
    return verify_bytes_room(&verify->kept, &verify->kept_room,
                             shape->page_size * shape->layers *
                                 replay->schedule.slots) &&
           verify_bytes_room(&verify->page, &verify->page_room,
                             shape->page_size);
}

static int32_t running_block(const struct verify *verify, uint32_t slot)
{
    const struct replay *replay = verify->replay;
    return schedule_block(&replay->schedule, slot, replay->oracle.column[slot]);
}

/* What a checkpoint must bring back. */
bool verify_saving(struct verify *verify)
{
    const struct schedule *schedule = &verify->replay->schedule;
    if (!make_room(verify))
        return false;
    for (uint32_t slot = 0; slot < schedule->slots; slot++) {
        if (schedule->draft[slot] < 1)
            continue;
        for (uint32_t i = 0; i < verify->replay->pool.shape.layers; i++) {
            if (!read_page(verify, i, running_block(verify, slot),
                           kept_page(verify, slot, i)))
                return false;
        }
    }
    return true;
}

/* One page against the one kept for its slot: states and padding. */
static bool compare_page(struct verify *verify, const char *place,
                         uint32_t slot, int32_t block)
{
    const struct pool_shape *shape = &verify->replay->pool.shape;
    for (uint32_t i = 0; i < shape->layers; i++) {
        const unsigned char *expected = kept_page(verify, slot, i);
        if (!read_page(verify, i, block, verify->page))
            return false;
        verify->checks++;
        if (memcmp(expected, verify->page, (size_t)shape->page_size) != 0)
            return verify_bytes_fail_page(&verify->bytes, place, i, block,
                                          expected, verify->page);
    }
    return true;
}

/* What a block must hold once the running block's states are copied to it. */
static bool keep_destination(struct verify *verify, uint32_t slot)
{
    const struct replay *replay = verify->replay;
    const struct pool_shape *shape = &replay->pool.shape;
    const struct replay_redo *redo = &replay->checkpoint.redo[slot];
    int32_t to = schedule_block(&replay->schedule, slot, redo->destination);
    for (uint32_t i = 0; i < shape->layers; i++) {
        unsigned char *page = kept_page(verify, slot, i);
        if (!read_page(verify, i, to, page) ||
            !read_page(verify, i, running_block(verify, slot), verify->page))
            return false;
        memcpy(page, verify->page, (size_t)shape->conv_size);
        memcpy(page + shape->temporal_offset,
               verify->page + shape->temporal_offset,
               (size_t)shape->temporal_size);
    }
    return true;
}

/* Lists the slots that compute again, the second time or the first, with the
 * tokens that their state is after. */
static bool list_again(struct verify *verify, bool second, const int32_t *after)
{
    const struct replay *replay = verify->replay;
    bool any = false;
    for (uint32_t i = 0; i < replay->schedule.slots; i++) {
        const struct replay_redo *redo = &replay->checkpoint.redo[i];
        bool active = redo->again && (!second || redo->first < redo->now);
        int32_t tokens = second ? redo->now : redo->first;
        any = any || active;
        verify->extra_values[EXTRA_ACTIVE][i] = active;
        verify->extra_values[EXTRA_TOKENS][i] = after ? after[i] : tokens;
        verify->extra_values[EXTRA_COLUMN][i] = replay->oracle.column[i];
        verify->extra_values[EXTRA_COUNT][i] = after != NULL;
    }
    return any;
}

/* The model computes again from the state after before[slot] tokens. */
static bool compute_again(struct verify *verify, bool second,
                          const int32_t *before)
{
    if (!list_again(verify, second, before))
        return true;
    if (!verify_write_extra(verify) ||
        !verify_check_meaning(verify,
                              second ? "the state at a boundary, in the "
                                       "running block"
                                     : "the state restored",
                              true, verify->extra_values[EXTRA_ACTIVE],
                              verify->extra_values[EXTRA_TOKENS]))
        return false;
    list_again(verify, second, NULL);
    return verify_stamp(verify);
}

bool verify_restored(struct verify *verify)
{
    const struct replay *replay = verify->replay;
    const struct schedule *schedule = &replay->schedule;
    char place[64];
    verify_place(verify, "restoring a checkpoint", place, sizeof place);
    for (uint32_t slot = 0; slot < schedule->slots; slot++) {
        if (replay->checkpoint.redo[slot].again &&
            !compare_page(verify, place, slot, running_block(verify, slot)))
            return false;
    }
    if (!compute_again(verify, false, schedule->computed))
        return false;
    for (uint32_t slot = 0; slot < schedule->slots; slot++) {
        if (replay->checkpoint.redo[slot].save &&
            !keep_destination(verify, slot))
            return false;
    }
    return true;
}

/* Blocks that states were copied to at a boundary are now as they are. */
static bool accept_saved(struct verify *verify)
{
    const struct replay *replay = verify->replay;
    for (uint32_t i = 0; i < replay->schedule.slots; i++) {
        const struct replay_redo *redo = &replay->checkpoint.redo[i];
        verify->extra_values[EXTRA_ACTIVE][i] = redo->save;
        verify->extra_values[EXTRA_COLUMN][i] = redo->destination;
        verify->extra_values[EXTRA_COUNT][i] = 0;
    }
    return verify_bytes_accept(
        &verify->bytes, verify->extra_values[EXTRA_ACTIVE],
        verify->extra_values[EXTRA_COLUMN], verify->extra_values[EXTRA_COUNT]);
}

bool verify_redone(struct verify *verify)
{
    const struct replay *replay = verify->replay;
    const struct schedule *schedule = &replay->schedule;
    char place[64];
    verify_place(verify, "saving at a boundary", place, sizeof place);
    for (uint32_t slot = 0; slot < schedule->slots; slot++) {
        const struct replay_redo *redo = &replay->checkpoint.redo[slot];
        if (redo->save &&
            !compare_page(verify, place, slot,
                          schedule_block(schedule, slot, redo->destination)))
            return false;
    }
    for (uint32_t slot = 0; slot < schedule->slots; slot++)
        verify->read_back[slot] = replay->checkpoint.redo[slot].first;
    return accept_saved(verify) &&
           verify_bytes_unchanged(&verify->bytes, place) &&
           compute_again(verify, true, verify->read_back) &&
           verify_compare_results(verify, place, ORACLE_POST);
}
