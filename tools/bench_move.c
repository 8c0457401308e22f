/* Single moves against clEnqueueCopyBuffer of as many disjoint bytes. */

#include "bench_bytes.h"

#include "kernels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHIFTS = 7, SIZES = 4 };
static const uint64_t shifts[SHIFTS] = {1,     16,      1000,    4096,
                                        65536, 1 << 20, 64 << 20};

/* Disjoint sizes; the last one is all there is. */
static const uint64_t sizes[SIZES] = {64 << 10, 1 << 20, 64 << 20, 0};

/* What lies between these, and smaller overlapping moves, so that there is a
 * curve: fewer rounds, and none with --quick. */
enum {
    MORE_SHIFTS = 11,
    MORE_SIZES = 6,
    OVERLAP_SIZES = 9,
    OVERLAP_SHIFTS = 2,
    MORE_ROUNDS = 20
};
static const uint64_t more_shifts[MORE_SHIFTS] = {
    2, 4, 64, 256, 600, 4095, 16 << 10, 65537, 256 << 10, 4 << 20, 16 << 20};
static const uint64_t more_sizes[MORE_SIZES] = {4 << 10, 16 << 10, 256 << 10,
                                                4 << 20, 16 << 20, 256 << 20};
static const uint64_t overlap_sizes[OVERLAP_SIZES] = {
    4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20,
    4 << 20, 16 << 20, 64 << 20, 256 << 20};
static const uint64_t overlap_shifts[OVERLAP_SHIFTS] = {1, 65536};

/* What both sides work on. */
struct work {
    const struct session *session;
    struct kernels kernels;
    unsigned char *found, *expected; /* CHUNK bytes each, and a word more */
    cl_mem buffers[2];
    uint64_t room; /* bytes of each, a multiple of 8 */
    uint64_t size, src, dst;
    bool apart; /* from buffers[0] to buffers[1] */
    uint32_t variant;
};

/* Those of an ascending list that are below `limit`: as shifts they leave an
 * overlap. */
static int count_below(const uint64_t *list, int length, uint64_t limit)
{
    int count = 0;
    while (count < length && list[count] < limit)
        count++;
    return count;
}

static uint64_t disjoint_size(int index, uint64_t full)
{
    return sizes[index] && sizes[index] < full ? sizes[index] : full;
}

/* Sizes below the full one, then that. */
static int count_sizes(uint64_t full)
{
    return count_below(sizes, SIZES - 1, full) + 1;
}

/* Where the bytes of a turn lie: other ones than before, where there is room.
 */
static uint64_t place(const struct work *work, uint32_t turn)
{
    uint64_t extent = work->size + work->src + work->dst;
    return turn % (work->room / extent) * extent;
}

static bool enqueue_clmove(void *context, cl_command_queue queue, uint32_t turn,
                           cl_event *event)
{
    const struct work *work = context;
    uint64_t at = place(work, turn);
    struct clmove_memory src = session_memory(
        work->buffers[0], (size_t)(work->src + at), (size_t)work->size);
    struct clmove_memory dst =
        session_memory(work->buffers[work->apart], (size_t)(work->dst + at),
                       (size_t)work->size);
    struct clmove_move_options options;
    memset(&options, 0, sizeof options);
    options.variant = work->variant;
    clmove_status status = clmove_enqueue_move(work->session->engine, &src,
                                               &dst, (size_t)work->size,
                                               &options, queue, 0, NULL, event);
    return !session_failed(status, "clmove_enqueue_move");
}

static bool enqueue_copy(void *context, cl_command_queue queue, uint32_t turn,
                         cl_event *event)
{
    const struct work *work = context;
    size_t at = (size_t)place(work, turn);
    cl_int code =
        clEnqueueCopyBuffer(queue, work->buffers[0], work->buffers[1], at, at,
                            (size_t)work->size, 0, NULL, event);
    return !session_failed(code, "clEnqueueCopyBuffer");
}

enum { CHUNK = 4 << 20, GUARD = 1 << 20 };

static bool fill(const struct work *work)
{
    bool fine = true;
    for (uint32_t i = 0; fine && i < 2; i++)
        fine = kernels_fill(&work->kernels, work->buffers[i], work->room, i);
    return fine;
}

/* What a chunk of the destination's buffer must hold after the first move. */
static void expect(const struct work *work, uint64_t at, size_t size)
{
    const uint64_t end = work->dst + work->size;
    const uint64_t first = at > work->dst ? at : work->dst;
    const uint64_t last = at + size < end ? at + size : end;
    bench_pattern(work->apart, at, size, work->expected);
    if (first >= last)
        return;
    bench_pattern(0, first - work->dst + work->src, (size_t)(last - first),
                  work->found);
    memcpy(work->expected + (first - at), work->found, (size_t)(last - first));
}

/* Moves once. All bytes of the destination, and some behind it, must be what
 * memmove makes of them. */
static enum cli_exit check(struct work *work, const struct bench_name *name)
{
    enum cli_exit code = CLI_GO_ON;
    uint64_t end = work->dst + work->src + work->size + GUARD;
    if (end > work->room)
        end = work->room;
    if (!fill(work) || !enqueue_clmove(work, work->session->queue, 0, NULL))
        return CLI_OPENCL_FAILED;
    for (uint64_t at = 0; code == CLI_GO_ON && at < end; at += CHUNK) {
        size_t size = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
        expect(work, at, size);
        code = bench_compare(work->session, work->buffers[work->apart], at,
                             size, work->expected, work->found, name);
    }
    return code;
}

static bool time_work(struct bench *bench, struct work *work,
                      struct bench_name *name)
{
    struct bench_side clmove = {enqueue_clmove, work};
    struct bench_side copy = {enqueue_copy, work};
    name->subject = "move";
    if (bench_wants(bench, name->text)) {
        enum cli_exit code = check(work, name);
        bench->failure = code == CLI_GO_ON ? CLI_OPENCL_FAILED : code;
        if (code != CLI_GO_ON)
            return false;
    }
    name->model = NULL;
    name->bytes = work->size;
    name->base = "clEnqueueCopyBuffer";
    name->base_moves = true;
    name->commands = 0;
    return bench_pair(bench, name, clmove, copy);
}

/* Within one buffer. */
static bool time_shift(struct bench *bench, struct work *work, uint64_t size,
                       uint64_t shift, bool left)
{
    struct bench_name name;
    work->apart = false;
    work->size = size;
    work->src = left ? shift : 0;
    work->dst = left ? 0 : shift;
    snprintf(name.text, sizeof name.text, "%s by %" PRIu64,
             left ? "left" : "right", shift);
    return time_work(bench, work, &name);
}

static bool time_shifts(struct bench *bench, struct work *work,
                        const uint64_t *list, int length, uint64_t full)
{
    bool fine = true;
    int count = count_below(list, length, full);
    for (int i = 0; fine && i < count * 2; i++)
        fine = time_shift(bench, work, full, list[i / 2], i % 2 == 0);
    return fine;
}

static bool time_disjoint(struct bench *bench, struct work *work, uint64_t size,
                          uint32_t variant)
{
    struct bench_name name;
    work->apart = true;
    work->src = work->dst = 0;
    work->size = size;
    work->variant = variant;
    snprintf(name.text, sizeof name.text, "disjoint, %s",
             variant == CLMOVE_VARIANT_AUTO ? "auto" : "kernel");
    bool fine = time_work(bench, work, &name);
    work->variant = CLMOVE_VARIANT_AUTO;
    return fine;
}

static bool time_sizes(struct bench *bench, struct work *work, uint64_t full,
                       uint32_t variant)
{
    bool fine = true;
    for (int i = 0; fine && i < count_sizes(full); i++)
        fine = time_disjoint(bench, work, disjoint_size(i, full), variant);
    return fine;
}

static bool time_overlap_sizes(struct bench *bench, struct work *work,
                               uint64_t full)
{
    bool fine = true;
    int count = count_below(overlap_sizes, OVERLAP_SIZES, full);
    for (int i = 0; fine && i < OVERLAP_SHIFTS * count; i++) {
        uint64_t shift = overlap_shifts[i / count];
        uint64_t size = overlap_sizes[i % count];
        if (shift < size)
            fine = time_shift(bench, work, size, shift, true);
        else
            bench->rows_done++;
    }
    return fine;
}

/* With fewer rounds. */
static bool time_more(struct bench *bench, struct work *work, uint64_t full)
{
    int sizes_below = count_below(more_sizes, MORE_SIZES, full);
    bench->rounds = MORE_ROUNDS;
    bool fine = time_shifts(bench, work, more_shifts, MORE_SHIFTS, full) &&
                time_overlap_sizes(bench, work, full);
    for (int i = 0; fine && i < sizes_below; i++)
        fine =
            time_disjoint(bench, work, more_sizes[i], CLMOVE_VARIANT_AUTO) &&
            time_disjoint(bench, work, more_sizes[i], CLMOVE_VARIANT_DISJOINT);
    bench->rounds = 0;
    return fine;
}

static uint64_t count_rows(const struct bench *bench)
{
    uint64_t full = bench_full_size(bench);
    int count = (count_below(shifts, SHIFTS, full) + count_sizes(full)) * 2;
    if (!bench->quick)
        count +=
            count_below(more_shifts, MORE_SHIFTS, full) * 2 +
            count_below(more_sizes, MORE_SIZES, full) * 2 +
            count_below(overlap_sizes, OVERLAP_SIZES, full) * OVERLAP_SHIFTS;
    return (uint64_t)count;
}

/* For the largest shift that leaves an overlap. */
static uint64_t room_beside(const struct bench *bench, uint64_t full)
{
    uint64_t room = shifts[count_below(shifts, SHIFTS, full) - 1];
    uint64_t more =
        more_shifts[count_below(more_shifts, MORE_SHIFTS, full) - 1];
    return bench->quick || more < room ? room : more;
}

static bool prepare(struct work *work)
{
    work->found = malloc(CHUNK + 8);
    work->expected = malloc(CHUNK + 8);
    if (!work->found || !work->expected) {
        cli_error("out of memory");
        return false;
    }
    bool fine = kernels_create(&work->kernels, work->session);
    for (int i = 0; fine && i < 2; i++) {
        work->buffers[i] =
            session_buffer(work->session, (size_t)work->room, "moves");
        fine = work->buffers[i] != NULL;
    }
    return fine;
}

static bool run(struct bench *bench)
{
    struct work work;
    uint64_t full = bench_full_size(bench);
    memset(&work, 0, sizeof work);
    work.session = bench->session;
    work.room = full + room_beside(bench, full);
    bool fine = prepare(&work) &&
                time_shifts(bench, &work, shifts, SHIFTS, full) &&
                time_sizes(bench, &work, full, CLMOVE_VARIANT_AUTO) &&
                time_sizes(bench, &work, full, CLMOVE_VARIANT_DISJOINT) &&
                (bench->quick || time_more(bench, &work, full));
    clFinish(bench->session->queue);
    for (int i = 0; i < 2; i++)
        session_release(&work.buffers[i]);
    kernels_destroy(&work.kernels);
    free(work.found);
    free(work.expected);
    return fine;
}

const struct bench_subject bench_move = {
    "move",
    "moves within one buffer by 1 byte to 64 MiB, left and right, and\n"
    "disjoint ones, left to the variant that clmove takes and by its\n"
    "kernel, against clEnqueueCopyBuffer of as many disjoint bytes; more\n"
    "sizes and distances with fewer rounds, but for --quick. The first move\n"
    "of each case must leave the bytes that memmove does, or the run fails",
    CLMOVE_PART_MOVES,
    BENCH_TAKES_PLOT | BENCH_TAKES_ONLY,
    true,
    count_rows,
    run};
