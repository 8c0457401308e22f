#!/usr/bin/env bash
# Checks the layout of the sources, then the kernels with clang.
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

usage() {
    cat <<'HELP'
usage: tools/lint.sh [--no-install]

Checks, changing nothing: that clang-format 14 would leave every C, header and
kernel file as it is; that clang finds no fault in any kernel file, taken alone
as OpenCL C 1.2 for 64-bit and 32-bit devices, every warning on; and, if
shellcheck is there, the shell scripts.

  --no-install  use what is there; say what is missing, and stop
  --help        this text
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

need clang clang-format-14
cd "$root"

# The project's files that match the patterns; build folders are not its own.
# New files that nobody has added to git yet count, ignored ones do not.
project_files() {
    local pattern name_test=()
    if have git && git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files --cached --others --exclude-standard -- "$@" |
            while IFS= read -r file; do
                if [ -f "$file" ]; then printf '%s\n' "$file"; fi
            done
        return
    fi
    for pattern in "$@"; do
        name_test+=(-o -name "$pattern")
    done
    find . -name 'build*' -type d -prune -o \
        -type f \( -false "${name_test[@]}" \) -print | sed 's|^\./||' | sort
}

status=0

mapfile -t sources < <(project_files '*.c' '*.h' '*.cl')
[ ${#sources[@]} -gt 0 ] || fail "found no source files in $root"
say "layout of ${#sources[@]} files"
"$(clang_format_14)" --dry-run -Werror "${sources[@]}" || {
    say "to mend it: $(clang_format_14) -i FILE..."
    status=1
}

mapfile -t kernels < <(project_files '*.cl')
say "kernels: ${#kernels[@]} files"
# Byte pointers become wider ones where the address allows it, which only the
# kernel can know: -Wcast-align cannot. Clang 16 and later know
# -Wunsafe-buffer-usage, which wants C++.
warnings=(-Weverything -Werror -Wno-unknown-warning-option
    -Wno-declaration-after-statement -Wno-cast-align -Wno-padded
    -Wno-unsafe-buffer-usage)
# NVIDIA's compiler, which is not here, says who it is: what only it sees.
for target in spir64-unknown-unknown spir-unknown-unknown nvptx64-nvidia-nvcl; do
    only=()
    case $target in
    nvptx*) only=(-D__NV_CL_C_VERSION=120) ;;
    esac
    for kernel in "${kernels[@]}"; do
        # What these hold is there for other files to use.
        own=()
        case $kernel in
        cl/common.cl | cl/ssm_rows.cl | cl/ssm_copy.cl | cl/ssm_decide.cl)
            own=(-Wno-unused-macros -Wno-unused-function)
            ;;
        esac
        clang -fsyntax-only -x cl -cl-std=CL1.2 -target "$target" \
            -Xclang -finclude-default-header "${warnings[@]}" "${own[@]}" \
            "${only[@]}" "$kernel" || {
            say "$kernel: refused for $target"
            status=1
        }
    done
done

if have shellcheck; then
    mapfile -t scripts < <(project_files '*.sh')
    scripts+=(.ci/run)
    say "shell scripts: ${#scripts[@]} files"
    shellcheck -x "${scripts[@]}" || status=1
else
    say "shellcheck is missing: the shell scripts were not checked"
fi

[ "$status" = 0 ] || fail "found something to mend"
say "nothing to mend"
