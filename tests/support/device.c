/* The device under test, with a context, a queue, the library's messages. */

#include "device.h"

#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void collect(void *user, int level, const char *message)
{
    struct test_device *device = user;
    size_t size = strlen(message);
    size_t room = sizeof(device->messages) - 2;

    (void)level;
    if (size > room) {
        size = room;
    }
    if (device->message_size + size > room) {
        device->message_size = 0;
    }
    memcpy(device->messages + device->message_size, message, size);
    device->message_size += size;
    device->messages[device->message_size++] = '\n';
    device->messages[device->message_size] = '\0';
}

void device_collect_messages(struct test_device *device)
{
    device->log.callback = collect;
    device->log.user = device;
}

void device_clear_messages(struct test_device *device)
{
    device->message_size = 0;
    device->messages[0] = '\0';
}

void device_expect_message(const struct test_device *device, const char *text)
{
    if (!strstr(device->messages, text)) {
        print_error("no message contains \"%s\"; messages:\n%s", text,
                    device->messages);
        fail();
    }
}

struct clmove_engine *device_engine(struct test_device *device,
                                    uint32_t group_size, uint32_t group_count,
                                    const char *kernel_directory)
{
    struct clmove_engine_params params = {
        .context = device->context,
        .device = device->info.device,
        .log = device->log,
        .kernel_directory = kernel_directory,
        .group_size = group_size,
        .group_count = group_count,
    };
    struct clmove_engine *engine = NULL;
    clmove_status status = clmove_engine_create(&params, &engine);

    if (status != CLMOVE_SUCCESS) {
        print_error("clmove_engine_create: %s\n%s", clmove_status_name(status),
                    device->messages);
        fail();
    }
    return engine;
}

void device_open(struct test_device *device)
{
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, 0, 0};
    cl_int error = CL_SUCCESS;

    memset(device, 0, sizeof(*device));
    device_collect_messages(device);
    assert_int_equal(clmove_device_select(NULL, &device->log, &device->info),
                     CLMOVE_SUCCESS);
    /* Or the program lacks fake_device.c. */
    assert_true(!getenv("CLMOVE_TEST_AS") ||
                device->info.type == CL_DEVICE_TYPE_GPU);
    properties[1] = (cl_context_properties)device->info.platform;
    device->context = clCreateContext(properties, 1, &device->info.device, NULL,
                                      NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    /* The 1.x form: the 2.x one makes some 1.2 runtimes hang. */
    device->queue =
        clCreateCommandQueue(device->context, device->info.device, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    device->engine = device_engine(device, 0, 0, NULL);
}

void device_close(struct test_device *device)
{
    clmove_engine_destroy(&device->engine);
    if (device->queue) {
        clReleaseCommandQueue(device->queue);
    }
    if (device->context) {
        clReleaseContext(device->context);
    }
    memset(device, 0, sizeof(*device));
}

int device_group_setup(void **state)
{
    struct test_device *device = calloc(1, sizeof(*device));

    if (!device) {
        return -1;
    }
    device_open(device);
    *state = device;
    return 0;
}

int device_group_teardown(void **state)
{
    if (*state) { /* NULL after a set-up that failed */
        device_close(*state);
    }
    free(*state);
    return 0;
}

cl_command_queue device_out_of_order_queue(struct test_device *device)
{
    cl_command_queue_properties properties = 0;
    cl_command_queue queue;
    cl_int error = CL_SUCCESS;

    clGetDeviceInfo(device->info.device, CL_DEVICE_QUEUE_PROPERTIES,
                    sizeof(properties), &properties, NULL);
    if (!(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) {
        return NULL;
    }
    queue =
        clCreateCommandQueue(device->context, device->info.device,
                             CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    return error == CL_SUCCESS ? queue : NULL;
}

int device_is_cpu(const struct test_device *device)
{
    return (device->info.type & CL_DEVICE_TYPE_CPU) != 0;
}

int device_has_svm(const struct test_device *device)
{
    return device->info.version_number >= 200 && device->info.svm != 0;
}
