/* Layouts and batches made from a layout: packed checkpoints, permutations. */

#include "layout.h"
#include "ssm.h"
#include "util.h"

#include <stdlib.h>

/* A state without gaps; *size is that of its block. */
static bool pack_state(const struct clmove_ssm_state *state,
                       struct clmove_ssm_state *packed, uint64_t *size)
{
    *packed = *state;
    packed->row_stride = 0;
    *size = state->size;
    if (state->kind == CLMOVE_SSM_TEMPORAL)
        return true;
    return multiply_checked((uint64_t)state->width * state->element_size,
                            state->dim, size);
}

/* Bytes of a packed block: every state at a multiple of 16. */
static bool packed_block_size(const struct clmove_ssm_layout *layout,
                              uint64_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < layout->state_count; i++) {
        struct clmove_ssm_state packed;
        uint64_t size = 0;
        if (!pack_state(&layout->states[i], &packed, &size) ||
            !add_checked(size, 15, &size) ||
            !add_checked(*bytes, size / 16 * 16, bytes))
            return false;
    }
    return true;
}

clmove_status
clmove_ssm_layout_packed_size(const struct clmove_ssm_layout *layout,
                              uint32_t block_count, uint64_t *bytes)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = layout == NULL ? NULL : &layout->engine->log;
    uint64_t block = 0;
    CHECK(layout != NULL && bytes != NULL, CLMOVE_INVALID_ARGUMENT,
          "%s is NULL", layout == NULL ? "layout" : "bytes");
    CHECK(packed_block_size(layout, &block) &&
              multiply_checked(block, block_count, bytes),
          CLMOVE_OUT_OF_RANGE, "%u packed blocks exceed 64 bits", block_count);
out:
    return status;
}

clmove_status clmove_ssm_layout_pack(const struct clmove_ssm_layout *layout,
                                     uint32_t block_count,
                                     const struct clmove_memory *memory,
                                     struct clmove_ssm_layout **packed)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = layout == NULL ? NULL : &layout->engine->log;
    struct clmove_ssm_state *states = NULL;
    uint64_t block = 0;
    uint64_t used = 0;
    if (packed != NULL)
        *packed = NULL;
    CHECK(layout != NULL && memory != NULL && packed != NULL,
          CLMOVE_INVALID_ARGUMENT, "%s is NULL",
          layout == NULL   ? "layout"
          : memory == NULL ? "memory"
                           : "packed");
    CHECK(packed_block_size(layout, &block), CLMOVE_OUT_OF_RANGE,
          "a packed block exceeds 64 bits");
    states = calloc(layout->state_count, sizeof states[0]);
    CHECK_MEMORY(states);
    for (size_t i = 0; i < layout->state_count; i++) {
        uint64_t size = 0;
        pack_state(&layout->states[i], &states[i], &size);
        CHECK(memory->size == 0 || memory->size > used, CLMOVE_OUT_OF_RANGE,
              "memory has %zu bytes, and one packed block needs %llu",
              memory->size, (unsigned long long)block);
        states[i].block_count = block_count;
        states[i].block_stride = block;
        states[i].memory = *memory;
        states[i].memory.offset += (size_t)used;
        if (memory->size != 0)
            states[i].memory.size -= (size_t)used;
        used += (size + 15) / 16 * 16;
    }
    const struct clmove_ssm_layout_params params = {
        .states = states,
        .state_count = layout->state_count,
        .group_count = layout->group_count,
    };
    status = clmove_ssm_layout_create(layout->engine, &params, packed);
out:
    free(states);
    return status;
}

/* A block of a state as rows without gaps. */
static struct clmove_region block_region(const struct clmove_ssm_state *state,
                                         int32_t from, int32_t to)
{
    struct clmove_region region = {
        .src_offset = (uint64_t)from * state->block_stride,
        .dst_offset = (uint64_t)to * state->block_stride,
        .size = state->size,
    };
    const uint64_t row = (uint64_t)state->width * state->element_size;
    if (state->kind == CLMOVE_SSM_CONV_SD)
        region.size = row * state->dim;
    if (state->kind == CLMOVE_SSM_CONV_DS) {
        region.size = row;
        region.rows = state->dim;
        region.src_stride = state->row_stride;
        region.dst_stride = state->row_stride;
    }
    return region;
}

/* Negative blocks are above all numbers of blocks. */
static clmove_status check_pair(const struct clmove_ssm_layout *layout,
                                uint32_t group, const int32_t *from,
                                const int32_t *to, size_t index)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &layout->engine->log;
    const struct clmove_ssm_group *known = &layout->groups[group];
    CHECK(known->has_null_block == 0 || (from[index] != known->null_block &&
                                         to[index] != known->null_block),
          CLMOVE_OUT_OF_RANGE,
          "pair %zu is block %d to %d, and %d is the null block of group %u",
          index, from[index], to[index], known->null_block, group);
    for (size_t i = 0; i < layout->state_count; i++) {
        const uint32_t blocks = layout->states[i].block_count;
        if (layout->states[i].group != group)
            continue;
        CHECK((uint32_t)from[index] < blocks && (uint32_t)to[index] < blocks,
              CLMOVE_OUT_OF_RANGE,
              "pair %zu is block %d to %d, and states[%zu] has blocks 0 to %u",
              index, from[index], to[index], i, blocks - 1);
    }
out:
    return status;
}

clmove_status clmove_ssm_batch_create(struct clmove_ssm_layout *layout,
                                      uint32_t group, const int32_t *from,
                                      const int32_t *to, size_t count,
                                      uint64_t scratch_limit,
                                      struct clmove_batch **batch)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = layout == NULL ? NULL : &layout->engine->log;
    struct clmove_memory *memories = NULL;
    struct clmove_region *regions = NULL;
    size_t states = 0;
    size_t used = 0;
    if (batch != NULL)
        *batch = NULL;
    CHECK(layout != NULL && batch != NULL &&
              ((from != NULL && to != NULL) || count == 0),
          CLMOVE_INVALID_ARGUMENT, "%s is NULL",
          layout == NULL  ? "layout"
          : batch == NULL ? "batch"
                          : "from or to");
    CHECK(group < layout->group_count, CLMOVE_OUT_OF_RANGE,
          "group is %u, and there are %zu", group, layout->group_count);
    for (size_t i = 0; i < count; i++)
        CHECK_STATUS(check_pair(layout, group, from, to, i));
    for (size_t i = 0; i < layout->state_count; i++)
        states += layout->states[i].group == group;
    memories = calloc(states + 1, sizeof memories[0]);
    CHECK_MEMORY(memories);
    CHECK(states == 0 || count <= SIZE_MAX / states / sizeof regions[0] - 1,
          CL_OUT_OF_HOST_MEMORY, "out of host memory");
    regions = calloc(count * states + 1, sizeof regions[0]);
    CHECK_MEMORY(regions);
    for (size_t i = 0, number = 0; i < layout->state_count; i++) {
        if (layout->states[i].group == group)
            memories[number++] = layout->states[i].memory;
    }
    for (size_t pair = 0; pair < count; pair++) {
        for (size_t i = 0, number = 0; i < layout->state_count; i++) {
            if (layout->states[i].group != group)
                continue;
            regions[used] =
                block_region(&layout->states[i], from[pair], to[pair]);
            regions[used].src_memory = (uint32_t)number;
            regions[used++].dst_memory = (uint32_t)number++;
        }
    }
    const struct clmove_batch_params params = {
        .memories = memories,
        .memory_count = states,
        .regions = regions,
        .region_count = used,
        .scratch_limit = scratch_limit,
    };
    status = clmove_batch_create(layout->engine, log, &params, batch);
out:
    free(memories);
    free(regions);
    return status;
}
