/* Environment variables that a test changes, and puts back. */

#ifndef VARIABLE_H
#define VARIABLE_H

struct kept_variable {
    const char *name;
    char *value; /* or NULL: it was not set */
};

/* Sets a variable. What it was is to be put back by restore_variable. Fails the
 * running test without memory. */
struct kept_variable set_variable(const char *name, const char *value);

void restore_variable(struct kept_variable *kept);

#endif
