/* Running a random case on the device, against the reference. */

#include "fuzz_run.h"

#include <stdio.h>
#include <string.h>

static struct clmove_memory memory_of(const struct fuzz_case *fuzz,
                                      struct fuzz_place place)
{
    struct clmove_memory memory;
    memset(&memory, 0, sizeof memory);
    if (place.size == 0)
        return memory;
    memory.buffer = fuzz->areas[place.area].buffer;
    memory.pointer = fuzz->areas[place.area].pointer;
    memory.offset = place.offset;
    memory.size = place.size;
    return memory;
}

static clmove_status create_layout(const struct fuzz_case *fuzz,
                                   struct clmove_engine *engine,
                                   struct clmove_ssm_layout **layout)
{
    struct clmove_ssm_state states[FUZZ_STATES_MAX];
    for (uint32_t i = 0; i < fuzz->state_count; i++) {
        states[i] = fuzz->states[i].described;
        states[i].memory = memory_of(fuzz, fuzz->states[i].place);
    }
    struct clmove_ssm_layout_params params;
    memset(&params, 0, sizeof params);
    params.states = states;
    params.state_count = fuzz->state_count;
    params.groups = fuzz->groups;
    params.group_count = fuzz->group_count;
    return clmove_ssm_layout_create(engine, &params, layout);
}

static clmove_status create_step(const struct fuzz_case *fuzz,
                                 struct clmove_ssm_layout *layout,
                                 struct clmove_ssm_step **step)
{
    struct clmove_ssm_table tables[FUZZ_GROUPS_MAX];
    for (uint32_t i = 0; i < fuzz->group_count; i++) {
        tables[i].entries = memory_of(fuzz, fuzz->tables[i]);
        tables[i].columns = fuzz->columns[i];
        tables[i].row_stride = fuzz->row_stride[i];
    }
    const struct fuzz_place *arrays = fuzz->arrays;
    struct clmove_ssm_step_params params;
    memset(&params, 0, sizeof params);
    params.tokens_per_block = fuzz->tokens_per_block;
    params.max_rows = fuzz->max_rows;
    params.slot_count = fuzz->slot_count;
    params.tables = tables;
    params.computed = memory_of(fuzz, arrays[FUZZ_COMPUTED]);
    params.scheduled = memory_of(fuzz, arrays[FUZZ_SCHEDULED]);
    params.draft = memory_of(fuzz, arrays[FUZZ_DRAFT]);
    params.accepted_in = memory_of(fuzz, arrays[FUZZ_ACCEPTED_IN]);
    params.accepted_out = memory_of(fuzz, arrays[FUZZ_ACCEPTED_OUT]);
    params.column_in = memory_of(fuzz, arrays[FUZZ_COLUMN_IN]);
    params.column_out = memory_of(fuzz, arrays[FUZZ_COLUMN_OUT]);
    params.faults = memory_of(fuzz, arrays[FUZZ_FAULTS]);
    return clmove_ssm_step_create(layout, &params, step);
}

/* The library's part; *what is the call that failed. */
static clmove_status call_library(const struct fuzz_case *fuzz,
                                  struct fuzz_engines *engines,
                                  const char **what)
{
    const struct session *session = engines->session;
    struct clmove_engine *engine = NULL;
    struct clmove_ssm_layout *layout = NULL;
    struct clmove_ssm_step *step = NULL;
    *what = "clmove_engine_create";
    clmove_status status = fuzz_engines_get(engines, fuzz->engine, &engine);
    if (status == CLMOVE_SUCCESS) {
        *what = "clmove_ssm_layout_create";
        status = create_layout(fuzz, engine, &layout);
    }
    if (status == CLMOVE_SUCCESS) {
        *what = "clmove_ssm_step_create";
        status = create_step(fuzz, layout, &step);
    }
    if (status == CLMOVE_SUCCESS) {
        *what =
            fuzz->post ? "clmove_enqueue_ssm_post" : "clmove_enqueue_ssm_pre";
        status =
            (fuzz->post ? clmove_enqueue_ssm_post : clmove_enqueue_ssm_pre)(
                step, fuzz->rows, session->queue, 0, NULL, NULL);
    }
    cl_int code = clFinish(session->queue);
    if (status == CLMOVE_SUCCESS && code != CL_SUCCESS) {
        *what = "clFinish";
        status = code;
    }
    clmove_ssm_step_destroy(&step);
    clmove_ssm_layout_destroy(&layout);
    return status;
}

static void run_reference(const struct fuzz_case *fuzz,
                          struct fuzz_tally *tally)
{
    struct fuzz_reference reference;
    fuzz_case_reference(fuzz, &reference);
    for (uint32_t i = 0; i < fuzz->rows; i++) {
        struct ref_decision decision = fuzz->post
                                           ? ref_decide_post(&reference.step, i)
                                           : ref_decide_pre(&reference.step, i);
        if (decision.fault.kind != REF_FAULT_NONE)
            tally->faults++;
        else if (!decision.copy)
            tally->untouched++;
        else
            tally->copied++;
        tally->in_place +=
            decision.copy && decision.source == decision.destination;
    }
    if (fuzz->post)
        ref_post(&reference.step);
    else
        ref_pre(&reference.step);
}

enum cli_exit fuzz_refused(const char *what, clmove_status status,
                           char *failure, size_t failure_size)
{
    snprintf(failure, failure_size, "%s returned %s\n", what,
             clmove_status_name(status));
    if (status >= CL_SUCCESS || status <= -2000)
        return CLI_CHECK_FAILED;
    cli_error("%s returned %s", what, clmove_status_name(status));
    return CLI_OPENCL_FAILED;
}

enum cli_exit fuzz_run(struct fuzz_case *fuzz, struct fuzz_engines *engines,
                       struct fuzz_tally *tally, char *failure,
                       size_t failure_size)
{
    const struct session *session = engines->session;
    for (uint32_t i = 0; i < fuzz->area_count; i++) {
        if (!fuzz_area_upload(&fuzz->areas[i], session))
            return CLI_OPENCL_FAILED;
    }
    const char *what;
    clmove_status status = call_library(fuzz, engines, &what);
    if (status != CLMOVE_SUCCESS)
        return fuzz_refused(what, status, failure, failure_size);
    run_reference(fuzz, tally);
    for (uint32_t i = 0; i < fuzz->area_count; i++) {
        if (!fuzz_area_download(&fuzz->areas[i], session))
            return CLI_OPENCL_FAILED;
    }
    return fuzz_area_compare(fuzz->areas, fuzz->area_count, fuzz_case_locate,
                             fuzz, failure, failure_size)
               ? CLI_GO_ON
               : CLI_CHECK_FAILED;
}
