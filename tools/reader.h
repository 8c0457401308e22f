/* Reading a text line by line, with errors that name the place. */

#ifndef TOOLS_READER_H
#define TOOLS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader {
    const char *name; /* of the file, for messages */
    char *owned;      /* the text, when it came from a file */
    const char *text;
    size_t size, next;
    uint64_t line;       /* number of the current line, from 1 */
    const char *current; /* without its newline; not terminated */
    size_t current_size;
};

/* A piece of the current line. */
struct reader_field {
    const char *text;
    size_t size;
};

/* Reads the whole file; prints why and returns false when it cannot, also when
 * it is empty or contains a NUL byte. */
bool reader_open(struct reader *reader, const char *path);

/* The same, but an empty file is fine, and "-" is standard input. */
bool reader_open_any(struct reader *reader, const char *path);

/* Reads a text that is part of the program. */
void reader_open_text(struct reader *reader, const char *name,
                      const char *text);

void reader_close(struct reader *reader);

/* Goes to the next line: 1, 0 at the end, -1 after printing that the line ends
 * in CR LF. */
int reader_next(struct reader *reader);

/* Prints "FILE:LINE: SENTENCE". Returns false, so that callers can return it.
 */
bool reader_error(const struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether the current line is exactly, or starts with, `text`. */
bool reader_is(const struct reader *reader, const char *text);
bool reader_starts(const struct reader *reader, const char *text);

/* Cuts the current line at its tabs. Prints an error and returns false unless
 * there are exactly `count` fields, none of them empty; `names` are theirs. */
bool reader_fields(const struct reader *reader, const char *const *names,
                   struct reader_field *fields, size_t count);

/* Cuts the current line at blanks and tabs, a comment from '#' on left out.
 * Returns the number of fields; of more than `room`, room + 1. */
size_t reader_words(const struct reader *reader, struct reader_field *fields,
                    size_t room);

/* Reads a field as a number within bounds; prints an error naming it. */
bool reader_number(const struct reader *reader, const char *name,
                   struct reader_field field, uint64_t minimum,
                   uint64_t maximum, uint64_t *value);

#endif
