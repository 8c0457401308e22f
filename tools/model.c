/* The shapes of published models' recurrent states. */

#include "model.h"

#include "cli.h"
#include "embedded.h"
#include "reader.h"

#include <stdio.h>
#include <string.h>

static const char *const column_names[] = {
    "model",      "recurrent_layers", "conv_taps",     "conv_dim",
    "conv_dtype", "temporal_shape",   "temporal_dtype"};
enum { COLUMN_COUNT = sizeof column_names / sizeof *column_names };

enum { NAMES_SIZE = 4096 };

static bool field_is(struct reader_field field, const char *text)
{
    return field.size == strlen(text) &&
           memcmp(field.text, text, field.size) == 0;
}

/* A question mark after a type says that the table's author is not certain. */
static bool read_type(const struct reader *reader, const char *column,
                      struct reader_field field, uint32_t *size)
{
    static const struct {
        const char *name;
        uint32_t size;
    } types[] = {{"fp8", 1},  {"int8", 1}, {"fp16", 2},
                 {"bf16", 2}, {"fp32", 4}, {"fp64", 8}};
    struct reader_field bare = field;
    if (bare.size > 1 && bare.text[bare.size - 1] == '?')
        bare.size--;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (field_is(bare, types[i].name)) {
            *size = types[i].size;
            return true;
        }
    }
    return reader_error(reader,
                        "%s is \"%.*s\", and must be fp8, int8, fp16, bf16, "
                        "fp32 or fp64, with or without a ?",
                        column, (int)(field.size > 40 ? 40 : field.size),
                        field.text);
}

static bool read_shape(const struct reader *reader, struct reader_field field,
                       struct model *model)
{
    const char *start = field.text, *end = start + field.size;
    model->temporal_outer = 0;
    model->temporal_inner = 1;
    while (start <= end) {
        const char *cross = memchr(start, 'x', (size_t)(end - start));
        struct reader_field part = {start,
                                    (size_t)((cross ? cross : end) - start)};
        uint64_t extent;
        if (!reader_number(reader, "a dimension of temporal_shape", part, 1,
                           1 << 20, &extent))
            return false;
        if (model->temporal_outer == 0)
            model->temporal_outer = extent;
        else
            model->temporal_inner *= extent;
        if (model->temporal_inner > UINT32_MAX / (1 << 3))
            return reader_error(reader, "temporal_shape is too large: %.*s",
                                (int)(field.size > 40 ? 40 : field.size),
                                field.text);
        start = cross ? cross + 1 : end + 1;
    }
    if (model->temporal_outer * model->temporal_inner > UINT32_MAX / 8)
        return reader_error(reader, "temporal_shape has more than %u elements",
                            UINT32_MAX / 8);
    return true;
}

static bool read_model(const struct reader *reader, struct model *model)
{
    struct reader_field fields[COLUMN_COUNT];
    if (!reader_fields(reader, column_names, fields, COLUMN_COUNT))
        return false;
    memset(model, 0, sizeof *model);
    if (fields[0].size >= sizeof model->name)
        return reader_error(reader, "model has more than %zu characters",
                            sizeof model->name - 1);
    memcpy(model->name, fields[0].text, fields[0].size);
    uint64_t layers, taps, dim;
    if (!reader_number(reader, column_names[1], fields[1], 1, 4096, &layers) ||
        !reader_number(reader, column_names[2], fields[2], 2, 64, &taps) ||
        !reader_number(reader, column_names[3], fields[3], 1, 1 << 24, &dim) ||
        !read_type(reader, column_names[4], fields[4], &model->conv_element))
        return false;
    model->layers = (uint32_t)layers;
    model->taps = (uint32_t)taps;
    model->conv_dim = (uint32_t)dim;
    bool no_shape = field_is(fields[5], "-"),
         no_type = field_is(fields[6], "-");
    if (no_shape != no_type)
        return reader_error(reader, "only one of temporal_shape and "
                                    "temporal_dtype is -");
    if (no_shape)
        return true;
    return read_shape(reader, fields[5], model) &&
           read_type(reader, column_names[6], fields[6],
                     &model->temporal_element);
}

/* The names read so far, each between two newlines. */
static bool known(const char *names, const char *name)
{
    char pattern[72];
    snprintf(pattern, sizeof pattern, "\n%s\n", name);
    return strstr(names, pattern) != NULL;
}

static bool read_columns(struct reader *reader)
{
    int more;
    while ((more = reader_next(reader)) > 0 && reader_starts(reader, "#")) {
    }
    if (more < 0)
        return false;
    char expected[128] = "";
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "%s%s", i ? "\t" : "",
                 column_names[i]);
    }
    if (more == 0 || !reader_is(reader, expected))
        return reader_error(reader,
                            "the column names must be model, "
                            "recurrent_layers, conv_taps, conv_dim, "
                            "conv_dtype, temporal_shape, temporal_dtype, with "
                            "tabs between them");
    return true;
}

/* 1 found, 0 not in the table, -1 after printing what is wrong with it. */
static int search(struct reader *reader, const char *name, struct model *found,
                  char *names)
{
    if (!read_columns(reader))
        return -1;
    int more, result = 0;
    names[0] = '\n';
    names[1] = '\0';
    while ((more = reader_next(reader)) != 0) {
        struct model model;
        if (more < 0 || !read_model(reader, &model))
            return -1;
        size_t used = strlen(names);
        if (known(names, model.name)) {
            reader_error(reader, "model \"%s\" is listed twice", model.name);
            return -1;
        }
        if (used + strlen(model.name) + 2 > NAMES_SIZE) {
            reader_error(reader, "the table has too many models");
            return -1;
        }
        snprintf(names + used, NAMES_SIZE - used, "%s\n", model.name);
        if (strcmp(model.name, name) == 0) {
            *found = model;
            result = 1;
        }
    }
    return result;
}

bool model_find(struct model *model, const char *path, const char *name)
{
    struct reader reader;
    if (!path)
        reader_open_text(&reader, "the built-in models.tsv",
                         tools_models_files[0].text);
    else if (!reader_open(&reader, path))
        return false;
    char names[NAMES_SIZE];
    int result = search(&reader, name, model, names);
    if (result == 0) {
        names[strlen(names) - 1] = '\0';
        for (char *place = names; *place; place++) {
            if (*place == '\n')
                *place = ' ';
        }
        cli_error("--model \"%s\" is not in %s, which has:%s", name,
                  reader.name, names[0] ? names : " nothing");
    }
    reader_close(&reader);
    return result > 0;
}
