/* Offsets above 2^31 and 2^32: ai-dynamo/dynamo PR 10552. */

/* Source: ai-dynamo/dynamo PR 10552 (also state-spaces/mamba PR 1038). Offsets
 * were computed in 32 bits; with a large pool the copy went elsewhere. */

#include "big_pool.h"
#include "runner.h"
#include "testing.h"

static void test_large_offsets(void **state)
{
    struct test_device *device = *state;
    struct big_pool pool;

    if (!big_pool_open(&pool, device, BIG_SIZE)) {
        runner_skip("no way to a pool of 4.3 GB on this device");
        return;
    }
    for (int i = BIG_POOL_V1; i <= BIG_POOL_HOST; i++) {
        const enum big_pool_order order = (enum big_pool_order)i;
        assert_true(big_pool_copies_in(&pool, device->engine, order, 2, 4, 0));
        assert_true(big_pool_copies_in(&pool, device->engine, order, 4, 0, 0));
        assert_true(big_pool_copies_in(&pool, device->engine, order, 3, 1, 0));
        pool.every_other = 1; /* a stride over 2^31 */
        assert_true(big_pool_copies_in(&pool, device->engine, order, 2, 4, 0));
        assert_true(big_pool_copies_in(&pool, device->engine, order, 4, 0, 0));
        pool.every_other = 0;
    }
    big_pool_close(&pool);
}

/* What does not fit is refused, not cut to 32 bits: the last block's end would
 * lie inside this buffer if it were. */
static void test_too_small_is_refused(void **state)
{
    struct test_device *device = *state;
    struct clmove_ssm_layout *layout = NULL;
    struct clmove_ssm_state tensor = {
        .kind = CLMOVE_SSM_TEMPORAL,
        .block_count = BIG_BLOCKS,
        .block_stride = BIG_STRIDE,
        .size = BIG_BLOCK_SIZE,
    };
    struct clmove_ssm_layout_params params = {
        .states = &tensor, .state_count = 1, .group_count = 1};
    cl_int error = CL_SUCCESS;

    tensor.memory.buffer =
        clCreateBuffer(device->context, CL_MEM_READ_WRITE, 4096, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    device_clear_messages(device);
    assert_int_equal(clmove_ssm_layout_create(device->engine, &params, &layout),
                     CLMOVE_OUT_OF_RANGE);
    assert_null(layout);
    device_expect_message(device, "4294967408"); /* bytes needed */
    clReleaseMemObject(tensor.memory.buffer);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_offsets),
        cmocka_unit_test(test_too_small_is_refused),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
