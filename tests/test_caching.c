/* Engines with a cache folder: which one, from whom, for which device. */

#include "caching.h"
#include "runner.h"
#include "testing.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void set_directory(const char *value)
{
    if (value) {
        assert_int_equal(setenv("CLMOVE_CACHE_DIR", value, 1), 0);
    } else {
        assert_int_equal(unsetenv("CLMOVE_CACHE_DIR"), 0);
    }
}

/* Which of the parameter and the variable counts. */
static void test_choice(void **state)
{
    struct test_device *device = *state;
    struct cache_folder given, named;
    const struct {
        const char *parameter, *variable;
        int uses_given, uses_named;
    } cases[] = {
        {NULL, NULL, 0, 0},     {NULL, "", 0, 0},
        {NULL, "off", 0, 0},    {"", "NAMED", 0, 0},
        {"off", "NAMED", 0, 0}, {"GIVEN", "NAMED", 1, 0},
        {"GIVEN", "off", 1, 0}, {"GIVEN", NULL, 1, 0},
        {NULL, "NAMED", 0, 1},
    };

    cache_folder_open(&given, "given");
    cache_folder_open(&named, "named");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *parameter = cases[i].parameter;
        const char *variable = cases[i].variable;
        struct caching_result result;
        struct stat status;
        if (parameter && strcmp(parameter, "GIVEN") == 0) {
            parameter = given.path;
        }
        if (variable && strcmp(variable, "NAMED") == 0) {
            variable = named.path;
        }
        set_directory(variable);
        result = caching_start(device, parameter, NULL);
        caching_expect(&result, 0);
        assert_int_equal(result.info.uses_cache,
                         cases[i].uses_given || cases[i].uses_named);
        assert_int_equal(cache_folder_files(&given).entries,
                         cases[i].uses_given);
        assert_int_equal(cache_folder_files(&named).entries,
                         cases[i].uses_named);
        assert_int_equal(stat(given.path, &status) == 0, cases[i].uses_given);
        cache_folder_close(&given);
        cache_folder_close(&named);
        cache_folder_open(&given, "given");
        cache_folder_open(&named, "named");
    }
    cache_folder_close(&given);
    cache_folder_close(&named);
    set_directory(NULL);
}

/* The programs of both parts, and one for more banks that is made later. */
static void test_all_programs(void **state)
{
    struct test_device *device = *state;
    struct cache_folder folder;

    cache_folder_open(&folder, "all");
    for (int run = 0; run < 2; run++) {
        const struct clmove_engine_params params = {
            .context = device->context,
            .device = device->info.device,
            .log = device->log,
            .cache_directory = folder.path,
        };
        struct clmove_engine *engine = NULL;
        struct clmove_engine_info info;
        fake_binaries.from_source = fake_binaries.from_binary = 0;
        assert_int_equal(clmove_engine_create(&params, &engine),
                         CLMOVE_SUCCESS);
        assert_int_equal(clmove_engine_describe(engine, &info), CLMOVE_SUCCESS);
        assert_int_equal(info.programs_built, run == 0 ? 2 : 0);
        assert_int_equal(info.programs_cached, run == 0 ? 0 : 2);
        assert_int_equal(fake_binaries.from_source, run == 0 ? 2 : 0);
        assert_int_equal(fake_binaries.from_binary, run == 0 ? 0 : 2);
        clmove_engine_destroy(&engine);
        assert_int_equal(cache_folder_files(&folder).entries, 2);
    }
    cache_folder_close(&folder);
}

/* A driver without binaries is no fault. */
static void test_no_binaries(void **state)
{
    struct test_device *device = *state;
    struct cache_folder folder;

    cache_folder_open(&folder, "none");
    for (int run = 0; run < 2; run++) {
        fake_binaries.empty = 1;
        caching_expect_start(device, &folder, 0);
        fake_binaries.empty = 0;
        fake_binaries.query_status = CL_OUT_OF_RESOURCES;
        caching_expect_start(device, &folder, 0);
        fake_binaries.query_status = CL_SUCCESS;
    }
    assert_int_equal(cache_folder_files(&folder).entries, 0);
    cache_folder_close(&folder);
}

struct job {
    struct test_device *device;
    const char *folder;
    int failures;
};

static void *start_some(void *user)
{
    struct job *job = user;

    for (int i = 0; i < 4; i++) {
        const struct clmove_engine_params params = {
            .context = job->device->context,
            .device = job->device->info.device,
            .parts = CLMOVE_PART_MOVES,
            .cache_directory = job->folder,
        };
        struct clmove_engine_info info;
        struct clmove_engine *engine = NULL;
        if (clmove_engine_create(&params, &engine) != CLMOVE_SUCCESS ||
            clmove_engine_describe(engine, &info) != CLMOVE_SUCCESS ||
            info.programs_cached + info.programs_built != 1 ||
            (i > 0 && info.programs_built != 0)) {
            job->failures++;
        }
        clmove_engine_destroy(&engine);
    }
    return NULL;
}

/* Engines of one process; each thread finds at least its own entry. */
static void test_threads(void **state)
{
    enum { THREADS = 6 };
    struct test_device *device = *state;
    struct cache_folder folder;
    pthread_t threads[THREADS];
    struct job jobs[THREADS];

    cache_folder_open(&folder, "threads");
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){device, folder.path, 0};
        assert_int_equal(
            pthread_create(&threads[i], NULL, start_some, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(jobs[i].failures, 0);
    }
    assert_int_equal(cache_folder_files(&folder).entries, 1);
    assert_int_equal(cache_folder_files(&folder).unfinished, 0);
    caching_expect_start(device, &folder, 1);
    cache_folder_close(&folder);
}

/* A context of two devices: each keeps its own binary and no other. */
static void test_two_devices(void **state)
{
    struct test_device *device = *state;
    struct test_device both = *device;
    struct cache_folder folder;
    cl_device_id devices[2];
    cl_uint count = 0;
    cl_int error = CL_SUCCESS;

    clGetDeviceIDs(device->info.platform, CL_DEVICE_TYPE_ALL, 2, devices,
                   &count);
    if (count < 2) {
        runner_skip("the platform has one device only");
        return;
    }
    both.context = clCreateContext(NULL, 2, devices, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    cache_folder_open(&folder, "two");
    fake_binaries.unwanted = 0;
    for (int run = 0; run < 2; run++) {
        for (int i = 1; i >= 0; i--) {
            assert_int_equal(clmove_device_describe(devices[i], &both.info),
                             CLMOVE_SUCCESS);
            both.queue =
                clCreateCommandQueue(both.context, devices[i], 0, &error);
            assert_int_equal(error, CL_SUCCESS);
            caching_expect_start(&both, &folder, run > 0);
            clReleaseCommandQueue(both.queue);
        }
    }
    assert_int_equal(cache_folder_files(&folder).entries, 2);
    assert_int_equal(fake_binaries.unwanted, 0);
    clReleaseContext(both.context);
    cache_folder_close(&folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),      cmocka_unit_test(test_all_programs),
        cmocka_unit_test(test_no_binaries), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_two_devices),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
