#!/usr/bin/env python3
"""Checks what compilers make of the kernels, for GPUs that are not there.

usage: check_isa.py [--self-test] PROGRAMS TARGET

Compiles what the program PROGRAMS writes for TARGET. No kernel may use memory
of its own work-items, spill, call, or take more local memory than lets three
groups share a unit; kernels that move bytes must do so 16 at a time. Prints a
row for each kernel; loads and stores are those of 16 bytes.

--self-test: breaks the kernels on purpose; each fault must be found.

Exit status: 0 fine, 1 not, 77 a compiler is not installed.
"""

import os
import re
import subprocess
import sys
import tempfile

import compilers

LOCAL_SIZE = 65536  # bytes, of each of the targets
TARGETS = {
    "gfx90a": compilers.amd,
    "gfx942": compilers.amd,
    "gfx950": compilers.amd,
    "gfx1100": compilers.amd,
    "dg2": compilers.intel,
}

# Kernels that move bytes: how many 16-byte loads each of their copying loops
# must have in flight (or all that it has), and how many the best one. A tile of a
# move is loaded under conditions: compilers put the fourth load out of line, and
# so behind the wait. States load under conditions too, which makes them wait.
MOVERS = {
    "clmove_move": (1, 3),
    "clmove_save": (1, 1),
    "clmove_batch": (1, 3),
    "clmove_batch_device": (1, 3),
    "clmove_ssm_step": (2, 8),
    "clmove_ssm_copy": (2, 8),
}
STORES_ONLY = ["clmove_ssm_zero"]
OTHERS = ["clmove_nothing", "clmove_ssm_aside", "clmove_ssm_indices"]
PARTS = {"move": ["clmove_nothing"] + [k for k in MOVERS if "ssm" not in k],
         "ssm": [k for k in MOVERS if "ssm" in k] + STORES_ONLY + OTHERS}

# What is known and not mended; docs/performance.md tells. Registers, bytes.
ALLOWED = {
    (compilers.amd, "clmove_batch", "lanes"): 32,
    (compilers.amd, "clmove_ssm_copy", "lanes"): 32,
    (compilers.amd, "clmove_ssm_step", "lanes"): 128,
}


def complaints(compiler, name, kernel):
    """Sentences about what is wrong with a kernel."""
    for field, what in (("scratch", "bytes of scratch memory"),
                        ("spills", "spilled registers"),
                        ("lanes", "scalar registers spilled to lanes"),
                        ("calls", "calls")):
        value = getattr(kernel, field)
        bound = ALLOWED.get((compiler, name, field), 0)
        if value > bound:
            yield f"{value} {what}, and {bound} are allowed"
    if kernel.local > LOCAL_SIZE // 3:
        yield (f"{kernel.local} bytes of local memory, and {LOCAL_SIZE // 3} "
               "are allowed")
    if (name in MOVERS or name in STORES_ONLY) and kernel.stores == 0:
        yield "no store of 16 bytes"
    if name not in MOVERS:
        return
    if kernel.loads == 0:
        yield "no load of 16 bytes"
    if kernel.loops is None:
        return
    each, best = MOVERS[name]
    copying = [loop for loop in kernel.loops if loop[0] and loop[2]]
    for loads, flight, _ in copying:
        if flight < min(loads, each):
            yield (f"a copying loop has {flight} of its {loads} loads in "
                   f"flight, and needs {min(loads, each)}")
    most = max((flight for _, flight, _ in copying), default=0)
    if most < best:
        yield (f"no copying loop has more than {most} loads in flight, and "
               f"one needs {best}")


def faults(compiler, part, kernels):
    """Complaints about a program, each with its kernel's name."""
    found = [f"{name}: missing" for name in PARTS[part] if name not in kernels]
    found += [f"{name}: unknown to this test" for name in kernels
              if name not in PARTS[part]]
    for name, kernel in kernels.items():
        found += [f"{name}: {text}"
                  for text in complaints(compiler, name, kernel)]
    return found


def write_programs(command, folder):
    """Writes the programs; yields part, banks, path and options of each."""
    lines = subprocess.run([command, str(LOCAL_SIZE), folder], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    for line in lines.splitlines():
        file, *options = line.split()
        part, banks = file[:-len(".cl")].split("-")
        yield part, int(banks), os.path.join(folder, file), options


def check(command, target, folder):
    compiler = TARGETS[target]
    failed = programs = 0
    print(f"{'kernel':20} banks {'registers':>10} waves scratch lanes  local "
          "loads stores")
    for part, banks, path, options in write_programs(command, folder):
        kernels = compiler(target, path, options, folder)
        programs += 1
        for name, kernel in kernels.items():
            print(f"{name:20} {banks:5} {kernel.registers:>10} "
                  f"{kernel.waves:>5} {kernel.scratch:7} {kernel.lanes:5} "
                  f"{kernel.local:6} {kernel.loads:5} {kernel.stores:6}")
        for fault in faults(compiler, part, kernels):
            print(f"{target}, {banks} banks: {fault}", file=sys.stderr)
            failed += 1
    print(f"{target}: {programs} programs, {failed} faults")
    return programs > 0 and failed == 0


class Twin:
    """A program that is broken on purpose, and what must be said of it."""

    def __init__(self, name, part, edits, words, compiler=None):
        self.name = name
        self.part = part
        self.edits = edits  # of text and options: what is there, what comes
        self.words = words
        self.compiler = compiler  # None: any


# `{` opens a block in place of a condition: all items fill their own arrays.
TWINS = [
    Twin("banks in private memory", "move",
         [("#define BANK_ARRAY __local bank_pointer",
           "#define BANK_ARRAY bank_pointer"),
          ("if (item == 0) {\n        BANK_EACH(BANK_STORE)",
           "{\n        BANK_EACH(BANK_STORE)")],
         "clmove_batch: .* bytes of scratch memory"),
    Twin("bytes one by one", "move",
         [("const uint full = (size - head) / 16;", "const uint full = 0;")],
         "clmove_move: no store of 16 bytes"),
    Twin("local memory for twice the rows", "ssm",
         [("SLICE_ROWS=512", "SLICE_ROWS=2048")],
         "clmove_ssm_step: .* bytes of local memory"),
    Twin("a kernel of another name", "move",
         [("__kernel void clmove_save(", "__kernel void clmove_saved(")],
         "clmove_save: missing"),
    Twin("few registers", "move",
         [("__kernel void clmove_save(",
           "__attribute__((amdgpu_num_vgpr(8))) __kernel void clmove_save(")],
         "clmove_save: .* spilled registers", compilers.amd),
    Twin("a call", "ssm",
         [("__attribute__((always_inline)) static void\ncopy_tile(",
           "__attribute__((noinline)) static void\ncopy_tile(")],
         "clmove_ssm_copy: .* calls", compilers.amd),
    Twin("a wait behind each load", "move",
         [("held[k] = most.from[v + k * items];",
           "most.to[v + k * items] = held[k] = most.from[v + k * items];")],
         "clmove_move: no copying loop has more", compilers.amd),
]


def broken(twin, path, options):
    """The options for the twin, whose text is in `path` from now on."""
    with open(path, encoding="ascii") as file:
        whole = file.read() + "\0" + " ".join(options)
    for old, new in twin.edits:
        if whole.count(old) == 0:
            raise RuntimeError(f"{twin.name}: nothing to edit: {old}")
        whole = whole.replace(old, new)
    text, _, changed = whole.partition("\0")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return changed.split()


def self_test(command, target, folder):
    compiler = TARGETS[target]
    missed = tried = 0
    for twin in TWINS:
        if twin.compiler not in (None, compiler):
            continue
        tried += 1
        # With 64 banks: fewer ones may fit into registers.
        path, options = next(
            (path, options) for part, banks, path, options
            in list(write_programs(command, folder))
            if part == twin.part and banks == 64)
        options = broken(twin, path, options)
        found = faults(compiler, twin.part,
                       compiler(target, path, options, folder))
        hits = [fault for fault in found if re.match(twin.words, fault)]
        print(f"{twin.name}: {hits[0] if hits else 'NOT FOUND'}")
        missed += not hits
    print(f"{target}: {tried} twins, {missed} not found")
    return tried > 0 and missed == 0


def main(arguments):
    task = check
    if arguments and arguments[0] == "--self-test":
        task = self_test
        arguments = arguments[1:]
    if len(arguments) != 2 or arguments[1] not in TARGETS:
        sys.exit(f"{__doc__}\nTargets: {', '.join(TARGETS)}")
    with tempfile.TemporaryDirectory() as folder:
        try:
            return 0 if task(*arguments, folder) else 1
        except compilers.Missing as missing:
            print(f"skipped: {missing}")
            return 77


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
