/* Proof that a replay's copies are right: meaning, bytes, everything else. */

#include "verify_parts.h"

#include "hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Neither an accepted count nor a column of a replay. */
#define POISON INT32_C(-77777777)

static bool create_arrays(struct verify *verify)
{
    const struct session *session = verify->replay->session;
    size_t slots = verify->replay->schedule.slots;
    size_t bad = verify->replay->pool.shape.layers * slots * 2;
    bool fine = true;
    for (int i = 0; i < EXTRAS; i++) {
        verify->extra[i] =
            session_buffer(session, slots * sizeof(int32_t), "checks");
        verify->extra_values[i] = calloc(slots, sizeof(int32_t));
        fine = fine && verify->extra[i] && verify->extra_values[i];
    }
    verify->bad = session_buffer(session, bad * sizeof(uint32_t), "checks");
    verify->bad_values = calloc(bad, sizeof *verify->bad_values);
    size_t room = verify->replay->room;
    verify->read_back = calloc(room, sizeof(int32_t));
    verify->faults = calloc(room, sizeof *verify->faults);
    if (fine && verify->bad && verify->bad_values && verify->read_back &&
        verify->faults)
        return true;
    cli_error("the arrays of the checks cannot be allocated");
    return false;
}

struct verify *verify_create(struct replay *replay, enum verify_compare compare)
{
    struct verify *verify = calloc(1, sizeof *verify);
    if (!verify) {
        cli_error("out of memory");
        return NULL;
    }
    verify->replay = replay;
    enum verify_way way = VERIFY_WAY_DEVICE;
    /* Checkpoints are compared with what the host kept of them. */
    if (compare == VERIFY_BLOCKS || replay->mode == REPLAY_CHECKPOINT)
        way = VERIFY_WAY_BLOCKS;
    if (compare == VERIFY_WHOLE ||
        (compare == VERIFY_AUTO &&
         replay->pool.shape.total_size <= VERIFY_WHOLE_MAX))
        way = VERIFY_WAY_WHOLE;
    if (!verify_bytes_create(&verify->bytes, replay, way) ||
        !create_arrays(verify))
        verify_destroy(&verify);
    return verify;
}

void verify_destroy(struct verify **place)
{
    struct verify *verify = *place;
    if (!verify)
        return;
    verify_bytes_destroy(&verify->bytes);
    for (int i = 0; i < EXTRAS; i++) {
        session_release(&verify->extra[i]);
        free(verify->extra_values[i]);
    }
    session_release(&verify->bad);
    free(verify->bad_values);
    free(verify->read_back);
    free(verify->faults);
    free(verify->kept);
    free(verify->page);
    free(verify);
    *place = NULL;
}

uint64_t verify_checks(const struct verify *verify)
{
    return verify->checks + verify->bytes.checks;
}

const char *verify_failure(const struct verify *verify)
{
    return verify->bytes.failure[0] ? verify->bytes.failure : NULL;
}

const char *verify_place(const struct verify *verify, const char *what,
                         char *text, size_t size)
{
    const struct schedule *schedule = &verify->replay->schedule;
    snprintf(text, size, "step %" PRIu64 ", %s",
             schedule->trace->steps[schedule->next_step - 1].number, what);
    return text;
}

static const char *call_name(enum oracle_call call)
{
    return call == ORACLE_PRE ? "pre-process" : "post-process";
}

bool verify_write_extra(struct verify *verify)
{
    size_t size = verify->replay->schedule.slots * sizeof(int32_t);
    for (int i = 0; i < EXTRAS; i++) {
        if (!replay_write(verify->replay, verify->extra[i],
                          verify->extra_values[i], size))
            return false;
    }
    return true;
}

/* The arrays of the current step, or the extra ones. */
static struct kernels_slots slots_of(const struct verify *verify, bool extra)
{
    const struct replay *replay = verify->replay;
    struct kernels_slots slots;
    slots.slots = replay->schedule.slots;
    slots.table = replay->table;
    slots.request = replay->arrays[REPLAY_REQUEST];
    slots.active =
        extra ? verify->extra[EXTRA_ACTIVE] : replay->arrays[REPLAY_SCHEDULED];
    slots.tokens =
        extra ? verify->extra[EXTRA_TOKENS] : replay->arrays[REPLAY_COMPUTED];
    slots.column =
        extra ? verify->extra[EXTRA_COLUMN] : replay_running_column(replay);
    slots.count = extra ? verify->extra[EXTRA_COUNT] : replay->accepted[1];
    return slots;
}

bool verify_stamp(struct verify *verify)
{
    const struct replay *replay = verify->replay;
    struct kernels_slots slots = slots_of(verify, true);
    return verify_write_extra(verify) &&
           kernels_stamp(&replay->kernels, &replay->pool, &slots) &&
           verify_bytes_accept(&verify->bytes,
                               verify->extra_values[EXTRA_ACTIVE],
                               verify->extra_values[EXTRA_COLUMN],
                               verify->extra_values[EXTRA_COUNT]);
}

bool verify_admitted(struct verify *verify)
{
    const struct replay *replay = verify->replay;
    const struct schedule *schedule = &replay->schedule;
    bool any = false;
    for (uint32_t i = 0; i < schedule->slots; i++) {
        int32_t column = schedule->admitted[i];
        bool cached = column >= 0; /* not for SCHEDULE_NOT_ADMITTED either */
        any = any || cached;
        verify->extra_values[EXTRA_ACTIVE][i] = cached;
        verify->extra_values[EXTRA_TOKENS][i] = schedule->computed[i];
        verify->extra_values[EXTRA_COLUMN][i] = column;
        verify->extra_values[EXTRA_COUNT][i] = 0;
    }
    if (!any)
        return true;
    return verify_stamp(verify);
}

bool verify_before(struct verify *verify, enum oracle_call call)
{
    const struct replay *replay = verify->replay;
    cl_mem results[2] = {replay->accepted[call == ORACLE_PRE ? 1 : 0],
                         replay_running_column(replay)};
    uint32_t slots = replay->room;
    /* Written rather than filled: Oclgrind takes filled bytes as unset. */
    for (uint32_t i = 0; i < slots; i++)
        verify->read_back[i] = POISON;
    for (int i = 0; i < (call == ORACLE_PRE ? 2 : 1); i++) {
        if (!replay_write(replay, results[i], verify->read_back,
                          slots * sizeof(int32_t)))
            return false;
    }
    return verify_bytes_before(&verify->bytes, call);
}

/* Slots that no request ever gets are compared, too. */
static bool compare_array(struct verify *verify, const char *place,
                          const char *name, cl_mem buffer,
                          const int32_t *expected)
{
    uint32_t slots = verify->replay->room;
    if (!replay_read(verify->replay, buffer, 0, verify->read_back,
                     slots * sizeof(int32_t)))
        return false;
    verify->checks++;
    for (uint32_t i = 0; i < slots; i++) {
        if (verify->read_back[i] == expected[i])
            continue;
        snprintf(verify->bytes.failure, VERIFY_FAILURE_SIZE,
                 "%s: %s of slot %u is %d, and should be %d\n", place, name, i,
                 verify->read_back[i], expected[i]);
        return false;
    }
    return true;
}

static bool compare_faults(struct verify *verify, const char *place)
{
    const struct replay *replay = verify->replay;
    if (!replay_has_steps(replay))
        return true;
    uint32_t rows = replay->room;
    if (!replay_read(replay, replay->faults, 0, verify->faults,
                     rows * sizeof *verify->faults))
        return false;
    verify->checks++;
    for (uint32_t i = 0; i < rows; i++) {
        const struct clmove_ssm_fault *fault = &verify->faults[i];
        if (fault->kind == CLMOVE_SSM_FAULT_NONE)
            continue;
        int32_t slot = (int32_t)i;
        if (replay->mode == REPLAY_V2)
            slot = replay->rows_of.slot_of[i];
        snprintf(verify->bytes.failure, VERIFY_FAILURE_SIZE,
                 "%s: row %u (slot %d) is at fault: kind %d, state %d, column "
                 "%d, value %d\n",
                 place, i, slot, fault->kind, fault->state, fault->column,
                 fault->value);
        return false;
    }
    return true;
}

bool verify_compare_results(struct verify *verify, const char *place,
                            enum oracle_call call)
{
    const struct replay *replay = verify->replay;
    const struct oracle *oracle = &replay->oracle;
    return compare_faults(verify, place) &&
           compare_array(verify, place, "accepted",
                         replay->accepted[call == ORACLE_PRE ? 1 : 0],
                         oracle->accepted_next) &&
           compare_array(verify, place, "the running column",
                         replay_running_column(replay), oracle->column_next);
}

bool verify_after(struct verify *verify, enum oracle_call call)
{
    char place[64];
    verify_place(verify, call_name(call), place, sizeof place);
    return verify_compare_results(verify, place, call) &&
           verify_bytes_after(&verify->bytes, place);
}

static bool fail_check(struct verify *verify, const char *place, uint32_t layer,
                       uint32_t slot, int32_t tokens, bool temporal,
                       uint32_t bad)
{
    const struct schedule *schedule = &verify->replay->schedule;
    int used = snprintf(verify->bytes.failure, VERIFY_FAILURE_SIZE,
                        "%s: layer %u, slot %u, request %u: the %s state is "
                        "not the one after %d tokens: ",
                        place, layer, slot, schedule->slot[slot].request,
                        temporal ? "temporal" : "conv", tokens);
    char *rest = verify->bytes.failure + used;
    size_t room = VERIFY_FAILURE_SIZE - (size_t)used;
    if (bad == (uint32_t)KERNELS_NO_BLOCK)
        snprintf(rest, room, "no block of the table holds it\n");
    else
        snprintf(rest, room, "byte %u of the block's state is wrong\n", bad);
    return false;
}

/* Runs the check kernel; `active` and `tokens` are the host's copies of the
 * arrays that it reads. */
bool verify_check_meaning(struct verify *verify, const char *what, bool extra,
                          const int32_t *active, const int32_t *tokens)
{
    const struct replay *replay = verify->replay;
    const struct pool_shape *shape = &replay->pool.shape;
    size_t slots = replay->schedule.slots;
    struct kernels_slots arrays = slots_of(verify, extra);
    size_t count = shape->layers * slots * 2;
    for (size_t i = 0; i < count; i++)
        verify->bad_values[i] = (uint32_t)KERNELS_NOTHING_BAD;
    if (!replay_write(replay, verify->bad, verify->bad_values,
                      count * sizeof(uint32_t)) ||
        !kernels_check(&replay->kernels, &replay->pool, &arrays, verify->bad) ||
        !replay_read(replay, verify->bad, 0, verify->bad_values,
                     count * sizeof(uint32_t)))
        return false;
    char place[64];
    verify_place(verify, what, place, sizeof place);
    uint32_t states = pool_states_per_layer(shape);
    for (size_t i = 0; i < shape->layers * slots; i++) {
        size_t slot = i % slots;
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t bad = verify->bad_values[i * 2 + k];
            if (bad != (uint32_t)KERNELS_NOTHING_BAD)
                return fail_check(verify, place, (uint32_t)(i / slots),
                                  (uint32_t)slot, tokens[slot], k == 1, bad);
        }
        if (active[slot] > 0 && tokens[slot] > 0)
            verify->checks += states;
    }
    return true;
}

bool verify_forward(struct verify *verify)
{
    const struct replay *replay = verify->replay;
    const struct schedule *schedule = &replay->schedule;
    if (!verify_check_meaning(verify, "the state that the model reads", false,
                              schedule->scheduled, schedule->computed))
        return false;
    /* Without windows the model cannot step back: it leaves one state, as if
     * all drafts were accepted. */
    bool windows = replay->mode != REPLAY_CHECKPOINT;
    for (uint32_t i = 0; i < schedule->slots; i++) {
        int32_t drafts = windows ? schedule->draft[i] : 0;
        verify->extra_values[EXTRA_ACTIVE][i] = schedule->scheduled[i];
        verify->extra_values[EXTRA_TOKENS][i] =
            schedule->computed[i] + schedule->scheduled[i] - drafts;
        verify->extra_values[EXTRA_COLUMN][i] = replay->oracle.column[i];
        verify->extra_values[EXTRA_COUNT][i] = drafts;
    }
    return verify_stamp(verify);
}

bool verify_saved(struct verify *verify)
{
    const struct schedule *schedule = &verify->replay->schedule;
    bool any = false;
    for (uint32_t i = 0; i < schedule->slots; i++) {
        const struct ref_decision *decision =
            &verify->replay->oracle.decisions[i];
        bool crossed = decision->copy || decision->reset;
        any = any || crossed;
        verify->extra_values[EXTRA_ACTIVE][i] = crossed;
        verify->extra_values[EXTRA_TOKENS][i] =
            (int32_t)((decision->destination + 1) * schedule->block_size);
        verify->extra_values[EXTRA_COLUMN][i] = (int32_t)decision->destination;
        verify->extra_values[EXTRA_COUNT][i] = 1;
    }
    if (!any)
        return true;
    return verify_write_extra(verify) &&
           verify_check_meaning(verify, "the state saved at a boundary", true,
                                verify->extra_values[EXTRA_ACTIVE],
                                verify->extra_values[EXTRA_TOKENS]);
}

/* Hashes one layer of a slot: `conv` and `temporal` are pages. */
static uint64_t hash_layer(const struct pool_shape *shape, uint64_t hash,
                           int32_t tokens, uint32_t skip,
                           const unsigned char *conv,
                           const unsigned char *temporal)
{
    uint32_t count = shape->taps - 1;
    for (uint32_t i = 0; i < count; i++) {
        if ((int64_t)tokens - count + i < 0)
            continue;
        for (uint64_t channel = 0; channel < shape->dim; channel++) {
            uint64_t place = shape->channels_first
                                 ? channel * shape->width + skip + i
                                 : (skip + i) * (uint64_t)shape->dim + channel;
            hash = hash_add(hash, conv + place * shape->element_size,
                            shape->element_size);
        }
    }
    return hash_add(hash, temporal + shape->temporal_offset,
                    (size_t)shape->temporal_size);
}

static bool hash_slot(struct verify *verify, uint32_t slot,
                      unsigned char *pages, uint64_t *hash)
{
    const struct replay *replay = verify->replay;
    const struct pool_shape *shape = &replay->pool.shape;
    int32_t column = replay->oracle.column[slot];
    int32_t accepted = replay->oracle.accepted[slot];
    uint32_t skip = accepted > 1 ? (uint32_t)accepted - 1 : 0;
    size_t size = (size_t)shape->page_size;
    for (uint32_t layer = 0; layer < shape->layers; layer++) {
        for (uint32_t i = 0; i < 2; i++) {
            int32_t block = schedule_block(&replay->schedule, slot,
                                           (int64_t)column + (i ? skip : 0));
            /* verify_finish has checked that the state is there. */
            uint64_t offset = pool_layer_offset(shape, layer) +
                              (uint64_t)block * shape->page_size;
            if (!replay_read(replay, pool_layer_buffer(&replay->pool, layer),
                             (size_t)offset, pages + i * size, size))
                return false;
        }
        *hash = hash_layer(shape, *hash, replay->schedule.slot[slot].computed,
                           skip, pages, pages + size);
    }
    return true;
}

static bool check_last(struct verify *verify)
{
    const struct schedule *schedule = &verify->replay->schedule;
    for (uint32_t i = 0; i < schedule->slots; i++) {
        verify->extra_values[EXTRA_ACTIVE][i] = schedule->slot[i].occupied;
        verify->extra_values[EXTRA_TOKENS][i] = schedule->slot[i].computed;
        verify->extra_values[EXTRA_COLUMN][i] =
            verify->replay->oracle.column[i];
        verify->extra_values[EXTRA_COUNT][i] =
            verify->replay->oracle.accepted[i];
    }
    return verify_write_extra(verify) &&
           verify_check_meaning(verify,
                                "the state that the next step would read", true,
                                verify->extra_values[EXTRA_ACTIVE],
                                verify->extra_values[EXTRA_TOKENS]);
}

bool verify_finish(struct verify *verify, uint64_t *hash)
{
    const struct replay *replay = verify->replay;
    if (!check_last(verify) || !verify_bytes_finish(&verify->bytes))
        return false;
    unsigned char *pages = malloc(2 * (size_t)replay->pool.shape.page_size);
    if (!pages) {
        cli_error("out of memory");
        return false;
    }
    *hash = HASH_START;
    bool fine = true;
    for (uint32_t i = 0; fine && i < replay->schedule.slots; i++) {
        if (replay->schedule.slot[i].occupied)
            fine = hash_slot(verify, i, pages, hash);
    }
    free(pages);
    return fine;
}
