/* The clmove command: picks the subcommand. */

#include "commands.h"

#include <clmove/version.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *summary;
    enum cli_exit (*run)(int argc, char **argv);
} commands[] = {
    {"devices", "list OpenCL devices, and which one would be used",
     cmd_devices},
    {"check", "compare random copies and moves, single and in batches",
     cmd_check},
    {"batch", "move bytes of a file as a list says", cmd_batch},
    {"bench", "time moves, batches and state copies against a base", cmd_bench},
    {"replay", "replay a recorded decode with state copies, and prove it",
     cmd_replay},
    {"cache", "the folder of compiled programs: what it has, clear it",
     cmd_cache}};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_help(void)
{
    printf("usage: clmove COMMAND [options]\n"
           "       clmove --help | --version\n"
           "\n"
           "clmove moves bytes in OpenCL device memory, and copies the "
           "recurrent state of\n"
           "language models there, safely where source and destination "
           "overlap.\n"
           "\n"
           "Commands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-9s %s\n", commands[i].name, commands[i].summary);
    printf(
        "\n"
        "clmove COMMAND --help describes a command with all its options.\n"
        "\n"
        "Results go to standard output; progress and errors to standard "
        "error.\n"
        "Exit codes: 0 fine, 1 a check failed, 2 bad usage or input, 3 no "
        "usable\n"
        "device, 4 an OpenCL failure while running, 130 interrupted.\n"
        "\n"
        "Environment:\n"
        "  CLMOVE_DEVICE       the device where --device is not given\n"
        "  CLMOVE_CACHE_DIR    the folder of compiled programs, or off; else "
        "clmove in\n"
        "                      XDG_CACHE_HOME, else .cache/clmove in HOME\n"
        "  CLMOVE_KERNEL_DIR   a folder with kernel files that replace the "
        "built-in ones\n"
        "  CLMOVE_GROUP_SIZE   work-items in a work-group\n"
        "  CLMOVE_GROUP_COUNT  work-groups of a launch\n"
        "  CLMOVE_TILE_SIZE    bytes that a work-group moves at once\n"
        "  CLMOVE_VARIANT      the variant of moves, where it can do them\n");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        cli_error("a command is missing; see clmove --help");
        return CLI_BAD_INPUT;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_help();
        return (int)cli_finish_output(CLI_FINE);
    }
    if (strcmp(name, "--version") == 0) {
        printf("clmove %s\n", clmove_version());
        return (int)cli_finish_output(CLI_FINE);
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return (int)cli_finish_output(commands[i].run(argc - 2, argv + 2));
    }
    cli_error("unknown %s \"%s\"; see clmove --help",
              name[0] == '-' ? "option" : "command", name);
    return CLI_BAD_INPUT;
}
