/* The launches of copies into a layout, or of clears in it, kept from call to
 * call: making a kernel and buffers takes longer than all else. */

#include "ssm_listing.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* Two layouts share no byte; one layout's states are known to be apart. */
static clmove_status check_apart(const struct clmove_ssm_layout *from,
                                 const struct clmove_ssm_layout *to)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &to->engine->log;
    for (size_t i = 0; from != to && i < from->state_count; i++) {
        for (size_t j = 0; j < to->state_count; j++)
            CHECK(!layout_states_overlap(from, i, to, j), CLMOVE_OVERLAP,
                  "states[%zu] of from and states[%zu] of to share bytes", i,
                  j);
    }
out:
    return status;
}

static clmove_status make_launch(const struct tile_source *source, size_t first,
                                 const struct banks *banks, cl_program program,
                                 const char *name, struct listed_launch *launch)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_engine *engine = source->to->engine;
    const struct clmove_log *log = &engine->log;
    CHECK_STATUS(tiles_make_launch(source, first, banks, &launch->tiles));
    CHECK_STATUS(engine_make_kernel(
        engine, program, name, engine->variant.group_size, &launch->kernel));
    CHECK_CL(banks_set_arguments(&launch->tiles.banks, launch->kernel.kernel));
    CHECK_CL(clSetKernelArg(launch->kernel.kernel, banks->limit, sizeof(cl_mem),
                            &launch->tiles.cut));
    launch->first_argument = banks->limit + 1;
out:
    return status;
}

static clmove_status make_launches(const struct tile_source *source,
                                   const char *name,
                                   struct ssm_listing *listing)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &source->to->engine->log;
    const size_t count = source->to->state_count;
    struct banks banks = {.count = 0};
    cl_program program = NULL;
    CHECK_STATUS(engine_program(source->to->engine, CLMOVE_PART_STATES,
                                banks_count_distinct(source->src, count * 2),
                                &program, &banks.limit));
    listing->launches = calloc(count, sizeof listing->launches[0]);
    CHECK_MEMORY(listing->launches);
    for (size_t first = 0; first < count;) {
        struct listed_launch *launch =
            &listing->launches[listing->launch_count++];
        CHECK_STATUS(make_launch(source, first, &banks, program, name, launch));
        first = launch->tiles.end;
    }
out:
    return status;
}

static clmove_status make(const struct clmove_ssm_layout *from,
                          const struct clmove_ssm_layout *to, const char *name,
                          struct ssm_listing *listing)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &to->engine->log;
    const size_t count = to->state_count;
    struct memory_view *views = calloc(count * 2, sizeof views[0]);
    struct memory_binding *bindings = calloc(count * 2, sizeof bindings[0]);
    CHECK_MEMORY(views);
    CHECK_MEMORY(bindings);
    CHECK_STATUS(check_apart(from, to));
    memcpy(views, from->views, count * sizeof views[0]);
    memcpy(views + count, to->views, count * sizeof views[0]);
    bind_views(views, count * 2, bindings);
    const struct tile_source source = {from, to, bindings, bindings + count,
                                       false};
    status = make_launches(&source, name, listing);
out:
    free(views);
    free(bindings);
    return status;
}

clmove_status listing_find(const struct clmove_ssm_layout *from,
                           struct clmove_ssm_layout *to, enum listing_kind kind,
                           struct ssm_listing **listing)
{
    clmove_status status = CLMOVE_SUCCESS;
    const struct clmove_log *log = &to->engine->log;
    struct ssm_listing *made = NULL;
    if (to->listings[kind] != NULL && to->listings[kind]->from == from->id)
        goto out;
    made = calloc(1, sizeof *made);
    CHECK_MEMORY(made);
    made->from = from->id;
    CHECK_STATUS(make(
        from, to, kind == LISTING_ZERO ? "clmove_ssm_zero" : "clmove_ssm_copy",
        made));
    listing_release(to->listings[kind]);
    to->listings[kind] = made;
    made = NULL;
out:
    listing_release(made);
    *listing = to->listings[kind];
    return status;
}

void listing_release(struct ssm_listing *listing)
{
    if (listing == NULL)
        return;
    for (size_t i = 0; i < listing->launch_count; i++) {
        tiles_release_launch(&listing->launches[i].tiles);
        engine_release_kernel(&listing->launches[i].kernel);
    }
    free(listing->launches);
    free(listing);
}
