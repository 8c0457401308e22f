/* Reading a text line by line, with errors that name the place. */

#include "reader.h"

#include "cli.h"
#include "number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads to the end, growing the text as it goes: a pipe has no size. */
static bool read_all(struct reader *reader, FILE *file)
{
    size_t room = 0;
    do {
        if (room - reader->size < 4096) {
            room = room ? room * 2 : 1 << 16;
            char *grown = realloc(reader->owned, room);
            if (!grown) {
                cli_error("%s: out of memory at %zu bytes", reader->name, room);
                return false;
            }
            reader->owned = grown;
        }
        reader->size +=
            fread(reader->owned + reader->size, 1, room - reader->size, file);
    } while (!feof(file) && !ferror(file));
    if (ferror(file)) {
        cli_error("%s: cannot be read: %s", reader->name, strerror(errno));
        return false;
    }
    return true;
}

bool reader_open_any(struct reader *reader, const char *path)
{
    memset(reader, 0, sizeof *reader);
    bool standard = strcmp(path, "-") == 0;
    reader->name = standard ? "standard input" : path;
    FILE *file = standard ? stdin : fopen(path, "rb");
    if (!file) {
        cli_error("%s: cannot be opened: %s", path, strerror(errno));
        return false;
    }
    bool fine = read_all(reader, file);
    if (!standard)
        fclose(file);
    reader->text = reader->owned;
    if (fine && memchr(reader->text, '\0', reader->size)) {
        cli_error("%s: contains a NUL byte, so it is no text file",
                  reader->name);
        fine = false;
    }
    if (!fine)
        reader_close(reader);
    return fine;
}

bool reader_open(struct reader *reader, const char *path)
{
    if (!reader_open_any(reader, path))
        return false;
    if (reader->size > 0)
        return true;
    cli_error("%s: the file is empty", path);
    reader_close(reader);
    return false;
}

void reader_open_text(struct reader *reader, const char *name, const char *text)
{
    memset(reader, 0, sizeof *reader);
    reader->name = name;
    reader->text = text;
    reader->size = strlen(text);
}

void reader_close(struct reader *reader)
{
    free(reader->owned);
    memset(reader, 0, sizeof *reader);
}

int reader_next(struct reader *reader)
{
    if (reader->next >= reader->size)
        return 0;
    reader->line++;
    reader->current = reader->text + reader->next;
    size_t rest = reader->size - reader->next;
    const char *end = memchr(reader->current, '\n', rest);
    reader->current_size = end ? (size_t)(end - reader->current) : rest;
    reader->next += reader->current_size + (end ? 1 : 0);
    size_t size = reader->current_size;
    if (size > 0 && reader->current[size - 1] == '\r') {
        reader_error(reader, "the line ends in CR LF; lines must end in LF "
                             "alone (dos2unix converts a file)");
        return -1;
    }
    return 1;
}

bool reader_error(const struct reader *reader, const char *format, ...)
{
    char sentence[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    cli_error("%s:%" PRIu64 ": %s", reader->name, reader->line, sentence);
    return false;
}

bool reader_is(const struct reader *reader, const char *text)
{
    return strlen(text) == reader->current_size && reader_starts(reader, text);
}

bool reader_starts(const struct reader *reader, const char *text)
{
    size_t size = strlen(text);
    return size <= reader->current_size &&
           memcmp(text, reader->current, size) == 0;
}

bool reader_fields(const struct reader *reader, const char *const *names,
                   struct reader_field *fields, size_t count)
{
    const char *start = reader->current;
    const char *end = start + reader->current_size;
    for (size_t i = 0; i < count; i++) {
        if (start > end)
            return reader_error(reader,
                                "%zu fields instead of %zu: %s is missing", i,
                                count, names[i]);
        const char *tab = memchr(start, '\t', (size_t)(end - start));
        fields[i].text = start;
        fields[i].size = (size_t)((tab ? tab : end) - start);
        if (fields[i].size == 0)
            return reader_error(reader, "%s (field %zu) is missing", names[i],
                                i + 1);
        start = tab ? tab + 1 : end + 1;
    }
    if (start <= end)
        return reader_error(reader, "more than %zu fields", count);
    return true;
}

size_t reader_words(const struct reader *reader, struct reader_field *fields,
                    size_t room)
{
    const char *at = reader->current, *end = at + reader->current_size;
    const char *comment = memchr(at, '#', reader->current_size);
    size_t count = 0;
    if (comment)
        end = comment;
    while (at < end && count <= room) {
        if (*at == ' ' || *at == '\t') {
            at++;
            continue;
        }
        const char *start = at;
        while (at < end && *at != ' ' && *at != '\t')
            at++;
        if (count < room) {
            fields[count].text = start;
            fields[count].size = (size_t)(at - start);
        }
        count++;
    }
    return count;
}

bool reader_number(const struct reader *reader, const char *name,
                   struct reader_field field, uint64_t minimum,
                   uint64_t maximum, uint64_t *value)
{
    char why[160];
    if (number_read_within(field.text, field.size, minimum, maximum, value, why,
                           sizeof why))
        return true;
    return reader_error(reader, "%s %s", name, why);
}
