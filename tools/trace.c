/* A recorded decode: what every running slot did in every step. */

#include "trace.h"

#include "cli.h"
#include "reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "# clmove-trace 1";
static const char columns[] =
    "step\tslot\tcomputed\tscheduled\tdraft\taccepted";
static const char *const column_names[] = {"step",      "slot",  "computed",
                                           "scheduled", "draft", "accepted"};
enum { COLUMN_COUNT = sizeof column_names / sizeof *column_names };

/* Columns of a block table, and tokens, must stay int32. */
#define TOKENS_MAX ((uint64_t)INT32_MAX / 2)

struct header {
    const char *name;
    uint64_t minimum, maximum, value;
    bool seen;
};
enum {
    HEADER_BLOCK_SIZE,
    HEADER_DRAFT_TOKENS,
    HEADER_SLOTS,
    HEADER_STEPS,
    HEADER_COUNT
};

static bool read_header_line(const struct reader *reader,
                             struct header *headers)
{
    struct reader_field rest = {reader->current + 1, reader->current_size - 1};
    while (rest.size > 0 && rest.text[0] == ' ') {
        rest.text++;
        rest.size--;
    }
    for (int i = 0; i < HEADER_COUNT; i++) {
        struct header *header = &headers[i];
        size_t size = strlen(header->name);
        if (rest.size <= size || memcmp(rest.text, header->name, size) != 0 ||
            rest.text[size] != ':')
            continue;
        if (header->seen)
            return reader_error(reader, "%s is given twice", header->name);
        struct reader_field value = {rest.text + size + 1,
                                     rest.size - size - 1};
        while (value.size > 0 && value.text[0] == ' ') {
            value.text++;
            value.size--;
        }
        header->seen = true;
        return reader_number(reader, header->name, value, header->minimum,
                             header->maximum, &header->value);
    }
    return true; /* a remark, such as the source */
}

static bool read_headers(struct reader *reader, struct header *headers)
{
    if (reader_next(reader) < 0)
        return false;
    if (!reader_is(reader, magic))
        return reader_error(reader, "the first line must be \"%s\"", magic);
    int more;
    while ((more = reader_next(reader)) > 0 && reader_starts(reader, "#")) {
        if (!read_header_line(reader, headers))
            return false;
    }
    if (more < 0)
        return false;
    for (int i = 0; i < HEADER_COUNT; i++) {
        if (!headers[i].seen)
            return reader_error(reader, "the header \"# %s: ...\" is missing",
                                headers[i].name);
    }
    if (more == 0)
        return reader_error(reader, "the line of column names is missing");
    if (!reader_is(reader, columns))
        return reader_error(reader, "the column names must be step, slot, "
                                    "computed, scheduled, draft, accepted, "
                                    "with tabs between them");
    return true;
}

static bool read_row(const struct reader *reader, const struct trace *trace,
                     uint64_t *step, struct trace_row *row)
{
    struct reader_field fields[COLUMN_COUNT];
    if (!reader_fields(reader, column_names, fields, COLUMN_COUNT))
        return false;
    uint64_t values[COLUMN_COUNT];
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (!reader_number(reader, column_names[i], fields[i], 0, TOKENS_MAX,
                           &values[i]))
            return false;
    }
    uint64_t scheduled = values[3], draft = values[4], accepted = values[5];
    *step = values[0];
    if (*step >= trace->declared_steps)
        return reader_error(reader,
                            "step %" PRIu64 " is beyond the header's %" PRIu64
                            " steps (0 to %" PRIu64 ")",
                            *step, trace->declared_steps,
                            trace->declared_steps - 1);
    if (values[1] >= trace->slots)
        return reader_error(reader,
                            "slot %" PRIu64
                            " is beyond the header's %u slots (0 to %u)",
                            values[1], trace->slots, trace->slots - 1);
    if (scheduled < 1)
        return reader_error(reader, "scheduled is 0: a slot that does nothing "
                                    "in a step has no row");
    if (draft > trace->draft_tokens)
        return reader_error(
            reader, "draft is %" PRIu64 ", above the header's draft_tokens %u",
            draft, trace->draft_tokens);
    if (draft >= scheduled)
        return reader_error(reader,
                            "draft is %" PRIu64
                            ", and must be below scheduled, %" PRIu64,
                            draft, scheduled);
    if (accepted < 1 || accepted > draft + 1)
        return reader_error(reader,
                            "accepted is %" PRIu64
                            ", and must be 1 to draft + 1, %" PRIu64,
                            accepted, draft + 1);
    row->slot = (uint32_t)values[1];
    row->computed = (int32_t)values[2];
    row->scheduled = (int32_t)scheduled;
    row->draft = (int32_t)draft;
    row->accepted = (int32_t)accepted;
    return true;
}

/* Room for one more element of an array that doubles when it is full. */
static bool make_room(void **array, size_t count, size_t element_size)
{
    if (count & (count - 1))
        return true;
    void *grown = realloc(*array, (count ? count * 2 : 1) * element_size);
    if (!grown)
        return false;
    *array = grown;
    return true;
}

/* What the rows so far say of a slot. */
struct slot_end {
    uint64_t steps;   /* up to and with its last one; 0: it had none */
    int64_t computed; /* after that step */
};

/* A row goes on where its slot's last one ended, or begins a request: at token
 * 0, or behind blocks that were kept. */
static bool begins_or_goes_on(const struct reader *reader,
                              const struct trace *trace,
                              const struct trace_row *row,
                              const struct slot_end *end)
{
    if (row->computed % (int64_t)trace->block_size == 0 ||
        (end->steps > 0 && end->computed == row->computed))
        return true;
    if (end->steps == 0)
        return reader_error(reader,
                            "computed is %d in the first row of slot %u, and "
                            "must be a multiple of block_size, %u",
                            row->computed, row->slot, trace->block_size);
    return reader_error(reader,
                        "computed is %d, and must be %" PRId64
                        ", where the last row of slot %u ended, or, for a new "
                        "request, a multiple of block_size, %u",
                        row->computed, end->computed, row->slot,
                        trace->block_size);
}

static bool add_row(const struct reader *reader, struct trace *trace,
                    uint64_t number, const struct trace_row *row,
                    struct slot_end *end)
{
    struct trace_step *last =
        trace->step_count ? &trace->steps[trace->step_count - 1] : NULL;
    if (last && number < last->number)
        return reader_error(reader,
                            "step goes backwards, from %" PRIu64 " to %" PRIu64,
                            last->number, number);
    if (end->steps == number + 1)
        return reader_error(reader, "slot %u has a second row in step %" PRIu64,
                            row->slot, number);
    if (!begins_or_goes_on(reader, trace, row, end))
        return false;
    end->steps = number + 1;
    end->computed = (int64_t)row->computed + row->scheduled - row->draft +
                    row->accepted - 1;
    void *rows = trace->rows, *steps = trace->steps;
    bool room = make_room(&rows, trace->row_count, sizeof *trace->rows);
    trace->rows = rows;
    if (room && (!last || number != last->number)) {
        room = make_room(&steps, trace->step_count, sizeof *trace->steps);
        trace->steps = steps;
        if (room)
            trace->steps[trace->step_count++] =
                (struct trace_step){number, trace->row_count, 0, 0};
    }
    if (!room)
        return reader_error(reader, "out of memory");
    struct trace_step *step = &trace->steps[trace->step_count - 1];
    step->count++;
    step->scheduled += (uint64_t)row->scheduled;
    trace->rows[trace->row_count++] = *row;
    return step->scheduled <= TOKENS_MAX ||
           reader_error(reader,
                        "step %" PRIu64 " has %" PRIu64
                        " tokens scheduled, and must have at most %" PRIu64,
                        number, step->scheduled, TOKENS_MAX);
}

/* The header's last step is there; steps before it may have no rows. */
static bool is_whole(const struct reader *reader, const struct trace *trace)
{
    uint64_t steps = trace->steps[trace->step_count - 1].number + 1;
    return steps == trace->declared_steps ||
           reader_error(reader,
                        "the trace ends after %" PRIu64
                        " of the header's %" PRIu64 " steps",
                        steps, trace->declared_steps);
}

static bool read_rows(struct reader *reader, struct trace *trace)
{
    struct slot_end *ends = calloc(trace->slots, sizeof *ends);
    if (!ends)
        return reader_error(reader, "out of memory");
    int more;
    bool fine = true;
    while (fine && (more = reader_next(reader)) != 0) {
        uint64_t number;
        struct trace_row row;
        fine = more > 0 && read_row(reader, trace, &number, &row) &&
               add_row(reader, trace, number, &row, &ends[row.slot]);
    }
    free(ends);
    if (fine && trace->row_count == 0)
        fine = reader_error(reader, "there is no row after the column names");
    return fine && is_whole(reader, trace);
}

bool trace_load(struct trace *trace, const char *path)
{
    struct header headers[HEADER_COUNT] = {
        {"block_size", 1, TOKENS_MAX, 0, false},
        {"draft_tokens", 0, 1024, 0, false},
        {"slots", 1, 1 << 16, 0, false},
        {"steps", 1, UINT32_MAX, 0, false}};
    memset(trace, 0, sizeof *trace);
    struct reader reader;
    if (!reader_open(&reader, path))
        return false;
    bool fine = read_headers(&reader, headers);
    if (fine) {
        trace->block_size = (uint32_t)headers[HEADER_BLOCK_SIZE].value;
        trace->draft_tokens = (uint32_t)headers[HEADER_DRAFT_TOKENS].value;
        trace->slots = (uint32_t)headers[HEADER_SLOTS].value;
        trace->declared_steps = headers[HEADER_STEPS].value;
        fine = read_rows(&reader, trace);
    }
    reader_close(&reader);
    if (!fine)
        trace_free(trace);
    return fine;
}

void trace_free(struct trace *trace)
{
    free(trace->rows);
    free(trace->steps);
    memset(trace, 0, sizeof *trace);
}
