/* Rooms of the language model that need no device: blocks, drafts. */

#include "blocks.h"
#include "draft.h"
#include "testing.h"

static void test_blocks(void **state)
{
    (void)state;
    struct blocks blocks;
    const int32_t tokens[] = {4, 5, 6, 7};
    assert_int_equal(blocks_create(&blocks, 4), MAMBA_FINE);
    const int32_t first = blocks_take(&blocks);
    const int32_t second = blocks_take(&blocks);
    const int32_t third = blocks_take(&blocks);
    assert_int_equal(first + second + third, 1 + 2 + 3);
    assert_int_equal(blocks_take(&blocks), BLOCKS_NULL);

    /* A name outlives the user, and its block is the last to be taken. */
    assert_int_equal(blocks_name(&blocks, second, tokens, 4), MAMBA_FINE);
    assert_int_equal(blocks_find(&blocks, tokens, 3), BLOCKS_NULL);
    assert_int_equal(blocks_find(&blocks, tokens, 4), second);
    blocks_give_back(&blocks, second);
    blocks_give_back(&blocks, second);
    blocks_give_back(&blocks, third);
    assert_int_equal(blocks_take(&blocks), third);
    assert_int_equal(blocks_find(&blocks, tokens, 4), second);
    assert_int_equal(blocks_take(&blocks), BLOCKS_NULL);

    /* The first to have a prefix keeps its name. */
    assert_int_equal(blocks_name(&blocks, first, tokens, 4), MAMBA_FINE);
    assert_int_equal(blocks_find(&blocks, tokens, 4), second);

    /* Room is made where nobody is left. */
    blocks_give_back(&blocks, second);
    blocks_give_back(&blocks, second);
    assert_int_equal(blocks_take(&blocks), second);
    assert_int_equal(blocks_find(&blocks, tokens, 4), BLOCKS_NULL);
    blocks_give_back(&blocks, BLOCKS_NULL);
    blocks_destroy(&blocks);
}

static void test_oldest_goes_first(void **state)
{
    (void)state;
    struct blocks blocks;
    int32_t taken[3];
    assert_int_equal(blocks_create(&blocks, 4), MAMBA_FINE);
    for (int32_t i = 0; i < 3; i++) {
        taken[i] = blocks_take(&blocks);
        assert_int_equal(blocks_name(&blocks, taken[i], &i, 1), MAMBA_FINE);
    }
    for (int i = 0; i < 3; i++)
        blocks_give_back(&blocks, taken[i]);
    const int32_t used = 0;
    assert_int_equal(blocks_find(&blocks, &used, 1), taken[0]);
    blocks_give_back(&blocks, taken[0]);
    assert_int_equal(blocks_take(&blocks), taken[1]);
    assert_int_equal(blocks_take(&blocks), taken[2]);
    assert_int_equal(blocks_take(&blocks), taken[0]);
    blocks_destroy(&blocks);
}

static void test_drafts(void **state)
{
    (void)state;
    const int32_t tokens[] = {1, 2, 3, 4, 9, 2, 3, 5, 1, 2, 3};
    int32_t draft[4] = {0};
    /* 1 2 3 agrees for longer than the later 2 3. */
    assert_int_equal(draft_lookup(tokens, 11, draft, 4), 4);
    assert_int_equal(draft[0], 4);
    assert_int_equal(draft[3], 3);
    assert_int_equal(draft_lookup(tokens, 11, draft, 1), 1);
    assert_int_equal(draft_lookup(tokens, 11, draft, 0), 0);
    /* Of two that agree alike, the later; fewer than asked for at the end. */
    const int32_t twice[] = {7, 8, 1, 7, 8, 2, 7, 8};
    assert_int_equal(draft_lookup(twice, 8, draft, 4), 3);
    assert_int_equal(draft[0], 2);
    /* One token alone says nothing. */
    const int32_t single[] = {1, 2, 3, 4, 2};
    assert_int_equal(draft_lookup(single, 5, draft, 4), 0);
    assert_int_equal(draft_lookup(single, 1, draft, 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_oldest_goes_first),
        cmocka_unit_test(test_drafts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
