/* Which of several devices a selection means, decided without OpenCL. */

#ifndef SELECT_H
#define SELECT_H

#include <clmove/device.h>

/* The index of the selected device among infos[count], by the rules of
 * clmove_device_select; an empty or NULL selection means the default order.
 * The environment is not looked at. */
clmove_status select_device(const struct clmove_device_info *infos,
                            size_t count, const char *selection, size_t *index);

#endif
