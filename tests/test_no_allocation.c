/* What enqueue calls allocate: counted in the library's own objects, which are
 * linked into this program with their allocations led through here. */

#include "device.h"
#include "runner.h"
#include "testing.h"

#include "../tools/host_calls.h"

#include <string.h>

/* What passed through while counting; calls of OpenCL's own are not seen. */
static struct {
    int on;
    unsigned allocations; /* of the heap */
    unsigned objects;     /* of OpenCL */
    unsigned commands;
    unsigned events; /* that commands were asked for */
} counted;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    counted.allocations += counted.on != 0;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    counted.allocations += counted.on != 0;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    counted.allocations += counted.on != 0;
    return __real_realloc(old, size);
}

static cl_event *count_event(cl_event *event)
{
    counted.events += counted.on != 0 && event;
    return event;
}

/* OpenCL calls that make an object, or enqueue a command. */
#define PASS(counter, result, name, parameters, arguments)                     \
    result __real_##name parameters;                                           \
    result __wrap_##name parameters;                                           \
    result __wrap_##name parameters                                            \
    {                                                                          \
        counted.counter += counted.on != 0;                                    \
        return __real_##name arguments;                                        \
    }

PASS(objects, cl_mem, clCreateBuffer,
     (cl_context context, cl_mem_flags flags, size_t size, void *host,
      cl_int *error),
     (context, flags, size, host, error))
PASS(objects, cl_kernel, clCreateKernel,
     (cl_program program, const char *name, cl_int *error),
     (program, name, error))
PASS(commands, cl_int, clEnqueueNDRangeKernel,
     (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
      const size_t *offset, const size_t *global, const size_t *local,
      cl_uint wait_count, const cl_event *wait_list, cl_event *event),
     (queue, kernel, dimensions, offset, global, local, wait_count, wait_list,
      count_event(event)))
PASS(commands, cl_int, clEnqueueCopyBuffer,
     (cl_command_queue queue, cl_mem src, cl_mem dst, size_t src_offset,
      size_t dst_offset, size_t size, cl_uint wait_count,
      const cl_event *wait_list, cl_event *event),
     (queue, src, dst, src_offset, dst_offset, size, wait_count, wait_list,
      event))

static void start_counting(void)
{
    counted.allocations = counted.objects = 0;
    counted.commands = counted.events = 0;
    counted.on = 1;
}

/* The session that the calls want, made of a test's device. */
static struct session session_of(const struct test_device *device)
{
    return (struct session){.device = device->info,
                            .context = device->context,
                            .queue = device->queue,
                            .engine = device->engine};
}

/* One call, counted. */
static void count_call(struct host_calls *calls, const struct host_call *call,
                       uint32_t turn, int wants_event)
{
    cl_event event = NULL;
    bool done;

    start_counting();
    done = call->enqueue(calls, calls->session->queue, turn,
                         wants_event ? &event : NULL);
    counted.on = 0;
    assert_true(done);
    assert_int_equal(clFinish(calls->session->queue), CL_SUCCESS);
    if (wants_event) {
        assert_non_null(event);
        assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
    }
}

/* After the first turns, which make kernels and scratch ready. */
static void check_call(struct host_calls *calls, const struct host_call *call)
{
    enum { FIRST = 2, TURNS = 8 };

    for (uint32_t turn = 0; turn < TURNS; turn++) {
        count_call(calls, call, turn, turn % 4 >= 2);
        if (counted.commands != call->commands) {
            print_error("%s: %u commands, not %u\n", call->name,
                        counted.commands, call->commands);
            fail();
        }
        if (turn >= FIRST && !call->takes_list &&
            (counted.allocations > 0 || counted.objects > 0)) {
            print_error("%s, call %u: %u allocations and %u objects\n",
                        call->name, turn, counted.allocations, counted.objects);
            fail();
        }
    }
}

static void test_steady_state(void **state)
{
    struct test_device *device = *state;
    const struct session session = session_of(device);
    struct host_calls calls;

    assert_true(host_calls_open(&calls, &session));
    for (int i = 0; i < HOST_CALL_COUNT; i++) {
        check_call(&calls, &host_call_list[i]);
    }
    host_calls_close(&calls);
}

/* Calls that copy a long list do allocate: were nothing counted there, the test
 * above would prove nothing. */
static void test_lists_are_counted(void **state)
{
    struct test_device *device = *state;
    const struct session session = session_of(device);
    struct host_calls calls;
    int lists = 0;

    assert_true(host_calls_open(&calls, &session));
    for (int i = 0; i < HOST_CALL_COUNT; i++) {
        if (!host_call_list[i].takes_list) {
            continue;
        }
        lists++;
        count_call(&calls, &host_call_list[i], 0, 0);
        assert_true(counted.allocations > 0);
        assert_true(counted.objects > 0);
    }
    assert_true(lists > 0);
    host_calls_close(&calls);
}

/* A move on a queue that no other call has used makes a buffer for scratch, the
 * next one finds it. */
static void check_scratch(struct host_calls *calls,
                          const struct host_call *split,
                          struct session *session, cl_command_queue queue)
{
    session->queue = queue;
    count_call(calls, split, 0, 0);
    assert_int_equal(counted.objects, 1);
    count_call(calls, split, 1, 0);
    assert_int_equal(counted.objects, 0);
}

/* Queues do not take each other's. */
static void test_scratch_is_kept(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine *engine = device_engine(device, 0, 0, NULL);
    struct session session = session_of(device);
    const struct host_call *split = NULL;
    struct host_calls calls;
    cl_int error = CL_SUCCESS;
    cl_command_queue out_of_order = device_out_of_order_queue(device);
    cl_command_queue other =
        clCreateCommandQueue(device->context, device->info.device, 0, &error);

    assert_int_equal(error, CL_SUCCESS);
    session.engine = engine;
    for (int i = 0; i < HOST_CALL_COUNT; i++) {
        if (strcmp(host_call_list[i].name, "move, split") == 0) {
            split = &host_call_list[i];
        }
    }
    assert_non_null(split);
    assert_true(host_calls_open(&calls, &session));
    check_scratch(&calls, split, &session, device->queue);
    check_scratch(&calls, split, &session, other);
    if (out_of_order) {
        check_scratch(&calls, split, &session, out_of_order);
        clReleaseCommandQueue(out_of_order);
    }
    session.queue = device->queue;
    count_call(&calls, split, 0, 0);
    assert_int_equal(counted.objects, 0);
    host_calls_close(&calls);
    clReleaseCommandQueue(other);
    clmove_engine_destroy(&engine);
}

/* Commands of a call are chained by events where the queue does not keep their
 * order, or somebody asks. */
static void test_events(void **state)
{
    struct test_device *device = *state;
    struct session session = session_of(device);
    cl_command_queue out_of_order = device_out_of_order_queue(device);
    struct host_calls calls;

    assert_true(host_calls_open(&calls, &session));
    for (int i = 0; i < HOST_CALL_COUNT; i++) {
        const struct host_call *call = &host_call_list[i];
        count_call(&calls, call, 0, 0);
        assert_int_equal(counted.events, 0);
        count_call(&calls, call, 0, 1);
        if (strcmp(call->name, "move, driver") != 0) {
            assert_int_equal(counted.events, call->commands);
        }
        if (!out_of_order) {
            continue;
        }
        session.queue = out_of_order;
        count_call(&calls, call, 0, 0);
        session.queue = device->queue;
        assert_true(counted.events + 1 >= call->commands);
        assert_int_equal(clFinish(out_of_order), CL_SUCCESS);
    }
    host_calls_close(&calls);
    if (out_of_order) {
        clReleaseCommandQueue(out_of_order);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady_state),
        cmocka_unit_test(test_lists_are_counted),
        cmocka_unit_test(test_scratch_is_kept),
        cmocka_unit_test(test_events),
    };

    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
