/* The device, and the model on it: kernels, weights, a step of all layers. */

#ifndef MAMBA_MACHINE_H
#define MAMBA_MACHINE_H

#include "model.h"

#include <clmove/clmove.h>

enum machine_kernel {
    KERNEL_EMBED,
    KERNEL_IN,
    KERNEL_CONV,
    KERNEL_SCAN,
    KERNEL_OUT,
    KERNEL_HEAD,
    KERNEL_ACCEPT,
    KERNEL_COUNT
};

/* Where a layer's weights lie in the device's buffer, in floats. */
struct machine_layer {
    cl_int norm, in_proj, conv_weight, conv_bias, dt_bias, a_log, d, gate_norm,
        out_proj;
};

struct machine {
    const struct model *model;
    struct clmove_device_info device;
    cl_context context;
    cl_command_queue queue; /* in order, with profiling */
    struct clmove_engine *engine;
    cl_program program;
    cl_kernel kernels[KERNEL_COUNT];
    size_t lanes;     /* floats that an item works on at once */
    size_t in_stride; /* floats of a token's projection */
    size_t max_group; /* work-items */
    cl_mem weights;
    cl_int embedding, final_norm, head; /* in weights, in floats */
    struct machine_layer layers[MODEL_MAX_LAYERS];
};

/* Selects the device as clmove_device_select does and puts the model on it,
 * which must outlive the machine. machine_close is needed after a failure, too.
 */
enum mamba_exit machine_open(struct machine *machine, const struct model *model,
                             const char *selection);
void machine_close(struct machine *machine);

/* A buffer that kernels read and write. */
enum mamba_exit machine_buffer(const struct machine *machine, size_t size,
                               const char *what, cl_mem *buffer);

/* Releases and sets to NULL; NULL is fine. */
void machine_release(cl_mem *buffer);

/* What a step of the model works on; the sizes are those of model.h. */
struct forward {
    cl_mem x;         /* float [token][width] */
    cl_mem projected; /* float [token][in_stride] */
    cl_mem convolved; /* float [token][channels] */
    cl_mem y;         /* float [token][inner] */
    cl_mem next;      /* int [token], see mamba_head */
    cl_mem counts;    /* int [row], see mamba_accept */
};

enum mamba_exit forward_create(struct forward *forward,
                               const struct machine *machine, size_t max_tokens,
                               size_t max_rows);
void forward_destroy(struct forward *forward);

/* Where states lie, in floats. */
struct forward_states {
    cl_mem pool;
    cl_long block_stride;
    cl_long layer_stride;                /* of the layers within a block */
    cl_long temporal;                    /* within a layer */
    cl_int channel_stride, token_stride; /* within a window */
};

/* One step, with its numbers on the device: see sections.h. */
struct forward_step {
    cl_mem batch;    /* int, sections */
    cl_mem numbers;  /* int, with the next two in it: */
    cl_int accepted; /* [slot], read; and written by mamba_accept */
    cl_int column;   /* [slot], read */
    size_t rows, tokens, wanted;
};

/* Enqueues the model's whole step. */
enum mamba_exit forward_enqueue(const struct forward *forward,
                                const struct machine *machine,
                                const struct forward_states *states,
                                const struct forward_step *step);

#endif
