/* Pictures of numbers, drawn by gnuplot. */

#ifndef TOOLS_PLOT_H
#define TOOLS_PLOT_H

#include <stdbool.h>
#include <stddef.h>

enum { PLOT_CURVES = 5, PLOT_PANELS = 3 };

struct plot_point {
    double x, y;
};

struct plot_curve {
    const char *title;
    int style; /* PLOT_OWN .. */
    struct plot_point *points;
    size_t count; /* 0: left out */
};

/* What a curve is about, which decides how it looks. */
enum { PLOT_OWN, PLOT_OWN_2, PLOT_OWN_3, PLOT_OTHER, PLOT_LIMIT, PLOT_STYLES };

struct plot_panel {
    const char *title; /* NULL: none */
    struct plot_curve curves[PLOT_CURVES];
};

struct plot_figure {
    const char *name; /* of its files, without the ending */
    const char *x_label, *y_label;
    bool x_is_bytes; /* ticks as KiB, MiB */
    bool log_y;
    struct plot_panel panels[PLOT_PANELS]; /* those without curves: none */
    char caption[240];
};

/* Makes the folder if it is missing, and finds gnuplot. False after printing
 * why there will be no pictures. */
bool plot_prepare(const char *folder);

/* Writes NAME.dat and NAME.gp into the folder, has gnuplot make NAME.svg of
 * them. Nothing is done for a figure without points. Sorts the points. False
 * after printing a failure. */
bool plot_draw(const char *folder, struct plot_figure *figure);

#endif
