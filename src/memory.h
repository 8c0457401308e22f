/* Looks up a clmove_memory: root buffer, origin, size, access flags. */

#ifndef MEMORY_H
#define MEMORY_H

#include "bind.h"
#include "check.h"

#include <clmove/device.h>
#include <clmove/memory.h>

/* What a memory is looked up for. */
struct memory_use {
    cl_context context;
    const struct clmove_device_info *device;
    const struct clmove_log *log;
    bool reads;
    bool writes;
};

/* Fills `view`; `name` names the memory in sentences. */
clmove_status memory_look_up(const struct memory_use *use, const char *name,
                             const struct clmove_memory *memory,
                             struct memory_view *view);

/* Whether all of it is zero. */
bool memory_is_absent(const struct clmove_memory *memory);

/* Sets a kernel argument; NULL sets it to no memory at all. */
cl_int memory_set_argument(cl_kernel kernel, cl_uint index,
                           const struct memory_binding *binding);

#endif
