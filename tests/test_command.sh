#!/bin/bash
# Checks of the clmove command as a user calls it.
# usage: test_command.sh CLMOVE device
#        test_command.sh CLMOVE cache DRIVER
#        test_command.sh CLMOVE plan|replay|bench|plot SOURCES
#
# plan: what needs no device, and is run with none. device: on the caller's.
# cache: there too, with a library preloaded that makes it give binaries.
# SOURCES is the folder with cl/ and tests/. replay: a decode in each way, then
# with kernels that are wrong. bench: the benchmarks. plot: their pictures, if
# gnuplot is there.
set -u

clmove=$(realpath "$1")
suite=$2
driver='' sources=''
case $suite in
cache) driver=$(realpath "$3") ;;
plan | replay | bench | plot) sources=$(realpath "$3") ;;
esac
# shellcheck source=tests/program.sh
. "$(dirname "$(realpath "$0")")/program.sh"

# expect STATUS ARGUMENT...: runs the command, checks its exit status.
expect() {
    local wanted=$1 status=0
    shift
    LD_PRELOAD=$driver "$clmove" "$@" >out 2>err || status=$?
    [ "$status" -eq "$wanted" ] || fail "status $status, not $wanted: $*"
}

# Without a device the test is skipped, unless there must be one.
need_device() {
    local status=0
    "$clmove" devices >out 2>err || status=$?
    [ "$status" -ne 0 ] || return 0
    cat err >&2
    [ "$status" -ne 3 ] || [ -n "${CLMOVE_TEST_REQUIRE_DEVICE:-}" ] || exit 77
    exit 1
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

# wrong SENTENCE SED: a trace, edited so, that must be refused with it.
wrong() {
    local trace=$sources/tests/data/prose-small.tsv
    sed "$2" "$trace" >trace.tsv
    cmp -s trace.tsv "$trace" && fail "sed changed nothing: $2"
    expect 2 replay trace.tsv --model mamba2-char
    says "$1"
    [ ! -s out ] || fail 'something was printed for a wrong trace'
}

check_traces() {
    local models=$sources/tools/models.tsv
    expect 3 replay "$sources/tests/data/prose-small.tsv" --model mamba2-char
    wrong 'trace.tsv:30: computed is 103, and must be 102, where the last row' \
        '30s/\t102\t/\t103\t/'
    wrong 'trace.tsv:8: computed is 7 in the first row of slot 1' \
        '8s/\t0\t48/\t7\t48/'
    wrong "the trace ends after 20 of the header's 120 steps" '81,999d'
    wrong 'trace.tsv:12: accepted is 9, and must be 1 to draft + 1' \
        '12s/[0-9]*$/9/'
    wrong 'trace.tsv:12: accepted (field 6) is missing' '12s/[0-9]*$//'
    wrong "slot 4 is beyond the header's 4 slots" '8s/\t1\t0/\t4\t0/'
    wrong 'has a second row in step' '12p'
    wrong 'step 1 has 1073741869 tokens scheduled, and must have at most' \
        '9s/\t44\t/\t1073741821\t/'
    wrong 'the line ends in CR LF' '12s/$/\r/'
    wrong 'the header "# slots: ..." is missing' '/^# slots/d'
    sed 's/fp32$/fp33/' "$models" >models.tsv
    expect 2 replay "$sources/tests/data/prose-small.tsv" --model mamba2-char \
        --models models.tsv
    says 'temporal_dtype is "fp33"'
}

check_plan() {
    unset OCL_ICD_FILENAMES OPENCL_VENDOR_PATH
    export OCL_ICD_VENDORS=/nonexistent
    check_traces
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
    expect 3 bench states
    expect 2 bench nonsense
    expect 2 bench
    expect 2 bench states --model nonsense
    says 'is not in the built-in models.tsv'
    local nine=()
    for _ in 1 2 3 4 5 6 7 8 9; do nine+=(--model qwen3.5-9b); done
    expect 2 bench states "${nine[@]}"
    says '--model can be given at most 8 times'
    expect 2 bench move --model qwen3.5-9b
    says '--model is not for move'
    expect 2 bench states --layout ds
    expect 2 bench replay --model qwen3.5-9b
    says 'replay needs --trace FILE and one --model NAME'
    expect 2 bench replay --trace missing --model qwen3.5-9b
    says 'missing'
    expect 2 bench batch --plot pictures
    says '--plot is not for batch'
    expect 2 bench replay --trace missing --model qwen3.5-9b --only sd
    says '--only is not for replay'
    PATH=/nonexistent expect 2 bench move --plot pictures
    says '--plot needs the program gnuplot'
    says 'gnuplot-nox'
    [ ! -e pictures ] || fail 'a folder was made for no pictures'
    expect 2 check --only states --variant split
    expect 2 check --only batches --variant driver
    expect 2 check --only nonsense
    expect 3 cache
    expect 2 cache --clear --device cpu
    for command in batch bench cache check devices replay; do
        expect 0 "$command" --help
        prints "^usage: clmove $command"
    done
}

check_device() {
    need_device
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

    # A mistake in the environment is one of the user's, not of OpenCL.
    local mistake
    for mistake in CLMOVE_VARIANT=fastest CLMOVE_GROUP_SIZE=0 \
        CLMOVE_GROUP_COUNT=many CLMOVE_TILE_SIZE=15 \
        CLMOVE_KERNEL_DIR=/nonexistent; do
        (export "${mistake?}" && expect 2 batch cycle.txt && exit "$failures") ||
            failures=$?
        says "${mistake#*=}"
    done

    expect 0 check --seed 5 --case 3
    expect 0 check --seed 5 --case 3 --only batches
    expect 0 check --seed 5 --case 4 --variant split
    prints '^no difference$'
}

# lists COUNT [FOLDER]: how many programs the folder holds, and nothing else.
lists() {
    local here=${2:-$HOME/.cache/clmove} count
    count=$(find "$here" -name '*.program' 2>/dev/null | wc -l)
    [ "$count" -eq "$1" ] || fail "$count programs, not $1, in $here"
    [ -z "$(find "$here" -type f ! -name '*.program' 2>/dev/null)" ] ||
        fail "something else lies in $here"
}

# starts taken|compiled: what both parts must report of a start.
starts() {
    expect 0 cache
    prints "^moves +[0-9.]+ ms, $1"
    prints "^states +[0-9.]+ ms, $1"
    [ ! -s err ] || fail 'a warning'
}

# uncached: it works, and keeps nothing anywhere.
uncached() {
    expect 0 batch cycle.txt
    [ ! -s err ] || fail 'a warning'
    starts 'compiled; no folder is used'
    prints '^folder +none$'
}

check_cache() {
    need_device
    # The sanitizer would rather be the first library.
    export ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0"
    unset CLMOVE_CACHE_DIR XDG_CACHE_HOME
    # NVIDIA's driver would write into each home.
    export CUDA_CACHE_DISABLE=1
    local home here there
    local in_root=(/clmove /.cache /.cache/clmove /nonexistent)
    printf '0 4 4\n4 8 4\n8 0 4\n' >cycle.txt
    here=$(find . | sort)
    there=$(ls -d "${in_root[@]}" 2>/dev/null)

    # No home: nothing is kept, and nothing written here or in /.
    for home in '' / // relative . "$folder/cycle.txt" /nonexistent; do
        HOME=$home uncached
    done
    (unset HOME && uncached && exit "$failures") || failures=$?
    # The loader must find the same drivers; a variable that is set and empty
    # would be another choice.
    local loader=() name
    for name in OCL_ICD_VENDORS OCL_ICD_FILENAMES OPENCL_VENDOR_PATH \
        LD_LIBRARY_PATH; do
        [ -z "${!name:-}" ] || loader+=("$name=${!name}")
    done
    env -i PATH="$PATH" LD_PRELOAD="$driver" ASAN_OPTIONS="$ASAN_OPTIONS" \
        LSAN_OPTIONS="${LSAN_OPTIONS:-}" \
        "${loader[@]}" CUDA_CACHE_DISABLE=1 \
        CLMOVE_DEVICE="${CLMOVE_DEVICE:-}" \
        RUSTICL_ENABLE="${RUSTICL_ENABLE:-}" \
        POCL_CACHE_DIR="${POCL_CACHE_DIR:-}" \
        "$clmove" batch cycle.txt >out 2>err || fail 'env -i'
    [ ! -s err ] || fail 'a warning'
    [ "$(find . | sort)" = "$here" ] || fail "written here: $(find .)"
    [ "$(ls -d "${in_root[@]}" 2>/dev/null)" = "$there" ] ||
        fail 'written into /'

    # A home: the second start takes what the first one kept.
    export HOME="$folder/a home with spaces, ä"
    mkdir "$HOME"
    starts compiled
    lists 2
    [ "$(stat -c %a "$HOME/.cache/clmove")" = 700 ] || fail 'mode of the folder'
    [ "$(stat -c %a "$HOME/.cache")" = 700 ] || fail 'mode of .cache'
    for _ in 2 3; do
        starts taken
        prints '^entries +2,'
        prints ' move +2 +[0-9]'
        prints ' ssm +4 +[0-9]'
        lists 2
    done
    expect 0 batch cycle.txt
    lists 2
    : >"$HOME/.cache/clmove/0123456789abcdef0123456789abcdef.program"
    echo mine >"$HOME/.cache/clmove/mine.txt"
    expect 0 cache
    expect 0 cache --clear
    prints '^removed +3 of 3 files'
    [ "$(ls "$HOME/.cache/clmove")" = mine.txt ] || fail 'not just that'
    rm "$HOME/.cache/clmove/mine.txt"
    starts compiled

    # XDG_CACHE_HOME goes before HOME, if it is a path; our own before both.
    mkdir xdg
    export XDG_CACHE_HOME=xdg
    starts taken
    export XDG_CACHE_HOME=$folder/xdg
    starts compiled
    lists 2 xdg/clmove
    export CLMOVE_CACHE_DIR=$folder/own
    starts compiled
    lists 2 own
    export CLMOVE_CACHE_DIR=off
    uncached
    # One warning about a folder that cannot be used, and no other harm.
    export CLMOVE_CACHE_DIR=$folder/cycle.txt/below
    expect 0 batch cycle.txt
    [ "$(wc -l <err)" -eq 1 ] || fail 'not one line on stderr'
    says 'warning: the cache folder'
    expect 0 check --seed 5 --case 3
    [ "$(grep -c 'warning: ' err)" -eq 1 ] || fail 'not one warning'
}

# broken FILE FIND REPLACE: the kernels in broken/, one line of them edited.
broken() {
    rm -rf broken
    mkdir broken
    cp "$sources"/cl/*.cl broken
    [ "$(grep -cF -e "$2" "broken/$1")" -eq 1 ] || fail "$1 has not one \"$2\""
    FIND=$2 REPLACE=$3 awk '{
        at = index($0, ENVIRON["FIND"])
        if (at)
            $0 = substr($0, 1, at - 1) ENVIRON["REPLACE"] \
                substr($0, at + length(ENVIRON["FIND"]))
        print
    }' "$sources/cl/$1" >"broken/$1"
}

# rows SUBJECT COUNT [CLOCK]: lines of all.tsv by a clock, or by wall time.
rows() {
    local count
    count=$(awk -F'\t' -v subject="$1" -v clock="${3:-wall}" \
        '$1 == subject && $4 == clock' all.tsv | wc -l)
    [ "$count" -ge "$2" ] || fail "$1: $count rows by ${3:-wall}, not $2"
}

check_bench() {
    local replay=(bench replay --quick --model mamba2-char
        --trace "$sources/tests/data/prose-small.tsv")
    need_device
    expect 0 bench all --quick --model mamba2-char --tsv all.tsv
    prints '^48 cases against the baseline by wall: '
    rows move 14
    rows batch 4
    rows states $((48 + 7 * 2 * 2 + 6 * 2 * 2))
    rows host $(((1 + 17) * 2 + 3)) host
    [ -z "$(awk -F'\t' '!/^#/ && NF != 14' all.tsv)" ] ||
        fail 'all.tsv has lines that have not 14 columns'
    # What --only leaves out, and that it leaves something.
    expect 0 bench batch --quick --only 'shift 16' --tsv only.tsv
    grep -q '^batch.*shift 16' only.tsv || fail 'shift 16 is missing'
    grep -q '^batch.*planning' only.tsv && fail 'planning was not left out'
    expect 2 bench move --quick --only 'nonsense;more of it'
    says 'no case has a name with one of the texts "nonsense;more of it"'
    expect 0 "${replay[@]}" --tsv replay.tsv
    prints '^replay sd, [0-9]+ cross '
    prints '^replay ds, [0-9]+ cross '
    expect 0 "${replay[@]}" --layout ds --layers 1 --shrink 2
    grep -q '^replay sd' out && fail 'a layout was not left out'

    # What a kernel does wrong must fail the run.
    export CLMOVE_KERNEL_DIR=broken
    broken ssm_copy.cl 'min(state->src_width - bias, state->dst_width)' \
        'state->dst_width'
    expect 1 bench states --quick --model mamba2-char
    says 'clmove and the baseline leave different bytes'
    expect 1 "${replay[@]}"
    says 'clmove and the baseline leave different bytes'
    broken ssm_decide.cl '(fate & ROW_RESETS) != 0 ? 1 :' ''
    expect 1 bench states --quick --model mamba2-char
    says 'clmove left accepted[0] = 2, and not 1'
    broken ssm.cl 'const uint bias = (uint)copy->bias;' \
        'const uint bias = (uint)copy->bias; if (items > 0) return;'
    expect 1 bench states --quick --model mamba2-char
    says 'clmove changed 0 pages, and not '
    broken move.cl 'const uint here = (uint)(last - first);' \
        'const uint here = (uint)(last - first) - 1;'
    expect 1 bench batch --quick
    says 'is wrong, by clmove'
    expect 1 bench move --quick --only 'left by 16'
    says 'move left by 16: byte '
    expect 1 bench batch --quick --only 'iB, planned'
    says 'x 1 MiB, planned: byte '
    broken move.cl '(number - before) * DEVICE_TILE' \
        '(number - before) * (DEVICE_TILE - 16)'
    expect 1 bench batch --quick --only 'iB, listed'
    says 'x 1 MiB, listed: byte '
}

# replays ARGUMENT...: a replay in which all checks pass, with the hash of
# hash.txt.
replays() {
    expect 0 "${replay[@]}" "$@"
    prints '^verified: all [1-9][0-9]* checks passed$'
    grep -qxF -e "$(cat hash.txt)" out || fail "another hash: $*"
}

# notices SENTENCE ARGUMENT...: a replay that a check must end.
notices() {
    local sentence=$1
    shift
    expect 1 "${replay[@]}" "$@"
    prints '^verified: FAILED after [0-9]+ checks$'
    prints "$sentence"
    grep -q '^hash: ' out && fail "a hash of what is wrong: $*"
}

check_replay() {
    local replay=(replay "$sources/tests/data/prose-small.tsv"
        --model mamba2-char --block-size 4 --verify) way layout
    local ways=('--order v1' '--order v2' '--order v2 --tables row'
        --host-decisions --checkpoint)
    need_device
    # 4 layers of 320 channels and 4 x 64 x 32 elements, of 4 bytes each.
    python3 "$sources/tests/replay_hash.py" "${replay[1]}" \
        4 4 $((320 * 4)) $((4 * 64 * 32 * 4)) >hash.txt || fail 'no hash'
    for way in "${ways[@]}"; do
        for layout in sd ds; do
            # shellcheck disable=SC2086
            replays $way --layout $layout
        done
    done
    replays --compare blocks
    replays --compare blocks --checkpoint
    replays --compare device --layout ds
    replays --compare device --order v2
    # What the README says that it prints, and counts.
    replays
    grep -E '^(verified|hash): ' out | while read -r line; do
        grep -qxF -e "    $line" "$sources/README.md" || exit 1
    done || fail 'README.md has other lines'
    expect 0 "${replay[@]:0:6}"
    prints '^not verified$'
    grep -q '^hash: ' out && fail 'a hash without checks'

    # What a kernel does wrong must end the replay.
    export CLMOVE_KERNEL_DIR=broken
    broken ssm_copy.cl 'min(state->src_width - bias, state->dst_width)' \
        'min(state->src_width - bias, state->dst_width) - 1'
    notices 'conv state: byte [0-9]+ of the page differs from the reference$'
    notices 'byte [0-9]+ of the page differs' --compare blocks --layout ds
    notices 'byte [0-9]+ of the page is not what' --compare device
    notices 'byte [0-9]+ of the page' --host-decisions
    notices 'byte [0-9]+ of the page' --checkpoint
    # Beyond a state's end: padding is compared as well.
    broken ssm_copy.cl \
        'copy_bytes(dst + body, src + body, size - body, item, items);' \
        'copy_bytes(dst + body, src + body, size - body + 1, item, items);'
    for way in whole blocks device; do
        notices 'padding: byte [0-9]+ of the page' --compare "$way"
    done
    notices 'padding: byte [0-9]+ of the page' --checkpoint
    broken ssm_decide.cl '(fate & ROW_RESETS) != 0 ? 1 :' ''
    notices 'accepted of slot [0-9]+ is [0-9]+, and should be 1$'
    notices 'accepted of slot [0-9]+ is [0-9]+, and should be 1$' --order v2
    broken ssm_decide.cl 'copy->bias = max(inputs->accepted - 1, 0);' \
        'copy->bias = inputs->accepted;'
    for way in whole device; do
        notices 'of the page' --compare "$way" --order v2
    done
    broken ssm.cl 'const uint bias = (uint)copy->bias;' \
        'const uint bias = (uint)copy->bias; if (items > 0) return;'
    notices 'byte [0-9]+ of the page' --compare device
}

# curves FIGURE COUNT: its picture is whole XML, its script draws so many curves,
# and each of them has a point.
curves() {
    python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' \
        "pictures/$1.svg" 2>err || fail "$1.svg is not well-formed"
    [ "$(grep -c "'$1.dat' index" "pictures/$1.gp")" -eq "$2" ] ||
        fail "$1.gp has not $2 curves"
    [ "$(awk '/^[0-9]/ && before !~ /^[0-9]/ { n++ } { before = $0 } END {
        print n + 0 }' "pictures/$1.dat")" -eq "$2" ] ||
        fail "$1.dat has not $2 curves"
}

# drawn FIGURE CASE X COLUMN rate|us: a point of the figure, as the table has
# it; X may be "bytes".
drawn() {
    local point
    point=$(awk -F'\t' -v name="$2" -v x="$3" -v column="$4" -v unit="$5" '
        $2 == name && $4 == "device" && !n++ {
            y = unit == "rate" ? 2 * $3 / $column / 1000 : $column
            printf "%.0f %.6g", x == "bytes" ? $3 : x, y
        }' rows.tsv)
    grep -qxF -e "$point" "pictures/$1.dat" ||
        fail "$1.dat has no point $point"
}

check_plot() {
    command -v gnuplot >/dev/null || { echo 'gnuplot is missing' >&2; exit 77; }
    need_device
    expect 0 bench move --quick --only 'by 1;by 65536;disjoint' \
        --plot pictures --tsv rows.tsv
    curves move_size 5
    curves move_shift 3
    [ ! -e pictures/states_batch.svg ] || fail 'states were drawn'
    if grep -q $'\tdevice\t' rows.tsv; then
        drawn move_size 'disjoint, kernel' bytes 5 rate
        drawn move_size 'disjoint, auto' bytes 9 rate
        drawn move_shift 'right by 65536' 65536 5 rate
    fi
    # Redrawn by hand; a folder that is there is used again.
    rm pictures/move_size.svg
    (cd pictures && gnuplot move_size.gp) >out 2>err || fail 'not drawn again'
    curves move_size 5
    expect 0 bench states --quick --model mamba2-char --only 'cross;idle' \
        --plot pictures --tsv rows.tsv
    curves states_batch 9
    if grep -q $'\tdevice\t' rows.tsv; then
        drawn states_batch 'mamba2-char ds, 16 cross' 16 5 us
        drawn states_batch 'mamba2-char v1, 512 idle' 512 9 us
    fi
    # Panels without points are left out.
    rm -r pictures
    expect 0 bench states --quick --model mamba2-char --only 'sd, 1 cross' \
        --plot pictures
    curves states_batch 3
    expect 2 bench move --quick --plot rows.tsv
    says 'rows.tsv: is no folder that can be written to'
    mkdir pictures/move_size.gp
    expect 2 bench move --quick --only 'disjoint' --plot pictures
    says 'pictures/move_size.gp: cannot be written'
}

"check_$suite"
[ "$failures" -eq 0 ] || exit 1
