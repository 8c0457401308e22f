/* The trained model: its weights, its vocabulary, the text it should write. */

#include "model.h"

#include "files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A smaller gap between two logits may be closed by another rounding. */
static const double safe_gap = 0.001;

struct loading {
    struct model *model;
    size_t weight_bytes;
};

/* Where the tensor of a name goes, or NULL. */
static struct model_tensor *tensor_place(struct model *model, const char *name)
{
    unsigned layer = 0;
    int used = 0;
    if (strcmp(name, "embedding") == 0)
        return &model->embedding;
    if (strcmp(name, "final_norm") == 0)
        return &model->final_norm;
    if (strcmp(name, "head") == 0)
        return &model->head;
    if (sscanf(name, "block%3u.%n", &layer, &used) != 1 || used == 0 ||
        layer >= MODEL_MAX_LAYERS)
        return NULL;
    struct model_layer *place = &model->layers[layer];
    const struct {
        const char *name;
        struct model_tensor *tensor;
    } names[] = {{"norm", &place->norm},
                 {"in_proj", &place->in_proj},
                 {"conv_weight", &place->conv_weight},
                 {"conv_bias", &place->conv_bias},
                 {"dt_bias", &place->dt_bias},
                 {"a_log", &place->a_log},
                 {"d", &place->d},
                 {"gate_norm", &place->gate_norm},
                 {"out_proj", &place->out_proj}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name + used, names[i].name) != 0)
            continue;
        if (layer >= model->layer_count)
            model->layer_count = layer + 1;
        return names[i].tensor;
    }
    return NULL;
}

static enum mamba_exit read_tensor_line(void *user, const char *path,
                                        size_t line_number, char *line)
{
    struct loading *loading = user;
    char name[64], shape[64];
    uint64_t offset = 0, count = 0;
    size_t rows = 0, columns = 0;
    if (line_number == 1 || line[0] == '\0')
        return MAMBA_FINE; /* the names of the columns */
    if (sscanf(line, "%63s %63s %" SCNu64 " %" SCNu64, name, shape, &offset,
               &count) != 4) {
        say("%s:%zu: name, shape, offset and count are needed", path,
            line_number);
        return MAMBA_BAD_INPUT;
    }
    if (sscanf(shape, "%zux%zu", &rows, &columns) != 2) {
        columns = rows;
        rows = 1;
    }
    struct model_tensor *tensor = tensor_place(loading->model, name);
    if (!tensor) {
        say("%s:%zu: no tensor of the model is called %s", path, line_number,
            name);
        return MAMBA_BAD_INPUT;
    }
    if (columns == 0 || count / columns != rows || count % columns != 0 ||
        offset % sizeof(float) != 0 || offset > loading->weight_bytes ||
        count > (loading->weight_bytes - offset) / sizeof(float)) {
        say("%s:%zu: %s of shape %s at %" PRIu64 " does not lie in the %zu "
            "bytes of weights",
            path, line_number, name, shape, offset, loading->weight_bytes);
        return MAMBA_BAD_INPUT;
    }
    tensor->values = loading->model->weights + offset / sizeof(float);
    tensor->rows = rows;
    tensor->columns = columns;
    return MAMBA_FINE;
}

static enum mamba_exit read_vocabulary_line(void *user, const char *path,
                                            size_t line_number, char *line)
{
    struct model *model = user;
    char *end = NULL;
    if (line[0] == '\0')
        return MAMBA_FINE;
    const long code = strtol(line, &end, 10);
    if (*end != '\0' || code < 0 || code > 127 ||
        model->token_count == MODEL_MAX_TOKENS) {
        say("%s:%zu: a character code from 0 to 127 is needed, not %s", path,
            line_number, line);
        return MAMBA_BAD_INPUT;
    }
    model->token_of[code] = (int32_t)model->token_count;
    model->character[model->token_count++] = (char)code;
    return MAMBA_FINE;
}

static enum mamba_exit read_golden_line(void *user, const char *path,
                                        size_t line_number, char *line)
{
    struct model *model = user;
    char *text = strchr(line, '\t');
    char *gap = text ? strchr(text + 1, '\t') : NULL;
    if (line_number == 1 || line[0] == '\0')
        return MAMBA_FINE;
    if (!gap) {
        say("%s:%zu: prompt, continuation and gap are needed", path,
            line_number);
        return MAMBA_BAD_INPUT;
    }
    *text++ = '\0';
    *gap++ = '\0';
    struct model_golden *grown =
        realloc(model->golden, (model->golden_count + 1) * sizeof *grown);
    if (!grown)
        return out_of_memory();
    model->golden = grown;
    struct model_golden *golden = &grown[model->golden_count++];
    golden->prompt = files_unescape(line);
    golden->text = files_unescape(text);
    golden->gap = strtod(gap, NULL);
    return golden->prompt && golden->text ? MAMBA_FINE : out_of_memory();
}

/* What all shapes follow from. */
static void find_sizes(struct model *model)
{
    const struct model_layer *layer = &model->layers[0];
    model->width = model->embedding.columns;
    model->heads = layer->dt_bias.columns;
    model->taps = layer->conv_weight.columns;
    model->inner = layer->gate_norm.columns;
    model->channels = layer->conv_bias.columns;
    model->projected = model->inner + model->channels + model->heads;
    if (model->heads > 0)
        model->head_size = model->inner / model->heads;
    if (model->channels > model->inner)
        model->state_size = (model->channels - model->inner) / 2;
}

static enum mamba_exit expect(const struct model_tensor *tensor,
                              const char *name, size_t layer, size_t rows,
                              size_t columns)
{
    if (tensor->values && tensor->rows == rows && tensor->columns == columns)
        return MAMBA_FINE;
    say("weights: %s of layer %zu has shape %zux%zu, and must have %zux%zu",
        name, layer, tensor->rows, tensor->columns, rows, columns);
    return MAMBA_BAD_INPUT;
}

static enum mamba_exit check_layer(const struct model *model, size_t index)
{
    const struct model_layer *layer = &model->layers[index];
    TRY(expect(&layer->norm, "norm", index, 1, model->width));
    TRY(expect(&layer->in_proj, "in_proj", index, model->projected,
               model->width));
    TRY(expect(&layer->conv_weight, "conv_weight", index, model->channels,
               model->taps));
    TRY(expect(&layer->conv_bias, "conv_bias", index, 1, model->channels));
    TRY(expect(&layer->dt_bias, "dt_bias", index, 1, model->heads));
    TRY(expect(&layer->a_log, "a_log", index, 1, model->heads));
    TRY(expect(&layer->d, "d", index, 1, model->heads));
    TRY(expect(&layer->gate_norm, "gate_norm", index, 1, model->inner));
    return expect(&layer->out_proj, "out_proj", index, model->width,
                  model->inner);
}

static enum mamba_exit check_shapes(struct model *model)
{
    find_sizes(model);
    if (model->layer_count == 0 || model->heads == 0 ||
        model->state_size == 0 || model->taps < 2 ||
        model->heads * model->head_size != model->inner ||
        model->inner + 2 * model->state_size != model->channels ||
        model->width % 8 != 0 || model->token_count == 0) {
        say("weights: width %zu, %zu heads, inner size %zu, %zu channels and "
            "%zu taps make no model",
            model->width, model->heads, model->inner, model->channels,
            model->taps);
        return MAMBA_BAD_INPUT;
    }
    TRY(expect(&model->embedding, "embedding", 0, model->token_count,
               model->width));
    TRY(expect(&model->final_norm, "final_norm", 0, 1, model->width));
    TRY(expect(&model->head, "head", 0, model->token_count, model->width));
    for (size_t i = 0; i < model->layer_count; i++)
        TRY(check_layer(model, i));
    return MAMBA_FINE;
}

static enum mamba_exit load_from(struct model *model, const char *directory)
{
    struct loading loading = {model, 0};
    void *weights = NULL;
    TRY(files_read(directory, "weights.bin", &weights, &loading.weight_bytes));
    model->weights = weights;
    TRY(files_read_lines(directory, "weights.tsv", read_tensor_line, &loading));
    TRY(files_read_lines(directory, "vocab.txt", read_vocabulary_line, model));
    TRY(check_shapes(model));
    if (!files_exist(directory, "golden.tsv"))
        return MAMBA_FINE;
    return files_read_lines(directory, "golden.tsv", read_golden_line, model);
}

enum mamba_exit model_load(struct model *model, const char *directory)
{
    char *found = NULL;
    memset(model, 0, sizeof *model);
    memset(model->token_of, 0xff, sizeof model->token_of);
    if (!directory) {
        TRY(files_find_model(&found));
        directory = found;
    }
    const enum mamba_exit code = load_from(model, directory);
    free(found);
    return code;
}

void model_free(struct model *model)
{
    for (size_t i = 0; i < model->golden_count; i++) {
        free(model->golden[i].prompt);
        free(model->golden[i].text);
    }
    free(model->golden);
    free(model->weights);
    memset(model, 0, sizeof *model);
}

enum mamba_exit model_tokens(const struct model *model, const char *text,
                             int32_t **tokens, size_t *count)
{
    *count = strlen(text);
    if (*count == 0) {
        say("a prompt is empty, and must have a character at least");
        return MAMBA_BAD_INPUT;
    }
    for (size_t i = 0; i < *count; i++) {
        const unsigned char character = (unsigned char)text[i];
        if (model->token_of[character] >= 0)
            continue;
        say("prompt \"%s\": the model does not know character %zu (code %u)",
            text, i + 1, character);
        return MAMBA_BAD_INPUT;
    }
    *tokens = calloc(*count, sizeof **tokens);
    if (!*tokens)
        return out_of_memory();
    for (size_t i = 0; i < *count; i++)
        (*tokens)[i] = model->token_of[(unsigned char)text[i]];
    return MAMBA_FINE;
}

const char *model_golden_text(const struct model *model, const char *prompt)
{
    for (size_t i = 0; i < model->golden_count; i++) {
        if (model->golden[i].gap >= safe_gap &&
            strcmp(model->golden[i].prompt, prompt) == 0)
            return model->golden[i].text;
    }
    return NULL;
}
