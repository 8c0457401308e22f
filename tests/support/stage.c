/* A scene in device memory, beside the same bytes for the reference. */

#include "stage.h"

#include "compare.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_success(struct stage *stage, const char *call,
                           clmove_status status)
{
    if (status != CLMOVE_SUCCESS) {
        print_error("test %s, case \"%s\": %s: %s\n%s", stage->scene->test,
                    stage->scene->detail, call, clmove_status_name(status),
                    stage->device->messages);
        fail();
    }
}

void stage_create(struct stage *stage, struct clmove_engine *engine)
{
    clmove_status status =
        clmove_ssm_layout_create(engine, &stage->layout_params, &stage->layout);

    expect_success(stage, "clmove_ssm_layout_create", status);
    status = clmove_ssm_step_create(stage->layout, &stage->step_params,
                                    &stage->step);
    expect_success(stage, "clmove_ssm_step_create", status);
}

void stage_close(struct stage *stage)
{
    clmove_ssm_step_destroy(&stage->step);
    clmove_ssm_layout_destroy(&stage->layout);
    for (uint32_t i = stage->image_count; i-- > 0;) {
        struct stage_image *image = &stage->images[i];
        if (image->buffer) {
            clReleaseMemObject(image->buffer);
        }
        if (image->svm) {
            clSVMFree(stage->device->context, image->svm);
        }
        free(image->host);
        free(image->before);
        free(image->expected);
        free(image->actual);
    }
    stage->image_count = 0;
}

/* Copies all of an image to the device, or back. */
static void transfer(struct stage *stage, struct stage_image *image,
                     const unsigned char *from, unsigned char *to)
{
    cl_command_queue queue = stage->device->queue;
    cl_int error;

    if (image->size == 0) {
        return;
    }
    if (image->svm) {
        error = clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                image->svm, image->size, 0, NULL, NULL);
        assert_int_equal(error, CL_SUCCESS);
        memcpy(to ? (void *)to : image->svm,
               to ? image->svm : (const void *)from, image->size);
        error = clEnqueueSVMUnmap(queue, image->svm, 0, NULL, NULL);
        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(clFinish(queue), CL_SUCCESS);
        return;
    }
    if (to) {
        error = clEnqueueReadBuffer(queue, image->buffer, CL_TRUE, 0,
                                    image->size, to, 0, NULL, NULL);
    } else {
        error = clEnqueueWriteBuffer(queue, image->buffer, CL_TRUE, 0,
                                     image->size, from, 0, NULL, NULL);
    }
    assert_int_equal(error, CL_SUCCESS);
}

void stage_reset(struct stage *stage)
{
    for (uint32_t i = 0; i < stage->image_count; i++) {
        struct stage_image *image = &stage->images[i];
        memcpy(image->expected, image->before, image->size);
        transfer(stage, image, image->before, NULL);
    }
}

static const char *const call_names[] = {
    "clmove_enqueue_ssm_pre", "clmove_enqueue_ssm_post",
    "clmove_enqueue_ssm_pre_copy", "clmove_enqueue_ssm_indices"};

cl_event stage_enqueue(struct stage *stage, enum scene_operation operation,
                       cl_command_queue queue, cl_uint wait_count,
                       const cl_event *wait_list)
{
    const uint32_t rows = stage->scene->row_count;
    cl_event event = NULL;
    clmove_status status;

    switch (operation) {
    case SCENE_PRE:
        status = clmove_enqueue_ssm_pre(stage->step, rows, queue, wait_count,
                                        wait_list, &event);
        break;
    case SCENE_POST:
        status = clmove_enqueue_ssm_post(stage->step, rows, queue, wait_count,
                                         wait_list, &event);
        break;
    case SCENE_PRE_COPY:
        status = clmove_enqueue_ssm_pre_copy(stage->step, rows, queue,
                                             wait_count, wait_list, &event);
        break;
    default:
        status = clmove_enqueue_ssm_indices(
            stage->step, rows, stage->scene->slots_per_row, &stage->indices,
            queue, wait_count, wait_list, &event);
        break;
    }
    expect_success(stage, call_names[operation], status);
    assert_non_null(event);
    return event;
}

void stage_call(struct stage *stage, enum scene_operation operation)
{
    cl_event event =
        stage_enqueue(stage, operation, stage->device->queue, 0, NULL);

    assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
}

void stage_expect(struct stage *stage, enum scene_operation operation)
{
    const struct stage_place *out = &stage->places[STAGE_INDICES];

    switch (operation) {
    case SCENE_PRE:
        ref_pre(&stage->reference);
        break;
    case SCENE_POST:
        ref_post(&stage->reference);
        break;
    case SCENE_PRE_COPY:
        ref_pre_copy(&stage->reference);
        break;
    default:
        ref_indices(&stage->reference, stage->scene->slots_per_row,
                    (int32_t *)(void *)(stage->images[out->image].expected +
                                        out->offset));
        break;
    }
}

int stage_compare(struct stage *stage, int quiet)
{
    struct check_case check = {
        .test = stage->scene->test,
        .detail = stage->scene->detail,
        .seed = stage->scene->seed,
        .report = quiet ? NULL : stderr,
    };
    int right = 1;

    for (uint32_t i = 0; i < stage->image_count; i++) {
        struct stage_image *image = &stage->images[i];
        memset(image->actual, 0xa3, image->size);
        transfer(stage, image, NULL, image->actual);
    }
    for (uint32_t i = 0; i < stage->image_count && right; i++) {
        struct stage_image *image = &stage->images[i];
        check.what = image->name;
        right =
            check_bytes(&check, image->expected, image->actual, image->size);
    }
    return right;
}

const int32_t *stage_actual(const struct stage *stage, enum stage_array array)
{
    const struct stage_place *at = &stage->places[array];
    return (const int32_t *)(const void *)(stage->images[at->image].actual +
                                           at->offset);
}

void stage_damage(struct stage *stage, uint32_t image, size_t offset)
{
    struct stage_image *target = &stage->images[image];

    assert_true(offset < target->size);
    transfer(stage, target, NULL, target->actual);
    target->actual[offset] ^= 0x10;
    transfer(stage, target, target->actual, NULL);
}

int scene_is_right(struct scene *scene, struct test_device *device,
                   struct clmove_engine *engine, enum scene_operation operation)
{
    struct stage *stage = malloc(sizeof(*stage));
    int right;

    assert_non_null(stage);
    stage_prepare(stage, device, scene);
    stage_create(stage, engine);
    stage_call(stage, operation);
    stage_expect(stage, operation);
    right = stage_compare(stage, 1);
    stage_close(stage);
    free(stage);
    return right;
}

void scene_check(struct scene *scene, struct test_device *device,
                 struct clmove_engine *engine, enum scene_operation operation)
{
    struct stage *stage;

    if (!runner_wants_case(scene->detail)) {
        return;
    }
    stage = malloc(sizeof(*stage));
    assert_non_null(stage);
    stage_prepare(stage, device, scene);
    stage_create(stage, engine);
    stage_call(stage, operation);
    stage_expect(stage, operation);
    if (!stage_compare(stage, 0)) {
        fail();
    }
    stage_close(stage);
    free(stage);
}
