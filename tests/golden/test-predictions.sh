#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The predictions of the catalogue's machines are those of predictions.txt:
# whatever changes a simulated schedule shows here. Prints TAP.
# usage: test-predictions.sh CHOLESKY FILE [--update]
set -u
cholesky=$1
file=$2
new=$(mktemp)
trap 'rm -f "$new"' EXIT
STARPU_SILENT=1
OPENBLAS_NUM_THREADS=1
STARPU_PERF_MODEL_DIR=/nonexistent
export STARPU_SILENT OPENBLAS_NUM_THREADS STARPU_PERF_MODEL_DIR
{
    echo "# Predicted milliseconds of the Cholesky of 9600 x 9600 in 10 x 10"
    echo "# tiles: machine, policy, ms. Written by test-predictions.sh --update."
    for machine in h100-pcie-4 hgx-h100-8 rtx4090-2 epyc-64; do
        for sched in eager prio random ws lws dm dmda dmdap dmdar dmdas dmdasd; do
            ms=$(ORRERY_MACHINE=$machine STARPU_SCHED=$sched STARPU_RAND_SEED=1 \
                "$cholesky" -size 9600 -nblocks 10 | awk '!/^#/ { print $2 }')
            echo "$machine $sched $ms"
        done
    done
} >"$new"
if [ "${3-}" = --update ]; then
    cp "$new" "$file"
    exit 0
fi
if difference=$(diff "$file" "$new"); then
    echo "ok 1 - predictions are as recorded"
    echo "1..1"
else
    echo "not ok 1 - predictions are as recorded"
    echo "$difference" | sed 's/^/# /'
    echo "1..1"
    exit 1
fi
