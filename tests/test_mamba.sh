#!/bin/bash
# Checks of clmove-mamba, the language model, as a user calls it.
# usage: test_mamba.sh PROGRAM KERNEL_FOLDER usage|texts|modes|broken
#
# usage: what needs no device. texts: a few modes to the end of the texts that
# another implementation wrote. modes: all modes. broken: with a conv shift that
# walks tokens downwards, texts must differ.
set -u

mamba=$(realpath "$1")
kernels=$(realpath "$2")
suite=$3
# shellcheck source=tests/program.sh
. "$(dirname "$(realpath "$0")")/program.sh"

# expect STATUS ARGUMENT...: runs the program, checks its exit status. Without a
# device the test is skipped.
expect() {
    local wanted=$1 status=0
    shift
    "$mamba" "$@" >out 2>err || status=$?
    if [ "$status" -eq 3 ] && [ "$wanted" -ne 3 ]; then
        cat err >&2
        [ -z "${CLMOVE_TEST_REQUIRE_DEVICE:-}" ] || exit 1
        exit 77
    fi
    [ "$status" -eq "$wanted" ] || fail "status $status, not $wanted: $*"
}

# rows WORD: how many rows of the table start with it.
rows() {
    grep -c "^$1 " out
}

check_usage() {
    unset OCL_ICD_FILENAMES OPENCL_VENDOR_PATH
    export OCL_ICD_VENDORS=/nonexistent
    expect 0 --help
    grep -q '^usage: clmove-mamba' out || fail 'no usage in the help'
    expect 2 --batch 0
    says '--batch must be a whole number from 1 to 1024, not "0"'
    expect 2 --draft 4x
    says '--draft must be a whole number from 0 to 64, not "4x"'
    expect 2 --layout sx
    says '--layout must not be "sx"'
    expect 2 --full
    expect 2 --nonsense
    expect 2 --prompts /nonexistent/prompts
    says '/nonexistent/prompts: No such file'
    : >none.txt
    expect 2 --prompts none.txt
    says 'none.txt: it has no prompts'
    expect 2 --weights /nonexistent
    says '/nonexistent/weights.bin: No such file'
    # Files that do not fit together.
    local model
    model=$(dirname "$kernels")/examples/mamba/model
    mkdir short && cp "$model"/*.tsv "$model/vocab.txt" short
    head -c 1000 "$model/weights.bin" >short/weights.bin
    expect 2 --weights short
    says 'embedding of shape 73x128 at 0 does not lie in the 1000 bytes'
    cp "$model/weights.bin" short
    grep -v '^block1.d	' "$model/weights.tsv" >short/weights.tsv
    expect 2 --weights short
    says 'd of layer 1 has shape 0x0, and must have 1x4'
    cp "$model/weights.tsv" short
    sed -i 5d short/vocab.txt
    expect 2 --weights short
    says 'embedding of layer 0 has shape 73x128, and must have 72x128'
    expect 3
}

# The table of a run in which all is well: so many modes, all but the first with
# prefixes found.
check_table() {
    [ "$(rows base) $(rows same)" = "1 $(($1 - 1))" ] || fail "not $1 rows"
    grep -q "^$1 modes, 10 texts each, 6 compared .*: all the same$" out ||
        fail 'no verdict'
    awk '/^same/ && $8 < 32 { exit 1 }' out || fail 'no prefix was found'
}

check_texts() {
    expect 0 --compare --tokens 384
    check_table 11
    # A text does not depend on what else is in the batch, nor on how its prompt
    # is cut; prompts come from the command line or a file.
    expect 0 --quiet --tokens 60 'Blessed are ' 'And it came to pass'
    grep -E '^[0-9a-f]{16} ' out >together
    printf 'Blessed are \n\nAnd it came to pass\n' >prompts.txt
    expect 0 --quiet --tokens 60 --prompts prompts.txt --batch 1 --chunk 5 \
        --block-size 3 --draft 7 --no-prefix-cache
    grep -E '^[0-9a-f]{16} ' out >alone
    cmp -s together alone || fail 'texts differ between batches'
    [ "$(wc -l <alone)" -eq 2 ] || fail 'not two hashes'
    # What it says is what it hashed.
    expect 0 --tokens 24 'Blessed are '
    grep -q '^--- Blessed are they that were with him,$' out || fail 'no text'
    expect 2 'Wh@t'
    says 'the model does not know character 3 (code 64)'
    expect 2 ''
    says 'a prompt is empty'
    CLMOVE_GROUP_SIZE=0 expect 2 'Blessed are '
    says 'CLMOVE_GROUP_SIZE is "0"'
    CLMOVE_KERNEL_DIR=/nonexistent expect 2 'Blessed are '
    says '/nonexistent/common.cl'
}

check_modes() {
    expect 0 --compare --full --block-size 4 --tokens 48
    check_table 84
}

check_broken() {
    cp -r "$kernels" broken
    local walk='for (uint first = 0; first < tokens; first += CLMOVE_TOKENS)'
    local down='for (uint first = tokens - 1; first < tokens; first -= 1)'
    grep -qF "$walk" broken/ssm_copy.cl || fail 'the walk is written otherwise'
    grep -q '^#define CLMOVE_TOKENS 4$' broken/ssm_copy.cl ||
        fail 'no CLMOVE_TOKENS'
    sed -i 's/^#define CLMOVE_TOKENS 4$/#define CLMOVE_TOKENS 1/' \
        broken/ssm_copy.cl
    # A token at a time, upwards: slow and right.
    export CLMOVE_KERNEL_DIR=$PWD/broken
    expect 0 --compare --block-size 4
    check_table 11
    sed -i "s/$walk/$down/" broken/ssm_copy.cl
    grep -qF "$down" broken/ssm_copy.cl || fail 'the edit did not match'
    for size in 4 8; do
        expect 1 --compare --block-size "$size" --show
        [ "$(rows WRONG)" -ge 2 ] || fail "block size $size: not noticed"
        grep -q '^  wrong: ' out || fail 'no wrong text is shown'
        # What does not shift in place is right.
        awk '/^WRONG/ && ($7 == 0 || $5 == "checkpoint" || $6 == "clones") {
                 exit 1 }' out || fail 'a mode is wrong that cannot be'
    done
}

"check_$suite"
[ "$failures" -eq 0 ] || exit 1
