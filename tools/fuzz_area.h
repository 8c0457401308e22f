/* One allocation of a random case, with its images on the host. */

#ifndef TOOLS_FUZZ_AREA_H
#define TOOLS_FUZZ_AREA_H

#include "session.h"

struct fuzz_area {
    size_t size;
    bool shared; /* shared virtual memory instead of a buffer */
    cl_mem buffer;
    void *pointer;
    unsigned char *before;   /* the snapshot that nothing touches */
    unsigned char *expected; /* the reference works here */
    unsigned char *found;    /* read back */
};

/* Host images of area->size bytes, `before` filled from the seed. False when
 * out of memory; fuzz_area_destroy is needed then, too. */
bool fuzz_area_create(struct fuzz_area *area, uint64_t seed);

/* Allocates the device memory, copies `before` to it and to `expected`. */
bool fuzz_area_upload(struct fuzz_area *area, const struct session *session);

bool fuzz_area_download(struct fuzz_area *area, const struct session *session);

/* Says what lies at an offset of an area. */
typedef void (*fuzz_locate)(const void *context, uint32_t area, size_t offset,
                            char *text, size_t size);

/* Whether `found` equals `expected` in all areas; else `failure` says where it
 * does not. */
bool fuzz_area_compare(const struct fuzz_area *areas, uint32_t count,
                       fuzz_locate locate, const void *context, char *failure,
                       size_t failure_size);

/* The queue must have finished. */
void fuzz_area_destroy(struct fuzz_area *area, const struct session *session);

#endif
