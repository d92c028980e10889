/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/api/stats.c - bytes sent. Any thread. */
#include "mpi/stats.h"
#include "mpi/api/api.h"

void starpu_mpi_comm_stats_enable(void)
{
    orr_stats_set(ORR_API_RANK(), true);
}

void starpu_mpi_comm_stats_disable(void)
{
    orr_stats_set(ORR_API_RANK(), false);
}

void starpu_mpi_comm_stats_retrieve(size_t *comm_stats)
{
    (void)orr_stats_get(ORR_API_RANK(), comm_stats);
}
