/* Silent fall-back to a CPU, device types as a mask: aleth PR 2154. */

/* Source: ethereum/aleth PR 2154; apache/tvm PR 2076; pocl/pocl issue 168.
 * Users did not notice that the CPU was used; a driver sets CPU and DEFAULT
 * bits, which tests for equality missed. */

#include "select.h"
#include "testing.h"

#include <string.h>

static struct clmove_device_info make(cl_device_type type)
{
    struct clmove_device_info info;

    memset(&info, 0, sizeof(info));
    info.type = type;
    strcpy(info.name, "some device");
    return info;
}

static void test_cpu_only(void **state)
{
    const struct clmove_device_info infos[] = {
        make(CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_DEFAULT)};
    size_t index = 99;

    (void)state;
    assert_int_equal(select_device(infos, 1, NULL, &index), CLMOVE_SUCCESS);
    assert_int_equal(index, 0);
    assert_int_equal(select_device(infos, 1, "cpu", &index), CLMOVE_SUCCESS);
    assert_int_equal(select_device(infos, 1, "gpu", &index), CLMOVE_NO_DEVICE);
    assert_int_equal(select_device(infos, 1, "accelerator", &index),
                     CLMOVE_NO_DEVICE);
}

static void test_masks(void **state)
{
    const struct clmove_device_info infos[] = {
        make(CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_DEFAULT),
        make(CL_DEVICE_TYPE_ACCELERATOR),
        make(CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)};
    size_t index = 99;

    (void)state;
    assert_int_equal(select_device(infos, 3, "", &index), CLMOVE_SUCCESS);
    assert_int_equal(index, 2);
    assert_int_equal(select_device(infos, 2, "", &index), CLMOVE_SUCCESS);
    assert_int_equal(index, 1);
    assert_int_equal(select_device(infos, 3, "cpu", &index), CLMOVE_SUCCESS);
    assert_int_equal(index, 0);
    assert_int_equal(select_device(infos, 3, "gpu", &index), CLMOVE_SUCCESS);
    assert_int_equal(index, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpu_only),
                                       cmocka_unit_test(test_masks)};
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
