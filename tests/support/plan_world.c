/* Byte arrays on which plans of batches are carried out by the host. */

#include "plan_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t world_random(uint32_t *seed, uint32_t bound)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(*seed ^ *seed >> 15) * bound) >> 32);
}

static void *zeroed(size_t count, size_t size)
{
    void *made = calloc(count, size);
    if (made == NULL) {
        fprintf(stderr, "out of host memory\n");
        abort();
    }
    return made;
}

void world_create(struct plan_world *world, size_t room)
{
    *world = (struct plan_world){.scratch_size = room, .next_job = 1};
    world->bytes = zeroed(room, 1);
    world->readers = zeroed(room, sizeof world->readers[0]);
    world->writers = zeroed(room, sizeof world->writers[0]);
}

void world_destroy(struct plan_world *world)
{
    free(world->bytes);
    free(world->readers);
    free(world->writers);
}

void world_set_roots(struct plan_world *world, uint32_t count,
                     const size_t *sizes, const uint64_t *biases)
{
    const size_t room = world->size + world->scratch_size;
    size_t start = WORLD_GUARD;
    world->root_count = count;
    world->space_count = 0;
    world->binding_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        world->root_starts[i] = start;
        world->root_sizes[i] = sizes[i];
        world->biases[i] = biases == NULL ? 0 : biases[i];
        start = (start + sizes[i] + WORLD_GUARD + 15) / 16 * 16;
    }
    if (start > room)
        abort();
    world->size = start;
    world->scratch_size = room - start;
}

void world_add_space(struct plan_world *world, uint32_t root, size_t origin,
                     size_t size, bool own_binding)
{
    const size_t bound = own_binding ? origin : 0;
    const size_t start = world->root_starts[root] + bound;
    uint32_t binding = 0;
    while (binding < world->binding_count &&
           world->binding_starts[binding] != start)
        binding++;
    if (binding == world->binding_count)
        world->binding_starts[world->binding_count++] = start;
    world->space_starts[world->space_count] = world->root_starts[root] + origin;
    world->spaces[world->space_count++] = (struct plan_space){
        .root = root,
        .binding = binding,
        .origin = world->biases[root] + origin,
        .size = size,
        .base = 0 - (world->biases[root] + bound),
    };
}

void world_fill(struct plan_world *world, uint32_t seed)
{
    for (size_t i = 0; i < world->size; i++) {
        seed = seed * 1664525u + 1013904223u;
        world->bytes[i] = (unsigned char)(seed >> 24);
    }
}

struct plan_params world_params(const struct plan_world *world,
                                const struct clmove_region *regions,
                                size_t region_count)
{
    return (struct plan_params){
        .spaces = world->spaces,
        .space_count = world->space_count,
        .regions = regions,
        .region_count = region_count,
        .jobs = {.tile = 64 * 1024,
                 .tile_min = 64 * 1024,
                 .group_max = 64 * 1024,
                 .span = 64 * 1024,
                 .split_max = 32 * 1024},
        .binding_count = world->binding_count,
        .bank_limit = 64,
    };
}

static size_t position(const struct plan_world *world, uint32_t space,
                       uint64_t offset)
{
    return world->space_starts[space] + (size_t)offset;
}

bool world_reference(const struct plan_world *world,
                     const struct clmove_region *regions, size_t region_count,
                     const unsigned char *before, unsigned char *after,
                     unsigned char *marks)
{
    memcpy(after, before, world->size);
    memset(marks, 0, world->size);
    for (size_t i = 0; i < region_count; i++) {
        const struct clmove_region *region = &regions[i];
        for (uint64_t row = 0; row < (region->rows ? region->rows : 1); row++) {
            const size_t src =
                position(world, region->src_memory,
                         region->src_offset + row * region->src_stride);
            const size_t dst =
                position(world, region->dst_memory,
                         region->dst_offset + row * region->dst_stride);
            for (size_t k = 0; k < region->size && src != dst; k++) {
                if (marks[dst + k]++ != 0)
                    return false;
                after[dst + k] = before[src + k];
            }
        }
    }
    return true;
}

/* Fails once; the first fault is the one to read. */
static bool fail(struct plan_world *world, const char *what, size_t at)
{
    if (world->fault[0] == '\0')
        snprintf(world->fault, sizeof world->fault, "%s at byte %zu", what, at);
    return false;
}

/* A launch on its way. */
struct running {
    struct plan_world *world;
    const struct plan_params *params;
    const struct plan *plan;
    const struct plan_launch *launch;
    uint32_t many; /* stands for several readers; jobs have higher numbers */
};

/* A byte of a bank in `bytes`. */
static bool find(struct running *run, uint32_t bank, uint64_t offset,
                 uint64_t size, size_t *at)
{
    struct plan_world *world = run->world;
    const uint64_t room = world->size + world->scratch_size;
    uint64_t start = world->size;
    if (bank != run->params->bank_limit) {
        if (bank >= run->launch->binding_count)
            return fail(world, "a bank that is not bound", bank);
        start = world->binding_starts
                    [run->plan->bindings[run->launch->first_binding + bank]];
        offset += run->launch->slice;
    } else if (offset < run->params->scratch_base) {
        return fail(world, "before scratch", (size_t)offset);
    } else if (offset + size >
               run->plan->info.scratch_size + run->params->scratch_base) {
        return fail(world, "past the end of scratch", (size_t)offset);
    }
    *at = (size_t)(start + offset);
    if (offset > room || size > room || start + offset + size > room)
        return fail(world, "out of what is bound", (size_t)(start + offset));
    return true;
}

static bool copy(struct running *run, uint32_t job, size_t dst, size_t src,
                 size_t size)
{
    struct plan_world *world = run->world;
    for (size_t i = 0; i < size; i++) {
        uint32_t *reader = &world->readers[src + i];
        const uint32_t writer = world->writers[src + i];
        if (writer > run->many && writer != job)
            return fail(world, "read beside a write", src + i);
        *reader = *reader < run->many ? job : *reader == job ? job : run->many;
    }
    for (size_t i = 0; i < size; i++) {
        const uint32_t reader = world->readers[dst + i];
        if (world->writers[dst + i] > run->many)
            return fail(world, "two writes", dst + i);
        if (reader >= run->many && reader != job)
            return fail(world, "written beside a read", dst + i);
        world->writers[dst + i] = job;
    }
    memmove(world->bytes + dst, world->bytes + src, size);
    return true;
}

/* Where in the world byte 0 of a family is stored and loaded; the position of
 * the first one is its address for the kernels' rounding. */
struct ends {
    size_t src, dst, edges;
    uint64_t skew, end; /* places of the first byte, and behind the last */
};

static bool find_ends(struct running *run, const struct job_family *family,
                      struct ends *ends)
{
    const bool edges = family->distance != 0;
    ends->edges = 0;
    if (!find(run, family->src_bank, family->src, family->size, &ends->src) ||
        !find(run, family->dst_bank, family->dst, family->size, &ends->dst) ||
        (edges &&
         !find(run, run->params->bank_limit, family->edge, 0, &ends->edges)))
        return false;
    ends->edges = (ends->edges + 15) / 16 * 16;
    ends->skew = ends->dst % family->align;
    ends->end = ends->skew + family->size;
    return true;
}

/* The world's position of byte `place` of an edge. */
static bool find_edge(struct running *run, const struct ends *ends,
                      uint64_t place, size_t size, size_t *at)
{
    struct plan_world *world = run->world;
    *at = ends->edges + (size_t)place;
    if (size > 0 && *at + size > world->size + run->params->scratch_base +
                                     run->plan->info.scratch_size)
        return fail(world, "an edge past the end of scratch", *at);
    return true;
}

/* As save_edges in cl/move.cl: bytes of the next span's source, or the last
 * one's, that the move has. */
static bool save_edges(struct running *run, const struct job_family *family,
                       const struct ends *ends, uint64_t number, uint32_t job)
{
    const bool up = (family->mode & JOB_KIND) == JOB_UP;
    const uint64_t edge = (family->distance + 15) / 16 * 16;
    const uint64_t row = number / family->columns;
    const uint64_t begin = number % family->columns * family->piece;
    const uint64_t left = edge - begin;
    const uint64_t width = left < family->piece ? left : family->piece;
    for (uint64_t k = 0; k < family->pieces; k++) {
        const uint64_t i = row * family->pieces + k;
        size_t saved = 0;
        if ((i + 1) * family->span >= ends->end)
            break;
        if (!find_edge(run, ends, i * edge + begin, (size_t)width, &saved))
            return false;
        for (uint64_t byte = 0; byte < width; byte++) {
            const uint64_t place =
                (i + 1) * family->span + begin + byte +
                (up ? 0 - family->distance : family->distance - edge);
            if (place - ends->skew < family->size &&
                !copy(run, job, saved + (size_t)byte,
                      ends->src + (size_t)(place - ends->skew), 1))
                return false;
        }
    }
    return true;
}

/* As move_piece: a run of which the bytes below `border` are loaded from `low`,
 * the rest from `high`. Memory is read as it is before the first byte is
 * written. */
static bool move_piece(struct running *run, uint32_t job, size_t dst,
                       size_t low, size_t high, size_t border, size_t size,
                       bool up)
{
    if (up)
        return copy(run, job, dst, low, border) &&
               copy(run, job, dst + border, high, size - border);
    return copy(run, job, dst + border, high, size - border) &&
           copy(run, job, dst, low, border);
}

/* As move_column. */
static bool run_job(struct running *run, const struct job_family *family,
                    uint32_t number, uint32_t job)
{
    const bool up = (family->mode & JOB_KIND) != JOB_DOWN;
    const uint64_t row = number / family->columns;
    const uint64_t at = number % family->columns * family->piece;
    const uint64_t begin = row * family->span;
    const uint64_t edge = (family->distance + 15) / 16 * 16;
    const uint64_t left = family->stride - at;
    const uint64_t width = left < family->piece ? left : family->piece;
    struct ends ends;
    if (!find_ends(run, family, &ends))
        return false;
    if (family->mode & JOB_SAVE)
        return save_edges(run, family, &ends, number, job);
    const bool meets = family->distance != 0 &&
                       (up ? begin + family->span < ends.end : row > 0);
    for (uint64_t k = 0; k < family->pieces; k++) {
        const uint64_t i = up ? k : family->pieces - 1 - k;
        const uint64_t start = begin + at + i * family->stride;
        const uint64_t first = start > ends.skew ? start : ends.skew;
        const uint64_t last =
            start + width < ends.end ? start + width : ends.end;
        if (first >= last)
            continue;
        const size_t size = (size_t)(last - first);
        const size_t src = ends.src + (size_t)(first - ends.skew);
        const size_t dst = ends.dst + (size_t)(first - ends.skew);
        size_t border = size;
        size_t low = src, high = src, saved = 0;
        if (meets) {
            const uint64_t turn = up ? begin + family->span - family->distance
                                     : begin + family->distance;
            const uint64_t slot = (up ? row : row - 1) * edge;
            border = turn <= first         ? 0
                     : turn - first < size ? (size_t)(turn - first)
                                           : size;
            if (!find_edge(run, &ends,
                           up ? slot + (first > turn ? first - turn : 0)
                              : slot + edge - family->distance + first - begin,
                           up ? size - border : border, &saved))
                return false;
            low = up ? src : saved;
            high = up ? saved : src + border;
        }
        if (!move_piece(run, job, dst, low, high, border, size, up))
            return false;
    }
    return true;
}

static bool run_small(struct running *run, const struct job_small *small,
                      uint32_t job)
{
    size_t src = 0, dst = 0;
    return find(run, small->banks & 0xffff, small->src, small->size, &src) &&
           find(run, small->banks >> 16, small->dst, small->size, &dst) &&
           copy(run, job, dst, src, small->size);
}

/* A small move of a chunk, or the one job that a kernel does for a chunk. */
struct pick {
    const struct job_chunk *chunk;
    uint32_t index;
};

static bool run_launch(struct running *run)
{
    struct plan_world *world = run->world;
    const struct job_chunk *chunks =
        run->plan->chunks + run->launch->first_chunk;
    struct pick few[256];
    size_t count = 0, filled = 0;
    bool good = true;
    for (uint32_t i = 0; i < run->launch->chunk_count; i++)
        count += chunks[i].smalls ? chunks[i].count : 1;
    struct pick *picks = count <= 256 ? few : zeroed(count, sizeof picks[0]);
    for (uint32_t i = 0; i < run->launch->chunk_count; i++) {
        picks[filled++] = (struct pick){&chunks[i], 0};
        for (uint32_t k = 1; chunks[i].smalls && k < chunks[i].count; k++)
            picks[filled++] = (struct pick){&chunks[i], k};
    }
    run->many = world->next_job++;
    for (size_t i = count; i > 0 && good; i--) {
        const size_t chosen = world_random(&world->seed, (uint32_t)i);
        const struct pick pick = picks[chosen];
        const uint32_t job = world->next_job++;
        picks[chosen] = picks[i - 1];
        good =
            pick.chunk->smalls
                ? run_small(run,
                            &run->plan->smalls[pick.chunk->first + pick.index],
                            job)
                : run_job(run, &run->plan->families[pick.chunk->first],
                          pick.chunk->job, job);
    }
    if (picks != few)
        free(picks);
    return good;
}

bool world_run(struct plan_world *world, const struct plan_params *params,
               const struct plan *plan)
{
    struct running run = {.world = world, .params = params, .plan = plan};
    world->fault[0] = '\0';
    if (plan->info.scratch_size + params->scratch_base > world->scratch_size)
        return fail(world, "the world is too small for scratch", 0);
    if (world->next_job > UINT32_MAX / 2) {
        const size_t room = world->size + world->scratch_size;
        memset(world->readers, 0, room * sizeof world->readers[0]);
        memset(world->writers, 0, room * sizeof world->writers[0]);
        world->next_job = 1;
    }
    /* What scratch held before must not matter. */
    memset(world->bytes + world->size, 0xa5,
           (size_t)(plan->info.scratch_size + params->scratch_base));
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        run.launch = &plan->launches[i];
        if (run.launch->binding_count > params->bank_limit)
            return fail(world, "more bindings than banks in launch", i);
        if (!run_launch(&run))
            return false;
    }
    return true;
}
