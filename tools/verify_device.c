/* Comparison of the pages that copies wrote, on the device. */

#include "verify_device.h"

#include <stdlib.h>
#include <string.h>

static const struct pool_shape *shape_of(const struct verify_device *device)
{
    return &device->replay->pool.shape;
}

bool verify_device_create(struct verify_device *device,
                          const struct replay *replay)
{
    const struct session *session = replay->session;
    size_t slots = replay->schedule.slots;
    memset(device, 0, sizeof *device);
    device->replay = replay;
    size_t bad = slots * shape_of(device)->layers;
    device->kept = calloc(shape_of(device)->buffer_count, sizeof(cl_mem));
    device->copy = calloc(slots, sizeof *device->copy);
    device->bad_values = calloc(bad, sizeof *device->bad_values);
    if (!device->kept || !device->copy || !device->bad_values) {
        cli_error("out of memory");
        return false;
    }
    device->blocks =
        session_buffer(session, slots * 3 * sizeof(int32_t), "block lists");
    device->copies =
        session_buffer(session, slots * sizeof *device->copy, "copies");
    device->bad = session_buffer(session, bad * sizeof(uint32_t), "checks");
    return device->blocks && device->copies && device->bad;
}

static void release_kept(struct verify_device *device)
{
    for (uint32_t i = 0; device->kept && i < shape_of(device)->buffer_count;
         i++)
        session_release(&device->kept[i]);
    device->page_room = 0;
}

void verify_device_destroy(struct verify_device *device)
{
    if (device->replay)
        release_kept(device);
    free(device->kept);
    free(device->copy);
    free(device->bad_values);
    session_release(&device->blocks);
    session_release(&device->copies);
    session_release(&device->bad);
    memset(device, 0, sizeof *device);
}

bool verify_device_fits(const struct verify_device *device, uint32_t pages)
{
    const struct clmove_device_info *info = &device->replay->session->device;
    const struct pool_shape *shape = shape_of(device);
    uint64_t layer = shape->page_size * pages;
    uint64_t usable = info->global_size - info->global_size / 8;
    return layer * shape->layers_per_buffer <= info->max_allocation &&
           shape->total_size <= usable &&
           layer * shape->layers <= usable - shape->total_size;
}

static bool make_room(struct verify_device *device, uint32_t pages)
{
    const struct pool_shape *shape = shape_of(device);
    if (pages <= device->page_room)
        return true;
    release_kept(device);
    for (uint32_t i = 0; i < shape->buffer_count; i++) {
        uint64_t size = shape->page_size * pages * pool_buffer_layers(shape, i);
        device->kept[i] =
            session_buffer(device->replay->session, (size_t)size, "kept pages");
        if (!device->kept[i])
            return false;
    }
    device->page_room = pages;
    return true;
}

static void note_copies(struct verify_device *device, const int32_t *page_of)
{
    const struct schedule *schedule = &device->replay->schedule;
    device->copy_count = 0;
    for (uint32_t slot = 0; slot < schedule->slots; slot++) {
        const struct ref_decision *decision =
            &device->replay->oracle.decisions[slot];
        int32_t to = schedule_block(schedule, slot, decision->destination);
        int32_t window = schedule_block(schedule, slot, decision->source);
        int32_t temporal = window;
        if (shape_of(device)->temporal_size)
            temporal = schedule_block(schedule, slot,
                                      decision->source + decision->bias);
        /* A copy without a block is a fault, which is an error by itself. */
        if (!decision->copy || to <= SCHEDULE_NULL_BLOCK ||
            window <= SCHEDULE_NULL_BLOCK || temporal <= SCHEDULE_NULL_BLOCK)
            continue;
        struct kernels_copy *copy = &device->copy[device->copy_count++];
        copy->block = to;
        copy->old = page_of[to];
        copy->window = page_of[window];
        copy->temporal = page_of[temporal];
        copy->bias = (cl_ulong)decision->bias;
    }
}

bool verify_device_keep(struct verify_device *device, const int32_t *blocks,
                        uint32_t count, const int32_t *page_of)
{
    const struct replay *replay = device->replay;
    note_copies(device, page_of);
    device->kept_count = count;
    if (device->copy_count == 0)
        return true;
    return make_room(device, count) &&
           replay_write(replay, device->blocks, blocks,
                        count * sizeof *blocks) &&
           kernels_keep(&replay->kernels, &replay->pool, device->blocks, count,
                        device->kept);
}

bool verify_device_compare(struct verify_device *device, uint32_t *wrong,
                           uint32_t *layer, uint32_t *byte)
{
    const struct replay *replay = device->replay;
    size_t count = device->copy_count * shape_of(device)->layers;
    *wrong = UINT32_MAX;
    if (count == 0)
        return true;
    for (size_t i = 0; i < count; i++)
        device->bad_values[i] = (uint32_t)KERNELS_NOTHING_BAD;
    if (!replay_write(replay, device->copies, device->copy,
                      device->copy_count * sizeof *device->copy) ||
        !replay_write(replay, device->bad, device->bad_values,
                      count * sizeof(uint32_t)) ||
        !kernels_expect(&replay->kernels, &replay->pool, device->kept,
                        device->kept_count, device->copies, device->copy_count,
                        device->bad) ||
        !replay_read(replay, device->bad, 0, device->bad_values,
                     count * sizeof(uint32_t)))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (device->bad_values[i] == (uint32_t)KERNELS_NOTHING_BAD)
            continue;
        *wrong = (uint32_t)(i % device->copy_count);
        *layer = (uint32_t)(i / device->copy_count);
        *byte = device->bad_values[i];
        return true;
    }
    return true;
}
