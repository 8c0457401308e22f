# What checks of a program share, as its user calls it. Sourced.
# shellcheck shell=bash
#
# Goes to a new folder, removed at the end. Whoever sources this keeps what a run
# printed in `out` and `err` there, and leaves with status 1 when `failures` are
# more than 0.

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

says() {
    grep -qF -e "$1" err || fail "stderr lacks \"$1\""
}
