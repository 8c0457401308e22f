/* The checking helpers can fail: byte comparison, patterns, scene geometry. */

#include "compare.h"
#include "runner.h"
#include "scenes.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 100 };

static void test_first_difference(void **state)
{
    unsigned char a[SIZE], b[SIZE];

    (void)state;
    fill_pattern(a, SIZE, 1);
    memcpy(b, a, SIZE);
    assert_int_equal(first_difference(a, b, SIZE), SIZE);
    assert_int_equal(first_difference(a, b, 0), 0);
    for (size_t i = 0; i < SIZE; i++) {
        b[i] ^= 1;
        assert_int_equal(first_difference(a, b, SIZE), i);
        assert_int_equal(first_difference(a, b, i), i);
        b[i] ^= 1;
    }
    b[70] ^= 0x80;
    b[30] ^= 0x80;
    assert_int_equal(first_difference(a, b, SIZE), 30);
}

/* The report of comparing two arrays that differ as the caller says. */
static char *report_of(const unsigned char *expected,
                       const unsigned char *actual, size_t size, int *equal)
{
    char *text = NULL;
    size_t text_size = 0;
    FILE *file = open_memstream(&text, &text_size);
    const struct check_case check = {
        .test = "test_of_things",
        .detail = "case five",
        .seed = 4711,
        .what = "pool 3",
        .report = file,
    };

    assert_non_null(file);
    *equal = check_bytes(&check, expected, actual, size);
    fclose(file);
    assert_non_null(text);
    return text;
}

static void expect_text(const char *report, const char *text)
{
    if (!report || !strstr(report, text)) {
        print_error("\"%s\" is missing in:\n%s", text, report ? report : "");
        fail();
    }
}

static void test_report_names_everything(void **state)
{
    unsigned char a[SIZE], b[SIZE];
    int equal = 1;
    char *report;

    (void)state;
    memset(a, 0x11, SIZE);
    memcpy(b, a, SIZE);
    b[35] = 0xee;
    b[99] = 0xef;
    report = report_of(a, b, SIZE, &equal);
    assert_false(equal);
    expect_text(report, "test_of_things");
    expect_text(report, "\"case five\"");
    expect_text(report, "seed 4711");
    expect_text(report, "pool 3");
    expect_text(report, "offset 35 of 100, 2 bytes differ");
    expect_text(report, "expected         32: 11  11  11 [11]");
    expect_text(report, "device           32: 11  11  11 [ee]");
    expect_text(report, "--case 'case five' test_of_things");
    expect_text(report, runner_path());
    free(report);
}

static void test_equal_bytes_are_silent(void **state)
{
    unsigned char a[SIZE] = {0}, b[SIZE] = {0};
    int equal = 0;
    char *report = report_of(a, b, SIZE, &equal);

    (void)state;
    assert_true(equal);
    assert_string_equal(report, "");
    free(report);
}

static void test_edges_are_compared(void **state)
{
    static const size_t places[] = {0, 1, 15, 16, 98, 99};
    unsigned char a[SIZE], b[SIZE];

    (void)state;
    fill_pattern(a, SIZE, 2);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct check_case check = {"t", "c", 0, "w", NULL};
        memcpy(b, a, SIZE);
        b[places[i]] ^= 0x40;
        assert_false(check_bytes(&check, a, b, SIZE));
        b[places[i]] ^= 0x40;
        assert_true(check_bytes(&check, a, b, SIZE));
    }
}

/* Bytes at a wrong place must show: shifted by anything up to 64, at least 9
 * in 10 differ; and the seed changes them. */
static void test_pattern_tells_places_apart(void **state)
{
    unsigned char bytes[1064], other[1064];

    (void)state;
    fill_pattern(bytes, sizeof(bytes), 5);
    fill_pattern(other, sizeof(other), 6);
    for (size_t shift = 0; shift <= 64; shift++) {
        size_t equal = 0;
        for (size_t i = 0; i < 1000; i++) {
            equal += bytes[i] == (shift ? bytes : other)[i + shift];
        }
        assert_true(equal < 100);
    }
}

static void test_scene_geometry(void **state)
{
    struct scene scene;
    struct scene_state *added;

    (void)state;
    scene_init(&scene, __func__, "sizes");
    scene_add_pool(&scene, SCENE_BUFFER);
    added = scene_add_conv(&scene, 0, REF_CONV_SD, 3, 5, 7, 2);
    assert_int_equal(scene_block_extent(added), 70);
    assert_int_equal(scene_state_extent(added), 210);
    added->block_stride = 100;
    assert_int_equal(scene_state_extent(added), 270);
    added = scene_add_conv(&scene, 0, REF_CONV_DS, 2, 5, 7, 2);
    added->row_stride = 16;
    assert_int_equal(scene_block_extent(added), 6 * 16 + 10);
    scene_place_states(&scene);
    assert_int_equal(scene.states[0].offset, 0);
    assert_int_equal(scene.states[1].offset, 272);
    assert_int_equal(scene_pool_size(&scene, 0), 64 + 272 + 212 + 64);
    scene_clear(&scene);
}

/* Random scenes do what they are for: rows that copy, rows at fault, others. */
static void test_random_scenes_cover(void **state)
{
    uint32_t copies = 0, faults = 0, rows = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct ref_state states[SCENE_MAX_STATES];
        struct ref_group groups[SCENE_MAX_GROUPS];
        struct ref_table tables[SCENE_MAX_GROUPS];
        int32_t computed[SCENE_MAX_ROWS], scheduled[SCENE_MAX_ROWS];
        int32_t draft[SCENE_MAX_ROWS], accepted[SCENE_MAX_ROWS];
        int32_t column[SCENE_MAX_ROWS];
        struct scene scene;
        struct ref_step step = {
            .states = states, .groups = groups, .tables = tables};
        scene_init(&scene, __func__, "seed");
        scene_fill_random(&scene, seed, 24);
        step.state_count = scene.state_count;
        step.tokens_per_block = scene.tokens_per_block;
        for (uint32_t i = 0; i < scene.state_count; i++) {
            memset(&states[i], 0, sizeof(states[i]));
            states[i].kind = scene.states[i].kind;
            states[i].group = scene.states[i].group;
            states[i].width = scene.states[i].width;
            states[i].block_count = scene.states[i].block_count;
        }
        for (uint32_t g = 0; g < scene.group_count; g++) {
            groups[g] = scene.groups[g].null;
            tables[g].entries = scene.groups[g].entries;
            tables[g].columns = scene.groups[g].columns;
            tables[g].row_stride = scene.groups[g].row_stride;
        }
        step.computed = computed;
        step.scheduled = scheduled;
        step.draft = draft;
        step.accepted_in = accepted;
        step.column_in = column;
        for (uint32_t row = 0; row < scene.row_count; row++, rows++) {
            struct ref_decision decision;
            computed[row] = scene.rows[row].computed;
            scheduled[row] = scene.rows[row].scheduled;
            draft[row] = scene.rows[row].draft;
            accepted[row] = scene.rows[row].accepted;
            column[row] = scene.rows[row].column;
            decision = seed % 2 ? ref_decide_pre(&step, row)
                                : ref_decide_post(&step, row);
            copies += (uint32_t)decision.copy;
            faults += decision.fault.kind != REF_FAULT_NONE;
        }
        scene_clear(&scene);
    }
    assert_true(rows > 500);
    assert_true(copies > rows / 10);
    assert_true(faults > rows / 20);
    assert_true(copies + faults < rows);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_difference),
        cmocka_unit_test(test_report_names_everything),
        cmocka_unit_test(test_equal_bytes_are_silent),
        cmocka_unit_test(test_edges_are_compared),
        cmocka_unit_test(test_pattern_tells_places_apart),
        cmocka_unit_test(test_scene_geometry),
        cmocka_unit_test(test_random_scenes_cover),
    };
    return RUNNER_TESTS(argc, argv, tests);
}
