/* Copies and clears of blocks that the host listed. */

#include "chain.h"
#include "ssm.h"
#include "ssm_conflicts.h"
#include "ssm_listing.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

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

/* One block id of an entry; -1 is checked by the caller. Negative ones are
 * above all numbers of blocks. */
static clmove_status check_block(const struct clmove_ssm_layout *layout,
                                 uint32_t group, bool conv, bool temporal,
                                 int32_t block, const char *name, size_t entry)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &layout->engine->log;
    const struct clmove_ssm_group *known = &layout->groups[group];
    const struct layout_blocks *least = &layout->blocks[group];
    CHECK(known->has_null_block == 0 || block != known->null_block,
          CLMOVE_OUT_OF_RANGE,
          "entry %zu: %s is %d, the null block of group %u", entry, name, block,
          group);
    /* All states are looked at only to find the one that lacks the block. */
    if ((!conv || (uint32_t)block < least->conv) &&
        (!temporal || (uint32_t)block < least->temporal))
        goto out;
    for (size_t i = 0; i < layout->state_count; i++) {
        const struct clmove_ssm_state *state = &layout->states[i];
        const bool is_temporal = state->kind == CLMOVE_SSM_TEMPORAL;
        if (state->group != group || !(is_temporal ? temporal : conv))
            continue;
        CHECK((uint32_t)block < state->block_count, CLMOVE_OUT_OF_RANGE,
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

/* What a call lists: copies, or blocks. */
struct list_call {
    enum listing_kind kind;
    const struct clmove_ssm_copy *copies;
    const int32_t *blocks; /* that are cleared, of one group */
    uint32_t group;
    size_t count;
};

/* Gives a launch the list of a call, and its numbers. */
static clmove_status set_list(const struct clmove_log *log,
                              const struct listed_launch *launch,
                              const void *numbers, size_t size)
{
    clmove_status status = CLMOVE_SUCCESS;
    const cl_kernel kernel = launch->kernel.kernel;
    CHECK_CL(clSetKernelArg(kernel, launch->first_argument, sizeof launch->list,
                            &launch->list));
    CHECK_CL(clSetKernelArg(kernel, launch->first_argument + 1, size, numbers));
out:
    return status;
}

/* Entries as the kernel wants them, for the tiles of one launch. */
static clmove_status list_copies(const struct clmove_engine *engine,
                                 const struct list_call *call,
                                 struct listed_launch *launch)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &engine->log;
    struct device_copies given = {.few = call->count <= FEW_COPIES};
    struct device_listed *list = given.entries;
    if (!given.few)
        list = calloc(call->count, sizeof list[0]);
    CHECK_MEMORY(list);
    for (size_t i = 0; i < call->count; i++) {
        const struct clmove_ssm_copy *copy = &call->copies[i];
        const uint32_t *first = &launch->tiles.group_tiles[copy->group];
        if (first[0] == first[1])
            continue;
        list[given.count++] = (struct device_listed){
            .first_work = given.work,
            .first_tile = first[0],
            .conv_from = copy->conv_from,
            .temporal_from = copy->temporal_from,
            .to = copy->to,
            .bias = copy->bias,
        };
        given.work += first[1] - first[0];
    }
    if (!given.few)
        CHECK_STATUS(tiles_make_buffer(
            engine, list, given.count * sizeof list[0], &launch->list));
    launch->work = given.work;
    status = set_list(log, launch, &given, sizeof given);
out:
    if (list != given.entries)
        free(list);
    return status;
}

static clmove_status list_blocks(const struct clmove_engine *engine,
                                 const struct list_call *call,
                                 struct listed_launch *launch)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &engine->log;
    const uint32_t *first = &launch->tiles.group_tiles[call->group];
    const size_t size = call->count * sizeof call->blocks[0];
    struct device_blocks given = {.first_tile = first[0],
                                  .tile_count = first[1] - first[0],
                                  .few = call->count <= FEW_BLOCKS};
    given.work = (uint64_t)call->count * given.tile_count;
    if (given.few)
        memcpy(given.blocks, call->blocks, size);
    else
        CHECK_STATUS(
            tiles_make_buffer(engine, call->blocks, size, &launch->list));
    launch->work = given.work;
    status = set_list(log, launch, &given, sizeof given);
out:
    return status;
}

/* Enqueues the launches that have work. */
static cl_int enqueue_launches(const struct clmove_engine *engine,
                               const struct ssm_listing *listing,
                               struct chain *chain, bool wants_event)
{
    cl_int status = CL_SUCCESS;
    size_t end = listing->launch_count;
    while (end > 0 && listing->launches[end - 1].work == 0)
        end--;
    if (end > 1)
        status = chain_prepare(chain, wants_event);
    for (size_t i = 0; i < end && status == CL_SUCCESS; i++) {
        const struct listed_launch *launch = &listing->launches[i];
        const uint64_t groups =
            min_u64(launch->work, engine->variant.group_count);
        if (groups > 0)
            status = chain_kernel(chain, launch->kernel.kernel, (size_t)groups,
                                  launch->kernel.group_size,
                                  wants_event || i + 1 < end);
    }
    if (end == 0)
        status = engine_enqueue_nothing(engine, chain, wants_event);
    return status;
}

/* Lists what each launch works on, all of it before the first is enqueued. */
static clmove_status enqueue_listing(const struct clmove_engine *engine,
                                     struct ssm_listing *listing,
                                     const struct list_call *call,
                                     struct chain *chain, cl_event *event)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &engine->log;
    for (size_t i = 0; i < listing->launch_count; i++) {
        struct listed_launch *launch = &listing->launches[i];
        launch->list = NULL;
        launch->work = 0;
        CHECK_STATUS(call->kind == LISTING_ZERO
                         ? list_blocks(engine, call, launch)
                         : list_copies(engine, call, launch));
    }
    const cl_int result =
        enqueue_launches(engine, listing, chain, event != NULL);
    status = chain_finish(chain, log, result, event);
out:
    for (size_t i = 0; i < listing->launch_count; i++) {
        cl_mem *list = &listing->launches[i].list;
        if (*list != NULL)
            clReleaseMemObject(*list); /* the command keeps it */
        *list = NULL;
    }
    return status;
}

static clmove_status enqueue_list(const struct clmove_ssm_layout *from,
                                  struct clmove_ssm_layout *to,
                                  const struct list_call *call,
                                  struct chain *chain, cl_event *event)
{
    struct ssm_listing *listing = NULL;
    pthread_mutex_lock(&to->mutex);
    clmove_status status = listing_find(from, to, call->kind, &listing);
    if (status == CLMOVE_SUCCESS)
        status = enqueue_listing(to->engine, listing, call, chain, event);
    pthread_mutex_unlock(&to->mutex);
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
    if (from != to)
        CHECK_STATUS(check_match(from, to));
    CHECK(count <= INT32_MAX, CLMOVE_OUT_OF_RANGE,
          "count is %zu, and must be at most 2147483647", count);
    for (size_t i = 0; i < count; i++)
        CHECK_STATUS(check_entry(from, to, &copies[i], i));
    if (count > 0)
        CHECK_STATUS(conflicts_check(from, to, copies, count));
    CHECK_STATUS(engine_check_queue(to->engine, queue, wait_count, wait_list));
    const struct list_call call = {.kind = from == to ? LISTING_WITHIN
                                                      : LISTING_FROM,
                                   .copies = copies,
                                   .count = count};
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
    int32_t few[FEW_BLOCKS];
    int32_t *sorted = few;
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
    if (count > FEW_BLOCKS)
        sorted = malloc(count * sizeof sorted[0]);
    CHECK_MEMORY(sorted);
    size_t used = 0;
    if (count > 0)
        memcpy(sorted, blocks, count * sizeof sorted[0]);
    qsort(sorted, count, sizeof sorted[0], compare_blocks);
    for (size_t i = 0; i < count; i++) {
        if (used == 0 || sorted[used - 1] != sorted[i])
            sorted[used++] = sorted[i];
    }
    const struct list_call call = {
        .kind = LISTING_ZERO, .blocks = sorted, .group = group, .count = used};
    status = enqueue_list(layout, layout, &call, &chain, event);
out:
    if (sorted != few)
        free(sorted);
    return status;
}
