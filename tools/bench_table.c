/* The results of a benchmark, as text for people, as a file for programs. */

#include "bench_table.h"

#include "cli.h"
#include "progress.h"
#include "session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Forms of rows. */
enum { FORM_NONE, FORM_COMMANDS, FORM_CALLS };

bool bench_table_open(struct bench_table *table, const char *path,
                      const char *device)
{
    memset(table, 0, sizeof *table);
    if (!path)
        return true;
    table->path = path;
    table->tsv = fopen(path, "w");
    if (!table->tsv) {
        cli_error("%s: cannot be written: %s", path, strerror(errno));
        return false;
    }
    fprintf(table->tsv,
            "# device: %s\n"
            "subject\tcase\tbytes\tclock\tmedian_us\tmin_us\tp99_us\tbase\t"
            "base_median_us\tbase_min_us\tbase_p99_us\tratio\tpaired_ratio\t"
            "commands\n",
            device);
    return true;
}

/* Bytes read and written per time, in GB/s. */
static void print_rate(uint64_t bytes, double us)
{
    if (bytes > 0 && us > 0)
        printf(" %8.1f", 2 * (double)bytes / us * 1e-3);
    else
        printf(" %8s", "-");
}

double bench_ratio(const struct bench_name *name, double clmove, double base)
{
    uint32_t commands = name->commands ? name->commands : 1;
    return clmove > 0 ? base * commands / clmove : 0;
}

static void print_row(const struct bench_name *name,
                      const struct bench_row *row)
{
    char size[32] = "-";
    if (name->bytes > 0)
        session_size_text(size, name->bytes);
    printf("%-26s %10s %-6s %9.1f %9.1f %9.1f", name->text, size, row->clock,
           row->clmove.median, row->clmove.minimum, row->clmove.p99);
    print_rate(name->bytes, row->clmove.median);
    if (name->base) {
        printf(" %9.1f", row->base.median);
        print_rate(name->base_moves ? name->bytes : 0, row->base.median);
        printf(" %7.3f %7.3f %+9.1f  %s",
               bench_ratio(name, row->clmove.median, row->base.median),
               row->paired, row->clmove.median - row->base.median, name->base);
    }
    printf("\n");
}

/* A call of several commands. */
static void print_call(const struct bench_name *name,
                       const struct bench_row *row)
{
    const double one = row->clmove.median / name->commands;
    printf("%-33s %-6s %9.2f %9.2f %9.2f %8u %10.2f %8.2f %7.3f %7.3f %+8.2f\n",
           name->text, row->clock, row->clmove.median, row->clmove.minimum,
           row->clmove.p99, name->commands, one, row->base.median,
           bench_ratio(name, row->clmove.median, row->base.median), row->paired,
           one - row->base.median);
}

static void write_row(FILE *tsv, const struct bench_name *name,
                      const struct bench_row *row)
{
    fprintf(tsv, "%s\t%s%s%s\t%" PRIu64 "\t%s\t%.3f\t%.3f\t%.3f\t",
            name->subject, name->model ? name->model : "",
            name->model ? " " : "", name->text, name->bytes, row->clock,
            row->clmove.median, row->clmove.minimum, row->clmove.p99);
    if (name->base)
        fprintf(tsv, "%s\t%.3f\t%.3f\t%.3f\t%.4f\t%.4f\t", name->base,
                row->base.median, row->base.minimum, row->base.p99,
                bench_ratio(name, row->clmove.median, row->base.median),
                row->paired);
    else
        fprintf(tsv, "-\t-\t-\t-\t-\t-\t");
    if (name->commands > 0)
        fprintf(tsv, "%u\n", name->commands);
    else
        fprintf(tsv, "-\n");
}

void bench_table_note(struct bench_table *table, const char *format, ...)
{
    char text[240];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    progress_clear();
    printf("%s\n", text);
    fflush(stdout);
    if (table->tsv)
        fprintf(table->tsv, "# %s\n", text);
}

static void keep(struct bench_table *table, const struct bench_name *name,
                 const struct bench_row *row)
{
    struct bench_kept *grown =
        realloc(table->kept, (table->kept_count + 1) * sizeof *grown);
    if (!grown) {
        cli_error("out of memory: a row is missing in the pictures");
        return;
    }
    table->kept = grown;
    struct bench_kept *kept = &grown[table->kept_count++];
    kept->name = *name;
    kept->name.model = NULL;
    snprintf(kept->model, sizeof kept->model, "%s",
             name->model ? name->model : "");
    kept->row = *row;
}

void bench_table_add(struct bench_table *table, const struct bench_name *name,
                     const struct bench_row *row)
{
    progress_clear();
    if (name->commands > 0 && table->form != FORM_CALLS)
        printf("%-33s %-6s %9s %9s %9s %8s %10s %8s %7s %7s %8s\n", "call",
               "clock", "median us", "min", "p99", "commands", "us/command",
               "base us", "ratio", "paired", "us more");
    if (name->commands == 0 && table->form != FORM_COMMANDS)
        printf("%-26s %10s %-6s %9s %9s %9s %8s %9s %8s %7s %7s %9s  %s\n",
               "case", "bytes", "clock", "median us", "min", "p99", "GB/s",
               "base us", "GB/s", "ratio", "paired", "us more", "base");
    table->form = name->commands > 0 ? FORM_CALLS : FORM_COMMANDS;
    if (name->commands > 0)
        print_call(name, row);
    else
        print_row(name, row);
    fflush(stdout);
    table->row_count++;
    if (table->tsv)
        write_row(table->tsv, name, row);
    if (table->keeps)
        keep(table, name, row);
}

bool bench_table_close(struct bench_table *table)
{
    free(table->kept);
    table->kept = NULL;
    table->kept_count = 0;
    if (!table->tsv)
        return true;
    bool fine = !ferror(table->tsv);
    fine = fclose(table->tsv) == 0 && fine;
    table->tsv = NULL;
    if (!fine)
        cli_error("%s: cannot be written: %s", table->path, strerror(errno));
    return fine;
}
