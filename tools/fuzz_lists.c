/* A random case: blocks that the host lists, from one layout to another. */

#include "fuzz_case.h"

#include <stdlib.h>
#include <string.h>

/* The same state as another layout may have it: wider or narrower, in the other
 * order, with other gaps. */
static void make_other(struct fuzz_case *fuzz, uint32_t index)
{
    struct random *random = &fuzz->random;
    const struct fuzz_state *state = &fuzz->states[index];
    struct fuzz_state *other = &fuzz->others[index];
    *other = *state;
    struct clmove_ssm_state *described = &other->described;
    described->block_count = fuzz->block_count + random_below(random, 3);
    described->block_stride = described->row_stride = 0;
    if (described->kind != CLMOVE_SSM_TEMPORAL) {
        bool rows = random_chance(random, 50);
        described->kind = rows ? CLMOVE_SSM_CONV_DS : CLMOVE_SSM_CONV_SD;
        described->taps = 0;
        described->width = 1 + random_below(random, described->width + 3);
        uint32_t token = described->width * described->element_size;
        other->extent = (uint64_t)token * described->dim;
        if (rows && random_chance(random, 50)) {
            described->row_stride = token + random_below(random, 20);
            other->extent =
                (described->dim - 1) * described->row_stride + token;
        }
    }
    uint32_t first = fuzz->pool_areas;
    fuzz_place_alone(fuzz, other,
                     first + random_below(random, fuzz->area_count - first));
}

static uint64_t round_up_16(uint64_t size)
{
    return (size + 15) / 16 * 16;
}

/* The packed form: states one after another at multiples of 16 bytes, without
 * gaps between rows. */
static void make_packed(struct fuzz_case *fuzz)
{
    uint64_t start[FUZZ_STATES_MAX], block = 0;
    uint32_t blocks = fuzz->block_count;
    for (uint32_t i = 0; i < fuzz->state_count; i++) {
        struct fuzz_state *other = &fuzz->others[i];
        struct clmove_ssm_state *described = &other->described;
        *other = fuzz->states[i];
        described->row_stride = 0;
        if (described->kind != CLMOVE_SSM_TEMPORAL)
            other->extent = (uint64_t)described->width * described->dim *
                            described->element_size;
        start[i] = block;
        block += round_up_16(other->extent);
    }
    fuzz->packed_place =
        fuzz_place_in(fuzz, fuzz->area_count - 1, (size_t)(block * blocks), 1);
    for (uint32_t i = 0; i < fuzz->state_count; i++) {
        struct fuzz_state *other = &fuzz->others[i];
        other->described.block_count = blocks;
        other->described.block_stride = block;
        other->place = fuzz->packed_place;
        other->place.offset += (size_t)start[i];
        other->place.size = (size_t)((blocks - 1) * block + other->extent);
    }
}

void fuzz_lists_make_others(struct fuzz_case *fuzz)
{
    struct random *random = &fuzz->random;
    if (fuzz->call != FUZZ_COPY || random_chance(random, 30))
        return;
    fuzz->two_layouts = true;
    fuzz->others_first = random_chance(random, 50);
    fuzz->packed = random_chance(random, 40);
    if (fuzz->packed) {
        make_packed(fuzz);
        return;
    }
    for (uint32_t i = 0; i < fuzz->state_count; i++)
        make_other(fuzz, i);
}

/* Where an entry's states come from: within one layout never from a block that
 * another entry writes, which are the first `written` ones of `ids`. */
static int32_t source(struct fuzz_case *fuzz, const int32_t *ids,
                      uint32_t count, uint32_t written, int32_t to)
{
    struct random *random = &fuzz->random;
    if (random_chance(random, 12))
        return -1;
    if (fuzz->two_layouts)
        return ids[random_below(random, count)];
    if (written == count || random_chance(random, 35))
        return to;
    return ids[written + random_below(random, count - written)];
}

static void list_copies(struct fuzz_case *fuzz, uint32_t group,
                        const int32_t *ids, uint32_t count)
{
    struct random *random = &fuzz->random;
    struct fuzz_list *list = &fuzz->list;
    uint32_t most = FUZZ_LIST_MAX / FUZZ_GROUPS_MAX;
    uint32_t written = random_below(random, (count < most ? count : most) + 1);
    for (uint32_t i = 0; i < written; i++) {
        /* Among those that are listed already. */
        uint32_t place = random_below(random, list->count + 1);
        list->copies[list->count] = list->copies[place];
        struct clmove_ssm_copy *copy = &list->copies[place];
        copy->group = group;
        copy->to = ids[i];
        copy->conv_from = source(fuzz, ids, count, written, ids[i]);
        copy->temporal_from = source(fuzz, ids, count, written, ids[i]);
        copy->bias = random_below(random, fuzz->width + 3);
        list->count++;
    }
}

static void list_blocks(struct fuzz_case *fuzz, const int32_t *ids,
                        uint32_t count)
{
    struct random *random = &fuzz->random;
    struct fuzz_list *list = &fuzz->list;
    uint32_t most = FUZZ_LIST_MAX < count ? FUZZ_LIST_MAX : count;
    list->count = random_below(random, most + 1);
    for (uint32_t i = 0; i < list->count; i++) {
        /* A block may be cleared twice, but not be written twice by moves; it
         * may be read by several. */
        bool again = fuzz->call == FUZZ_ZERO && random_chance(random, 20);
        list->to[i] = ids[again ? random_below(random, i + 1) : i];
        uint32_t from = random_chance(random, 60)
                            ? random_below(random, list->count)
                            : random_below(random, count);
        list->from[i] = ids[from];
    }
}

/* Takes the null block out, if there is one. */
static uint32_t without_null(const struct fuzz_case *fuzz, uint32_t group,
                             int32_t *ids, uint32_t count)
{
    if (fuzz->groups[group].has_null_block)
        ids[2] = ids[--count];
    return count;
}

bool fuzz_lists_fill(struct fuzz_case *fuzz)
{
    struct random *random = &fuzz->random;
    fuzz->list.group = random_below(random, fuzz->group_count);
    for (uint32_t i = 0; i < fuzz->group_count; i++) {
        uint32_t count;
        int32_t *ids = fuzz_shuffled_ids(fuzz, i, &count);
        if (!ids) {
            cli_error("out of memory for a list of blocks");
            return false;
        }
        fuzz->groups[i].null_block = ids[2];
        count = without_null(fuzz, i, ids, count);
        if (fuzz->call == FUZZ_COPY)
            list_copies(fuzz, i, ids, count);
        else if (i == fuzz->list.group)
            list_blocks(fuzz, ids, count);
        free(ids);
    }
    return true;
}
