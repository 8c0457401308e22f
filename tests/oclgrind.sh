#!/bin/sh
# Runs a program under Oclgrind; any report of it is a failure.
# usage: oclgrind.sh [--races-only] [--expect PATTERN]... PROGRAM [ARGUMENT...]
#
# --races-only leaves out reads of uninitialised memory, for kernels that compute
# with floats: Oclgrind 21.10 loses track of what it knows of their values.
# Exit status: the program's own; 99 when Oclgrind reported something. With
# --expect: 0 only if the report contains every PATTERN (basic regular
# expressions), so that a clean run, or another fault, is a failure. Oclgrind's
# own status says nothing about reports, hence the log. It truncates its log for
# every process: PROGRAM must not start others that use OpenCL.
set -eu

uninitialized=--uninitialized
if [ "${1:-}" = --races-only ]; then
    uninitialized=
    shift
fi
patterns=
while [ "${1:-}" = --expect ]; do
    # One a line: no pattern contains a newline.
    patterns="$patterns$2
"
    shift 2
done
if ! command -v oclgrind >/dev/null; then
    echo "oclgrind.sh: oclgrind is not installed" >&2
    exit 77
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The caller's choice is about real devices; here there is only the simulator.
unset CLMOVE_DEVICE OCL_ICD_VENDORS CLMOVE_CACHE_DIR

status=0
# shellcheck disable=SC2086 # empty, or one word
oclgrind --data-races $uninitialized --max-errors 20 --log "$log" "$@" ||
    status=$?

if [ -z "$patterns" ]; then
    if [ -s "$log" ]; then
        cat "$log" >&2
        exit 99
    fi
    exit "$status"
fi
if [ "$status" -ne 0 ]; then
    echo "oclgrind.sh: the program failed with status $status" >&2
    exit 1
fi
printf '%s' "$patterns" | while IFS= read -r pattern; do
    if ! grep -q -e "$pattern" "$log"; then
        echo "oclgrind.sh: no report contains \"$pattern\"; the log:" >&2
        cat "$log" >&2
        exit 99
    fi
    echo "oclgrind.sh: reported, as it should: $(grep -m 1 -e "$pattern" "$log")"
done
