/* The same prompts in many modes: the texts must not differ. */

#include "compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct comparison {
    const struct compare_job *job;
    struct decode_result first;
    size_t modes, differing;
    size_t golden; /* texts that were compared with the model's own */
};

static void print_heading(void)
{
    printf("result  batch  order   layout  states      moved by  draft  reused"
           "  hash              tokens/s  accepted  moving\n");
}

static void print_row(const char *word, const struct settings *mode,
                      const struct decode_result *result)
{
    static const char *const orders[] = {"v1", "v2", "v2-row"};
    size_t reused = 0;
    for (size_t i = 0; i < result->text_count; i++)
        reused += result->texts[i].reused;
    printf("%-6s  %5zu  %-6s  %-6s  %-10s  %-8s  %5zu  %6zu  %016" PRIx64
           "  %8.0f  %8.2f  %5.1f%%\n",
           word, mode->slots, orders[mode->order], mode->ds ? "ds" : "sd",
           mode->checkpoint ? "checkpoint" : "windows",
           mode->clone ? "clones" : "clmove", mode->draft, reused,
           decode_hash(result), (double)result->written / result->seconds,
           (double)result->accepted /
               (double)(result->verified > 0 ? result->verified : 1),
           100 * result->moving_seconds / result->seconds);
}

/* The text that another implementation computed, as far as it goes. */
static bool is_golden(const struct compare_job *job, size_t index,
                      const struct decode_text *text, bool *compared)
{
    const char *golden =
        model_golden_text(job->machine->model, job->prompts[index]);
    *compared = golden != NULL;
    if (!golden)
        return true;
    const size_t length = strlen(golden);
    return strncmp(golden, text->text,
                   text->count < length ? text->count : length) == 0;
}

static void show_texts(const struct comparison *comparison, size_t index,
                       const struct decode_text *text)
{
    printf("  prompt: %s\n  right:  %s\n  wrong:  %s\n",
           comparison->job->prompts[index], comparison->first.texts[index].text,
           text->text);
}

/* How many of a mode's texts differ from what they should be. */
static size_t count_wrong(struct comparison *comparison,
                          const struct decode_result *result, size_t *shown)
{
    size_t wrong = 0;
    *shown = result->text_count;
    for (size_t i = 0; i < result->text_count; i++) {
        const struct decode_text *text = &result->texts[i];
        bool compared = false;
        const bool fine =
            is_golden(comparison->job, i, text, &compared) &&
            strcmp(text->text, comparison->first.texts[i].text) == 0;
        comparison->golden += compared;
        if (fine)
            continue;
        if (wrong++ == 0)
            *shown = i;
    }
    return wrong;
}

static enum mamba_exit run_mode(struct comparison *comparison,
                                const struct settings *mode)
{
    const struct compare_job *job = comparison->job;
    struct decode_result result;
    const enum mamba_exit code =
        decode(job->machine, mode, job->prompts, job->prompt_count,
               job->listener, job->user, &result);
    if (code != MAMBA_FINE) {
        decode_free(&result);
        return code;
    }
    const bool is_first = comparison->modes++ == 0;
    if (is_first)
        comparison->first = result;
    size_t shown = 0;
    const size_t wrong = count_wrong(comparison, &result, &shown);
    comparison->differing += wrong > 0;
    print_row(wrong > 0 ? "WRONG" : is_first ? "base" : "same", mode, &result);
    if (wrong > 0 && job->show)
        show_texts(comparison, shown, &result.texts[shown]);
    fflush(stdout);
    if (!is_first)
        decode_free(&result);
    return MAMBA_FINE;
}

/* Without drafts there is nothing to check but the way states are named; with
 * them, every way of keeping states. */
static enum mamba_exit run_full(struct comparison *comparison,
                                struct settings mode)
{
    static const size_t drafts[] = {0, 1, 2, 4, 8};
    static const size_t batches[] = {1, 8};
    for (int choice = 0; choice < 80; choice++) {
        mode.slots = batches[choice / 40];
        mode.draft = drafts[choice / 8 % 5];
        mode.order = choice / 4 % 2 == 0 ? ORDER_V1 : ORDER_V2;
        mode.ds = choice / 2 % 2 == 1;
        mode.checkpoint = choice % 2 == 1;
        TRY(run_mode(comparison, &mode));
    }
    return MAMBA_FINE;
}

static enum mamba_exit run_quick(struct comparison *comparison,
                                 struct settings mode)
{
    static const struct {
        size_t slots, draft;
        enum order order;
        bool ds, checkpoint;
    } modes[] = {
        {1, 2, ORDER_V1, false, false}, {8, 0, ORDER_V2, true, false},
        {8, 1, ORDER_V2, false, false}, {8, 2, ORDER_V1, true, false},
        {8, 4, ORDER_V2, true, false},  {8, 4, ORDER_V1, false, true},
        {8, 8, ORDER_V1, false, false},
    };
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        mode.slots = modes[i].slots;
        mode.draft = modes[i].draft;
        mode.order = modes[i].order;
        mode.ds = modes[i].ds;
        mode.checkpoint = modes[i].checkpoint;
        TRY(run_mode(comparison, &mode));
    }
    return MAMBA_FINE;
}

/* What no engine would mix, and what it is compared with. */
static enum mamba_exit run_others(struct comparison *comparison,
                                  struct settings mode)
{
    mode.slots = 8;
    mode.draft = 4;
    mode.order = ORDER_V2_ROW;
    TRY(run_mode(comparison, &mode));
    mode.order = ORDER_V1;
    mode.clone = true;
    TRY(run_mode(comparison, &mode));
    mode.ds = true;
    return run_mode(comparison, &mode);
}

static enum mamba_exit run_all(struct comparison *comparison)
{
    const struct compare_job *job = comparison->job;
    const struct settings cold = {.slots = 8,
                                  .block_size = job->block_size,
                                  .tokens = job->tokens,
                                  .order = ORDER_V1};
    struct settings mode = cold;
    print_heading();
    TRY(run_mode(comparison, &cold)); /* no drafts, and no prefix is reused */
    mode.prefix_cache = true;
    TRY(job->full ? run_full(comparison, mode) : run_quick(comparison, mode));
    return run_others(comparison, mode);
}

enum mamba_exit compare(const struct compare_job *job)
{
    struct comparison comparison = {.job = job};
    enum mamba_exit code = run_all(&comparison);
    if (code == MAMBA_FINE) {
        printf("%zu modes, %zu texts each, %zu compared with another "
               "implementation's: ",
               comparison.modes, job->prompt_count,
               comparison.golden / comparison.modes);
        if (comparison.differing == 0)
            printf("all the same\n");
        else
            printf("%zu modes differ\n", comparison.differing);
        if (comparison.differing > 0)
            code = MAMBA_DIFFERS;
    }
    decode_free(&comparison.first);
    return code;
}
