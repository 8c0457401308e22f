/* Pictures of numbers, drawn by gnuplot. */

#include "plot.h"

#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

/* Okabe and Ito's colours, which colour-blind readers can tell apart. */
static const char *const styles[PLOT_STYLES] = {
    [PLOT_OWN] = "lc rgb '#0072B2' lw 2 pt 7 ps 0.6",
    [PLOT_OWN_2] = "lc rgb '#E69F00' lw 2 pt 5 ps 0.6",
    [PLOT_OWN_3] = "lc rgb '#009E73' lw 2 pt 9 ps 0.7",
    [PLOT_OTHER] = "lc rgb '#D55E00' lw 2 dt 4 pt 13 ps 0.7",
    [PLOT_LIMIT] = "lc rgb '#000000' lw 1.5 dt 2 pt 1 ps 0.5"};

static bool is_program(const char *folder, size_t length)
{
    char path[PATH_ROOM];
    struct stat status;
    snprintf(path, sizeof path, "%.*s/gnuplot", (int)length, folder);
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           access(path, X_OK) == 0;
}

static bool find_gnuplot(void)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        if (length > 0 && length < PATH_ROOM && is_program(path, length))
            return true;
        path += length + (path[length] == ':');
    }
    cli_error("--plot needs the program gnuplot, which is not there; on Debian "
              "and Ubuntu it is in the package gnuplot-nox");
    return false;
}

bool plot_prepare(const char *folder)
{
    struct stat status;
    if (!find_gnuplot())
        return false;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        cli_error("%s: cannot be made: %s", folder, strerror(errno));
        return false;
    }
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode) ||
        access(folder, W_OK | X_OK) != 0) {
        cli_error("%s: is no folder that can be written to", folder);
        return false;
    }
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct plot_point *a = left, *b = right;
    return (a->x > b->x) - (a->x < b->x);
}

static FILE *open_file(const char *folder, const char *name, const char *ending)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
    FILE *file = fopen(path, "w");
    if (!file)
        cli_error("%s: cannot be written: %s", path, strerror(errno));
    return file;
}

static bool close_file(FILE *file, const char *name)
{
    bool fine = !ferror(file);
    fine = fclose(file) == 0 && fine;
    if (!fine)
        cli_error("the files of %s cannot be written", name);
    return fine;
}

/* Blocks of points, which a script knows by their number. */
static bool write_data(const char *folder, const struct plot_figure *figure)
{
    FILE *file = open_file(folder, figure->name, ".dat");
    if (!file)
        return false;
    fprintf(file, "# %s\n# %s, %s\n", figure->caption, figure->x_label,
            figure->y_label);
    for (int i = 0; i < PLOT_PANELS * PLOT_CURVES; i++) {
        const struct plot_panel *panel = &figure->panels[i / PLOT_CURVES];
        const struct plot_curve *curve = &panel->curves[i % PLOT_CURVES];
        if (curve->count == 0)
            continue;
        qsort(curve->points, curve->count, sizeof *curve->points, compare);
        fprintf(file, "\n\n# %s%s%s\n", panel->title ? panel->title : "",
                panel->title ? ": " : "", curve->title);
        for (size_t j = 0; j < curve->count; j++)
            fprintf(file, "%.0f %.6g\n", curve->points[j].x,
                    curve->points[j].y);
    }
    return close_file(file, figure->name);
}

/* As gnuplot reads it between single quotes. */
static void write_text(FILE *file, const char *text)
{
    fputc('\'', file);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', file);
        fputc(*text == '\n' ? ' ' : *text, file);
    }
    fputc('\'', file);
}

static int count_curves(const struct plot_panel *panel)
{
    int count = 0;
    for (int i = 0; i < PLOT_CURVES; i++)
        count += panel->curves[i].count > 0;
    return count;
}

static int count_panels(const struct plot_figure *figure)
{
    int count = 0;
    for (int i = 0; i < PLOT_PANELS; i++)
        count += count_curves(&figure->panels[i]) > 0;
    return count;
}

/* *block: the number of the panel's first block of points. */
static void write_panel(FILE *file, const struct plot_figure *figure,
                        const struct plot_panel *panel, int *block)
{
    const char *separator = "plot ";
    fprintf(file, "set title ");
    write_text(file, panel->title ? panel->title : "");
    fprintf(file, "\n");
    for (int i = 0; i < PLOT_CURVES; i++) {
        const struct plot_curve *curve = &panel->curves[i];
        if (curve->count == 0)
            continue;
        fprintf(file, "%s'%s.dat' index %d with linespoints ls %d title ",
                separator, figure->name, (*block)++, curve->style + 1);
        write_text(file, curve->title);
        separator = ", \\\n    ";
    }
    fprintf(file, "\nunset label 1\nset ylabel\n");
}

/* Powers of 16, written out: gnuplot's own binary units are not the usual ones.
 */
static void write_byte_tics(FILE *file)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    const char *separator = "set xtics (";
    for (int power = 0; power < 40; power += 4) {
        fprintf(file, "%s'%d %s' 2**%d", separator, 1 << power % 10,
                units[power / 10], power);
        separator = ", \\\n    ";
    }
    fprintf(file, ")\n");
}

/* The frame of each panel, and below it the axis, the key, the caption. */
static void write_places(FILE *file, const struct plot_figure *figure)
{
    enum { WIDTH = 400, FRAME = 300, TOP = 44, AXIS = 66, LINE = 21 };
    const int panels = count_panels(figure);
    int lines = 0;
    for (int i = 0; i < PLOT_PANELS; i++) {
        int curves = count_curves(&figure->panels[i]);
        lines = curves > lines ? curves : lines;
    }
    const int below = AXIS + LINE * (lines + 2);
    const int height = TOP + FRAME + below;
    fprintf(file,
            "set terminal svg noenhanced size %d,%d background rgb 'white' \\\n"
            "    font 'sans-serif,13'\n"
            "set output '%s.svg'\n"
            "set multiplot layout 1,%d \\\n"
            "    margins screen 0.09,0.97,%.3f,%.3f spacing screen 0.055\n"
            "set key at graph 0.5,%.3f center top\n",
            panels == 1 ? 2 * WIDTH : panels * WIDTH, height, figure->name,
            panels, (double)below / height, 1 - (double)TOP / height,
            -(double)AXIS / FRAME);
}

static bool write_script(const char *folder, const struct plot_figure *figure)
{
    FILE *file = open_file(folder, figure->name, ".gp");
    if (!file)
        return false;
    fprintf(file, "# To draw it again, in this folder: gnuplot %s.gp\n",
            figure->name);
    write_places(file, figure);
    for (int i = 0; i < PLOT_STYLES; i++)
        fprintf(file, "set style line %d %s\n", i + 1, styles[i]);
    fprintf(file, "set border 3\n"
                  "set tics nomirror\n"
                  "set grid lc rgb '#dddddd' lt 1\n"
                  "set key reverse Left\n"
                  "set logscale x 2\n");
    if (figure->x_is_bytes)
        write_byte_tics(file);
    fprintf(file, "%s\nset xlabel ",
            figure->log_y ? "set logscale y" : "set yrange [0:*]");
    write_text(file, figure->x_label);
    fprintf(file, "\nset ylabel ");
    write_text(file, figure->y_label);
    fprintf(file, "\nset label 1 ");
    write_text(file, figure->caption);
    fprintf(file, " at screen 0.01,0.03 left font ',11'\n");
    int block = 0;
    for (int i = 0; i < PLOT_PANELS; i++) {
        if (count_curves(&figure->panels[i]) > 0)
            write_panel(file, figure, &figure->panels[i], &block);
    }
    fprintf(file, "unset multiplot\n");
    return close_file(file, figure->name);
}

static bool run_gnuplot(const char *folder, const char *name)
{
    char script[80];
    int status = 0;
    snprintf(script, sizeof script, "%s.gp", name);
    pid_t child = fork();
    if (child == 0) {
        if (chdir(folder) == 0)
            execlp("gnuplot", "gnuplot", script, (char *)NULL);
        _exit(127);
    }
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
        WEXITSTATUS(status) == 0)
        return true;
    cli_error("gnuplot could not draw %s/%s", folder, script);
    return false;
}

bool plot_draw(const char *folder, struct plot_figure *figure)
{
    return count_panels(figure) == 0 ||
           (write_data(folder, figure) && write_script(folder, figure) &&
            run_gnuplot(folder, figure->name));
}
