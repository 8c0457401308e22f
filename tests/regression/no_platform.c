/* A loader without any driver: LuxCoreRender/LuxCore PR 193. */

/* Source: LuxCoreRender/LuxCore PR 193; open-mpi/hwloc issue 425. "No platform"
 * was treated as fatal, or printed as noise. */

#include "runner.h"
#include "testing.h"

#include <clmove/device.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_OK = 40 };

static void remember(void *user, int level, const char *message)
{
    (void)message;
    if (level == CLMOVE_LOG_ERROR) {
        *(int *)user += 1;
    }
}

/* The exit status says which expectation failed. */
static int child(const char *vendors)
{
    struct clmove_device_info *infos = (struct clmove_device_info *)1;
    struct clmove_device_info info;
    size_t count = 99;
    int errors = 0;
    const struct clmove_log log = {remember, &errors};

    if (setenv("OCL_ICD_VENDORS", vendors, 1) != 0 ||
        unsetenv("OCL_ICD_FILENAMES") != 0 ||
        unsetenv("OPENCL_VENDOR_PATH") != 0 || unsetenv("CLMOVE_DEVICE") != 0) {
        return 1;
    }
    if (clmove_device_list(&log, &infos, &count) != CLMOVE_SUCCESS) {
        return 2;
    }
    if (count != 0 || infos != NULL || errors != 0) {
        return 3;
    }
    if (clmove_device_select(NULL, &log, &info) != CLMOVE_NO_DEVICE ||
        errors == 0) {
        return 4;
    }
    if (clmove_device_select("cpu", &log, &info) != CLMOVE_NO_DEVICE) {
        return 5;
    }
    clmove_device_list_free(&infos);
    return CHILD_OK;
}

/* In a process of its own: a loader looks at its variables once. */
static void check_vendors(const char *vendors)
{
    int status = 0;
    pid_t process;

    fflush(NULL);
    process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        _exit(child(vendors));
    }
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), CHILD_OK);
}

static void test_no_platform(void **state)
{
    char folder[] = "/tmp/clmove-no-driver-XXXXXX";
    char path[64];

    (void)state;
    assert_non_null(mkdtemp(folder));
    check_vendors(folder);
    snprintf(path, sizeof(path), "%s/", folder);
    check_vendors(path);
    snprintf(path, sizeof(path), "%s/missing/", folder);
    check_vendors(path);
    assert_int_equal(rmdir(folder), 0);
    check_vendors(folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_platform)};
    return RUNNER_TESTS(argc, argv, tests);
}
