/* Moves in every kind of memory, large ones, and the published tiled copies. */

#include "big_pool.h"
#include "compare.h"
#include "moving.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t all_variants[] = {
    CLMOVE_VARIANT_AUTO,  CLMOVE_VARIANT_DRIVER, CLMOVE_VARIANT_DISJOINT,
    CLMOVE_VARIANT_GROUP, CLMOVE_VARIANT_SPLIT,  CLMOVE_VARIANT_SEGMENTS};

/* A tile of 64 bytes makes spans and segments of short moves. */
static struct clmove_engine *small_engine(struct test_device *device,
                                          int gpu_text)
{
    const struct moving_shape shape = {.tile_size = 64, .gpu_text = gpu_text};
    return moving_engine(device, &shape);
}

static int can(uint32_t variant, const struct moving_move *move)
{
    if (variant == CLMOVE_VARIANT_DRIVER &&
        (move->src->svm != NULL) != (move->dst->svm != NULL)) {
        return 0;
    }
    return !moving_overlaps(move) || (variant != CLMOVE_VARIANT_DRIVER &&
                                      variant != CLMOVE_VARIANT_DISJOINT);
}

/* Moves inside one memory, left, right, apart, and between two. */
static void check_pair(struct clmove_engine *engine, const char *test,
                       struct moving *one, struct moving *other)
{
    static const size_t offsets[][3] = {
        {100, 103, 900}, {103, 100, 901}, {0, 1, 1023},    {1, 0, 1023},
        {0, 2048, 1029}, {16, 0, 1600},   {640, 0, 1024},  {0, 700, 1400},
        {33, 33, 500},   {2000, 5, 77},   {3, 2060, 1000}, {7, 1031, 1024},
    };
    char detail[64];

    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        for (size_t v = 0; v < 6; v++) {
            for (int pair = 0; pair < 4; pair++) {
                const struct moving_move move = {.src = pair & 1 ? other : one,
                                                 .dst = pair & 2 ? other : one,
                                                 .src_offset = offsets[i][0],
                                                 .dst_offset = offsets[i][1],
                                                 .size = offsets[i][2],
                                                 .variant = all_variants[v]};
                if (!can(all_variants[v], &move)) {
                    continue;
                }
                snprintf(detail, sizeof(detail), "offsets %zu, %s, pair %d", i,
                         clmove_variant_name(all_variants[v]), pair);
                moving_fill(one, i + v);
                moving_fill(other, i + v + 100);
                moving_move(engine, &move);
                assert_true(moving_check(one, test, detail));
                assert_true(moving_check(other, test, detail));
            }
        }
    }
}

/* All pairs of kinds; odd sizes, so that accesses past the end would show. */
static void test_kinds(void **state)
{
    struct test_device *device = *state;

    for (int gpu_text = 0; gpu_text < 2; gpu_text++) {
        struct clmove_engine *engine = small_engine(device, gpu_text);
        for (int first = 0; first <= MOVING_SVM; first++) {
            for (int second = first; second <= MOVING_SVM; second++) {
                struct moving one, other;
                if (second == MOVING_SVM && !device_has_svm(device)) {
                    continue;
                }
                moving_open(&one, device, (enum moving_kind)first, 3077);
                moving_open(&other, device, (enum moving_kind)second, 3077);
                check_pair(engine, __func__, &one, &other);
                moving_close(&one);
                moving_close(&other);
            }
        }
        clmove_engine_destroy(&engine);
    }
}

/* SVM whose first byte is no multiple of 16, and whose size is left out. */
static void test_svm_pointers(void **state)
{
    struct test_device *device = *state;
    struct moving svm;

    if (!device_has_svm(device)) {
        runner_skip("the device has no shared virtual memory");
        return;
    }
    moving_open(&svm, device, MOVING_SVM, 4001);
    for (size_t v = 0; v < 6; v++) {
        for (int left = 0; left < 2; left++) {
            const size_t low = 5, high = v == 1 || v == 2 ? 2004 : 5 + 131;
            const size_t size = 1900;
            const struct clmove_memory src = {.pointer = svm.svm +
                                                         (left ? high : low)};
            const struct clmove_memory dst = {.pointer = svm.svm +
                                                         (left ? low : high)};
            const struct clmove_move_options options = {.variant =
                                                            all_variants[v]};
            moving_fill(&svm, v);
            moving_status(device,
                          clmove_enqueue_move(device->engine, &src, &dst, size,
                                              &options, device->queue, 0, NULL,
                                              NULL),
                          CLMOVE_SUCCESS);
            assert_true(ref_move(svm.expected + (left ? low : high),
                                 svm.expected + (left ? high : low), size));
            assert_true(moving_check(&svm, __func__,
                                     clmove_variant_name(all_variants[v])));
        }
    }
    /* nothing at all, of which the size is left out as well */
    const struct clmove_memory none = {.pointer = svm.svm};
    moving_status(device,
                  clmove_enqueue_move(device->engine, &none, &none, 0, NULL,
                                      device->queue, 0, NULL, NULL),
                  CLMOVE_SUCCESS);
    assert_true(moving_check(&svm, __func__, "nothing"));
    moving_close(&svm);
}

/* A window of a buffer: its handle, and where it begins. */
struct window {
    cl_mem handle;
    size_t origin;
};

static cl_mem sub_buffer(cl_mem parent, size_t origin, size_t size)
{
    const cl_buffer_region region = {origin, size};
    cl_int error = CL_SUCCESS;
    cl_mem made =
        clCreateSubBuffer(parent, CL_MEM_READ_WRITE,
                          CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    assert_int_equal(error, CL_SUCCESS);
    return made;
}

/* A move between two handles of one buffer; positions count from its start. */
static void check_windows(struct clmove_engine *engine, struct moving *moving,
                          const struct window *from, const struct window *to,
                          size_t src, size_t dst, size_t size)
{
    struct test_device *device = moving->device;
    const struct moving_move move = {moving, moving, src, dst, size, 0};

    for (size_t v = 0; v < 6; v++) {
        const struct clmove_memory a = {.buffer = from->handle,
                                        .offset = src - from->origin};
        const struct clmove_memory b = {.buffer = to->handle,
                                        .offset = dst - to->origin};
        const struct clmove_move_options options = {.variant = all_variants[v]};
        char detail[96];
        if (!can(all_variants[v], &move)) {
            continue;
        }
        snprintf(detail, sizeof(detail), "%s, %zu to %zu, size %zu",
                 clmove_variant_name(all_variants[v]), src, dst, size);
        moving_fill(moving, src + dst + v);
        moving_status(device,
                      clmove_enqueue_move(engine, &a, &b, size, &options,
                                          device->queue, 0, NULL, NULL),
                      CLMOVE_SUCCESS);
        moving_expect(&move);
        assert_true(moving_check(moving, "test_sub_buffers", detail));
    }
}

/* A buffer with its sub-buffer, and two sub-buffers that overlap: the bytes
 * decide, not the handles. */
static void test_sub_buffers(void **state)
{
    struct test_device *device = *state;
    const size_t align = device->info.base_align_bits / 8;
    const size_t unit = align > 1024 ? align : 1024;
    struct clmove_engine *engine = small_engine(device, 1);
    struct moving moving;
    struct window windows[4];

    moving_open(&moving, device, MOVING_BUFFER, 6 * unit + 3);
    windows[0] = (struct window){moving.buffer, 0};
    windows[1] = (struct window){NULL, unit};
    windows[2] = (struct window){NULL, 2 * unit};
    windows[3] = (struct window){NULL, 5 * unit};
    windows[1].handle = sub_buffer(moving.buffer, unit, 3 * unit);
    windows[2].handle = sub_buffer(moving.buffer, 2 * unit, 3 * unit);
    windows[3].handle = sub_buffer(moving.buffer, 5 * unit, unit + 3);
    for (int from = 0; from < 3; from++) {
        for (int to = 0; to < 3; to++) {
            /* where both reach */
            const size_t at = 2 * unit + 1;
            check_windows(engine, &moving, &windows[from], &windows[to], at,
                          at + 3, unit);
            check_windows(engine, &moving, &windows[from], &windows[to],
                          at + 19, at, unit);
            check_windows(engine, &moving, &windows[from], &windows[to], at,
                          at + 16, unit);
            check_windows(engine, &moving, &windows[from], &windows[to], at, at,
                          unit);
            check_windows(engine, &moving, &windows[from], &windows[to], at,
                          at + unit - 1, unit);
        }
        check_windows(engine, &moving, &windows[from], &windows[3],
                      2 * unit + 5, 5 * unit + 2, unit + 1);
        check_windows(engine, &moving, &windows[3], &windows[from],
                      5 * unit + 2, 2 * unit + 5, unit + 1);
    }
    /* With NVIDIA's driver 580.159 the first of these releases crashes within
     * clReleaseMemObject, once two sub-buffers that overlap were moved to a
     * third one, by the driver's copy as well. The reference counts are 1, as
     * they should be. A plain OpenCL program that makes the same copies does
     * not crash; the cause is not known. */
    for (int i = 1;
         i < 4 && strstr(device->info.platform_name, "NVIDIA") == NULL; i++) {
        clReleaseMemObject(windows[i].handle);
    }
    moving_close(&moving);
    clmove_engine_destroy(&engine);
}

/* Scratch that the caller gives is used, and nothing past what was asked. */
static void test_given_scratch(void **state)
{
    enum { SCRATCH = 20000 };
    struct test_device *device = *state;
    struct clmove_engine *engine = small_engine(device, 1);
    struct moving moving, scratch;
    size_t largest = 0;

    moving_open(&moving, device, MOVING_BUFFER, 9001);
    moving_open(&scratch, device, MOVING_BUFFER, SCRATCH);
    for (size_t shift = 1; shift < 200; shift += 13) {
        for (uint32_t v = CLMOVE_VARIANT_SPLIT; v <= CLMOVE_VARIANT_SEGMENTS;
             v++) {
            for (int left = 0; left < 2; left++) {
                const struct moving_move move = {&moving,
                                                 &moving,
                                                 left ? shift + 9 : 9,
                                                 left ? 9 : shift + 9,
                                                 8000,
                                                 v};
                const struct clmove_memory src =
                    moving_memory(&moving, move.src_offset);
                const struct clmove_memory dst =
                    moving_memory(&moving, move.dst_offset);
                struct clmove_move_options options = {.variant = v};
                size_t bytes = 1;
                moving_status(device,
                              clmove_move_scratch_size(engine, &src, &dst, 8000,
                                                       &options, &bytes),
                              CLMOVE_SUCCESS);
                largest = bytes > largest ? bytes : largest;
                options.scratch = moving_memory(&scratch, 37);
                options.scratch.size = bytes;
                if (bytes == 0) {
                    continue;
                }
                moving_fill(&moving, shift);
                moving_fill(&scratch, shift + 1);
                moving_status(device,
                              clmove_enqueue_move(engine, &src, &dst, 8000,
                                                  &options, device->queue, 0,
                                                  NULL, NULL),
                              CLMOVE_SUCCESS);
                moving_expect(&move);
                assert_true(moving_check(&moving, __func__, "given scratch"));
                /* Scratch itself may hold anything, its surroundings not. */
                (void)moving_check(&scratch, __func__, NULL);
                assert_memory_equal(scratch.actual, scratch.expected, 37);
                assert_memory_equal(scratch.actual + 37 + bytes,
                                    scratch.expected + 37 + bytes,
                                    SCRATCH - 37 - bytes);
                assert_memory_not_equal(scratch.actual + 37,
                                        scratch.expected + 37, bytes);
            }
        }
    }
    assert_true(largest > 0);
    moving_close(&moving);
    moving_close(&scratch);
    clmove_engine_destroy(&engine);
}

/* The promise of clmove_move_scratch_size: a quarter, and a few KiB. */
static void test_scratch_bound(void **state)
{
    static const size_t shifts[] = {1,    15,   16,    17,    1000,  4096,
                                    8192, 8193, 30000, 65536, 65537, 200000};
    enum { LARGE = 4 << 20 };
    struct test_device *device = *state;
    struct moving moving;

    moving_open(&moving, device, MOVING_BUFFER, LARGE);
    for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
        for (uint32_t v = 0; v <= CLMOVE_VARIANT_SEGMENTS; v++) {
            const struct clmove_memory low = moving_memory(&moving, 0);
            const struct clmove_memory high = moving_memory(&moving, shifts[i]);
            const size_t size = LARGE - shifts[i];
            const struct clmove_move_options options = {.variant = v};
            size_t up = 0, down = 0;
            if (v == CLMOVE_VARIANT_DRIVER || v == CLMOVE_VARIANT_DISJOINT)
                continue;
            moving_status(device,
                          clmove_move_scratch_size(device->engine, &high, &low,
                                                   size, &options, &up),
                          CLMOVE_SUCCESS);
            moving_status(device,
                          clmove_move_scratch_size(device->engine, &low, &high,
                                                   size, &options, &down),
                          CLMOVE_SUCCESS);
            assert_true(up <= size / 4 + 8192 && down <= size / 4 + 8192);
            assert_true(v != CLMOVE_VARIANT_GROUP || (up == 0 && down == 0));
        }
    }
    moving_close(&moving);
}

/* A few MiB, by the limits that the device has of its own. */
static void test_megabytes(void **state)
{
    static const size_t sizes[] = {1 << 20, (3 << 20) + 17};
    static const size_t shifts[] = {1, 16, 1000, 4096, 65536, 1 << 19};
    struct test_device *device = *state;
    struct moving moving;
    char detail[64];

    moving_open(&moving, device, MOVING_BUFFER, (4 << 20) + 3);
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 6; j++) {
            moving_fill(&moving, i * 10 + j);
            for (uint32_t v = 0; v < 6; v++) {
                for (int left = 0; left < 2; left++) {
                    const struct moving_move move = {&moving,
                                                     &moving,
                                                     left ? 5 + shifts[j] : 5,
                                                     left ? 5 : 5 + shifts[j],
                                                     sizes[i],
                                                     v};
                    if (can(v, &move)) {
                        moving_move(device->engine, &move);
                    }
                }
            }
            snprintf(detail, sizeof(detail), "size %zu, shift %zu", sizes[i],
                     shifts[j]);
            assert_true(moving_check(&moving, __func__, detail));
        }
    }
    moving_close(&moving);
}

/* Where bytes end up when the sum is cut to 31 or 32 bits, and where they
 * belong. */
static void check_far(struct big_pool *pool, struct clmove_engine *engine,
                      size_t src_at, size_t dst_at, size_t size,
                      uint32_t variant)
{
    enum { WINDOW = 4096 };
    struct test_device *device = pool->device;
    const struct clmove_move_options options = {.variant = variant};
    struct clmove_memory src = big_pool_memory(pool);
    struct clmove_memory dst = src;
    unsigned char *image = test_malloc(3 * WINDOW);
    unsigned char *actual = test_malloc(3 * WINDOW);
    /* the pool's start, around the source, around the destination */
    const size_t starts[] = {0, src_at - 64, dst_at - 64};
    const size_t shared = src_at > dst_at ? src_at - dst_at : dst_at - src_at;
    const int apart = shared >= WINDOW;

    fill_pattern(image, 3 * WINDOW, src_at);
    if (!apart) {
        memcpy(image + 2 * WINDOW, image + WINDOW, WINDOW);
    }
    for (int i = 0; i < (apart ? 3 : 2); i++) {
        big_pool_write(pool, starts[i], image + i * WINDOW, WINDOW);
    }
    src.offset = src_at;
    dst.offset = dst_at;
    src.size = dst.size = size;
    moving_status(device,
                  clmove_enqueue_move(engine, &src, &dst, size, &options,
                                      device->queue, 0, NULL, NULL),
                  CLMOVE_SUCCESS);
    assert_int_equal(clFinish(device->queue), CL_SUCCESS);
    if (apart) {
        memcpy(image + 2 * WINDOW + 64, image + WINDOW + 64, size);
    } else {
        assert_true(ref_move(image + WINDOW + 64 + dst_at - src_at,
                             image + WINDOW + 64, size));
    }
    for (int i = 0; i < (apart ? 3 : 2); i++) {
        big_pool_read(pool, starts[i], actual + i * WINDOW, WINDOW);
        assert_memory_equal(actual + i * WINDOW, image + i * WINDOW, WINDOW);
    }
    test_free(image);
    test_free(actual);
}

static void test_past_4_gib(void **state)
{
    struct test_device *device = *state;
    const size_t past = ((size_t)1 << 32) + 4096;
    struct clmove_engine *engine;
    struct big_pool pool;

    if (!big_pool_open(&pool, device, past + 65536)) {
        runner_skip("no way to a pool of 4.3 GB on this device");
        return;
    }
    engine = small_engine(device, 1);
    for (uint32_t v = 0; v < 6; v++) {
        check_far(&pool, engine, 8192, past, 3000, v);
        check_far(&pool, engine, past + 5, 8192 + 1, 3000, v);
        if (v == CLMOVE_VARIANT_DRIVER || v == CLMOVE_VARIANT_DISJOINT) {
            continue;
        }
        check_far(&pool, engine, past, past + 16, 3000, v);
        check_far(&pool, engine, past + 3, past, 3000, v);
        check_far(&pool, engine, past, past + 500, 3000, v);
    }
    clmove_engine_destroy(&engine);
    big_pool_close(&pool);
}

/* Sizes that a published paged-attention copy kernel is tested with, at its
 * offsets; a tile of it is ours of 16 times as many bytes. */
static void test_tiled_copies(void **state)
{
    static const size_t sizes[] = {0,  1,  7,    8,         15,
                                   16, 17, 1024, 80 * 1024, 4 << 20};
    static const size_t offsets[] = {0, 1, 3, 5, 7};
    static const uint32_t tiles[] = {1, 2, 4, 8, 16};
    enum { GUARD = 64 };
    struct test_device *device = *state;
    size_t cases = 0;

    for (size_t t = 0; t < 5; t++) {
        /* The largest would be cut into 262144 tiles. */
        const struct moving_shape shape = {.tile_size = tiles[t] * 16,
                                           .gpu_text = (int)(t % 2)};
        struct clmove_engine *engine = moving_engine(device, &shape);
        for (size_t s = 0; s < 10; s++) {
            struct moving one, other;
            moving_open(&one, device, MOVING_BUFFER, sizes[s] + 7 + 2 * GUARD);
            moving_open(&other, device, MOVING_BUFFER,
                        sizes[s] + 7 + 2 * GUARD);
            moving_fill(&one, s);
            for (size_t i = 0; i < 25; i++, cases++) {
                const struct moving_move move = {&one,
                                                 &other,
                                                 GUARD + offsets[i / 5],
                                                 GUARD + offsets[i % 5],
                                                 sizes[s],
                                                 CLMOVE_VARIANT_DISJOINT};
                /* The largest once an offset: filling them takes its time. */
                if (sizes[s] < (1 << 20) || i % 5 == 0) {
                    moving_fill(&other, cases + 50);
                }
                moving_move(engine, &move);
                assert_true(moving_check(&other, __func__, "destination"));
            }
            assert_true(moving_check(&one, __func__, "source"));
            moving_close(&one);
            moving_close(&other);
        }
        clmove_engine_destroy(&engine);
    }
    assert_int_equal(cases, 1250);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_svm_pointers),
        cmocka_unit_test(test_sub_buffers),
        cmocka_unit_test(test_given_scratch),
        cmocka_unit_test(test_scratch_bound),
        cmocka_unit_test(test_megabytes),
        cmocka_unit_test(test_past_4_gib),
        cmocka_unit_test(test_tiled_copies),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
