/* Launch shapes that suit a device, chosen in one place. */

#ifndef VARIANT_H
#define VARIANT_H

#include <clmove/device.h>
#include <stdbool.h>

struct variant {
    bool cpu;             /* groups are loops on cores; any address is fast */
    uint32_t group_size;  /* work-items in a group */
    uint32_t group_count; /* groups of a launch */
    uint32_t tile_size;   /* bytes a group moves before it takes the next */
    uint32_t slice_rows;  /* requests decided at once, a power of two >= 32 */
};

/* The defaults, or `group_size` and `group_count` where they are not 0. */
struct variant variant_choose(const struct clmove_device_info *info,
                              uint32_t group_size, uint32_t group_count);

#endif
