/* Allocations that bytes are moved in, each with what it should hold. */

#include "moving.h"

#include "compare.h"
#include "edit.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct text_edit moving_gpu_edit = {
    "common.cl", "#ifndef CLMOVE_CPU\n",
    "#undef CLMOVE_CPU\n#define CLMOVE_CPU 0\n#ifndef CLMOVE_CPU\n", 1};

void moving_open(struct moving *moving, struct test_device *device,
                 enum moving_kind kind, size_t size)
{
    cl_mem_flags flags = CL_MEM_READ_WRITE;
    cl_int error = CL_SUCCESS;
    void *host = NULL;

    *moving = (struct moving){.device = device, .kind = kind, .size = size};
    moving->expected = malloc(size + 1);
    moving->actual = malloc(size + 1);
    assert_non_null(moving->expected);
    assert_non_null(moving->actual);
    if (kind == MOVING_SVM) {
        assert_true(device_has_svm(device));
        moving->svm = clSVMAlloc(device->context, CL_MEM_READ_WRITE, size, 0);
        assert_non_null(moving->svm);
        return;
    }
    if (kind == MOVING_HOST_POINTER) {
        moving->host = malloc(size + 64);
        assert_non_null(moving->host);
        host = moving->host + 1; /* malloc's addresses are even */
        flags |= CL_MEM_USE_HOST_PTR;
    }
    moving->buffer = clCreateBuffer(device->context, flags, size, host, &error);
    assert_int_equal(error, CL_SUCCESS);
}

void moving_close(struct moving *moving)
{
    if (moving->buffer) {
        assert_int_equal(clFinish(moving->device->queue), CL_SUCCESS);
        clReleaseMemObject(moving->buffer);
    }
    if (moving->svm) {
        assert_int_equal(clFinish(moving->device->queue), CL_SUCCESS);
        clSVMFree(moving->device->context, moving->svm);
    }
    free(moving->host);
    free(moving->expected);
    free(moving->actual);
    memset(moving, 0, sizeof(*moving));
}

void moving_load(struct moving *moving, const void *bytes)
{
    cl_command_queue queue = moving->device->queue;

    if (bytes != moving->expected) {
        memcpy(moving->expected, bytes, moving->size);
    }
    if (moving->svm) {
        assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, moving->svm,
                                            moving->expected, moving->size, 0,
                                            NULL, NULL),
                         CL_SUCCESS);
        return;
    }
    assert_int_equal(clEnqueueWriteBuffer(queue, moving->buffer, CL_TRUE, 0,
                                          moving->size, moving->expected, 0,
                                          NULL, NULL),
                     CL_SUCCESS);
}

void moving_fill(struct moving *moving, uint64_t seed)
{
    fill_pattern(moving->expected, moving->size, seed);
    moving_load(moving, moving->expected);
}

int moving_check(struct moving *moving, const char *test, const char *detail)
{
    const struct check_case check = {
        .test = test,
        .detail = detail ? detail : "",
        .what = moving->kind == MOVING_SVM            ? "SVM"
                : moving->kind == MOVING_HOST_POINTER ? "host pointer"
                                                      : "buffer",
        .report = detail ? stderr : NULL,
    };
    cl_command_queue queue = moving->device->queue;

    memset(moving->actual, 0, moving->size);
    if (moving->svm) {
        assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, moving->actual,
                                            moving->svm, moving->size, 0, NULL,
                                            NULL),
                         CL_SUCCESS);
    } else {
        assert_int_equal(clEnqueueReadBuffer(queue, moving->buffer, CL_TRUE, 0,
                                             moving->size, moving->actual, 0,
                                             NULL, NULL),
                         CL_SUCCESS);
    }
    return check_bytes(&check, moving->expected, moving->actual, moving->size);
}

struct clmove_memory moving_memory(const struct moving *moving, size_t offset)
{
    return (struct clmove_memory){
        .buffer = moving->buffer,
        .pointer = moving->svm,
        .offset = offset,
        .size = moving->svm ? moving->size - offset : 0,
    };
}

struct clmove_engine *moving_engine_of(struct test_device *device,
                                       const struct moving_shape *shape,
                                       const char *kernel_directory)
{
    const struct clmove_engine_params params = {
        .context = device->context,
        .device = device->info.device,
        .log = device->log,
        .parts = CLMOVE_PART_MOVES,
        .kernel_directory = kernel_directory,
        .group_size = shape->group_size,
        .group_count = shape->group_count,
        .tile_size = shape->tile_size,
    };
    struct clmove_engine *engine = NULL;

    moving_status(device, clmove_engine_create(&params, &engine),
                  CLMOVE_SUCCESS);
    return engine;
}

struct clmove_engine *moving_engine(struct test_device *device,
                                    const struct moving_shape *shape)
{
    struct edited_folder folder;
    struct clmove_engine *engine;

    if (!shape->gpu_text) {
        return moving_engine_of(device, shape, NULL);
    }
    edited_folder_open(&folder, TEST_KERNEL_PATH, &moving_gpu_edit, 1);
    engine = moving_engine_of(device, shape, folder.path);
    edited_folder_close(&folder);
    return engine;
}

void moving_expect(const struct moving_move *move)
{
    assert_true(ref_move(move->dst->expected + move->dst_offset,
                         move->src->expected + move->src_offset, move->size));
}

void moving_move(struct clmove_engine *engine, const struct moving_move *move)
{
    const struct clmove_memory src = moving_memory(move->src, move->src_offset);
    const struct clmove_memory dst = moving_memory(move->dst, move->dst_offset);
    const struct clmove_move_options options = {.variant = move->variant};
    struct test_device *device = move->src->device;

    moving_status(device,
                  clmove_enqueue_move(engine, &src, &dst, move->size, &options,
                                      device->queue, 0, NULL, NULL),
                  CLMOVE_SUCCESS);
    moving_expect(move);
}

int moving_overlaps(const struct moving_move *move)
{
    const size_t src = move->src_offset;
    const size_t dst = move->dst_offset;

    return move->src == move->dst && src != dst &&
           (src > dst ? src - dst : dst - src) < move->size;
}

void moving_status(const struct test_device *device, clmove_status status,
                   clmove_status want)
{
    if (status != want) {
        /* cmocka's own printing cuts long messages */
        fprintf(stderr, "%s in place of %s; messages:\n%s",
                clmove_status_name(status), clmove_status_name(want),
                device->messages);
        fail();
    }
}

void moving_refused(const struct test_device *device, clmove_status status,
                    clmove_status want, const char *text)
{
    moving_status(device, status, want);
    device_expect_message(device, text);
}
