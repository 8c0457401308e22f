/* Which handles a launch is given, from views alone. */

#include "bind.h"
#include "testing.h"

#include <string.h>

/* Handles that are never given to OpenCL. */
static cl_mem handle(int index)
{
    static char things[8];
    return (cl_mem)(void *)&things[index];
}

enum { ROOT = 0, LEFT = 1, RIGHT = 2, OTHER = 3 };

static struct memory_view view(int root, int name, uint64_t origin,
                               uint64_t handle_size, uint64_t offset,
                               uint64_t size)
{
    struct memory_view result;

    memset(&result, 0, sizeof(result));
    result.root = handle(root);
    result.handle = handle(name);
    result.handle_origin = origin;
    result.handle_size = handle_size;
    result.offset = offset;
    result.size = size;
    result.flags = CL_MEM_READ_WRITE;
    return result;
}

static void test_ranges(void **state)
{
    (void)state;
    for (uint64_t a = 0; a < 8; a++) {
        for (uint64_t a_size = 0; a_size < 5; a_size++) {
            for (uint64_t b = 0; b < 8; b++) {
                for (uint64_t b_size = 0; b_size < 5; b_size++) {
                    bool want = false;
                    for (uint64_t i = a; i < a + a_size; i++) {
                        want = want || (i >= b && i < b + b_size);
                    }
                    assert_int_equal(ranges_overlap(a, a_size, b, b_size),
                                     want);
                }
            }
        }
    }
    assert_true(ranges_overlap(UINT64_MAX, 1, UINT64_MAX, 1));
    assert_false(ranges_overlap(0, UINT64_MAX, UINT64_MAX, 1));
}

static void test_views(void **state)
{
    const struct memory_view whole = view(ROOT, ROOT, 0, 100, 40, 20);
    const struct memory_view window = view(ROOT, LEFT, 32, 64, 8, 20);
    const struct memory_view other = view(OTHER, OTHER, 0, 100, 40, 20);
    const struct memory_view shorter = view(ROOT, ROOT, 0, 100, 40, 19);

    (void)state;
    assert_false(views_equal(&whole, &shorter));
    assert_true(views_equal(&whole, &window)); /* 40 both ways */
    assert_true(views_overlap(&whole, &window));
    assert_false(views_overlap(&whole, &other));
    assert_false(views_equal(&whole, &other));
}

static void expect_binding(const struct memory_binding *binding, int name,
                           uint64_t offset)
{
    assert_ptr_equal(binding->handle, handle(name));
    assert_int_equal(binding->offset, offset);
}

/* The caller's own handles, as long as they do not overlap. */
static void test_own_handles(void **state)
{
    const struct memory_view views[] = {
        view(ROOT, LEFT, 0, 64, 8, 8),
        view(ROOT, RIGHT, 64, 64, 16, 8),
        view(OTHER, OTHER, 0, 64, 24, 8),
        view(ROOT, LEFT, 0, 64, 32, 8),
    };
    struct memory_binding bindings[4];

    (void)state;
    bind_views(views, 4, bindings);
    expect_binding(&bindings[0], LEFT, 8);
    expect_binding(&bindings[1], RIGHT, 16);
    expect_binding(&bindings[2], OTHER, 24);
    expect_binding(&bindings[3], LEFT, 32);
    assert_true(bindings_share(&bindings[0], &bindings[3]));
    assert_false(bindings_share(&bindings[0], &bindings[1]));
}

/* Overlapping handles: the root for all views of that root, no other. */
static void check_root(const struct memory_view *views)
{
    struct memory_binding bindings[3];

    bind_views(views, 3, bindings);
    for (int i = 0; i < 3; i++) {
        const int is_other = views[i].root == handle(OTHER);
        expect_binding(&bindings[i], is_other ? OTHER : ROOT,
                       view_origin(&views[i]));
    }
}

static void test_root(void **state)
{
    const struct memory_view left = view(ROOT, LEFT, 0, 64, 8, 8);
    const struct memory_view right = view(ROOT, RIGHT, 32, 64, 16, 8);
    const struct memory_view whole = view(ROOT, ROOT, 0, 128, 100, 8);
    const struct memory_view other = view(OTHER, OTHER, 0, 64, 24, 8);
    const struct memory_view orders[][3] = {
        {left, right, other}, {left, other, right}, {other, right, left},
        {whole, left, other}, {left, whole, right}, {right, other, whole}};

    (void)state;
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        check_root(orders[i]);
    }
}

static void test_pointers(void **state)
{
    struct memory_view views[2];
    struct memory_binding bindings[2];
    char bytes[16];

    (void)state;
    memset(views, 0, sizeof(views));
    views[0].pointer = bytes;
    views[0].handle_origin = (uintptr_t)bytes;
    views[0].offset = 3;
    views[0].size = views[0].handle_size = 4;
    views[1] = views[0];
    views[1].offset = 6;
    bind_views(views, 2, bindings);
    assert_null(bindings[0].handle);
    assert_ptr_equal(bindings[0].pointer, bytes);
    assert_int_equal(bindings[1].offset, 6);
    assert_true(bindings_share(&bindings[0], &bindings[1]));
    assert_true(views_overlap(&views[0], &views[1])); /* 3..6 and 6..9 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),      cmocka_unit_test(test_views),
        cmocka_unit_test(test_own_handles), cmocka_unit_test(test_root),
        cmocka_unit_test(test_pointers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
