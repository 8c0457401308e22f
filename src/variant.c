/* Launch shapes that suit a device, chosen in one place. */

#include "variant.h"

#include "util.h"

struct variant variant_choose(const struct clmove_device_info *info,
                              uint32_t group_size, uint32_t group_count)
{
    const bool cpu = (info->type & CL_DEVICE_TYPE_CPU) != 0;
    const uint64_t units = max_u64(info->compute_units, 1);
    struct variant variant = {
        .cpu = cpu,
        /* A CPU runs a group as a loop on one core: one item that walks its
         * bytes beats many that take turns. A GPU wants enough 16-byte loads
         * in flight: 256 items hold 8 each. */
        .group_size = cpu ? 1 : 256,
        /* Idle groups cost launch time; 4 for each unit still fill the memory
         * pipes. */
        .group_count = (uint32_t)min_u64(units * 4, 1u << 16),
        .tile_size = cpu ? 256 * 1024 : 64 * 1024,
        .slice_rows = 32,
    };
    if (group_size != 0)
        variant.group_size = group_size;
    if (group_count != 0)
        variant.group_count = group_count;
    variant.group_size =
        (uint32_t)min_u64(variant.group_size, max_u64(info->max_group_size, 1));
    /* A request's decision takes 18 bytes of local memory, the pointers to 64
     * buffers half a KiB; a third of it leaves room for more groups on one
     * unit. */
    while (variant.slice_rows < 1024 &&
           (uint64_t)variant.slice_rows * 2 * 18 * 3 + 512 <= info->local_size)
        variant.slice_rows *= 2;
    return variant;
}
