/* A list of moves as text: its entries, their conflicts, their result. */

#ifndef TOOLS_LIST_H
#define TOOLS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `rows` rows of `size` bytes each. */
struct list_entry {
    uint64_t src, dst, size;
    uint64_t rows; /* at least 1 */
    uint64_t src_stride, dst_stride;
    uint64_t line; /* in the file */
};

struct list {
    const char *name; /* of the file, for messages */
    struct list_entry *entries;
    size_t count, room;
    uint64_t row_count; /* of all entries */
    uint64_t extent;    /* the end of what the list reads and writes */
};

/* Reads a list ("-": standard input). Prints what is wrong with a line, naming
 * file, line and field. list_free is needed then, too. */
bool list_load(struct list *list, const char *path);
void list_free(struct list *list);

/* Whether all entries lie within `size` bytes; prints the one that does not.
 * `what` has them ("the input file"). */
bool list_fits(const struct list *list, uint64_t size, const char *what);

/* Whether no byte is written twice; prints both lines and the byte otherwise.
 * With `independent`, no entry may read what another one writes either.
 * Entries that do nothing do not count. */
bool list_has_no_conflict(const struct list *list, bool independent);

/* What the list makes of `before`, written into `after`, a copy of it. */
void list_apply(const struct list *list, const unsigned char *before,
                unsigned char *after);

/* Whether an entry moves no byte, or every byte onto itself. */
bool list_entry_idle(const struct list_entry *entry);

#endif
