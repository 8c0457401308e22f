/* Engines of many processes on one empty cache: libocca/occa issue 449. */

/* Source: libocca/occa issue 449, pocl/pocl issue 1480. Parallel processes took
 * what others had half written. regression/cache_races.c does more rounds, with
 * files alone. */

#include "caching.h"
#include "runner.h"
#include "testing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 32 };

extern char **environ;

static struct {
    /* As it was before OpenCL was used: a loader leaves OCL_ICD_FILENAMES with
     * its first file alone. */
    char **environment;
    const char *folder; /* a started process's cache */
} starts;

static char **copy_environment(void)
{
    size_t count = 0;
    char **copy;

    while (environ[count]) {
        count++;
    }
    copy = calloc(count + 1, sizeof(*copy));
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = strdup(environ[i]);
    }
    return copy;
}

/* What each process does: one start, as a program's. */
static void test_start(void **state)
{
    const struct caching_result result =
        caching_start(*state, starts.folder, NULL);

    assert_string_equal(result.message, "");
    assert_int_equal(result.status, CLMOVE_SUCCESS);
    assert_true(result.right);
    assert_int_equal(result.info.uses_cache, 1);
}

/* A new program: a fork of one that has used OpenCL could not. */
static pid_t launch(const char *folder)
{
    const pid_t process = fork();

    assert_true(process >= 0);
    if (process == 0) {
        execle("/proc/self/exe", "start", "--start", folder, (char *)NULL,
               starts.environment);
        _exit(3);
    }
    return process;
}

static void test_starts(void **state)
{
    struct test_device *device = *state;
    struct cache_folder folder;
    pid_t processes[PROCESSES];

    cache_folder_open(&folder, "starts");
    for (int i = 0; i < PROCESSES; i++) {
        processes[i] = launch(folder.path);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(processes[i], &status, 0), processes[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_int_equal(cache_folder_files(&folder).entries, 1);
    assert_int_equal(cache_folder_files(&folder).unfinished, 0);
    caching_expect_start(device, &folder, 1);
    cache_folder_close(&folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_starts)};
    const struct CMUnitTest start[] = {cmocka_unit_test(test_start)};

    if (argc == 3 && strcmp(argv[1], "--start") == 0) {
        starts.folder = argv[2];
        /* Not in the words that count as a test of the suite's. */
        cmocka_set_message_output(CM_OUTPUT_TAP);
        return RUNNER_DEVICE_TESTS(1, argv, start);
    }
    starts.environment = copy_environment();
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
