/* Kernel text with literal edits, in a folder of its own. */

#ifndef EDIT_H
#define EDIT_H

#include <stddef.h>

/* Every occurrence of `find` becomes `replace`; there must be exactly `count`
 * of them in the file, else the edit no longer means what its name says. */
struct text_edit {
    const char *file;
    const char *find;
    const char *replace;
    size_t count;
};

struct edited_folder {
    char path[256];
};

/* Writes all kernel files of folder `source` into a new folder, edited. Fails
 * the running test when an edit does not match. */
void edited_folder_open(struct edited_folder *folder, const char *source,
                        const struct text_edit *edits, size_t edit_count);
void edited_folder_close(struct edited_folder *folder);

/* The text with all edits for `file` applied, or NULL with a sentence on stderr
 * when one does not match. The caller frees it. */
char *edit_text(const char *file, const char *text,
                const struct text_edit *edits, size_t edit_count);

#endif
