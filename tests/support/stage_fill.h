/* The numbers of a scene, into the arrays of its stage. */

#ifndef STAGE_FILL_H
#define STAGE_FILL_H

#include "stage.h"

/* Writes the bytes from before the first call; the places are known. */
void stage_fill_arrays(struct stage *stage);

#endif
