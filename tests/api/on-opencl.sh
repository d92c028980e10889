#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a program on two OpenCL devices of one processor each, if PoCL is here to make
# them; else prints TAP that skips, and ends with SKIP_STATUS, or 0.
# usage: on-opencl.sh HAS_OPENCL PROGRAM [ARGUMENT...]
set -u
has_opencl=$1
shift
export POCL_DEVICES="pthread pthread" POCL_MAX_PTHREAD_COUNT=1
if ! "$has_opencl"; then
    echo "1..0 # SKIP no OpenCL device of processors: install pocl-opencl-icd"
    exit "${SKIP_STATUS:-0}"
fi
export STARPU_OPENCL_ON_CPUS=1
# Bus files and compiled kernels of these devices are their own.
export STARPU_HOME="$STARPU_HOME/opencl"
export POCL_CACHE_DIR="$STARPU_HOME/pocl"
mkdir -p "$POCL_CACHE_DIR"
exec "$@"
