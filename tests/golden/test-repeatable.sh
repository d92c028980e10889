#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Two simulations of the same program on the same machine write the same trace,
# byte for byte, under each policy. Prints TAP.
# usage: test-repeatable.sh CHOLESKY MACHINE
set -u
cholesky=$1
machine=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
n=0
failed=0
for sched in eager prio ws lws dm dmda dmdas; do
    n=$((n + 1))
    for run in 1 2; do
        ORRERY_MACHINE=$machine STARPU_SCHED=$sched STARPU_SILENT=1 \
            ORRERY_TRACE=$folder/$run.paje \
            "$cholesky" -size 9600 -nblocks 10 >"$folder/$run.out" 2>&1 ||
            cat "$folder/$run.out"
    done
    if [ -s "$folder/1.paje" ] && cmp -s "$folder/1.paje" "$folder/2.paje"; then
        echo "ok $n - $sched: two runs, one trace ($(wc -c <"$folder/1.paje") bytes)"
    else
        echo "not ok $n - $sched: the traces differ"
        failed=$((failed + 1))
    fi
    rm -f "$folder"/*
done
echo "1..$n"
[ "$failed" -eq 0 ]
