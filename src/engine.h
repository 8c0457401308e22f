/* The engine, as the other rooms see it. */

#ifndef ENGINE_H
#define ENGINE_H

#include "check.h"
#include "program.h"
#include "variant.h"

#include <clmove/engine.h>
#include <pthread.h>
#include <stdatomic.h>

/* What clmove_engine_params asks for, until the last object that was made from
 * it is gone. */
struct clmove_engine {
    atomic_uint references;
    cl_context context;
    struct clmove_device_info device;
    struct variant variant;
    struct clmove_log log;
    char *text;            /* of all kernels */
    pthread_mutex_t mutex; /* guards programs */
    cl_program programs[PROGRAM_BANK_CHOICES];
};

void engine_retain(struct clmove_engine *engine);
void engine_release(struct clmove_engine *engine);

/* The program for at least min(bank_count, limit) banks, built if need be; its
 * number of banks goes to *banks. The engine keeps the program. */
clmove_status engine_program(struct clmove_engine *engine, size_t bank_count,
                             cl_program *program, uint32_t *banks);

/* Refuses a queue of another context or device, or on the device, and a wait
 * list that contradicts its count. */
clmove_status engine_check_queue(const struct clmove_engine *engine,
                                 cl_command_queue queue, cl_uint wait_count,
                                 const cl_event *wait_list);

#endif
