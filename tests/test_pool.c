/* The shape of a replay's pool: sizes beyond what 64 bits hold. */

#include "pool.h"
#include "testing.h"

#include <string.h>

/* Whether so many blocks of a page of 2^37 bytes make a pool, on a device that
 * has all the memory there can be. */
static bool fits(uint32_t block_count, uint32_t layers)
{
    const struct model model = {.name = "wide",
                                .layers = layers,
                                .taps = 64,
                                .conv_dim = (1 << 24) - 1,
                                .conv_element = 8,
                                .temporal_outer = 8000,
                                .temporal_inner = 1,
                                .temporal_element = 1};
    const struct pool_request request = {.model = &model,
                                         .shrink = 1,
                                         .draft_tokens = 961,
                                         .block_count = block_count};
    struct clmove_device_info device;
    struct pool_shape shape;

    memset(&device, 0, sizeof device);
    device.global_size = device.max_allocation = UINT64_MAX - 1;
    const bool fine = pool_plan(&shape, &request, &device);
    assert_int_equal(shape.page_size, UINT64_C(1) << 37);
    return fine;
}

static void test_too_large(void **state)
{
    (void)state;
    assert_true(fits(1 << 20, 1));
    /* A layer of 2^64 bytes, of 2^64 and a page, layers of 2^64 together. */
    assert_false(fits(1 << 27, 1));
    assert_false(fits((1 << 27) + 1, 1));
    assert_false(fits(1 << 26, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
