/* Writes the programs that the library would build for a GPU, for compilers
 * that need no device. */

/*
 * usage: programs LOCAL_SIZE FOLDER
 *
 * For each part and number of banks: the text goes to a file in FOLDER, and a
 * line with the file's name and the compiler's options to stdout.
 */

#include "program.h"
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    const bool written = fwrite(text, strlen(text), 1, file) == 1;
    return fclose(file) == 0 && written;
}

int main(int argc, char **argv)
{
    static const struct variant_wishes no_wishes;
    if (argc != 3) {
        fprintf(stderr, "usage: programs LOCAL_SIZE FOLDER\n");
        return 2;
    }
    const struct clmove_device_info info = {
        .type = CL_DEVICE_TYPE_GPU,
        .compute_units = 64,
        .max_group_size = 1024,
        .local_size = strtoul(argv[1], NULL, 10),
    };
    const struct variant variant = variant_choose(&info, &no_wishes);
    for (size_t i = 0; i < PROGRAM_PARTS; i++) {
        char *text = NULL;
        if (source_load(NULL, NULL, program_parts[i].name, &text) !=
            CLMOVE_SUCCESS)
            return 1;
        for (size_t j = 0; j < PROGRAM_BANK_CHOICES; j++) {
            const uint32_t banks = program_parts[i].bank_counts[j];
            char options[300], path[4096];
            snprintf(path, sizeof path, "%s/%s-%u.cl", argv[2],
                     program_parts[i].name, banks);
            program_options(&variant, &program_parts[i], banks, options,
                            sizeof options);
            if (!write_text(path, text)) {
                perror(path);
                free(text);
                return 1;
            }
            printf("%s-%u.cl %s\n", program_parts[i].name, banks, options);
        }
        free(text);
    }
    return 0;
}
