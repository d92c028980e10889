#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs with checkpoints in files, in a folder that is made for them. usage:
#   restart.sh run openmpi|mpich N PROGRAM   one program, which prints TAP itself
#   restart.sh kill openmpi|mpich N restart  kills all ranks, and goes on
set -u
here=$(dirname "$0")
what=$1 mpi=$2 n=$3 program=$4
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
launch() {
    ranks=$1
    shift
    "$here/mpirun.sh" "$mpi" "$ranks" "$program" "$@"
}

if [ "$what" = run ]; then
    export ORRERY_MPI_CHECKPOINT_DIR="$top/files"
    launch "$n"
    exit
fi

command -v "mpirun.$mpi" >/dev/null || command -v mpirun >/dev/null || {
    echo "1..0 # SKIP there is no mpirun.$mpi"
    exit 0
}
number=0 failed=0
check() { # CLAIM STATUS
    number=$((number + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        sed 's/^/# /' "$top"/out "$top"/err 2>/dev/null
        failed=1
    fi
}
run() { # NRANKS ARG...: its output is in out and err
    launch "$@" >"$top/out" 2>"$top/err"
}
has() { # FILE LINE
    grep -q "$2" "$top/$1"
    check "$3" $?
}

run "$n" plain
result=$(sed -n 's/^result //p' "$top/out")
[ -n "$result" ]
check "an uninterrupted run has a result" $?

export ORRERY_MPI_CHECKPOINT_DIR="$top/files"
run "$n" resume
has err 'restore: -2$' "without any checkpoint none is found"
run "$n" crash 5
[ $? -ne 0 ] && ! grep -q result "$top/out"
check "all ranks are killed at step 5" $?
run $((n + 1)) resume
has err "made by $n ranks" "another number of ranks is refused"
run "$n" resume
has out 'resumes at 5$' "the run goes on from step 5"
has out "result $result\$" "its result is that of the uninterrupted run"
[ "$(ls "$top/files" | grep -c manifest)" -eq 2 ] && ! ls "$top/files" | grep -q tmp
check "files of the last two checkpoints stay" $?

# Killed anywhere, in the middle of checkpoints.
rm -rf "$top/files"
run "$n" crash 2
run "$n" crash-at-once 9
run "$n" resume
has out "result $result\$" "killed at any moment, the result is the same"

# The newest one is damaged.
rm -rf "$top/files"
run "$n" crash 6
printf x | dd of="$top/files/3-1-6.0.part" bs=1 seek=100 conv=notrunc 2>/dev/null
run "$n" resume
has err 'checkpoint 6 is left out: .*is damaged' "a damaged file is named"
has out 'resumes at 5$' "the one before is taken"
has out "result $result\$" "the result is the same"

rm -rf "$top/files"
: >"$top/files"
# A launcher may lose what ranks say just before they end.
for attempt in 1 2 3; do
    run "$n" plain
    grep -q 'is no folder' "$top/err" && break
done
has err 'ORRERY_MPI_CHECKPOINT_DIR: .*is no folder' "what is no folder is refused"
echo "1..$number"
exit $failed
