/* Environment variables that a test changes, and puts back. */

#include "variable.h"

#include "testing.h"

#include <stdlib.h>
#include <string.h>

struct kept_variable set_variable(const char *name, const char *value)
{
    struct kept_variable kept = {name, NULL};
    const char *old = getenv(name);

    if (old) {
        kept.value = strdup(old);
        assert_non_null(kept.value);
    }
    assert_int_equal(setenv(name, value, 1), 0);
    return kept;
}

void restore_variable(struct kept_variable *kept)
{
    if (kept->value) {
        setenv(kept->name, kept->value, 1);
    } else {
        unsetenv(kept->name);
    }
    free(kept->value);
}
