/* One of each enqueue call, with little for the device to do. */

#ifndef TOOLS_HOST_CALLS_H
#define TOOLS_HOST_CALLS_H

#include "session.h"

enum {
    HOST_BYTES, /* what is moved */
    HOST_LISTS, /* a batch in device memory, and a result */
    HOST_STATES,
    HOST_TABLE,
    HOST_ARRAYS, /* of the steps */
    HOST_BUFFERS
};

/* Steps: results in other arrays, taking turns; or in place. */
enum { HOST_PRE, HOST_POST, HOST_IN_PLACE, HOST_STEPS };

/* What the calls work on. */
struct host_calls {
    const struct session *session;
    cl_mem buffers[HOST_BUFFERS];
    struct clmove_batch *batches[2]; /* of one launch, of two */
    struct clmove_ssm_layout *layout;
    struct clmove_ssm_step *steps[HOST_STEPS];
    cl_uint wait_count; /* what every call waits for: nothing when opened */
    const cl_event *wait_list;
};

/* `enqueue` suits struct bench_side; the context is a struct host_calls. False
 * after printing a failure. */
struct host_call {
    const char *name;
    uint32_t commands; /* that one call enqueues */
    bool takes_list;   /* a long one of the host, which is copied */
    bool (*enqueue)(void *calls, cl_command_queue queue, uint32_t turn,
                    cl_event *event);
};

enum { HOST_CALL_COUNT = 18 };
extern const struct host_call host_call_list[HOST_CALL_COUNT];

/* The session's engine needs both parts. False after printing a failure;
 * host_calls_close is needed either way. */
bool host_calls_open(struct host_calls *calls, const struct session *session);
void host_calls_close(struct host_calls *calls);

#endif
