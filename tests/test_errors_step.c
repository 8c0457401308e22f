/* Bad steps and calls are refused, and nothing is written. */

#include "moving.h"
#include "references.h"
#include "refused.h"
#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"

/* A good scene with a layout, and no step yet. */
static struct stage *prepare(struct test_device *device, struct scene *scene)
{
    struct stage *stage = test_malloc(sizeof(*stage));

    scene_init(scene, "test_step", "bad steps");
    scene_fill_mixed(scene, SCENE_POST);
    stage_prepare(stage, device, scene);
    assert_int_equal(clmove_ssm_layout_create(
                         device->engine, &stage->layout_params, &stage->layout),
                     CLMOVE_SUCCESS);
    return stage;
}

#define REFUSE_TABLE(field, value, status, first, second)                      \
    do {                                                                       \
        struct clmove_ssm_table kept = stage->tables[1];                       \
        stage->tables[1].field = (value);                                      \
        refused_step(stage, status, first, second);                            \
        stage->tables[1] = kept;                                               \
    } while (0)

static void test_numbers(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);

    REFUSE(tokens_per_block, 0, CLMOVE_INVALID_ARGUMENT, "tokens_per_block",
           "0");
    REFUSE(max_rows, 0, CLMOVE_INVALID_ARGUMENT, "max_rows", "0");
    REFUSE(max_rows, UINT32_MAX, CLMOVE_INVALID_ARGUMENT, "max_rows",
           "4294967295");
    REFUSE(slot_count, 12, CLMOVE_INVALID_ARGUMENT, "slot_count is 12", "13");
    REFUSE(tables, NULL, CLMOVE_INVALID_ARGUMENT, "tables", "2 groups");
    REFUSE_TABLE(columns, 0, CLMOVE_INVALID_ARGUMENT, "tables[1].columns", "0");
    REFUSE_TABLE(row_stride, 8, CLMOVE_INVALID_ARGUMENT,
                 "tables[1].row_stride is 8", "9");
    refused_finish(stage, &scene);
}

static void test_small_arrays(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    const size_t by_row = 13 * 4, by_slot = 16 * 4;

    REFUSE(computed.size, by_slot - 1, CLMOVE_OUT_OF_RANGE, "computed", "63");
    REFUSE(scheduled.size, by_row - 1, CLMOVE_OUT_OF_RANGE, "scheduled", "51");
    REFUSE(draft.size, by_row - 4, CLMOVE_OUT_OF_RANGE, "draft", "48");
    REFUSE(accepted_in.size, by_slot - 1, CLMOVE_OUT_OF_RANGE, "accepted_in",
           "63");
    REFUSE(accepted_out.size, by_slot - 1, CLMOVE_OUT_OF_RANGE, "accepted_out",
           "63");
    REFUSE(column_in.size, by_slot - 1, CLMOVE_OUT_OF_RANGE, "column_in", "63");
    REFUSE(column_out.size, 4, CLMOVE_OUT_OF_RANGE, "column_out", "4");
    REFUSE(faults.size, 13 * 16 - 1, CLMOVE_OUT_OF_RANGE, "faults", "207");
    REFUSE(computed.offset, stage->images[3].size + 4, CLMOVE_OUT_OF_RANGE,
           "computed", "offset");
    REFUSE_TABLE(entries.size, stage->tables[1].entries.size - 1,
                 CLMOVE_OUT_OF_RANGE, "tables[1].entries", "13 rows");
    REFUSE_TABLE(columns, 100000, CLMOVE_INVALID_ARGUMENT, "tables[1]",
                 "100000");
    REFUSE_TABLE(row_stride, UINT32_MAX, CLMOVE_OUT_OF_RANGE,
                 "tables[1].entries", "4294967295");
    refused_finish(stage, &scene);
}

static void test_misaligned(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    struct moving odd; /* its address, not the offset */

    for (size_t offset = 33; offset < 36; offset++) {
        char text[16];
        snprintf(text, sizeof(text), "%zu", offset);
        REFUSE(computed.offset, offset, CLMOVE_INVALID_ARGUMENT, "computed",
               text);
        REFUSE(accepted_out.offset, offset, CLMOVE_INVALID_ARGUMENT,
               "accepted_out", text);
        REFUSE(faults.offset, offset, CLMOVE_INVALID_ARGUMENT, "faults", text);
        REFUSE_TABLE(entries.offset, offset, CLMOVE_INVALID_ARGUMENT,
                     "tables[1].entries", text);
    }
    moving_open(&odd, stage->device, MOVING_HOST_POINTER, 4096);
    REFUSE(computed, moving_memory(&odd, 0), CLMOVE_INVALID_ARGUMENT,
           "computed", "multiple of 4");
    moving_close(&odd);
    if (device_has_svm(stage->device)) {
        const struct clmove_memory pointer = {.pointer = (char *)stage + 1,
                                              .size = 4096};
        REFUSE(computed, pointer, CLMOVE_INVALID_ARGUMENT, "computed",
               "multiple of 4");
    }
    refused_finish(stage, &scene);
}

/* Results on top of other things: only exactly in place is allowed. */
static void test_overlaps(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    struct clmove_ssm_step_params *params = &stage->step_params;
    struct clmove_memory shifted = params->accepted_in;

    shifted.offset += 4;
    REFUSE(accepted_out, shifted, CLMOVE_OVERLAP, "accepted_out",
           "accepted_in");
    shifted = params->column_in;
    shifted.offset -= 4;
    REFUSE(column_out, shifted, CLMOVE_OVERLAP, "column_out", "column_in");
    REFUSE(accepted_out, params->computed, CLMOVE_OVERLAP, "accepted_out",
           "computed");
    REFUSE(accepted_out, params->column_in, CLMOVE_OVERLAP, "accepted_out",
           "column_in");
    REFUSE(column_out, params->accepted_out, CLMOVE_OVERLAP, "column_out",
           "accepted_out");
    REFUSE(accepted_out, stage->tables[0].entries, CLMOVE_OVERLAP,
           "accepted_out", "tables[0]");
    shifted = stage->tables[1].entries;
    REFUSE(faults, shifted, CLMOVE_OVERLAP, "faults", "tables[1]");
    shifted = stage->states[2].memory;
    shifted.size = 64;
    REFUSE(accepted_out, shifted, CLMOVE_OVERLAP, "accepted_out", "states[2]");
    REFUSE(computed, shifted, CLMOVE_OVERLAP, "computed", "states[2]");
    shifted.size = 0;
    REFUSE_TABLE(entries, shifted, CLMOVE_OVERLAP, "tables[1]", "states[2]");
    refused_finish(stage, &scene);
}

/* A table and arrays in one buffer, which name no size: each takes what its
 * entries need, not what lies behind them. The step keeps the buffer. */
static void test_one_buffer(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    struct clmove_ssm_step_params *params = &stage->step_params;
    cl_int error = CL_SUCCESS;
    const cl_mem buffer = clCreateBuffer(
        stage->device->context, CL_MEM_READ_WRITE, 3 << 16, NULL, &error);
    const cl_uint before = buffer_references(buffer);

    assert_int_equal(error, CL_SUCCESS);
    stage->tables[1].entries = (struct clmove_memory){.buffer = buffer};
    params->computed =
        (struct clmove_memory){.buffer = buffer, .offset = 1 << 16};
    params->accepted_out =
        (struct clmove_memory){.buffer = buffer, .offset = 2 << 16};
    assert_int_equal(
        clmove_ssm_step_create(stage->layout, params, &stage->step),
        CLMOVE_SUCCESS);
    assert_true(buffer_references(buffer) >= before + 3);
    clmove_ssm_step_destroy(&stage->step);
    assert_int_equal(buffer_references(buffer), before);
    clReleaseMemObject(buffer);
    refused_finish(stage, &scene);
}

static void check_flags(struct stage *stage, struct clmove_memory *memory,
                        cl_mem_flags flags, const char *name,
                        const char *flag_name)
{
    const struct clmove_memory kept = *memory;
    cl_int error = CL_SUCCESS;

    memory->buffer =
        clCreateBuffer(stage->device->context, flags,
                       memory->offset + memory->size, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    refused_step(stage, CLMOVE_ACCESS_DENIED, name, flag_name);
    clReleaseMemObject(memory->buffer);
    *memory = kept;
}

static void test_access(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    struct clmove_ssm_step_params *params = &stage->step_params;

    check_flags(stage, &params->computed, CL_MEM_WRITE_ONLY, "computed",
                "WRITE_ONLY");
    check_flags(stage, &params->accepted_in, CL_MEM_WRITE_ONLY, "accepted_in",
                "WRITE_ONLY");
    check_flags(stage, &params->accepted_out, CL_MEM_READ_ONLY, "accepted_out",
                "READ_ONLY");
    check_flags(stage, &params->column_out, CL_MEM_READ_ONLY, "column_out",
                "READ_ONLY");
    check_flags(stage, &params->faults, CL_MEM_READ_ONLY, "faults",
                "READ_ONLY");
    check_flags(stage, &stage->tables[0].entries, CL_MEM_WRITE_ONLY,
                "tables[0].entries", "WRITE_ONLY");
    refused_finish(stage, &scene);
}

static void test_memory(void **state)
{
    static const struct clmove_memory absent = {0};
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    struct clmove_ssm_step *step = NULL;

    REFUSE_TABLE(entries, absent, CLMOVE_INVALID_ARGUMENT, "tables[1].entries",
                 "absent");
    REFUSE(computed.pointer, stage, CLMOVE_INVALID_ARGUMENT, "computed",
           "both");
    REFUSE(draft.buffer, NULL, CLMOVE_INVALID_ARGUMENT, "draft", "neither");
    /* what has any field set is not absent */
    REFUSE(draft, (struct clmove_memory){.offset = 4}, CLMOVE_INVALID_ARGUMENT,
           "draft", "neither");
    REFUSE(draft, (struct clmove_memory){.size = 4}, CLMOVE_INVALID_ARGUMENT,
           "draft", "neither");
    REFUSE(draft, (struct clmove_memory){.pointer_kind = 2},
           CLMOVE_INVALID_ARGUMENT, "draft", "neither");
    if (device_has_svm(stage->device)) {
        REFUSE(draft, (struct clmove_memory){.pointer = stage},
               CLMOVE_INVALID_ARGUMENT, "draft", "size is 0");
    }
    REFUSE(draft.pointer_kind, 2, CLMOVE_INVALID_ARGUMENT, "draft", "2");
    assert_int_equal(clmove_ssm_step_create(NULL, &stage->step_params, &step),
                     CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(clmove_ssm_step_create(stage->layout, NULL, &step),
                     CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(
        clmove_ssm_step_create(stage->layout, &stage->step_params, NULL),
        CLMOVE_INVALID_ARGUMENT);
    clmove_ssm_step_destroy(NULL);
    clmove_ssm_step_destroy(&step);
    refused_finish(stage, &scene);
}

/* Both calls with one array absent: what they need is named; what they do not
 * need may be missing. */
static void check_absent(struct stage *stage, struct clmove_memory *memory,
                         const char *name, int pre_needs, int post_needs)
{
    static const struct clmove_memory absent = {0};
    const struct clmove_memory kept = *memory;
    cl_command_queue queue = stage->device->queue;
    clmove_status status;

    *memory = absent;
    assert_int_equal(clmove_ssm_step_create(stage->layout, &stage->step_params,
                                            &stage->step),
                     CLMOVE_SUCCESS);
    *memory = kept;
    if (pre_needs) {
        device_clear_messages(stage->device);
        status = clmove_enqueue_ssm_pre(stage->step, 13, queue, 0, NULL, NULL);
        refused_expect(stage, status, CLMOVE_INVALID_ARGUMENT, name, "");
    }
    if (post_needs) {
        device_clear_messages(stage->device);
        status = clmove_enqueue_ssm_post(stage->step, 13, queue, 0, NULL, NULL);
        refused_expect(stage, status, CLMOVE_INVALID_ARGUMENT, name, "");
    }
    clmove_ssm_step_destroy(&stage->step);
}

static void test_absent_arrays(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    struct clmove_ssm_step_params *params = &stage->step_params;

    check_absent(stage, &params->computed, "computed", 1, 1);
    check_absent(stage, &params->scheduled, "scheduled", 1, 1);
    check_absent(stage, &params->draft, "draft", 0, 1);
    check_absent(stage, &params->accepted_in, "accepted_in", 1, 1);
    check_absent(stage, &params->accepted_out, "accepted_out", 1, 1);
    check_absent(stage, &params->column_in, "column_in", 1, 1);
    check_absent(stage, &params->column_out, "column_out", 1, 0);
    refused_finish(stage, &scene);
}

/* What a call does not need may really be missing. */
static void test_absent_is_enough(void **state)
{
    static const struct clmove_memory absent = {0};
    struct test_device *device = *state;

    for (int op = SCENE_PRE; op <= SCENE_POST; op++) {
        struct stage *stage = test_malloc(sizeof(*stage));
        struct scene scene;
        scene_init(&scene, __func__, "%s", op == SCENE_PRE ? "pre" : "post");
        scene_fill_mixed(&scene, (enum scene_operation)op);
        scene.no_faults = 1;
        stage_prepare(stage, device, &scene);
        if (op == SCENE_PRE) {
            stage->step_params.draft = absent;
        } else {
            stage->step_params.column_out = absent;
            stage->reference.column_out = NULL;
        }
        stage_create(stage, device->engine);
        stage_call(stage, (enum scene_operation)op);
        stage_expect(stage, (enum scene_operation)op);
        refused_finish(stage, &scene);
    }
}

static void test_rows(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    cl_command_queue queue = stage->device->queue;
    clmove_status status;

    assert_int_equal(clmove_ssm_step_create(stage->layout, &stage->step_params,
                                            &stage->step),
                     CLMOVE_SUCCESS);
    device_clear_messages(stage->device);
    status = clmove_enqueue_ssm_post(stage->step, 14, queue, 0, NULL, NULL);
    refused_expect(stage, status, CLMOVE_INVALID_ARGUMENT, "rows is 14", "13");
    status =
        clmove_enqueue_ssm_pre(stage->step, UINT32_MAX, queue, 0, NULL, NULL);
    refused_expect(stage, status, CLMOVE_INVALID_ARGUMENT, "4294967295", "13");
    assert_int_equal(clmove_enqueue_ssm_pre(NULL, 1, queue, 0, NULL, NULL),
                     CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(clmove_enqueue_ssm_post(NULL, 1, queue, 0, NULL, NULL),
                     CLMOVE_INVALID_ARGUMENT);
    refused_finish(stage, &scene);
}

/* The same device in another context, so that only the context differs. */
static void test_foreign_queue(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    cl_device_id device = stage->device->info.device;
    cl_int error = CL_SUCCESS;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue queue;
    clmove_status status;

    assert_int_equal(error, CL_SUCCESS);
    queue = clCreateCommandQueue(context, device, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clmove_ssm_step_create(stage->layout, &stage->step_params,
                                            &stage->step),
                     CLMOVE_SUCCESS);
    device_clear_messages(stage->device);
    status = clmove_enqueue_ssm_post(stage->step, 13, queue, 0, NULL, NULL);
    refused_expect(stage, status, CLMOVE_WRONG_QUEUE, "queue", "context");
    status = clmove_enqueue_ssm_post(stage->step, 13, NULL, 0, NULL, NULL);
    refused_expect(stage, status, CLMOVE_INVALID_ARGUMENT, "queue", "NULL");
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    refused_finish(stage, &scene);
}

/* An array of another context's buffer. */
static void test_foreign_buffer(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    cl_device_id device = stage->device->info.device;
    cl_int error = CL_SUCCESS;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_mem buffer;

    assert_int_equal(error, CL_SUCCESS);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    REFUSE(computed.buffer, buffer, CLMOVE_INVALID_ARGUMENT, "computed",
           "context");
    clReleaseMemObject(buffer);
    clReleaseContext(context);
    refused_finish(stage, &scene);
}

/* A count of events without a list: some drivers crash on that themselves. */
static void test_bad_wait_list(void **state)
{
    struct scene scene;
    struct stage *stage = prepare(*state, &scene);
    cl_command_queue queue = stage->device->queue;
    cl_event event = NULL;
    clmove_status status;

    assert_int_equal(clmove_ssm_step_create(stage->layout, &stage->step_params,
                                            &stage->step),
                     CLMOVE_SUCCESS);
    status = clmove_enqueue_ssm_post(stage->step, 13, queue, 1, NULL, &event);
    assert_true(status == CL_INVALID_EVENT_WAIT_LIST ||
                status == CLMOVE_INVALID_ARGUMENT);
    assert_null(event);
    refused_finish(stage, &scene);
}

/* Tables in more buffers than a launch can be given. */
static void test_too_many_tables(void **state)
{
    struct test_device *device = *state;
    struct stage *stage = test_malloc(sizeof(*stage));
    struct scene scene;
    uint32_t pool;

    scene_init(&scene, __func__, "66 tables, 70 pools");
    for (uint32_t i = 0; i < 70; i++) {
        pool = scene_add_pool(&scene, SCENE_BUFFER);
        scene_add_temporal(&scene, pool, 4, 16)->group = i % 66;
    }
    for (uint32_t i = 0; i < 66; i++) {
        scene_add_group(&scene, 2);
    }
    stage_prepare(stage, device, &scene);
    assert_int_equal(clmove_ssm_layout_create(
                         device->engine, &stage->layout_params, &stage->layout),
                     CLMOVE_SUCCESS);
    refused_step(stage, CLMOVE_UNSUPPORTED, "tables", "64 or more buffers");
    refused_finish(stage, &scene);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_small_arrays),
        cmocka_unit_test(test_misaligned),
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_one_buffer),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_absent_arrays),
        cmocka_unit_test(test_absent_is_enough),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_foreign_queue),
        cmocka_unit_test(test_foreign_buffer),
        cmocka_unit_test(test_bad_wait_list),
        cmocka_unit_test(test_too_many_tables),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
