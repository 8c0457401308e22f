/* The engine, as the other rooms see it. */

#ifndef ENGINE_H
#define ENGINE_H

#include "bind.h"
#include "chain.h"
#include "check.h"
#include "program.h"
#include "scratch.h"
#include "variant.h"

#include <clmove/engine.h>
#include <pthread.h>
#include <stdatomic.h>

/* The programs of a part, one for each number of banks, built when needed. */
struct engine_part {
    bool wanted;
    char *text;
    cl_program programs[PROGRAM_BANK_CHOICES];
};

/* A kernel, and the work-items in its groups. */
struct engine_kernel {
    cl_kernel kernel;
    uint32_t group_size;
};

/* Kernels whose arguments change from call to call. */
enum engine_call { CALL_MOVE, CALL_SAVE, CALL_BATCH_DEVICE, CALL_COUNT };

/* A kernel object for every mix of buffers and SVM among its first 6 memories,
 * a bit for each that is SVM: NVIDIA's driver 580 refuses a launch
 * (CL_INVALID_KERNEL_ARGS) when an argument that was SVM before is a buffer
 * now.
 */
struct engine_kinds {
    struct engine_kernel kernels[64]; /* made when first used */
};

/* What calls of move.h share. */
struct engine_moves {
    pthread_mutex_t mutex; /* guards all of it, from the first argument that is
                              set to the last command that is enqueued */
    bool ready;            /* the part was asked for */
    struct engine_kinds calls[CALL_COUNT];
    struct scratch scratch;
};

/* What clmove_engine_params asks for, until the last object that was made from
 * it is gone. */
struct clmove_engine {
    atomic_uint references;
    atomic_ullong layouts_made;
    cl_context context;
    struct clmove_device_info device;
    struct variant variant;
    uint32_t forced_variant; /* of moves, from the environment; 0: none */
    struct clmove_log log;
    pthread_mutex_t mutex; /* guards programs */
    struct engine_part parts[PROGRAM_PARTS];
    struct binary_cache cache;
    struct engine_moves moves;
    struct engine_kernel nothing; /* has no arguments, so it needs no mutex */
};

void engine_retain(struct clmove_engine *engine);
void engine_release(struct clmove_engine *engine);

/* The program of a part (enum clmove_part) for at least min(bank_count, limit)
 * banks, built if need be; its number of banks goes to *banks. The engine keeps
 * the program. */
clmove_status engine_program(struct clmove_engine *engine, uint32_t part,
                             size_t bank_count, cl_program *program,
                             uint32_t *banks);

/* Makes a kernel, with groups of `group_size` work-items or as many as it
 * allows. A failure leaves none. */
clmove_status engine_make_kernel(const struct clmove_engine *engine,
                                 cl_program program, const char *name,
                                 uint32_t group_size,
                                 struct engine_kernel *kernel);

/* The kernel of a call whose memories are `bindings`; moves.mutex is held. */
cl_int engine_call_kernel(struct clmove_engine *engine, enum engine_call call,
                          const struct memory_binding *bindings, size_t count,
                          const struct engine_kernel **kernel);

void engine_release_kernel(struct engine_kernel *kernel);

/* Enqueues a command that does nothing, for calls that have nothing to do. */
cl_int engine_enqueue_nothing(const struct clmove_engine *engine,
                              struct chain *chain, bool wants_event);

/* Refuses a queue of another context or device, or on the device, and a wait
 * list that contradicts its count. */
clmove_status engine_check_queue(const struct clmove_engine *engine,
                                 cl_command_queue queue, cl_uint wait_count,
                                 const cl_event *wait_list);

#endif
