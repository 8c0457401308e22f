/* How often OpenCL objects are retained. */

#ifndef REFERENCES_H
#define REFERENCES_H

#include <CL/cl.h>

/* Of a cl_mem, of a cl_command_queue. */
cl_uint buffer_references(void *buffer);
cl_uint queue_references(void *queue);

/* Waits until `count` of the object is no more than `most`, since a runtime may
 * release what a command held a little after its end. Fails the running test
 * when it stays above. */
void expect_references(cl_uint (*count)(void *object), void *object,
                       cl_uint most);

#endif
