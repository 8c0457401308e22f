/* A recorded decode by clmove and by the baseline, in whole passes by turns. */

#include "bench.h"

#include "interrupt.h"
#include "progress.h"
#include "replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Whole passes take turns, not steps: a call would find the bytes in the caches
 * that the other side has just copied. */
enum { PASSES = 3, PASSES_QUICK = 1 };

enum { SIDES = 2 };
static const enum replay_mode modes[SIDES] = {REPLAY_V1, REPLAY_BASELINE};
static const char *const side_names[SIDES] = {"clmove", "the baseline"};

/* What a pass took, moved and left. */
struct pass {
    double device_us, wall_us;
    uint64_t bytes, crossed;
    uint64_t *sums; /* of all pages */
    size_t pages, blocks;
};

/* The counters as they must be, from the reference. */
static void decide_step(struct replay *replay)
{
    oracle_decide(&replay->oracle, ORACLE_PRE, &replay->tally[ORACLE_PRE]);
    oracle_commit(&replay->oracle, ORACLE_PRE);
    oracle_sample(&replay->oracle);
    oracle_decide(&replay->oracle, ORACLE_POST, &replay->tally[ORACLE_POST]);
    oracle_commit(&replay->oracle, ORACLE_POST);
}

static bool play_step(struct replay *replay, struct pass *pass)
{
    if (!replay_begin_step(replay))
        return false;
    decide_step(replay);
    double start = progress_seconds();
    bool fine = replay_pre(replay) && replay_sample(replay) &&
                replay_post(replay) && replay_end_step(replay);
    pass->wall_us += (progress_seconds() - start) * 1e6;
    if (fine)
        pass->device_us += replay->device_samples[replay->steps_done - 1];
    return fine;
}

static bool play(struct replay *replay, struct pass *pass)
{
    while (replay->steps_done < replay->steps_total) {
        if (interrupt_seen() || !play_step(replay, pass))
            return false;
    }
    for (int call = 0; call < 2; call++)
        pass->bytes += replay->tally[call].bytes;
    pass->crossed = replay->tally[ORACLE_POST].crossed;
    return true;
}

/* One of the per-slot results on the device. */
static enum cli_exit compare_results(struct replay *replay, int side,
                                     const char *what, cl_mem results,
                                     const int32_t *expected)
{
    size_t size = replay->schedule.slots * sizeof(int32_t);
    if (!replay_read(replay, results, 0, replay->scratch, size))
        return CLI_OPENCL_FAILED;
    for (uint32_t i = 0; i < replay->schedule.slots; i++) {
        if (replay->scratch[i] == expected[i])
            continue;
        cli_error("replay: %s left %s[%u] = %" PRId32 ", and not %" PRId32,
                  side_names[side], what, i, replay->scratch[i], expected[i]);
        return CLI_CHECK_FAILED;
    }
    return CLI_GO_ON;
}

/* Compares the results with the reference's, and sums up the pool. */
static enum cli_exit inspect(struct replay *replay, int side, struct pass *pass)
{
    const struct pool_shape *shape = &replay->pool.shape;
    enum cli_exit code = compare_results(
        replay, side, "accepted", replay->accepted[0], replay->oracle.accepted);
    if (code == CLI_GO_ON)
        code = compare_results(replay, side, "column",
                               replay->column[replay->turn],
                               replay->oracle.column);
    if (code != CLI_GO_ON)
        return code;
    pass->blocks = shape->block_count;
    pass->pages = (size_t)shape->layers * shape->block_count;
    pass->sums = calloc(pass->pages, sizeof *pass->sums);
    if (!pass->sums)
        cli_error("out of memory");
    return pass->sums && kernels_checksum_all(&replay->kernels, replay->session,
                                              &replay->pool, pass->sums)
               ? CLI_GO_ON
               : CLI_OPENCL_FAILED;
}

static void describe(struct bench *bench, const struct replay *replay)
{
    const struct pool_shape *shape = &replay->pool.shape;
    char size[32];
    bench_table_note(bench->table,
                     "%s, conv %s: %u slots, %zu steps, %u tokens per block, "
                     "%u layers, pool %s in %u buffer%s",
                     bench->options->trace_name,
                     shape->channels_first ? "ds" : "sd",
                     replay->schedule.slots, replay->steps_total,
                     replay->schedule.block_size, shape->layers,
                     session_size_text(size, shape->total_size),
                     shape->buffer_count, shape->buffer_count == 1 ? "" : "s");
}

/* One pass, on a pool filled anew; `checked`: inspected, and described. */
static enum cli_exit run_pass(struct bench *bench, const struct model *model,
                              bool channels_first, int side, bool checked,
                              struct pass *pass)
{
    const struct bench_options *options = bench->options;
    struct replay_params params;
    struct replay replay;
    memset(&params, 0, sizeof params);
    memset(pass, 0, sizeof *pass);
    params.trace = options->trace;
    params.block_size = options->trace->block_size;
    params.steps = options->trace->step_count;
    params.request.model = model;
    params.request.channels_first = channels_first;
    params.request.layers = (uint32_t)options->layers;
    params.request.shrink = options->shrink ? (uint32_t)options->shrink : 1;
    params.mode = modes[side];
    enum cli_exit code = replay_create(&replay, bench->session, &params);
    if (code == CLI_GO_ON && checked && side == 0)
        describe(bench, &replay);
    if (code == CLI_GO_ON && !play(&replay, pass))
        code = CLI_OPENCL_FAILED;
    if (code == CLI_GO_ON && checked)
        code = inspect(&replay, side, pass);
    replay_destroy(&replay);
    progress_update(++bench->rows_done);
    return code;
}

/* Both sides once, which also makes them ready: they must leave the same. */
static enum cli_exit check(struct bench *bench, const struct model *model,
                           bool channels_first, struct pass *passes)
{
    enum cli_exit code = CLI_GO_ON;
    for (int side = 0; code == CLI_GO_ON && side < SIDES; side++)
        code =
            run_pass(bench, model, channels_first, side, true, &passes[side]);
    for (size_t i = 0; code == CLI_GO_ON && i < passes[0].pages; i++) {
        if (passes[0].sums[i] == passes[1].sums[i])
            continue;
        cli_error("replay, %s: clmove and the baseline leave different bytes "
                  "in layer %zu, block %zu",
                  channels_first ? "ds" : "sd", i / passes[0].blocks,
                  i % passes[0].blocks);
        code = CLI_CHECK_FAILED;
    }
    for (int side = 0; side < SIDES; side++)
        free(passes[side].sums);
    return code;
}

static void add_rows(struct bench *bench, const struct model *model,
                     bool channels_first, const struct pass *first,
                     double samples[BENCH_CLOCKS][SIDES][PASSES],
                     uint32_t count)
{
    struct bench_name name;
    memset(&name, 0, sizeof name);
    name.subject = "replay";
    name.model = model->name;
    snprintf(name.text, sizeof name.text, "replay %s, %" PRIu64 " cross",
             channels_first ? "ds" : "sd", first->crossed);
    name.bytes = first->bytes;
    name.base = "baseline";
    name.base_moves = true;
    bench_add(bench, &name, "device", samples[0][0], samples[0][1], count);
    bench_add(bench, &name, "wall", samples[1][0], samples[1][1], count);
}

static bool time_layout(struct bench *bench, const struct model *model,
                        bool channels_first)
{
    struct pass passes[SIDES];
    double samples[BENCH_CLOCKS][SIDES][PASSES];
    uint32_t count = bench->quick ? PASSES_QUICK : PASSES;
    memset(passes, 0, sizeof passes);
    enum cli_exit code = check(bench, model, channels_first, passes);
    for (uint32_t i = 0; code == CLI_GO_ON && i < count * SIDES; i++) {
        int side = i % SIDES;
        struct pass pass;
        code = run_pass(bench, model, channels_first, side, false, &pass);
        samples[0][side][i / SIDES] = pass.device_us;
        samples[1][side][i / SIDES] = pass.wall_us;
    }
    if (code != CLI_GO_ON) {
        bench->failure = code;
        return false;
    }
    add_rows(bench, model, channels_first, &passes[0], samples, count);
    return true;
}

/* Passes. */
static uint64_t count_rows(const struct bench *bench)
{
    const struct bench_options *options = bench->options;
    uint64_t layouts = options->skip_sd || options->skip_ds ? 1 : 2;
    uint64_t passes = bench->quick ? PASSES_QUICK : PASSES;
    return layouts * SIDES * (1 + passes);
}

static bool run(struct bench *bench)
{
    const struct bench_options *options = bench->options;
    const struct model *model = &options->models[0];
    return (options->skip_sd || time_layout(bench, model, false)) &&
           (options->skip_ds || time_layout(bench, model, true));
}

const struct bench_subject bench_replay = {
    "replay",
    "pre- and post-process of all steps of --trace with the states of\n"
    "--model, against those of the baseline: whole passes by turns, on\n"
    "pools with the same bytes, which must be left with the same bytes.\n"
    "Times are sums over all steps; \"wall\" waits after each step. Not\n"
    "part of all",
    CLMOVE_PART_MOVES | CLMOVE_PART_STATES,
    BENCH_TAKES_MODEL | BENCH_TAKES_TRACE,
    false,
    count_rows,
    run};
