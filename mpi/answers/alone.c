/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/answers/alone.c - what a process is told that pretends to be one rank of several
 * (STARPU_MPI_FAKE_SIZE), by MPI's functions themselves: who it is. Barriers end at once.
 * Others that several ranks take part in have no result without them.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/answers/answers.h"

static int number_of(const char *variable)
{
    const char *text = getenv(variable);

    return text ? atoi(text) : 0;
}

/* All communicators but MPI_COMM_SELF are those of all ranks: others cannot be made. */
static int alone_Comm_size(MPI_Comm comm, int *size)
{
    *size = comm == MPI_COMM_SELF ? 1 : number_of("STARPU_MPI_FAKE_SIZE");
    return MPI_SUCCESS;
}

static int alone_Comm_rank(MPI_Comm comm, int *rank)
{
    *rank = comm == MPI_COMM_SELF ? 0 : number_of("STARPU_MPI_FAKE_RANK");
    return MPI_SUCCESS;
}

static int alone_Barrier(MPI_Comm comm)
{
    (void)comm;
    return MPI_SUCCESS;
}

orr_answer orr_answers_find_alone(const char *name)
{
    name += *name == 'P';
    if (strcmp(name, "MPI_Comm_size") == 0)
        return (orr_answer)alone_Comm_size;
    if (strcmp(name, "MPI_Comm_rank") == 0)
        return (orr_answer)alone_Comm_rank;
    return strcmp(name, "MPI_Barrier") == 0 ? (orr_answer)alone_Barrier : NULL;
}
