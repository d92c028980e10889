/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/api/comm.c - communicators. Any thread. */
#include "mpi/api/api.h"

int starpu_mpi_comm_register(MPI_Comm comm)
{
    (void)orr_api_comm(ORR_API_RANK(), comm, __func__);
    return 0;
}

int starpu_mpi_comm_size(MPI_Comm comm, int *size)
{
    *size = orr_api_comm(ORR_API_RANK(), comm, __func__)->size;
    return 0;
}

int starpu_mpi_comm_rank(MPI_Comm comm, int *rank)
{
    *rank = orr_api_comm(ORR_API_RANK(), comm, __func__)->rank;
    return 0;
}

int starpu_mpi_world_size(void)
{
    return orr_api_comm(ORR_API_RANK(), MPI_COMM_WORLD, __func__)->size;
}

int starpu_mpi_world_rank(void)
{
    return orr_api_comm(ORR_API_RANK(), MPI_COMM_WORLD, __func__)->rank;
}

int starpu_mpi_comm_get_attr(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
    static int64_t most = INT64_MAX;

    (void)comm;
    *flag = keyval == STARPU_MPI_TAG_UB;
    if (*flag)
        *(int64_t **)attribute_val = &most;
    return 0;
}
