/* Greedy decoding of many prompts: batches, chunks, drafts, prefixes. */

#include "decode.h"

#include "blocks.h"
#include "draft.h"
#include "sections.h"
#include "states.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NO_PROMPT = -1, CACHED_BLOCKS = 256 };

/* A prompt and what was written after it. */
struct request {
    int32_t *tokens; /* known so far: [count] of [limit] */
    size_t prompt_count, count, limit;
};

/* Where a request lives. Its running column and accepted count are those of the
 * device, kept here to know which blocks it needs. */
struct seat {
    int prompt; /* index of its request, or NO_PROMPT */
    size_t computed;
    struct states_seat numbers;
    int32_t *blocks; /* [column] */
    size_t row;      /* of this step */
    size_t scheduled, proposed;
};

struct decode {
    const struct machine *machine;
    const struct settings *settings;
    struct decode_result *result;
    decode_listener listener;
    void *user;
    struct request *requests; /* [prompt] */
    size_t prompt_count, next_prompt, done;
    struct seat *seats; /* [slot] */
    size_t columns;
    struct blocks blocks;
    struct batch batch;
    struct states states;
    struct forward forward;
    int32_t *counts, *next;                       /* as read from the device */
    struct clmove_ssm_copy *copies, *checkpoints; /* [slot] */
    size_t copy_count, checkpoint_count;
    struct states_seat *numbers; /* [slot], for a host that decides */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* --- Requests and seats --- */

static enum mamba_exit make_requests(struct decode *decode,
                                     const char *const *prompts)
{
    decode->requests = calloc(decode->prompt_count, sizeof(struct request));
    decode->result->texts =
        calloc(decode->prompt_count, sizeof(struct decode_text));
    if (!decode->requests || !decode->result->texts)
        return out_of_memory();
    decode->result->text_count = decode->prompt_count;
    for (size_t i = 0; i < decode->prompt_count; i++) {
        struct request *request = &decode->requests[i];
        TRY(model_tokens(decode->machine->model, prompts[i], &request->tokens,
                         &request->count));
        request->prompt_count = request->count;
        request->limit = request->count + decode->settings->tokens;
        int32_t *grown =
            realloc(request->tokens, request->limit * sizeof *request->tokens);
        decode->result->texts[i].text = calloc(decode->settings->tokens + 1, 1);
        if (!grown || !decode->result->texts[i].text)
            return out_of_memory();
        request->tokens = grown;
    }
    return MAMBA_FINE;
}

/* The columns that hold the state of a token and all its drafts. */
static size_t columns_for(const struct settings *settings, size_t tokens)
{
    return (tokens - 1) / settings->block_size + 1 +
           (settings->checkpoint ? 0 : settings->draft);
}

/* A block, unless something else was asked for. */
static size_t chunk_tokens(const struct settings *settings)
{
    return settings->chunk > 0 ? settings->chunk : settings->block_size;
}

static size_t step_tokens(const struct settings *settings)
{
    const size_t chunk = chunk_tokens(settings);
    return chunk > settings->draft + 1 ? chunk : settings->draft + 1;
}

static enum mamba_exit make_seats(struct decode *decode)
{
    const struct settings *settings = decode->settings;
    const size_t slots = settings->slots;
    size_t longest = 0;
    for (size_t i = 0; i < decode->prompt_count; i++) {
        if (decode->requests[i].limit > longest)
            longest = decode->requests[i].limit;
    }
    decode->columns = columns_for(settings, longest + settings->draft + 1);
    decode->seats = calloc(slots, sizeof *decode->seats);
    decode->numbers = calloc(slots, sizeof *decode->numbers);
    decode->copies = calloc(slots, sizeof *decode->copies);
    decode->checkpoints = calloc(slots, sizeof *decode->checkpoints);
    decode->counts = calloc(slots, sizeof *decode->counts);
    decode->next = calloc(slots * step_tokens(settings), sizeof *decode->next);
    if (!decode->seats || !decode->numbers || !decode->copies ||
        !decode->checkpoints || !decode->counts || !decode->next)
        return out_of_memory();
    for (size_t i = 0; i < slots; i++) {
        decode->seats[i].prompt = NO_PROMPT;
        decode->seats[i].blocks = calloc(decode->columns, sizeof(int32_t));
        if (!decode->seats[i].blocks)
            return out_of_memory();
    }
    return MAMBA_FINE;
}

static enum mamba_exit decode_open(struct decode *decode,
                                   const char *const *prompts)
{
    const struct settings *settings = decode->settings;
    TRY(make_requests(decode, prompts));
    TRY(make_seats(decode));
    /* A request's blocks: those of a step and its drafts, and the one that the
     * state comes from. */
    const size_t own =
        columns_for(settings, step_tokens(settings) + settings->block_size) + 1;
    const size_t blocks = 1 + settings->slots * own + CACHED_BLOCKS;
    const struct batch_limits limits = {
        .rows = settings->slots,
        .slots = settings->slots,
        .tokens = settings->slots * step_tokens(settings),
        .columns = decode->columns,
        .table_by_slot = settings->order != ORDER_V2_ROW};
    TRY(blocks_create(&decode->blocks, blocks));
    TRY(batch_create(&decode->batch, &limits));
    TRY(states_create(&decode->states, decode->machine, settings,
                      &decode->batch, blocks));
    return forward_create(&decode->forward, decode->machine, limits.tokens,
                          limits.rows);
}

static void decode_close(struct decode *decode)
{
    states_destroy(&decode->states);
    forward_destroy(&decode->forward);
    batch_destroy(&decode->batch);
    blocks_destroy(&decode->blocks);
    for (size_t i = 0; decode->requests && i < decode->prompt_count; i++)
        free(decode->requests[i].tokens);
    for (size_t i = 0; decode->seats && i < decode->settings->slots; i++)
        free(decode->seats[i].blocks);
    free(decode->requests);
    free(decode->seats);
    free(decode->numbers);
    free(decode->copies);
    free(decode->checkpoints);
    free(decode->counts);
    free(decode->next);
}

/* --- Blocks --- */

/* Takes a request's next prompt up where a known prefix ends. */
static enum mamba_exit admit(struct decode *decode, size_t slot)
{
    struct seat *seat = &decode->seats[slot];
    const size_t index = decode->next_prompt++;
    const struct request *request = &decode->requests[index];
    const size_t block_size = decode->settings->block_size;
    seat->prompt = (int)index;
    seat->computed = 0;
    /* The last token of a prompt has to be computed in any case. */
    size_t blocks =
        decode->settings->prefix_cache ? (request->count - 1) / block_size : 0;
    for (; blocks > 0 && seat->computed == 0; blocks--) {
        const size_t count = blocks * block_size;
        const int32_t block =
            blocks_find(&decode->blocks, request->tokens, count);
        if (block == BLOCKS_NULL)
            continue;
        seat->blocks[blocks - 1] = block;
        seat->computed = count;
    }
    decode->result->texts[index].reused = seat->computed;
    seat->numbers.accepted = 1;
    seat->numbers.column = (int32_t)(seat->computed / block_size) - 1;
    return states_admit(&decode->states, slot, seat->numbers.column);
}

static void give_back(struct decode *decode, struct seat *seat, size_t first,
                      size_t end)
{
    for (size_t i = first; i < end; i++) {
        blocks_give_back(&decode->blocks, seat->blocks[i]);
        seat->blocks[i] = BLOCKS_NULL;
    }
}

/* Takes the blocks that a step needs, after giving back those of columns that
 * nothing will be read from. */
static enum mamba_exit take_blocks(struct decode *decode, struct seat *seat,
                                   size_t drafts)
{
    const size_t block_size = decode->settings->block_size;
    const size_t first = seat->computed / block_size;
    const size_t last =
        (seat->computed + seat->scheduled - 1) / block_size + drafts;
    if (seat->numbers.column >= 0)
        give_back(decode, seat, 0,
                  smaller(first, (size_t)seat->numbers.column));
    for (size_t i = first; i <= last; i++) {
        if (seat->blocks[i] == BLOCKS_NULL)
            seat->blocks[i] = blocks_take(&decode->blocks);
        if (seat->blocks[i] == BLOCKS_NULL) {
            say("no block of %zu is free for column %zu", decode->blocks.count,
                i);
            return MAMBA_DIFFERS; /* a fault in this program's sums */
        }
    }
    return MAMBA_FINE;
}

/* --- Planning a step --- */

/* The tokens of a prompt that the next step computes. Steps end at block
 * boundaries, where states are kept for others. */
static size_t prompt_tokens(const struct decode *decode,
                            const struct seat *seat,
                            const struct request *request)
{
    const size_t block_size = decode->settings->block_size;
    const size_t end = smaller(seat->computed + chunk_tokens(decode->settings),
                               request->count);
    const size_t whole =
        (end == request->count ? end - 1 : end) / block_size * block_size;
    return (whole > seat->computed ? whole : end) - seat->computed;
}

/* How many tokens a seat's step has, and which of them are drafts: those are
 * written behind the request's known tokens. */
static void schedule(struct decode *decode, struct seat *seat)
{
    struct request *request = &decode->requests[seat->prompt];
    const size_t pending = request->count - seat->computed;
    seat->proposed = 0;
    if (seat->computed < request->prompt_count &&
        request->count == request->prompt_count) {
        seat->scheduled = prompt_tokens(decode, seat, request);
        return;
    }
    seat->scheduled = pending;
    if (pending > 1)
        return; /* accepted before, and to be computed again */
    const size_t room = request->limit - request->count - 1;
    seat->proposed = draft_lookup(request->tokens, request->count,
                                  request->tokens + request->count,
                                  smaller(room, decode->settings->draft));
    seat->scheduled += seat->proposed;
}

static struct clmove_ssm_request numbers_of(const struct seat *seat,
                                            size_t drafts, int32_t accepted)
{
    return (struct clmove_ssm_request){.computed = (int32_t)seat->computed,
                                       .scheduled = (int32_t)seat->scheduled,
                                       .draft = (int32_t)drafts,
                                       .accepted = accepted,
                                       .column = seat->numbers.column};
}

static void add_copy(struct decode *decode, const struct seat *seat,
                     const struct clmove_ssm_decision *decision)
{
    decode->copies[decode->copy_count++] = (struct clmove_ssm_copy){
        .bias = (uint32_t)decision->bias,
        .conv_from = seat->blocks[decision->source],
        .temporal_from = seat->blocks[decision->source + decision->bias],
        .to = seat->blocks[decision->destination]};
}

static enum mamba_exit plan_row(struct decode *decode, size_t slot)
{
    const struct settings *settings = decode->settings;
    struct seat *seat = &decode->seats[slot];
    struct batch *batch = &decode->batch;
    struct clmove_ssm_decision decision;
    schedule(decode, seat);
    const size_t drafts = settings->checkpoint ? 0 : seat->proposed;
    TRY(take_blocks(decode, seat, drafts));
    const struct clmove_ssm_request numbers =
        numbers_of(seat, drafts, seat->numbers.accepted);
    TRY(check(clmove_ssm_decide_pre(&numbers, (uint32_t)settings->block_size,
                                    &decision),
              "clmove_ssm_decide_pre"));
    if (decision.copies != 0)
        add_copy(decode, seat, &decision);
    seat->numbers.accepted = decision.accepted;
    seat->numbers.column = decision.column;
    decode->numbers[slot] = seat->numbers;
    seat->row = batch->rows;
    const struct request *request = &decode->requests[seat->prompt];
    batch_add(batch, slot, request->tokens + seat->computed, seat->scheduled,
              seat->proposed, drafts);
    batch_section(batch, SECTION_COMPUTED)[slot] = (int32_t)seat->computed;
    memcpy(batch_section(batch, SECTION_TABLE) +
               (settings->order == ORDER_V2_ROW ? seat->row : slot) *
                   decode->columns,
           seat->blocks, decode->columns * sizeof *seat->blocks);
    if (settings->checkpoint && seat->proposed > 0) {
        const int32_t block = seat->blocks[seat->numbers.column];
        decode->checkpoints[decode->checkpoint_count++] =
            (struct clmove_ssm_copy){.conv_from = block,
                                     .temporal_from = block,
                                     .to = (int32_t)slot};
    }
    return MAMBA_FINE;
}

/* Rows are the slots in their order, or those in use, from the last on. */
static enum mamba_exit plan_step(struct decode *decode)
{
    const size_t slots = decode->settings->slots;
    const bool by_slot = decode->settings->order == ORDER_V1;
    batch_begin(&decode->batch);
    decode->copy_count = decode->checkpoint_count = 0;
    for (size_t i = 0; i < slots; i++) {
        const size_t slot = by_slot ? i : slots - 1 - i;
        if (decode->seats[slot].prompt == NO_PROMPT &&
            decode->next_prompt < decode->prompt_count)
            TRY(admit(decode, slot));
        if (decode->seats[slot].prompt != NO_PROMPT)
            TRY(plan_row(decode, slot));
        else if (by_slot)
            batch_add(&decode->batch, slot, NULL, 0, 0, 0);
    }
    return MAMBA_FINE;
}

/* --- After the step --- */

static enum mamba_exit read_results(struct decode *decode)
{
    const cl_command_queue queue = decode->machine->queue;
    TRY(check(clEnqueueReadBuffer(queue, decode->forward.counts, CL_FALSE, 0,
                                  decode->batch.rows * sizeof(int32_t),
                                  decode->counts, 0, NULL, NULL),
              "clEnqueueReadBuffer"));
    return check(clEnqueueReadBuffer(queue, decode->forward.next, CL_TRUE, 0,
                                     decode->batch.tokens * sizeof(int32_t),
                                     decode->next, 0, NULL, NULL),
                 "clEnqueueReadBuffer");
}

/* Tokens that the model has chosen: its own and the drafts that agree. */
static void add_tokens(struct decode *decode, const struct seat *seat,
                       size_t accepted)
{
    struct request *request = &decode->requests[seat->prompt];
    struct decode_text *text = &decode->result->texts[seat->prompt];
    const int32_t *next =
        decode->next + batch_section(&decode->batch, SECTION_STARTS)[seat->row];
    next += seat->scheduled - 1 - seat->proposed;
    for (size_t i = 0; i < accepted; i++) {
        request->tokens[request->count++] = next[i];
        text->text[text->count++] = decode->machine->model->character[next[i]];
    }
    decode->result->written += accepted;
}

/* What post-process does with a seat, and the name of the block it leaves. */
static enum mamba_exit keep_books(struct decode *decode, struct seat *seat,
                                  size_t drafts, int32_t accepted)
{
    const size_t block_size = decode->settings->block_size;
    const struct clmove_ssm_request numbers =
        numbers_of(seat, drafts, accepted);
    struct clmove_ssm_decision decision;
    TRY(check(clmove_ssm_decide_post(&numbers, (uint32_t)block_size, &decision),
              "clmove_ssm_decide_post"));
    seat->numbers.accepted = decision.accepted;
    if (decision.copies != 0)
        add_copy(decode, seat, &decision);
    if (decision.boundary == 0 || !decode->settings->prefix_cache)
        return MAMBA_FINE;
    return blocks_name(&decode->blocks, seat->blocks[decision.destination],
                       decode->requests[seat->prompt].tokens,
                       (size_t)decision.boundary);
}

/* A seat's step is over: `accepted` tokens were chosen. A checkpoint comes back
 * if any draft was wrong: then the state is the one before the step, and the
 * tokens are computed again. */
static enum mamba_exit settle_row(struct decode *decode, size_t slot,
                                  int32_t *skipped)
{
    struct seat *seat = &decode->seats[slot];
    const struct request *request = &decode->requests[seat->prompt];
    const size_t accepted = (size_t)decode->counts[seat->row];
    const bool rejected = accepted <= seat->proposed;
    const bool windows = !decode->settings->checkpoint;
    const size_t drafts = windows ? seat->proposed : 0;
    if (seat->computed + seat->scheduled - seat->proposed == request->count)
        add_tokens(decode, seat, accepted);
    if (seat->proposed > 0) {
        decode->result->verified++;
        decode->result->accepted += accepted - 1;
    }
    if (!windows && rejected) {
        const int32_t block = seat->blocks[seat->numbers.column];
        skipped[seat->row] = (int32_t)seat->scheduled;
        decode->checkpoints[decode->checkpoint_count++] =
            (struct clmove_ssm_copy){.conv_from = (int32_t)slot,
                                     .temporal_from = (int32_t)slot,
                                     .to = block};
        return MAMBA_FINE;
    }
    TRY(keep_books(decode, seat, drafts, windows ? (int32_t)accepted : 1));
    seat->computed += seat->scheduled - seat->proposed + accepted - 1;
    return MAMBA_FINE;
}

static void leave_finished(struct decode *decode)
{
    for (size_t i = 0; i < decode->settings->slots; i++) {
        struct seat *seat = &decode->seats[i];
        if (seat->prompt == NO_PROMPT ||
            decode->requests[seat->prompt].count <
                decode->requests[seat->prompt].limit)
            continue;
        give_back(decode, seat, 0, decode->columns);
        seat->prompt = NO_PROMPT;
        decode->done++;
    }
}

static enum mamba_exit settle_step(struct decode *decode)
{
    const struct settings *settings = decode->settings;
    /* Rows with as many drafts as tokens are passed over by post-process. */
    int32_t *skipped = batch_section(&decode->batch, SECTION_DRAFTS);
    decode->copy_count = decode->checkpoint_count = 0;
    for (size_t i = 0; i < settings->slots; i++) {
        if (decode->seats[i].prompt != NO_PROMPT)
            TRY(settle_row(decode, i, skipped));
    }
    if (settings->checkpoint) {
        TRY(states_restore(&decode->states, decode->checkpoints,
                           decode->checkpoint_count));
        TRY(states_settle(&decode->states, skipped));
    }
    if (settings->checkpoint || settings->clone)
        TRY(states_after(&decode->states, decode->copies, decode->copy_count));
    leave_finished(decode);
    return states_end_step(&decode->states);
}

static enum mamba_exit run_step(struct decode *decode)
{
    const struct settings *settings = decode->settings;
    struct states *states = &decode->states;
    TRY(plan_step(decode));
    TRY(states_before(states, decode->copies, decode->copy_count,
                      decode->numbers));
    TRY(states_save(states, decode->checkpoints, decode->checkpoint_count));
    const struct forward_step step = {
        .batch = states->batch_buffer,
        .numbers = states->numbers,
        .accepted = NUMBER_ACCEPTED_NOW * (cl_int)settings->slots,
        .column = NUMBER_COLUMN_NOW * (cl_int)settings->slots,
        .rows = decode->batch.rows,
        .tokens = decode->batch.tokens,
        .wanted = decode->batch.wanted};
    TRY(forward_enqueue(&decode->forward, decode->machine, &states->places,
                        &step));
    /* The device decides what it saves; the host need not know the counts. */
    if (!settings->checkpoint && !settings->clone)
        TRY(states_after(states, NULL, 0));
    TRY(read_results(decode));
    return settle_step(decode);
}

static enum mamba_exit run(struct decode *decode, const char *const *prompts)
{
    TRY(decode_open(decode, prompts));
    const double start = seconds();
    while (decode->done < decode->prompt_count) {
        TRY(run_step(decode));
        decode->result->steps++;
        if (!decode->listener(decode->user, decode->result))
            return MAMBA_INTERRUPTED;
    }
    decode->result->seconds = seconds() - start;
    decode->result->moving_seconds = decode->states.moving_seconds;
    return MAMBA_FINE;
}

static uint64_t add_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

static const uint64_t hash_start = 0xcbf29ce484222325u;

enum mamba_exit decode(const struct machine *machine,
                       const struct settings *settings,
                       const char *const *prompts, size_t prompt_count,
                       decode_listener listener, void *user,
                       struct decode_result *result)
{
    struct decode decode = {.machine = machine,
                            .settings = settings,
                            .result = result,
                            .listener = listener,
                            .user = user,
                            .prompt_count = prompt_count};
    memset(result, 0, sizeof *result);
    const enum mamba_exit code = run(&decode, prompts);
    clFinish(machine->queue); /* arrays on their way are freed next */
    decode_close(&decode);
    for (size_t i = 0; i < result->text_count && code == MAMBA_FINE; i++)
        result->texts[i].hash =
            add_hash(hash_start, result->texts[i].text, result->texts[i].count);
    return code;
}

void decode_free(struct decode_result *result)
{
    for (size_t i = 0; i < result->text_count; i++)
        free(result->texts[i].text);
    free(result->texts);
    memset(result, 0, sizeof *result);
}

uint64_t decode_hash(const struct decode_result *result)
{
    uint64_t hash = hash_start;
    for (size_t i = 0; i < result->text_count; i++)
        hash = add_hash(hash, &result->texts[i].hash,
                        sizeof result->texts[i].hash);
    return hash;
}
