/* Copies and clears of blocks that the host listed. */

#include "chain.h"
#include "layout.h"
#include "memory.h"
#include "ssm.h"
#include "ssm_conflicts.h"
#include "ssm_tiles.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

/* Mirror of struct ssm_listed in cl/ssm_copy.cl. */
struct device_listed {
    cl_ulong first_work;
    cl_uint first_tile, tile_count;
    cl_int conv_from, temporal_from, to;
    cl_uint bias;
};

_Static_assert(sizeof(struct device_listed) == 32, "as in cl/ssm_copy.cl");

/* What one kernel of a call is made of. */
struct listing {
    struct clmove_engine *engine;
    const struct clmove_ssm_layout *from, *to;
    struct memory_view *views;       /* of from's states, then to's */
    struct memory_binding *bindings; /* likewise */
    cl_program program;
    struct banks banks;
};

static clmove_status check_match(const struct clmove_ssm_layout *from,
                                 const struct clmove_ssm_layout *to)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &to->engine->log;
    CHECK(from->engine == to->engine, CLMOVE_INVALID_ARGUMENT,
          "from and to are layouts of two engines");
    CHECK(from->state_count == to->state_count &&
              from->group_count == to->group_count,
          CLMOVE_INVALID_ARGUMENT,
          "from has %zu states in %zu groups, and to %zu in %zu",
          from->state_count, from->group_count, to->state_count,
          to->group_count);
    for (size_t i = 0; i < to->state_count; i++) {
        const struct clmove_ssm_state *a = &from->states[i];
        const struct clmove_ssm_state *b = &to->states[i];
        const bool temporal = b->kind == CLMOVE_SSM_TEMPORAL;
        CHECK(a->group == b->group, CLMOVE_INVALID_ARGUMENT,
              "states[%zu] is of group %u in from, and of %u in to", i,
              a->group, b->group);
        CHECK((a->kind == CLMOVE_SSM_TEMPORAL) == temporal,
              CLMOVE_INVALID_ARGUMENT,
              "states[%zu] is temporal in one layout and conv in the other", i);
        CHECK(!temporal || a->size == b->size, CLMOVE_INVALID_ARGUMENT,
              "states[%zu].size is %llu in from, and %llu in to", i,
              (unsigned long long)a->size, (unsigned long long)b->size);
        CHECK(temporal ||
                  (a->dim == b->dim && a->element_size == b->element_size),
              CLMOVE_INVALID_ARGUMENT,
              "states[%zu] has %u channels of %u bytes in from, and %u of %u "
              "in to",
              i, a->dim, a->element_size, b->dim, b->element_size);
    }
out:
    return status;
}

/* Two layouts share no byte; one layout's states are known to be apart. */
static clmove_status check_apart(const struct clmove_ssm_layout *from,
                                 const struct clmove_ssm_layout *to)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &to->engine->log;
    for (size_t i = 0; from != to && i < from->state_count; i++) {
        for (size_t j = 0; j < to->state_count; j++)
            CHECK(!layout_states_overlap(from, i, to, j), CLMOVE_OVERLAP,
                  "states[%zu] of from and states[%zu] of to share bytes", i,
                  j);
    }
out:
    return status;
}

/* One block id of an entry; -1 is checked by the caller. */
static clmove_status check_block(const struct clmove_ssm_layout *layout,
                                 uint32_t group, bool conv, bool temporal,
                                 int32_t block, const char *name, size_t entry)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &layout->engine->log;
    const struct clmove_ssm_group *known = &layout->groups[group];
    CHECK(known->has_null_block == 0 || block != known->null_block,
          CLMOVE_OUT_OF_RANGE,
          "entry %zu: %s is %d, the null block of group %u", entry, name, block,
          group);
    for (size_t i = 0; i < layout->state_count; i++) {
        const struct clmove_ssm_state *state = &layout->states[i];
        const bool is_temporal = state->kind == CLMOVE_SSM_TEMPORAL;
        if (state->group != group || !(is_temporal ? temporal : conv))
            continue;
        CHECK(block >= 0 && (uint32_t)block < state->block_count,
              CLMOVE_OUT_OF_RANGE,
              "entry %zu: %s is %d, and states[%zu] has blocks 0 to %u", entry,
              name, block, i, state->block_count - 1);
    }
out:
    return status;
}

static clmove_status check_entry(const struct clmove_ssm_layout *from,
                                 const struct clmove_ssm_layout *to,
                                 const struct clmove_ssm_copy *copy,
                                 size_t entry)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &to->engine->log;
    const bool conv = copy->conv_from != -1;
    const bool temporal = copy->temporal_from != -1;
    CHECK(copy->group < to->group_count, CLMOVE_OUT_OF_RANGE,
          "entry %zu: group is %u, and there are %zu", entry, copy->group,
          to->group_count);
    if (conv)
        CHECK_STATUS(check_block(from, copy->group, true, false,
                                 copy->conv_from, "conv_from", entry));
    if (temporal)
        CHECK_STATUS(check_block(from, copy->group, false, true,
                                 copy->temporal_from, "temporal_from", entry));
    CHECK_STATUS(
        check_block(to, copy->group, conv, temporal, copy->to, "to", entry));
out:
    return status;
}

static clmove_status make_listing(struct clmove_ssm_layout *from,
                                  struct clmove_ssm_layout *to,
                                  struct listing *listing)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &to->engine->log;
    const size_t count = to->state_count;
    *listing = (struct listing){.engine = to->engine, .from = from, .to = to};
    listing->views = calloc(count * 2, sizeof listing->views[0]);
    CHECK_MEMORY(listing->views);
    listing->bindings = calloc(count * 2, sizeof listing->bindings[0]);
    CHECK_MEMORY(listing->bindings);
    memcpy(listing->views, from->views, count * sizeof listing->views[0]);
    memcpy(listing->views + count, to->views, count * sizeof listing->views[0]);
    bind_views(listing->views, count * 2, listing->bindings);
    status = engine_program(to->engine, CLMOVE_PART_STATES,
                            banks_count_distinct(listing->bindings, count * 2),
                            &listing->program, &listing->banks.limit);
out:
    return status;
}

static void release_listing(struct listing *listing)
{
    free(listing->views);
    free(listing->bindings);
}

static clmove_status listing_launch(const struct listing *listing, size_t first,
                                    struct tile_launch *launch)
{
    const struct tile_source source = {
        listing->from, listing->to, listing->bindings,
        listing->bindings + listing->to->state_count, false};
    return tiles_make_launch(&source, first, &listing->banks, launch);
}

/* One launch of a call: its kernel, what it reads, its work. */
struct listed_launch {
    struct tile_launch tiles;
    struct engine_kernel kernel;
    cl_mem list;
    cl_uint number;     /* entries, or tiles of a block */
    cl_uint first_tile; /* of a group that is cleared */
    bool clears;
    cl_ulong work;
};

static void release_launch(struct listed_launch *launch)
{
    tiles_release_launch(&launch->tiles);
    engine_release_kernel(&launch->kernel);
    if (launch->list != NULL)
        clReleaseMemObject(launch->list);
}

static clmove_status set_arguments(const struct listing *listing,
                                   const struct listed_launch *launch)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &listing->engine->log;
    const cl_kernel kernel = launch->kernel.kernel;
    const cl_mem buffers[] = {launch->tiles.cut, launch->list};
    cl_uint index = launch->tiles.banks.limit;
    CHECK_CL(banks_set_arguments(&launch->tiles.banks, kernel));
    for (size_t i = 0; i < 2; i++)
        CHECK_CL(
            clSetKernelArg(kernel, index++, sizeof buffers[i], &buffers[i]));
    CHECK_CL(clSetKernelArg(kernel, index++, sizeof launch->number,
                            &launch->number));
    CHECK_CL(
        clSetKernelArg(kernel, index++, sizeof launch->work, &launch->work));
    if (launch->clears)
        CHECK_CL(clSetKernelArg(kernel, index++, sizeof launch->first_tile,
                                &launch->first_tile));
out:
    return status;
}

static cl_int enqueue_launch(const struct listing *listing,
                             const struct listed_launch *launch,
                             struct chain *chain, bool wants_event)
{
    const uint64_t groups =
        min_u64(launch->work, listing->engine->variant.group_count);
    return chain_kernel(chain, launch->kernel.kernel, (size_t)groups,
                        launch->kernel.group_size, wants_event);
}

/* Entries as the kernel wants them, for the tiles of one launch. */
static clmove_status list_entries(const struct listing *listing,
                                  const struct clmove_ssm_copy *copies,
                                  size_t count, struct listed_launch *launch)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &listing->engine->log;
    struct device_listed *list = calloc(count, sizeof list[0]);
    cl_uint used = 0;
    CHECK_MEMORY(list);
    for (size_t i = 0; i < count; i++) {
        const struct clmove_ssm_copy *copy = &copies[i];
        const uint32_t first = launch->tiles.group_tiles[copy->group];
        const uint32_t tiles =
            launch->tiles.group_tiles[copy->group + 1] - first;
        if (tiles == 0)
            continue;
        list[used++] = (struct device_listed){
            launch->work,        first,    tiles,     copy->conv_from,
            copy->temporal_from, copy->to, copy->bias};
        launch->work += tiles;
    }
    launch->number = used;
    status = tiles_make_buffer(listing->engine, list, used * sizeof list[0],
                               &launch->list);
out:
    free(list);
    return status;
}

/* Makes and enqueues all launches of a call; `fill` lists what each works on.
 * Everything is made before the first is enqueued. */
struct list_call {
    const char *kernel;
    const struct clmove_ssm_copy *copies; /* or NULL: blocks are cleared */
    const int32_t *blocks;
    uint32_t group;
    size_t count;
};

static clmove_status list_blocks(const struct listing *listing,
                                 const struct list_call *call,
                                 struct listed_launch *launch)
{
    const uint32_t *first = &launch->tiles.group_tiles[call->group];
    launch->number = first[1] - first[0];
    launch->first_tile = first[0];
    launch->clears = true;
    launch->work = (uint64_t)call->count * launch->number;
    return tiles_make_buffer(listing->engine, call->blocks,
                             call->count * sizeof call->blocks[0],
                             &launch->list);
}

static clmove_status make_launches(const struct listing *listing,
                                   const struct list_call *call,
                                   struct listed_launch *launches,
                                   size_t *launch_count)
{
    clmove_status status = CLMOVE_SUCCESS;
    for (size_t first = 0; first < listing->to->state_count;) {
        struct listed_launch *launch = &launches[(*launch_count)++];
        CHECK_STATUS(listing_launch(listing, first, &launch->tiles));
        first = launch->tiles.end;
        CHECK_STATUS(call->copies != NULL ? list_entries(listing, call->copies,
                                                         call->count, launch)
                                          : list_blocks(listing, call, launch));
        CHECK_STATUS(engine_make_kernel(
            listing->engine, listing->program, call->kernel,
            listing->engine->variant.group_size, &launch->kernel));
        CHECK_STATUS(set_arguments(listing, launch));
    }
out:
    return status;
}

static clmove_status enqueue_list(struct clmove_ssm_layout *from,
                                  struct clmove_ssm_layout *to,
                                  const struct list_call *call,
                                  struct chain *chain, cl_event *event)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &to->engine->log;
    struct listing listing = {0};
    struct listed_launch *launches = NULL;
    size_t launch_count = 0;
    cl_int result = CL_SUCCESS;
    CHECK_STATUS(make_listing(from, to, &listing));
    launches = calloc(to->state_count, sizeof launches[0]);
    CHECK_MEMORY(launches);
    if (call->count > 0)
        CHECK_STATUS(make_launches(&listing, call, launches, &launch_count));
    for (size_t i = 0; i < launch_count && result == CL_SUCCESS; i++) {
        if (launches[i].work > 0)
            result = enqueue_launch(&listing, &launches[i], chain, true);
    }
    if (result == CL_SUCCESS && chain->enqueued == 0)
        result = engine_enqueue_nothing(to->engine, chain, event != NULL);
    status = chain_finish(chain, log, result, event);
out:
    for (size_t i = 0; launches != NULL && i < launch_count; i++)
        release_launch(&launches[i]);
    free(launches);
    release_listing(&listing);
    return status;
}

clmove_status clmove_enqueue_ssm_copy(
    struct clmove_ssm_layout *from, struct clmove_ssm_layout *to,
    const struct clmove_ssm_copy *copies, size_t count, cl_command_queue queue,
    cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = to == NULL ? NULL : &to->engine->log;
    struct chain chain = {
        .queue = queue, .wait_count = wait_count, .wait_list = wait_list};
    CHECK(from != NULL && to != NULL && (copies != NULL || count == 0),
          CLMOVE_INVALID_ARGUMENT, "%s is NULL",
          from == NULL ? "from"
          : to == NULL ? "to"
                       : "copies");
    CHECK_STATUS(check_match(from, to));
    CHECK_STATUS(check_apart(from, to));
    CHECK(count <= INT32_MAX, CLMOVE_OUT_OF_RANGE,
          "count is %zu, and must be at most 2147483647", count);
    for (size_t i = 0; i < count; i++)
        CHECK_STATUS(check_entry(from, to, &copies[i], i));
    if (count > 0)
        CHECK_STATUS(conflicts_check(from, to, copies, count));
    CHECK_STATUS(engine_check_queue(to->engine, queue, wait_count, wait_list));
    const struct list_call call = {
        .kernel = "clmove_ssm_copy", .copies = copies, .count = count};
    status = enqueue_list(from, to, &call, &chain, event);
out:
    return status;
}

static int compare_blocks(const void *left, const void *right)
{
    const int32_t a = *(const int32_t *)left;
    const int32_t b = *(const int32_t *)right;
    return a < b ? -1 : a > b;
}

clmove_status clmove_enqueue_ssm_zero(struct clmove_ssm_layout *layout,
                                      uint32_t group, const int32_t *blocks,
                                      size_t count, cl_command_queue queue,
                                      cl_uint wait_count,
                                      const cl_event *wait_list,
                                      cl_event *event)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = layout == NULL ? NULL : &layout->engine->log;
    struct chain chain = {
        .queue = queue, .wait_count = wait_count, .wait_list = wait_list};
    int32_t *sorted = NULL;
    CHECK(layout != NULL && (blocks != NULL || count == 0),
          CLMOVE_INVALID_ARGUMENT, "%s is NULL",
          layout == NULL ? "layout" : "blocks");
    CHECK(group < layout->group_count, CLMOVE_OUT_OF_RANGE,
          "group is %u, and there are %zu", group, layout->group_count);
    for (size_t i = 0; i < count; i++)
        CHECK_STATUS(
            check_block(layout, group, true, true, blocks[i], "blocks", i));
    CHECK_STATUS(
        engine_check_queue(layout->engine, queue, wait_count, wait_list));
    sorted = malloc(count * sizeof sorted[0] + 1);
    CHECK_MEMORY(sorted);
    size_t used = 0;
    if (count > 0)
        memcpy(sorted, blocks, count * sizeof sorted[0]);
    qsort(sorted, count, sizeof sorted[0], compare_blocks);
    for (size_t i = 0; i < count; i++) {
        if (used == 0 || sorted[used - 1] != sorted[i])
            sorted[used++] = sorted[i];
    }
    const struct list_call call = {.kernel = "clmove_ssm_zero",
                                   .blocks = sorted,
                                   .group = group,
                                   .count = used};
    status = enqueue_list(layout, layout, &call, &chain, event);
out:
    free(sorted);
    return status;
}
