/* Inputs that a cache's key must not miss: inducer/pyopencl issue 18. */

/* Source: inducer/pyopencl issue 18, pocl/pocl issue 434. An edited file that
 * the kernels include, or other build options, still used the old binary. */

#include "caching.h"
#include "edit.h"
#include "runner.h"
#include "testing.h"

/* In a file that the kernels of moves share: the only group takes the work of
 * one that is not there, and nothing is moved. */
static const struct text_edit edit = {
    "common.cl", "#define CLMOVE_COMMON\n",
    "#define CLMOVE_COMMON\n"
    "#define get_group_id(dimension) (get_group_id(dimension) + 1)\n",
    1};

static void test_included_file(void **state)
{
    struct test_device *device = *state;
    struct cache_folder folder;
    struct edited_folder same, edited;
    struct caching_result result;

    cache_folder_open(&folder, "edited");
    edited_folder_open(&same, TEST_KERNEL_PATH, NULL, 0);
    edited_folder_open(&edited, TEST_KERNEL_PATH, &edit, 1);
    result = caching_start(device, folder.path, same.path);
    caching_expect(&result, 0);
    for (int run = 0; run < 2; run++) {
        result = caching_start(device, folder.path, edited.path);
        assert_int_equal(result.status, CLMOVE_SUCCESS);
        assert_int_equal(result.info.programs_built, run == 0);
        assert_int_equal(result.info.programs_cached, run != 0);
        assert_false(result.right); /* the edit shows */
        /* the old text's program is there again, and right; so is the text's
         * that is built in, which is the same */
        result = caching_start(device, folder.path, same.path);
        caching_expect(&result, 1);
        caching_expect_start(device, &folder, 1);
    }
    assert_int_equal(cache_folder_files(&folder).entries, 2);
    edited_folder_close(&edited);
    edited_folder_close(&same);
    cache_folder_close(&folder);
}

/* Less local memory: smaller slices, which the build options name. */
static void test_options(void **state)
{
    struct test_device *device = *state;
    struct cache_folder folder;

    cache_folder_open(&folder, "options");
    caching_expect_start(device, &folder, 0);
    fake_binaries.local_size = 4096;
    caching_expect_start(device, &folder, 0);
    caching_expect_start(device, &folder, 1);
    fake_binaries.local_size = 0;
    caching_expect_start(device, &folder, 1);
    assert_int_equal(cache_folder_files(&folder).entries, 2);
    cache_folder_close(&folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_included_file),
                                       cmocka_unit_test(test_options)};
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
