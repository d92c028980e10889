/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/api/coop.c - values that go to many ranks. */
#include "mpi/coop.h"
#include "mpi/api/api.h"

void starpu_mpi_coop_sends_set_use(int use_coop_sends)
{
    struct orr_rank *rank = ORR_API_RANK();

    if (rank->size < ORR_COOP_FEWEST) {
        orr_log_notice("%s: it makes no difference with %d ranks", __func__, rank->size);
        return;
    }
    orr_coop_use(rank, use_coop_sends != 0);
}

int starpu_mpi_coop_sends_get_use(void)
{
    return atomic_load(&ORR_API_RANK()->cooperates);
}

void starpu_mpi_coop_sends_data_handle_nb_sends(starpu_data_handle_t data_handle,
                                                int nb_sends)
{
    orr_coop_expect(orr_api_datum(ORR_API_RANK(), data_handle, __func__), nb_sends);
}
