/* The host's decisions against the reference's. */

#include "reference.h"
#include "testing.h"

#include <clmove/ssm.h>
#include <limits.h>
#include <string.h>

typedef clmove_status (*host_rule)(const struct clmove_ssm_request *request,
                                   uint32_t tokens_per_block,
                                   struct clmove_ssm_decision *decision);
typedef struct ref_decision (*reference_rule)(const struct ref_step *step,
                                              uint32_t row);

/* The reference looks columns up only where states are there: here are none. */
static struct ref_decision decide_reference(reference_rule reference,
                                            struct clmove_ssm_request *request,
                                            uint32_t block)
{
    struct ref_step step;
    memset(&step, 0, sizeof step);
    step.tokens_per_block = block;
    step.rows = step.slot_count = 1;
    step.computed = &request->computed;
    step.scheduled = &request->scheduled;
    step.draft = &request->draft;
    step.accepted_in = &request->accepted;
    step.column_in = &request->column;
    return reference(&step, 0);
}

static void compare(host_rule rule, reference_rule reference, int is_post,
                    struct clmove_ssm_request request, uint32_t block)
{
    struct clmove_ssm_decision decision;
    struct ref_decision wanted = decide_reference(reference, &request, block);
    const clmove_status status = rule(&request, block, &decision);
    if (wanted.fault.kind != REF_FAULT_NONE) {
        assert_int_equal(status, CLMOVE_OUT_OF_RANGE);
        assert_int_equal(decision.copies, 0);
        assert_int_equal(decision.accepted, request.accepted);
        assert_int_equal(decision.column, request.column);
        return;
    }
    assert_int_equal(status, CLMOVE_SUCCESS);
    assert_int_equal(decision.copies != 0, wanted.copy != 0);
    assert_int_equal(decision.accepted, wanted.reset ? 1 : request.accepted);
    assert_int_equal(decision.column,
                     is_post ? request.column : (int32_t)wanted.column);
    if (wanted.copy) {
        assert_int_equal(decision.source, wanted.source);
        assert_int_equal(decision.destination, wanted.destination);
        assert_int_equal(decision.bias, wanted.bias);
    }
    /* Whatever is saved or reset in post-process passed a boundary. */
    if (is_post && (wanted.copy || wanted.reset))
        assert_int_equal(decision.boundary,
                         (decision.destination + 1) * (int32_t)block);
    else
        assert_int_equal(decision.boundary, 0);
}

static void compare_all(host_rule rule, reference_rule reference, int is_post)
{
    static const uint32_t blocks[] = {1, 2, 3, 8, 16};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        for (int32_t computed = -1; computed < 20; computed++)
            for (int32_t scheduled = -1; scheduled < 7; scheduled++)
                for (int32_t draft = -1; draft < 5; draft++)
                    for (int32_t accepted = -1; accepted < 5; accepted++)
                        for (int32_t column = -1; column < 4; column++)
                            compare(rule, reference, is_post,
                                    (struct clmove_ssm_request){
                                        computed, scheduled, draft, accepted,
                                        column},
                                    blocks[i]);
}

static void test_pre(void **state)
{
    (void)state;
    compare_all(clmove_ssm_decide_pre, ref_decide_pre, 0);
}

static void test_post(void **state)
{
    (void)state;
    compare_all(clmove_ssm_decide_post, ref_decide_post, 1);
}

static void test_bad(void **state)
{
    (void)state;
    const struct clmove_ssm_request request = {INT_MAX, INT_MAX, 0, 1, 0};
    struct clmove_ssm_decision decision;
    const host_rule rules[] = {clmove_ssm_decide_pre, clmove_ssm_decide_post};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rules[i](NULL, 1, &decision), CLMOVE_INVALID_ARGUMENT);
        assert_int_equal(rules[i](&request, 1, NULL), CLMOVE_INVALID_ARGUMENT);
        assert_int_equal(rules[i](&request, 0, &decision),
                         CLMOVE_INVALID_ARGUMENT);
        assert_int_equal(rules[i](&request, 1, &decision), CLMOVE_OUT_OF_RANGE);
        assert_int_equal(decision.copies, 0);
    }
    assert_int_equal(clmove_ssm_decide_pre(&request, 2, &decision),
                     CLMOVE_SUCCESS);
    assert_int_equal(decision.column, INT_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pre),
        cmocka_unit_test(test_post),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
