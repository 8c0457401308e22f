/* Finding devices, making engines: what is refused, what is honoured. */

#include "cache_folder.h"
#include "edit.h"
#include "runner.h"
#include "scenes.h"
#include "stage.h"
#include "testing.h"
#include "variable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct clmove_engine_params usual_params(struct test_device *device)
{
    struct clmove_engine_params params = {
        .context = device->context,
        .device = device->info.device,
        .log = device->log,
    };
    return params;
}

static void expect_refused(struct test_device *device,
                           const struct clmove_engine_params *params,
                           clmove_status want, const char *text)
{
    struct clmove_engine *engine = (struct clmove_engine *)device;
    clmove_status status;

    device_clear_messages(device);
    status = clmove_engine_create(params, &engine);
    if (status != want) {
        print_error("%s in place of %s; messages:\n%s",
                    clmove_status_name(status), clmove_status_name(want),
                    device->messages);
        fail();
    }
    assert_null(engine);
    device_expect_message(device, text);
}

static void test_list_and_describe(void **state)
{
    struct test_device *device = *state;
    struct clmove_device_info *infos = NULL;
    struct clmove_device_info info;
    size_t count = 0, found = 0;

    assert_int_equal(clmove_device_list(&device->log, &infos, &count),
                     CLMOVE_SUCCESS);
    assert_true(count >= 1);
    for (size_t i = 0; i < count; i++) {
        found += infos[i].device == device->info.device;
        assert_int_equal(clmove_device_describe(infos[i].device, &info),
                         CLMOVE_SUCCESS);
        assert_string_equal(info.name, infos[i].name);
        assert_int_equal(info.platform_index, infos[i].platform_index);
        assert_int_equal(info.device_index, infos[i].device_index);
    }
    assert_int_equal(found, 1);
    clmove_device_list_free(&infos);
    assert_null(infos);
    clmove_device_list_free(&infos);
    clmove_device_list_free(NULL);
    assert_int_equal(clmove_device_list(NULL, NULL, &count),
                     CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(clmove_device_list(NULL, &infos, NULL),
                     CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(clmove_device_describe(device->info.device, NULL),
                     CLMOVE_INVALID_ARGUMENT);
    assert_int_not_equal(clmove_device_describe(NULL, &info), CLMOVE_SUCCESS);
}

static void test_select(void **state)
{
    struct test_device *device = *state;
    struct clmove_device_info info;
    struct kept_variable kept;
    char position[32];

    snprintf(position, sizeof(position), "%u:%u", device->info.platform_index,
             device->info.device_index);
    assert_int_equal(clmove_device_select(position, NULL, &info),
                     CLMOVE_SUCCESS);
    assert_true(info.device == device->info.device);
    assert_int_equal(clmove_device_select(position, NULL, NULL),
                     CLMOVE_INVALID_ARGUMENT);

    /* what is not there is refused, with what is there */
    device_clear_messages(device);
    assert_int_equal(
        clmove_device_select("no such device", &device->log, &info),
        CLMOVE_NO_DEVICE);
    device_expect_message(device, "no such device");
    device_expect_message(device, device->info.name);

    kept = set_variable("CLMOVE_DEVICE", "no such device either");
    device_clear_messages(device);
    assert_int_equal(clmove_device_select(NULL, &device->log, &info),
                     CLMOVE_NO_DEVICE);
    device_expect_message(device, "no such device either");
    assert_int_equal(clmove_device_select("", NULL, &info), CLMOVE_NO_DEVICE);
    /* an explicit selection wins */
    assert_int_equal(clmove_device_select(position, NULL, &info),
                     CLMOVE_SUCCESS);
    assert_int_equal(setenv("CLMOVE_DEVICE", position, 1), 0);
    assert_int_equal(clmove_device_select(NULL, NULL, &info), CLMOVE_SUCCESS);
    assert_true(info.device == device->info.device);
    restore_variable(&kept);
}

static void test_bad_params(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine_params params = usual_params(device);
    struct clmove_engine *engine = NULL;
    struct clmove_engine_info info;

    params.context = NULL;
    expect_refused(device, &params, CLMOVE_INVALID_ARGUMENT, "context");
    params = usual_params(device);
    params.device = NULL;
    expect_refused(device, &params, CLMOVE_INVALID_ARGUMENT, "device");
    params = usual_params(device);
    assert_int_equal(clmove_engine_create(NULL, &engine),
                     CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(clmove_engine_create(&params, NULL),
                     CLMOVE_INVALID_ARGUMENT);
    clmove_engine_destroy(&engine);
    clmove_engine_destroy(NULL);
    assert_int_equal(clmove_engine_describe(NULL, &info),
                     CLMOVE_INVALID_ARGUMENT);
    assert_int_equal(clmove_engine_describe(device->engine, NULL),
                     CLMOVE_INVALID_ARGUMENT);
}

static void test_environment_numbers(void **state)
{
    static const char *const bad[] = {"abc", "0",           "-1",
                                      "1x",  "99999999999", " 8"};
    struct test_device *device = *state;
    struct clmove_engine_params params = usual_params(device);
    struct kept_variable size = set_variable("CLMOVE_GROUP_SIZE", "3");
    struct kept_variable count = set_variable("CLMOVE_GROUP_COUNT", "7");
    struct clmove_engine *engine = device_engine(device, 0, 0, NULL);
    struct clmove_engine_info info;

    assert_int_equal(clmove_engine_describe(engine, &info), CLMOVE_SUCCESS);
    assert_int_equal(info.group_size, 3);
    assert_int_equal(info.group_count, 7);
    clmove_engine_destroy(&engine);
    engine = device_engine(device, 2, 5, NULL); /* parameters win */
    assert_int_equal(clmove_engine_describe(engine, &info), CLMOVE_SUCCESS);
    assert_int_equal(info.group_size, 2);
    assert_int_equal(info.group_count, 5);
    clmove_engine_destroy(&engine);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        setenv("CLMOVE_GROUP_SIZE", bad[i], 1);
        expect_refused(device, &params, CLMOVE_INVALID_ARGUMENT,
                       "CLMOVE_GROUP_SIZE");
        device_expect_message(device, bad[i]);
        setenv("CLMOVE_GROUP_SIZE", "3", 1);
        setenv("CLMOVE_GROUP_COUNT", bad[i], 1);
        expect_refused(device, &params, CLMOVE_INVALID_ARGUMENT,
                       "CLMOVE_GROUP_COUNT");
        setenv("CLMOVE_GROUP_COUNT", "7", 1);
    }
    restore_variable(&size);
    restore_variable(&count);
}

static void test_kernel_directory(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine_params params = usual_params(device);
    struct kept_variable kept;

    params.kernel_directory = "/nowhere/at/all";
    expect_refused(device, &params, CLMOVE_NO_KERNEL_TEXT, "/nowhere/at/all");
    params.kernel_directory = NULL;
    kept = set_variable("CLMOVE_KERNEL_DIR", "/nowhere/else");
    expect_refused(device, &params, CLMOVE_NO_KERNEL_TEXT, "/nowhere/else");
    restore_variable(&kept);
}

/* As far as the real driver has binaries; PoCL's are left alone. */
static void test_cache_directory(void **state)
{
    struct test_device *device = *state;
    struct clmove_engine_params params = usual_params(device);
    struct cache_folder folder;
    const int pocl =
        strcmp(device->info.platform_name, "Portable Computing Language") == 0;
    size_t entries = 0;

    cache_folder_open(&folder, "programs");
    params.cache_directory = folder.path;
    for (int run = 0; run < 2; run++) {
        struct clmove_engine *engine = NULL;
        struct clmove_engine_info info;
        assert_int_equal(clmove_engine_create(&params, &engine),
                         CLMOVE_SUCCESS);
        assert_int_equal(clmove_engine_describe(engine, &info), CLMOVE_SUCCESS);
        clmove_engine_destroy(&engine);
        assert_int_equal(info.uses_cache, !pocl);
        assert_int_equal(info.programs_cached, entries);
        assert_int_equal(info.programs_cached + info.programs_built, 2);
        entries = cache_folder_files(&folder).entries;
        assert_true(entries == 0 || !pocl);
    }
    if (pocl) {
        assert_int_equal(access(folder.path, F_OK), -1); /* not even made */
    }
    cache_folder_close(&folder);
}

/* inducer/pyopencl and others cut build logs: all of it must arrive, with the
 * place named as in the file. */
static void test_build_log(void **state)
{
    static const struct text_edit edit = {
        "ssm.cl", "__kernel void clmove_ssm_aside(",
        "this_is_no_type_at_all x;\n__kernel void clmove_ssm_aside(", 1};
    struct test_device *device = *state;
    struct clmove_engine_params params = usual_params(device);
    struct edited_folder folder;

    edited_folder_open(&folder, TEST_KERNEL_PATH, &edit, 1);
    params.kernel_directory = folder.path;
    expect_refused(device, &params, CLMOVE_BUILD_FAILED,
                   "this_is_no_type_at_all");
    /* NVIDIA's compiler, driver 580, does not follow #line. */
    if (strstr(device->info.platform_name, "NVIDIA") == NULL) {
        device_expect_message(device, "ssm.cl");
    }
    edited_folder_close(&folder);
}

/* Asked first: a driver without sub-devices may crash when told to make them.
 */
static int can_be_split(cl_device_id device)
{
    cl_device_partition_property properties[16] = {0};
    cl_uint most = 0;
    size_t size = 0;

    if (clGetDeviceInfo(device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES,
                        sizeof(most), &most, NULL) != CL_SUCCESS ||
        clGetDeviceInfo(device, CL_DEVICE_PARTITION_PROPERTIES,
                        sizeof(properties), properties, &size) != CL_SUCCESS) {
        return 0;
    }
    for (size_t i = 0; i < size / sizeof(properties[0]); i++) {
        if (properties[i] == CL_DEVICE_PARTITION_EQUALLY) {
            return most >= 2;
        }
    }
    return 0;
}

/* A device that is part of another one. */
static void test_sub_device(void **state)
{
    const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY,
                                                    1, 0};
    struct test_device *device = *state;
    struct test_device part = *device;
    cl_device_id *parts;
    cl_uint count = 0;
    cl_int error = CL_SUCCESS;
    struct scene scene;

    if (!can_be_split(device->info.device)) {
        runner_skip("the device cannot be partitioned");
        return;
    }
    assert_int_equal(
        clCreateSubDevices(device->info.device, equally, 0, NULL, &count),
        CL_SUCCESS);
    parts = test_calloc(count, sizeof(cl_device_id));
    assert_int_equal(
        clCreateSubDevices(device->info.device, equally, count, parts, NULL),
        CL_SUCCESS);
    part.info.device = parts[0];
    part.log.user = &part;
    part.context = clCreateContext(NULL, 1, &parts[0], NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    part.queue = clCreateCommandQueue(part.context, parts[0], 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    part.engine = device_engine(&part, 0, 0, NULL);
    scene_init(&scene, __func__, "mixed");
    scene_fill_mixed(&scene, SCENE_POST);
    scene_check(&scene, &part, part.engine, SCENE_POST);
    scene_clear(&scene);
    device_close(&part);
    /* The sub-devices are not released: a worker of PoCL 3.1 may still be at
     * its last event, and crashes when its device is gone. */
    test_free(parts);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_and_describe),
        cmocka_unit_test(test_select),
        cmocka_unit_test(test_bad_params),
        cmocka_unit_test(test_environment_numbers),
        cmocka_unit_test(test_kernel_directory),
        cmocka_unit_test(test_cache_directory),
        cmocka_unit_test(test_build_log),
        cmocka_unit_test(test_sub_device),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
