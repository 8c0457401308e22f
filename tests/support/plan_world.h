/* Byte arrays on which plans of batches are carried out by the host. */

#ifndef PLAN_WORLD_H
#define PLAN_WORLD_H

#include "plan.h"

enum { WORLD_ROOTS = 4, WORLD_SPACES = 80 };

/* Roots lie one after another in `bytes`, guards between them, then scratch.
 * Coordinates in a root begin with its bias, as addresses of pointers do. */
struct plan_world {
    unsigned char *bytes;
    size_t size; /* without scratch */
    size_t scratch_size;
    uint32_t root_count;
    size_t root_starts[WORLD_ROOTS], root_sizes[WORLD_ROOTS];
    uint64_t biases[WORLD_ROOTS];
    size_t space_count;
    struct plan_space spaces[WORLD_SPACES];
    size_t space_starts[WORLD_SPACES];
    uint32_t binding_count;
    size_t binding_starts[WORLD_SPACES];
    /* The job that read, or wrote, a byte in the current launch. */
    uint32_t *readers, *writers;
    uint32_t next_job;
    uint32_t seed;   /* of the order of jobs */
    char fault[200]; /* empty: none */
};

/* Guards on both sides of every root. */
enum { WORLD_GUARD = 16 };

/* `room` bytes for all roots and scratch. */
void world_create(struct plan_world *world, size_t room);
void world_destroy(struct plan_world *world);

/* Empties the world and gives it roots of these sizes. */
void world_set_roots(struct plan_world *world, uint32_t count,
                     const size_t *sizes, const uint64_t *biases);

/* A memory: a range of a root. It is bound whole, or by its root. */
void world_add_space(struct plan_world *world, uint32_t root, size_t origin,
                     size_t size, bool own_binding);

/* All bytes from a small generator. */
void world_fill(struct plan_world *world, uint32_t seed);

/* Parameters of a plan in this world: limits of a GPU, nothing forced. */
struct plan_params world_params(const struct plan_world *world,
                                const struct clmove_region *regions,
                                size_t region_count);

/* What a batch must do, by its definition, from `before` to `after`: all
 * sources are read before any destination is written. false: a byte has two
 * writers. Arrays of world->size bytes; `marks` too. */
bool world_reference(const struct plan_world *world,
                     const struct clmove_region *regions, size_t region_count,
                     const unsigned char *before, unsigned char *after,
                     unsigned char *marks);

/* Carries out a plan, the jobs of a launch in random order. false: a fault, in
 * words in world->fault. A byte that one job of a launch writes and another one
 * touches is a fault, as is leaving what is bound. */
bool world_run(struct plan_world *world, const struct plan_params *params,
               const struct plan *plan);

/* A small generator: the same numbers in every run. */
uint32_t world_random(uint32_t *seed, uint32_t bound);

#endif
