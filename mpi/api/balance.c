/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/api/balance.c - data that go to faster ranks. The thread that submits tasks. */
#include "mpi/balance.h"

#include <orrery_mpi.h>
#include <starpu_mpi_lb.h>

#include "mpi/api/api.h"

void starpu_mpi_lb_init(const char *lb_policy_name, struct starpu_mpi_lb_conf *itf)
{
    struct orr_balance_conf conf = {NULL, NULL};

    if (itf)
        conf = (struct orr_balance_conf){.get_neighbors = itf->get_neighbors,
                                         .get_data_unit_to_migrate =
                                             itf->get_data_unit_to_migrate};
    orr_balance_begin(ORR_API_RANK(), lb_policy_name, &conf, __func__);
}

void starpu_mpi_lb_shutdown(void)
{
    orr_balance_end(ORR_API_RANK(), __func__);
}

void orrery_mpi_lb_set_elapsed(double (*us)(void))
{
    orr_balance_set_elapsed(ORR_API_RANK(), us);
}
