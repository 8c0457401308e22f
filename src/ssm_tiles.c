/* States as kernels see them: banks, descriptions, tiles. */

#include "ssm_tiles.h"

#include "layout.h"
#include "memory.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

uint32_t banks_find(struct banks *banks, const struct memory_binding *binding)
{
    for (uint32_t i = 0; i < banks->count; i++) {
        if (bindings_share(banks->items[i], binding))
            return i;
    }
    if (banks->count == banks->limit)
        return UINT32_MAX;
    banks->items[banks->count] = binding;
    return banks->count++;
}

size_t banks_count_distinct(const struct memory_binding *bindings, size_t count)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < i && !bindings_share(&bindings[i], &bindings[j]))
            j++;
        distinct += j == i;
    }
    return distinct;
}

cl_int banks_set_arguments(const struct banks *banks, cl_kernel kernel)
{
    cl_int status = CL_SUCCESS;
    for (uint32_t i = 0; i < banks->limit && status == CL_SUCCESS; i++)
        status = memory_set_argument(kernel, i,
                                     i < banks->count ? banks->items[i] : NULL);
    return status;
}

clmove_status tiles_make_buffer(const struct clmove_engine *engine,
                                const void *data, size_t size, cl_mem *buffer)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &engine->log;
    cl_int created = CL_SUCCESS;
    /* The data is only read: OpenCL's prototype lacks the const. */
    union {
        const void *from;
        void *host;
    } given = {data};
    *buffer = clCreateBuffer(
        engine->context,
        CL_MEM_READ_ONLY | (size > 0 ? CL_MEM_COPY_HOST_PTR : 0),
        size > 0 ? size : 1, size > 0 ? given.host : NULL, &created);
    CHECK_CL(created);
out:
    return status;
}

static uint64_t state_extent(const struct clmove_ssm_state *state)
{
    switch (state->kind) {
    case CLMOVE_SSM_CONV_SD:
        return (uint64_t)state->dim * state->element_size;
    case CLMOVE_SSM_CONV_DS:
        return state->row_stride;
    default:
        return state->size;
    }
}

/* A copy from one order to the other is cut like DS, without its row stride. */
static struct state_tiles cut_state(const struct tile_source *source,
                                    size_t index)
{
    const struct clmove_ssm_state *to = &source->to->states[index];
    const struct variant *variant = &source->to->engine->variant;
    struct clmove_ssm_state cut = *to;
    if (to->kind == CLMOVE_SSM_TEMPORAL && source->skips_temporal)
        return (struct state_tiles){.part = to->size, .count = 0};
    if (source->from->states[index].kind == to->kind)
        return layout_state_tiles(to, variant->tile_size);
    cut.kind = CLMOVE_SSM_CONV_DS;
    cut.row_stride = (uint64_t)to->width * to->element_size;
    return layout_state_tiles(&cut, variant->cpu ? variant->tile_size
                                                 : variant->stage_size);
}

static void describe_state(const struct tile_source *source, size_t index,
                           uint32_t src_bank, uint32_t dst_bank,
                           struct device_state *described)
{
    const struct clmove_ssm_state *from = &source->from->states[index];
    const struct clmove_ssm_state *to = &source->to->states[index];
    *described = (struct device_state){
        .src_base = source->src[index].offset,
        .dst_base = source->dst[index].offset,
        .src_block_stride = from->block_stride,
        .dst_block_stride = to->block_stride,
        .src_extent = state_extent(from),
        .dst_extent = state_extent(to),
        .part = cut_state(source, index).part,
        .kind = from->kind == to->kind           ? to->kind
                : to->kind == CLMOVE_SSM_CONV_DS ? (cl_uint)KIND_SD_TO_DS
                                                 : (cl_uint)KIND_DS_TO_SD,
        .group = to->group,
        .src_bank = src_bank,
        .dst_bank = dst_bank,
        .src_width = from->width,
        .dst_width = to->width,
        .dim = to->dim,
        .element_size = to->element_size,
        .block_count = to->block_count,
    };
}

/* Into states [all of them], as many as the banks take; the others have no
 * bank. */
static clmove_status describe_states(const struct tile_source *source,
                                     struct tile_launch *launch,
                                     struct device_state *states)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &source->to->engine->log;
    const size_t count = source->to->state_count;
    launch->end = count;
    for (size_t i = 0; i < count; i++) {
        uint32_t src = UINT32_MAX;
        uint32_t dst = UINT32_MAX;
        const uint32_t before = launch->banks.count;
        if (i >= launch->first && i < launch->end) {
            src = banks_find(&launch->banks, &source->src[i]);
            dst = banks_find(&launch->banks, &source->dst[i]);
        }
        if (i >= launch->first && i < launch->end &&
            (src == UINT32_MAX || dst == UINT32_MAX)) {
            launch->banks.count = before;
            launch->end = i; /* for the next launch */
        }
        describe_state(source, i, src, dst, &states[i]);
    }
    CHECK(launch->end > launch->first, CLMOVE_UNSUPPORTED,
          "states[%zu] needs more buffers than a launch can be given (%u)",
          launch->first, launch->banks.limit);
out:
    return status;
}

static clmove_status count_tiles(const struct tile_source *source,
                                 struct tile_launch *launch)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_ssm_layout *to = source->to;
    const struct clmove_log *log = &to->engine->log;
    uint64_t count = 0;
    for (size_t i = launch->first; i < launch->end; i++) {
        count += cut_state(source, i).count;
        CHECK(count < INT32_MAX / 16, CLMOVE_UNSUPPORTED,
              "states[%zu] is too large: a request's states may have %d tiles "
              "of %u bytes",
              i, INT32_MAX / 16, to->engine->variant.tile_size);
    }
    launch->tile_count = (uint32_t)count;
out:
    return status;
}

static clmove_status list_tiles(const struct tile_source *source,
                                struct tile_launch *launch, cl_uint2 *tiles)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_ssm_layout *to = source->to;
    const struct clmove_log *log = &to->engine->log;
    uint32_t count = 0;
    launch->group_tiles =
        calloc(to->group_count + 1, sizeof launch->group_tiles[0]);
    CHECK_MEMORY(launch->group_tiles);
    for (size_t group = 0; group < to->group_count; group++) {
        launch->group_tiles[group] = count;
        for (size_t i = launch->first; i < launch->end; i++) {
            const uint64_t parts =
                to->states[i].group == group ? cut_state(source, i).count : 0;
            for (uint32_t part = 0; part < parts; part++) {
                tiles[count].s[0] = (cl_uint)i;
                tiles[count++].s[1] = part;
            }
        }
    }
    launch->group_tiles[to->group_count] = count;
out:
    return status;
}

clmove_status tiles_make_launch(const struct tile_source *source, size_t first,
                                const struct banks *banks,
                                struct tile_launch *launch)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_engine *engine = source->to->engine;
    const struct clmove_log *log = &engine->log;
    const size_t count = source->to->state_count;
    struct device_state *states = calloc(count, sizeof states[0]);
    struct device_cut *cut = NULL;
    *launch = (struct tile_launch){.first = first, .banks = *banks};
    CHECK_MEMORY(states);
    CHECK_STATUS(describe_states(source, launch, states));
    CHECK_STATUS(count_tiles(source, launch));
    const size_t states_size = count * sizeof states[0];
    const size_t size = sizeof *cut + states_size +
                        (size_t)launch->tile_count * sizeof(cl_uint2);
    cut = calloc(1, size);
    CHECK_MEMORY(cut);
    cut->state_count = (cl_uint)count;
    cut->tile_count = launch->tile_count;
    memcpy(cut + 1, states, states_size);
    CHECK_STATUS(list_tiles(source, launch,
                            (cl_uint2 *)((char *)(cut + 1) + states_size)));
    status = tiles_make_buffer(engine, cut, size, &launch->cut);
out:
    free(states);
    free(cut);
    return status;
}

void tiles_release_launch(struct tile_launch *launch)
{
    if (launch->cut != NULL)
        clReleaseMemObject(launch->cut);
    free(launch->group_tiles);
    *launch = (struct tile_launch){0};
}
