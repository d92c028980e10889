/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/api/cache.c - which values ranks have. The thread that submits the data's tasks. */
#include "mpi/cache.h"
#include "mpi/api/api.h"

int starpu_mpi_cache_is_enabled(void)
{
    return atomic_load(&ORR_API_RANK()->caches);
}

int starpu_mpi_cache_set(int enabled)
{
    orr_cache_turn(ORR_API_RANK(), enabled != 0);
    return 0;
}

void starpu_mpi_cache_flush(MPI_Comm comm, starpu_data_handle_t data_handle)
{
    struct orr_rank *rank = ORR_API_RANK();
    struct orr_datum *datum = orr_datum_of(orr_api_handle(rank, data_handle, __func__));

    (void)orr_api_comm(rank, comm, __func__);
    if (datum)
        orr_cache_flush(datum);
}

void starpu_mpi_cache_flush_all_data(MPI_Comm comm)
{
    struct orr_rank *rank = ORR_API_RANK();

    orr_cache_flush_all(rank, orr_api_comm(rank, comm, __func__));
}

/* --- received --- */

int starpu_mpi_cached_receive(starpu_data_handle_t data_handle)
{
    return orr_cache_is_received(orr_api_datum(ORR_API_RANK(), data_handle, __func__));
}

int starpu_mpi_cached_receive_set(starpu_data_handle_t data)
{
    return orr_cache_set_received(orr_api_datum(ORR_API_RANK(), data, __func__));
}

int starpu_mpi_cached_cp_receive_set(starpu_data_handle_t data_handle)
{
    return orr_cache_set_received(orr_api_datum(ORR_API_RANK(), data_handle, __func__));
}

void starpu_mpi_cached_receive_clear(starpu_data_handle_t data)
{
    orr_cache_clear_received(orr_api_datum(ORR_API_RANK(), data, __func__));
}

/* --- sent --- */

/* The datum, after a look at the rank. */
static struct orr_datum *to_rank(starpu_data_handle_t handle, int dest, const char *call)
{
    struct orr_rank *rank = orr_rank_need(call);
    struct orr_datum *datum = orr_api_datum(rank, handle, call);

    if (dest < 0 || dest >= datum->comm->size)
        orr_rank_fail(rank, "%s: rank %d is none of the datum's communicator, which has "
                            "ranks 0 to %d",
                      call, dest, datum->comm->size - 1);
    return datum;
}

int starpu_mpi_cached_send(starpu_data_handle_t data_handle, int dest)
{
    return orr_cache_is_sent(to_rank(data_handle, dest, __func__), dest);
}

int starpu_mpi_cached_send_set(starpu_data_handle_t data, int dest)
{
    return orr_cache_set_sent(to_rank(data, dest, __func__), dest);
}

void starpu_mpi_cached_send_clear(starpu_data_handle_t data)
{
    orr_cache_clear_sent(orr_api_datum(ORR_API_RANK(), data, __func__));
}
