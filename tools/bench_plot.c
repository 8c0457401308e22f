/* Pictures of a benchmark's rows. */

#include "bench_plot.h"

#include "plot.h"

#include <stdlib.h>
#include <string.h>

enum { X_BYTES, X_NUMBER };

/* The rows of a curve: their text is `before`, with X_NUMBER a number, then
 * `after`. */
struct source {
    const char *title;
    int style;
    const char *before, *after;
    const char *base; /* what the rows are compared with */
    bool draws_base;  /* in place of clmove */
};

struct panel {
    const char *title;
    struct source curves[PLOT_CURVES];
};

struct figure {
    const char *name, *subject;
    const char *x_label, *y_label;
    int x;
    bool rate;    /* else time */
    bool largest; /* only rows of as many bytes as the largest */
    struct panel panels[PLOT_PANELS];
};

#define COPY "clEnqueueCopyBuffer"

/* One batch size after the other, in one layout. */
#define CROSSING(layout)                                                       \
    {                                                                          \
        {"clmove", PLOT_OWN, layout ", ", " cross", "baseline", false},        \
            {"baseline", PLOT_OTHER, layout ", ", " cross", "baseline", true}, \
        {                                                                      \
            COPY, PLOT_LIMIT, layout ", ", " cross", COPY, true                \
        }                                                                      \
    }

static const struct figure figures[] = {
    {"move_size",
     "move",
     "bytes moved",
     "GB/s, read + written",
     X_BYTES,
     true,
     false,
     {{NULL,
       {{COPY ", disjoint", PLOT_LIMIT, "disjoint, auto", "", COPY, true},
        {"clmove, disjoint", PLOT_OWN, "disjoint, auto", "", COPY, false},
        {"clmove's kernel, disjoint", PLOT_OWN_2, "disjoint, kernel", "", COPY,
         false},
        {"clmove, left by 1 byte", PLOT_OWN_3, "left by 1", "", COPY, false},
        {"clmove, left by 64 KiB", PLOT_OTHER, "left by 65536", "", COPY,
         false}}}}},
    {"move_shift",
     "move",
     "distance",
     "GB/s, read + written",
     X_NUMBER,
     true,
     true,
     {{NULL,
       {{COPY ", disjoint", PLOT_LIMIT, "left by ", "", COPY, true},
        {"clmove, left", PLOT_OWN, "left by ", "", COPY, false},
        {"clmove, right", PLOT_OWN_2, "right by ", "", COPY, false}}}}},
    {"states_batch",
     "states",
     "requests in the batch",
     "us for a batch",
     X_NUMBER,
     false,
     false,
     {{"SD, everybody crosses", CROSSING("sd")},
      {"DS, everybody crosses", CROSSING("ds")},
      {"nobody crosses",
       {{"clmove", PLOT_OWN, "v1, ", " idle", "baseline", false},
        {"baseline", PLOT_OTHER, "v1, ", " idle", "baseline", true},
        {"empty kernel", PLOT_LIMIT, "v1, ", " idle", "empty kernel",
         true}}}}}};

/* By events where the device has times. */
static const char *choose_clock(const struct bench_table *table,
                                const char *subject)
{
    for (size_t i = 0; i < table->kept_count; i++) {
        if (strcmp(table->kept[i].name.subject, subject) == 0 &&
            strcmp(table->kept[i].row.clock, "device") == 0)
            return "device";
    }
    return "wall";
}

static uint64_t largest(const struct bench_table *table, const char *subject)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < table->kept_count; i++) {
        const struct bench_name *name = &table->kept[i].name;
        if (strcmp(name->subject, subject) == 0 && name->bytes > bytes)
            bytes = name->bytes;
    }
    return bytes;
}

/* Whether a row's text suits; its number, if it has one. */
static bool text_suits(const struct source *source, int x, const char *text,
                       double *number)
{
    const size_t length = strlen(source->before);
    char *end = NULL;
    if (strncmp(text, source->before, length) != 0)
        return false;
    if (x == X_BYTES)
        return strcmp(text + length, source->after) == 0;
    *number = strtod(text + length, &end);
    return end != text + length && strcmp(end, source->after) == 0;
}

static void collect(const struct bench_table *table,
                    const struct figure *figure, const struct source *source,
                    struct plot_curve *curve)
{
    const char *clock = choose_clock(table, figure->subject);
    const uint64_t bytes =
        figure->largest ? largest(table, figure->subject) : 0;
    curve->title = source->title;
    curve->style = source->style;
    for (size_t i = 0; i < table->kept_count; i++) {
        const struct bench_name *name = &table->kept[i].name;
        const struct bench_row *row = &table->kept[i].row;
        double x = (double)name->bytes;
        const double us =
            source->draws_base ? row->base.median : row->clmove.median;
        if (strcmp(name->subject, figure->subject) != 0 ||
            strcmp(row->clock, clock) != 0 || !name->base ||
            strcmp(name->base, source->base) != 0 || us <= 0 ||
            (bytes && name->bytes != bytes) ||
            !text_suits(source, figure->x, name->text, &x))
            continue;
        curve->points[curve->count++] = (struct plot_point){
            x, figure->rate ? 2 * (double)name->bytes / us * 1e-3 : us};
    }
}

/* Rows with a model begin with the one that the picture shows. */
static const char *find_model(const struct bench_table *table,
                              const char *subject)
{
    for (size_t i = 0; i < table->kept_count; i++) {
        if (strcmp(table->kept[i].name.subject, subject) == 0)
            return table->kept[i].model;
    }
    return "";
}

static void describe(const struct bench_table *table,
                     const struct figure *figure,
                     const struct clmove_device_info *device,
                     struct plot_figure *plot)
{
    char size[32] = "";
    const char *model = find_model(table, figure->subject);
    const bool events =
        strcmp(choose_clock(table, figure->subject), "device") == 0;
    if (figure->largest)
        session_size_text(size, largest(table, figure->subject));
    snprintf(plot->caption, sizeof plot->caption,
             "%.80s, driver %.50s; medians of %s time%s%s%s%s", device->name,
             device->driver_version, events ? "device" : "wall",
             size[0] ? "; moves of " : "", size, model[0] ? "; " : "", model);
    plot->name = figure->name;
    plot->x_label = figure->x_label;
    plot->y_label = figure->y_label;
    plot->x_is_bytes = figure->rate;
    plot->log_y = !figure->rate;
}

static bool draw(const struct bench_table *table, const struct figure *figure,
                 const struct clmove_device_info *device, const char *folder)
{
    enum { ALL = PLOT_PANELS * PLOT_CURVES };
    struct plot_figure plot;
    struct plot_point *points =
        calloc(table->kept_count * ALL + 1, sizeof *points);
    if (!points) {
        cli_error("out of memory");
        return false;
    }
    memset(&plot, 0, sizeof plot);
    describe(table, figure, device, &plot);
    for (size_t i = 0; i < ALL; i++) {
        const struct panel *panel = &figure->panels[i / PLOT_CURVES];
        const struct source *source = &panel->curves[i % PLOT_CURVES];
        struct plot_panel *drawn = &plot.panels[i / PLOT_CURVES];
        struct plot_curve *curve = &drawn->curves[i % PLOT_CURVES];
        drawn->title = panel->title;
        curve->points = points + i * table->kept_count;
        if (source->title)
            collect(table, figure, source, curve);
    }
    bool fine = plot_draw(folder, &plot);
    free(points);
    return fine;
}

bool bench_plot(const struct bench_table *table, const char *folder,
                const struct clmove_device_info *device)
{
    bool fine = true;
    for (size_t i = 0; fine && i < sizeof figures / sizeof *figures; i++)
        fine = draw(table, &figures[i], device, folder);
    return fine;
}
