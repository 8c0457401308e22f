/* Running a random case on the device, against the reference. */

#include "fuzz_run.h"

#include "hex.h"

#include <stdio.h>
#include <string.h>

/* Forced launch shapes; 0 is the default. */
static const struct {
    uint32_t group_size, group_count;
} shapes[FUZZ_ENGINES] = {{0, 0}, {1, 3}, {7, 2}, {64, 1}, {100, 6}, {256, 4}};

static clmove_status get_engine(struct fuzz_engines *engines, uint32_t index,
                                const struct session *session)
{
    if (engines->engine[index])
        return CLMOVE_SUCCESS;
    struct clmove_engine_params params;
    memset(&params, 0, sizeof params);
    params.context = session->context;
    params.device = session->device.device;
    params.log = session_log();
    params.group_size = shapes[index].group_size;
    params.group_count = shapes[index].group_count;
    return clmove_engine_create(&params, &engines->engine[index]);
}

void fuzz_engines_destroy(struct fuzz_engines *engines)
{
    for (int i = 0; i < FUZZ_ENGINES; i++)
        clmove_engine_destroy(&engines->engine[i]);
}

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
                                  const struct session *session,
                                  const char **what)
{
    struct clmove_ssm_layout *layout = NULL;
    struct clmove_ssm_step *step = NULL;
    *what = "clmove_engine_create";
    clmove_status status = get_engine(engines, fuzz->engine, session);
    if (status == CLMOVE_SUCCESS) {
        *what = "clmove_ssm_layout_create";
        status = create_layout(fuzz, engines->engine[fuzz->engine], &layout);
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

static bool compare(struct fuzz_case *fuzz, char *failure, size_t size)
{
    for (uint32_t i = 0; i < fuzz->area_count; i++) {
        const struct fuzz_area *area = &fuzz->areas[i];
        size_t offset =
            hex_first_difference(area->expected, area->found, area->size);
        if (offset == area->size)
            continue;
        char where[256], rows[1200];
        fuzz_case_locate(fuzz, i, offset, where, sizeof where);
        hex_rows(rows, sizeof rows, area->expected, area->found, area->size,
                 offset, 0);
        snprintf(failure, size,
                 "first wrong byte: offset %zu of allocation %u (%s, %zu "
                 "bytes): %s\n%s",
                 offset, i, area->shared ? "shared memory" : "a buffer",
                 area->size, where, rows);
        return false;
    }
    return true;
}

enum cli_exit fuzz_run(struct fuzz_case *fuzz, struct fuzz_engines *engines,
                       const struct session *session, struct fuzz_tally *tally,
                       char *failure, size_t failure_size)
{
    for (uint32_t i = 0; i < fuzz->area_count; i++) {
        if (!fuzz_area_upload(&fuzz->areas[i], session))
            return CLI_OPENCL_FAILED;
    }
    const char *what;
    clmove_status status = call_library(fuzz, engines, session, &what);
    if (status != CLMOVE_SUCCESS) {
        bool failed = status < CL_SUCCESS && status > -2000;
        snprintf(failure, failure_size, "%s returned %s\n", what,
                 clmove_status_name(status));
        if (!failed)
            return CLI_CHECK_FAILED;
        cli_error("%s", failure);
        return CLI_OPENCL_FAILED;
    }
    run_reference(fuzz, tally);
    for (uint32_t i = 0; i < fuzz->area_count; i++) {
        if (!fuzz_area_download(&fuzz->areas[i], session))
            return CLI_OPENCL_FAILED;
    }
    return compare(fuzz, failure, failure_size) ? CLI_GO_ON : CLI_CHECK_FAILED;
}
