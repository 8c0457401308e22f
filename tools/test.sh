#!/usr/bin/env bash
# Builds clmove and runs all its tests; the last line counts them.
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

usage() {
    cat <<'HELP'
usage: tools/test.sh [--no-install] [--werror]

Installs what is missing (apt-get; sudo when not root), builds clmove in build/
and runs every test. The last line is "N passed, N failed", with ", N skipped"
where something could not run here. The exit status is 0 only if something ran
and nothing failed.

Device tests run on PoCL, if it is installed and the environment sets neither
OCL_ICD_VENDORS nor CLMOVE_DEVICE. To test another device, set one of them:

    CLMOVE_DEVICE=gpu tools/test.sh

  --no-install  use what is there; say what is missing
  --werror      compiler warnings are errors
  --help        this text
HELP
}

options=()
for argument in "$@"; do
    case $argument in
    --no-install) may_install=0 ;;
    --werror) options+=(-Dwerror=true) ;;
    --help | -h)
        usage
        exit 0
        ;;
    *) usage_error "unknown argument '$argument'" ;;
    esac
done

need_build
need_device
want libcmocka-dev
want oclgrind
# For Intel it takes ocloc, which is used where it is. In Debian it comes with a
# driver, and whether to have that one is the user's choice.
want clang-22 libclc-15

build_tree "${options[@]}"
if ! is_there libcmocka-dev; then
    say "the library and the command are built; the tests are not, because" \
        "cmocka is missing"
    echo "0 passed, 0 failed"
    exit 1
fi

if [ -z "${OCL_ICD_VENDORS:-}" ] && [ -z "${CLMOVE_DEVICE:-}" ] &&
    [ -f /etc/OpenCL/vendors/pocl.icd ]; then
    export OCL_ICD_VENDORS=pocl.icd
fi
# PoCL aborts on a damaged cache entry, so each run starts from an empty one.
if [ -z "${POCL_CACHE_DIR:-}" ]; then
    export POCL_CACHE_DIR=$root/build/pocl-cache
    rm -rf "$POCL_CACHE_DIR"
fi
export CLMOVE_TEST_REQUIRE_DEVICE=1

say "testing (device: ${CLMOVE_DEVICE:-${OCL_ICD_VENDORS:-the first there is}})"
log=$root/build/meson-logs/testlog.json
rm -f "$log"
status=0
meson test -C "$root/build" --print-errorlogs || status=$?
if ! is_there oclgrind; then
    say "Oclgrind is missing: the race checks were not run"
fi
find_missing clang-22 libclc-15 intel-opencl-icd
if [ ${#missing[@]} -gt 0 ]; then
    say "missing: ${missing[*]}: not all kernels were compiled for other devices"
fi
python3 "$root/tools/count_tests.py" "$log" || status=1
exit "$((status ? 1 : 0))"
