/* A list of moves as text: its entries, their conflicts, their result. */

#include "list.h"

#include "cli.h"
#include "number.h"
#include "reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MOVE = 3, FIELDS_ROWS = 6 };

static const char *const field_names[FIELDS_ROWS] = {
    "src", "dst", "size", "rows", "src_stride", "dst_stride"};

/* Where the rows of one side end; false when that exceeds 64 bits. */
static bool find_end(uint64_t offset, const struct list_entry *entry,
                     uint64_t stride, uint64_t *end)
{
    uint64_t steps = entry->rows - 1;
    if (steps > 0 && stride > UINT64_MAX / steps)
        return false;
    uint64_t last = steps * stride;
    if (offset > UINT64_MAX - last || offset + last > UINT64_MAX - entry->size)
        return false;
    *end = offset + last + entry->size;
    return true;
}

static bool read_entry(const struct reader *reader, struct list_entry *entry)
{
    struct reader_field fields[FIELDS_ROWS];
    uint64_t *const values[FIELDS_ROWS] = {
        &entry->src,  &entry->dst,        &entry->size,
        &entry->rows, &entry->src_stride, &entry->dst_stride};
    size_t count = reader_words(reader, fields, FIELDS_ROWS);
    if (count < FIELDS_MOVE)
        return reader_error(reader, "%s is missing (field %zu)",
                            field_names[count], count + 1);
    if (count > FIELDS_MOVE && count < FIELDS_ROWS)
        return reader_error(reader,
                            "%s is missing (field %zu): rows, src_stride and "
                            "dst_stride come together",
                            field_names[count], count + 1);
    if (count > FIELDS_ROWS)
        return reader_error(reader, "more than %d fields", FIELDS_ROWS);
    for (size_t i = 0; i < count; i++) {
        char why[160];
        if (!number_read_any_within(fields[i].text, fields[i].size, i == 3,
                                    UINT64_MAX, values[i], why, sizeof why))
            return reader_error(reader, "%s (field %zu) %s", field_names[i],
                                i + 1, why);
    }
    return true;
}

static bool grow(struct list *list)
{
    if (list->count < list->room)
        return true;
    size_t room = list->room ? list->room * 2 : 256;
    struct list_entry *grown =
        room <= SIZE_MAX / sizeof *grown
            ? realloc(list->entries, room * sizeof *grown)
            : NULL;
    if (!grown) {
        cli_error("%s: out of memory at %zu entries", list->name, list->count);
        return false;
    }
    list->entries = grown;
    list->room = room;
    return true;
}

static bool add_line(struct list *list, const struct reader *reader)
{
    struct reader_field none[1];
    if (reader_words(reader, none, 1) == 0)
        return true;
    struct list_entry entry = {0, 0, 0, 1, 0, 0, reader->line};
    if (!read_entry(reader, &entry))
        return false;
    uint64_t src_end = 0, dst_end = 0;
    if (!find_end(entry.src, &entry, entry.src_stride, &src_end))
        return reader_error(reader, "the end of src does not fit 64 bits");
    if (!find_end(entry.dst, &entry, entry.dst_stride, &dst_end))
        return reader_error(reader, "the end of dst does not fit 64 bits");
    if (entry.rows > UINT64_MAX - list->row_count)
        return reader_error(reader, "the rows of the list exceed 64 bits");
    if (!grow(list))
        return false;
    list->entries[list->count++] = entry;
    list->row_count += entry.rows;
    if (src_end > list->extent)
        list->extent = src_end;
    if (dst_end > list->extent)
        list->extent = dst_end;
    return true;
}

bool list_load(struct list *list, const char *path)
{
    struct reader reader;
    memset(list, 0, sizeof *list);
    if (!reader_open_any(&reader, path))
        return false;
    list->name = reader.name;
    int more = 1;
    while (more == 1) {
        more = reader_next(&reader);
        if (more == 1 && !add_line(list, &reader))
            more = -1;
    }
    reader_close(&reader);
    return more == 0;
}

void list_free(struct list *list)
{
    free(list->entries);
    memset(list, 0, sizeof *list);
}

bool list_fits(const struct list *list, uint64_t size, const char *what)
{
    for (size_t i = 0; i < list->count && list->extent > size; i++) {
        const struct list_entry *entry = &list->entries[i];
        const uint64_t offsets[2] = {entry->src, entry->dst};
        const uint64_t strides[2] = {entry->src_stride, entry->dst_stride};
        for (int side = 0; side < 2; side++) {
            uint64_t end = 0;
            if (find_end(offsets[side], entry, strides[side], &end) &&
                end <= size)
                continue;
            cli_error("%s:%" PRIu64 ": %s reaches up to byte %" PRIu64
                      ", and %s has %" PRIu64 " bytes",
                      list->name, entry->line, field_names[side], end, what,
                      size);
            return false;
        }
    }
    return true;
}

bool list_entry_idle(const struct list_entry *entry)
{
    return entry->size == 0 ||
           (entry->src == entry->dst &&
            (entry->rows == 1 || entry->src_stride == entry->dst_stride));
}

/* A row that moves something. */
struct row {
    uint64_t src, dst;
    size_t entry;
};

static struct row row_of(const struct list_entry *entry, uint64_t number)
{
    struct row row = {entry->src + number * entry->src_stride,
                      entry->dst + number * entry->dst_stride, 0};
    return row;
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->dst != b->dst)
        return a->dst < b->dst ? -1 : 1;
    return (a->entry > b->entry) - (a->entry < b->entry);
}

/* All rows that move something, sorted by destination. NULL after printing that
 * memory is out. */
static struct row *sort_rows(const struct list *list, size_t *count)
{
    struct row *rows = NULL;
    if (list->row_count < SIZE_MAX / sizeof *rows)
        rows = malloc(((size_t)list->row_count + 1) * sizeof *rows);
    if (!rows) {
        cli_error("%s: out of memory for %" PRIu64 " rows", list->name,
                  list->row_count);
        return NULL;
    }
    *count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct list_entry *entry = &list->entries[i];
        for (uint64_t k = 0; entry->size > 0 && k < entry->rows; k++) {
            struct row row = row_of(entry, k);
            row.entry = i;
            if (row.src != row.dst)
                rows[(*count)++] = row;
        }
    }
    qsort(rows, *count, sizeof *rows, compare_rows);
    return rows;
}

static bool conflict(const struct list *list, const struct row *first,
                     const struct row *second, const char *verb, uint64_t byte)
{
    uint64_t lines[2] = {list->entries[first->entry].line,
                         list->entries[second->entry].line};
    if (lines[0] == lines[1])
        cli_error("%s:%" PRIu64 ": one of its rows writes byte %" PRIu64
                  ", and another one %s it",
                  list->name, lines[0], byte, verb);
    else
        cli_error("%s:%" PRIu64 " writes byte %" PRIu64 ", and %s:%" PRIu64
                  " %s it",
                  list->name, lines[0], byte, list->name, lines[1], verb);
    return false;
}

/* Whether another row writes into the source of `reader`. */
static bool source_is_safe(const struct list *list, const struct row *rows,
                           size_t count, size_t reader)
{
    const struct row *row = &rows[reader];
    uint64_t end = row->src + list->entries[row->entry].size;
    size_t low = 0, high = count;
    /* The first destination that ends above the source's start. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].dst + list->entries[rows[middle].entry].size >
            row->src)
            high = middle;
        else
            low = middle + 1;
    }
    for (; low < count && rows[low].dst < end; low++) {
        uint64_t byte = rows[low].dst > row->src ? rows[low].dst : row->src;
        if (low != reader)
            return conflict(list, &rows[low], row, "reads", byte);
    }
    return true;
}

bool list_has_no_conflict(const struct list *list, bool independent)
{
    size_t count = 0;
    struct row *rows = sort_rows(list, &count);
    if (!rows)
        return false;
    bool fine = true;
    for (size_t i = 1; fine && i < count; i++) {
        const struct row *below = &rows[i - 1];
        if (rows[i].dst < below->dst + list->entries[below->entry].size)
            fine = conflict(list, below, &rows[i], "writes", rows[i].dst);
    }
    for (size_t i = 0; fine && independent && i < count; i++)
        fine = source_is_safe(list, rows, count, i);
    free(rows);
    return fine;
}

void list_apply(const struct list *list, const unsigned char *before,
                unsigned char *after)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct list_entry *entry = &list->entries[i];
        for (uint64_t k = 0; entry->size > 0 && k < entry->rows; k++) {
            struct row row = row_of(entry, k);
            if (row.src != row.dst)
                memcpy(after + row.dst, before + row.src, (size_t)entry->size);
        }
    }
}
