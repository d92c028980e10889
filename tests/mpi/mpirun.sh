#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a program on N ranks of an MPI, more than there are processors if need be. Where it
# cannot, one skipped test says why. usage: mpirun.sh [openmpi|mpich N PROGRAM [ARG...]]
set -u
if [ $# -lt 3 ]; then
    echo "1..0 # SKIP no MPI: neither Open MPI nor MPICH was there when this was built"
    exit 0
fi
mpi=$1 n=$2
shift 2
launcher=mpirun.$mpi
command -v "$launcher" >/dev/null || launcher=mpirun
if ! command -v "$launcher" >/dev/null; then
    echo "1..0 # SKIP there is no $launcher"
    exit 0
fi
case $mpi in
openmpi)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # In containers, one process may not read another one's memory.
    : "${OMPI_MCA_btl_vader_single_copy_mechanism=none}"
    # Where the machine was held up mpirun may see the end of a rank before it is told of the
    # MPI_Finalize that came first, and would fail the test for that.
    : "${OMPI_MCA_orte_allowed_exit_without_sync=true}"
    export OMPI_MCA_btl_vader_single_copy_mechanism OMPI_MCA_orte_allowed_exit_without_sync
    set -- --oversubscribe --bind-to none -n "$n" "$@"
    ;;
*) set -- -n "$n" "$@" ;;
esac
exec "$launcher" "$@"
