/* Copies of recurrent state that the device decides for itself. */

/*
 * clmove_ssm_step decides, for every request (row) of a batch, whether its
 * state crosses to another block (ssm_decide.cl), then copies (ssm_copy.cl).
 *
 * Why it cannot race: work is cut into (request, tile). No group touches a byte
 * that another writes, because a block that one request writes is neither read
 * nor written by another (the caller's promise), and tiles of one request, and
 * shares of a tile, are apart (ssm_copy.cl). Local memory is rewritten only
 * behind a barrier that follows its last read. All barriers stand in flow that
 * is uniform for the group.
 *
 * Macros: those of the files named.
 */

#ifndef CLMOVE_SSM_DECIDE
#include "ssm_decide.cl"
#endif

/* One tile of one request, or a share of it, by the whole group. */
static void copy_request_tile(const struct ssm_step *step, uint2 tile,
                              uint share, uint shares,
                              const struct ssm_copy *copy, __local uchar *stage,
                              uint item, uint items)
{
    __global const struct ssm_state *state = &step->states[tile.x];
    __global const struct ssm_group *group = &step->groups[state->group];
    const uint bias = (uint)copy->bias;
    if (state->kind != TEMPORAL && bias >= state->src_width)
        return;
    const long from = state->kind == TEMPORAL ? (long)copy->source + copy->bias
                                              : (long)copy->source;
    const struct ssm_range range = tile_range(state, tile.y, share, shares);
    copy_tile(step->banks, state, 0, &range,
              table_entry(step, group, copy->row, from),
              table_entry(step, group, copy->row, copy->destination), bias,
              stage, item, items);
}

/* A bit for each row of a slice, and how many are set. */
#define CROSSING_WORDS (CLMOVE_SLICE_ROWS / 32 + 1)

static void clear_rows(__local uint *crossing, uint item, uint items)
{
    ROLLED
    for (uint i = item; i < CROSSING_WORDS; i += items)
        crossing[i] = 0;
}

/* Lists the rows that copy, in their order: every group must number the work
 * alike. */
static void number_rows(__local const uint *crossing, __local ushort *order,
                        uint rows, uint item, uint items)
{
    ROLLED
    for (uint place = item; place < rows; place += items) {
        const uint word = crossing[place / 32];
        const uint bit = 1u << (place % 32);
        if ((word & bit) == 0)
            continue;
        uint number = popcount(word & (bit - 1u));
        ROLLED
        for (uint i = 0; i < place / 32; i++)
            number += popcount(crossing[i]);
        order[number] = (ushort)place;
    }
}

/* A group's part of the copies of a slice. Groups take tiles by turns, and the
 * order of the groups turns from round to round: else a state that takes longer
 * would fall to the same few groups wherever its distance to the next one and
 * the number of groups have a common factor. Where the last round has tiles for
 * less than half of the groups, several share one. */
static void copy_rows(const struct ssm_step *step,
                      __global const struct ssm_cut *cut,
                      __local const struct ssm_copy *copies,
                      __local const ushort *order, uint count,
                      __local uchar *stage, uint item, uint items)
{
    const uint groups = (uint)get_num_groups(0);
    const uint turned = groups * 5 / 8 + 1; /* no likely distance of states */
    uint group = (uint)get_group_id(0);     /* its place in a round */
    const uint tile_count = cut->tile_count;
    __global const uint2 *tiles = cut_tiles(cut);
    uint row = 0; /* and tile that a round begins with */
    uint tile = 0;
    for (ulong left = (ulong)count * tile_count; left > 0;) {
        const uint taken = (uint)min((ulong)groups, left);
        const uint shares = groups / taken;
        const uint turn = group / shares;
        if (turn >= taken)
            break;
        const uint further = (tile + turn) / tile_count;
        const struct ssm_copy copy = copies[order[row + further]];
        copy_request_tile(step, tiles[tile + turn - further * tile_count],
                          group - turn * shares, shares, &copy, stage, item,
                          items);
        left -= taken;
        const uint passed = (tile + groups) / tile_count;
        row += passed;
        tile += groups - passed * tile_count;
        group += turned;
        group -= group < groups ? 0 : groups;
    }
}

MOVER __kernel void
clmove_ssm_step(BANK_EACH(BANK_PARAMETER) __global const struct ssm_cut *cut,
                __global const struct ssm_description *described, uint rows,
                uint mode)
{
    BANK_ARRAY banks[CLMOVE_BANKS];
    BANK_ARRAY arrays[ARRAY_COUNT];
    __local uint crossing[CROSSING_WORDS]; /* a bit per row */
    __local uint *copy_count = &crossing[CROSSING_WORDS - 1];
    __local struct ssm_copy copies[CLMOVE_SLICE_ROWS]; /* by row */
    __local ushort order[CLMOVE_SLICE_ROWS];           /* of rows that copy */
    __local uint named[SLOT_WORDS];
    __local uint twice[SLOT_WORDS];
    __local uint4 stage[STAGE_VECTORS];

    const uint item = (uint)get_local_id(0);
    const uint items = MOVER_ITEMS;
    const uint slot_count = described->slot_count;
    const struct ssm_step step = {banks,
                                  arrays,
                                  cut_states(cut),
                                  described_groups(described),
                                  rows,
                                  slot_count,
                                  described->tokens_per_block,
                                  described->state_count,
                                  described->group_count,
                                  mode};
    const int writes = (mode & MODE_WRITES_RESULTS) != 0 &&
                       get_group_id(0) == get_num_groups(0) - 1;
    /* Rows that name slots of one window are decided together, so that two rows
     * that name one slot are found. Without names there is one window. */
    struct slot_bits slots = {named, twice, 0};
    if (item == 0) {
        BANK_EACH(BANK_STORE)
    }
    clear_rows(crossing, item, items);
    barrier(CLK_LOCAL_MEM_FENCE);
    find_arrays(banks, arrays, described, item, items);
    barrier(CLK_LOCAL_MEM_FENCE);
    /* Copies wait for these one after another; while rows are decided on, they
     * come. With more rows than items nobody would notice. */
    if (rows < items) {
        prefetch_bytes((__global const uchar *)cut,
                       min(cut_size(cut), items * 32), item, items);
        prefetch_bytes((__global const uchar *)step.groups,
                       step.group_count * (uint)sizeof(struct ssm_group), item,
                       items);
    }
    const int names_slots = IS_GIVEN(&step, ARRAY_SLOT_OF);
    for (uint window = 0; window == 0 || window < slot_count;
         window += SLOT_WINDOW) {
        slots.first = window;
        if (names_slots)
            note_slots(&step, &slots, item, items);
        else if (window > 0)
            break;
        for (uint slice = 0; slice < rows; slice += CLMOVE_SLICE_ROWS) {
            const uint slice_rows = min(rows - slice, (uint)CLMOVE_SLICE_ROWS);
            /* A row's numbers are loaded a round before they are looked at. */
            struct ssm_inputs next = {0, 0, 0, 0, 0, 0};
            ROLLED
            for (uint ahead = item; ahead < slice_rows + items;
                 ahead += items) {
                const struct ssm_inputs inputs = next;
                if (ahead < slice_rows)
                    load_inputs(&step, slice + ahead, &next);
                if (ahead < items)
                    continue;
                const uint place = ahead - items;
                const uint row = slice + place;
                struct ssm_copy copy;
                struct ssm_fault fault;
                const uint fate =
                    decide_row(&step, &slots, row, &inputs, &copy, &fault);
                if ((fate & ROW_COPIES) != 0) {
                    copies[place] = copy;
                    atomic_or(&crossing[place / 32], 1u << (place % 32));
                    atomic_inc(copy_count);
                }
                if (writes)
                    write_results(&step, row, fate, &inputs, &copy, &fault);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            const uint count = *copy_count;
            /* Where nobody crosses, all bits are still clear. */
            if (count > 0) {
                number_rows(crossing, order, slice_rows, item, items);
                barrier(CLK_LOCAL_MEM_FENCE);
                copy_rows(&step, cut, copies, order, count,
                          (__local uchar *)stage, item, items);
                clear_rows(crossing, item, items);
            }
            /* Slices and windows set what was read and cleared here. */
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (writes)
            keep_other_slots(&step, &slots, item, items);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/*
 * clmove_ssm_aside copies accepted and running columns to scratch, for a step
 * whose results go where its inputs are. Reads both arrays, writes scratch
 * [2][slot_count]; every entry is written by one item and read by none. An
 * array that is not given is left out.
 */
struct ssm_aside {
    ulong accepted, column; /* bytes from what is given for them */
    ulong slot_count;
};

__kernel void clmove_ssm_aside(__global const uchar *accepted,
                               __global const uchar *column,
                               __global int *scratch,
                               const struct ssm_aside given)
{
    const ulong slot = get_global_id(0);
    if (slot >= given.slot_count)
        return;
    if (accepted != 0)
        scratch[slot] =
            ((__global const int *)(accepted + given.accepted))[slot];
    if (column != 0)
        scratch[given.slot_count + slot] =
            ((__global const int *)(column + given.column))[slot];
}

/*
 * clmove_ssm_indices looks up the blocks of a step's tokens. Reads the tables
 * and the per-request arrays, writes out [group][row][slots_per_row], each
 * entry by one item; nothing reads them.
 */
__kernel void
clmove_ssm_indices(BANK_EACH(BANK_PARAMETER)
                       __global const struct ssm_description *described,
                   __global uchar *out, ulong out_offset, uint rows,
                   uint slots_per_row, uint mode)
{
    BANK_ARRAY banks[CLMOVE_BANKS];
    BANK_ARRAY arrays[ARRAY_COUNT];
    const struct ssm_step step = {banks,
                                  arrays,
                                  0,
                                  described_groups(described),
                                  rows,
                                  described->slot_count,
                                  described->tokens_per_block,
                                  0,
                                  described->group_count,
                                  mode};
    if (get_local_id(0) == 0) {
        BANK_EACH(BANK_STORE)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    find_arrays(banks, arrays, described, (uint)get_local_id(0),
                (uint)get_local_size(0));
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong per_group = (ulong)rows * slots_per_row;
    for (ulong i = get_global_id(0); i < per_group * step.group_count;
         i += get_global_size(0)) {
        const ulong index = i / per_group;
        const ulong rest = i - index * per_group;
        const uint row = (uint)(rest / slots_per_row);
        const uint number = (uint)(rest - row * (ulong)slots_per_row);
        __global const struct ssm_group *group = &step.groups[index];
        const int slot = IS_GIVEN(&step, ARRAY_SLOT_OF)
                             ? INTS(&step, ARRAY_SLOT_OF)[row]
                             : (int)row;
        int found = -1;
        if (slot >= 0 && (uint)slot < step.slot_count) {
            const int tokens = scheduled_tokens(&step, row);
            const int before = INTS(&step, ARRAY_COMPUTED)[slot];
            const uint last = (uint)max((long)before + tokens - 1, 0l);
            const long column = (long)(last / step.tokens_per_block) + number;
            if (tokens >= 0 && before >= 0 && in_table(group, column))
                found = table_entry(
                    &step, group,
                    (mode & MODE_TABLES_BY_SLOT) != 0 ? slot : (int)row,
                    column);
        }
        ((__global int *)(out + out_offset))[i] = found;
    }
}
