/* How much the large cases of a benchmark move, and what their bytes are. */

#include "bench_bytes.h"

#include "hex.h"
#include "random.h"

#include <inttypes.h>
#include <string.h>

uint64_t bench_full_size(const struct bench *bench)
{
    const struct clmove_device_info *device = &bench->session->device;
    bool cpu = (device->type & CL_DEVICE_TYPE_CPU) != 0;
    uint64_t size = UINT64_C(1) << 30;
    if (cpu || bench->quick)
        size = UINT64_C(128) << 20;
    if (cpu && bench->quick)
        size = UINT64_C(32) << 20;
    uint64_t usable = device->global_size / 8;
    if (usable > device->max_allocation / 2)
        usable = device->max_allocation / 2;
    while (size > usable && size > 1 << 20)
        size /= 2;
    return size;
}

void bench_pattern(uint32_t buffer, uint64_t at, size_t size,
                   unsigned char *bytes)
{
    const size_t skipped = (size_t)(at % 8);
    for (size_t i = 0; i < size + skipped; i += 8) {
        uint64_t word =
            random_mix(buffer + (at + i) / 8 * UINT64_C(0x9e3779b97f4a7c15));
        memcpy(bytes + i, &word, sizeof word);
    }
    memmove(bytes, bytes + skipped, size);
}

enum cli_exit bench_compare(const struct session *session, cl_mem buffer,
                            uint64_t at, size_t size,
                            const unsigned char *expected, unsigned char *found,
                            const struct bench_name *name)
{
    if (session_failed(clEnqueueReadBuffer(session->queue, buffer, CL_TRUE,
                                           (size_t)at, size, found, 0, NULL,
                                           NULL),
                       "clEnqueueReadBuffer"))
        return CLI_OPENCL_FAILED;
    size_t byte = hex_first_difference(expected, found, size);
    if (byte == size)
        return CLI_GO_ON;
    cli_error("%s %s: byte %" PRIu64 " is wrong, by clmove", name->subject,
              name->text, at + byte);
    return CLI_CHECK_FAILED;
}
