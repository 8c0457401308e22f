/* Comparison of the pages that copies wrote, on the device. */

#ifndef TOOLS_VERIFY_DEVICE_H
#define TOOLS_VERIFY_DEVICE_H

#include "replay.h"

/* What a page holds after a copy follows from pages as they were before the
 * call: these are kept in device memory, and a kernel of the tool compares
 * every byte. */
struct verify_device {
    const struct replay *replay;
    cl_mem *kept;       /* of each of the pool's buffers */
    uint64_t page_room; /* pages of a layer that they have room for */
    cl_mem blocks, copies, bad;
    struct kernels_copy *copy; /* [slots] */
    uint32_t *bad_values;      /* [layers][slots] */
    size_t copy_count;
    uint32_t kept_count; /* pages of a layer */
};

/* False after printing a failure; verify_device_destroy always. */
bool verify_device_create(struct verify_device *device,
                          const struct replay *replay);
void verify_device_destroy(struct verify_device *device);

/* Whether the device has memory for that many pages of each layer. */
bool verify_device_fits(const struct verify_device *device, uint32_t pages);

/* Before a call: keeps the blocks' pages, notes the copies that oracle_decide
 * decided. page_of[block] is an index into `blocks`. */
bool verify_device_keep(struct verify_device *device, const int32_t *blocks,
                        uint32_t count, const int32_t *page_of);

/* After the call: compares. False after a failure of OpenCL, which is printed.
 * *wrong is the first wrong copy, UINT32_MAX when there is none; its layer and
 * the byte of the page. */
bool verify_device_compare(struct verify_device *device, uint32_t *wrong,
                           uint32_t *layer, uint32_t *byte);

#endif
