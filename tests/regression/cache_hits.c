/* A cache that is never hit: 1inch/profanity2 PR 68. */

/* Source: 1inch/profanity2 PR 68. A query that the driver refused was not
 * checked, so the key held whatever was in memory: each start compiled again
 * and added a file. */

#include "caching.h"
#include "runner.h"
#include "testing.h"

#include <stdint.h>
#include <string.h>

/* Leaves other bytes on the stack each time. */
static void dirty_stack(int value)
{
    volatile unsigned char bytes[32768];

    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)value;
    }
}

static void check_runs(struct test_device *device)
{
    struct cache_folder folder;

    cache_folder_open(&folder, "hits");
    for (int run = 0; run < 3; run++) {
        dirty_stack(run * 85 + 1);
        caching_expect_start(device, &folder, run > 0);
        assert_int_equal(cache_folder_files(&folder).entries, 1);
    }
    assert_int_equal(cache_folder_files(&folder).others, 0);
    assert_int_equal(cache_folder_files(&folder).unfinished, 0);
    cache_folder_close(&folder);
}

static void test_three_runs(void **state)
{
    check_runs(*state);
}

static void test_failing_query(void **state)
{
    fake_binaries.no_platform_version = 1;
    check_runs(*state);
    fake_binaries.no_platform_version = 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_three_runs),
                                       cmocka_unit_test(test_failing_query)};
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
