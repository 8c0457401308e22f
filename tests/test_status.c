/* Names of statuses, the version. */

#include "testing.h"

#include <clmove/clmove.h>

#include <string.h>

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(clmove_status_name(CLMOVE_SUCCESS), "CLMOVE_SUCCESS");
    assert_string_equal(clmove_status_name(CLMOVE_INVALID_ARGUMENT),
                        "CLMOVE_INVALID_ARGUMENT");
    assert_string_equal(clmove_status_name(CLMOVE_PARTLY_ENQUEUED),
                        "CLMOVE_PARTLY_ENQUEUED");
    assert_string_equal(clmove_status_name(CL_INVALID_VALUE),
                        "CL_INVALID_VALUE");
    assert_string_equal(clmove_status_name(CL_OUT_OF_HOST_MEMORY),
                        "CL_OUT_OF_HOST_MEMORY");
    assert_string_equal(clmove_status_name(-1001), "CL_PLATFORM_NOT_FOUND_KHR");
}

/* Every code in use has a name of its own. */
static void test_all_known(void **state)
{
    const char *seen[400];
    size_t count = 0;

    (void)state;
    for (int status = -7011; status <= 0; status++) {
        const char *name = clmove_status_name(status);
        assert_non_null(name);
        if (strcmp(name, "unknown status") == 0) {
            assert_true(status < -72 || status > -1 ||
                        (status <= -20 && status > -30));
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            assert_string_not_equal(seen[i], name);
        }
        assert_true(count < sizeof(seen) / sizeof(seen[0]));
        seen[count++] = name;
    }
    assert_true(count >= 12 + 60);
    for (int status = -7011; status <= -7000; status++) {
        assert_memory_equal(clmove_status_name(status), "CLMOVE_", 7);
    }
}

static void test_unknown(void **state)
{
    (void)state;
    assert_string_equal(clmove_status_name(12345), "unknown status");
    assert_string_equal(clmove_status_name(-7012), "unknown status");
    assert_string_equal(clmove_status_name(INT32_MIN), "unknown status");
}

static void test_version(void **state)
{
    (void)state;
    assert_string_equal(clmove_version(), CLMOVE_VERSION_STRING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_all_known),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
