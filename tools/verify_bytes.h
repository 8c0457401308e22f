/* Byte comparison of a replay's pool with the reference, call by call. */

#ifndef TOOLS_VERIFY_BYTES_H
#define TOOLS_VERIFY_BYTES_H

#include "verify_device.h"

enum { VERIFY_FAILURE_SIZE = 2048 };

/* Host pages of `shape.page_size` bytes. In the whole mode a page per block,
 * under its own id; else a page per touched block, numbered from 1, and page 0
 * stands for the null block. */
struct verify_bytes {
    struct replay *replay;
    bool whole;
    bool wants_device; /* compares copies there, where it has the memory */
    bool on_device;    /* in this call */
    struct verify_device device;
    unsigned char *pages; /* [layers][page_count] */
    size_t page_room;     /* bytes */
    uint32_t page_count;
    int32_t *block_of;      /* [page_count] */
    int32_t *page_of;       /* [block_count], -1 */
    int32_t *table;         /* [slots][columns], page numbers */
    unsigned char *found;   /* one layer's pages, as the device has them */
    size_t found_room;      /* bytes */
    uint64_t *sums;         /* [layers][block_count], as last proved */
    uint64_t *sums_found;   /* [layers][block_count] */
    unsigned char *written; /* [block_count]: a destination of this call */
    int32_t *list;          /* [block_count] */
    cl_mem device_list, device_sums;
    uint64_t checks;
    char failure[VERIFY_FAILURE_SIZE]; /* empty: none */
};

/* How bytes are compared, as verify.h says. */
enum verify_way { VERIFY_WAY_WHOLE, VERIFY_WAY_BLOCKS, VERIFY_WAY_DEVICE };

/* Takes in the pool as it is. False after printing a failure;
 * verify_bytes_destroy is needed then, too. */
bool verify_bytes_create(struct verify_bytes *bytes, struct replay *replay,
                         enum verify_way way);
void verify_bytes_destroy(struct verify_bytes *bytes);

/* Before a call, after oracle_decide: keeps what it may change, and carries the
 * call out on the host unless the device compares. */
bool verify_bytes_before(struct verify_bytes *bytes, enum oracle_call call);

/* After it: compares. */
bool verify_bytes_after(struct verify_bytes *bytes, const char *call_name);

/* Where there was no call: compares, and no block may have changed. */
bool verify_bytes_unchanged(struct verify_bytes *bytes, const char *place);

/* Describes the first difference of two pages in bytes->failure; false. */
bool verify_bytes_fail_page(struct verify_bytes *bytes, const char *place,
                            uint32_t layer, int32_t block,
                            const unsigned char *expected,
                            const unsigned char *found);

/* At least `size` bytes; the content is lost. False after printing. */
bool verify_bytes_room(unsigned char **memory, size_t *room, uint64_t size);

/* Blocks that the caller wrote itself: columns `column[slot]` .. + count[slot]
 * of slots with active[slot] > 0. */
bool verify_bytes_accept(struct verify_bytes *bytes, const int32_t *active,
                         const int32_t *column, const int32_t *count);

/* Every block of the pool once more. */
bool verify_bytes_finish(struct verify_bytes *bytes);

#endif
