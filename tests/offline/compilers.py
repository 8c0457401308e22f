"""Compiles a program for a GPU that is not there, and reads what came out."""

import glob
import os
import re
import shutil
import subprocess

# What OpenCL C calls built-in functions.
AMD_BUILTINS = "/usr/lib/clc/amdgcn--amdhsa.bc"


class Missing(Exception):
    """A compiler that is not installed; says which, and in what package."""


class Kernel:
    """What the compiler made of a kernel."""

    def __init__(self):
        # For the table: vector and scalar registers; waves of a SIMD unit that
        # they, and local memory, leave room for. Intel: items of a thread.
        self.registers = self.waves = "-"
        self.scratch = 0  # bytes of private memory, spilled registers included
        self.spills = 0  # vector registers in memory
        self.lanes = 0  # scalar registers in lanes of vector registers
        self.local = 0  # bytes
        self.calls = 0
        self.loads = self.stores = 0  # of 16 bytes, to and from global memory
        # Innermost loops: loads, most of them in flight at once, stores. None:
        # nothing is known about loops.
        self.loops = None


def need(command, package):
    if shutil.which(command) is None:
        raise Missing(f"{command} is not installed (package {package})")


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, check=False, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}:\n{done.stdout}")
    return done.stdout


AMD_LOAD = re.compile(r"\tglobal_load_(dwordx4|b128)\b")
AMD_STORE = re.compile(r"\tglobal_store_(dwordx4|b128)\b")
AMD_STAGE = re.compile(r"\tds_(write|store)_b128\b")  # to local memory
AMD_WAIT = re.compile(r"\ts_waitcnt .*vmcnt\((\d+)\)")


def amd_loops(lines):
    """Lines by the innermost loop that they are in, as comments tell."""
    loops, header = {}, None
    for line in lines:
        label = re.match(r"\.LBB(\w+):(.*)|; %bb\.\d+:(.*)", line)
        if label:
            comment = label[2] or label[3] or ""
            outer = re.search(r"in Loop: Header=BB(\w+)", comment)
            header = outer[1] if outer else None
            if "=>" in comment or "Parent Loop" in comment:
                header = label[1]
        if header:
            loops.setdefault(header, []).append(line)
    return loops.values()


def amd_flight(lines):
    """The most loads in flight, in the order of lines."""
    flying = most = 0
    for line in lines:
        wait = AMD_WAIT.search(line)
        if AMD_LOAD.search(line):
            flying += 1
            most = max(most, flying)
        elif wait:
            flying = min(flying, int(wait[1]))
    return most


def count(pattern, lines):
    return sum(1 for line in lines if pattern.search(line))


def amd(cpu, path, options, _):
    """By clang 22, which knows all of the targets."""
    need("clang-22", "clang-22")
    if not os.path.exists(AMD_BUILTINS):
        raise Missing(f"{AMD_BUILTINS} is not there (package libclc-15)")
    # -w: tools/lint.sh looks for warnings; the triple of libclc is another one.
    # The options of LLVM are those that ROCm's OpenCL runtime gives.
    text = run("clang-22", "-S", "-x", "cl", *options, "-target",
               "amdgcn-amd-amdhsa", f"-mcpu={cpu}", "-nogpulib", "-O3", "-w",
               "-mllvm", "-amdgpu-internalize-symbols", "-mllvm",
               "-amdgpu-early-inline-all", "-Xclang",
               "-finclude-default-header", "-Xclang",
               "-mlink-builtin-bitcode", "-Xclang", AMD_BUILTINS, path, "-o",
               "-")
    notes = re.search(r"^amdhsa\.kernels:$(.*?)^amdhsa", text, re.M | re.S)[1]
    kernels = {}
    for entry in re.split(r"^  - ", notes, flags=re.M)[1:]:
        fields = dict(re.findall(r"^ {4}\.(\w+): +(\S+)$", entry, re.M))
        name = fields["name"]
        kernel = kernels[name] = Kernel()
        body = re.search(rf"^{name}:(.*?)^\.Lfunc_end.*?; Occupancy: (\d+)",
                         text, re.M | re.S)
        lines = body[1].splitlines()
        kernel.registers = f"{fields['vgpr_count']} + {fields['sgpr_count']}"
        kernel.waves = body[2]
        kernel.scratch = int(fields["private_segment_fixed_size"])
        kernel.spills = int(fields["vgpr_spill_count"])
        kernel.lanes = int(fields["sgpr_spill_count"])
        kernel.local = int(fields["group_segment_fixed_size"])
        kernel.calls = count(re.compile(r"\ts_swappc"), lines)
        kernel.loads = count(AMD_LOAD, lines)
        kernel.stores = count(AMD_STORE, lines)
        kernel.loops = [(count(AMD_LOAD, loop), amd_flight(loop),
                         count(AMD_STORE, loop) + count(AMD_STAGE, loop))
                        for loop in amd_loops(lines)]
    return kernels


# A message to memory of all work-items: their number, registers of data.
INTEL_LOAD = re.compile(r"send\.dc\d \((\d+)\|.*, rd:(\d+); .*"
                        r"(?:gathering|surface) read")
INTEL_STORE = re.compile(r"send\.dc\d \((\d+)\|.* wr:\d+\+(\d+),.*"
                         r"(?:scattering|surface) write")


def intel_wide(pattern, body):
    """Messages with 16 bytes for each item; a register has 32."""
    return sum(1 for items, data in pattern.findall(body)
               if int(data) * 32 // int(items) == 16)


def intel_dump(device, path, options, folder):
    """A folder with what is in the program that ocloc makes."""
    need("ocloc", "intel-opencl-icd")
    run("ocloc", "compile", "-q", "-file", path, "-device", device, "-options",
        " ".join(options), "--format", "zebin", "-output", "program",
        "-output_no_suffix", "-out_dir", folder)
    # It looks for its disassembler by a name that only a -dev package has.
    alias = os.path.join(folder, "libiga64.so")
    library = glob.glob("/usr/lib/*/libiga64.so.1")
    if not library:
        raise Missing("libiga64.so.1 is not there (package libigc1)")
    if not os.path.lexists(alias):
        os.symlink(library[0], alias)
    dump = os.path.join(folder, "dump")
    shutil.rmtree(dump, ignore_errors=True)
    os.mkdir(dump)
    run("ocloc", "disasm", "-file", os.path.join(folder, "program"), "-device",
        device, "-dump", dump, env={**os.environ, "LD_LIBRARY_PATH": folder})
    return dump


def intel(device, path, options, folder):
    dump = intel_dump(device, path, options, folder)
    with open(os.path.join(dump, ".ze_info"), encoding="utf-8") as file:
        info = file.read().partition("kernels_misc_info:")[0]
    kernels = {}
    for entry in info.split("  - name:")[1:]:
        name = entry.split()[0]
        kernel = kernels[name] = Kernel()
        fields = dict(re.findall(r"^ {6}(\w+): +(\d+)$", entry, re.M))
        kernel.registers = f"SIMD{fields['simd_size']}"
        kernel.local = int(fields.get("slm_size", 0))
        memory = entry.partition("per_thread_memory_buffers:")[2]
        kernel.scratch = sum(map(int, re.findall(r" size: +(\d+)", memory)))
        with open(os.path.join(dump, f".text.{name}.asm"),
                  encoding="utf-8") as file:
            body = file.read()
        kernel.calls = len(re.findall(r"^.* call ", body, re.M))
        kernel.loads = intel_wide(INTEL_LOAD, body)
        kernel.stores = intel_wide(INTEL_STORE, body)
    return kernels
