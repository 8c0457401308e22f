/* How a decode goes about it: everything that must not change the text. */

#ifndef MAMBA_SETTINGS_H
#define MAMBA_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

enum order {
    ORDER_V1,    /* row i of a step is slot i */
    ORDER_V2,    /* rows name slots; block tables by slot */
    ORDER_V2_ROW /* rows name slots; block tables by row */
};

struct settings {
    size_t slots;      /* requests that are decoded at once */
    size_t block_size; /* tokens */
    size_t chunk;      /* tokens of a prompt in a step, at most; 0: a block */
    size_t draft; /* tokens that are proposed in a step, at most; 0: none */
    bool ds;      /* windows [channel][token], else [token][channel] */
    enum order order;
    bool checkpoint; /* states are saved before drafts and restored after a
                        rejection; else they are kept for each draft */
    bool clone;      /* states are cloned and copied back by the host, without
                        clmove */
    bool prefix_cache;
    size_t tokens; /* to write after each prompt */
};

#endif
