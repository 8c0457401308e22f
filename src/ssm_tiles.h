/* States as kernels see them: banks, descriptions, tiles. */

#ifndef SSM_TILES_H
#define SSM_TILES_H

#include "bind.h"
#include "ssm.h"

/* Mirror of struct ssm_state in cl/ssm_copy.cl, which explains it. */
struct device_state {
    cl_ulong src_base, dst_base, src_block_stride, dst_block_stride;
    cl_ulong src_extent, dst_extent, part;
    cl_uint kind, group, src_bank, dst_bank;
    cl_uint src_width, dst_width, dim, element_size;
    cl_uint block_count, unused;
};

/* Mirror of struct ssm_cut there. */
struct device_cut {
    cl_uint state_count, tile_count, unused[2];
};

_Static_assert(sizeof(struct device_cut) == 16, "as in cl/ssm_copy.cl");
_Static_assert(sizeof(struct device_state) == 96, "as in cl/ssm_copy.cl");

/* Kinds of copies beside those of states, as in cl/ssm_copy.cl. */
enum { KIND_SD_TO_DS = 4, KIND_DS_TO_SD = 5 };

/* The distinct buffers of one launch. */
enum { BANKS_MAX = 64 };
struct banks {
    const struct memory_binding *items[BANKS_MAX];
    uint32_t count, limit;
};

/* The bank of a binding, added if there is room; UINT32_MAX when there is not.
 */
uint32_t banks_find(struct banks *banks, const struct memory_binding *binding);

/* Different buffers among bindings. */
size_t banks_count_distinct(const struct memory_binding *bindings,
                            size_t count);

/* Gives a kernel its banks, `limit` of them, as its first arguments. */
cl_int banks_set_arguments(const struct banks *banks, cl_kernel kernel);

/* Where states are copied from and to; for a step both are one layout. */
struct tile_source {
    const struct clmove_ssm_layout *from, *to;
    const struct memory_binding *src, *dst; /* of the states */
    bool skips_temporal;
};

/* The states that one launch reaches: from `first` to before `end`. */
struct tile_launch {
    size_t first, end;
    struct banks banks;
    cl_mem cut; /* struct device_cut, struct device_state [all states], cl_uint2
                   [tile_count]: state, part; by group */
    uint32_t tile_count;
    uint32_t *group_tiles; /* [group_count + 1] first tile of each group */
};

/* Describes states from `first` on, as many as the banks take beside those that
 * `banks` has already. `launch` is released by the caller, whatever the
 * status. */
clmove_status tiles_make_launch(const struct tile_source *source, size_t first,
                                const struct banks *banks,
                                struct tile_launch *launch);

void tiles_release_launch(struct tile_launch *launch);

/* A device buffer that holds `data`, or one unused byte when it is empty. */
clmove_status tiles_make_buffer(const struct clmove_engine *engine,
                                const void *data, size_t size, cl_mem *buffer);

#endif
