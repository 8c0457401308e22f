/* Engines of many processes on one empty cache: libocca/occa issue 449. */

/* Source: libocca/occa issue 449, pocl/pocl issue 1480. Parallel processes took
 * what others had half written. regression/cache_races.c does more rounds, with
 * files alone. */

#include "caching.h"
#include "runner.h"
#include "testing.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A GPU's driver may refuse 32 processes a context at once. Those that it
 * refuses for a moment try again: support/device.c. */
enum { PROCESSES = 32, PROCESSES_GPU = 8, OK = 40 };

/* What each process does: one start, as a program's. */
static int start(const char *folder)
{
    static struct test_device device;
    struct caching_result result;

    device_open(&device);
    result = caching_start(&device, folder, NULL);
    device_close(&device);
    if (result.status != CLMOVE_SUCCESS || !result.right) {
        return 1;
    }
    return result.warnings == 0 && result.info.uses_cache == 1 ? OK : 2;
}

/* A new program: a fork of one that has used OpenCL could not. */
static pid_t launch(const char *folder)
{
    const pid_t process = fork();

    assert_true(process >= 0);
    if (process == 0) {
        execl("/proc/self/exe", "start", "--start", folder, (char *)NULL);
        _exit(3);
    }
    return process;
}

static void test_starts(void **state)
{
    struct test_device *device = *state;
    struct cache_folder folder;
    pid_t processes[PROCESSES];
    const int count = device_is_cpu(device) ? PROCESSES : PROCESSES_GPU;

    cache_folder_open(&folder, "starts");
    for (int i = 0; i < count; i++) {
        processes[i] = launch(folder.path);
    }
    for (int i = 0; i < count; i++) {
        int status = 0;
        assert_int_equal(waitpid(processes[i], &status, 0), processes[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), OK);
    }
    assert_int_equal(cache_folder_files(&folder).entries, 1);
    assert_int_equal(cache_folder_files(&folder).unfinished, 0);
    caching_expect_start(device, &folder, 1);
    cache_folder_close(&folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_starts)};

    if (argc == 3 && strcmp(argv[1], "--start") == 0) {
        return start(argv[2]);
    }
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
