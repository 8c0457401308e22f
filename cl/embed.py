"""Writes text files into a C source as arrays of bytes.

usage: embed.py OUTPUT PREFIX FILE...

OUTPUT defines PREFIX_files, an array of struct clmove_embedded, and
PREFIX_file_count.
"""

import os
import sys


def rows(data):
    for start in range(0, len(data), 16):
        yield "    " + " ".join("%d," % byte for byte in data[start:start + 16])


def main(output, prefix, paths):
    lines = ["/* Text of kernel files as bytes, made by embed.py. */", "",
             "#include <stddef.h>", "",
             "struct clmove_embedded {",
             "    const char *name;",
             "    const char *text;",
             "};", "",
             "extern const struct clmove_embedded %s_files[];" % prefix,
             "extern const size_t %s_file_count;" % prefix, ""]
    for index, path in enumerate(paths):
        with open(path, "rb") as file:
            data = file.read() + b"\0"
        if any(byte > 127 for byte in data):
            sys.exit("%s: only ASCII is allowed in kernel text" % path)
        lines += ["static const char text_%d[] = {" % index, *rows(data), "};", ""]
    lines += ["const struct clmove_embedded %s_files[] = {" % prefix]
    for index, path in enumerate(paths):
        lines += ['    {"%s", text_%d},' % (os.path.basename(path), index)]
    lines += ["};", "const size_t %s_file_count = %d;" % (prefix, len(paths)), ""]
    with open(output, "w", encoding="ascii") as file:
        file.write("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
