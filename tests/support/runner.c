/* What every test program does before and after its tests. */

#include "runner.h"

#include "testing.h"

#include <clmove/device.h>

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* One process runs one program's tests, one after another. */
static struct {
    const char *path;
    const char *only_case;
    size_t cases;
    size_t skipped;
} runner = {"test", NULL, 0, 0};

enum { EXIT_SKIP = 77, EXIT_USAGE = 2 };

static void print_message_line(void *user, int level, const char *message)
{
    (void)user;
    (void)level;
    fprintf(stderr, "%s\n", message);
}

/* -1: there is one; else the exit status. */
static int find_device(void)
{
    const struct clmove_log log = {print_message_line, NULL};
    const char *required = getenv("CLMOVE_TEST_REQUIRE_DEVICE");
    struct clmove_device_info info;
    clmove_status status = clmove_device_select(NULL, &log, &info);

    if (status == CLMOVE_SUCCESS) {
        printf("device: %s (%s, %s)\n", info.name, info.platform_name,
               info.version);
        fflush(stdout);
        return -1;
    }
    fprintf(stderr, "no device to test: %s\n", clmove_status_name(status));
    if (required && strcmp(required, "1") == 0) {
        return EXIT_FAILURE;
    }
    return status == CLMOVE_NO_DEVICE ? EXIT_SKIP : EXIT_FAILURE;
}

/* Copies the tests that the pattern selects; returns their number. */
static size_t select_tests(const struct runner_params *params,
                           const char *pattern, struct CMUnitTest *selected)
{
    size_t count = 0;

    for (size_t i = 0; i < params->count; i++) {
        if (!pattern || fnmatch(pattern, params->tests[i].name, 0) == 0) {
            selected[count++] = params->tests[i];
        }
    }
    return count;
}

static int run_selected(const struct runner_params *params, const char *pattern)
{
    struct CMUnitTest *selected = calloc(params->count, sizeof(*selected));
    size_t count;
    int failures;

    if (!selected) {
        return EXIT_FAILURE;
    }
    count = select_tests(params, pattern, selected);
    if (count == 0) {
        fprintf(stderr, "no test is called \"%s\"\n", pattern);
        free(selected);
        return EXIT_FAILURE;
    }
    failures = _cmocka_run_group_tests("tests", selected, count, params->setup,
                                       params->teardown);
    free(selected);
    if (failures != 0) {
        return EXIT_FAILURE; /* never the number: 77 of them are no skip */
    }
    if (runner.only_case && runner.cases == 0) {
        fprintf(stderr, "no case is called \"%s\"\n", runner.only_case);
        return EXIT_FAILURE;
    }
    return runner.skipped == count ? EXIT_SKIP : EXIT_SUCCESS;
}

int runner_run(int argc, char **argv, const struct runner_params *params)
{
    const char *pattern = NULL;
    int index = 1;
    int status;

    runner.path = argv[0];
    if (index + 1 < argc && strcmp(argv[index], "--case") == 0) {
        runner.only_case = argv[index + 1];
        index += 2;
    }
    if (index < argc && argv[index][0] != '-') {
        pattern = argv[index++];
    }
    if (index < argc) {
        fprintf(stderr, "usage: %s [--case TEXT] [TEST]\n", argv[0]);
        return EXIT_USAGE;
    }
    if (params->needs_device) {
        status = find_device();
        if (status >= 0) {
            return status;
        }
    }
    return run_selected(params, pattern);
}

void runner_skip(const char *reason)
{
    print_message("skipped: %s\n", reason);
    runner.skipped++;
    skip();
}

int runner_wants_case(const char *detail)
{
    if (runner.only_case && strcmp(runner.only_case, detail) != 0) {
        return 0;
    }
    runner.cases++;
    return 1;
}

const char *runner_path(void)
{
    return runner.path;
}

void runner_print_environment(FILE *file)
{
    static const char *const names[] = {
        "OCL_ICD_VENDORS",   "CLMOVE_DEVICE",      "CLMOVE_KERNEL_DIR",
        "CLMOVE_GROUP_SIZE", "CLMOVE_GROUP_COUNT", "POCL_DEVICES"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value) {
            fprintf(file, " %s='%s'", names[i], value);
        }
    }
}
