/* What every test program does before and after its tests. */

#ifndef RUNNER_H
#define RUNNER_H

#include "testing.h"

#include <stdio.h>

/* What runs and how; see the macros below. */
struct runner_params {
    const struct CMUnitTest *tests;
    size_t count;
    int needs_device;
    CMFixtureFunction setup, teardown;
};

/* Reads `[--case TEXT] [TEST]`: only cases with exactly that detail, only
 * tests whose name matches (with * and ?). Runs them and returns the exit
 * status: 0 passed, 1 failed (also when nothing was selected), 2 bad usage, 77
 * when every test was skipped, or when a device is needed and none is there
 * (1 if CLMOVE_TEST_REQUIRE_DEVICE=1). */
int runner_run(int argc, char **argv, const struct runner_params *params);

#define RUNNER_COUNT(tests) (sizeof(tests) / sizeof((tests)[0]))

#define RUNNER_TESTS(argc, argv, tests)                                        \
    runner_run(                                                                \
        argc, argv,                                                            \
        &(struct runner_params){(tests), RUNNER_COUNT(tests), 0, NULL, NULL})

/* Every test's state is a struct test_device; include device.h. */
#define RUNNER_DEVICE_TESTS(argc, argv, tests)                                 \
    runner_run(argc, argv,                                                     \
               &(struct runner_params){(tests), RUNNER_COUNT(tests), 1,        \
                                       device_group_setup,                     \
                                       device_group_teardown})

/* Prints why, then skips the running test. */
void runner_skip(const char *reason);

/* Whether --case leaves this case in; counts it if so. */
int runner_wants_case(const char *detail);

/* argv[0] */
const char *runner_path(void);

/* The variables that chose the device, as a shell writes them. */
void runner_print_environment(FILE *file);

#endif
