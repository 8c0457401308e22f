/* The device under test, with a context, a queue, the library's messages. */

#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H

#include <clmove/clmove.h>

struct test_device {
    struct clmove_device_info info;
    cl_context context;
    cl_command_queue queue;       /* in order */
    struct clmove_engine *engine; /* default parameters */
    struct clmove_log log;        /* collects messages below */
    char messages[16384];         /* one a line; the oldest are cut */
    size_t message_size;
};

/* Opens the selected device. Fails the running test when it cannot. */
void device_open(struct test_device *device);
void device_close(struct test_device *device);

/* cmocka group set-up and tear-down: *state is a struct test_device. */
int device_group_setup(void **state);
int device_group_teardown(void **state);

/* An engine with launch shapes (0: default) and a kernel folder (NULL: built
 * in). Fails the running test when it cannot be made. */
struct clmove_engine *device_engine(struct test_device *device,
                                    uint32_t group_size, uint32_t group_count,
                                    const char *kernel_directory);

/* A queue that may run commands out of order, or NULL if there is no such
 * queue here. */
cl_command_queue device_out_of_order_queue(struct test_device *device);

int device_is_cpu(const struct test_device *device);

/* No 2.x entry point may be called unless this says so: Oclgrind would hang. */
int device_has_svm(const struct test_device *device);

/* Makes device->log collect messages; device_open does so too. */
void device_collect_messages(struct test_device *device);

void device_clear_messages(struct test_device *device);

/* Fails the running test unless a message contains the text. */
void device_expect_message(const struct test_device *device, const char *text);

#endif
