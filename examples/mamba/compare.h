/* The same prompts in many modes: the texts must not differ. */

#ifndef MAMBA_COMPARE_H
#define MAMBA_COMPARE_H

#include "decode.h"

struct compare_job {
    const struct machine *machine;
    const char *const *prompts;
    size_t prompt_count;
    size_t block_size, tokens;
    bool full; /* every mode */
    bool show; /* the texts that differ */
    decode_listener listener;
    void *user;
};

/* Prints a table, a line for each mode. MAMBA_DIFFERS when a text differs from
 * the first mode's, or from what another implementation computed. */
enum mamba_exit compare(const struct compare_job *job);

#endif
