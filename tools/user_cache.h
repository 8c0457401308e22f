/* Where the command keeps compiled programs. */

#ifndef TOOLS_USER_CACHE_H
#define TOOLS_USER_CACHE_H

enum { USER_CACHE_ROOM = 4096 };

/* The folder: the environment's CLMOVE_CACHE_DIR, else clmove in
 * XDG_CACHE_HOME, else .cache/clmove in HOME; "off" when there is none, or it
 * would lie in the root folder. Makes what it lies in, not the folder itself.
 * Returns `path`. */
const char *user_cache_folder(char path[USER_CACHE_ROOM]);

#endif
