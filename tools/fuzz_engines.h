/* Engines of different launch shapes for random cases. */

#ifndef TOOLS_FUZZ_ENGINES_H
#define TOOLS_FUZZ_ENGINES_H

#include "session.h"

enum {
    FUZZ_ENGINES = 5, /* shape 0 is the session's own engine */
    FUZZ_RUN = 64     /* cases in a row with one engine: a compiler may need
                         seconds for each */
};

/* The run that a case is in. Seeds begin with different ones: a slow device may
 * not get far. */
uint64_t fuzz_engines_run(uint64_t seed, uint64_t number);

struct fuzz_engines {
    const struct session *session;
    uint32_t parts;
    struct clmove_engine *engine[FUZZ_ENGINES];
    double build_seconds; /* spent in making engines */
};

/* The engine of a shape, made when first needed. */
clmove_status fuzz_engines_get(struct fuzz_engines *engines, uint32_t shape,
                               struct clmove_engine **engine);
void fuzz_engines_destroy(struct fuzz_engines *engines);

/* Bytes that one case should move at most: a shape of few items with tiny tiles
 * takes long for many. */
uint32_t fuzz_engines_budget(uint32_t shape);

/* "group size 64, 5 groups, tile 1024": static text. */
const char *fuzz_engines_name(uint32_t shape);

#endif
