/* What is kept of copies and clears by block id, and what must not be: lists
 * of all lengths in turns, sources in turns, threads. */

#include "copying.h"
#include "runner.h"
#include "testing.h"

#include <pthread.h>
#include <string.h>

/* A window and a temporal state in one group, one layout. */
static struct copying *open_pool(struct test_device *device, const char *test,
                                 const char *detail, uint32_t blocks)
{
    struct copying *copying = copying_new(test, detail);
    const uint32_t pool = scene_add_pool(&copying->scene, SCENE_BUFFER);

    scene_add_group(&copying->scene, 1);
    scene_add_conv(&copying->scene, pool, REF_CONV_SD, blocks, 5, 6, 2);
    scene_add_temporal(&copying->scene, pool, blocks, 77);
    copying_open_one(copying, device, device->engine);
    return copying;
}

/* A list that goes along with the call, then one that gets a buffer, and the
 * lengths between which that changes. */
static void test_lengths(void **state)
{
    enum { BLOCKS = 160 };
    static const size_t counts[] = {1,  12, 13, 2,  80, 12,
                                    33, 0,  16, 17, 32, 31};
    struct test_device *device = *state;
    struct copying *copying =
        open_pool(device, __func__, "lists in turns", BLOCKS);
    struct clmove_ssm_copy copies[BLOCKS];
    int32_t blocks[BLOCKS];

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        for (size_t j = 0; j < counts[i]; j++) {
            const int32_t from = (int32_t)((j + 7 * i) % (BLOCKS / 2));
            copies[j] = (struct clmove_ssm_copy){
                0, (uint32_t)(i + j) % 3, from, (int32_t)j,
                BLOCKS / 2 + (int32_t)((j * 3 + i) % (BLOCKS / 2))};
            blocks[j] = (int32_t)((j * 7 + i) % BLOCKS);
        }
        copying_copy(copying, copies, counts[i]);
        copying_compare(copying);
        copying_zero(copying, 0, blocks, counts[i]);
        copying_compare(copying);
    }
    copying_close(copying);
}

/* Copies from a pool into another one, by device and reference. */
static void copy_across(const struct copying *from, const struct copying *to,
                        int32_t source, int32_t destination)
{
    struct copying both = *to;

    both.from = from->from;
    both.from_states = from->from_states;
    copying_copy(&both, COPIES({0, 0, source, source, destination}));
}

/* Several layouts are the source of one, in turns; some are gone before the
 * next is made, perhaps at the same address. */
static void test_sources(void **state)
{
    enum { BLOCKS = 9 };
    struct test_device *device = *state;
    struct copying *pool = open_pool(device, __func__, "the pool", BLOCKS);
    struct copying *first = open_pool(device, __func__, "first", BLOCKS);

    for (int32_t i = 0; i < 4; i++) {
        struct copying *next = open_pool(device, __func__, "next", BLOCKS + 1);
        copy_across(first, pool, i + 1, 2 * i + 1);
        copy_across(next, pool, i, 2 * i);
        copy_across(pool, pool, 2 * i + 1, 8);
        copy_across(pool, next, 8, 9);
        copying_compare(next);
        copying_compare(pool);
        copying_close(next);
    }
    copying_close(first);
    copy_across(pool, pool, 0, 3);
    copying_compare(pool);
    copying_close(pool);
}

/* A thread's share: blocks of its own in one layout. */
struct worker {
    pthread_t thread;
    const struct copying *copying;
    cl_command_queue queue;
    int32_t first; /* block */
    clmove_status status;
};

enum { THREADS = 4, CALLS = 300, ENTRIES = 14, SHARE = 2 * ENTRIES };

static size_t worker_list(const struct worker *worker, size_t call,
                          struct clmove_ssm_copy copies[ENTRIES])
{
    const size_t count = 1 + (call + (size_t)worker->first) % ENTRIES;

    for (size_t i = 0; i < count; i++) {
        const int32_t from = worker->first + (int32_t)((i + call) % ENTRIES);
        copies[i] = (struct clmove_ssm_copy){
            0, 0, from, from, worker->first + ENTRIES + (int32_t)i};
    }
    return count;
}

/* Calls alone: cmocka's assertions belong to the main thread. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    struct clmove_ssm_layout *layout = worker->copying->to;

    for (size_t i = 0; i < CALLS; i++) {
        struct clmove_ssm_copy copies[ENTRIES];
        const int32_t cleared = worker->first + (int32_t)(i % ENTRIES);
        const size_t count = worker_list(worker, i, copies);
        worker->status |= clmove_enqueue_ssm_copy(layout, layout, copies, count,
                                                  worker->queue, 0, NULL, NULL);
        if (i % 10 == 9) {
            worker->status |= clmove_enqueue_ssm_zero(
                layout, 0, &cleared, 1, worker->queue, 0, NULL, NULL);
        }
    }
    worker->status |= clFinish(worker->queue);
    return NULL;
}

static void expect_work(const struct worker *worker)
{
    const struct copying *copying = worker->copying;

    for (size_t i = 0; i < CALLS; i++) {
        struct clmove_ssm_copy copies[ENTRIES];
        const int32_t cleared = worker->first + (int32_t)(i % ENTRIES);
        const size_t count = worker_list(worker, i, copies);
        for (size_t j = 0; j < count; j++) {
            const struct ref_block_copy copy = {0, 0, copies[j].conv_from,
                                                copies[j].temporal_from,
                                                copies[j].to};
            ref_copy_blocks(copying->from_states, copying->to_states,
                            copying->state_count, &copy, 1);
        }
        if (i % 10 == 9) {
            ref_zero_blocks(copying->to_states, copying->state_count, 0,
                            &cleared, 1);
        }
    }
}

/* Lists must not be mixed up: there is one kernel object for all threads. */
static void test_threads(void **state)
{
    struct test_device *device = *state;
    struct copying *copying =
        open_pool(device, __func__, "4 threads", THREADS * SHARE);
    struct worker workers[THREADS];
    cl_int error = CL_SUCCESS;

    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.copying = copying, .first = i * SHARE};
        workers[i].queue = clCreateCommandQueue(device->context,
                                                device->info.device, 0, &error);
        assert_int_equal(error, CL_SUCCESS);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(
            pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].status, CLMOVE_SUCCESS);
        clReleaseCommandQueue(workers[i].queue);
        expect_work(&workers[i]);
    }
    copying_compare(copying);
    copying_close(copying);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_threads),
    };
    return RUNNER_DEVICE_TESTS(argc, argv, tests);
}
