/* Ready-made scenes that several test programs share. */

#ifndef SCENES_H
#define SCENES_H

#include "scene.h"

/* Every layout and element size, padded pages, two groups, several buffers;
 * rows of every outcome and every fault. For the operation named. */
void scene_fill_mixed(struct scene *scene, enum scene_operation operation);

/* Layout, tables and numbers drawn from a seed; `limit` bounds dimensions and
 * rows (8 is tiny, 24 is usual). Keeps the caller's promises: rows own their
 * blocks. */
void scene_fill_random(struct scene *scene, uint64_t seed, uint32_t limit);

/* Every row gets a slot of its own, in an order drawn from the seed. */
void scene_shuffle_slots(struct scene *scene, uint64_t seed);

/* The scene's numbers as a V2 engine has them: slots, query starts; for
 * post-process N alone. The seed also decides what the tables go by. */
void scene_use_v2(struct scene *scene, enum scene_operation operation,
                  uint64_t seed);

/* Rows 0 .. count - 1 that all copy column 1 to column 0 with `bias` (0 to 2),
 * blocks of 16 tokens. */
void scene_add_crossing_rows(struct scene *scene, uint32_t count, int32_t bias);

/* The same with source and destination column 0. Bias 1 or 2. */
void scene_add_in_place_rows(struct scene *scene, uint32_t count, int32_t bias);

#endif
