/* The trained model: its weights, its vocabulary, the text it should write. */

#ifndef MAMBA_MODEL_H
#define MAMBA_MODEL_H

#include "say.h"

#include <stddef.h>
#include <stdint.h>

enum { MODEL_MAX_LAYERS = 64, MODEL_MAX_TOKENS = 256 };

/* A tensor of the file: rows x columns, row-major; a vector has one row. */
struct model_tensor {
    const float *values; /* [rows][columns], inside the model's weights */
    size_t rows, columns;
};

struct model_layer {
    struct model_tensor norm, in_proj, conv_weight, conv_bias, dt_bias, a_log,
        d, gate_norm, out_proj;
};

/* A continuation that another implementation computed. */
struct model_golden {
    char *prompt;
    char *text;
    double gap; /* smallest between the two largest logits on the way */
};

struct model {
    size_t width;      /* D */
    size_t heads;      /* H */
    size_t head_size;  /* P */
    size_t state_size; /* N */
    size_t taps;       /* K */
    size_t inner;      /* H * P */
    size_t channels;   /* of the convolution: inner + 2 N */
    size_t projected;  /* rows of in_proj: inner + channels + H */
    size_t layer_count;
    size_t token_count; /* of the vocabulary */
    struct model_tensor embedding, final_norm, head;
    struct model_layer layers[MODEL_MAX_LAYERS];
    int32_t token_of[256];            /* -1: a character it does not know */
    char character[MODEL_MAX_TOKENS]; /* of a token */
    struct model_golden *golden;
    size_t golden_count;
    float *weights;
};

/* Loads weights.tsv, weights.bin, vocab.txt and, if it is there, golden.tsv
 * from `directory`; NULL: looks beside the program and in its source tree. Says
 * what is wrong. model_free is needed after a failure, too. */
enum mamba_exit model_load(struct model *model, const char *directory);
void model_free(struct model *model);

/* The tokens of a text: an array for the caller to free. Says which character
 * is unknown. */
enum mamba_exit model_tokens(const struct model *model, const char *text,
                             int32_t **tokens, size_t *count);

/* The golden text for a prompt whose logits never come close, or NULL. */
const char *model_golden_text(const struct model *model, const char *prompt);

#endif
