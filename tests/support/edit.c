/* Kernel text with literal edits, in a folder of its own. */

#include "edit.h"

#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kernel_files[] = {"common.cl",     "move.cl",
                                           "ssm_rows.cl",   "ssm_copy.cl",
                                           "ssm_decide.cl", "ssm.cl"};

enum { KERNEL_FILES = sizeof(kernel_files) / sizeof(kernel_files[0]) };

static size_t count_matches(const char *text, const char *find)
{
    size_t count = 0;

    for (text = strstr(text, find); text;
         text = strstr(text + strlen(find), find)) {
        count++;
    }
    return count;
}

/* Frees `text`; returns the edited copy, or NULL. */
static char *replace_all(char *text, const struct text_edit *edit)
{
    const size_t count = count_matches(text, edit->find);
    char *result, *to;
    const char *from = text;

    if (count != edit->count) {
        fprintf(stderr,
                "%s: the edit expects %zu times, and finds %zu times:\n%s\n",
                edit->file, edit->count, count, edit->find);
        free(text);
        return NULL;
    }
    result = to = malloc(strlen(text) + count * strlen(edit->replace) + 1);
    if (!result) {
        free(text);
        return NULL;
    }
    for (const char *at; (at = strstr(from, edit->find)) != NULL;
         from = at + strlen(edit->find)) {
        memcpy(to, from, (size_t)(at - from));
        to += at - from;
        memcpy(to, edit->replace, strlen(edit->replace));
        to += strlen(edit->replace);
    }
    memcpy(to, from, strlen(from) + 1);
    free(text);
    return result;
}

char *edit_text(const char *file, const char *text,
                const struct text_edit *edits, size_t edit_count)
{
    char *result = malloc(strlen(text) + 1);

    if (result) {
        memcpy(result, text, strlen(text) + 1);
    }
    for (size_t i = 0; i < edit_count && result; i++) {
        if (strcmp(edits[i].file, file) == 0) {
            result = replace_all(result, &edits[i]);
        }
    }
    return result;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size;

    if (!file) {
        print_error("%s cannot be opened\n", path);
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
        fseek(file, 0, SEEK_SET) == 0) {
        text = calloc((size_t)size + 1, 1);
        if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
            free(text);
            text = NULL;
        }
    }
    fclose(file);
    return text;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

void edited_folder_open(struct edited_folder *folder, const char *source,
                        const struct text_edit *edits, size_t edit_count)
{
    const char *temporary = getenv("TMPDIR");
    char path[512];

    for (size_t i = 0; i < edit_count; i++) {
        int known = 0;
        for (size_t file = 0; file < KERNEL_FILES; file++) {
            known |= strcmp(edits[i].file, kernel_files[file]) == 0;
        }
        assert_true(known);
    }
    snprintf(folder->path, sizeof(folder->path), "%s/clmove-edited-XXXXXX",
             temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(folder->path));
    for (size_t file = 0; file < KERNEL_FILES; file++) {
        char *text, *edited;
        snprintf(path, sizeof(path), "%s/%s", source, kernel_files[file]);
        text = read_text(path);
        assert_non_null(text);
        edited = edit_text(kernel_files[file], text, edits, edit_count);
        free(text);
        if (!edited) {
            edited_folder_close(folder);
            fail();
            return;
        }
        snprintf(path, sizeof(path), "%s/%s", folder->path, kernel_files[file]);
        write_text(path, edited);
        free(edited);
    }
}

void edited_folder_close(struct edited_folder *folder)
{
    char path[512];

    for (size_t file = 0; file < KERNEL_FILES; file++) {
        snprintf(path, sizeof(path), "%s/%s", folder->path, kernel_files[file]);
        unlink(path);
    }
    rmdir(folder->path);
}
