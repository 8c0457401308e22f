/* A batch planned: the launches of its moves, as chunks of work for groups. */

/*
 * Steps, and why their order is right. A step is one launch, or several where
 * the buffers are more than a launch can reach. What the moves do:
 *
 *   step 0      every endangered move saves its source; a move that overlaps
 *               itself saves its edges
 *   step 1      endangered moves are written from scratch; disjoint moves are
 *               copied; moves that overlap themselves move
 *
 * - A source that another move writes is read in step 0 alone, when no
 *   destination is written. A source that is read later is written by its own
 *   move at most, which src/jobs.c orders.
 * - Destinations are disjoint, and scratch is written in step 0 alone. So no
 *   byte that a move writes is touched by another one in the same step, and the
 *   launches of one step may run in any order.
 *
 * Slices, c bytes of every endangered slot: save slice 0, write it, save slice
 * 1 and so on; all other moves come behind the last slice, since they may write
 * what slices still have to read. An endangered slot's source is no
 * destination of a slice, or it is one as a whole: then slice i is written in
 * bytes that slice i has saved already, and that no later slice reads. The
 * sources of the other moves are written by nobody else.
 */

#include "plan.h"

#include "util.h"

#include <stdlib.h>

enum {
    SMALL_SIZE = 4096,      /* disjoint moves up to here are small */
    CHUNK_SIZE = 64 * 1024, /* bytes of a chunk of small moves or jobs */
    CHUNK_JOBS = 256,       /* small moves of a chunk */
    ITEMS_MAX = 1 << 28     /* of any list: a power of two */
};

/* One end of a copy. */
struct end {
    uint32_t binding;
    uint64_t at;
};

#define SCRATCH_BINDING UINT32_MAX

/* A binding's bank in the launch with that number + 1. */
struct bank {
    uint32_t launch, number;
};

struct builder {
    const struct clmove_log *log;
    const struct plan_params *params;
    struct plan *plan;
    struct bank *banks;    /* [binding_count] */
    const uint32_t *order; /* of moves; NULL: as they are numbered */
    uint32_t open_chunk;   /* takes more small moves; or PLAN_NONE */
    uint64_t open_size;
    bool in_step; /* the last launch belongs to the current step */
};

/* Makes room for one more item. */
static clmove_status grow(struct builder *builder, void **items, uint32_t count,
                          uint32_t *capacity, size_t item_size)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = builder->log;
    if (count < *capacity)
        goto out;
    CHECK(count < ITEMS_MAX, CLMOVE_UNSUPPORTED,
          "the batch is too large: more than %d jobs", ITEMS_MAX);
    const uint32_t larger = count == 0 ? 16 : count * 2;
    void *grown = realloc(*items, larger * item_size);
    CHECK_MEMORY(grown);
    builder->plan->memory += (larger - *capacity) * item_size;
    *items = grown;
    *capacity = larger;
out:
    return status;
}

/* grow, for a list of the plan: its items, their count and room. */
#define GROW(status, builder, list, count, capacity)                           \
    do {                                                                       \
        struct plan *grown_ = (builder)->plan;                                 \
        void *items_ = grown_->list;                                           \
        status = grow((builder), &items_, grown_->count, &grown_->capacity,    \
                      sizeof grown_->list[0]);                                 \
        grown_->list = items_;                                                 \
    } while (0)

static clmove_status add_chunk(struct builder *builder, struct job_chunk chunk)
{
    struct plan *plan = builder->plan;
    clmove_status status;
    GROW(status, builder, chunks, chunk_count, chunk_capacity);
    if (status != CLMOVE_SUCCESS)
        return status;
    plan->chunks[plan->chunk_count++] = chunk;
    plan->launches[plan->launch_count - 1].chunk_count++;
    return status;
}

static clmove_status add_launch(struct builder *builder)
{
    struct plan *plan = builder->plan;
    clmove_status status;
    GROW(status, builder, launches, launch_count, launch_capacity);
    if (status != CLMOVE_SUCCESS)
        return status;
    plan->launches[plan->launch_count++] = (struct plan_launch){
        .first_chunk = plan->chunk_count, .first_binding = plan->binding_count};
    builder->in_step = true;
    builder->open_chunk = PLAN_NONE;
    return status;
}

static bool has_bank(const struct builder *builder, uint32_t binding)
{
    return binding == SCRATCH_BINDING ||
           builder->banks[binding].launch == builder->plan->launch_count;
}

/* The bank of a binding in the last launch, which has room for it. */
static clmove_status take_bank(struct builder *builder, uint32_t binding,
                               uint32_t *bank)
{
    struct plan *plan = builder->plan;
    clmove_status status = CLMOVE_SUCCESS;
    if (!has_bank(builder, binding)) {
        struct plan_launch *launch = &plan->launches[plan->launch_count - 1];
        GROW(status, builder, bindings, binding_count, binding_capacity);
        if (status != CLMOVE_SUCCESS)
            return status;
        plan->bindings[plan->binding_count++] = binding;
        builder->banks[binding] =
            (struct bank){plan->launch_count, launch->binding_count++};
    }
    *bank = binding == SCRATCH_BINDING ? builder->params->bank_limit
                                       : builder->banks[binding].number;
    return status;
}

/* Banks for both ends of a copy, in a launch of the current step. */
static clmove_status take_banks(struct builder *builder, uint32_t src,
                                uint32_t dst, uint32_t *src_bank,
                                uint32_t *dst_bank)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct plan *plan = builder->plan;
    uint32_t wanted = !has_bank(builder, src);
    wanted += !has_bank(builder, dst) && src != dst;
    if (!builder->in_step ||
        plan->launches[plan->launch_count - 1].binding_count + wanted >
            builder->params->bank_limit)
        status = add_launch(builder);
    if (status == CLMOVE_SUCCESS)
        status = take_bank(builder, src, src_bank);
    if (status == CLMOVE_SUCCESS)
        status = take_bank(builder, dst, dst_bank);
    return status;
}

static void end_step(struct builder *builder)
{
    builder->in_step = false;
}

/* Adds a family whose places are final; src and dst name its banks. */
static clmove_status add_family(struct builder *builder,
                                const struct job_family *planned, uint32_t src,
                                uint32_t dst)
{
    const struct plan *plan = builder->plan;
    struct job_family family = *planned;
    clmove_status status =
        take_banks(builder, src, dst, &family.src_bank, &family.dst_bank);
    if (status == CLMOVE_SUCCESS)
        GROW(status, builder, families, family_count, family_capacity);
    if (status == CLMOVE_SUCCESS)
        builder->plan->families[builder->plan->family_count++] = family;
    /* A job each: a loop over jobs would cost the kernel twice the registers.
     */
    for (cl_uint job = 0; job < family.job_count && status == CLMOVE_SUCCESS;
         job++)
        status = add_chunk(builder,
                           (struct job_chunk){.first = plan->family_count - 1,
                                              .job = job,
                                              .count = 1});
    return status;
}

static clmove_status add_small(struct builder *builder, struct end from,
                               struct end to, uint64_t size)
{
    struct plan *plan = builder->plan;
    uint32_t src_bank = 0;
    uint32_t dst_bank = 0;
    clmove_status status =
        take_banks(builder, from.binding, to.binding, &src_bank, &dst_bank);
    if (status == CLMOVE_SUCCESS)
        GROW(status, builder, smalls, small_count, small_capacity);
    if (status != CLMOVE_SUCCESS)
        return status;
    if (builder->open_chunk == PLAN_NONE ||
        plan->chunks[builder->open_chunk].count == CHUNK_JOBS ||
        builder->open_size + size > CHUNK_SIZE) {
        status =
            add_chunk(builder, (struct job_chunk){.first = plan->small_count,
                                                  .smalls = 1});
        if (status != CLMOVE_SUCCESS)
            return status;
        builder->open_chunk = plan->chunk_count - 1;
        builder->open_size = 0;
    }
    plan->smalls[plan->small_count++] = (struct job_small){
        from.at, to.at, (cl_uint)size, src_bank | dst_bank << 16};
    plan->chunks[builder->open_chunk].count++;
    builder->open_size += size;
    return status;
}

static bool is_small(const struct builder *builder, uint64_t size)
{
    return size <= min_u64(SMALL_SIZE, builder->params->jobs.tile);
}

static clmove_status add_copy(struct builder *builder, struct end from,
                              struct end to, uint64_t size)
{
    const struct clmove_log *log = builder->log;
    clmove_status status = CLMOVE_SUCCESS;
    const struct job_move move = {from.at, to.at, size, false};
    struct job_limits limits;
    struct job_plan jobs;
    if (is_small(builder, size))
        return add_small(builder, from, to, size);
    limits = plan_limits(builder->params, builder->plan, size);
    CHECK(job_plan_move(&limits, CLMOVE_VARIANT_DISJOINT, &move, &jobs),
          CLMOVE_UNSUPPORTED, "a move of %llu bytes has too many jobs",
          (unsigned long long)size);
    status = add_family(builder, &jobs.launches[0], from.binding, to.binding);
out:
    return status;
}

static struct end place(const struct builder *builder, uint32_t space,
                        uint64_t at)
{
    const struct plan_space *own = &builder->params->spaces[space];
    return (struct end){own->binding, at + own->base};
}

static struct end scratch_place(const struct builder *builder, uint64_t at)
{
    return (struct end){SCRATCH_BINDING, at + builder->params->scratch_base};
}

/* A launch of a move that overlaps itself. */
static clmove_status add_overlapping(struct builder *builder,
                                     const struct plan_move *move,
                                     uint32_t index)
{
    const struct job_limits limits =
        plan_limits(builder->params, builder->plan, move->size);
    struct job_plan jobs;
    const struct job_move job = plan_job_move(builder->params, move);
    job_plan_move(&limits, move->variant, &job, &jobs);
    const struct end from = place(builder, move->src_space, 0);
    const struct end to = place(builder, move->dst_space, 0);
    struct job_family *family = &jobs.launches[index];
    family->src += from.at;
    family->dst += to.at;
    family->edge += scratch_place(builder, move->scratch).at;
    return add_family(builder, family, from.binding, to.binding);
}

/* Whatever a move does in a step. */
static clmove_status add_move(struct builder *builder,
                              const struct plan_move *move, uint32_t step)
{
    const struct end src = place(builder, move->src_space, move->src);
    const struct end dst = place(builder, move->dst_space, move->dst);
    const struct end scratch = scratch_place(builder, move->scratch);
    if (plan_overlaps(move)) {
        if (step == 0 && !move->saves)
            return CLMOVE_SUCCESS;
        return add_overlapping(builder, move, step == 0 ? 0 : move->saves);
    }
    if (move->entry_class == CLMOVE_ENTRY_ENDANGERED) {
        if (builder->plan->slice_size > 0)
            return CLMOVE_SUCCESS; /* see add_slices */
        return step == 0 ? add_copy(builder, src, scratch, move->size)
                         : add_copy(builder, scratch, dst, move->size);
    }
    return step == 1 ? add_copy(builder, src, dst, move->size) : CLMOVE_SUCCESS;
}

/* A step of all moves: first what keeps a group busy for long, then the small
 * ones, which fill the gaps. */
static clmove_status add_step(struct builder *builder, uint32_t step)
{
    const struct plan *plan = builder->plan;
    clmove_status status = CLMOVE_SUCCESS;
    for (int small = 0; small < 2; small++) {
        for (uint32_t i = 0; i < plan->move_count && status == CLMOVE_SUCCESS;
             i++) {
            const struct plan_move *move =
                &plan->moves[builder->order == NULL ? i : builder->order[i]];
            if ((!plan_overlaps(move) && is_small(builder, move->size)) ==
                small)
                status = add_move(builder, move, step);
        }
    }
    end_step(builder);
    return status;
}

/* One half of a slice: `size` bytes of every endangered slot to scratch, or
 * from there. */
static clmove_status add_half_slice(struct builder *builder, bool save,
                                    uint64_t size)
{
    const struct plan *plan = builder->plan;
    clmove_status status = CLMOVE_SUCCESS;
    for (uint32_t i = 0; i < plan->move_count; i++) {
        const struct plan_move *move =
            &plan->moves[builder->order == NULL ? i : builder->order[i]];
        if (move->entry_class != CLMOVE_ENTRY_ENDANGERED)
            continue;
        uint64_t scratch = move->scratch;
        for (uint64_t at = 0; at < move->size && status == CLMOVE_SUCCESS;
             at += plan->slot_size, scratch += plan->slice_size) {
            const struct end saved = scratch_place(builder, scratch);
            status =
                save ? add_copy(builder,
                                place(builder, move->src_space, move->src + at),
                                saved, size)
                     : add_copy(builder, saved,
                                place(builder, move->dst_space, move->dst + at),
                                size);
        }
    }
    end_step(builder);
    return status;
}

/* `count` slices of `size` bytes, from byte `first` of the slots on: the
 * launches of one, repeated at other places. */
static clmove_status add_equal_slices(struct builder *builder, uint64_t first,
                                      uint64_t size, uint64_t count)
{
    struct plan *plan = builder->plan;
    const uint32_t begin = plan->launch_count;
    clmove_status status = add_half_slice(builder, true, size);
    if (status == CLMOVE_SUCCESS)
        status = add_half_slice(builder, false, size);
    const uint32_t end = plan->launch_count;
    for (uint32_t i = begin; i < end; i++)
        plan->launches[i].slice = first;
    for (uint64_t slice = 1; slice < count; slice++) {
        for (uint32_t i = begin; i < end && status == CLMOVE_SUCCESS; i++) {
            GROW(status, builder, launches, launch_count, launch_capacity);
            if (status != CLMOVE_SUCCESS)
                break;
            struct plan_launch *launch = &plan->launches[plan->launch_count++];
            *launch = plan->launches[i];
            launch->slice = first + slice * size;
        }
    }
    return status;
}

static clmove_status add_slices(struct builder *builder)
{
    const struct plan *plan = builder->plan;
    if (plan->slice_size == 0)
        return CLMOVE_SUCCESS;
    const uint64_t whole = plan->slot_size / plan->slice_size;
    const uint64_t rest = plan->slot_size % plan->slice_size;
    clmove_status status =
        add_equal_slices(builder, 0, plan->slice_size, whole);
    if (status == CLMOVE_SUCCESS && rest > 0)
        status = add_equal_slices(builder, whole * plan->slice_size, rest, 1);
    return status;
}

/* Where the buffers are more than a launch can reach, moves between the same
 * few of them come together, so that the launches stay few. */
static clmove_status sort_by_banks(struct builder *builder, uint32_t **order)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = builder->log;
    const struct plan_params *params = builder->params;
    struct plan *plan = builder->plan;
    const uint32_t half = params->bank_limit / 2;
    struct plan_key *keys = NULL;
    struct plan_key *spare = NULL;
    if (params->binding_count <= params->bank_limit)
        goto out;
    const size_t count = plan->move_count + (size_t)1;
    keys = calloc(count, sizeof keys[0]);
    spare = calloc(count, sizeof spare[0]);
    *order = calloc(count, sizeof **order);
    CHECK(keys != NULL && spare != NULL && *order != NULL,
          CL_OUT_OF_HOST_MEMORY, "out of host memory");
    plan->memory += count * (2 * sizeof keys[0] + sizeof **order);
    for (uint32_t i = 0; i < plan->move_count; i++) {
        const struct plan_move *move = &plan->moves[i];
        keys[i] = (struct plan_key){
            params->spaces[move->src_space].binding / half,
            params->spaces[move->dst_space].binding / half, i};
    }
    const struct plan_key *sorted =
        plan_sort(keys, spare, plan->move_count, &plan->work);
    for (uint32_t i = 0; i < plan->move_count; i++)
        (*order)[i] = sorted[i].index;
    builder->order = *order;
out:
    free(keys);
    free(spare);
    return status;
}

clmove_status plan_make_launches(const struct clmove_log *log,
                                 const struct plan_params *params,
                                 struct plan *plan)
{
    clmove_status status = CLMOVE_SUCCESS;
    struct builder builder = {
        .log = log, .params = params, .plan = plan, .open_chunk = PLAN_NONE};
    uint32_t *order = NULL;
    builder.banks =
        calloc(params->binding_count + (size_t)1, sizeof builder.banks[0]);
    CHECK_MEMORY(builder.banks);
    CHECK_STATUS(sort_by_banks(&builder, &order));
    CHECK_STATUS(add_slices(&builder));
    for (uint32_t step = 0; step < 2; step++)
        CHECK_STATUS(add_step(&builder, step));
    plan->info.launch_count = plan->launch_count;
out:
    free(order);
    free(builder.banks);
    return status;
}
