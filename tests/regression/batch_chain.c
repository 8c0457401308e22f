/* Entries that read what others write: vllm-project/vllm-gaudi PR 329. */

/* Source: vllm-project/vllm-gaudi PR 329. A list of block copies had one block
 * as the source of one pair and the destination of another, and the cache was
 * corrupted. */

#include "moving_batch.h"
#include "runner.h"
#include "testing.h"

#include <string.h>

static void test_rotation(void **state)
{
    static const char before[] = "AAAABBBBCCCCDDDD";
    static const char after[] = "CCCCAAAABBBBDDDD";
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0},
                                    {0, 2, 1}, {1, 0, 2}, {2, 0, 1}};
    const struct clmove_region entries[] = {
        {.src_offset = 0, .dst_offset = 4, .size = 4},
        {.src_offset = 4, .dst_offset = 8, .size = 4},
        {.src_offset = 8, .dst_offset = 0, .size = 4},
    };
    struct test_device *device = *state;
    struct moving moving;

    moving_open(&moving, device, MOVING_BUFFER, 16);
    for (size_t i = 0; i < 6; i++) {
        struct clmove_region regions[3];
        for (int j = 0; j < 3; j++) {
            regions[j] = entries[orders[i][j]];
        }
        moving_load(&moving, before);
        moving_batch(device, &moving, regions, 3);
        assert_memory_equal(moving.expected, after, 16); /* the reference */
        memcpy(moving.expected, after, 16);
        assert_true(moving_check(&moving, __func__, "rotation"));
    }
    moving_close(&moving);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rotation)};
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
