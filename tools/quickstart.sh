#!/usr/bin/env bash
# From a bare Debian 12 or Ubuntu 24.04 to a verified replay of a recorded
# decode.
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

usage() {
    cat <<'HELP'
usage: tools/quickstart.sh [--no-install]

Installs what is missing (apt-get; sudo when not root), builds clmove in build/
and replays a recorded decode with every byte checked, on the OpenCL device
that the environment's CLMOVE_DEVICE names, or else on the first GPU,
accelerator or CPU. Where there is no OpenCL device at all, PoCL is installed,
which makes one of the CPU.

  --no-install  use what is there; say what is missing, and stop
  --help        this text

Safe to run again: nothing is installed twice, and build/ is brought up to date.
HELP
}

for argument in "$@"; do
    case $argument in
    --no-install) may_install=0 ;;
    --help | -h)
        usage
        exit 0
        ;;
    *) usage_error "unknown argument '$argument'" ;;
    esac
done

need_build
need_device
# shellcheck disable=SC2119 # no options for Meson
build_tree

command=("$root/build/tools/clmove" replay "$root/tests/data/prose-small.tsv"
    --model mamba2-char --block-size 4 --verify)
say "running: ${command[*]}"
"${command[@]}" || fail "the replay failed (exit status $?)"
say "done. Next: tools/test.sh, or build/tools/clmove --help"
