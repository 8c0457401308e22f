/* A pool of more than 4 GiB, of which only a few bytes are ever looked at. */

#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */

#include "big_pool.h"

#include "compare.h"
#include "reference.h"
#include "testing.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int big_pool_open(struct big_pool *pool, struct test_device *device,
                  size_t size)
{
    cl_int error = CL_SUCCESS;

    memset(pool, 0, sizeof(*pool));
    pool->device = device;
    pool->size = size;
    if (device->info.max_allocation >= size) {
        pool->buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE, size,
                                      NULL, &error);
        return error == CL_SUCCESS;
    }
    /* PoCL takes any pointer for an SVM one, and reads only what is used. */
    if (!device_is_cpu(device) || !device_has_svm(device)) {
        return 0;
    }
    pool->map = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool->map == MAP_FAILED) {
        pool->map = NULL;
    }
    return pool->map != NULL;
}

void big_pool_close(struct big_pool *pool)
{
    if (pool->buffer) {
        clReleaseMemObject(pool->buffer);
    }
    if (pool->map) {
        munmap(pool->map, pool->size);
    }
    memset(pool, 0, sizeof(*pool));
}

struct clmove_memory big_pool_memory(const struct big_pool *pool)
{
    struct clmove_memory memory = {0};

    memory.buffer = pool->buffer;
    memory.pointer = pool->map;
    memory.size = pool->size;
    return memory;
}

void big_pool_write(struct big_pool *pool, size_t offset, const void *bytes,
                    size_t size)
{
    if (pool->map) {
        memcpy(pool->map + offset, bytes, size);
        return;
    }
    assert_int_equal(clEnqueueWriteBuffer(pool->device->queue, pool->buffer,
                                          CL_TRUE, offset, size, bytes, 0, NULL,
                                          NULL),
                     CL_SUCCESS);
}

void big_pool_read(struct big_pool *pool, size_t offset, void *bytes,
                   size_t size)
{
    if (pool->map) {
        memcpy(bytes, pool->map + offset, size);
        return;
    }
    assert_int_equal(clEnqueueReadBuffer(pool->device->queue, pool->buffer,
                                         CL_TRUE, offset, size, bytes, 0, NULL,
                                         NULL),
                     CL_SUCCESS);
}

/* Watched: the bytes from each block's start on, and those before it. The
 * aliases lie in the first window: 4 * BIG_STRIDE is 64 modulo 2^31 and 2^32,
 * 2 * BIG_STRIDE is 32 modulo 2^31. */
enum { WINDOW = 192, BEFORE = 64, WINDOWS = BIG_BLOCKS };

static size_t window_offset(int block)
{
    size_t start = (size_t)block * (size_t)BIG_STRIDE;
    return block == 0 ? 0 : start - BEFORE;
}

static size_t block_in_window(int block)
{
    return block == 0 ? 0 : BEFORE;
}

struct shape {
    const char *name;
    int kind;
    uint32_t width, dim, element_size;
};

static const struct shape shapes[] = {
    {"DS, element 1", REF_CONV_DS, 12, 4, 1},
    {"DS, element 2", REF_CONV_DS, 6, 4, 2},
    {"DS, element 4", REF_CONV_DS, 3, 4, 4},
    {"SD, element 1", REF_CONV_SD, 4, 12, 1},
    {"SD, element 2", REF_CONV_SD, 4, 6, 2},
    {"SD, element 4", REF_CONV_SD, 4, 3, 4},
    {"temporal", REF_TEMPORAL, 0, 0, 0},
};

/* What the destination holds afterwards, by the reference. */
static void expect_copy(unsigned char windows[WINDOWS][WINDOW],
                        const struct shape *shape, int from, int to,
                        int64_t bias)
{
    unsigned char blocks[2][BIG_BLOCK_SIZE];
    const int32_t entries[2] = {1, 0};
    struct ref_table table = {entries, 2, 2};
    struct ref_state state = {
        .kind = shape->kind,
        .memory = blocks[0],
        .block_count = 2,
        .block_stride = BIG_BLOCK_SIZE,
        .row_stride = (uint64_t)shape->width * shape->element_size,
        .size = BIG_BLOCK_SIZE,
        .width = shape->width,
        .dim = shape->dim,
        .element_size = shape->element_size,
    };
    struct ref_step step = {
        .states = &state, .state_count = 1, .tables = &table};
    /* column 1 is the source, for a temporal state too */
    struct ref_decision decision = {.copy = 1, .source = 1, .bias = bias};

    if (shape->kind == REF_TEMPORAL) {
        decision.source -= bias;
    }
    memcpy(blocks[0], windows[from] + block_in_window(from), BIG_BLOCK_SIZE);
    memcpy(blocks[1], windows[to] + block_in_window(to), BIG_BLOCK_SIZE);
    /* entries: column 0 is blocks[1], column 1 is blocks[0] */
    ref_copy(&step, 0, &decision);
    memcpy(windows[to] + block_in_window(to), blocks[1], BIG_BLOCK_SIZE);
}

/* The arrays of one row, in one buffer. */
struct call_arrays {
    int32_t table[4], computed[4], scheduled[4], draft[4], accepted[4],
        accepted_out[4], column[4], slot_of[4], now[4];
};

static struct clmove_memory part(cl_mem buffer, size_t offset, size_t size)
{
    struct clmove_memory memory = {0};
    memory.buffer = buffer;
    memory.offset = offset;
    memory.size = size;
    return memory;
}

#define PART(buffer, field, count)                                             \
    part(buffer, offsetof(struct call_arrays, field), (count) * sizeof(int32_t))

static struct clmove_ssm_layout *make_layout(struct big_pool *pool,
                                             struct clmove_engine *engine,
                                             const struct shape *shape)
{
    struct clmove_ssm_state state = {
        .kind = (uint32_t)shape->kind,
        .block_count = pool->every_other ? (BIG_BLOCKS + 1) / 2 : BIG_BLOCKS,
        .width = shape->width,
        .dim = shape->dim,
        .element_size = shape->element_size,
        .memory = big_pool_memory(pool),
        .block_stride = pool->every_other ? 2 * BIG_STRIDE : BIG_STRIDE,
        .size = shape->kind == REF_TEMPORAL ? BIG_BLOCK_SIZE : 0,
    };
    struct clmove_ssm_layout_params params = {
        .states = &state, .state_count = 1, .group_count = 1};
    struct clmove_ssm_layout *layout = NULL;

    assert_int_equal(clmove_ssm_layout_create(engine, &params, &layout),
                     CLMOVE_SUCCESS);
    return layout;
}

/* V2: the one row is slot 3, and N is given. */
static void call_step(struct big_pool *pool, struct clmove_ssm_layout *layout,
                      int v2, int32_t from, int32_t to, int32_t bias)
{
    /* Column 1 to 0; a temporal state's source is column 1 + bias. */
    struct call_arrays arrays = {
        .table = {to, from, from, -1},
        .computed = {14 - bias},
        .scheduled = {4},
        .draft = {2},
        .accepted = {v2 ? 0 : bias + 1, 0, 0, bias + 1},
        .column = {1, 0, 0, 1},
        .slot_of = {3},
        .now = {0, 0, 0, 16},
    };
    struct clmove_ssm_table table = {.columns = 4};
    struct clmove_ssm_step_params params = {
        .tokens_per_block = 16, .max_rows = 1, .tables = &table};
    struct clmove_ssm_step *step = NULL;
    cl_int error = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(pool->device->context,
                                   CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                   sizeof(arrays), &arrays, &error);

    assert_int_equal(error, CL_SUCCESS);
    table.entries = PART(buffer, table, 4);
    params.slot_count = v2 ? 4 : 1;
    if (v2) {
        params.slot_of = PART(buffer, slot_of, 1);
        params.now_computed = PART(buffer, now, 4);
    } else {
        params.computed = PART(buffer, computed, 1);
        params.scheduled = PART(buffer, scheduled, 1);
        params.draft = PART(buffer, draft, 1);
    }
    params.accepted_in = PART(buffer, accepted, params.slot_count);
    params.accepted_out = PART(buffer, accepted_out, params.slot_count);
    params.column_in = PART(buffer, column, params.slot_count);
    assert_int_equal(clmove_ssm_step_create(layout, &params, &step),
                     CLMOVE_SUCCESS);
    assert_int_equal(
        clmove_enqueue_ssm_post(step, 1, pool->device->queue, 0, NULL, NULL),
        CLMOVE_SUCCESS);
    assert_int_equal(clFinish(pool->device->queue), CL_SUCCESS);
    clmove_ssm_step_destroy(&step);
    clReleaseMemObject(buffer);
}

static void call(struct big_pool *pool, struct clmove_engine *engine,
                 const struct shape *shape, enum big_pool_order order,
                 int32_t from, int32_t to, int32_t bias)
{
    struct clmove_ssm_layout *layout = make_layout(pool, engine, shape);
    const int32_t places = pool->every_other ? 2 : 1;
    const struct clmove_ssm_copy copy = {0, (uint32_t)bias, from / places,
                                         from / places, to / places};

    if (order == BIG_POOL_HOST) {
        assert_int_equal(clmove_enqueue_ssm_copy(layout, layout, &copy, 1,
                                                 pool->device->queue, 0, NULL,
                                                 NULL),
                         CLMOVE_SUCCESS);
        assert_int_equal(clFinish(pool->device->queue), CL_SUCCESS);
    } else {
        call_step(pool, layout, order == BIG_POOL_V2, from / places,
                  to / places, bias);
    }
    clmove_ssm_layout_destroy(&layout);
}

static int check_shape(struct big_pool *pool, struct clmove_engine *engine,
                       const struct shape *shape, enum big_pool_order order,
                       int32_t from, int32_t to, int32_t bias, int quiet)
{
    unsigned char before[WINDOWS][WINDOW], after[WINDOWS][WINDOW];
    char detail[96];
    struct check_case check = {.test = "big_pool_copies",
                               .detail = detail,
                               .report = quiet ? NULL : stderr};
    int right = 1;

    snprintf(detail, sizeof(detail), "%s, block %d to %d, bias %d, order %d",
             shape->name, from, to, bias, order);
    for (int i = 0; i < WINDOWS; i++) {
        fill_pattern(before[i], WINDOW, (uint64_t)i + 40);
        big_pool_write(pool, window_offset(i), before[i], WINDOW);
    }
    call(pool, engine, shape, order, from, to, bias);
    expect_copy(before, shape, from, to, bias);
    for (int i = 0; i < WINDOWS; i++) {
        char what[48];
        snprintf(what, sizeof(what), "the bytes at block %d", i);
        check.what = what;
        big_pool_read(pool, window_offset(i), after[i], WINDOW);
        right = check_bytes(&check, before[i], after[i], WINDOW) && right;
    }
    return right;
}

int big_pool_copies_in(struct big_pool *pool, struct clmove_engine *engine,
                       enum big_pool_order order, int32_t from, int32_t to,
                       int quiet)
{
    int right = 1;

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (int32_t bias = 0; bias <= 1; bias++) {
            right = check_shape(pool, engine, &shapes[i], order, from, to, bias,
                                quiet) &&
                    right;
        }
    }
    return right;
}

int big_pool_copies(struct big_pool *pool, struct clmove_engine *engine,
                    int32_t from, int32_t to, int quiet)
{
    return big_pool_copies_in(pool, engine, BIG_POOL_V1, from, to, quiet);
}
