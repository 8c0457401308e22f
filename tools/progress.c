/* A progress bar with the time left, on a terminal only. */

#include "progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 24 };

/* The terminal is one, so its line is one too. */
static struct {
    bool active, drawn;
    const char *what, *unit;
    uint64_t total;
    double start, last;
} bar;

double progress_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void progress_begin(const char *what, const char *unit, uint64_t total)
{
    bar.active = isatty(STDERR_FILENO) == 1;
    bar.drawn = false;
    bar.what = what;
    bar.unit = unit;
    bar.total = total;
    bar.start = progress_seconds();
    bar.last = 0;
}

static void print_time(double seconds)
{
    uint64_t whole = (uint64_t)(seconds + 0.5);
    if (whole >= 3600)
        fprintf(stderr, "%" PRIu64 " h %02" PRIu64 " min", whole / 3600,
                whole / 60 % 60);
    else if (whole >= 60)
        fprintf(stderr, "%" PRIu64 " min %02" PRIu64 " s", whole / 60,
                whole % 60);
    else
        fprintf(stderr, "%" PRIu64 " s", whole);
}

static void draw(uint64_t done, double fraction, double left)
{
    int filled = (int)(fraction * BAR_WIDTH);
    fprintf(stderr, "\r\033[K%s [", bar.what);
    for (int i = 0; i < BAR_WIDTH; i++)
        fputc(i < filled ? '#' : '.', stderr);
    fprintf(stderr, "] %3d%%  %" PRIu64, (int)(fraction * 100), done);
    if (bar.total)
        fprintf(stderr, "/%" PRIu64, bar.total);
    fprintf(stderr, " %s", bar.unit);
    if (left >= 0) {
        fputs(", ", stderr);
        print_time(left);
        fputs(" left", stderr);
    }
    fflush(stderr);
    bar.drawn = true;
}

void progress_update(uint64_t done)
{
    double now = progress_seconds();
    if (!bar.active || bar.total == 0 || (now - bar.last < 0.1 && bar.drawn))
        return;
    bar.last = now;
    double fraction = (double)done / (double)bar.total;
    /* The first moments say nothing about the rest. */
    bool known = done > 0 && now - bar.start > 0.3;
    draw(done, fraction,
         known ? (now - bar.start) * (1 - fraction) / fraction : -1);
}

void progress_update_timed(uint64_t done, double part, double whole)
{
    double now = progress_seconds();
    if (!bar.active || (now - bar.last < 0.1 && bar.drawn))
        return;
    bar.last = now;
    double fraction = part < whole ? part / whole : 1;
    draw(done, fraction, whole - whole * fraction);
}

void progress_clear(void)
{
    if (!bar.drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    bar.drawn = false;
}

void progress_end(void)
{
    progress_clear();
    bar.active = false;
}
