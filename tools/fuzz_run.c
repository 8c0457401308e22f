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
                                   const struct fuzz_state *from,
                                   struct clmove_engine *engine,
                                   struct clmove_ssm_layout **layout)
{
    struct clmove_ssm_state states[FUZZ_STATES_MAX];
    for (uint32_t i = 0; i < fuzz->state_count; i++) {
        states[i] = from[i].described;
        states[i].memory = memory_of(fuzz, from[i].place);
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
    params.flags = fuzz->flags;
    params.tokens_per_block = fuzz->tokens_per_block;
    params.max_rows = fuzz->max_rows;
    params.slot_count = fuzz->slot_count;
    params.tables = tables;
    params.slot_of = memory_of(fuzz, arrays[FUZZ_SLOT_OF]);
    params.query_starts = memory_of(fuzz, arrays[FUZZ_QUERY_STARTS]);
    params.now_computed = memory_of(fuzz, arrays[FUZZ_NOW]);
    params.copy_source = memory_of(fuzz, arrays[FUZZ_COPY_SOURCE]);
    params.copy_destination = memory_of(fuzz, arrays[FUZZ_COPY_DESTINATION]);
    params.copy_bias = memory_of(fuzz, arrays[FUZZ_COPY_BIAS]);
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

/* Objects of one case. */
struct objects {
    struct clmove_engine *engine;
    struct clmove_ssm_layout *layout, *other;
    struct clmove_ssm_step *step;
    struct clmove_batch *batch;
    const char *what; /* the call that comes next */
};

static clmove_status create_packed(const struct fuzz_case *fuzz,
                                   struct objects *objects)
{
    uint64_t bytes = 0;
    uint32_t blocks = fuzz->others[0].described.block_count;
    struct clmove_memory memory = memory_of(fuzz, fuzz->packed_place);
    objects->what = "clmove_ssm_layout_packed_size";
    clmove_status status =
        clmove_ssm_layout_packed_size(objects->layout, blocks, &bytes);
    if (status != CLMOVE_SUCCESS)
        return status;
    if (bytes != memory.size) {
        cli_error("clmove_ssm_layout_packed_size says %llu bytes, not %zu",
                  (unsigned long long)bytes, memory.size);
        return CLMOVE_OUT_OF_RANGE;
    }
    objects->what = "clmove_ssm_layout_pack";
    return clmove_ssm_layout_pack(objects->layout, blocks, &memory,
                                  &objects->other);
}

static clmove_status create_objects(const struct fuzz_case *fuzz,
                                    struct fuzz_engines *engines,
                                    struct objects *objects)
{
    memset(objects, 0, sizeof *objects);
    objects->what = "clmove_engine_create";
    clmove_status status =
        fuzz_engines_get(engines, fuzz->engine, &objects->engine);
    if (status != CLMOVE_SUCCESS)
        return status;
    objects->what = "clmove_ssm_layout_create";
    status =
        create_layout(fuzz, fuzz->states, objects->engine, &objects->layout);
    if (status == CLMOVE_SUCCESS && fuzz->packed)
        status = create_packed(fuzz, objects);
    else if (status == CLMOVE_SUCCESS && fuzz->two_layouts)
        status =
            create_layout(fuzz, fuzz->others, objects->engine, &objects->other);
    if (status == CLMOVE_SUCCESS && fuzz_case_has_step(fuzz)) {
        objects->what = "clmove_ssm_step_create";
        status = create_step(fuzz, objects->layout, &objects->step);
    }
    if (status == CLMOVE_SUCCESS && fuzz->call == FUZZ_PERMUTE) {
        const struct fuzz_list *list = &fuzz->list;
        objects->what = "clmove_ssm_batch_create";
        status =
            clmove_ssm_batch_create(objects->layout, list->group, list->from,
                                    list->to, list->count, 0, &objects->batch);
    }
    return status;
}

static clmove_status enqueue_step(const struct fuzz_case *fuzz,
                                  struct objects *objects,
                                  cl_command_queue queue)
{
    struct clmove_memory out;
    switch (fuzz->call) {
    case FUZZ_PRE:
        objects->what = "clmove_enqueue_ssm_pre";
        return clmove_enqueue_ssm_pre(objects->step, fuzz->rows, queue, 0, NULL,
                                      NULL);
    case FUZZ_POST:
        objects->what = "clmove_enqueue_ssm_post";
        return clmove_enqueue_ssm_post(objects->step, fuzz->rows, queue, 0,
                                       NULL, NULL);
    case FUZZ_PRE_COPY:
        objects->what = "clmove_enqueue_ssm_pre_copy";
        return clmove_enqueue_ssm_pre_copy(objects->step, fuzz->rows, queue, 0,
                                           NULL, NULL);
    default:
        objects->what = "clmove_enqueue_ssm_indices";
        out = memory_of(fuzz, fuzz->arrays[FUZZ_INDICES_OUT]);
        return clmove_enqueue_ssm_indices(objects->step, fuzz->rows,
                                          fuzz->slots_per_row, &out, queue, 0,
                                          NULL, NULL);
    }
}

/* Lists may be reused as soon as the call returns, so they are. */
static clmove_status enqueue_list(const struct fuzz_case *fuzz,
                                  struct objects *objects,
                                  cl_command_queue queue)
{
    struct fuzz_list list = fuzz->list;
    struct clmove_ssm_layout *from = objects->layout, *to = objects->layout;
    clmove_status status;
    if (fuzz->two_layouts && fuzz->others_first)
        from = objects->other;
    else if (fuzz->two_layouts)
        to = objects->other;
    if (fuzz->call == FUZZ_COPY) {
        objects->what = "clmove_enqueue_ssm_copy";
        status = clmove_enqueue_ssm_copy(from, to, list.copies, list.count,
                                         queue, 0, NULL, NULL);
    } else if (fuzz->call == FUZZ_ZERO) {
        objects->what = "clmove_enqueue_ssm_zero";
        status = clmove_enqueue_ssm_zero(from, list.group, list.to, list.count,
                                         queue, 0, NULL, NULL);
    } else {
        objects->what = "clmove_enqueue_batch";
        status = clmove_enqueue_batch(objects->batch, queue, 0, NULL, NULL);
    }
    memset(&list, 0x7f, sizeof list);
    return status;
}

/* The library's part; *what is the call that failed. */
static clmove_status call_library(const struct fuzz_case *fuzz,
                                  struct fuzz_engines *engines,
                                  const char **what)
{
    cl_command_queue queue = engines->session->queue;
    struct objects objects;
    clmove_status status = create_objects(fuzz, engines, &objects);
    if (status == CLMOVE_SUCCESS)
        status = fuzz_case_has_step(fuzz) ? enqueue_step(fuzz, &objects, queue)
                                          : enqueue_list(fuzz, &objects, queue);
    cl_int code = clFinish(queue);
    if (status == CLMOVE_SUCCESS && code != CL_SUCCESS) {
        objects.what = "clFinish";
        status = code;
    }
    *what = objects.what;
    clmove_batch_destroy(&objects.batch);
    clmove_ssm_step_destroy(&objects.step);
    clmove_ssm_layout_destroy(&objects.other);
    clmove_ssm_layout_destroy(&objects.layout);
    return status;
}

static void count_rows(const struct fuzz_case *fuzz,
                       const struct ref_step *step, struct fuzz_tally *tally)
{
    for (uint32_t i = 0; i < fuzz->rows; i++) {
        struct ref_decision decision =
            fuzz->call == FUZZ_POST  ? ref_decide_post(step, i)
            : fuzz->call == FUZZ_PRE ? ref_decide_pre(step, i)
                                     : ref_decide_pre_copy(step, i);
        if (decision.fault.kind != REF_FAULT_NONE)
            tally->faults++;
        else if (!decision.copy)
            tally->untouched++;
        else
            tally->copied++;
        tally->in_place +=
            decision.copy && decision.source == decision.destination;
    }
}

static void apply_list(const struct fuzz_case *fuzz,
                       const struct fuzz_reference *reference)
{
    const struct fuzz_list *list = &fuzz->list;
    const struct ref_state *states = reference->states;
    const struct ref_state *from = states, *to = states;
    if (fuzz->two_layouts && fuzz->others_first)
        from = reference->others;
    else if (fuzz->two_layouts)
        to = reference->others;
    if (fuzz->call == FUZZ_ZERO)
        ref_zero_blocks(states, fuzz->state_count, list->group, list->to,
                        list->count);
    if (fuzz->call == FUZZ_PERMUTE)
        ref_permute_blocks(states, fuzz->state_count, list->group, list->from,
                           list->to, list->count);
    for (uint32_t i = 0; fuzz->call == FUZZ_COPY && i < list->count; i++) {
        const struct clmove_ssm_copy *entry = &list->copies[i];
        struct ref_block_copy copy = {entry->group, entry->bias,
                                      entry->conv_from, entry->temporal_from,
                                      entry->to};
        ref_copy_blocks(from, to, fuzz->state_count, &copy, 1);
    }
}

static void run_reference(const struct fuzz_case *fuzz,
                          struct fuzz_tally *tally)
{
    struct fuzz_reference reference;
    fuzz_case_reference(fuzz, &reference);
    tally->cases[fuzz->call]++;
    if (!fuzz_case_has_step(fuzz)) {
        tally->entries += fuzz->list.count;
        apply_list(fuzz, &reference);
        return;
    }
    if (fuzz->call == FUZZ_INDICES) {
        ref_indices(&reference.step, fuzz->slots_per_row, reference.indices);
        return;
    }
    count_rows(fuzz, &reference.step, tally);
    if (fuzz->call == FUZZ_POST)
        ref_post(&reference.step);
    else if (fuzz->call == FUZZ_PRE)
        ref_pre(&reference.step);
    else
        ref_pre_copy(&reference.step);
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
