/* Moves cut into jobs for work-groups, pure arithmetic. */

#ifndef JOBS_H
#define JOBS_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>

/* The kind of a family's jobs, and a flag: they save edges. As in cl/move.cl.
 */
enum { JOB_DISJOINT = 0, JOB_UP = 1, JOB_DOWN = 2, JOB_KIND = 3, JOB_SAVE = 4 };

/* Bytes that memory stores at once. As LINE in cl/move.cl. */
enum { JOB_LINE = 128 };

/* Bytes that a group of a GPU takes in one round: a tile, and a sixteenth more
 * where that saves it another. As TILE_MOST in cl/move.cl. */
static inline uint64_t job_tile_most(uint64_t tile)
{
    return tile + tile / 256 * 16;
}

/* Mirror of struct family in cl/move.cl, which explains it. Banks are filled in
 * by who launches it. */
struct job_family {
    cl_ulong src, dst;
    cl_ulong size;
    cl_ulong span, stride;
    cl_ulong piece;
    cl_ulong edge;
    cl_ulong distance;
    cl_uint src_bank, dst_bank;
    cl_uint mode;
    cl_uint columns;
    cl_uint pieces;
    cl_uint align;
    cl_uint job_count;
};

/* Mirrors of struct small_move and struct chunk in cl/move.cl. */
struct job_small {
    cl_ulong src, dst;
    cl_uint size, banks;
};

struct job_chunk {
    cl_uint first, job, count, smalls;
};

/* Sizes that decide how moves are cut, chosen per device (variant.c). */
struct job_limits {
    uint64_t tile;      /* bytes of a disjoint job, and of a column, at most; a
                           multiple of 16, as tile_min */
    uint64_t tile_min;  /* the same at least: smaller tiles for small moves */
    uint64_t jobs;      /* that keep the device busy; 0: as many as can be */
    uint64_t group_max; /* overlapping moves up to here are one group's work */
    uint64_t span;      /* bytes of a span without columns at least */
    uint64_t span_most; /* the same at most, in distances; 0: any */
    uint64_t split_max; /* larger distances are moved in columns */
};

/* A move: dst - src bytes apart. Where the two do not overlap, src and dst are
 * offsets in any two memories. */
struct job_move {
    uint64_t src, dst, size;
    bool overlaps; /* in one memory, less than size apart, not equal */
};

/* A move's launches, in order, a family each: that of edges, if any are
 * saved, and that of the move. Edges lie in scratch from byte 0 on, or up to 15
 * bytes later. */
struct job_plan {
    uint32_t variant; /* enum clmove_variant */
    uint32_t launch_count;
    uint64_t scratch_size;
    struct job_family launches[2];
};

/* Whether a variant can do a move. */
bool job_variant_can(uint32_t variant, bool overlaps);

/* The variant that suits a move best. */
uint32_t job_choose(const struct job_limits *limits,
                    const struct job_move *move);

/* Plans a move of at least 1 byte by a variant that can do it, other than
 * DRIVER and AUTO. false: too many jobs for 32 bits. */
bool job_plan_move(const struct job_limits *limits, uint32_t variant,
                   const struct job_move *move, struct job_plan *plan);

#endif
