/* Two byte sequences side by side, in hexadecimal. */

#ifndef TOOLS_HEX_H
#define TOOLS_HEX_H

#include <stddef.h>
#include <stdint.h>

/* The first offset at which `size` bytes differ; `size` when they are equal. */
size_t hex_first_difference(const unsigned char *expected,
                            const unsigned char *found, size_t size);

/* Three rows of 16 bytes around `offset`, those that exist, expected above
 * found, a mark below bytes that differ; offsets are shown from `base` on.
 * Always terminated. */
void hex_rows(char *text, size_t text_size, const unsigned char *expected,
              const unsigned char *found, size_t size, size_t offset,
              uint64_t base);

#endif
