/* The command line: options, help texts, error sentences, exit codes. */

#ifndef TOOLS_CLI_H
#define TOOLS_CLI_H

#include <clmove/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_exit {
    CLI_GO_ON = -1, /* not an exit code: nothing wrong so far */
    CLI_FINE = 0,
    CLI_CHECK_FAILED = 1,
    CLI_BAD_INPUT = 2,
    CLI_NO_DEVICE = 3,
    CLI_OPENCL_FAILED = 4,
    CLI_INTERRUPTED = 130 /* what a shell reports for SIGINT */
};

enum cli_kind {
    CLI_FLAG,   /* target: bool */
    CLI_TEXT,   /* target: const char * */
    CLI_NUMBER, /* target: uint64_t */
    CLI_CHOICE, /* target: int, an index into choices */
    CLI_LIST    /* target: struct cli_list; may be given several times */
};

enum { CLI_LIST_MAX = 8 };
struct cli_list {
    const char *text[CLI_LIST_MAX];
    int count;
};

struct cli_option {
    const char *name; /* without the dashes */
    enum cli_kind kind;
    const char *value_name; /* as the help shows it; NULL for a flag */
    const char *help;       /* lines separated by \n */
    void *target;
    uint64_t minimum, maximum;  /* CLI_NUMBER */
    const char *const *choices; /* CLI_CHOICE, ends with NULL */
};

struct cli_command {
    const char *name;
    const char *summary;  /* one line */
    const char *argument; /* name of the one required argument, or NULL */
    const char *help;     /* what the command does, printed as it is */
    const struct cli_option *options;
    size_t option_count;
    const char **argument_target;
};

/* Reads argv[0 .. argc) of a command, its own name not included. CLI_GO_ON, or
 * the code to leave with: CLI_FINE after --help, CLI_BAD_INPUT. */
enum cli_exit cli_parse(const struct cli_command *command, int argc,
                        char **argv);

/* Prints "clmove: SENTENCE" and a newline on stderr. A running progress line is
 * removed first. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The exit code for a status of the search for a device, or of the making of an
 * engine, to which the environment has a say. */
enum cli_exit cli_exit_code(clmove_status status);

/* Flushes stdout; a failed write (a full disk, say) turns CLI_FINE into
 * CLI_BAD_INPUT with a sentence. */
enum cli_exit cli_finish_output(enum cli_exit code);

#endif
