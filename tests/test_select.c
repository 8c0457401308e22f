/* Choosing a device, as a pure function over made-up devices. */

#include "select.h"
#include "testing.h"

#include <stdio.h>
#include <string.h>

enum { COUNT = 6 };

static struct clmove_device_info make(uint32_t platform, uint32_t device,
                                      cl_device_type type, const char *name,
                                      const char *platform_name)
{
    struct clmove_device_info info;

    memset(&info, 0, sizeof(info));
    info.platform_index = platform;
    info.device_index = device;
    info.type = type;
    snprintf(info.name, sizeof(info.name), "%s", name);
    snprintf(info.platform_name, sizeof(info.platform_name), "%s",
             platform_name);
    return info;
}

/* Platform 1 has no device; two GPUs have one name; one GPU is unusable. */
static void fill(struct clmove_device_info infos[COUNT])
{
    infos[0] = make(0, 0, CL_DEVICE_TYPE_CPU, "pthread-znver", "Portable CL");
    infos[1] = make(2, 0, CL_DEVICE_TYPE_GPU, "Old GT 7", "Vendor CL");
    infos[1].unsupported = "its OpenCL C is 1.1, and 1.2 is needed";
    infos[2] = make(2, 1, CL_DEVICE_TYPE_GPU, "Fast GX 9000", "Vendor CL");
    infos[3] = make(2, 2, CL_DEVICE_TYPE_GPU, "Fast GX 9000", "Vendor CL");
    infos[4] = make(3, 0, CL_DEVICE_TYPE_ACCELERATOR, "Board", "Other CL");
    infos[5] = make(12, 0, CL_DEVICE_TYPE_CPU, "llvm", "rusticl");
}

struct expectation {
    const char *selection;
    clmove_status status;
    size_t index;
};

static void test_selections(void **state)
{
    static const struct expectation cases[] = {
        {NULL, CLMOVE_SUCCESS, 2},
        {"", CLMOVE_SUCCESS, 2},
        {"gpu", CLMOVE_SUCCESS, 2},
        {"cpu", CLMOVE_SUCCESS, 0},
        {"accelerator", CLMOVE_SUCCESS, 4},
        {"0:0", CLMOVE_SUCCESS, 0},
        {"2:2", CLMOVE_SUCCESS, 3},
        {"12:0", CLMOVE_SUCCESS, 5},
        {"2:0", CLMOVE_UNSUPPORTED_DEVICE, 0},
        {"1:0", CLMOVE_NO_DEVICE, 0},
        {"2:3", CLMOVE_NO_DEVICE, 0},
        {"2:", CLMOVE_NO_DEVICE, 0},
        {":1", CLMOVE_NO_DEVICE, 0},
        {":0", CLMOVE_NO_DEVICE, 0},
        {"2:1x", CLMOVE_NO_DEVICE, 0},
        {"-1:0", CLMOVE_NO_DEVICE, 0},
        {"0:4294967296", CLMOVE_NO_DEVICE, 0},
        {"ZNVER", CLMOVE_SUCCESS, 0},
        {"PTHREAD", CLMOVE_SUCCESS, 0},
        {"rusticl", CLMOVE_SUCCESS, 5},
        {"gx 9000", CLMOVE_AMBIGUOUS_DEVICE, 0},
        {"vendor", CLMOVE_AMBIGUOUS_DEVICE, 0},
        {"old gt", CLMOVE_UNSUPPORTED_DEVICE, 0},
        {"nothing such", CLMOVE_NO_DEVICE, 0},
    };
    struct clmove_device_info infos[COUNT];

    (void)state;
    fill(infos);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t index = 99;
        clmove_status status =
            select_device(infos, COUNT, cases[i].selection, &index);
        if (status != cases[i].status ||
            (status == CLMOVE_SUCCESS && index != cases[i].index)) {
            print_error("selection \"%s\": %s, index %zu\n",
                        cases[i].selection ? cases[i].selection : "(null)",
                        clmove_status_name(status), index);
            fail();
        }
    }
}

static void test_nothing_there(void **state)
{
    size_t index = 99;

    (void)state;
    assert_int_equal(select_device(NULL, 0, NULL, &index), CLMOVE_NO_DEVICE);
    assert_int_equal(select_device(NULL, 0, "gpu", &index), CLMOVE_NO_DEVICE);
    assert_int_equal(select_device(NULL, 0, "0:0", &index), CLMOVE_NO_DEVICE);
    assert_int_equal(select_device(NULL, 0, "x", &index), CLMOVE_NO_DEVICE);
}

/* Order gpu, accelerator, cpu; what cannot be used is passed over. */
static void test_default_order(void **state)
{
    struct clmove_device_info infos[COUNT];
    size_t index = 99;

    (void)state;
    fill(infos);
    infos[2].unsupported = infos[3].unsupported = "no";
    assert_int_equal(select_device(infos, COUNT, NULL, &index), CLMOVE_SUCCESS);
    assert_int_equal(index, 4);
    assert_int_equal(select_device(infos, COUNT, "gpu", &index),
                     CLMOVE_UNSUPPORTED_DEVICE);
    infos[4].unsupported = "no";
    assert_int_equal(select_device(infos, COUNT, NULL, &index), CLMOVE_SUCCESS);
    assert_int_equal(index, 0);
    infos[0].unsupported = "no";
    assert_int_equal(select_device(infos, COUNT, NULL, &index), CLMOVE_SUCCESS);
    assert_int_equal(index, 5);
    infos[5].unsupported = "no";
    assert_int_equal(select_device(infos, COUNT, NULL, &index),
                     CLMOVE_UNSUPPORTED_DEVICE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selections),
        cmocka_unit_test(test_nothing_there),
        cmocka_unit_test(test_default_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
