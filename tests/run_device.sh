#!/bin/sh
# Runs a device test with this build's defaults.
# usage: run_device.sh BUILD_FOLDER PROGRAM [ARGUMENT...]
#
# A caller who chose a device (OCL_ICD_VENDORS, CLMOVE_DEVICE) gets that one;
# else PoCL is taken where it is installed, so that a desktop's drivers do not
# decide what a plain `meson test` means.
set -eu
build=$1
shift

if [ -z "${OCL_ICD_VENDORS+set}" ] && [ -z "${CLMOVE_DEVICE+set}" ] &&
    [ -e /etc/OpenCL/vendors/pocl.icd ]; then
    export OCL_ICD_VENDORS=pocl.icd
fi
# A shared cache may hold a damaged entry, which PoCL does not survive.
export POCL_CACHE_DIR="${POCL_CACHE_DIR:-$build/pocl-cache}"
# Not the user's programs; tests of the cache have folders of their own.
export CLMOVE_CACHE_DIR=off
exec "$@"
