/* Byte comparison of a replay's pool with the reference, call by call. */

#include "verify_bytes.h"

#include "hex.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct pool_shape *shape_of(const struct verify_bytes *bytes)
{
    return &bytes->replay->pool.shape;
}

static uint64_t pages_size(const struct verify_bytes *bytes)
{
    return bytes->page_count * shape_of(bytes)->page_size;
}

bool verify_bytes_room(unsigned char **memory, size_t *room, uint64_t size)
{
    if (size <= *room && *memory)
        return true;
    free(*memory);
    *room = 0;
    *memory = size <= SIZE_MAX ? malloc(size ? (size_t)size : 1) : NULL;
    if (!*memory) {
        cli_error("verification needs %" PRIu64 " bytes of host memory, which "
                  "are not there; use fewer --layers or a larger --shrink",
                  size);
        return false;
    }
    *room = (size_t)size;
    return true;
}

/* Enqueues the reading of one block of a layer. */
static bool enqueue_read(const struct verify_bytes *bytes, uint32_t layer,
                         int32_t block, unsigned char *memory)
{
    const struct replay *replay = bytes->replay;
    const struct pool_shape *shape = shape_of(bytes);
    uint64_t offset =
        pool_layer_offset(shape, layer) + (uint64_t)block * shape->page_size;
    cl_int code = clEnqueueReadBuffer(
        replay->session->queue, pool_layer_buffer(&replay->pool, layer),
        CL_FALSE, (size_t)offset, (size_t)shape->page_size, memory, 0, NULL,
        NULL);
    return !session_failed(code, "clEnqueueReadBuffer");
}

static bool finish_reads(const struct verify_bytes *bytes)
{
    return !session_failed(clFinish(bytes->replay->session->queue),
                           "reading blocks");
}

/* Reads a layer's touched blocks, each to its page. */
static bool read_touched(const struct verify_bytes *bytes, uint32_t layer,
                         unsigned char *memory)
{
    bool fine = true;
    for (uint32_t i = 1; fine && i < bytes->page_count; i++)
        fine = enqueue_read(bytes, layer, bytes->block_of[i],
                            memory + i * shape_of(bytes)->page_size);
    return finish_reads(bytes) && fine;
}

static bool create_whole(struct verify_bytes *bytes)
{
    const struct pool_shape *shape = shape_of(bytes);
    bytes->page_count = shape->block_count;
    if (!verify_bytes_room(&bytes->pages, &bytes->page_room, shape->total_size))
        return false;
    for (uint32_t i = 0; i < shape->block_count; i++)
        bytes->block_of[i] = bytes->page_of[i] = (int32_t)i;
    for (uint32_t layer = 0; layer < shape->layers; layer++) {
        if (!replay_read(bytes->replay,
                         pool_layer_buffer(&bytes->replay->pool, layer),
                         (size_t)pool_layer_offset(shape, layer),
                         bytes->pages + layer * shape->layer_size,
                         (size_t)shape->layer_size))
            return false;
    }
    return true;
}

/* Checksums of `count` blocks of bytes->list into sums_found[layer][index]. */
static bool sum_blocks(struct verify_bytes *bytes, size_t count)
{
    if (count == 0)
        return true;
    const struct replay *replay = bytes->replay;
    return replay_write(replay, bytes->device_list, bytes->list,
                        count * sizeof *bytes->list) &&
           kernels_checksum(&replay->kernels, &replay->pool, bytes->device_list,
                            count, bytes->device_sums) &&
           replay_read(replay, bytes->device_sums, 0, bytes->sums_found,
                       shape_of(bytes)->layers * count * sizeof(uint64_t));
}

static void accept_sums(struct verify_bytes *bytes, size_t count)
{
    const struct pool_shape *shape = shape_of(bytes);
    for (size_t layer = 0; layer < shape->layers; layer++) {
        for (size_t i = 0; i < count; i++)
            bytes->sums[layer * shape->block_count + (size_t)bytes->list[i]] =
                bytes->sums_found[layer * count + i];
    }
}

static size_t list_all(struct verify_bytes *bytes)
{
    size_t count = shape_of(bytes)->block_count;
    for (size_t i = 0; i < count; i++)
        bytes->list[i] = (int32_t)i;
    return count;
}

static bool create_sums(struct verify_bytes *bytes)
{
    const struct pool_shape *shape = shape_of(bytes);
    const struct session *session = bytes->replay->session;
    size_t blocks = shape->block_count, count = blocks * shape->layers;
    bytes->sums = calloc(count, sizeof *bytes->sums);
    bytes->sums_found = calloc(count, sizeof *bytes->sums_found);
    if (!bytes->sums || !bytes->sums_found) {
        cli_error("out of memory for the checksums of %zu blocks", count);
        return false;
    }
    bytes->device_list =
        session_buffer(session, blocks * sizeof(int32_t), "block lists");
    bytes->device_sums =
        session_buffer(session, count * sizeof(uint64_t), "checksums");
    if (!bytes->device_list || !bytes->device_sums)
        return false;
    size_t listed = list_all(bytes);
    if (!sum_blocks(bytes, listed))
        return false;
    accept_sums(bytes, listed);
    return true;
}

bool verify_bytes_create(struct verify_bytes *bytes, struct replay *replay,
                         enum verify_way way)
{
    memset(bytes, 0, sizeof *bytes);
    bytes->replay = replay;
    bytes->whole = way == VERIFY_WAY_WHOLE;
    bytes->wants_device = way == VERIFY_WAY_DEVICE;
    size_t blocks = replay->pool.shape.block_count;
    size_t entries = (size_t)replay->schedule.slots * replay->schedule.columns;
    bytes->block_of = calloc(blocks, sizeof(int32_t));
    bytes->page_of = calloc(blocks, sizeof(int32_t));
    bytes->table = calloc(entries, sizeof(int32_t));
    bytes->written = calloc(blocks, 1);
    bytes->list = calloc(blocks, sizeof(int32_t));
    if (!bytes->block_of || !bytes->page_of || !bytes->table ||
        !bytes->written || !bytes->list) {
        cli_error("out of memory for %zu blocks", blocks);
        return false;
    }
    for (size_t i = 0; i < blocks; i++)
        bytes->page_of[i] = -1;
    if (bytes->wants_device && !verify_device_create(&bytes->device, replay))
        return false;
    return bytes->whole ? create_whole(bytes) : create_sums(bytes);
}

void verify_bytes_destroy(struct verify_bytes *bytes)
{
    verify_device_destroy(&bytes->device);
    free(bytes->pages);
    free(bytes->block_of);
    free(bytes->page_of);
    free(bytes->table);
    free(bytes->found);
    free(bytes->sums);
    free(bytes->sums_found);
    free(bytes->written);
    free(bytes->list);
    session_release(&bytes->device_list);
    session_release(&bytes->device_sums);
    memset(bytes, 0, sizeof *bytes);
}

static void touch(struct verify_bytes *bytes, int32_t block)
{
    if (block <= SCHEDULE_NULL_BLOCK || bytes->page_of[block] >= 0)
        return;
    bytes->block_of[bytes->page_count] = block;
    bytes->page_of[block] = (int32_t)bytes->page_count++;
}

static void forget_touched(struct verify_bytes *bytes)
{
    memset(bytes->written, 0, shape_of(bytes)->block_count);
    if (bytes->whole)
        return;
    for (uint32_t i = 1; i < bytes->page_count; i++)
        bytes->page_of[bytes->block_of[i]] = -1;
    bytes->page_count = 1;
    bytes->block_of[0] = -1;
}

/* Finds the blocks that this call's copies read and write, gives them pages. */
static void touch_blocks(struct verify_bytes *bytes)
{
    const struct schedule *schedule = &bytes->replay->schedule;
    forget_touched(bytes);
    for (uint32_t slot = 0; slot < schedule->slots; slot++) {
        const struct ref_decision *decision =
            &bytes->replay->oracle.decisions[slot];
        if (!decision->copy)
            continue;
        int32_t to = schedule_block(schedule, slot, decision->destination);
        if (to > SCHEDULE_NULL_BLOCK)
            bytes->written[to] = 1;
        if (bytes->whole)
            continue;
        touch(bytes, to);
        touch(bytes, schedule_block(schedule, slot, decision->source));
        touch(bytes, schedule_block(schedule, slot,
                                    decision->source + decision->bias));
    }
}

static void map_table(struct verify_bytes *bytes)
{
    const struct schedule *schedule = &bytes->replay->schedule;
    size_t entries = (size_t)schedule->slots * schedule->columns;
    for (size_t i = 0; i < entries; i++) {
        int32_t block = schedule->table[i];
        if (block > SCHEDULE_NULL_BLOCK)
            block = bytes->page_of[block];
        bytes->table[i] = block;
    }
}

bool verify_bytes_before(struct verify_bytes *bytes, enum oracle_call call)
{
    const struct pool_shape *shape = shape_of(bytes);
    touch_blocks(bytes);
    /* Page 0 stands for the null block, which no copy touches. */
    bytes->on_device = bytes->wants_device &&
                       verify_device_fits(&bytes->device, bytes->page_count);
    if (bytes->on_device) {
        bytes->block_of[0] = SCHEDULE_NULL_BLOCK;
        return verify_device_keep(&bytes->device, bytes->block_of,
                                  bytes->page_count, bytes->page_of);
    }
    map_table(bytes);
    uint64_t size = pages_size(bytes);
    if (!bytes->whole) {
        if (!verify_bytes_room(&bytes->pages, &bytes->page_room,
                               size * shape->layers))
            return false;
        for (uint32_t layer = 0; layer < shape->layers; layer++) {
            if (!read_touched(bytes, layer, bytes->pages + layer * size))
                return false;
        }
    }
    oracle_apply(&bytes->replay->oracle, call, bytes->pages, size, bytes->table,
                 bytes->page_count);
    return true;
}

/* "column 3 of slot 1", or that nobody has the block. */
static void describe_owner(const struct verify_bytes *bytes, int32_t block,
                           char *text, size_t size)
{
    const struct schedule *schedule = &bytes->replay->schedule;
    for (uint32_t slot = 0; slot < schedule->slots; slot++) {
        const struct schedule_slot *state = &schedule->slot[slot];
        for (int32_t column = state->first; column < state->end; column++) {
            if (schedule_block(schedule, slot, column) != block)
                continue;
            snprintf(text, size, "column %d of slot %u", column, slot);
            return;
        }
    }
    snprintf(text, size, "%s",
             block == SCHEDULE_NULL_BLOCK ? "the null block"
                                          : "a block that no slot has");
}

/* What lies at an offset of a page. */
static const char *part_name(const struct verify_bytes *bytes, size_t offset)
{
    const struct pool_shape *shape = shape_of(bytes);
    if (offset < shape->conv_size)
        return "conv state";
    if (offset >= shape->temporal_offset &&
        offset < shape->temporal_offset + shape->temporal_size)
        return "temporal state";
    return "padding";
}

bool verify_bytes_fail_page(struct verify_bytes *bytes, const char *call_name,
                            uint32_t layer, int32_t block,
                            const unsigned char *expected,
                            const unsigned char *found)
{
    const struct pool_shape *shape = shape_of(bytes);
    size_t size = (size_t)shape->page_size;
    size_t offset = hex_first_difference(expected, found, size);
    char owner[64], rows[1200];
    describe_owner(bytes, block, owner, sizeof owner);
    hex_rows(rows, sizeof rows, expected, found, size, offset, 0);
    snprintf(bytes->failure, sizeof bytes->failure,
             "%s: layer %u, block %d (%s), %s: byte %zu of the page differs "
             "from the reference\n%s",
             call_name, layer, block, owner, part_name(bytes, offset), offset,
             rows);
    return false;
}

static bool compare_layer(struct verify_bytes *bytes, const char *call_name,
                          uint32_t layer, const unsigned char *found)
{
    size_t size = (size_t)shape_of(bytes)->page_size;
    const unsigned char *expected = bytes->pages + layer * pages_size(bytes);
    for (uint32_t i = 0; i < bytes->page_count; i++) {
        if (bytes->block_of[i] < 0)
            continue;
        bytes->checks++;
        if (memcmp(expected + i * size, found + i * size, size) != 0)
            return verify_bytes_fail_page(
                bytes, call_name, layer, bytes->block_of[i],
                expected + i * size, found + i * size);
    }
    return true;
}

/* A map needs no second copy where host and device share memory. */
static bool compare_whole(struct verify_bytes *bytes, const char *call_name)
{
    const struct pool_shape *shape = shape_of(bytes);
    cl_command_queue queue = bytes->replay->session->queue;
    bool fine = true;
    for (uint32_t i = 0; fine && i < shape->buffer_count; i++) {
        cl_mem buffer = bytes->replay->pool.buffers[i];
        size_t size = (size_t)pool_buffer_size(shape, i);
        cl_int code = CL_SUCCESS;
        unsigned char *found = clEnqueueMapBuffer(
            queue, buffer, CL_TRUE, CL_MAP_READ, 0, size, 0, NULL, NULL, &code);
        if (session_failed(code, "clEnqueueMapBuffer"))
            return false;
        uint32_t first = i * shape->layers_per_buffer;
        for (uint64_t at = 0; fine && at < size; at += shape->layer_size)
            fine = compare_layer(bytes, call_name, first++, found + at);
        code = clEnqueueUnmapMemObject(queue, buffer, found, 0, NULL, NULL);
        if (session_failed(code, "clEnqueueUnmapMemObject"))
            return false;
    }
    return fine;
}

static bool compare_touched(struct verify_bytes *bytes, const char *call_name)
{
    const struct pool_shape *shape = shape_of(bytes);
    if (bytes->page_count <= 1)
        return true;
    if (!verify_bytes_room(&bytes->found, &bytes->found_room,
                           pages_size(bytes)))
        return false;
    for (uint32_t layer = 0; layer < shape->layers; layer++) {
        if (!read_touched(bytes, layer, bytes->found) ||
            !compare_layer(bytes, call_name, layer, bytes->found))
            return false;
    }
    return true;
}

static bool compare_on_device(struct verify_bytes *bytes, const char *call_name)
{
    uint32_t wrong = 0, layer = 0, byte = 0;
    if (!verify_device_compare(&bytes->device, &wrong, &layer, &byte))
        return false;
    bytes->checks += bytes->device.copy_count * shape_of(bytes)->layers;
    if (wrong == UINT32_MAX)
        return true;
    int32_t block = bytes->device.copy[wrong].block;
    char owner[64];
    describe_owner(bytes, block, owner, sizeof owner);
    snprintf(bytes->failure, sizeof bytes->failure,
             "%s: layer %u, block %d (%s), %s: byte %u of the page is not what "
             "the copy should have made of it (--compare blocks shows the "
             "bytes)\n",
             call_name, layer, block, owner, part_name(bytes, byte), byte);
    return false;
}

/* Blocks that some slot has, with the null block. A block that nobody has
 * keeps its checksum until it is given out again, and is compared then. */
static size_t list_owned(struct verify_bytes *bytes)
{
    const struct schedule *schedule = &bytes->replay->schedule;
    size_t count = 0;
    bytes->list[count++] = SCHEDULE_NULL_BLOCK;
    for (uint32_t slot = 0; slot < schedule->slots; slot++) {
        const struct schedule_slot *state = &schedule->slot[slot];
        for (int32_t column = state->first; column < state->end; column++)
            bytes->list[count++] = schedule_block(schedule, slot, column);
    }
    return count;
}

static bool compare_sums(struct verify_bytes *bytes, const char *call_name,
                         size_t count)
{
    const struct pool_shape *shape = shape_of(bytes);
    if (!sum_blocks(bytes, count))
        return false;
    for (size_t layer = 0; layer < shape->layers; layer++) {
        for (size_t i = 0; i < count; i++) {
            int32_t block = bytes->list[i];
            uint64_t expected =
                bytes->sums[layer * shape->block_count + (size_t)block];
            if (bytes->written[block])
                continue;
            bytes->checks++;
            if (expected == bytes->sums_found[layer * count + i])
                continue;
            char owner[64];
            describe_owner(bytes, block, owner, sizeof owner);
            snprintf(bytes->failure, sizeof bytes->failure,
                     "%s: layer %zu, block %d (%s): changed, and is no "
                     "destination (its checksum differs)\n",
                     call_name, layer, block, owner);
            return false;
        }
    }
    accept_sums(bytes, count);
    return true;
}

bool verify_bytes_after(struct verify_bytes *bytes, const char *call_name)
{
    if (bytes->whole)
        return compare_whole(bytes, call_name);
    return (bytes->on_device ? compare_on_device(bytes, call_name)
                             : compare_touched(bytes, call_name)) &&
           compare_sums(bytes, call_name, list_owned(bytes));
}

bool verify_bytes_unchanged(struct verify_bytes *bytes, const char *place)
{
    forget_touched(bytes);
    return verify_bytes_after(bytes, place);
}

bool verify_bytes_accept(struct verify_bytes *bytes, const int32_t *active,
                         const int32_t *column, const int32_t *count)
{
    const struct pool_shape *shape = shape_of(bytes);
    const struct schedule *schedule = &bytes->replay->schedule;
    size_t listed = 0;
    for (uint32_t slot = 0; slot < schedule->slots; slot++) {
        for (int32_t i = 0; active[slot] > 0 && i <= count[slot]; i++) {
            int32_t block =
                schedule_block(schedule, slot, (int64_t)column[slot] + i);
            if (block > SCHEDULE_NULL_BLOCK)
                bytes->list[listed++] = block;
        }
    }
    if (!bytes->whole) {
        if (!sum_blocks(bytes, listed))
            return false;
        accept_sums(bytes, listed);
        return true;
    }
    bool fine = true;
    for (uint32_t layer = 0; layer < shape->layers; layer++) {
        for (size_t i = 0; fine && i < listed; i++) {
            size_t at = (size_t)bytes->list[i] * (size_t)shape->page_size;
            fine = enqueue_read(bytes, layer, bytes->list[i],
                                bytes->pages + layer * shape->layer_size + at);
        }
    }
    return finish_reads(bytes) && fine;
}

bool verify_bytes_finish(struct verify_bytes *bytes)
{
    if (bytes->whole)
        return compare_whole(bytes, "after the last step");
    memset(bytes->written, 0, shape_of(bytes)->block_count);
    return compare_sums(bytes, "after the last step", list_all(bytes));
}
