/* The launches of copies into a layout, or of clears in it, kept from call to
 * call. */

#ifndef SSM_LISTING_H
#define SSM_LISTING_H

#include "ssm.h"
#include "ssm_tiles.h"

/* Mirror of struct ssm_listed in cl/ssm_copy.cl. */
struct device_listed {
    cl_ulong first_work;
    cl_uint first_tile, unused;
    cl_int conv_from, temporal_from, to;
    cl_uint bias;
};

/* Mirrors of struct ssm_copies and struct ssm_blocks there, and what they have
 * room for. */
enum { FEW_COPIES = 12, FEW_BLOCKS = 32 };
struct device_copies {
    cl_ulong work;
    cl_uint count, few;
    struct device_listed entries[FEW_COPIES];
};
struct device_blocks {
    cl_ulong work;
    cl_uint first_tile, tile_count, few, unused;
    cl_int blocks[FEW_BLOCKS];
};

_Static_assert(sizeof(struct device_listed) == 32, "as in cl/ssm_copy.cl");
_Static_assert(sizeof(struct device_copies) == 400, "as in cl/ssm_copy.cl");
_Static_assert(sizeof(struct device_blocks) == 152, "as in cl/ssm_copy.cl");

/* One launch: a kernel that has its banks and tiles. What it works on follows
 * from `first_argument` on: a list or NULL, and one of the structs above. */
struct listed_launch {
    struct tile_launch tiles;
    struct engine_kernel kernel;
    cl_uint first_argument;
    /* Of the call that is being made. */
    cl_mem list; /* or NULL */
    cl_ulong work;
};

struct ssm_listing {
    uint64_t from; /* the layout's id */
    size_t launch_count;
    struct listed_launch *launches;
};

/* The launches that copy from one layout to another or the same, or that clear
 * blocks of `to`: those of an earlier call, or new ones. Two layouts are
 * refused if they share a byte. `to`'s mutex is held. */
clmove_status listing_find(const struct clmove_ssm_layout *from,
                           struct clmove_ssm_layout *to, enum listing_kind kind,
                           struct ssm_listing **listing);

void listing_release(struct ssm_listing *listing);

#endif
