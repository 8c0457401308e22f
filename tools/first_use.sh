#!/usr/bin/env bash
# Times the start of clmove with its own cache and the driver's cold and warm.
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

usage() {
    cat <<'HELP'
usage: tools/first_use.sh [DEVICE]

Starts build/tools/clmove on a device (default: CLMOVE_DEVICE, else the first)
three times in each of four states: both caches off, clmove's alone warm, the
driver's alone warm, both warm. Prints the milliseconds to make an engine for
moves, one for states, and both together; before that, in brackets, those to
find the device and make a context. The driver's cache is that of NVIDIA, Mesa
or PoCL, which go by the environment; caches of others are left as they are.
Folders of its own are used, and removed at the end. Builds nothing.
HELP
}

case ${1:-} in
--help | -h)
    usage
    exit 0
    ;;
-*) usage_error "unknown argument '$1'" ;;
esac
device=(${1:+--device "$1"})
clmove=$root/build/tools/clmove
[ -x "$clmove" ] || fail "$clmove is not built"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

no_driver=(CUDA_CACHE_DISABLE=1 MESA_SHADER_CACHE_DISABLE=true
    POCL_KERNEL_CACHE=0)
driver=(CUDA_CACHE_DISABLE=0 CUDA_CACHE_PATH="$folder/cuda"
    MESA_SHADER_CACHE_DISABLE=false MESA_SHADER_CACHE_DIR="$folder/mesa"
    POCL_KERNEL_CACHE=1 POCL_CACHE_DIR="$folder/pocl")
own=CLMOVE_CACHE_DIR=$folder/clmove
no_own=CLMOVE_CACHE_DIR=off

# start VARIABLE=VALUE...: one start; its report.
start() {
    env "$@" "$clmove" cache "${device[@]}"
}

# row NAME VARIABLE=VALUE...: three starts, a line each.
row() {
    local name=$1
    shift
    for _ in 1 2 3; do
        start "$@" | awk -v name="$name" '
            /^context / { context = $2 }
            /^moves / { moves = $2; how = $4 }
            /^states / { states = $2; how = how ", " $4 }
            END {
                gsub(";", "", how)
                printf "%-20s (%8.1f) %8.1f %8.1f %8.1f  %s\n", name,
                  context, moves, states, moves + states, how }'
    done
}

mkdir "$folder/cuda" "$folder/mesa" "$folder/pocl"
start "$no_own" "${no_driver[@]}" | grep '^device '
printf '%-20s (%8s) %8s %8s %8s  %s\n' warm context moves states both parts
row neither "$no_own" "${no_driver[@]}"
start "$own" "${no_driver[@]}" >"$folder/out"
row "clmove's" "$own" "${no_driver[@]}"
start "$no_own" "${driver[@]}" >"$folder/out"
row "the driver's" "$no_own" "${driver[@]}"
start "$own" "${driver[@]}" >"$folder/out"
row both "$own" "${driver[@]}"
