/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/api/redux.c - reductions over ranks. The thread that submits the datum's tasks. */
#include "mpi/redux.h"
#include "mpi/api/api.h"

static int redux(MPI_Comm comm, starpu_data_handle_t handle, int priority, int arity,
                 const char *call)
{
    struct orr_rank *rank = orr_rank_need(call);
    struct orr_datum *datum = orr_datum_of(orr_api_handle(rank, handle, call));

    (void)orr_api_comm(rank, comm, call);
    if (datum)
        orr_redux_end(datum, arity, priority, call);
    return 0;
}

int starpu_mpi_redux_data(MPI_Comm comm, starpu_data_handle_t data_handle)
{
    return redux(comm, data_handle, STARPU_DEFAULT_PRIO, 0, __func__);
}

int starpu_mpi_redux_data_prio(MPI_Comm comm, starpu_data_handle_t data_handle, int prio)
{
    return redux(comm, data_handle, prio, 0, __func__);
}

int starpu_mpi_redux_data_tree(MPI_Comm comm, starpu_data_handle_t data_handle, int arity)
{
    return redux(comm, data_handle, STARPU_DEFAULT_PRIO, arity, __func__);
}

int starpu_mpi_redux_data_prio_tree(MPI_Comm comm, starpu_data_handle_t data_handle,
                                    int prio, int arity)
{
    return redux(comm, data_handle, prio, arity, __func__);
}
