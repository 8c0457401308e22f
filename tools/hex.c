/* Two byte sequences side by side, in hexadecimal. */

#include "hex.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t hex_first_difference(const unsigned char *expected,
                            const unsigned char *found, size_t size)
{
    size_t offset = 0;
    /* Whole pieces first: most of what is compared is equal. */
    while (size - offset > 4096 &&
           memcmp(expected + offset, found + offset, 4096) == 0)
        offset += 4096;
    while (offset < size && expected[offset] == found[offset])
        offset++;
    return offset;
}

struct writer {
    char *text;
    size_t size, used;
};

static void add(struct writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct writer *writer, const char *format, ...)
{
    if (writer->used >= writer->size)
        return;
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(writer->text + writer->used,
                            writer->size - writer->used, format, arguments);
    va_end(arguments);
    if (written > 0)
        writer->used += (size_t)written;
}

static void add_bytes(struct writer *writer, const char *label,
                      const unsigned char *bytes, size_t count, uint64_t place)
{
    add(writer, "  %-9s %8" PRIu64 " ", label, place);
    for (size_t i = 0; i < count; i++)
        add(writer, " %02x", bytes[i]);
    add(writer, "\n");
}

void hex_rows(char *text, size_t text_size, const unsigned char *expected,
              const unsigned char *found, size_t size, size_t offset,
              uint64_t base)
{
    struct writer writer = {text, text_size, 0};
    size_t start = offset / 16 * 16;
    start = start >= 16 ? start - 16 : 0;
    text[0] = '\0';
    for (size_t row = start; row < size && row < start + 48; row += 16) {
        size_t count = size - row < 16 ? size - row : 16;
        add_bytes(&writer, "expected", expected + row, count, base + row);
        add_bytes(&writer, "found", found + row, count, base + row);
        if (memcmp(expected + row, found + row, count) == 0)
            continue;
        add(&writer, "%21s", "");
        for (size_t i = 0; i < count; i++)
            add(&writer, " %s",
                expected[row + i] == found[row + i] ? "  " : "^^");
        add(&writer, "\n");
    }
}
