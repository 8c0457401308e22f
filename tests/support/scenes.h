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

/* Rows 0 .. count - 1 that all copy column 1 to column 0 with `bias` (0 to 2),
 * blocks of 16 tokens. */
void scene_add_crossing_rows(struct scene *scene, uint32_t count, int32_t bias);

/* The same with source and destination column 0. Bias 1 or 2. */
void scene_add_in_place_rows(struct scene *scene, uint32_t count, int32_t bias);

#endif
