/* The subcommands: each takes its arguments after its name, returns the exit
 * code. */

#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

#include "cli.h"

enum cli_exit cmd_devices(int argc, char **argv);
enum cli_exit cmd_check(int argc, char **argv);
enum cli_exit cmd_batch(int argc, char **argv);
enum cli_exit cmd_bench(int argc, char **argv);
enum cli_exit cmd_replay(int argc, char **argv);
enum cli_exit cmd_cache(int argc, char **argv);

#endif
