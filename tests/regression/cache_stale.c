/* Kept programs that the driver does not take: fireice-uk/xmr-stak issue 1647.
 */

/* Source: fireice-uk/xmr-stak issue 1647, intel/compute-runtime issue 125.
 * After an update of the driver a kept binary was refused, and the device given
 * up until the user deleted the file; elsewhere it was taken, and crashed. */

#include "caching.h"
#include "runner.h"
#include "testing.h"

static const struct fake_binaries usual;

/* The driver fails, the program is compiled, and the entry is a new one: once
 * the driver is well again it is loaded. */
static void check_refusal(struct test_device *device,
                          struct cache_folder *folder,
                          struct fake_binaries fault)
{
    struct caching_result result;

    fake_binaries = usual;
    caching_expect_start(device, folder, 1);
    fake_binaries = fault;
    result = caching_start(device, folder->path, NULL);
    fake_binaries = usual;
    caching_expect(&result, 0);
    assert_int_equal(result.from_binary, 1); /* it was tried */
    assert_int_equal(result.info.uses_cache, 1);
    assert_int_equal(cache_folder_files(folder).entries, 1);
    caching_expect_start(device, folder, 1);
}

static void test_refused(void **state)
{
    static const struct fake_binaries faults[] = {
        {.create_status = CL_INVALID_BINARY},
        {.create_status = CL_INVALID_VALUE},
        {.create_status = CL_OUT_OF_HOST_MEMORY},
        {.binary_status = CL_INVALID_BINARY},
        {.build_status = CL_BUILD_PROGRAM_FAILURE},
        {.build_status = CL_INVALID_BINARY},
        {.missing_kernel = "clmove_nothing"},
        {.missing_kernel = "clmove_move"},
        {.missing_kernel = "clmove_save"},
        {.missing_kernel = "clmove_batch"},
        {.missing_kernel = "clmove_batch_device"},
    };
    struct test_device *device = *state;
    struct cache_folder folder;

    cache_folder_open(&folder, "stale");
    caching_expect_start(device, &folder, 0);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        check_refusal(device, &folder, faults[i]);
    }
    cache_folder_close(&folder);
}

/* Another driver never sees it, and the old one finds its own again. */
static void test_other_driver(void **state)
{
    struct test_device *device = *state;
    struct caching_result result;
    struct cache_folder folder;

    cache_folder_open(&folder, "driver");
    fake_binaries = usual;
    caching_expect_start(device, &folder, 0);
    fake_binaries.driver_version = "1234.56";
    result = caching_start(device, folder.path, NULL);
    caching_expect(&result, 0);
    assert_int_equal(result.from_binary, 0);
    caching_expect_start(device, &folder, 1);
    fake_binaries = usual;
    caching_expect_start(device, &folder, 1);
    assert_int_equal(cache_folder_files(&folder).entries, 2);
    cache_folder_close(&folder);
}

/* A damaged entry is not shown to the driver, and replaced. */
static void test_damaged(void **state)
{
    struct test_device *device = *state;
    struct caching_result result;
    struct cache_folder folder;

    cache_folder_open(&folder, "damaged");
    fake_binaries = usual;
    caching_expect_start(device, &folder, 0);
    assert_int_equal(cache_folder_damage(&folder), 1);
    result = caching_start(device, folder.path, NULL);
    caching_expect(&result, 0);
    assert_int_equal(result.from_binary, 0);
    caching_expect_start(device, &folder, 1);
    cache_folder_close(&folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_other_driver),
        cmocka_unit_test(test_damaged),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
