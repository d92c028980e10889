/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/libraries.c - a program whose libraries have variables: each rank has its
 * own of these. */
#include <stdlib.h>
#include <starpu_mpi.h>

#include "library.h"
#include "lines.h"

int main(int argc, char **argv)
{
    MPI_Comm all = MPI_COMM_WORLD;
    int me, n, first, then;

    if (starpu_mpi_init_conf(&argc, &argv, 1, all, NULL))
        return 77;
    me = starpu_mpi_world_rank();
    n = starpu_mpi_world_size();
    library_begin(&all);
    library_public += me;
    first = library_add(10 * me);
    starpu_mpi_barrier(all);
    then = above_add(1);
    starpu_mpi_barrier(all);
    starpu_mpi_shutdown();
    say_line(me, "%d, then %d, public %d", first, then, library_public);
    return me == n - 1 && getenv("RANK_STATUS") ? 3 : 0;
}
