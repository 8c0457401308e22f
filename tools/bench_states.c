/* Copies of states against the published design, an empty kernel and
 * clEnqueueCopyBuffer. */

#include "bench.h"

#include "progress.h"
#include "trial.h"

#include <string.h>

/* Of the scenario matrix: orders, layouts, blocks, batches, biases. */
enum { ORDERS = 2, LAYOUTS = 2, PLACES = 2, BATCHES = 2, BIASES = 3 };
enum {
    CASES = ORDERS * PLACES * BATCHES * BIASES, /* of a model and layout */
    ROUNDS = 15,
    ROUNDS_QUICK = 5
};
static const uint32_t batches[BATCHES] = {1, 8};

enum { CROSSINGS = 7, IDLES = 6 };
static const uint32_t crossings[CROSSINGS] = {1, 4, 8, 16, 32, 64, 128};
static const uint32_t idles[IDLES] = {1, 8, 32, 128, 512, 1024};

enum { MODELS = 2 };
static const char *const model_names[MODELS] = {"qwen3.5-9b",
                                                "nemotron-3-super-120b"};

/* How much of a model a device is given, and how many bytes pass before a batch
 * finds the same ones again. */
struct scale {
    uint32_t layers, shrink;
    uint64_t usable, rotation;
};

static struct scale choose_scale(const struct bench *bench,
                                 const struct model *model)
{
    const struct clmove_device_info *device = &bench->session->device;
    bool cpu = (device->type & CL_DEVICE_TYPE_CPU) != 0;
    struct scale scale = {model->layers, 1, device->global_size / 2, 0};
    cl_ulong cache = 0;
    clGetDeviceInfo(device->device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE,
                    sizeof cache, &cache, NULL);
    /* Some GPUs name the caches of their units alone. */
    scale.rotation = 4 * (cache > 128 << 20 ? cache : UINT64_C(128) << 20);
    if (bench->quick)
        scale.layers = model->layers / 4;
    if (cpu) {
        scale.layers = bench->quick ? 1 : 2;
        scale.usable /= 2;
        scale.rotation = (bench->quick ? UINT64_C(64) : UINT64_C(256)) << 20;
    }
    if (scale.layers == 0 || scale.layers > model->layers)
        scale.layers = model->layers;
    if (cpu && bench->quick)
        scale.shrink = 8;
    while (model->conv_dim % scale.shrink != 0 ||
           model->temporal_outer % scale.shrink != 0)
        scale.shrink /= 2;
    if (scale.usable > device->max_allocation)
        scale.usable = device->max_allocation;
    return scale;
}

static void describe_pool(struct bench *bench, const struct model *model,
                          const struct pool_shape *shape, uint32_t shrink)
{
    char temporal[32], total[32], size[40] = "";
    if (shrink > 1)
        snprintf(size, sizeof size, " (1/%u of the model's)", shrink);
    bench_table_note(
        bench->table,
        "%s: conv %s %u x %u x %u bytes, temporal %s%s, %u of %u layers, "
        "pool %s",
        model->name, shape->channels_first ? "ds" : "sd",
        shape->channels_first ? shape->dim : shape->width,
        shape->channels_first ? shape->width : shape->dim, shape->element_size,
        session_size_text(temporal, shape->temporal_size), size, shape->layers,
        model->layers, session_size_text(total, shape->total_size));
}

/* Opens a pool for `requests` at once, for fewer where the device lacks the
 * memory but not for fewer than `least`; layers are left out first. With room
 * for more than one batch if caches want it. */
static bool open_pool(struct bench *bench, struct trial_pool *pool,
                      const struct model *model, bool channels_first,
                      uint32_t *requests, uint32_t least)
{
    struct scale scale = choose_scale(bench, model);
    struct pool_request request;
    struct pool_shape shape;
    memset(pool, 0, sizeof *pool);
    memset(&request, 0, sizeof request);
    request.model = model;
    request.channels_first = channels_first;
    request.layers = 1;
    request.shrink = scale.shrink;
    request.draft_tokens = TRIAL_DRAFTS;
    request.block_count = least * TRIAL_REQUEST_BLOCKS + 1;
    bench->failure = CLI_BAD_INPUT;
    if (!pool_plan(&shape, &request, &bench->session->device))
        return false;
    uint64_t page = shape.page_size, one = page * TRIAL_REQUEST_BLOCKS;
    while (*requests > least && *requests * one + page > scale.usable)
        *requests /= 2;
    uint64_t fitting = scale.usable / (*requests * one + page);
    request.layers = fitting < scale.layers ? (uint32_t)fitting : scale.layers;
    if (request.layers == 0)
        request.layers = 1;
    uint64_t touched = *requests * page * request.layers * 2;
    uint32_t sets = 1;
    while (sets + 2 <= TRIAL_SETS && touched * sets < scale.rotation &&
           ((sets + 2) * *requests * one + page) * request.layers <=
               scale.usable)
        sets += 2;
    bench->failure = trial_pool_open(pool, bench->session, &request,
                                     *requests * sets, scale.rotation);
    if (bench->failure != CLI_GO_ON)
        return false;
    bench->failure = CLI_OPENCL_FAILED;
    describe_pool(bench, model, &pool->pool.shape, scale.shrink);
    return true;
}

/* A base that a batch is timed against. */
struct opponent {
    const char *name;
    bool moves;
    bool (*enqueue)(void *context, cl_command_queue queue, uint32_t turn,
                    cl_event *event);
};
static const struct opponent baseline = {"baseline", true,
                                         trial_enqueue_baseline};
static const struct opponent copy = {"clEnqueueCopyBuffer", true,
                                     trial_enqueue_copy};
static const struct opponent nothing = {"empty kernel", false,
                                        bench_enqueue_nothing};

/* Checks a batch, then times it against the opponents. */
static bool time_batch(struct bench *bench, const struct trial_pool *pool,
                       struct bench_name name, const struct trial_case *what,
                       const struct opponent *const *opponents)
{
    struct trial trial;
    struct session session = *bench->session;
    name.subject = "states";
    bool fine = trial_open(&trial, pool, what);
    if (fine) {
        enum cli_exit code = trial_check(&trial, name.model, name.text);
        fine = code == CLI_GO_ON;
        bench->failure = fine ? CLI_OPENCL_FAILED : code;
    }
    for (int i = 0; fine && opponents[i]; i++) {
        name.bytes = trial_bytes(&trial);
        name.base = opponents[i]->name;
        name.base_moves = opponents[i]->moves;
        struct bench_side clmove = {trial_enqueue_clmove, &trial};
        struct bench_side base = {opponents[i]->enqueue, &trial};
        if (opponents[i] == &nothing)
            base.context = &session;
        fine = bench_pair(bench, &name, clmove, base);
    }
    trial_close(&trial);
    return fine;
}

/* The scenario matrix of one model in one layout. */
static bool time_matrix(struct bench *bench, const struct model *model,
                        bool channels_first)
{
    static const struct opponent *const opponents[] = {&baseline, NULL};
    struct trial_pool pool;
    uint32_t requests = batches[BATCHES - 1];
    bool fine = true, opened = false;
    memset(&pool, 0, sizeof pool);
    bench->rounds = bench->quick ? ROUNDS_QUICK : ROUNDS;
    for (uint32_t i = 0; fine && i < CASES; i++) {
        struct trial_case what;
        what.crosses = true;
        what.by_slot = i / (PLACES * BATCHES * BIASES) == 1;
        what.same = i / (BATCHES * BIASES) % PLACES == 0;
        what.rows = batches[i / BIASES % BATCHES];
        what.bias = 1 + i % BIASES;
        struct bench_name name = {.model = model->name};
        snprintf(name.text, sizeof name.text, "%s %s %s, %u by %u",
                 what.by_slot ? "v2" : "v1", channels_first ? "ds" : "sd",
                 what.same ? "same" : "distinct", what.rows, what.bias);
        if (!bench_wants(bench, name.text)) {
            bench->rows_done++;
            continue;
        }
        fine = opened || open_pool(bench, &pool, model, channels_first,
                                   &requests, requests);
        opened = true;
        fine = fine && time_batch(bench, &pool, name, &what, opponents);
    }
    bench->rounds = 0;
    trial_pool_close(&pool);
    return fine;
}

static bool time_crossings(struct bench *bench, const struct model *model,
                           bool channels_first)
{
    static const struct opponent *const opponents[] = {&baseline, &copy, NULL};
    struct trial_pool pool;
    uint32_t requests = crossings[CROSSINGS - 1];
    bool fine = true, opened = false;
    memset(&pool, 0, sizeof pool);
    for (int i = 0; fine && i < CROSSINGS; i++) {
        struct trial_case what = {false, true, false, crossings[i], 1};
        struct bench_name name = {.model = model->name};
        snprintf(name.text, sizeof name.text, "%s, %u cross",
                 channels_first ? "ds" : "sd", what.rows);
        if (!bench_wants(bench, name.text)) {
            bench->rows_done += 2; /* as many as opponents */
            continue;
        }
        fine = opened || open_pool(bench, &pool, model, channels_first,
                                   &requests, crossings[0]);
        opened = true;
        if (!fine)
            break;
        if (what.rows <= requests) {
            fine = time_batch(bench, &pool, name, &what, opponents);
            continue;
        }
        bench_table_note(bench->table, "left out for want of memory: %s",
                         name.text);
        bench->rows_done += 2;
    }
    trial_pool_close(&pool);
    return fine;
}

static bool time_idles(struct bench *bench, const struct model *model)
{
    static const struct opponent *const opponents[] = {&nothing, &baseline,
                                                       NULL};
    struct trial_pool pool;
    uint32_t requests = 1;
    bool fine = true, opened = false;
    memset(&pool, 0, sizeof pool);
    for (int i = 0; fine && i < IDLES * ORDERS; i++) {
        struct trial_case what = {i >= IDLES, false, false, idles[i % IDLES],
                                  1};
        struct bench_name name = {.model = model->name};
        snprintf(name.text, sizeof name.text, "%s, %u idle",
                 what.by_slot ? "v2" : "v1", what.rows);
        if (!bench_wants(bench, name.text)) {
            bench->rows_done += 2;
            continue;
        }
        fine = opened ||
               open_pool(bench, &pool, model, false, &requests, requests);
        opened = true;
        fine = fine && time_batch(bench, &pool, name, &what, opponents);
    }
    trial_pool_close(&pool);
    return fine;
}

static void print_summary(struct bench *bench, struct bench_summary *summary)
{
    struct stats stats = stats_of(summary->ratios, summary->rows);
    bench_table_note(
        bench->table,
        "%u cases against the baseline by %s: ratio of pairs %.3f to %.3f, "
        "median %.3f; behind in %u cases, and in %u of %u pairs",
        summary->rows, summary->clock, stats.minimum, stats.maximum,
        stats.median, summary->rows_behind, summary->pairs_behind,
        summary->pairs);
}

static bool time_matrices(struct bench *bench, const struct model *models,
                          int count)
{
    struct bench_summary summaries[BENCH_CLOCKS];
    memset(summaries, 0, sizeof summaries);
    bench->summary = summaries;
    bool fine = true;
    for (int i = 0; fine && i < count * LAYOUTS; i++)
        fine = time_matrix(bench, &models[i / LAYOUTS], i % LAYOUTS == 1);
    bench->summary = NULL;
    for (int i = 0; fine && i < BENCH_CLOCKS && summaries[i].rows; i++)
        print_summary(bench, &summaries[i]);
    return fine;
}

static uint64_t count_rows(const struct bench *bench)
{
    int given = bench->options->model_count;
    return (uint64_t)(given ? given : MODELS) * LAYOUTS * CASES +
           CROSSINGS * LAYOUTS * 2 + IDLES * ORDERS * 2;
}

static bool run(struct bench *bench)
{
    const struct model *models = bench->options->models;
    int count = bench->options->model_count;
    struct model found[MODELS];
    for (int i = 0; count == 0 && i < MODELS; i++) {
        if (!model_find(&found[i], NULL, model_names[i]))
            return false;
    }
    if (count == 0) {
        models = found;
        count = MODELS;
    }
    return time_matrices(bench, models, count) &&
           time_crossings(bench, &models[0], false) &&
           time_crossings(bench, &models[0], true) &&
           time_idles(bench, &models[0]);
}

const struct bench_subject bench_states = {
    "states",
    "post-process of batches of 1 and 8 requests that all cross a block\n"
    "boundary, in both orders (v1, v2) and layouts (sd, ds), within a block\n"
    "and to another, by 1 to 3 tokens, against a baseline: kernels of the\n"
    "published design; then batches of 1 to 128 that cross, against that\n"
    "and clEnqueueCopyBuffer of as many bytes; then batches of 1 to 1024\n"
    "that do not, against an empty kernel and the baseline. Both must leave\n"
    "the same bytes in each case, or the run fails",
    CLMOVE_PART_MOVES | CLMOVE_PART_STATES,
    BENCH_TAKES_MODEL | BENCH_TAKES_PLOT | BENCH_TAKES_ONLY,
    true,
    count_rows,
    run};
