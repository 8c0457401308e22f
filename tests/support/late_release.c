/* Events that live longer than their owner wants. */

#include "next_function.h"

#include "late_release.h"

#include <CL/cl.h>
#include <pthread.h>

enum { HELD = 256 };

static struct {
    pthread_mutex_t mutex;
    int holds;
    int count;
    cl_event events[HELD];
} late = {PTHREAD_MUTEX_INITIALIZER, 0, 0, {NULL}};

static cl_int release_now(cl_event event)
{
    cl_int(CL_API_CALL * release)(cl_event);

    find_next("clReleaseEvent", &release);
    return release(event);
}

cl_int CL_API_CALL clReleaseEvent(cl_event event)
{
    int held = 0;

    pthread_mutex_lock(&late.mutex);
    if (late.holds) {
        if (late.count == HELD) {
            abort();
        }
        late.events[late.count++] = event;
        held = 1;
    }
    pthread_mutex_unlock(&late.mutex);
    return held ? CL_SUCCESS : release_now(event);
}

void late_release_begin(void)
{
    late.holds = 1;
}

int late_release_end(void)
{
    const int count = late.count;

    late.holds = 0;
    for (int i = 0; i < count; i++) {
        release_now(late.events[i]);
    }
    late.count = 0;
    return count;
}
