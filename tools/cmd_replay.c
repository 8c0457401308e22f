/* clmove replay: a recorded decode with the state copies of its steps. */

#include "commands.h"
#include "interrupt.h"
#include "progress.h"
#include "stats.h"
#include "verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Replays a recorded speculative decode with recurrent state of a model's\n"
    "shape: per step the pre-process, a stand-in for the model, the accepted\n"
    "counts of the trace, the post-process. An engine can do this in four "
    "ways;\n"
    "what the model reads is the same in all:\n"
    "  --order v1        the device decides. Row i of the batch is slot i; "
    "slots\n"
    "                    that are not in a step have 0 tokens scheduled. "
    "Default.\n"
    "  --order v2        the device decides. The rows of the batch are the "
    "running\n"
    "                    requests in an order that changes with every step, "
    "some\n"
    "                    rows are padding; slot_of maps rows to slots. Tokens "
    "are\n"
    "                    given as query starts, and to post-process as tokens\n"
    "                    computed now. --tables: block tables by slot or by "
    "row.\n"
    "  --host-decisions  the host reads the accepted counts back, decides, "
    "and\n"
    "                    copies blocks by id.\n"
    "  --checkpoint      as before, but windows hold no drafts and a request "
    "has\n"
    "                    one temporal state: before a step with drafts the "
    "state is\n"
    "                    saved to a packed checkpoint; the model then goes on "
    "as if\n"
    "                    all drafts were accepted. Where some were not, or a "
    "block\n"
    "                    boundary lies before the last accepted token, the "
    "state is\n"
    "                    restored and the accepted tokens are computed again, "
    "up to\n"
    "                    the boundary first, where the state is copied to its "
    "block.\n"
    "\n"
    "With --verify every state carries stamps: a hash of request, layer, "
    "kind,\n"
    "token and position. Checked are\n"
    "  - before each step, that the state which the model would read is the "
    "one\n"
    "    after exactly the tokens computed so far, and after each boundary, "
    "that\n"
    "    the state saved is the one at the boundary;\n"
    "  - after each call, accepted counts and running columns, and with "
    "--order\n"
    "    that no row is at fault;\n"
    "  - after each call, the bytes: with --compare whole every byte of the "
    "pool\n"
    "    is compared with a plain reference on the host. With --compare "
    "blocks\n"
    "    the blocks that copies touch are. With --compare device a kernel of "
    "this\n"
    "    command does that, from pages kept before the call (or the host, for "
    "a\n"
    "    call whose pages the device has no room for). In both a checksum "
    "taken "
    "on\n"
    "    the device proves the other blocks unchanged: those that a request "
    "has\n"
    "    after every call, the rest when a request takes them and after the "
    "last\n"
    "    step. auto is whole up to 256 MiB of pool, device above (blocks with\n"
    "    --checkpoint).\n"
    "With --checkpoint the reference has no part in saving, restoring and "
    "copying at\n"
    "a boundary. Instead, a restored block is compared with what it held when "
    "it was\n"
    "saved, and is checked to be the state before the step; a block copied to "
    "at a\n"
    "boundary is compared with the running block, padding with its own; and "
    "all\n"
    "other blocks are proved unchanged as above.\n"
    "\n"
    "The hash then covers what the model would read next. It depends on the\n"
    "trace, the model, --element, --layers, --shrink and --steps, and on "
    "nothing\n"
    "else: neither on --order, --host-decisions, --checkpoint, --layout nor "
    "on\n"
    "--block-size nor on the device.\n"
    "\n"
    "Without --verify only the copies run and are timed. Host time is the "
    "duration\n"
    "of the enqueue calls, and where the host decides, that of deciding and "
    "of\n"
    "reading the accepted counts back. Device time is that of the launches by\n"
    "events; for copies by id it begins with the end of an empty command "
    "before\n"
    "them. p99 is the 99th percentile. Bytes moved counts each copied byte "
    "once;\n"
    "GB/s is twice that (read and written) over the device time of the steps "
    "that\n"
    "moved anything.\n";

struct options {
    const char *trace, *model, *models, *device;
    int layout, compare, order, tables;
    uint64_t element, layers, shrink, block_size, steps;
    bool verify, host_decisions, checkpoint;
};

enum { NOT_GIVEN = -1 };
enum { ORDER_V1, ORDER_V2 };
enum { TABLES_SLOT, TABLES_ROW };

static enum cli_exit parse(struct options *options, int argc, char **argv)
{
    static const char *const layouts[] = {"sd", "ds", NULL};
    static const char *const orders[] = {"v1", "v2", NULL};
    static const char *const tables[] = {"slot", "row", NULL};
    static const char *const compares[] = {"auto", "whole", "blocks", "device",
                                           NULL};
    const struct cli_option list[] = {
        {"model", CLI_TEXT, "NAME", "A model of the table. Required.",
         &options->model, 0, 0, NULL},
        {"models", CLI_TEXT, "FILE",
         "A table of models instead of the built-in one.", &options->models, 0,
         0, NULL},
        {"order", CLI_CHOICE, "v1|v2",
         "How batch rows name requests: by their place, or\nby slot.",
         &options->order, 0, 0, orders},
        {"tables", CLI_CHOICE, "slot|row",
         "With --order v2: what a row of the block table\nbelongs to. Default "
         "slot.",
         &options->tables, 0, 0, tables},
        {"host-decisions", CLI_FLAG, NULL, "The host decides each copy.",
         &options->host_decisions, 0, 0, NULL},
        {"checkpoint", CLI_FLAG, NULL,
         "Save, restore and compute again, in place of\nwindows.",
         &options->checkpoint, 0, 0, NULL},
        {"layout", CLI_CHOICE, "sd|ds",
         "Conv state as [token][channel] or\n[channel][token]. Default sd.",
         &options->layout, 0, 0, layouts},
        {"element", CLI_NUMBER, "N",
         "Bytes of a conv element: 1, 2, 4 or 8. Default\nthe model's.",
         &options->element, 1, 8, NULL},
        {"layers", CLI_NUMBER, "N",
         "Only the first N recurrent layers. Default all.", &options->layers, 1,
         UINT32_MAX, NULL},
        {"shrink", CLI_NUMBER, "N",
         "Divides the conv dim and the outermost temporal\ndimension. Default "
         "1.",
         &options->shrink, 1, UINT32_MAX, NULL},
        {"block-size", CLI_NUMBER, "N",
         "Tokens per block. Default the trace's. Small\nblocks force many "
         "copies inside one block.",
         &options->block_size, 1, INT32_MAX / 2, NULL},
        {"steps", CLI_NUMBER, "N", "Only the first N steps. Default all.",
         &options->steps, 1, UINT32_MAX, NULL},
        {"verify", CLI_FLAG, NULL, "Check everything, and print a hash.",
         &options->verify, 0, 0, NULL},
        {"compare", CLI_CHOICE, "auto|whole|blocks|device",
         "How --verify compares bytes. Default auto.", &options->compare, 0, 0,
         compares},
        {"device", CLI_TEXT, "S",
         "gpu, cpu, accelerator, PLATFORM:DEVICE or a part\nof a name. "
         "Default: CLMOVE_DEVICE, else the first\nof gpu, accelerator, cpu.",
         &options->device, 0, 0, NULL}};
    const struct cli_command command = {
        "replay",       NULL, "TRACE", help, list, sizeof list / sizeof *list,
        &options->trace};
    enum cli_exit code = cli_parse(&command, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    if (!options->model) {
        cli_error("replay needs --model NAME; see clmove replay --help");
        return CLI_BAD_INPUT;
    }
    if (options->element & (options->element - 1)) {
        cli_error("replay: --element must be 1, 2, 4 or 8, not %" PRIu64,
                  options->element);
        return CLI_BAD_INPUT;
    }
    bool host = options->host_decisions || options->checkpoint;
    if (options->host_decisions && options->checkpoint) {
        cli_error("replay: --checkpoint decides on the host already; leave "
                  "--host-decisions out");
        return CLI_BAD_INPUT;
    }
    if (options->order != NOT_GIVEN && host) {
        cli_error("replay: --order is for decisions on the device, not for %s",
                  options->checkpoint ? "--checkpoint" : "--host-decisions");
        return CLI_BAD_INPUT;
    }
    if (options->tables != NOT_GIVEN && options->order != ORDER_V2) {
        cli_error("replay: --tables needs --order v2");
        return CLI_BAD_INPUT;
    }
    if (options->compare != VERIFY_AUTO && !options->verify) {
        cli_error("replay: --compare needs --verify");
        return CLI_BAD_INPUT;
    }
    if (options->compare == VERIFY_DEVICE && options->checkpoint) {
        cli_error("replay: --compare device knows no checkpoints; whole and "
                  "blocks do");
        return CLI_BAD_INPUT;
    }
    return CLI_GO_ON;
}

/* A failed check has its text in the verify object. */
static enum cli_exit failed(const struct verify *verify)
{
    return verify && verify_failure(verify) ? CLI_CHECK_FAILED
                                            : CLI_OPENCL_FAILED;
}

static bool play_call(struct replay *replay, struct verify *verify,
                      enum oracle_call call)
{
    oracle_decide(&replay->oracle, call, &replay->tally[call]);
    if (verify && !verify_before(verify, call))
        return false;
    if (!(call == ORACLE_PRE ? replay_pre(replay) : replay_post(replay)))
        return false;
    if (verify && !verify_after(verify, call))
        return false;
    oracle_commit(&replay->oracle, call);
    return true;
}

/* Post-process without windows. */
static bool play_redo(struct replay *replay, struct verify *verify)
{
    struct oracle_tally tally = {0, 0, 0, 0};
    oracle_decide(&replay->oracle, ORACLE_POST, &tally);
    replay->tally[ORACLE_POST].crossed += tally.crossed;
    if (!replay_restore(replay) || (verify && !verify_restored(verify)) ||
        !replay_save_boundaries(replay) || (verify && !verify_redone(verify)))
        return false;
    oracle_commit(&replay->oracle, ORACLE_POST);
    return true;
}

static bool play_step(struct replay *replay, struct verify *verify)
{
    uint64_t before = replay->tally[0].bytes + replay->tally[1].bytes;
    if (!replay_begin_step(replay) || (verify && !verify_admitted(verify)) ||
        !play_call(replay, verify, ORACLE_PRE))
        return false;
    bool checkpoint = replay->mode == REPLAY_CHECKPOINT;
    if (checkpoint &&
        ((verify && !verify_saving(verify)) || !replay_save(replay)))
        return false;
    if ((verify && !verify_forward(verify)) || !replay_sample(replay))
        return false;
    oracle_sample(&replay->oracle);
    if (!(checkpoint ? play_redo(replay, verify)
                     : play_call(replay, verify, ORACLE_POST)) ||
        (verify && !verify_saved(verify)) || !replay_end_step(replay))
        return false;
    if (replay->tally[0].bytes + replay->tally[1].bytes > before)
        replay->moving_us += replay->device_samples[replay->steps_done - 1];
    return true;
}

static enum cli_exit play(struct replay *replay, struct verify *verify,
                          uint64_t *hash)
{
    enum cli_exit code = CLI_FINE;
    progress_begin(verify ? "replay, verifying" : "replay", "steps",
                   replay->steps_total);
    while (code == CLI_FINE && replay->steps_done < replay->steps_total) {
        if (interrupt_seen()) {
            cli_error("interrupted after %zu of %zu steps", replay->steps_done,
                      replay->steps_total);
            code = CLI_INTERRUPTED;
        } else if (!play_step(replay, verify)) {
            code = failed(verify);
        }
        progress_update(replay->steps_done);
    }
    if (code == CLI_FINE && verify && !verify_finish(verify, hash))
        code = failed(verify);
    progress_end();
    return code;
}

static const char *mode_text(const struct replay *replay)
{
    switch (replay->mode) {
    case REPLAY_V1:
        return "v1: row i is slot i, the device decides";
    case REPLAY_V2:
        return replay->tables_by_row
                   ? "v2: rows name slots, tables by row, the device decides"
                   : "v2: rows name slots, tables by slot, the device decides";
    case REPLAY_HOST:
        return "the host decides, blocks are copied by id";
    case REPLAY_CHECKPOINT:
        return "the host decides, checkpoints in place of windows";
    case REPLAY_BASELINE:
        break;
    }
    return "v1, by the baseline";
}

static void print_setting(const struct options *options,
                          const struct trace *trace, uint32_t block_size,
                          const struct replay *replay)
{
    char size[32];
    const struct pool_shape *shape = &replay->pool.shape;
    const struct clmove_device_info *device = &replay->session->device;
    printf("device             %s (%u:%u)\n", device->name,
           device->platform_index, device->device_index);
    printf("trace              %s: %u slots, %u tokens per block, %u draft "
           "tokens\n",
           options->trace, trace->slots, block_size, trace->draft_tokens);
    printf("state              %s: %u layers, conv %s %u x %u x %u bytes, "
           "temporal %" PRIu64 " bytes\n",
           options->model, shape->layers, shape->channels_first ? "ds" : "sd",
           shape->channels_first ? shape->dim : shape->width,
           shape->channels_first ? shape->width : shape->dim,
           shape->element_size, shape->temporal_size);
    printf("order              %s\n", mode_text(replay));
    printf("pool               %u blocks x %u layers x %" PRIu64
           " bytes = %s in %u buffer%s\n",
           shape->block_count, shape->layers, shape->page_size,
           session_size_text(size, shape->total_size), shape->buffer_count,
           shape->buffer_count == 1 ? "" : "s");
}

static void print_times(const char *name, double *samples, size_t count)
{
    struct stats stats = stats_of(samples, count);
    printf("%-18s median %.1f us, p99 %.1f us, max %.1f us\n", name,
           stats.median, stats.p99, stats.maximum);
}

static void print_table(struct replay *replay)
{
    const struct oracle_tally *pre = &replay->tally[ORACLE_PRE];
    const struct oracle_tally *post = &replay->tally[ORACLE_POST];
    uint64_t bytes = pre->bytes + post->bytes;
    char size[32];
    printf("steps              %zu\n", replay->steps_done);
    printf("requests           %u (%" PRIu64 " rows)\n",
           replay->schedule.request_count, replay->rows);
    if (replay->mode == REPLAY_CHECKPOINT) {
        const struct replay_checkpoint *checkpoint = &replay->checkpoint;
        printf("checkpoints        %" PRIu64 " saved, %" PRIu64
               " restored, %" PRIu64 " tokens computed again\n",
               checkpoint->saved, checkpoint->restored, checkpoint->tokens);
    }
    printf("boundary crossings %" PRIu64 " (%" PRIu64 " of them moved state)\n",
           post->crossed, post->copies);
    printf("in-place shifts    %" PRIu64 "\n", post->in_place);
    printf("pre-process copies %" PRIu64 "\n", pre->copies);
    printf("bytes moved        %" PRIu64 " (%s)\n", bytes,
           session_size_text(size, bytes));
    print_times("host per step", replay->host_samples, replay->steps_done);
    print_times("device per step", replay->device_samples, replay->steps_done);
    if (bytes > 0 && replay->moving_us > 0)
        printf("GB/s               %.1f\n",
               2 * (double)bytes / replay->moving_us * 1e-3);
    else
        printf("GB/s               -\n");
}

static void print_verdict(const struct verify *verify, enum cli_exit code,
                          uint64_t hash)
{
    if (!verify) {
        printf("not verified\n");
    } else if (code == CLI_CHECK_FAILED) {
        printf("verified: FAILED after %" PRIu64 " checks\n%s",
               verify_checks(verify), verify_failure(verify));
    } else {
        printf("verified: all %" PRIu64 " checks passed\n",
               verify_checks(verify));
        printf("hash: %016" PRIx64 "\n", hash);
    }
}

static enum replay_mode mode_of(const struct options *options)
{
    if (options->checkpoint)
        return REPLAY_CHECKPOINT;
    if (options->host_decisions)
        return REPLAY_HOST;
    return options->order == ORDER_V2 ? REPLAY_V2 : REPLAY_V1;
}

static enum cli_exit run(const struct options *options,
                         const struct trace *trace, const struct model *model,
                         const struct session *session)
{
    struct replay_params params;
    memset(&params, 0, sizeof params);
    params.trace = trace;
    params.block_size =
        options->block_size ? (uint32_t)options->block_size : trace->block_size;
    params.steps = trace->step_count;
    if (options->steps && options->steps < params.steps)
        params.steps = (size_t)options->steps;
    params.request.model = model;
    params.request.channels_first = options->layout == 1;
    params.request.element_size = (uint32_t)options->element;
    params.request.layers = (uint32_t)options->layers;
    params.request.shrink = (uint32_t)options->shrink;
    params.mode = mode_of(options);
    params.tables_by_row = options->tables == TABLES_ROW;
    struct replay replay;
    struct verify *verify = NULL;
    uint64_t hash = 0;
    enum cli_exit code = replay_create(&replay, session, &params);
    if (code == CLI_GO_ON && options->verify) {
        verify = verify_create(&replay, (enum verify_compare)options->compare);
        if (!verify)
            code = CLI_OPENCL_FAILED;
    }
    if (code == CLI_GO_ON) {
        print_setting(options, trace, params.block_size, &replay);
        code = play(&replay, verify, &hash);
        if (code == CLI_FINE || code == CLI_CHECK_FAILED) {
            print_table(&replay);
            print_verdict(verify, code, hash);
        }
    }
    verify_destroy(&verify);
    replay_destroy(&replay);
    return code;
}

/* Copies by id are timed from an empty move on. */
static uint32_t needed_parts(const struct options *options)
{
    bool host = options->host_decisions || options->checkpoint;
    return CLMOVE_PART_STATES | (host ? CLMOVE_PART_MOVES : 0u);
}

enum cli_exit cmd_replay(int argc, char **argv)
{
    struct options options;
    memset(&options, 0, sizeof options);
    options.shrink = 1;
    options.order = options.tables = NOT_GIVEN;
    enum cli_exit code = parse(&options, argc, argv);
    if (code != CLI_GO_ON)
        return code;
    struct trace trace;
    struct model model;
    if (!trace_load(&trace, options.trace))
        return CLI_BAD_INPUT;
    if (!model_find(&model, options.models, options.model)) {
        trace_free(&trace);
        return CLI_BAD_INPUT;
    }
    interrupt_watch();
    struct session session;
    code = session_open(&session, options.device, needed_parts(&options));
    if (code == CLI_GO_ON)
        code = run(&options, &trace, &model, &session);
    session_close(&session);
    trace_free(&trace);
    return code;
}
