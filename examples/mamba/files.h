/* Files: whole, by lines, and where the model's are. */

#ifndef MAMBA_FILES_H
#define MAMBA_FILES_H

#include "say.h"

#include <stdbool.h>
#include <stddef.h>

/* directory/name, or just name where directory is NULL. Each says what is
 * wrong. */

bool files_exist(const char *directory, const char *name);

/* All bytes of a file and a NUL behind them, for the caller to free. */
enum mamba_exit files_read(const char *directory, const char *name,
                           void **bytes, size_t *size);

/* Calls `read` with each line, numbered from 1, without its end (a CR is taken
 * off too), until one is not fine. */
typedef enum mamba_exit (*files_line_reader)(void *user, const char *path,
                                             size_t line_number, char *line);
enum mamba_exit files_read_lines(const char *directory, const char *name,
                                 files_line_reader read, void *user);

/* The folder of the model's files: for the caller to free. */
enum mamba_exit files_find_model(char **directory);

/* A copy with \n, \t and \\ replaced by what they stand for, or NULL when there
 * is no memory. */
char *files_unescape(const char *text);

#endif
