/* clmove-mamba: a recurrent language model whose states clmove moves. */

#include "compare.h"

#include "files.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: clmove-mamba [OPTION]... [PROMPT]...\n"
    "\n"
    "Continues each prompt with a small Mamba-2 language model (characters, "
    "an\n"
    "old English text), by greedy decoding on an OpenCL device. The recurrent\n"
    "states lie in paged device memory, and clmove moves them. Without "
    "prompts\n"
    "some of its own are taken.\n"
    "\n"
    "What is written does not depend on how: --compare tries many ways.\n"
    "\n"
    "  --prompts FILE     a prompt on each line (\\n stands for a new line)\n"
    "  --tokens N         characters to write after each prompt (384; with\n"
    "                     --compare 96)\n"
    "  --compare          decode in some modes and print a table: the hash of\n"
    "                     all texts, tokens of prompts whose states were "
    "found,\n"
    "                     drafted tokens accepted per verification, share of\n"
    "                     the time that states are being moved; exit status 1\n"
    "                     when texts differ\n"
    "  --full             with --compare: all modes\n"
    "  --show             with --compare: show a text that differs\n"
    "\n"
    "How to go about it (with --compare only --block-size):\n"
    "  --batch N          prompts that are decoded at once (8)\n"
    "  --block-size N     tokens in a block of states (16)\n"
    "  --chunk N          tokens of a prompt in a step (a block)\n"
    "  --draft N          tokens that are proposed in a step, by what "
    "followed\n"
    "                     the last time; 0: one token after another (4)\n"
    "  --layout sd|ds     windows [token][channel] or [channel][token] (sd)\n"
    "  --order v1|v2|v2-row\n"
    "                     rows of a step are slots, or name slots; block\n"
    "                     tables then go by slot, or by row (v1)\n"
    "  --checkpoint       save states before drafts and restore them after a\n"
    "                     rejection, in place of keeping one for each draft\n"
    "  --clone            move states without clmove: the host decides, "
    "clones\n"
    "                     and copies back\n"
    "  --no-prefix-cache  compute each prompt from its start\n"
    "\n"
    "  --device S         as for clmove: gpu, cpu, P:D, or a part of a name\n"
    "  --weights DIR      the folder of weights.bin, weights.tsv, vocab.txt\n"
    "  --quiet            no texts, only figures\n"
    "  --help             this text\n"
    "\n"
    "Texts and tables go to stdout, errors to stderr. Exit status: 0 fine,\n"
    "1 texts differ, 2 bad usage or input, 3 no usable device, 4 an OpenCL\n"
    "failure, 130 interrupted.\n";

static const char *const default_prompts[] = {
    "Ge1:1 In the beginning ", "And the LORD spake unto Moses, saying, ",
    "Blessed are ", "And it came to pass", "Ps23:1 The LORD is my shepherd; ",
    "For God so loved the world, ", "Then said Jesus unto them, ",
    "And he said unto him, ",
    /* Two that begin as others do: a prefix is found. */
    "And the LORD spake unto Moses, saying, Speak ",
    "And it came to pass in those days, "};

enum {
    DEFAULT_PROMPT_COUNT = sizeof default_prompts / sizeof *default_prompts
};

struct arguments {
    struct settings settings;
    const char *device, *weights, *prompt_file;
    bool compare, full, show, quiet, wants_help;
    size_t tokens; /* 0: not said */
    char **prompts;
    size_t prompt_count;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static bool go_on(void *user, const struct decode_result *result)
{
    (void)user;
    (void)result;
    return !interrupted;
}

/* --- The command line --- */

static enum mamba_exit add_prompt(struct arguments *arguments, char *prompt)
{
    char **grown = prompt
                       ? realloc(arguments->prompts,
                                 (arguments->prompt_count + 1) * sizeof *grown)
                       : NULL;
    if (!grown) {
        free(prompt);
        return out_of_memory();
    }
    arguments->prompts = grown;
    arguments->prompts[arguments->prompt_count++] = prompt;
    return MAMBA_FINE;
}

static enum mamba_exit read_prompt(void *user, const char *path,
                                   size_t line_number, char *line)
{
    (void)path;
    (void)line_number;
    return line[0] == '\0' ? MAMBA_FINE
                           : add_prompt(user, files_unescape(line));
}

static enum mamba_exit read_number(const char *option, const char *text,
                                   size_t minimum, size_t maximum,
                                   size_t *value)
{
    char *end = NULL;
    const unsigned long long number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || number < minimum ||
        number > maximum) {
        say("--%s must be a whole number from %zu to %zu, not \"%s\"", option,
            minimum, maximum, text);
        return MAMBA_BAD_INPUT;
    }
    *value = (size_t)number;
    return MAMBA_FINE;
}

/* The index of the text among the choices, which end with NULL. */
static enum mamba_exit read_choice(const char *option, const char *text,
                                   const char *const *choices, int *index)
{
    for (*index = 0; choices[*index]; (*index)++) {
        if (strcmp(text, choices[*index]) == 0)
            return MAMBA_FINE;
    }
    say("--%s must not be \"%s\"; --help lists the choices", option, text);
    return MAMBA_BAD_INPUT;
}

enum option_code {
    OPTION_PROMPTS = 1,
    OPTION_TOKENS,
    OPTION_COMPARE,
    OPTION_FULL,
    OPTION_SHOW,
    OPTION_BATCH,
    OPTION_BLOCK_SIZE,
    OPTION_CHUNK,
    OPTION_DRAFT,
    OPTION_LAYOUT,
    OPTION_ORDER,
    OPTION_CHECKPOINT,
    OPTION_CLONE,
    OPTION_NO_PREFIX_CACHE,
    OPTION_DEVICE,
    OPTION_WEIGHTS,
    OPTION_QUIET,
    OPTION_HELP
};

static const struct option options[] = {
    {"prompts", required_argument, NULL, OPTION_PROMPTS},
    {"tokens", required_argument, NULL, OPTION_TOKENS},
    {"compare", no_argument, NULL, OPTION_COMPARE},
    {"full", no_argument, NULL, OPTION_FULL},
    {"show", no_argument, NULL, OPTION_SHOW},
    {"batch", required_argument, NULL, OPTION_BATCH},
    {"block-size", required_argument, NULL, OPTION_BLOCK_SIZE},
    {"chunk", required_argument, NULL, OPTION_CHUNK},
    {"draft", required_argument, NULL, OPTION_DRAFT},
    {"layout", required_argument, NULL, OPTION_LAYOUT},
    {"order", required_argument, NULL, OPTION_ORDER},
    {"checkpoint", no_argument, NULL, OPTION_CHECKPOINT},
    {"clone", no_argument, NULL, OPTION_CLONE},
    {"no-prefix-cache", no_argument, NULL, OPTION_NO_PREFIX_CACHE},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"weights", required_argument, NULL, OPTION_WEIGHTS},
    {"quiet", no_argument, NULL, OPTION_QUIET},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0}};

static enum mamba_exit read_option(struct arguments *arguments, int code)
{
    static const char *const layouts[] = {"sd", "ds", NULL};
    static const char *const orders[] = {"v1", "v2", "v2-row", NULL};
    struct settings *settings = &arguments->settings;
    int choice = 0;
    switch (code) {
    case OPTION_PROMPTS:
        arguments->prompt_file = optarg;
        return files_read_lines(NULL, optarg, read_prompt, arguments);
    case OPTION_TOKENS:
        return read_number("tokens", optarg, 1, 100000, &arguments->tokens);
    case OPTION_BATCH:
        return read_number("batch", optarg, 1, 1024, &settings->slots);
    case OPTION_BLOCK_SIZE:
        return read_number("block-size", optarg, 1, 4096,
                           &settings->block_size);
    case OPTION_CHUNK:
        return read_number("chunk", optarg, 1, 4096, &settings->chunk);
    case OPTION_DRAFT:
        return read_number("draft", optarg, 0, 64, &settings->draft);
    case OPTION_LAYOUT:
        TRY(read_choice("layout", optarg, layouts, &choice));
        settings->ds = choice == 1;
        return MAMBA_FINE;
    case OPTION_ORDER:
        TRY(read_choice("order", optarg, orders, &choice));
        settings->order = (enum order)choice;
        return MAMBA_FINE;
    case OPTION_DEVICE:
        arguments->device = optarg;
        return MAMBA_FINE;
    case OPTION_WEIGHTS:
        arguments->weights = optarg;
        return MAMBA_FINE;
    case OPTION_COMPARE:
        arguments->compare = true;
        return MAMBA_FINE;
    case OPTION_FULL:
        arguments->full = true;
        return MAMBA_FINE;
    case OPTION_SHOW:
        arguments->show = true;
        return MAMBA_FINE;
    case OPTION_CHECKPOINT:
        settings->checkpoint = true;
        return MAMBA_FINE;
    case OPTION_CLONE:
        settings->clone = true;
        return MAMBA_FINE;
    case OPTION_NO_PREFIX_CACHE:
        settings->prefix_cache = false;
        return MAMBA_FINE;
    case OPTION_QUIET:
        arguments->quiet = true;
        return MAMBA_FINE;
    case OPTION_HELP:
        arguments->wants_help = true;
        return MAMBA_FINE;
    default: /* getopt has said what is wrong */
        fputs("Try clmove-mamba --help.\n", stderr);
        return MAMBA_BAD_INPUT;
    }
}

static enum mamba_exit add_default_prompts(struct arguments *arguments)
{
    for (size_t i = 0; i < DEFAULT_PROMPT_COUNT; i++)
        TRY(add_prompt(arguments, strdup(default_prompts[i])));
    return MAMBA_FINE;
}

static enum mamba_exit read_arguments(struct arguments *arguments, int argc,
                                      char **argv)
{
    int code = 0;
    while ((code = getopt_long(argc, argv, "", options, NULL)) != -1)
        TRY(read_option(arguments, code));
    for (int i = optind; i < argc; i++)
        TRY(add_prompt(arguments, strdup(argv[i])));
    if ((arguments->full || arguments->show) && !arguments->compare) {
        say("--full and --show are for --compare");
        return MAMBA_BAD_INPUT;
    }
    if (arguments->prompt_count > 0)
        return MAMBA_FINE;
    if (!arguments->prompt_file)
        return add_default_prompts(arguments);
    say("%s: it has no prompts", arguments->prompt_file);
    return MAMBA_BAD_INPUT;
}

/* --- Speaking --- */

/* Texts appear in the order of the prompts: one as it comes, the next when it
 * is complete. */
struct speech {
    const struct arguments *arguments;
    size_t index, printed;
};

static void print_text(struct speech *speech,
                       const struct decode_result *result)
{
    const struct arguments *arguments = speech->arguments;
    while (speech->index < result->text_count) {
        const struct decode_text *text = &result->texts[speech->index];
        if (text->count == 0)
            break;
        if (speech->printed == 0)
            printf("--- %s", arguments->prompts[speech->index]);
        fwrite(text->text + speech->printed, 1, text->count - speech->printed,
               stdout);
        speech->printed = text->count;
        if (text->count < arguments->settings.tokens)
            break;
        printf("\n\n");
        speech->printed = 0;
        speech->index++;
    }
    fflush(stdout);
}

static bool speak_on(void *user, const struct decode_result *result)
{
    struct speech *speech = user;
    if (!speech->arguments->quiet)
        print_text(speech, result);
    return !interrupted;
}

static void print_figures(const struct arguments *arguments,
                          const struct decode_result *result)
{
    printf("%zu tokens in %zu steps, %.2f s: %.0f tokens/s\n", result->written,
           result->steps, result->seconds,
           (double)result->written / result->seconds);
    if (result->verified > 0)
        printf("%.2f drafted tokens accepted per verification, %zu "
               "verifications\n",
               (double)result->accepted / (double)result->verified,
               result->verified);
    printf("moving states: %.1f ms of device time, %.1f %% of the whole\n",
           result->moving_seconds * 1e3,
           100 * result->moving_seconds / result->seconds);
    for (size_t i = 0; i < result->text_count; i++)
        printf("%016" PRIx64 "  %3zu tokens reused  %s\n",
               result->texts[i].hash, result->texts[i].reused,
               arguments->prompts[i]);
}

static enum mamba_exit speak(const struct machine *machine,
                             const struct arguments *arguments)
{
    struct decode_result result;
    struct speech speech = {arguments, 0, 0};
    const enum mamba_exit code = decode(
        machine, &arguments->settings, (const char *const *)arguments->prompts,
        arguments->prompt_count, speak_on, &speech, &result);
    if (code == MAMBA_FINE)
        print_figures(arguments, &result);
    decode_free(&result);
    return code;
}

static enum mamba_exit work(struct arguments *arguments,
                            const struct machine *machine)
{
    printf("device: %s (%s, driver %s)\n", machine->device.name,
           machine->device.platform_name, machine->device.driver_version);
    if (!arguments->compare) {
        arguments->settings.tokens =
            arguments->tokens > 0 ? arguments->tokens : 384;
        return speak(machine, arguments);
    }
    const struct compare_job job = {
        .machine = machine,
        .prompts = (const char *const *)arguments->prompts,
        .prompt_count = arguments->prompt_count,
        .block_size = arguments->settings.block_size,
        .tokens = arguments->tokens > 0 ? arguments->tokens : 96,
        .full = arguments->full,
        .show = arguments->show,
        .listener = go_on};
    return compare(&job);
}

static enum mamba_exit run(struct arguments *arguments)
{
    struct model model;
    struct machine machine;
    memset(&machine, 0, sizeof machine);
    enum mamba_exit code = model_load(&model, arguments->weights);
    if (code == MAMBA_FINE)
        code = machine_open(&machine, &model, arguments->device);
    if (code == MAMBA_FINE)
        code = work(arguments, &machine);
    machine_close(&machine);
    model_free(&model);
    return code;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {
        .settings = {
            .slots = 8, .block_size = 16, .draft = 4, .prefix_cache = true}};
    const struct sigaction action = {.sa_handler = interrupt,
                                     .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    enum mamba_exit code = read_arguments(&arguments, argc, argv);
    if (code == MAMBA_FINE && arguments.wants_help)
        fputs(help, stdout);
    else if (code == MAMBA_FINE)
        code = run(&arguments);
    for (size_t i = 0; i < arguments.prompt_count; i++)
        free(arguments.prompts[i]);
    free(arguments.prompts);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == MAMBA_FINE) {
        say("the output could not be written");
        code = MAMBA_BAD_INPUT;
    }
    return (int)code;
}
