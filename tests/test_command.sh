#!/bin/bash
# Checks of the clmove command as a user calls it.
# usage: test_command.sh CLMOVE plan|device
#
# plan: what needs no device, and is run with none. device: on the caller's.
set -u

clmove=$(realpath "$1")
suite=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
    echo "FAILED: $*" >&2
    sed 's/^/  stdout: /' out >&2
    sed 's/^/  stderr: /' err >&2
    failures=$((failures + 1))
}

# expect STATUS ARGUMENT...: runs the command, checks its exit status.
expect() {
    local wanted=$1 status=0
    shift
    "$clmove" "$@" >out 2>err || status=$?
    [ "$status" -eq "$wanted" ] || fail "status $status, not $wanted: $*"
}

says() {
    grep -qF -e "$1" err || fail "stderr lacks \"$1\""
}

prints() {
    grep -qE -e "$1" out || fail "stdout lacks \"$1\""
}

# bad SENTENCE LINE...: a list that must be refused with it.
bad() {
    local sentence=$1
    shift
    printf '%s\n' "$@" >bad.txt
    expect 2 batch bad.txt --plan
    says "$sentence"
    [ ! -s out ] || fail "something was printed for a bad list"
}

check_plan() {
    unset OCL_ICD_FILENAMES OPENCL_VENDOR_PATH
    export OCL_ICD_VENDORS=/nonexistent
    bad 'bad.txt:1: size is missing (field 3)' '0 4'
    bad 'bad.txt:3: dst (field 2) is not a whole number: "x4"' '# a' '' '0 x4 4'
    bad 'bad.txt:1: src (field 1) is negative: -1' '-1 4 4'
    bad 'bad.txt:1: size (field 3) is not a whole number: "0x"' '0 4 0x'
    bad 'bad.txt:1: dst (field 2) must be at most' '0 0x10000000000000000 1'
    bad 'bad.txt:1: src_stride is missing (field 5)' '0 4 4 2'
    bad 'bad.txt:1: more than 6 fields' '0 4 4 1 0 0 9'
    bad 'bad.txt:1: rows (field 4) must be at least 1, not 0' '0 4 4 0 4 4'
    bad 'the end of dst does not fit 64 bits' '0 0xffffffffffffffff 2'
    bad 'bad.txt:1: the line ends in CR LF' $'0 4 4\r'
    # Both lines and the byte, whatever their order.
    bad 'bad.txt:2 writes byte 104, and bad.txt:1 writes it' \
        '0 104 4' '8 100 8' '50 60 4'
    bad 'bad.txt:1: one of its rows writes byte 102' '0 100 4 2 4 2'
    expect 2 batch nothing.txt --plan
    says 'nothing.txt: cannot be opened'

    # Comments, hexadecimal, blanks; a no-op conflicts with nothing.
    printf '# list\n\n 0\t100 0x10 # one\n8 8 4\n0 8 0\n' >fine.txt
    expect 0 batch fine.txt --plan
    prints '^entries +3 in 3 lines, 2 of them do nothing$'
    prints '^bytes moved +16 '
    : >empty.txt
    expect 0 batch empty.txt --plan
    prints '^entries +0 in 0 lines'
    "$clmove" batch - --plan <fine.txt >out 2>err || fail 'a list from a pipe'
    prints '^entries +3 '

    # Swap, chain, overlap to both sides.
    printf '0 16 16\n16 0 16\n100 90 20\n200 210 20\n' >classes.txt
    expect 0 batch classes.txt --plan
    prints '^ +1 +0 +endangered'
    prints '^ +2 +0 +endangered'
    prints '^ +3 +0 +left '
    prints '^ +4 +0 +right '
    prints '^launches +2$'
    expect 2 batch classes.txt --plan --variant disjoint
    expect 2 batch classes.txt --plan --device-arrays
    says 'reads it'
    for i in $(seq 0 99); do echo "$((i * 10)) $((5000 + i * 20)) 5"; done \
        >long.txt
    expect 0 batch long.txt --plan
    prints '^and 60 more: 60 disjoint$'

    # Bounds of the file, before any device is asked for.
    head -c 64 /dev/zero >small
    expect 2 batch fine.txt --in small --out other
    says 'fine.txt:3: dst reaches up to byte 116, and small has 64 bytes'
    [ ! -e other ] || fail 'a file was written'
    expect 2 batch fine.txt --in missing --out other
    expect 2 batch fine.txt --in small
    expect 2 batch fine.txt --out other
    expect 2 batch fine.txt --plan --repeat 3
    expect 2 batch fine.txt --variant driver
    expect 2 batch
    expect 3 batch fine.txt
    says 'there is no OpenCL device'
    expect 3 bench move
    expect 2 bench nonsense
    expect 2 bench
    expect 2 check --only states --variant split
    expect 2 check --only batches --variant driver
    expect 2 check --only nonsense
    for command in batch bench check devices replay; do
        expect 0 "$command" --help
        prints "^usage: clmove $command"
    done
}

check_device() {
    "$clmove" devices >out 2>err || { cat err >&2; exit 77; }
    printf 'AAAABBBBCCCCDDDD' >cycle
    printf '0 4 4\n4 8 4\n8 0 4\n' >cycle.txt
    expect 0 batch cycle.txt --in cycle --out cycle.out
    [ "$(cat cycle.out)" = CCCCAAAABBBBDDDD ] || fail "cycle: $(cat cycle.out)"
    prints '^result +equals'
    # In place; the permissions stay, and nothing is left beside it.
    chmod 640 cycle
    expect 0 batch cycle.txt --in cycle --out cycle --scratch 64 --repeat 3
    [ "$(cat cycle)" = CCCCAAAABBBBDDDD ] || fail "in place: $(cat cycle)"
    [ "$(stat -c %a cycle)" = 640 ] || fail 'permissions changed'
    [ -z "$(find . -name '*.clmove-*')" ] || fail 'a temporary file is left'
    prints '^wall, mean '
    # Rows, and every variant.
    printf 'abcdefghijklmnop' >rows
    printf '0 1 3 4 4 4\n' >rows.txt
    for variant in auto group split segments; do
        expect 0 batch rows.txt --in rows --out rows.out --variant "$variant"
        [ "$(cat rows.out)" = aabceefgiijkmmno ] ||
            fail "rows, $variant: $(cat rows.out)"
    done
    expect 0 batch rows.txt --in rows --out rows.out --device-arrays
    [ "$(cat rows.out)" = aabceefgiijkmmno ] || fail 'rows, device arrays'
    # Without files; nothing to do at all.
    expect 0 batch cycle.txt --repeat 2
    : >empty.txt
    expect 0 batch empty.txt
    expect 0 batch empty.txt --device-arrays
    : >empty
    expect 0 batch empty.txt --in empty --out empty.out
    [ -e empty.out ] || fail 'no output for an empty file'
    # Refusals leave the output alone.
    printf 'old' >kept
    printf '0 64 4\n' >far.txt
    expect 2 batch far.txt --in cycle --out kept
    expect 2 batch cycle.txt --in cycle --out /nonexistent/kept
    says 'cannot be written'
    printf '0 1 4\n5 0 1\n' >chain.txt
    expect 2 batch chain.txt --in cycle --out kept --scratch 1
    [ "$(cat kept)" = old ] || fail 'the output was changed'
    expect 2 batch cycle.txt --device-arrays --in cycle --out kept

    expect 0 check --seed 5 --case 3
    expect 0 check --seed 5 --case 3 --only batches
    expect 0 check --seed 5 --case 4 --variant split
    prints '^no difference$'
}

"check_$suite"
[ "$failures" -eq 0 ] || exit 1
