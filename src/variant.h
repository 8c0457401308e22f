/* Launch shapes that suit a device, chosen in one place. */

#ifndef VARIANT_H
#define VARIANT_H

#include "jobs.h"

#include <clmove/device.h>
#include <stdbool.h>

struct variant {
    bool cpu;             /* groups are loops on cores; any address is fast */
    uint32_t group_size;  /* work-items in a group that copies states */
    uint32_t group_count; /* groups of a launch that copies states */
    uint32_t tile_size;   /* bytes of a state that a group takes at once */
    uint32_t stage_size;  /* bytes of rows that a group stages at once */
    uint32_t slice_rows;  /* requests decided at once, a power of two >= 32 */
    uint32_t batch_slice; /* entries of a device batch numbered at once */
    uint32_t move_group_size; /* work-items in a group that moves bytes */
    uint32_t move_registers; /* of an item, told to NVIDIA's compiler; 0: any */
    uint32_t move_tile;      /* bytes that such a group holds in local memory */
    bool fixed_groups; /* the compiler is told the size of groups of states, and
                          of those that move entries listed on the device */
    uint32_t state_held, move_held; /* values that an item holds at once */
    uint32_t entry_groups; /* groups that move entries listed on the device */
    uint64_t
        driver_min; /* bytes of a disjoint move that is left to the driver */
    struct job_limits jobs; /* how moves are cut */
};

/* What the caller or the environment asks for; 0: what suits the device. */
struct variant_wishes {
    uint32_t group_size, group_count, tile_size;
};

struct variant variant_choose(const struct clmove_device_info *info,
                              const struct variant_wishes *wishes);

/* The number of a move variant's name; false for an unknown one. */
bool variant_from_name(const char *name, uint32_t *variant);

#endif
