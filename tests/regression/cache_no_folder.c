/* A cache folder that cannot be used: inducer/pyopencl issue 97. */

/* Source: inducer/pyopencl issue 97, NVIDIA/cudf issue 22968. A daemon without
 * HOME failed over a folder in /, another library where HOME was not writable.
 * What the command makes of HOME is in test_command.sh. */

#include "caching.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* It works uncached, with one warning that names the folder. */
static void expect_uncached(struct test_device *device, const char *path)
{
    const struct caching_result result = caching_start(device, path, NULL);

    assert_int_equal(result.status, CLMOVE_SUCCESS);
    assert_int_equal(result.info.uses_cache, 0);
    assert_int_equal(result.info.programs_built, 1);
    assert_int_equal(result.warnings, 1);
    assert_int_equal(result.errors, 0);
    assert_true(result.right);
    if (!strstr(result.message, path)) {
        print_error("\"%s\" does not name %s\n", result.message, path);
        fail();
    }
}

static void test_unusable(void **state)
{
    struct test_device *device = *state;
    struct cache_folder folder;
    char below[400];
    FILE *file;

    expect_uncached(device, "/nonexistent/clmove");
    expect_uncached(device, "/dev/null");
    expect_uncached(device, "/proc/clmove");
    assert_int_equal(access("/nonexistent", F_OK), -1);
    cache_folder_open(&folder, "file");
    file = fopen(folder.path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    expect_uncached(device, folder.path);
    snprintf(below, sizeof(below), "%s/below", folder.path);
    expect_uncached(device, below);
    cache_folder_close(&folder);
}

static void count_warning(void *user, int level, const char *message)
{
    (void)message;
    *(int *)user += level <= CLMOVE_LOG_WARNING;
}

static void start_both(struct test_device *device, const char *path,
                       int want_warnings)
{
    int warnings = 0;
    const struct clmove_engine_params params = {
        .context = device->context,
        .device = device->info.device,
        .log = {count_warning, &warnings},
        .cache_directory = path,
    };
    struct clmove_engine *engine = NULL;
    struct clmove_engine_info info;

    assert_int_equal(clmove_engine_create(&params, &engine), CLMOVE_SUCCESS);
    assert_int_equal(clmove_engine_describe(engine, &info), CLMOVE_SUCCESS);
    clmove_engine_destroy(&engine);
    assert_int_equal(info.programs_built, 2);
    assert_int_equal(info.programs_cached, 0);
    assert_int_equal(warnings, want_warnings);
}

/* Folders in the place of both entries: nothing can be stored, as on a full
 * disk. One warning for both programs. */
static void test_takes_nothing(void **state)
{
    struct test_device *device = *state;
    struct cache_folder folder;
    char paths[2][400];

    cache_folder_open(&folder, "blocked");
    start_both(device, folder.path, 0);
    assert_int_equal(cache_folder_files(&folder).entries, 2);
    for (int i = 0; i < 2; i++) {
        memcpy(paths[i], cache_folder_files(&folder).last_entry,
               sizeof(paths[i]));
        assert_int_equal(unlink(paths[i]), 0);
    }
    assert_int_equal(mkdir(paths[0], 0700), 0);
    assert_int_equal(mkdir(paths[1], 0700), 0);
    start_both(device, folder.path, 1);
    assert_int_equal(cache_folder_files(&folder).unfinished, 0);
    cache_folder_close(&folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unusable),
                                       cmocka_unit_test(test_takes_nothing)};
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
