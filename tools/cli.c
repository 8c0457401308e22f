/* The command line: options, help texts, error sentences, exit codes. */

#include "cli.h"

#include "number.h"
#include "progress.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cli_error(const char *format, ...)
{
    progress_clear();
    fflush(stdout);
    va_list arguments;
    va_start(arguments, format);
    fputs("clmove: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

enum cli_exit cli_exit_code(clmove_status status)
{
    switch (status) {
    case CLMOVE_SUCCESS:
        return CLI_FINE;
    case CLMOVE_NO_DEVICE:
    case CLMOVE_UNSUPPORTED_DEVICE:
        return CLI_NO_DEVICE;
    case CLMOVE_AMBIGUOUS_DEVICE:
    case CLMOVE_NO_KERNEL_TEXT:
    case CLMOVE_INVALID_ARGUMENT: /* of the environment */
        return CLI_BAD_INPUT;
    default:
        return CLI_OPENCL_FAILED;
    }
}

enum cli_exit cli_finish_output(enum cli_exit code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    cli_error("cannot write to standard output: %s", strerror(errno));
    return code == CLI_FINE ? CLI_BAD_INPUT : code;
}

static void print_option(const char *name, const char *value_name,
                         const char *help)
{
    char left[80];
    snprintf(left, sizeof left, "--%s%s%s", name, value_name ? " " : "",
             value_name ? value_name : "");
    int wide = strlen(left) > 17;
    printf("  %-17s%s", left, wide ? "\n" : "  ");
    for (const char *line = help; line;) {
        const char *end = strchr(line, '\n');
        size_t size = end ? (size_t)(end - line) : strlen(line);
        bool first = line == help && !wide;
        printf("%*s%.*s\n", first ? 0 : 21, "", (int)size, line);
        line = end ? end + 1 : NULL;
    }
}

static void print_help(const struct cli_command *command)
{
    printf("usage: clmove %s%s%s [options]\n\n%s\nOptions:\n", command->name,
           command->argument ? " " : "",
           command->argument ? command->argument : "", command->help);
    for (size_t i = 0; i < command->option_count; i++) {
        const struct cli_option *option = &command->options[i];
        print_option(option->name, option->value_name, option->help);
    }
    print_option("help", NULL, "Print this text.");
}

static bool refuse(const struct cli_command *command, const char *name,
                   const char *why)
{
    cli_error("%s: --%s %s", command->name, name, why);
    return false;
}

static bool store(const struct cli_command *command,
                  const struct cli_option *option, const char *value)
{
    char why[160];
    switch (option->kind) {
    case CLI_FLAG:
        *(bool *)option->target = true;
        return true;
    case CLI_TEXT:
        *(const char **)option->target = value;
        return true;
    case CLI_NUMBER:
        if (number_read_within(value, strlen(value), option->minimum,
                               option->maximum, option->target, why,
                               sizeof why))
            return true;
        return refuse(command, option->name, why);
    case CLI_CHOICE:
        for (int i = 0; option->choices[i]; i++) {
            if (strcmp(option->choices[i], value) == 0) {
                *(int *)option->target = i;
                return true;
            }
        }
        snprintf(why, sizeof why, "must be %s, not \"%.40s\"",
                 option->value_name, value);
        return refuse(command, option->name, why);
    case CLI_LIST: {
        struct cli_list *list = option->target;
        snprintf(why, sizeof why, "can be given at most %d times",
                 CLI_LIST_MAX);
        if (list->count == CLI_LIST_MAX)
            return refuse(command, option->name, why);
        list->text[list->count++] = value;
        return true;
    }
    }
    return false;
}

static const struct cli_option *find(const struct cli_command *command,
                                     const char *name, size_t size)
{
    for (size_t i = 0; i < command->option_count; i++) {
        const struct cli_option *option = &command->options[i];
        if (strlen(option->name) == size &&
            strncmp(option->name, name, size) == 0)
            return option;
    }
    return NULL;
}

/* Takes the option at argv[*index], its value included. */
static bool take_option(const struct cli_command *command, int argc,
                        char **argv, int *index)
{
    const char *name = argv[*index] + 2;
    const char *equals = strchr(name, '=');
    size_t size = equals ? (size_t)(equals - name) : strlen(name);
    const struct cli_option *option = find(command, name, size);
    if (!option) {
        cli_error("%s: unknown option --%.*s; see clmove %s --help",
                  command->name, (int)size, name, command->name);
        return false;
    }
    if (option->kind == CLI_FLAG) {
        if (equals)
            return refuse(command, option->name, "takes no value");
        return store(command, option, NULL);
    }
    if (equals)
        return store(command, option, equals + 1);
    if (*index + 1 >= argc)
        return refuse(command, option->name, "needs a value");
    (*index)++;
    return store(command, option, argv[*index]);
}

static bool take_argument(const struct cli_command *command, const char *value)
{
    if (!command->argument) {
        cli_error("%s takes no argument, but was given \"%s\"", command->name,
                  value);
        return false;
    }
    if (*command->argument_target) {
        cli_error("%s takes one %s; \"%s\" is a second one", command->name,
                  command->argument, value);
        return false;
    }
    *command->argument_target = value;
    return true;
}

enum cli_exit cli_parse(const struct cli_command *command, int argc,
                        char **argv)
{
    bool options_end = false;
    for (int i = 0; i < argc; i++) {
        const char *text = argv[i];
        if (!options_end && strcmp(text, "--") == 0) {
            options_end = true;
        } else if (!options_end &&
                   (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0)) {
            print_help(command);
            return cli_finish_output(CLI_FINE);
        } else if (!options_end && strncmp(text, "--", 2) == 0) {
            if (!take_option(command, argc, argv, &i))
                return CLI_BAD_INPUT;
        } else if (!options_end && text[0] == '-' && text[1] != '\0') {
            cli_error("%s: unknown option %s; see clmove %s --help",
                      command->name, text, command->name);
            return CLI_BAD_INPUT;
        } else if (!take_argument(command, text)) {
            return CLI_BAD_INPUT;
        }
    }
    if (command->argument && !*command->argument_target) {
        cli_error("%s needs a %s; see clmove %s --help", command->name,
                  command->argument, command->name);
        return CLI_BAD_INPUT;
    }
    return CLI_GO_ON;
}
