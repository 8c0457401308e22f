/* Engines of different launch shapes for random cases. */

#include "fuzz_engines.h"

#include "progress.h"
#include "random.h"

#include <string.h>

/* Forced launch shapes; 0 is the default. Small tiles make many spans. */
static const struct {
    uint32_t group_size, group_count, tile_size, budget;
    const char *name;
} shapes[FUZZ_ENGINES] = {
    {0, 0, 0, 4u << 20, "default launch shape"},
    {1, 3, 64, 1u << 18, "group size 1, 3 groups, tiles of 64 bytes"},
    {64, 5, 1024, 1u << 20, "group size 64, 5 groups, tiles of 1024 bytes"},
    {100, 2, 16, 1u << 16, "group size 100, 2 groups, tiles of 16 bytes"},
    {256, 40, 32768, 2u << 20, "group size 256, 40 groups, tiles of 32768"}};

uint64_t fuzz_engines_run(uint64_t seed, uint64_t number)
{
    return number / FUZZ_RUN + (random_mix(seed) & 0xffff);
}

clmove_status fuzz_engines_get(struct fuzz_engines *engines, uint32_t shape,
                               struct clmove_engine **engine)
{
    const struct session *session = engines->session;
    clmove_status status = CLMOVE_SUCCESS;
    if (shape == 0) {
        *engine = session->engine;
        return CLMOVE_SUCCESS;
    }
    if (!engines->engine[shape]) {
        double start = progress_seconds();
        struct clmove_engine_params params;
        memset(&params, 0, sizeof params);
        params.context = session->context;
        params.device = session->device.device;
        params.log = session_log();
        params.parts = engines->parts;
        /* One warning about an unusable folder is enough. */
        params.cache_directory = "off";
        params.group_size = shapes[shape].group_size;
        params.group_count = shapes[shape].group_count;
        params.tile_size = shapes[shape].tile_size;
        status = clmove_engine_create(&params, &engines->engine[shape]);
        engines->build_seconds += progress_seconds() - start;
    }
    *engine = engines->engine[shape];
    return status;
}

void fuzz_engines_destroy(struct fuzz_engines *engines)
{
    for (int i = 0; i < FUZZ_ENGINES; i++)
        clmove_engine_destroy(&engines->engine[i]);
}

uint32_t fuzz_engines_budget(uint32_t shape)
{
    return shapes[shape].budget;
}

const char *fuzz_engines_name(uint32_t shape)
{
    return shapes[shape].name;
}
