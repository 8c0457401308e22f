/* Moves cut into jobs for work-groups, pure arithmetic. */

#include "jobs.h"

#include "util.h"

#include <clmove/move.h>

/* Distances in a column at least, since edges cost one: where there are more
 * spans than one. And at most, for distances so small that all is edges. */
enum { COLUMN_MIN = 4, COLUMN_MAX = 1024 };

/* Multiples from which places are counted, at most: larger ones are no faster.
 */
enum { ALIGN_MAX = 16 * 1024 };

/* Larger pieces rather than more groups than any device can run. */
enum { JOBS_MAX = 1 << 20 };
#define PIECE_MAX (UINT64_C(1) << 30)

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static uint64_t round_up(uint64_t a)
{
    return (a + 15) / 16 * 16;
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
    return distance(move) > limits->split_max ? CLMOVE_VARIANT_SEGMENTS
                                              : CLMOVE_VARIANT_SPLIT;
}

/* A span of one column: one piece, or more where it is larger than the kernel's
 * 32 bits; then as much larger as equal pieces make it, since a piece that
 * reached past it would be another job's. */
static void set_span(struct job_family *family, uint64_t span)
{
    const uint64_t pieces = divide_up(span, PIECE_MAX);
    family->piece = family->stride = round_up(divide_up(span, pieces));
    family->span = family->piece * pieces;
    family->pieces = (cl_uint)pieces;
}

/* What places are counted from a multiple of: pieces that are stored at
 * multiples of a tile of 16 KiB are the fastest. */
static cl_uint choose_align(const struct job_limits *limits, uint64_t piece)
{
    const uint64_t bits = ALIGN_MAX | limits->tile | piece;
    return (cl_uint)max_u64(bits & (0 - bits), JOB_LINE);
}

/* As many places as a move has at most. */
static uint64_t count_places(const struct job_move *move, uint64_t align)
{
    return round_up(move->size + align - 1);
}

/* A move as one job. */
static struct job_family whole_move(const struct job_move *move)
{
    struct job_family family = {
        .src = move->src,
        .dst = move->dst,
        .size = move->size,
        .mode = !move->overlaps         ? JOB_DISJOINT
                : move->dst < move->src ? JOB_UP
                                        : JOB_DOWN,
        .columns = 1,
        .align = JOB_LINE,
    };
    set_span(&family, count_places(move, family.align));
    return family;
}

/* Adds a launch: `rows` times the family's columns. */
static bool add_launch(struct job_plan *plan, struct job_family family,
                       uint64_t rows)
{
    uint64_t jobs = 0;
    if (!multiply_checked(rows, family.columns, &jobs) || jobs > INT32_MAX)
        return false;
    family.job_count = (cl_uint)jobs;
    plan->launches[plan->launch_count++] = family;
    return true;
}

/* A tile each for as many jobs as keep the device busy, within its limits. */
static uint64_t choose_tile(const struct job_limits *limits, uint64_t size)
{
    const uint64_t wanted =
        limits->jobs == 0 ? 0 : divide_up(size, limits->jobs);
    const uint64_t tile =
        min_u64(max_u64(round_up(wanted), limits->tile_min), limits->tile);
    return max_u64(tile, round_up(divide_up(size, JOBS_MAX)));
}

static bool plan_disjoint(const struct job_limits *limits,
                          const struct job_move *move, struct job_plan *plan)
{
    struct job_family family = whole_move(move);
    family.piece = choose_tile(limits, move->size);
    family.align = choose_align(limits, family.piece);
    family.span = family.stride = count_places(move, family.align);
    family.columns = (cl_uint)divide_up(family.span, family.piece);
    family.pieces = 1;
    return add_launch(plan, family, 1);
}

/* The launch that saves the edges between spans, a tile or less for each job:
 * a part of an edge, or several. Vectors are numbered with 32 bits. */
static bool plan_save(const struct job_limits *limits, uint64_t edges,
                      struct job_family family, struct job_plan *plan)
{
    const uint64_t edge = round_up(family.distance);
    const uint64_t size = edge * edges; /* a part of the move */
    plan->scratch_size = size + 15;
    const uint64_t tile = choose_tile(limits, size);
    family.piece = min_u64(tile, edge);
    family.columns = (cl_uint)divide_up(edge, family.piece);
    family.pieces = (cl_uint)max_u64(tile / edge, 1);
    family.mode |= JOB_SAVE;
    return add_launch(plan, family, divide_up(edges, family.pieces));
}

/* A move that overlaps itself in spans; the family says how their columns lie.
 */
static bool plan_spans(const struct job_limits *limits,
                       const struct job_move *move, struct job_family family,
                       struct job_plan *plan)
{
    const uint64_t spans =
        divide_up(count_places(move, family.align), family.span);
    family.distance = spans > 1 ? distance(move) : 0;
    return (spans == 1 || plan_save(limits, spans - 1, family, plan)) &&
           add_launch(plan, family, spans);
}

/* Spans of one column that is one piece. Long ones make edges cheap, many keep
 * the device busy: as many as that takes, while edges stay between a quarter
 * and, where a bound is given, a small part of the bytes. */
static bool plan_split(const struct job_limits *limits,
                       const struct job_move *move, struct job_plan *plan)
{
    const uint64_t s = distance(move);
    struct job_family family = whole_move(move);
    if (s < move->size / 8) {
        uint64_t span = max_u64(limits->span, round_up(s) * 4);
        if (limits->jobs > 0)
            span = max_u64(span, move->size / limits->jobs);
        if (limits->span_most > 0) {
            span = min_u64(span, max_u64(limits->span, s * limits->span_most));
            span = divide_up(span, limits->tile) * limits->tile;
        }
        span = max_u64(span, divide_up(move->size, JOBS_MAX));
        if (span < move->size) {
            set_span(&family, round_up(span));
            if (span > limits->tile) /* one alone is as fast anywhere */
                family.align = choose_align(limits, family.piece);
        }
    }
    return plan_spans(limits, move, family, plan);
}

/* Columns of a distance: as wide as kernels take in one round, rather than one
 * more that leaves all of them part empty. */
static uint64_t count_columns(uint64_t s, uint64_t tile)
{
    const uint64_t columns = s / tile;
    const uint64_t most = min_u64(job_tile_most(tile), PIECE_MAX);
    return s <= columns * most ? columns : columns + 1;
}

/* Pieces that are one distance apart. A distance is cut into columns, and if
 * these do not keep the device busy, the move into spans too. */
static bool plan_segments(const struct job_limits *limits,
                          const struct job_move *move, struct job_plan *plan)
{
    const uint64_t s = distance(move);
    struct job_family family = whole_move(move);
    family.align = choose_align(limits, s);
    const uint64_t segments = divide_up(count_places(move, family.align), s);
    const uint64_t wanted = limits->jobs == 0 ? segments : limits->jobs;
    uint64_t rows = divide_up(wanted, count_columns(s, limits->tile));
    uint64_t pieces = segments;
    if (segments > 2 * COLUMN_MIN && rows > 1) {
        pieces = max_u64(divide_up(segments, rows), COLUMN_MIN);
        pieces = min_u64(pieces, COLUMN_MAX);
        /* An edge takes a vector at least. */
        pieces = max_u64(pieces, divide_up(COLUMN_MIN * 16, s));
    }
    /* Spans begin at multiples of 16. */
    if (pieces < segments && s % 16 != 0)
        pieces = round_up(pieces);
    rows = divide_up(segments, pieces);
    const uint64_t tile = min_u64(choose_tile(limits, s * rows), s);
    family.piece = round_up(divide_up(s, count_columns(s, tile)));
    family.piece = min_u64(family.piece, s);
    family.columns = (cl_uint)divide_up(s, family.piece);
    family.stride = s;
    family.pieces = (cl_uint)pieces;
    family.span = pieces * s;
    return pieces <= UINT32_MAX && plan_spans(limits, move, family, plan);
}

bool job_plan_move(const struct job_limits *limits, uint32_t variant,
                   const struct job_move *move, struct job_plan *plan)
{
    *plan = (struct job_plan){.variant = variant};
    /* Sums below stay far from 64 bits. */
    if (move->size > UINT64_MAX / 64)
        return false;
    if (variant == CLMOVE_VARIANT_GROUP)
        return add_launch(plan, whole_move(move), 1);
    if (!move->overlaps)
        return plan_disjoint(limits, move, plan);
    return variant == CLMOVE_VARIANT_SPLIT ? plan_split(limits, move, plan)
                                           : plan_segments(limits, move, plan);
}
