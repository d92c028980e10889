#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The Cholesky takes as long on our own network as on SimGrid's, where copies that
# contend decide nothing by their last bits. Prints TAP.
# usage: test-networks.sh CHOLESKY
set -u
cholesky=$1
n=0
status=0
STARPU_SILENT=1
OPENBLAS_NUM_THREADS=1
STARPU_PERF_MODEL_DIR=/nonexistent
export STARPU_SILENT OPENBLAS_NUM_THREADS STARPU_PERF_MODEL_DIR

simulate() # MACHINE POLICY NETWORK
{
    ORRERY_MACHINE=$1 STARPU_SCHED=$2 ORRERY_SIM_NETWORK=$3 \
        "$cholesky" -size 15360 -nblocks 16 | awk '!/^#/ { print $2 }'
}

for machine in h100-pcie-4 hgx-h100-8 rtx4090-2 mixed-a100-v100 gemini-1; do
    for sched in dmda dmdas lws; do
        n=$((n + 1))
        own=$(simulate "$machine" "$sched" fluid)
        judge=$(simulate "$machine" "$sched" simgrid)
        if [ -n "$own" ] && [ "$own" = "$judge" ]; then
            echo "ok $n - $machine $sched: $own ms"
        else
            echo "not ok $n - $machine $sched: $own ms, by SimGrid $judge"
            status=1
        fi
    done
done
echo "1..$n"
exit $status
