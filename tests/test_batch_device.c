/* Batches whose entries lie in device memory. */

#include "compare.h"
#include "edit.h"
#include "moving.h"
#include "runner.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists of a batch, on both sides: each in an allocation with guards, from
 * `lead` entries on. */
enum { LEAD = 3, TAIL = 5 };

struct lists {
    struct test_device *device;
    size_t count;
    struct moving src, dst, sizes, faults;
    int int32, has_faults;
    int64_t *wide_sizes; /* for the reference */
};

static int64_t *src_list(struct lists *lists)
{
    return (int64_t *)(void *)lists->src.expected + LEAD;
}

static int64_t *dst_list(struct lists *lists)
{
    return (int64_t *)(void *)lists->dst.expected + LEAD;
}

static void open_lists(struct lists *lists, struct test_device *device,
                       enum moving_kind kind, size_t count, int int32)
{
    const size_t places = count + LEAD + TAIL;

    *lists = (struct lists){
        .device = device, .count = count, .int32 = int32, .has_faults = 1};
    moving_open(&lists->src, device, kind, places * 8);
    moving_open(&lists->dst, device, kind, places * 8);
    moving_open(&lists->sizes, device, kind, places * (int32 ? 4 : 8));
    moving_open(&lists->faults, device, kind, places * 4);
    /* What lies before and behind looks like work, or like a fault. */
    fill_pattern(lists->src.expected, lists->src.size, 1);
    fill_pattern(lists->dst.expected, lists->dst.size, 2);
    memset(lists->sizes.expected, 1, lists->sizes.size);
    memset(lists->faults.expected, 0x77, lists->faults.size);
    lists->wide_sizes = test_calloc(count + 1, sizeof(int64_t));
}

static void close_lists(struct lists *lists)
{
    moving_close(&lists->src);
    moving_close(&lists->dst);
    moving_close(&lists->sizes);
    moving_close(&lists->faults);
    test_free(lists->wide_sizes);
}

static void set_entry(struct lists *lists, size_t i, int64_t src, int64_t dst,
                      int64_t size)
{
    src_list(lists)[i] = src;
    dst_list(lists)[i] = dst;
    lists->wide_sizes[i] = size;
    if (lists->int32) {
        ((int32_t *)(void *)lists->sizes.expected)[LEAD + i] = (int32_t)size;
    } else {
        ((int64_t *)(void *)lists->sizes.expected)[LEAD + i] = size;
    }
}

static struct clmove_memory list_memory(const struct moving *moving,
                                        size_t entry_size)
{
    return moving_memory(moving, LEAD * entry_size);
}

/* The bases: one memory or two, from an offset on. */
struct bases {
    struct moving *src, *dst;
    size_t src_offset, dst_offset, src_size, dst_size;
};

static struct clmove_device_batch describe(const struct lists *lists,
                                           const struct bases *bases)
{
    struct clmove_device_batch params = {
        .src_base = moving_memory(bases->src, bases->src_offset),
        .dst_base = moving_memory(bases->dst, bases->dst_offset),
        .src_offsets = list_memory(&lists->src, 8),
        .dst_offsets = list_memory(&lists->dst, 8),
        .sizes = list_memory(&lists->sizes, lists->int32 ? 4 : 8),
        .sizes_are_int32 = (uint32_t)lists->int32,
        .count = lists->count,
    };

    params.src_base.size = bases->src_size;
    params.dst_base.size = bases->dst_size;
    if (lists->has_faults) {
        params.faults = list_memory(&lists->faults, 4);
    }
    return params;
}

static void expect(struct lists *lists, const struct bases *bases)
{
    const struct ref_device_batch batch = {
        .src_base = bases->src->expected + bases->src_offset,
        .dst_base = bases->dst->expected + bases->dst_offset,
        .src_size = bases->src_size,
        .dst_size = bases->dst_size,
        .src_offsets = src_list(lists),
        .dst_offsets = dst_list(lists),
        .sizes = lists->wide_sizes,
        .faults = lists->has_faults
                      ? (int32_t *)(void *)lists->faults.expected + LEAD
                      : NULL,
        .count = lists->count,
    };

    assert_true(ref_batch_device(&batch));
}

/* Loads, enqueues, compares bases and lists, guards included. */
static void check(struct clmove_engine *engine, struct lists *lists,
                  const struct bases *bases, const char *test,
                  const char *detail)
{
    struct test_device *device = lists->device;
    const struct clmove_device_batch params = describe(lists, bases);

    if (!runner_wants_case(detail)) {
        return;
    }
    moving_load(&lists->src, lists->src.expected);
    moving_load(&lists->dst, lists->dst.expected);
    moving_load(&lists->sizes, lists->sizes.expected);
    moving_load(&lists->faults, lists->faults.expected);
    moving_fill(bases->src, 11);
    if (bases->dst != bases->src) {
        moving_fill(bases->dst, 12);
    }
    moving_status(device,
                  clmove_enqueue_batch_device(engine, &params, device->queue, 0,
                                              NULL, NULL),
                  CLMOVE_SUCCESS);
    expect(lists, bases);
    assert_true(moving_check(bases->src, test, detail));
    assert_true(moving_check(bases->dst, test, detail));
    assert_true(moving_check(&lists->faults, test, detail));
    assert_true(moving_check(&lists->src, test, detail));
    assert_true(moving_check(&lists->dst, test, detail));
    assert_true(moving_check(&lists->sizes, test, detail));
}

/* The last but one has several groups for each of more than 16 slices. */
static const struct moving_shape shapes[] = {
    {0, 0, 0, 0}, {0, 3, 0, 1}, {64, 0, 0, 1}, {0, 70, 0, 0}, {3, 1, 0, 1}};

/* Entries side by side in slots, each overlapping itself left or right, or onto
 * itself, or skipped in one of several ways. */
static void fill_slots(struct lists *lists, size_t slot, size_t base_size,
                       uint64_t seed)
{
    for (size_t i = 0; i < lists->count; i++) {
        const int64_t at = (int64_t)(i * slot);
        const int64_t shift = random_below(&seed, (uint32_t)slot / 2 + 1);
        const int64_t size =
            random_below(&seed, (uint32_t)((int64_t)slot - shift) + 1);
        switch (random_below(&seed, 12)) {
        case 0:
            set_entry(lists, i, -1, at, size);
            break;
        case 1:
            set_entry(lists, i, at, -1, size);
            break;
        case 2:
            set_entry(lists, i, at, at + shift, 0);
            break;
        case 3: /* one byte past the source's end, or the destination's */
            set_entry(lists, i, (int64_t)base_size - size + 1, at,
                      size ? size : 1);
            break;
        case 4:
            set_entry(lists, i, at, (int64_t)base_size, size ? size : 1);
            break;
        case 5:
            set_entry(lists, i, at, at, -size);
            break;
        case 6:
            set_entry(lists, i, at, at, size);
            break;
        case 7:
        case 8:
            set_entry(lists, i, at + shift, at, size);
            break;
        default:
            set_entry(lists, i, at, at + shift, size);
        }
    }
}

/* Numbers of entries around a slice's 256, and above 16 slices. */
static void test_counts(void **state)
{
    static const size_t counts[] = {0, 1, 2, 255, 256, 257, 4096, 4097, 5000};
    enum { SLOT = 53 };
    struct test_device *device = *state;
    char detail[96];

    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
        struct clmove_engine *engine = moving_engine(device, &shapes[s]);
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            for (int flags = 0; flags < 4; flags++) {
                struct moving memory;
                struct lists lists;
                const size_t size = counts[c] * SLOT + 1;
                struct bases bases = {&memory, &memory, 7, 7, size, size};
                moving_open(&memory, device, MOVING_BUFFER, size + 20);
                open_lists(&lists, device, MOVING_BUFFER, counts[c], flags & 1);
                lists.has_faults = (flags & 2) == 0;
                fill_slots(&lists, SLOT, size, counts[c]);
                snprintf(detail, sizeof(detail),
                         "%zu entries, int32 %d, faults %d, shape %zu",
                         counts[c], lists.int32, lists.has_faults, s);
                check(engine, &lists, &bases, __func__, detail);
                close_lists(&lists);
                moving_close(&memory);
            }
        }
        clmove_engine_destroy(&engine);
    }
}

/* Every way to lie outside a base; beside them, entries that just fit. */
static void test_bounds(void **state)
{
    enum { SIZE = 1000 };
    static const int64_t entries[][3] = {
        {0, 0, SIZE},
        {0, 0, SIZE + 1},
        {1, 0, SIZE},
        {0, 1, SIZE},
        {999, 0, 1},
        {1000, 0, 1},
        {1000, 1000, 0},
        {-2, 0, 1},
        {0, -2, 1},
        {-1, 0, 1},
        {0, -1, 1},
        {-1, 0, -5},
        {0, 0, -1},
        {0, 0, INT64_MIN},
        {0, 0, INT64_MAX},
        {INT64_MAX, 0, 1},
        {0, INT64_MAX, 1},
        {INT64_MIN, 0, 1},
        {0, INT64_MIN, 1},
        {INT64_MAX, 0, INT64_MAX},
        {-1000, 0, 1000},
        {5, 3, 0},
        {INT64_MIN, INT64_MIN, 0},
        {500, 0, 500},
        {501, 0, 500},
        {0, 500, 500},
        {0, 501, 500},
    };
    struct test_device *device = *state;
    struct moving src, dst;
    char detail[64];

    moving_open(&src, device, MOVING_BUFFER, SIZE + 30);
    moving_open(&dst, device, MOVING_BUFFER, SIZE + 30);
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        for (int int32 = 0; int32 < 2; int32++) {
            struct lists lists;
            /* the destination's base begins, and ends, elsewhere */
            const struct bases bases = {&src, &dst, 10, 15, SIZE, SIZE};
            if (int32 &&
                (entries[i][2] < INT32_MIN || entries[i][2] > INT32_MAX)) {
                continue;
            }
            open_lists(&lists, device, MOVING_BUFFER, 1, int32);
            set_entry(&lists, 0, entries[i][0], entries[i][1], entries[i][2]);
            snprintf(detail, sizeof(detail), "entry %zu, int32 %d", i, int32);
            check(device->engine, &lists, &bases, __func__, detail);
            close_lists(&lists);
        }
    }
    moving_close(&src);
    moving_close(&dst);
}

/* Entries that overlap themselves in more than one piece, each of 4 KiB here
 * and of 1 GiB in the real text. */
static void test_pieces(void **state)
{
    enum { COUNT = 6, SLOT = 50000 };
    const struct text_edit edits[] = {moving_gpu_edit,
                                      {"move.cl",
                                       "#define WHOLE_PIECE (1ul << 30)",
                                       "#define WHOLE_PIECE (1ul << 12)", 1}};
    const size_t size = (size_t)COUNT * SLOT;
    struct test_device *device = *state;
    struct edited_folder folder;
    struct clmove_engine *engine;
    struct moving memory;
    struct lists lists;
    const struct bases bases = {&memory, &memory, 0, 0, size, size};

    edited_folder_open(&folder, TEST_KERNEL_PATH, edits, 2);
    engine = moving_engine_of(device, &shapes[0], folder.path);
    edited_folder_close(&folder);
    moving_open(&memory, device, MOVING_BUFFER, size);
    open_lists(&lists, device, MOVING_BUFFER, COUNT, 0);
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t shift = i < 2 ? 5 : i < 4 ? 4096 : 5000;
        const int64_t at = i * SLOT;
        set_entry(&lists, (size_t)i, i % 2 ? at : at + shift,
                  i % 2 ? at + shift : at,
                  i < 4 ? SLOT - shift : INT64_C(3) * 4096);
    }
    check(engine, &lists, &bases, __func__, "pieces");
    close_lists(&lists);
    moving_close(&memory);
    clmove_engine_destroy(&engine);
}

/* One entry of some MiB among tiny ones, of which there are few or more than 16
 * slices; it may overlap itself. */
static void test_one_huge(void **state)
{
    enum { MOST = 4200, HUGE_SIZE = 3 << 20 };
    static const struct moving_shape many_groups = {.group_count = 600};
    struct test_device *device = *state;
    struct clmove_engine *engine = moving_engine(device, &many_groups);
    char detail[64];

    for (int i = 0; i < 6; i++) {
        const int kind = i % 3;
        const size_t count = i < 3 ? 200 : MOST;
        struct moving memory;
        struct lists lists;
        const size_t size = 2 * HUGE_SIZE + count * 40 + 100;
        const struct bases bases = {&memory, &memory, 0, 0, size, size};
        moving_open(&memory, device, MOVING_BUFFER, size);
        open_lists(&lists, device, MOVING_BUFFER, count, 0);
        for (size_t k = 0; k < count; k++) {
            const int64_t at = (int64_t)k * 40 + 1;
            set_entry(&lists, k, at, at + 13, 1 + (int64_t)k % 20);
        }
        const int64_t huge = (int64_t)count * 40 + 5;
        set_entry(&lists, 123, kind == 1 ? huge + 17 : huge,
                  kind == 0   ? huge + HUGE_SIZE + 3
                  : kind == 1 ? huge
                              : huge + 16,
                  HUGE_SIZE);
        snprintf(detail, sizeof(detail), "kind %d, %zu entries", kind, count);
        check(engine, &lists, &bases, __func__, detail);
        close_lists(&lists);
        moving_close(&memory);
    }
    clmove_engine_destroy(&engine);
}

/* Lists and bases in every kind of memory, in pairs. */
static void test_kinds(void **state)
{
    enum { COUNT = 70, SLOT = 100 };
    struct test_device *device = *state;
    char detail[64];

    for (int kind = 0; kind < 4; kind++) {
        const enum moving_kind base_kind =
            kind & 1 ? MOVING_SVM : MOVING_BUFFER;
        const enum moving_kind list_kind =
            kind & 2 ? MOVING_SVM : MOVING_BUFFER;
        struct moving src, dst;
        struct lists lists;
        const struct bases bases = {&src, &dst,         1,
                                    2,    COUNT * SLOT, COUNT * SLOT};
        if (kind != 0 && !device_has_svm(device)) {
            continue;
        }
        moving_open(&src, device, base_kind, COUNT * SLOT + 9);
        moving_open(&dst, device, base_kind, COUNT * SLOT + 9);
        open_lists(&lists, device, list_kind, COUNT, kind == 2);
        fill_slots(&lists, SLOT, COUNT * SLOT, 5);
        snprintf(detail, sizeof(detail), "bases %d, lists %d", base_kind,
                 list_kind);
        check(device->engine, &lists, &bases, __func__, detail);
        close_lists(&lists);
        moving_close(&src);
        moving_close(&dst);
    }
}

/* Bases that are parts of one buffer, and overlap. */
static void test_overlapping_bases(void **state)
{
    enum { COUNT = 20, SLOT = 90 };
    struct test_device *device = *state;
    struct moving memory;
    struct lists lists;
    /* an entry's destination lies 30 bytes above its source */
    const struct bases bases = {&memory, &memory,      10,
                                40,      COUNT * SLOT, COUNT * SLOT};

    moving_open(&memory, device, MOVING_BUFFER, COUNT * SLOT + 80);
    open_lists(&lists, device, MOVING_BUFFER, COUNT, 0);
    for (size_t i = 0; i < COUNT; i++) {
        set_entry(&lists, i, (int64_t)i * SLOT, (int64_t)i * SLOT, 60);
    }
    check(device->engine, &lists, &bases, __func__, "30 bytes apart");
    close_lists(&lists);
    moving_close(&memory);
}

/* All of it in one buffer, and no size given: lists take what their entries
 * need, not the bytes behind them as well. */
static void test_one_buffer(void **state)
{
    enum { COUNT = 4, LIST = 64, DATA = 4 * LIST, SIZE = DATA + 200 };
    static const int64_t src[COUNT] = {0, 190, 20, 55};
    static const int64_t dst[COUNT] = {10, 150, 60, 90};
    static const int64_t sizes[COUNT] = {10, 33, 17, 5};
    struct test_device *device = *state;
    struct moving memory;
    struct clmove_device_batch params = {.count = COUNT};
    int32_t faults[COUNT];

    moving_open(&memory, device, MOVING_BUFFER, SIZE);
    fill_pattern(memory.expected, SIZE, 21);
    memcpy(memory.expected, src, sizeof(src));
    memcpy(memory.expected + LIST, dst, sizeof(dst));
    memcpy(memory.expected + 2 * LIST, sizes, sizeof(sizes));
    moving_load(&memory, memory.expected);
    params.src_offsets = moving_memory(&memory, 0);
    params.dst_offsets = moving_memory(&memory, LIST);
    params.sizes = moving_memory(&memory, 2 * LIST);
    params.faults = moving_memory(&memory, 3 * LIST);
    params.src_base = params.dst_base = moving_memory(&memory, DATA);
    moving_status(device,
                  clmove_enqueue_batch_device(device->engine, &params,
                                              device->queue, 0, NULL, NULL),
                  CLMOVE_SUCCESS);
    const struct ref_device_batch batch = {.src_base = memory.expected + DATA,
                                           .dst_base = memory.expected + DATA,
                                           .src_size = SIZE - DATA,
                                           .dst_size = SIZE - DATA,
                                           .src_offsets = src,
                                           .dst_offsets = dst,
                                           .sizes = sizes,
                                           .faults = faults,
                                           .count = COUNT};
    memcpy(faults, memory.expected + 3 * LIST, sizeof(faults));
    assert_true(ref_batch_device(&batch));
    memcpy(memory.expected + 3 * LIST, faults, sizeof(faults));
    assert_true(moving_check(&memory, __func__, "one buffer"));
    moving_close(&memory);
}

static void refused(struct test_device *device,
                    const struct clmove_device_batch *params,
                    clmove_status want, const char *first, const char *second)
{
    cl_event event = NULL;

    device_clear_messages(device);
    moving_refused(device,
                   clmove_enqueue_batch_device(device->engine, params,
                                               device->queue, 0, NULL, &event),
                   want, first);
    device_expect_message(device, second);
    assert_null(event);
}

/* One changed field; the good one returns afterwards. */
#define REFUSE(field, value, status, first, second)                            \
    do {                                                                       \
        struct clmove_device_batch bad = good;                                 \
        bad.field = (value);                                                   \
        refused(device, &bad, status, first, second);                          \
    } while (0)

static void test_refused(void **state)
{
    enum { COUNT = 10, SIZE = 400 };
    struct test_device *device = *state;
    struct moving memory, odd; /* its address, not the offset */
    struct lists lists;
    struct clmove_device_batch good;
    const cl_event nothing = NULL;
    cl_int error = CL_SUCCESS;
    const struct bases bases = {&memory, &memory, 0, 0, SIZE, SIZE};

    moving_open(&memory, device, MOVING_BUFFER, SIZE);
    moving_fill(&memory, 1);
    open_lists(&lists, device, MOVING_BUFFER, COUNT, 0);
    for (size_t i = 0; i < COUNT; i++) {
        set_entry(&lists, i, (int64_t)i * 40, (int64_t)i * 40 + 7, 20);
    }
    moving_load(&lists.src, lists.src.expected);
    moving_load(&lists.dst, lists.dst.expected);
    moving_load(&lists.sizes, lists.sizes.expected);
    good = describe(&lists, &bases);
    device_clear_messages(device);
    moving_refused(device,
                   clmove_enqueue_batch_device(device->engine, NULL,
                                               device->queue, 0, NULL, NULL),
                   CLMOVE_INVALID_ARGUMENT, "params");
    assert_int_equal(
        clmove_enqueue_batch_device(NULL, &good, device->queue, 0, NULL, NULL),
        CLMOVE_INVALID_ARGUMENT);
    moving_refused(
        device,
        clmove_enqueue_batch_device(device->engine, &good, NULL, 0, NULL, NULL),
        CLMOVE_INVALID_ARGUMENT, "queue is NULL");
    moving_refused(device,
                   clmove_enqueue_batch_device(
                       device->engine, &good, device->queue, 1, &nothing, NULL),
                   CL_INVALID_EVENT_WAIT_LIST, "wait_list[0]");
    REFUSE(count, COUNT + TAIL + 1, CLMOVE_OUT_OF_RANGE, "src_offsets", "16");
    REFUSE(count, UINT64_MAX / 8 + 2, CLMOVE_OUT_OF_RANGE, "src_offsets",
           "2305843009213693953");
    REFUSE(dst_offsets.size, COUNT * 8 - 1, CLMOVE_OUT_OF_RANGE, "dst_offsets",
           "79");
    REFUSE(sizes.size, COUNT * 8 - 1, CLMOVE_OUT_OF_RANGE, "sizes", "79");
    REFUSE(faults.size, COUNT * 4 - 1, CLMOVE_OUT_OF_RANGE, "faults", "39");
    REFUSE(src_offsets.offset, 4, CLMOVE_INVALID_ARGUMENT, "src_offsets", "8");
    REFUSE(dst_offsets.offset, 12, CLMOVE_INVALID_ARGUMENT, "dst_offsets",
           "12");
    REFUSE(sizes.offset, 4, CLMOVE_INVALID_ARGUMENT, "sizes", "8");
    REFUSE(faults.offset, 2, CLMOVE_INVALID_ARGUMENT, "faults", "4");
    moving_open(&odd, device, MOVING_HOST_POINTER, COUNT * 8);
    REFUSE(sizes, moving_memory(&odd, 0), CLMOVE_INVALID_ARGUMENT, "sizes",
           "offset 0");
    moving_close(&odd);
    REFUSE(src_base.buffer, NULL, CLMOVE_INVALID_ARGUMENT, "src_base",
           "neither");
    REFUSE(dst_base.pointer, &good, CLMOVE_INVALID_ARGUMENT, "dst_base",
           "both");
    REFUSE(src_base.size, SIZE + 1, CLMOVE_OUT_OF_RANGE, "src_base", "401");
    REFUSE(src_offsets.buffer, memory.buffer, CLMOVE_OVERLAP, "src_offsets",
           "dst_base");
    REFUSE(sizes.buffer, memory.buffer, CLMOVE_OVERLAP, "sizes", "dst_base");
    REFUSE(src_base, moving_memory(&lists.faults, 0), CLMOVE_OVERLAP, "faults",
           "src_base");
    REFUSE(faults.buffer, memory.buffer, CLMOVE_OVERLAP, "faults", "dst_base");
    REFUSE(faults.buffer, lists.sizes.buffer, CLMOVE_OVERLAP, "faults",
           "sizes");
    for (int i = 0; i < 2; i++) {
        const cl_mem one_way = clCreateBuffer(
            device->context, i ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY, SIZE,
            NULL, &error);
        assert_int_equal(error, CL_SUCCESS);
        if (i) {
            REFUSE(dst_base.buffer, one_way, CLMOVE_ACCESS_DENIED, "dst_base",
                   "READ_ONLY");
            REFUSE(faults.buffer, one_way, CLMOVE_ACCESS_DENIED, "faults",
                   "READ_ONLY");
        } else {
            REFUSE(src_base.buffer, one_way, CLMOVE_ACCESS_DENIED, "src_base",
                   "WRITE_ONLY");
            REFUSE(sizes.buffer, one_way, CLMOVE_ACCESS_DENIED, "sizes",
                   "WRITE_ONLY");
        }
        clReleaseMemObject(one_way);
    }
    assert_true(moving_check(&memory, __func__, "refused"));
    assert_true(moving_check(&lists.src, __func__, "refused"));
    close_lists(&lists);
    moving_close(&memory);
}

/* Nothing to do: the wait list counts, the event comes, nothing is looked at.
 */
static void test_no_entries(void **state)
{
    struct test_device *device = *state;
    const struct clmove_device_batch params = {0};
    cl_event event = NULL;

    moving_status(device,
                  clmove_enqueue_batch_device(device->engine, &params,
                                              device->queue, 0, NULL, &event),
                  CLMOVE_SUCCESS);
    assert_non_null(event);
    assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
    clReleaseEvent(event);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_one_huge),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_overlapping_bases),
        cmocka_unit_test(test_one_buffer),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_entries),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
