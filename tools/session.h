/* The opened device: context, queue, engine. */

#ifndef TOOLS_SESSION_H
#define TOOLS_SESSION_H

#include "cli.h"

#include <clmove/clmove.h>

struct session {
    struct clmove_device_info device;
    cl_context context;
    cl_command_queue queue; /* in order, with profiling */
    struct clmove_engine *engine;
    cl_mem mark; /* a few bytes that nothing is done with */
};

/* Selects the device (NULL: the environment's, else the default) and opens it,
 * with an engine of `parts` (enum clmove_part, 0: all). Prints what failed.
 * session_close is needed after a failure, too. */
enum cli_exit session_open(struct session *session, const char *selection,
                           uint32_t parts);

/* The two halves of it: a context alone; then an engine, which keeps its
 * programs in the user's cache folder. */
enum cli_exit session_open_device(struct session *session,
                                  const char *selection);
enum cli_exit session_make_engine(struct session *session, uint32_t parts);

/* Makes an engine in place of none, and destroys it. What making it took goes
 * to *seconds, and how it came by its programs ("compiled") to *how. */
enum cli_exit session_time_engine(struct session *session, uint32_t parts,
                                  double *seconds, const char **how);

void session_close(struct session *session);

/* A log that prints errors and warnings with cli_error. */
struct clmove_log session_log(void);

/* True after printing "WHAT failed: CODE", for a code other than success. */
bool session_failed(clmove_status status, const char *what);

/* A buffer that kernels read and write, or NULL after printing the failure. */
cl_mem session_buffer(const struct session *session, size_t size,
                      const char *what);

/* Memory that is a whole buffer, or a part of it. */
struct clmove_memory session_memory(cl_mem buffer, size_t offset, size_t size);

/* Releases and sets to NULL; NULL is fine. */
void session_release(cl_mem *buffer);

/* "2.0 GiB", "640 bytes": into a buffer of 32. */
const char *session_size_text(char *text, uint64_t size);

#endif
