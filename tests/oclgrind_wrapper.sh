#!/bin/sh
# Proves that oclgrind.sh can fail, both ways.
# usage: oclgrind_wrapper.sh OCLGRIND_SH TEST_BROKEN
set -u
wrapper=$1
program=$2
race='Read-write data race at global memory'

# Runs the wrapper; its exit status must be the first argument.
expect() {
    want=$1
    shift
    "$wrapper" "$@" >/dev/null 2>&1
    status=$?
    if [ "$status" -ne "$want" ]; then
        echo "exit status $status in place of $want: $*" >&2
        exit 1
    fi
}

expect 0 "$program" --probe none
expect 99 --expect "$race" "$program" --probe none
expect 99 "$program" --probe 'local fence only'
expect 0 --expect "$race" "$program" --probe 'local fence only'
expect 99 --expect "$race" --expect 'no such words' "$program" \
    --probe 'local fence only'
expect 1 --expect "$race" "$program" --probe 'no such probe'
expect 2 "$program" --probe 'no such probe'
