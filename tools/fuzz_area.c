/* One allocation of a random case, with its images on the host. */

#include "fuzz_area.h"

#include "hex.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fuzz_area_create(struct fuzz_area *area, uint64_t seed)
{
    area->before = malloc(area->size + 8);
    area->expected = malloc(area->size);
    area->found = malloc(area->size);
    if (!area->before || !area->expected || !area->found) {
        cli_error("out of memory for a case of %zu bytes", area->size);
        return false;
    }
    struct random random = {seed};
    for (size_t i = 0; i < area->size; i += 8) {
        uint64_t word = random_next(&random);
        memcpy(area->before + i, &word, sizeof word);
    }
    return true;
}

bool fuzz_area_upload(struct fuzz_area *area, const struct session *session)
{
    memcpy(area->expected, area->before, area->size);
    cl_int code;
    if (area->shared) {
        area->pointer =
            clSVMAlloc(session->context, CL_MEM_READ_WRITE, area->size, 0);
        if (!area->pointer) {
            cli_error("clSVMAlloc of %zu bytes failed", area->size);
            return false;
        }
        code = clEnqueueSVMMemcpy(session->queue, CL_TRUE, area->pointer,
                                  area->before, area->size, 0, NULL, NULL);
        return !session_failed(code, "clEnqueueSVMMemcpy");
    }
    area->buffer = session_buffer(session, area->size, "a case");
    if (!area->buffer)
        return false;
    code = clEnqueueWriteBuffer(session->queue, area->buffer, CL_TRUE, 0,
                                area->size, area->before, 0, NULL, NULL);
    return !session_failed(code, "clEnqueueWriteBuffer");
}

bool fuzz_area_download(struct fuzz_area *area, const struct session *session)
{
    cl_int code;
    if (area->shared) {
        code = clEnqueueSVMMemcpy(session->queue, CL_TRUE, area->found,
                                  area->pointer, area->size, 0, NULL, NULL);
        return !session_failed(code, "clEnqueueSVMMemcpy");
    }
    code = clEnqueueReadBuffer(session->queue, area->buffer, CL_TRUE, 0,
                               area->size, area->found, 0, NULL, NULL);
    return !session_failed(code, "clEnqueueReadBuffer");
}

bool fuzz_area_compare(const struct fuzz_area *areas, uint32_t count,
                       fuzz_locate locate, const void *context, char *failure,
                       size_t failure_size)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct fuzz_area *area = &areas[i];
        size_t offset =
            hex_first_difference(area->expected, area->found, area->size);
        if (offset == area->size)
            continue;
        char where[256], rows[1200];
        locate(context, i, offset, where, sizeof where);
        hex_rows(rows, sizeof rows, area->expected, area->found, area->size,
                 offset, 0);
        snprintf(failure, failure_size,
                 "first wrong byte: offset %zu of allocation %u (%s, %zu "
                 "bytes): %s\n%s",
                 offset, i, area->shared ? "shared memory" : "a buffer",
                 area->size, where, rows);
        return false;
    }
    return true;
}

void fuzz_area_destroy(struct fuzz_area *area, const struct session *session)
{
    free(area->before);
    free(area->expected);
    free(area->found);
    session_release(&area->buffer);
    if (area->pointer)
        clSVMFree(session->context, area->pointer);
    memset(area, 0, sizeof *area);
}
