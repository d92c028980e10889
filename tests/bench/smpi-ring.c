/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/smpi-ring.c - a ring of MPI ranks, for bench-cluster-ring.py: each sends
 * messages to the next one, a further one when the last has come from the one before.
 *
 * usage: smpi-ring MESSAGES BYTES
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static char out[1 << 20], in[1 << 20];
    int rank, size, n, bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3 || atoi(argv[2]) > (int)sizeof(out))
        MPI_Abort(MPI_COMM_WORLD, 1);
    n = atoi(argv[1]);
    bytes = atoi(argv[2]);
    for (int i = 0; i < n; i++)
        MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, 0, in, bytes,
                     MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
