#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# One binary, examples/cholesky, lu or qr, factorises a matrix of that order rightly for
# real and on 9 simulated processors and 3 simulated GPUs whose memory, of that many MiB,
# is too small for the matrix. Prints TAP.
# usage: test-right.sh PROGRAM MACHINE ORDER MEMORY
set -u
program=$1
machine=$2
order=$3
memory=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
n=0
failed=0
STARPU_SILENT=1
OPENBLAS_NUM_THREADS=1
STARPU_PERF_MODEL_DIR=$folder/sampling
ORRERY_REPORT=$folder/report
export STARPU_SILENT OPENBLAS_NUM_THREADS STARPU_PERF_MODEL_DIR ORRERY_REPORT

# right WHAT VARIABLES...: runs with -check; the report must have the words.
right() {
    what=$1
    words=$2
    shift 2
    n=$((n + 1))
    rm -f "$ORRERY_REPORT"
    if env "$@" "$program" -size "$order" -nblocks 8 -check \
        >"$folder/log" 2>&1 && grep -q ': right' "$folder/log" &&
        grep -qE "$words" "$ORRERY_REPORT"; then
        echo "ok $n - $what"
    else
        echo "not ok $n - $what"
        sed 's/^/# /' "$folder/log" "$ORRERY_REPORT"
        failed=$((failed + 1))
    fi
}

for sched in eager prio lws dmda dmdas; do
    right "real, $sched" '"simulated": false' STARPU_SCHED=$sched STARPU_NCPU=2
    right "simulated GPUs with room, $sched" '"evictions": 0' \
        STARPU_SCHED=$sched ORRERY_MACHINE="$machine" STARPU_NCPU=9 \
        STARPU_NCUDA=3 ORRERY_SIM_KERNELS=run
    right "simulated GPUs of $memory MiB that evict, $sched" '"evictions": [1-9]' \
        STARPU_SCHED=$sched ORRERY_MACHINE="$machine" STARPU_NCPU=9 \
        STARPU_NCUDA=3 ORRERY_SIM_KERNELS=run STARPU_LIMIT_CUDA_MEM=$memory
done
echo "1..$n"
[ "$failed" -eq 0 ]
