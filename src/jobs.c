/* Moves cut into jobs for work-groups, pure arithmetic. */

#include "jobs.h"

#include "util.h"

#include <clmove/move.h>

/* Pieces of a span that is moved in segments: saved edges are one of them. */
enum { PIECES = 8 };

/* Tiles of a piece at most. */
enum { JOBS_MAX = 1 << 20 };

/* Segments without edges at most: a launch each. */
enum { SEGMENTS_MAX = 16 };

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static uint64_t distance(const struct job_move *move)
{
    return move->src > move->dst ? move->src - move->dst
                                 : move->dst - move->src;
}

bool job_variant_can(uint32_t variant, bool overlaps)
{
    return !overlaps || (variant != CLMOVE_VARIANT_DRIVER &&
                         variant != CLMOVE_VARIANT_DISJOINT);
}

uint32_t job_choose(const struct job_limits *limits,
                    const struct job_move *move)
{
    if (!move->overlaps)
        return CLMOVE_VARIANT_DISJOINT;
    if (move->size <= limits->group_max)
        return CLMOVE_VARIANT_GROUP;
    /* Few segments need no scratch; small distances cost little of it. */
    if (distance(move) > limits->split_max ||
        distance(move) >= move->size / PIECES)
        return CLMOVE_VARIANT_SEGMENTS;
    return CLMOVE_VARIANT_SPLIT;
}

/* Adds a launch of disjoint pieces cut into tiles; the caller has filled in the
 * pieces. No piece: no launch. */
static bool add_pieces(const struct job_limits *limits, struct job_plan *plan,
                       struct job_family family, uint64_t piece_count)
{
    if (piece_count == 0 || family.size == 0)
        return true;
    /* Larger tiles rather than more groups than any device can run. */
    const uint64_t least = divide_up(family.size, JOBS_MAX);
    const uint64_t tile = max_u64(limits->tile, (least + 15) / 16 * 16);
    const uint64_t tiles = divide_up(family.size, tile);
    uint64_t jobs = 0;
    if (!multiply_checked(tiles, piece_count, &jobs) || jobs > INT32_MAX)
        return false;
    family.tile = tile;
    family.tiles = (cl_uint)tiles;
    family.job_count = (cl_uint)jobs;
    plan->launches[plan->launch_count++] = family;
    return true;
}

static bool plan_disjoint(const struct job_limits *limits,
                          const struct job_move *move, struct job_plan *plan)
{
    return add_pieces(limits, plan,
                      (struct job_family){.src = move->src,
                                          .dst = move->dst,
                                          .size = move->size,
                                          .limit = move->size,
                                          .src_bank = PLACE_SRC,
                                          .dst_bank = PLACE_DST},
                      1);
}

/* Spans of L bytes from the end that memmove would begin with: upwards from the
 * start when the destination is below, else downwards from the end. */
static bool plan_spans(const struct job_limits *limits,
                       const struct job_move *move, uint64_t span,
                       struct job_plan *plan)
{
    const bool up = move->dst < move->src;
    const uint64_t s = distance(move);
    const uint64_t spans = divide_up(move->size, span);
    const uint64_t stride = up ? span : 0 - span;
    const uint64_t edge_stride = (s + 15) / 16 * 16;
    /* The span at the far end may be cut short: its place as if it were not. */
    const uint64_t first_dst = up ? move->dst : move->dst + move->size - span;
    const uint64_t first_src = up ? move->src : move->src + move->size - span;
    /* An edge goes to where all edges are stored with their scratch address in
     * phase: destination addresses are multiples of 16 apart. */
    const uint64_t edge_dst = up ? first_dst + span - s : first_dst;
    const uint64_t edge = edge_dst % 16;
    if (spans > INT32_MAX)
        return false;
    if (spans > 1) {
        const struct job_family edges = {.src = up ? first_src + span - s
                                                   : first_src,
                                         .dst = edge,
                                         .src_stride = stride,
                                         .dst_stride = edge_stride,
                                         .size = s,
                                         .limit = s,
                                         .src_bank = PLACE_SRC,
                                         .dst_bank = PLACE_SCRATCH};
        plan->scratch_size = edge + (spans - 1) * edge_stride;
        if (!add_pieces(limits, plan, edges, spans - 1))
            return false;
    }
    plan->launches[plan->launch_count++] = (struct job_family){
        .src = first_src,
        .dst = first_dst,
        .src_stride = stride,
        .dst_stride = stride,
        .size = span,
        .limit = move->size,
        .limit_stride = span,
        .tile = span,
        .edge = edge,
        .edge_stride = edge_stride,
        .edge_size = spans > 1 ? s : 0,
        .src_bank = PLACE_SRC,
        .dst_bank = PLACE_DST,
        .mode = up ? JOB_UP : JOB_DOWN | JOB_FROM_END,
        .tiles = 1,
        .job_count = (cl_uint)spans,
    };
    return true;
}

/* Pieces of the distance's size, each disjoint from its source, one of every
 * span in a launch, in memmove's order. What the last piece of a span needs is
 * overwritten by the first piece of the next span, so it is saved before. */
static bool plan_segments(const struct job_limits *limits,
                          const struct job_move *move, struct job_plan *plan)
{
    const bool up = move->dst < move->src;
    const uint64_t s = distance(move);
    const bool saves = divide_up(move->size, s) > SEGMENTS_MAX;
    const uint64_t pieces = saves ? PIECES : divide_up(move->size, s);
    const uint64_t span = pieces * s; /* size < 2 * span: no overflow */
    const uint64_t stride = up ? span : 0 - span;
    /* Small edges are not aligned: that would double the scratch. */
    const uint64_t edge_stride = s < 4096 ? s : (s + 15) / 16 * 16;
    struct job_family family = {
        .src_stride = stride,
        .dst_stride = stride,
        .size = s,
        .limit_stride = span,
        .mode = up ? JOB_DISJOINT : JOB_DISJOINT | JOB_FROM_END,
    };
    for (uint64_t step = 0; step < pieces + saves; step++) {
        /* Step 0 saves the last piece's source, if any is saved. */
        const bool save = saves && step == 0;
        const bool restore = saves && step == pieces;
        const uint64_t piece = save ? pieces - 1 : step - saves;
        if (piece * s >= move->size)
            break;
        family.limit = move->size - piece * s;
        const uint64_t count = divide_up(family.limit, span);
        const uint64_t at = up ? piece * s : move->size - (piece + 1) * s;
        family.src = restore ? 0 : move->src + at;
        family.dst = save ? 0 : move->dst + at;
        family.src_stride = restore ? edge_stride : stride;
        family.dst_stride = save ? edge_stride : stride;
        family.src_bank = restore ? PLACE_SCRATCH : PLACE_SRC;
        family.dst_bank = save ? PLACE_SCRATCH : PLACE_DST;
        if (save)
            plan->scratch_size = count * edge_stride;
        if (!add_pieces(limits, plan, family, count))
            return false;
    }
    return true;
}

/* A span's length. Long spans make edges cheap, many spans keep the device
 * busy: as many as are wanted, while edges stay between a quarter and, where a
 * bound is given, a small part of the bytes. */
static uint64_t choose_span(const struct job_limits *limits,
                            const struct job_move *move)
{
    const uint64_t s = distance(move);
    uint64_t span = max_u64(limits->span, s * 4);
    if (limits->span_count > 0)
        span = max_u64(span, move->size / limits->span_count);
    if (limits->span_most > 0)
        span = min_u64(span, max_u64(limits->span, s * limits->span_most));
    return (span + 15) / 16 * 16;
}

bool job_plan_move(const struct job_limits *limits, uint32_t variant,
                   const struct job_move *move, struct job_plan *plan)
{
    *plan = (struct job_plan){.variant = variant};
    if (!move->overlaps && variant != CLMOVE_VARIANT_GROUP)
        return plan_disjoint(limits, move, plan);
    if (!move->overlaps) {
        /* One job of one group. */
        const struct job_limits whole = {.tile = move->size};
        return plan_disjoint(&whole, move, plan);
    }
    switch (variant) {
    case CLMOVE_VARIANT_GROUP:
        return plan_spans(limits, move, (move->size + 15) / 16 * 16, plan);
    case CLMOVE_VARIANT_SPLIT: {
        /* A span that would hold all of it is the move itself. */
        const uint64_t span = distance(move) >= move->size / 8
                                  ? (move->size + 15) / 16 * 16
                                  : min_u64(choose_span(limits, move),
                                            (move->size + 15) / 16 * 16);
        return plan_spans(limits, move, span, plan);
    }
    default:
        return plan_segments(limits, move, plan);
    }
}
