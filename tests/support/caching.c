/* Starts of an engine with a cache folder, and what each of them did. */

#include "caching.h"

#include "moving.h"
#include "testing.h"

#include <stdio.h>

static void count_message(void *user, int level, const char *message)
{
    struct caching_result *result = user;

    if (level != CLMOVE_LOG_ERROR && level != CLMOVE_LOG_WARNING) {
        return;
    }
    result->warnings += level == CLMOVE_LOG_WARNING;
    result->errors += level == CLMOVE_LOG_ERROR;
    snprintf(result->message, sizeof(result->message), "%s", message);
}

/* 13 bytes by the kernel of disjoint moves. */
static int try_move(struct test_device *device, struct clmove_engine *engine)
{
    struct moving moving;
    const struct moving_move move = {.src = &moving,
                                     .dst = &moving,
                                     .src_offset = 3,
                                     .dst_offset = 40,
                                     .size = 13,
                                     .variant = CLMOVE_VARIANT_DISJOINT};
    int right;

    moving_open(&moving, device, MOVING_BUFFER, 64);
    moving_fill(&moving, 5);
    moving_move(engine, &move);
    right = moving_check(&moving, __func__, NULL);
    moving_close(&moving);
    return right;
}

struct caching_result caching_start(struct test_device *device,
                                    const char *folder,
                                    const char *kernel_directory)
{
    struct caching_result result = {0};
    const struct clmove_engine_params params = {
        .context = device->context,
        .device = device->info.device,
        .log = {count_message, &result},
        .parts = CLMOVE_PART_MOVES,
        .kernel_directory = kernel_directory,
        .cache_directory = folder,
    };
    struct clmove_engine *engine = NULL;

    fake_binaries.from_source = fake_binaries.from_binary = 0;
    result.status = clmove_engine_create(&params, &engine);
    result.from_source = fake_binaries.from_source;
    result.from_binary = fake_binaries.from_binary;
    if (engine) {
        clmove_engine_describe(engine, &result.info);
        result.right = try_move(device, engine);
    }
    clmove_engine_destroy(&engine);
    return result;
}

void caching_expect(const struct caching_result *result, int loaded)
{
    if (result->status != CLMOVE_SUCCESS || result->warnings != 0) {
        print_error("%s: %s\n", clmove_status_name(result->status),
                    result->message);
        fail();
    }
    assert_int_equal(result->from_source, loaded ? 0 : 1);
    assert_int_equal(result->info.programs_cached, loaded ? 1 : 0);
    assert_int_equal(result->info.programs_built, loaded ? 0 : 1);
    assert_true(result->right);
}

void caching_expect_start(struct test_device *device,
                          const struct cache_folder *folder, int loaded)
{
    const struct caching_result result =
        caching_start(device, folder->path, NULL);

    caching_expect(&result, loaded);
    assert_int_equal(result.info.uses_cache, 1);
    if (loaded) {
        assert_int_equal(result.from_binary, 1);
    }
}
