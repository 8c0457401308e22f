/* How often OpenCL objects are retained. */

#include "references.h"

#include "testing.h"

cl_uint buffer_references(void *buffer)
{
    cl_uint count = 0;

    assert_int_equal(clGetMemObjectInfo(buffer, CL_MEM_REFERENCE_COUNT,
                                        sizeof(count), &count, NULL),
                     CL_SUCCESS);
    return count;
}

cl_uint queue_references(void *queue)
{
    cl_uint count = 0;

    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT,
                                           sizeof(count), &count, NULL),
                     CL_SUCCESS);
    return count;
}

void expect_references(cl_uint (*count)(void *object), void *object,
                       cl_uint most)
{
    for (int i = 0; count(object) > most && i < 10000; i++) {
        sleep_milliseconds(1);
    }
    assert_true(count(object) <= most);
}
