/* Which of several devices a selection means, decided without OpenCL. */

#include "select.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char lower(char character)
{
    if (character >= 'A' && character <= 'Z')
        return (char)(character - 'A' + 'a');
    return character;
}

static bool starts_with(const char *text, const char *part)
{
    for (; *part != '\0'; text++, part++) {
        if (lower(*text) != lower(*part))
            return false;
    }
    return true;
}

static bool contains(const char *text, const char *part)
{
    for (; *text != '\0'; text++) {
        if (starts_with(text, part))
            return true;
    }
    return false;
}

/* The first usable device whose type has a bit of `mask`. */
static clmove_status select_type(const struct clmove_device_info *infos,
                                 size_t count, cl_device_type mask,
                                 size_t *index)
{
    clmove_status status = CLMOVE_NO_DEVICE;
    for (size_t i = 0; i < count; i++) {
        if ((infos[i].type & mask) == 0)
            continue;
        if (infos[i].unsupported == NULL) {
            *index = i;
            return CLMOVE_SUCCESS;
        }
        status = CLMOVE_UNSUPPORTED_DEVICE;
    }
    return status;
}

static clmove_status select_default(const struct clmove_device_info *infos,
                                    size_t count, size_t *index)
{
    static const cl_device_type order[] = {
        CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU};
    clmove_status result = CLMOVE_NO_DEVICE;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const clmove_status status = select_type(infos, count, order[i], index);
        if (status == CLMOVE_SUCCESS)
            return status;
        if (status == CLMOVE_UNSUPPORTED_DEVICE)
            result = status;
    }
    return result;
}

/* "P:D", digits only. */
static bool parse_position(const char *text, unsigned long *platform,
                           unsigned long *device)
{
    const char *const digits = "0123456789";
    const size_t first = strspn(text, digits);
    if (first == 0 || text[first] != ':')
        return false;
    const char *rest = text + first + 1;
    const size_t second = strspn(rest, digits);
    if (second == 0 || rest[second] != '\0')
        return false;
    *platform = strtoul(text, NULL, 10);
    *device = strtoul(rest, NULL, 10);
    return true;
}

/* The only device for which a test holds; usable or not, it was named. */
static clmove_status select_named(const struct clmove_device_info *infos,
                                  size_t count, const char *selection,
                                  size_t *index)
{
    unsigned long platform = 0;
    unsigned long device = 0;
    const bool position = parse_position(selection, &platform, &device);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const bool matches =
            position ? infos[i].platform_index == platform &&
                           infos[i].device_index == device
                     : contains(infos[i].name, selection) ||
                           contains(infos[i].platform_name, selection);
        if (matches && found++ == 0)
            *index = i;
    }
    if (found == 0)
        return CLMOVE_NO_DEVICE;
    if (found > 1)
        return CLMOVE_AMBIGUOUS_DEVICE;
    return infos[*index].unsupported == NULL ? CLMOVE_SUCCESS
                                             : CLMOVE_UNSUPPORTED_DEVICE;
}

clmove_status select_device(const struct clmove_device_info *infos,
                            size_t count, const char *selection, size_t *index)
{
    if (selection == NULL || selection[0] == '\0')
        return select_default(infos, count, index);
    if (strcmp(selection, "gpu") == 0)
        return select_type(infos, count, CL_DEVICE_TYPE_GPU, index);
    if (strcmp(selection, "accelerator") == 0)
        return select_type(infos, count, CL_DEVICE_TYPE_ACCELERATOR, index);
    if (strcmp(selection, "cpu") == 0)
        return select_type(infos, count, CL_DEVICE_TYPE_CPU, index);
    return select_named(infos, count, selection, index);
}
