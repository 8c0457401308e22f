/* Greedy decoding of many prompts: batches, chunks, drafts, prefixes. */

#ifndef MAMBA_DECODE_H
#define MAMBA_DECODE_H

#include "machine.h"
#include "settings.h"

/* What one prompt came to. */
struct decode_text {
    char *text;    /* what was written, `tokens` characters and a NUL */
    size_t count;  /* characters so far */
    size_t reused; /* tokens of the prompt whose state was found */
    uint64_t hash; /* FNV-1a of the text */
};

struct decode_result {
    struct decode_text *texts; /* [prompt] */
    size_t text_count;
    size_t steps;
    size_t written;        /* tokens of all texts */
    size_t verified;       /* rows that had drafts */
    size_t accepted;       /* drafts that were right, over those */
    double seconds;        /* of all steps, on the host's clock */
    double moving_seconds; /* of state copies, on the device's */
};

/* Called after each step, with the texts so far; false ends the decode. */
typedef bool (*decode_listener)(void *user, const struct decode_result *result);

/* Decodes all prompts. The result is to be freed after a failure, too.
 * MAMBA_INTERRUPTED when the listener said so. */
enum mamba_exit decode(const struct machine *machine,
                       const struct settings *settings,
                       const char *const *prompts, size_t prompt_count,
                       decode_listener listener, void *user,
                       struct decode_result *result);
void decode_free(struct decode_result *result);

/* One hash over those of all texts. */
uint64_t decode_hash(const struct decode_result *result);

#endif
