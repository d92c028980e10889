/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/programs/library.c - a library of an application: with variables, one of which the
 * program uses itself, calls of MPI, and a function of its own for the end. LIBRARY_ABOVE: one
 * that needs the other, and neither StarPU nor MPI.
 */
#include <stdlib.h>

#include "library.h"
#include "lines.h"

#ifdef LIBRARY_ABOVE

static int calls;

int above_add(int n)
{
    return 100 * ++calls + library_add(n);
}

#else
#    include <starpu_mpi.h>

int library_public = 7;
static int sum, *const where = &library_public, me = -1;

static void say_last(void)
{
    say_line(me, "library at exit %d", sum);
}

void library_begin(void *comm)
{
    if (*(MPI_Comm *)comm == MPI_COMM_NULL || *(MPI_Comm *)comm != MPI_COMM_WORLD)
        exit(70);
    MPI_Comm_rank(*(MPI_Comm *)comm, &me);
    if (me != starpu_mpi_world_rank())
        exit(71);
    atexit(say_last);
}

int library_add(int n)
{
    sum += n;
    return sum + *where;
}
#endif
