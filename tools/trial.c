/* States that a benchmark copies: a pool, and batches that do it in two ways.
 */

#include "trial.h"

#include <stdlib.h>
#include <string.h>

enum {
    TOKENS_PER_BLOCK = 1088,
    DESTINATION = 1, /* column */
    COLUMNS = 8,
    SCATTER = 7919 /* a prime: neighbours in the table are none in the pool */
};
#define FILL_SEED UINT64_C(0x57a7e5)

size_t trial_page_count(const struct trial_pool *pool)
{
    const struct pool_shape *shape = &pool->pool.shape;
    return (size_t)shape->layers * shape->block_count;
}

bool trial_fill(const struct trial_pool *pool)
{
    const struct pool *states = &pool->pool;
    for (uint32_t i = 0; i < states->shape.buffer_count; i++) {
        if (!kernels_fill(&pool->kernels, states->buffers[i],
                          pool_buffer_size(&states->shape, i), FILL_SEED + i))
            return false;
    }
    return true;
}

/* What the checks compare with. */
static bool prepare_sums(struct trial_pool *pool)
{
    pool->filled = calloc(trial_page_count(pool), sizeof *pool->filled);
    if (!pool->filled)
        cli_error("out of memory");
    return pool->filled && trial_fill(pool) &&
           kernels_checksum_all(&pool->kernels, pool->session, &pool->pool,
                                pool->filled);
}

enum cli_exit trial_pool_open(struct trial_pool *pool,
                              const struct session *session,
                              struct pool_request *request, uint32_t requests,
                              uint64_t rotation)
{
    struct pool_shape shape;
    memset(pool, 0, sizeof *pool);
    pool->session = session;
    pool->requests = requests;
    pool->rotation = rotation;
    request->draft_tokens = TRIAL_DRAFTS;
    request->block_count = requests * TRIAL_REQUEST_BLOCKS + 1;
    if (!pool_plan(&shape, request, &session->device))
        return CLI_BAD_INPUT;
    if (!pool_create(&pool->pool, &shape, session) ||
        !kernels_create(&pool->kernels, session) ||
        !kernels_bind(&pool->kernels, session, &pool->pool, COLUMNS,
                      requests) ||
        !baseline_create(&pool->baseline, session, &pool->pool))
        return CLI_OPENCL_FAILED;
    pool->layout = pool_layout(&pool->pool, session->engine, TRIAL_DRAFTS);
    return pool->layout && prepare_sums(pool) ? CLI_GO_ON : CLI_OPENCL_FAILED;
}

void trial_pool_close(struct trial_pool *pool)
{
    clmove_ssm_layout_destroy(&pool->layout);
    baseline_destroy(&pool->baseline);
    free(pool->filled);
    kernels_destroy(&pool->kernels);
    pool_destroy(&pool->pool);
    memset(pool, 0, sizeof *pool);
}

/* The running column of every row. */
static int32_t source_column(const struct trial_case *what)
{
    return what->same ? DESTINATION : DESTINATION + 1;
}

/* Accepted tokens of every row before the step: `bias` tokens behind those that
 * are certain. */
static int32_t accepted_before(const struct trial_case *what)
{
    return (int32_t)what->bias + 1;
}

/* Accepted after it: see docs/semantics.md. */
int32_t trial_accepted(const struct trial_case *what)
{
    return what->crosses && what->same ? 1 : accepted_before(what);
}

/* Tokens after acceptance: a boundary, or well behind one. */
static int32_t tokens_now(const struct trial_case *what)
{
    return (DESTINATION + 1) * TOKENS_PER_BLOCK + (what->crosses ? 0 : 100);
}

uint64_t trial_bytes(const struct trial *trial)
{
    const struct pool_shape *shape = &trial->pool->pool.shape;
    const struct trial_case *what = &trial->what;
    if (!what->crosses)
        return 0;
    uint64_t tokens = what->bias < shape->width ? shape->width - what->bias : 0;
    return (tokens * shape->token_size + shape->temporal_size) * shape->layers *
           what->rows;
}

/* As many sets as the pool holds and the caches want. An odd number: both sides
 * then visit all of them. */
static uint32_t choose_sets(const struct trial *trial)
{
    uint32_t room = trial->pool->requests / trial->what.rows;
    uint64_t bytes = trial_bytes(trial) * 2;
    uint32_t sets = 1;
    while (bytes && sets + 2 <= room && sets + 2 <= TRIAL_SETS &&
           bytes * sets < trial->pool->rotation)
        sets += 2;
    return sets;
}

/* Arrays of a batch at most, beside its tables. */
enum { ARRAYS_MAX = 8 };

/* All tables and arrays lie in one buffer, as in an engine that wants its calls
 * to be cheap: see clmove_ssm_step_create. */
static bool make_room(struct trial *trial)
{
    const struct session *session = trial->pool->session;
    const size_t align = session->device.base_align_bits / 8;
    const size_t most = (size_t)trial->what.rows * COLUMNS * sizeof(int32_t);
    trial->room = (most + align - 1) / align * align;
    trial->numbers = session_buffer(
        session, trial->room * (trial->sets + ARRAYS_MAX), "tables and arrays");
    return trial->numbers != NULL;
}

/* A part of that buffer, as a sub-buffer: the baseline takes no offsets. */
static cl_mem upload(struct trial *trial, const void *data, size_t size)
{
    cl_buffer_region region = {trial->room * trial->arrays++, size};
    cl_int code = CL_SUCCESS;
    cl_mem array =
        clCreateSubBuffer(trial->numbers, CL_MEM_READ_WRITE,
                          CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    if (session_failed(code, "clCreateSubBuffer"))
        return NULL;
    code = clEnqueueWriteBuffer(trial->pool->session->queue, array, CL_TRUE, 0,
                                size, data, 0, NULL, NULL);
    if (session_failed(code, "clEnqueueWriteBuffer"))
        session_release(&array);
    return array;
}

/* The same bytes within the whole buffer; absent for NULL. */
static struct clmove_memory part_of(const struct trial *trial, cl_mem array)
{
    size_t offset = 0, size = 0;
    if (array) {
        clGetMemObjectInfo(array, CL_MEM_OFFSET, sizeof offset, &offset, NULL);
        clGetMemObjectInfo(array, CL_MEM_SIZE, sizeof size, &size, NULL);
    }
    return session_memory(array ? trial->numbers : NULL, offset, size);
}

static cl_mem same_numbers(struct trial *trial, int32_t value)
{
    uint32_t rows = trial->what.rows;
    int32_t *values = calloc(rows, sizeof *values);
    if (!values) {
        cli_error("out of memory");
        return NULL;
    }
    for (uint32_t i = 0; i < rows; i++)
        values[i] = value;
    cl_mem buffer = upload(trial, values, rows * sizeof *values);
    free(values);
    return buffer;
}

/* Rows name slots from the last one down. */
static cl_mem slots_reversed(struct trial *trial)
{
    uint32_t rows = trial->what.rows;
    int32_t *slots = calloc(rows, sizeof *slots);
    if (!slots) {
        cli_error("out of memory");
        return NULL;
    }
    for (uint32_t i = 0; i < rows; i++)
        slots[i] = (int32_t)(rows - 1 - i);
    cl_mem buffer = upload(trial, slots, rows * sizeof *slots);
    free(slots);
    return buffer;
}

static bool make_numbers(struct trial *trial)
{
    const struct trial_case *what = &trial->what;
    int32_t now = tokens_now(what);
    trial->accepted_in = same_numbers(trial, accepted_before(what));
    trial->accepted_out = same_numbers(trial, TRIAL_NO_COUNT);
    trial->column_in = same_numbers(trial, source_column(what));
    if (!trial->accepted_in || !trial->accepted_out || !trial->column_in)
        return false;
    if (what->by_slot) {
        trial->slot_of = slots_reversed(trial);
        trial->now_computed = same_numbers(trial, now);
        return trial->slot_of && trial->now_computed;
    }
    /* One token and the drafts were scheduled. */
    trial->computed = same_numbers(trial, now - (int32_t)what->bias - 1);
    trial->scheduled = same_numbers(trial, TRIAL_DRAFTS + 1);
    trial->draft = same_numbers(trial, TRIAL_DRAFTS);
    return trial->computed && trial->scheduled && trial->draft;
}

/* Block of a request, among all requests of all sets. */
static int32_t block_of(const struct trial_pool *pool, uint64_t request,
                        uint64_t which)
{
    uint64_t count = (uint64_t)pool->requests * TRIAL_REQUEST_BLOCKS;
    uint64_t place = request * TRIAL_REQUEST_BLOCKS + which;
    return (int32_t)(1 + place * SCATTER % count);
}

static bool make_table(struct trial *trial, uint32_t set)
{
    const struct trial_case *what = &trial->what;
    size_t count = (size_t)what->rows * COLUMNS;
    int32_t *table = calloc(count, sizeof *table);
    if (!table) {
        cli_error("out of memory");
        return false;
    }
    int32_t source = source_column(what);
    for (uint32_t row = 0; row < what->rows; row++) {
        uint64_t request = (uint64_t)set * what->rows + row;
        int32_t *entries = table + (size_t)row * COLUMNS;
        entries[source] = block_of(trial->pool, request, 1);
        entries[source + (int32_t)what->bias] =
            block_of(trial->pool, request, 2);
        entries[DESTINATION] = block_of(trial->pool, request, 0);
    }
    trial->tables[set] = upload(trial, table, count * sizeof *table);
    free(table);
    return trial->tables[set] != NULL;
}

static bool make_clmove(struct trial *trial, uint32_t set)
{
    struct clmove_ssm_table table;
    struct clmove_ssm_step_params params;
    memset(&table, 0, sizeof table);
    memset(&params, 0, sizeof params);
    table.entries = part_of(trial, trial->tables[set]);
    table.columns = COLUMNS;
    params.tokens_per_block = TOKENS_PER_BLOCK;
    params.max_rows = trial->what.rows;
    params.tables = &table;
    params.slot_of = part_of(trial, trial->slot_of);
    params.computed = part_of(trial, trial->computed);
    params.scheduled = part_of(trial, trial->scheduled);
    params.draft = part_of(trial, trial->draft);
    params.now_computed = part_of(trial, trial->now_computed);
    params.accepted_in = part_of(trial, trial->accepted_in);
    params.accepted_out = part_of(trial, trial->accepted_out);
    params.column_in = part_of(trial, trial->column_in);
    clmove_status status = clmove_ssm_step_create(trial->pool->layout, &params,
                                                  &trial->steps[set]);
    return !session_failed(status, "clmove_ssm_step_create");
}

static bool make_baseline(struct trial *trial, uint32_t set)
{
    struct baseline_numbers numbers;
    memset(&numbers, 0, sizeof numbers);
    numbers.columns = COLUMNS;
    numbers.slots = trial->what.rows;
    numbers.tokens_per_block = TOKENS_PER_BLOCK;
    numbers.table = trial->tables[set];
    numbers.slot_of = trial->slot_of;
    numbers.computed = trial->computed;
    numbers.scheduled = trial->scheduled;
    numbers.draft = trial->draft;
    numbers.now_computed = trial->now_computed;
    numbers.accepted_in = trial->accepted_in;
    numbers.accepted_out = trial->accepted_out;
    numbers.column_in = trial->column_in;
    return baseline_step_create(&trial->base[set], &trial->pool->baseline,
                                &numbers);
}

bool trial_open(struct trial *trial, const struct trial_pool *pool,
                const struct trial_case *what)
{
    memset(trial, 0, sizeof *trial);
    trial->pool = pool;
    trial->what = *what;
    trial->sets = choose_sets(trial);
    bool fine = make_room(trial) && make_numbers(trial);
    for (uint32_t set = 0; fine && set < trial->sets; set++)
        fine = make_table(trial, set) && make_clmove(trial, set) &&
               make_baseline(trial, set);
    return fine;
}

void trial_close(struct trial *trial)
{
    clFinish(trial->pool->session->queue);
    for (uint32_t set = 0; set < trial->sets; set++) {
        clmove_ssm_step_destroy(&trial->steps[set]);
        baseline_step_destroy(&trial->base[set]);
        session_release(&trial->tables[set]);
    }
    session_release(&trial->slot_of);
    session_release(&trial->computed);
    session_release(&trial->scheduled);
    session_release(&trial->draft);
    session_release(&trial->now_computed);
    session_release(&trial->accepted_in);
    session_release(&trial->accepted_out);
    session_release(&trial->column_in);
    session_release(&trial->numbers);
    memset(trial, 0, sizeof *trial);
}

bool trial_enqueue_clmove(void *context, cl_command_queue queue, uint32_t turn,
                          cl_event *event)
{
    const struct trial *trial = context;
    clmove_status status =
        clmove_enqueue_ssm_post(trial->steps[turn % trial->sets],
                                trial->what.rows, queue, 0, NULL, event);
    return !session_failed(status, "clmove_enqueue_ssm_post");
}

bool trial_enqueue_baseline(void *context, cl_command_queue queue,
                            uint32_t turn, cl_event *event)
{
    const struct trial *trial = context;
    return baseline_step_enqueue(&trial->base[turn % trial->sets],
                                 trial->what.rows, queue, event);
}

/* Disjoint halves of a set's part of the pool's first buffer. */
bool trial_enqueue_copy(void *context, cl_command_queue queue, uint32_t turn,
                        cl_event *event)
{
    const struct trial *trial = context;
    const struct pool *pool = &trial->pool->pool;
    size_t bytes = (size_t)trial_bytes(trial);
    size_t part =
        (size_t)(pool_buffer_size(&pool->shape, 0) / trial->sets / 512 * 512);
    size_t at = turn % trial->sets * part;
    cl_int code = clEnqueueCopyBuffer(queue, pool->buffers[0], pool->buffers[0],
                                      at, at + part / 2, bytes, 0, NULL, event);
    return !session_failed(code, "clEnqueueCopyBuffer");
}
