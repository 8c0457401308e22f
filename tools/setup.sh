# shellcheck shell=bash
# What quickstart.sh, test.sh and lint.sh share: finding or installing packages
# before a build in build/. Sourced, never run.

# The project's folder, wherever the caller stands.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# 0: use what is there and never call apt-get (--no-install).
may_install=1

say() {
    printf '%s: %s\n' "${0##*/}" "$*"
}

fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

usage_error() {
    printf '%s: %s (try --help)\n' "${0##*/}" "$*" >&2
    exit 2
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# A compiler without the C library's headers is common on bare systems, so one
# small program is really compiled and linked.
compiler_works() {
    local compiler
    for compiler in "${CC:-cc}" gcc clang; do
        # CC may carry arguments, as in CC="ccache gcc".
        # shellcheck disable=SC2086
        if have "${compiler%% *}" &&
            printf '#include <stdio.h>\nint main(void) { return 0; }\n' |
            $compiler -x c - -o /dev/null 2>/dev/null; then
            return 0
        fi
    done
    return 1
}

meson_works() {
    have meson &&
        printf '1.0.0\n%s\n' "$(meson --version)" | sort -C -V
}

pkg_config_knows() {
    { have pkg-config && pkg-config --exists "$1"; } ||
        { have pkgconf && pkgconf --exists "$1"; }
}

# Asks the OpenCL loader, in a process of its own: drivers may abort.
has_opencl_device() {
    local count
    count=$(python3 "$root/tools/count_devices.py") || return 1
    [ "$count" -gt 0 ]
}

clang_format_14() {
    local candidate
    for candidate in clang-format-14 clang-format; do
        if have "$candidate" &&
            "$candidate" --version | grep -q 'version 14\.'; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

# Whether what a package would bring is there already, wherever it came from.
is_there() {
    case $1 in
    gcc) compiler_works ;;
    meson) meson_works ;;
    ninja-build) have ninja || have ninja-build ;;
    pkg-config) have pkg-config || have pkgconf ;;
    ocl-icd-opencl-dev) pkg_config_knows OpenCL ;;
    libcmocka-dev) pkg_config_knows cmocka ;;
    pocl-opencl-icd) has_opencl_device 2>/dev/null ;;
    clang-format-14) clang_format_14 >/dev/null ;;
    libclc-15) [ -e /usr/lib/clc/amdgcn--amdhsa.bc ] ;;
    intel-opencl-icd) have ocloc ;;
    gnuplot-nox) have gnuplot ;;
    *) have "$1" ;; # the package is named like its command
    esac
}

# Packages that are of no use without others which Debian only recommends.
with_company() {
    case $1 in
    gcc) echo gcc libc6-dev ;;
    ocl-icd-opencl-dev) echo ocl-icd-opencl-dev opencl-headers ;;
    *) echo "$1" ;;
    esac
}

# What to do by hand when a package is missing.
purpose_of() {
    case $1 in
    gcc) echo "a C compiler with the C library's headers" ;;
    meson) echo "Meson 1.0 or later" ;;
    ninja-build) echo "Ninja" ;;
    pkg-config) echo "pkg-config" ;;
    python3) echo "Python 3" ;;
    ocl-icd-opencl-dev) echo "OpenCL headers and loader, known to pkg-config" ;;
    pocl-opencl-icd) echo "an OpenCL device (PoCL makes one of the CPU)" ;;
    libcmocka-dev) echo "cmocka, for the tests" ;;
    oclgrind) echo "Oclgrind, for the race checks" ;;
    clang) echo "clang, which checks the kernels" ;;
    clang-format-14) echo "clang-format, version 14" ;;
    clang-22) echo "clang 22, which compiles the kernels for AMD" ;;
    libclc-15) echo "libclc, for the same" ;;
    intel-opencl-icd) echo "ocloc, which compiles the kernels for Intel" ;;
    gnuplot-nox) echo "gnuplot, which draws what was measured" ;;
    *) echo "$1" ;;
    esac
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
        apt-get -q -y -o Acquire::Retries=1 -o Acquire::http::Timeout=30 \
        -o DPkg::Lock::Timeout=120 "$@" </dev/null
}

# Installs packages; 1, with a sentence, when that cannot be done.
install_packages() {
    local packages=("$@") updated=0

    if [ "$may_install" = 0 ]; then
        say "nothing is installed, as --no-install says"
        return 1
    elif ! have apt-get; then
        say "cannot install: there is no apt-get here"
        return 1
    elif [ "$(id -u)" != 0 ] && ! have sudo; then
        say "cannot install: this needs root, and there is no sudo"
        return 1
    fi

    say "installing with apt-get: ${packages[*]}"
    if ! apt-cache show "${packages[@]}" >/dev/null 2>&1; then
        say "the package lists do not have them yet: apt-get update"
        apt_get update || say "apt-get update failed"
        updated=1
    fi
    if apt_get install --no-install-recommends "${packages[@]}"; then
        return 0
    elif [ "$updated" = 0 ]; then
        say "that failed: once more after apt-get update"
        apt_get update || say "apt-get update failed"
        if apt_get install --no-install-recommends "${packages[@]}"; then
            return 0
        fi
    fi
    say "apt-get could not install: ${packages[*]}"
    return 1
}

# Leaves in `missing` those of the packages that are not there.
missing=()
find_missing() {
    local package
    missing=()
    for package in "$@"; do
        is_there "$package" || missing+=("$package")
    done
}

# Installs what is not there and leaves in `missing` what still is not.
provide() {
    local packages=() package

    find_missing "$@"
    [ ${#missing[@]} -gt 0 ] || return 0
    for package in "${missing[@]}"; do
        # shellcheck disable=SC2207
        packages+=($(with_company "$package"))
    done
    install_packages "${packages[@]}" || true
    hash -r
    find_missing "$@"
}

tell_missing() {
    local package
    for package in "${missing[@]}"; do
        printf '    %-20s %s\n' "$package" "$(purpose_of "$package")"
    done
}

stop_if_missing() {
    [ ${#missing[@]} -gt 0 ] || return 0
    {
        say "missing, and not installed:"
        tell_missing
        say "install them by hand and run this again"
    } >&2
    exit 1
}

# Nothing goes on without these.
need() {
    provide "$@"
    stop_if_missing
}

# Something goes on without these; the caller says what does not.
want() {
    provide "$@"
    if [ ${#missing[@]} -gt 0 ]; then
        say "going on without:"
        tell_missing
    fi
}

# What every build needs. The device comes last: asking for one takes Python
# and the loader.
need_build() {
    need gcc meson ninja-build pkg-config python3 ocl-icd-opencl-dev
}

need_device() {
    provide pocl-opencl-icd
    if [ ${#missing[@]} -gt 0 ]; then
        # What the drivers say, if anything.
        has_opencl_device >&2 || true
    fi
    stop_if_missing
}

# Configures build/ and builds it; arguments are Meson's.
build_tree() {
    say "configuring $root/build"
    if [ -f "$root/build/meson-private/coredata.dat" ]; then
        meson setup --reconfigure "$@" "$root/build" "$root" ||
            fail "cannot configure build/; if it is left from another" \
                "version of Meson or from a moved folder, delete it"
    else
        meson setup "$@" "$root/build" "$root" || fail "cannot configure build/"
    fi
    say "building"
    meson compile -C "$root/build" || fail "the build failed"
}
