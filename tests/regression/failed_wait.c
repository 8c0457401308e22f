/* Calls behind an event that fails: no command of theirs may run. */

/* Source: seen with Intel's CPU runtime 2026.22.10. It reports a command that a
 * failed event stopped as complete, and so runs the next one, which waits for
 * that command only. */

#include "next_function.h"

#include "../../tools/host_calls.h"
#include "device.h"
#include "late_release.h"
#include "runner.h"
#include "testing.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COMMANDS = 8 };

/* The commands of a call: what each waits for, and its own event. */
static struct {
    int on;
    unsigned count;
    cl_event waits[MOST_COMMANDS];
    cl_event own[MOST_COMMANDS];
} seen;

static void note(cl_uint wait_count, const cl_event *wait_list,
                 const cl_event *event)
{
    if (seen.on && seen.count < MOST_COMMANDS) {
        seen.waits[seen.count] = wait_count == 1 ? *wait_list : NULL;
        seen.own[seen.count] = event ? *event : NULL;
        seen.count++;
    }
}

cl_int CL_API_CALL clEnqueueNDRangeKernel(
    cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
    const size_t *offset, const size_t *global, const size_t *local,
    cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    cl_int(CL_API_CALL * real)(cl_command_queue, cl_kernel, cl_uint,
                               const size_t *, const size_t *, const size_t *,
                               cl_uint, const cl_event *, cl_event *);
    cl_int error;

    find_next("clEnqueueNDRangeKernel", &real);
    error = real(queue, kernel, dimensions, offset, global, local, wait_count,
                 wait_list, event);
    note(wait_count, wait_list, event);
    return error;
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem src,
                                       cl_mem dst, size_t src_offset,
                                       size_t dst_offset, size_t size,
                                       cl_uint wait_count,
                                       const cl_event *wait_list,
                                       cl_event *event)
{
    cl_int(CL_API_CALL * real)(cl_command_queue, cl_mem, cl_mem, size_t, size_t,
                               size_t, cl_uint, const cl_event *, cl_event *);
    cl_int error;

    find_next("clEnqueueCopyBuffer", &real);
    error = real(queue, src, dst, src_offset, dst_offset, size, wait_count,
                 wait_list, event);
    note(wait_count, wait_list, event);
    return error;
}

/* Buffers that hold no numbers which a kernel goes by. */
static const int plain[] = {HOST_BYTES, HOST_STATES};
enum { PLAIN = sizeof(plain) / sizeof(plain[0]) };

struct snapshot {
    unsigned char *bytes[PLAIN];
    size_t sizes[PLAIN];
};

/* Bytes that differ from their neighbours, so that any move is seen. */
static void fill(struct test_device *device, const struct host_calls *calls,
                 struct snapshot *snapshot)
{
    for (int i = 0; i < PLAIN; i++) {
        cl_mem buffer = calls->buffers[plain[i]];
        assert_int_equal(clGetMemObjectInfo(buffer, CL_MEM_SIZE,
                                            sizeof(snapshot->sizes[i]),
                                            &snapshot->sizes[i], NULL),
                         CL_SUCCESS);
        snapshot->bytes[i] = malloc(snapshot->sizes[i]);
        assert_non_null(snapshot->bytes[i]);
        for (size_t at = 0; at < snapshot->sizes[i]; at++) {
            snapshot->bytes[i][at] = (unsigned char)(at * 7 + at / 256 * 3 + 1);
        }
        assert_int_equal(clEnqueueWriteBuffer(device->queue, buffer, CL_TRUE, 0,
                                              snapshot->sizes[i],
                                              snapshot->bytes[i], 0, NULL,
                                              NULL),
                         CL_SUCCESS);
    }
}

static void expect_untouched(struct test_device *device,
                             const struct host_calls *calls,
                             const struct snapshot *snapshot, const char *name)
{
    for (int i = 0; i < PLAIN; i++) {
        unsigned char *now = malloc(snapshot->sizes[i]);
        int same;

        assert_non_null(now);
        assert_int_equal(clEnqueueReadBuffer(
                             device->queue, calls->buffers[plain[i]], CL_TRUE,
                             0, snapshot->sizes[i], now, 0, NULL, NULL),
                         CL_SUCCESS);
        same = memcmp(now, snapshot->bytes[i], snapshot->sizes[i]) == 0;
        free(now);
        if (!same) {
            print_error("%s: a command ran\n", name);
            fail();
        }
    }
}

/* In order, all commands wait for the gate; else each for the one before it. */
static void expect_waits(const struct host_call *call, cl_event gate,
                         int in_order)
{
    assert_int_equal(seen.count, call->commands);
    for (unsigned i = 0; i < seen.count; i++) {
        if (i == 0 || in_order) {
            assert_ptr_equal(seen.waits[i], gate);
        } else {
            assert_non_null(seen.own[i - 1]);
            assert_ptr_equal(seen.waits[i], seen.own[i - 1]);
        }
    }
}

static void enqueue(struct host_calls *calls, const struct host_call *call,
                    cl_command_queue queue, const cl_event *gate,
                    cl_event *event)
{
    calls->wait_count = 1;
    calls->wait_list = gate;
    seen.on = 1;
    seen.count = 0;
    assert_true(call->enqueue(calls, queue, 0, event));
    seen.on = 0;
}

/* Its own queue, since PoCL's stays blocked behind a command that failed. */
static void check_failing(struct test_device *device, struct host_calls *calls,
                          const struct snapshot *snapshot,
                          const struct host_call *call)
{
    cl_int error = CL_SUCCESS;
    cl_int end = CL_QUEUED;
    cl_event event = NULL;
    cl_event gate = clCreateUserEvent(device->context, &error);
    cl_command_queue queue =
        clCreateCommandQueue(device->context, device->info.device, 0, &error);

    assert_int_equal(error, CL_SUCCESS);
    late_release_begin();
    enqueue(calls, call, queue, &gate, &event);
    assert_int_equal(clFlush(queue), CL_SUCCESS);
    assert_int_equal(clSetUserEventStatus(gate, -42), CL_SUCCESS);
    error = clWaitForEvents(1, &event);
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(end), &end,
                   NULL);
    clReleaseEvent(event);
    late_release_end();
    expect_waits(call, gate, 1);
    assert_true(error != CL_SUCCESS || end < 0);
    expect_untouched(device, calls, snapshot, call->name);
    clReleaseEvent(gate);
    clReleaseCommandQueue(queue);
}

/* The gate opens. Out-of-order queues are not made to fail: Intel's runtime
 * crashes when such a queue is released. */
static void check_opening(struct test_device *device, struct host_calls *calls,
                          const struct host_call *call, cl_command_queue queue,
                          int in_order)
{
    cl_int error = CL_SUCCESS;
    cl_event gate = clCreateUserEvent(device->context, &error);

    assert_int_equal(error, CL_SUCCESS);
    late_release_begin();
    enqueue(calls, call, queue, &gate, NULL);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    late_release_end();
    expect_waits(call, gate, in_order);
    clReleaseEvent(gate);
}

static void test_calls(void **state)
{
    struct test_device *device = *state;
    const struct session session = {.device = device->info,
                                    .context = device->context,
                                    .queue = device->queue,
                                    .engine = device->engine};
    cl_command_queue out_of_order = device_out_of_order_queue(device);
    struct host_calls calls;
    struct snapshot snapshot;
    int several = 0;

    if (strstr(device->info.platform_name, "Oclgrind")) {
        runner_skip("Oclgrind waits for ever for a command behind an event "
                    "that the caller has not completed yet");
        return;
    }
    assert_true(host_calls_open(&calls, &session));
    fill(device, &calls, &snapshot);
    for (int i = 0; i < HOST_CALL_COUNT; i++) {
        const struct host_call *call = &host_call_list[i];
        several += call->commands > 1;
        check_failing(device, &calls, &snapshot, call);
    }
    assert_true(several > 0);
    for (int i = 0; i < HOST_CALL_COUNT; i++) {
        check_opening(device, &calls, &host_call_list[i], device->queue, 1);
        if (out_of_order) {
            check_opening(device, &calls, &host_call_list[i], out_of_order, 0);
        }
    }
    host_calls_close(&calls);
    for (int i = 0; i < PLAIN; i++) {
        free(snapshot.bytes[i]);
    }
    if (out_of_order) {
        clReleaseCommandQueue(out_of_order);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls)};

    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
