/* Launch shapes that suit a device, chosen in one place. */

#include "variant.h"

#include "util.h"

#include <clmove/move.h>
#include <string.h>

/* A CPU runs a group as a loop on one core: one item that walks its bytes beats
 * many that take turns, and a few large spans keep a core's prefetcher going.
 */
static void choose_cpu(struct variant *variant, uint64_t units)
{
    variant->group_size = 1;
    variant->move_group_size = 1;
    variant->tile_size = 256 * 1024;
    variant->driver_min = UINT64_MAX;
    variant->jobs = (struct job_limits){
        .tile = 256 * 1024,
        .tile_min = 64 * 1024,
        .jobs = units * 4,
        .group_max = 256 * 1024,
        .span = 256 * 1024,
        .split_max = 128 * 1024,
    };
}

/* A GPU wants enough 16-byte loads in flight: 256 items hold 8 each for states,
 * 4 for moves, whose tiles leave room for more groups on a unit. Figures behind
 * the sizes: docs/performance.md. */
static void choose_gpu(struct variant *variant, uint64_t units)
{
    variant->group_size = 256;
    variant->move_group_size = 256;
    variant->move_tile = 16 * 1024;
    variant->tile_size = 64 * 1024;
    variant->jobs = (struct job_limits){
        .jobs = units * 4,
        .group_max = 64 * 1024,
        .span_most = 32,
    };
}

/* NVIDIA's driver 580 allows 256 items unless the kernel says how many it has.
 * One group of 512 on each unit, 4 vectors an item, copies 5 % faster than any
 * number of smaller ones, and decides what little there is to decide in one
 * wave. A unit has more local memory than a group may have. Left to itself, its
 * compiler gives moves twice the registers that they need. Below 32 MiB they
 * are faster than its own copy. */
static void choose_nvidia(struct variant *variant, uint64_t units)
{
    variant->fixed_groups = true;
    variant->group_size = 512;
    variant->tile_size = 128 * 1024;
    variant->group_count = (uint32_t)min_u64(units, 1u << 16);
    variant->state_held = 4;
    variant->move_registers = 40;
    variant->driver_min = 32 << 20;
    variant->stage_size = 96; /* doubled below, up to 3 vectors an item */
}

/* What a group of a GPU holds at once is what its jobs are made of. */
static void fit_tile(struct variant *variant, uint64_t room)
{
    while (variant->move_tile > 256 &&
           job_tile_most(variant->move_tile) + 16 > room)
        variant->move_tile /= 2;
    if (variant->cpu)
        return;
    variant->jobs.tile = variant->move_tile;
    variant->jobs.tile_min = variant->move_tile / 8;
    variant->jobs.span = variant->move_tile;
    variant->jobs.split_max = variant->move_tile;
}

/* Small tiles are for tests: every limit shrinks with them. */
static void apply_tile_size(struct variant *variant, uint32_t tile_size)
{
    const uint64_t tile = ((uint64_t)tile_size + 15) / 16 * 16;
    variant->tile_size = (uint32_t)tile;
    variant->move_tile = (uint32_t)min_u64(tile, variant->move_tile);
    variant->jobs = (struct job_limits){
        .tile = tile,
        .tile_min = tile,
        .group_max = tile,
        .span = tile,
        .split_max = tile,
    };
}

struct variant variant_choose(const struct clmove_device_info *info,
                              const struct variant_wishes *wishes)
{
    const uint64_t units = max_u64(info->compute_units, 1);
    const uint64_t largest_group = max_u64(info->max_group_size, 1);
    struct variant variant = {
        .cpu = (info->type & (CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU)) ==
               CL_DEVICE_TYPE_CPU, /* simulators claim every type */
        /* Idle groups cost launch time; 4 for each unit still fill the memory
         * pipes. */
        .group_count = (uint32_t)min_u64(units * 4, 1u << 16),
        .stage_size = 64,
        .slice_rows = 32,
        .batch_slice = 16,
        .state_held = 8,
        .move_tile = 4096,
        /* Each of these looks at every entry of a small batch; what they do
         * is shared out beforehand, so that none should wait for its turn. */
        .entry_groups = (uint32_t)min_u64(units * 4, 1u << 20),
    };
    if (variant.cpu)
        choose_cpu(&variant, units);
    else
        choose_gpu(&variant, units);
    const bool nvidia = !variant.cpu && strstr(info->vendor, "NVIDIA") != NULL;
    if (nvidia)
        choose_nvidia(&variant, units);
    fit_tile(&variant, info->local_size / 2);
    if (wishes->group_size != 0) {
        variant.group_size = wishes->group_size;
        variant.move_group_size = wishes->group_size;
    }
    if (wishes->group_count != 0) {
        variant.group_count = wishes->group_count;
        variant.entry_groups = wishes->group_count;
    }
    if (wishes->tile_size != 0)
        apply_tile_size(&variant, wishes->tile_size);
    variant.group_size = (uint32_t)min_u64(variant.group_size, largest_group);
    variant.move_group_size =
        (uint32_t)min_u64(variant.move_group_size, largest_group);
    /* Vectors of a tile that an item holds. */
    variant.move_held = (uint32_t)max_u64(
        min_u64(variant.move_tile / 16 / variant.move_group_size, 8), 1);
    /* A request's decision takes 20 bytes of local memory, the pointers to 64
     * buffers half a KiB. */
    const uint64_t room = nvidia ? info->local_size : info->local_size / 3;
    const uint64_t stage_max = nvidia ? 24576 : 8192;
    /* Rows are staged where groups have many items. */
    while (!variant.cpu && variant.stage_size * 2 <= stage_max &&
           variant.stage_size * 2 <= variant.tile_size &&
           (uint64_t)variant.stage_size * 4 <= room && room > 1024)
        variant.stage_size *= 2;
    while (variant.slice_rows < 1024 &&
           (uint64_t)variant.slice_rows * 2 * 20 + variant.stage_size + 1024 <=
               room)
        variant.slice_rows *= 2;
    while (variant.batch_slice < 256 &&
           (uint64_t)variant.batch_slice * 2 * 16 * 4 <= info->local_size)
        variant.batch_slice *= 2;
    return variant;
}

static const char *const names[] = {"auto",  "driver", "disjoint",
                                    "group", "split",  "segments"};

const char *clmove_variant_name(uint32_t variant)
{
    return variant < sizeof names / sizeof names[0] ? names[variant] : NULL;
}

bool variant_from_name(const char *name, uint32_t *variant)
{
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            *variant = i;
            return true;
        }
    }
    return false;
}
