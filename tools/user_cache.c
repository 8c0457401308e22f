/* Where the command keeps compiled programs. */

#include "user_cache.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A variable that names a folder by an absolute path; NULL when it does not.
 * The root folder is nobody's home, and only daemons are told it is. */
static const char *folder_variable(const char *name)
{
    const char *value = getenv(name);
    if (!value || value[0] != '/' || strspn(value, "/") == strlen(value))
        return NULL;
    return value;
}

/* Whether the folder is there, made if only its last part was missing. */
static bool have_folder(const char *path)
{
    struct stat status;
    mkdir(path, 0700);
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* PARENT/NAME, if it fits. */
static bool join(char path[USER_CACHE_ROOM], const char *parent,
                 const char *name)
{
    return snprintf(path, USER_CACHE_ROOM, "%s/%s", parent, name) <
           USER_CACHE_ROOM;
}

const char *user_cache_folder(char path[USER_CACHE_ROOM])
{
    const char *given = getenv("CLMOVE_CACHE_DIR");
    const char *caches = folder_variable("XDG_CACHE_HOME");
    const char *home = folder_variable("HOME");
    struct stat status;
    bool found = false;
    if (given && *given) {
        found = snprintf(path, USER_CACHE_ROOM, "%s", given) < USER_CACHE_ROOM;
    } else if (caches) {
        found = have_folder(caches) && join(path, caches, "clmove");
    } else if (home && stat(home, &status) == 0 && S_ISDIR(status.st_mode)) {
        found = join(path, home, ".cache") && have_folder(path) &&
                join(path, home, ".cache/clmove");
    }
    if (!found)
        snprintf(path, USER_CACHE_ROOM, "off");
    return path;
}
