/* Where the library's sentences go. */

#ifndef CLMOVE_LOG_H
#define CLMOVE_LOG_H

#include <clmove/export.h>

CLMOVE_BEGIN_DECLS

enum {
    CLMOVE_LOG_ERROR = 1,   ///< why a call failed
    CLMOVE_LOG_WARNING = 2, ///< something was ignored or worked around
    CLMOVE_LOG_INFO = 3     ///< a choice made, for people who tune
};

/// Receives one message, without a newline at its end. `message` is valid
/// during the call only and may be long (a whole build log). May be called from
/// any thread that calls clmove, with locks of the engine held: it must not
/// call clmove.
typedef void (*clmove_log_callback)(void *user, int level, const char *message);

/// A callback and the pointer it is given. All zero: silent. clmove never
/// prints anything itself.
struct clmove_log {
    clmove_log_callback callback;
    void *user;
};

CLMOVE_END_DECLS

#endif
