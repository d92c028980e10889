#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# tools/project/main_job.sh - the tour: calibrates a tiled Cholesky on this machine,
# predicts its time here, then on a machine with GPUs, and bounds it there.
# usage: tools/project/main_job.sh BUILD_FOLDER RESULTS_FOLDER
set -eu

build=${1:?usage: tools/project/main_job.sh BUILD_FOLDER RESULTS_FOLDER}
results=${2:?usage: tools/project/main_job.sh BUILD_FOLDER RESULTS_FOLDER}
orrery=$build/tools/orrery
cholesky=$build/examples/cholesky/cholesky
samples=30 # per kernel, before a model is trusted
runs=5     # of which the median is compared

say()
{
    printf '\n== %s\n' "$*"
}

# The tour's own models and nothing else.
unset ORRERY_MACHINE ORRERY_TRACE ORRERY_REPORT STARPU_SCHED STARPU_CALIBRATE
mkdir -p "$results"
STARPU_PERF_MODEL_DIR=$(cd "$results" && pwd)/sampling
OPENBLAS_NUM_THREADS=1
export STARPU_PERF_MODEL_DIR OPENBLAS_NUM_THREADS

# others_busy: of how many processors other programs have taken the time of the last second,
# while this one slept: 0.00 on a quiet machine. Nothing where the system does not tell.
others_busy()
{
    [ -r /proc/stat ] || return 0
    before=$(head -n 1 /proc/stat)
    sleep 1
    printf '%s\n' "$before" "$(head -n 1 /proc/stat)" | awk '
        # user, nice, system, then idle, waiting for a disk, interrupts, stolen
        { busy = $2 + $3 + $4 + $7 + $8 + $9; all = busy + $5 + $6 }
        NR == 1 { busy0 = busy; all0 = all }
        END { if (all > all0) printf "%.2f", (busy - busy0) / (all - all0) * '"$(nproc)"' }'
}

# is_quiet BUSY: whether they take less than a tenth of one processor.
is_quiet()
{
    awk -v busy="${1:-0}" 'BEGIN { exit !(busy < 0.1) }'
}

# wait_until_quiet: says at once when the machine is not, waits for it a while, and says
# what follows where that does not help.
wait_until_quiet()
{
    tries=3
    busy=$(others_busy)
    while ! is_quiet "$busy" && [ $tries -gt 0 ]; do
        echo "this machine is not quiet: other programs take the time of $busy of its $(nproc)" \
            "processors; looking again in 5 s"
        sleep 5
        busy=$(others_busy)
        tries=$((tries - 1))
    done
    is_quiet "$busy" && return 0
    echo "it stays busy: what is measured here, the errors in 2. and the times of this machine's" \
        "kernels are off; for good ones end other programs, remove $results and call it again"
}

# fewest_samples HOST: the least number of samples of the four models.
fewest_samples()
{
    for kernel in potrf trsm syrk gemm; do
        file=$STARPU_PERF_MODEL_DIR/codelets/45/chol_model_$kernel.$1
        if [ -f "$file" ]; then
            awk 'NF == 8 && length($1) == 8 && $1 !~ /[^0-9a-f]/ && $8 > n {
                     n = $8
                 }
                 END { print n + 0 }' "$file"
        else
            echo 0
        fi
    done | sort -n | head -n 1
}

# milliseconds ARGUMENTS...: what the Cholesky prints.
milliseconds()
{
    "$cholesky" "$@" | awk '!/^#/ { print $2 }'
}

# predict_and_measure SIZE BLOCKS: one line of the table; a second one, and a reason, where
# the first is far off.
predict_and_measure()
{
    predicted=$(ORRERY_MACHINE=$results/here.xml milliseconds \
        -size "$1" -nblocks "$2")
    measure_one "$1" "$2" >"$results/row"
    cat "$results/row"
    is_near <"$results/row" && return 0
    busy=$(others_busy)
    is_quiet "$busy" || echo "        other programs take $busy of $(nproc) processors; measured once more:"
    is_quiet "$busy" && echo "        more than 10 % off, though the machine is quiet now; measured once more:"
    measure_one "$1" "$2" | tee "$results/row"
    is_near <"$results/row" || why_far
}

# is_near: whether a line's error is at most 10 %.
is_near()
{
    awk '{ error = $(NF - 1); exit !(error <= 10 && error >= -10) }'
}

# why_far: what an error that stays may come from, by what the runs themselves say.
why_far()
{
    sed 's/[()]//g' "$results/row" | awk '
        $6 > 1.1 * $4 {
            print "        the same run took from " $4 " to " $6 " ms: the machine was not its alone"
            exit
        }
        {
            print "        the runs agree with each other, not with the kernels as they were calibrated:"
            print "        another frequency or load then; remove the results and call it again"
        }'
}

# measure_one SIZE BLOCKS: the line of $predicted, and of runs here.
measure_one()
{
    i=0
    while [ $i -lt $runs ]; do
        milliseconds -size "$1" -nblocks "$2"
        i=$((i + 1))
    done | sort -n | awk -v size="$1" -v predicted="$predicted" '
        { ms[NR] = $1 }
        END {
            if (NR == 0 || predicted == "")
                exit 1
            median = ms[int((NR + 1) / 2)]
            printf "%6d  %12.1f  %11.1f  (%.1f to %.1f)  %+6.1f %%\n", size,
                predicted, median, ms[1], ms[NR],
                100 * (predicted - median) / median
        }'
}

say "1. Calibrating the four kernels of the Cholesky on this machine"
wait_until_quiet
STARPU_HOSTNAME=this-machine
export STARPU_HOSTNAME
pass=0
while n=$(fewest_samples this-machine) && [ "$n" -lt $samples ]; do
    if [ $pass -eq 10 ]; then
        echo "only $n samples after $pass runs; see $STARPU_PERF_MODEL_DIR" >&2
        exit 1
    fi
    pass=$((pass + 1))
    STARPU_CALIBRATE=1 STARPU_SCHED=lws milliseconds -size 7680 -nblocks 16 |
        awk -v pass=$pass '{ printf "run %d: %.1f ms\n", pass, $1 }'
done
echo "at least $n samples of each kernel, in $results/sampling"

say "2. The same program on a simulated copy of this machine"
"$orrery" machine copy "$results/here.xml"
STARPU_SCHED=dmdas
export STARPU_SCHED
echo "  size  predicted ms  measured ms  (median, extremes of $runs)   error"
predict_and_measure 7680 16
predict_and_measure 9600 20
"$orrery" perfmodel check -m "$results/here.xml" >"$results/models.txt" 2>&1 ||
    echo "not all of these models can be trusted, $results/models.txt says why"
unset STARPU_HOSTNAME STARPU_SCHED

say "3. The same program on a machine with GPUs"
gpus=${ORRERY_TOUR_MACHINE:-h100-pcie-4}
"$orrery" compare -m "$gpus" -s eager,lws,dmda,dmdas \
    --plot "$results/compare.png" -- "$cholesky" -size 19200 -nblocks 20
"$orrery" trace -m "$gpus" -s dmdas -o "$results/$gpus.paje" \
    --gantt "$results/$gpus.png" -- "$cholesky" -size 19200 -nblocks 20 |
    grep -E '^(trace|gantt) '
echo
echo "and on two whose kernels and links others have measured:"
"$orrery" compare -m sirocco-v100,sirocco-a100 -s dmda,dmdas \
    -- "$cholesky" -size 16000 -nblocks 10

say "4. How good could any scheduler be there"
"$orrery" bound -m "$gpus" -s dmdas --kind critical-path,area,paths,transfers \
    --time 5 --plot "$results/bounds.png" \
    -- "$cholesky" -size 19200 -nblocks 20 >"$results/bounds.txt"
# What each ignores and what limits it is in the file.
sed -nE '/^bound /,/^$/s/^(.* (s|[0-9.]+))  [^0-9 ].*/\1/p; /^scheduled/p' \
    "$results/bounds.txt"
echo "bars: $results/bounds.png, what limits each: $results/bounds.txt"
