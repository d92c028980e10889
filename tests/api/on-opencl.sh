#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a program on two OpenCL devices of one processor each, if PoCL is here to make
# them, or with PLATFORMS=2 on one of PoCL's and one of Oclgrind's; else prints TAP that
# skips, and ends with SKIP_STATUS, or 0.
# usage: on-opencl.sh HAS_OPENCL PROGRAM [ARGUMENT...]
set -u
has_opencl=$1
shift
export POCL_DEVICES="pthread pthread" POCL_MAX_PTHREAD_COUNT=1
# Bus files and compiled kernels of these devices are their own; kernels are those of
# both sets.
export POCL_CACHE_DIR="$STARPU_HOME/opencl/pocl"
export STARPU_HOME="$STARPU_HOME/opencl${PLATFORMS-}"
mkdir -p "$POCL_CACHE_DIR" "$STARPU_HOME"

skip()
{
    echo "1..0 # SKIP $1"
    exit "${SKIP_STATUS:-0}"
}

# The loader finds Oclgrind beside the others. Its package does not tell the loader of
# it, so that other programs do not meet it.
add_oclgrind()
{
    program=$(command -v oclgrind) || skip "no second OpenCL platform: install oclgrind"
    vendors=$STARPU_HOME/vendors
    mkdir -p "$vendors"
    cp "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/pocl*.icd "$vendors" 2>/dev/null
    echo "${program%/bin/*}/lib/oclgrind/liboclgrind-rt-icd.so" >"$vendors/$$.new"
    mv "$vendors/$$.new" "$vendors/oclgrind.icd" # several tests do that at once
    export OCL_ICD_VENDORS="$vendors" POCL_DEVICES=pthread
}

if [ "${PLATFORMS:-1}" -gt 1 ]; then
    add_oclgrind
fi
if ! "$has_opencl" "${PLATFORMS:-1}"; then
    skip "no OpenCL device of processors: install pocl-opencl-icd${PLATFORMS:+ and oclgrind}"
fi
export STARPU_OPENCL_ON_CPUS=1
# PoCL's compiler leaks, and the search for leaks fails where its library was unloaded:
# under the address sanitizer leaks are looked for on other devices.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
exec "$@"
