/* Starts of an engine with a cache folder, and what each of them did. */

#ifndef CACHING_H
#define CACHING_H

#include "cache_folder.h"
#include "device.h"
#include "fake_binaries.h"

/* With fake_binaries.c, a source of the program. */

struct caching_result {
    clmove_status status;
    struct clmove_engine_info info;
    int from_source, from_binary; /* programs that the driver created */
    int warnings, errors;         /* messages of the log */
    int right;                    /* a move wrote what the reference does */
    char message[512];            /* the last warning or error */
};

/* Makes an engine for moves, moves a few bytes with it, destroys it. Folders as
 * in struct clmove_engine_params. */
struct caching_result caching_start(struct test_device *device,
                                    const char *folder,
                                    const char *kernel_directory);

/* Fails the running test unless the start went well without a warning, the
 * program was loaded (1) or built (0), and the engine's report agrees with the
 * driver's count. */
void caching_expect(const struct caching_result *result, int loaded);

/* The same in one call, with the built-in kernels. */
void caching_expect_start(struct test_device *device,
                          const struct cache_folder *folder, int loaded);

#endif
