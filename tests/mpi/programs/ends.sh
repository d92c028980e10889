#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs that go wrong end on all ranks, or say what they wait for, with a sentence that
# names it. usage: ends.sh openmpi|mpich N PROGRAM
set -u
mpi=$1 n=$2 program=$3
here=$(dirname "$0")
case $(sh "$here/../mpirun.sh" "$mpi" 1 /bin/true 2>&1) in
*SKIP*)
    echo "1..0 # SKIP there is no launcher of $mpi"
    exit 0
    ;;
esac
# Where nothing is to be said: ranks share the processors of one machine.
export ORRERY_MPI_WARN_CORES=0 ORRERY_MPI_WARN_GRAIN=0
number=0 status=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
echo "1..25"

check() { # what
    number=$((number + 1))
    if eval "$2"; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        sed 's/^/# /' "$dir/err"
        status=1
    fi
}

# Ends by itself, long before the launcher is killed.
run() { # program's name
    timeout -k 10 120 sh "$here/../mpirun.sh" "$mpi" "$n" "$program" "$1" \
        >"$dir/out" 2>"$dir/err" </dev/null
    rc=$?
}

# The program is ended as soon as it has said all of these.
run_until() { # program's name, patterns
    name=$1
    shift
    timeout -k 10 120 sh "$here/../mpirun.sh" "$mpi" "$n" "$program" "$name" \
        >"$dir/out" 2>"$dir/err" </dev/null &
    pid=$!
    tries=0 rc=1
    while [ $rc -ne 0 ] && [ $tries -lt 600 ]; do
        sleep 0.1
        tries=$((tries + 1)) rc=0
        for pattern; do
            grep -qE "$pattern" "$dir/err" || rc=1
        done
    done
    kill "$pid"
    wait "$pid" 2>/dev/null
}

# A rank that dies without a word of its own. MPICH's launcher ends the others as soon as it
# sees that, which may be before they do: what stands between keeps it from seeing it.
kept() { # name
    name=$1
    timeout -k 10 120 sh "$here/../mpirun.sh" "$mpi" "$n" sh -c \
        '"$@"; rc=$?; [ $rc -eq 1 ] || exec sleep 600; exit $rc' keep "$program" "$1" \
        >"$dir/out" 2>"$dir/err" </dev/null
    rc=$?
    check "$1: others say so" "$ended && grep -qE 'orrery: rank [0-9]: error: rank 1 \(process [0-9]+ on .+\) is gone without starpu_mpi_shutdown' \"\$dir/err\""
}

ended='[ $rc -ne 0 ] && [ $rc -ne 124 ] && [ $rc -ne 137 -o $name = killed ]'
says() { # name, pattern
    name=$1
    run "$1"
    check "$1" "$ended && grep -qE '$2' \"\$dir/err\" \"\$dir/out\""
}

says killed 'signal 9|EXIT CODE: 9'
kept killed
kept crashes
kept vanishes
kept late
check "late: it is said once by each, and nothing else" \
    '[ "$(grep -c "orrery: rank [0-9]: error" "$dir/err")" -lt $n ]'
says returns 'rank 1: error: the process ends, .* before starpu_mpi_shutdown'
says exits 'rank 1: error: the process ends, .* before starpu_mpi_shutdown'
says longer 'starpu_mpi_recv: tag 7, from rank 0: the message has 100000 bytes, the datum only 10'
says sizes 'starpu_mpi_task_insert: tag 7, from rank 0: the message has 100000 bytes, the datum only 10'
says unclaimed 'a message of rank 0 with tag 7, 4 bytes, was never asked'
says twice 'a message of rank 0 with tag 7, 4 bytes, was never asked'
says one-tag 'starpu_mpi_data_register.*: tag 7 belongs to another datum of this rank'
says outside "starpu_mpi_send: rank $n is none of the communicator"

export ORRERY_MPI_CHECK=1
says differ 'first that differs is insertion 11'
check "differ: names both" "grep -qE 'rank 0 inserts the task \"increment\" of 1 datum: RW tag 1 of rank 0 \\(4 bytes\\), at .*ends.c:[0-9]+' \"\$dir/err\" &&
    grep -qE 'rank 1 inserts the task \"increment\" of 1 datum: RW tag 2 of rank 1 \\(4 bytes\\), at .*ends.c:[0-9]+' \"\$dir/err\""
says fewer 'rank [0-9] comes to a barrier, or the shutdown, after [0-9] insertions, and rank 0 after 10'
says shorter 'rank 0 inserts the task "reads" of 1 datum: R tag 7 of rank 0 \(10 bytes\)'
run equal
check "equal" '[ $rc -eq 0 ] && ! grep -q orrery "$dir/err"'
unset ORRERY_MPI_CHECK

export ORRERY_MPI_TIMEOUT=2
run_until never 'rank 1: error: no message has moved .* 2 s .*starpu_mpi_recv waits for' \
    'it receives tag 7 from rank 0 \(starpu_mpi_recv\): no such message has come' \
    'rank 0 is in starpu_mpi_barrier, .*has no send to rank 1 with tag 7'
check "never" '[ $rc -eq 0 ]'
run_until cycle 'rank 0: error: +ranks wait for each other: rank 0 waits for a message of rank 1 with tag 5, which .* of rank 0 with tag'
check "cycle" '[ $rc -eq 0 ]'
check "cycle: one rank names it" '[ "$(grep -c "wait for each other" "$dir/err")" -eq 1 ]'
run_until self 'it sends tag 7 to rank 1 \(starpu_mpi_issend_detached\): it is not received' \
    'rank 1 is in .*has no receive from rank 1 with tag 7'
check "self" '[ $rc -eq 0 ]'
run slow
check "slow: it goes on" '[ $rc -eq 0 ]'
ORRERY_MPI_TIMEOUT=0
run slow
check "slow, nothing said" '[ $rc -eq 0 ] && ! grep -q orrery "$dir/err"'
exit $status
