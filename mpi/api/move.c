/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/api/move.c - data go from rank to rank. The thread that submits their tasks. */
#include "mpi/move.h"
#include "mpi/api/api.h"

int starpu_mpi_get_data_on_node(MPI_Comm comm, starpu_data_handle_t data_handle, int node)
{
    struct orr_rank *rank = ORR_API_RANK();

    return orr_api_must(
        rank, orr_move_to_and_wait(rank, orr_api_comm(rank, comm, __func__),
                                   orr_api_handle(rank, data_handle, __func__), node,
                                   __func__));
}

int starpu_mpi_get_data_on_node_detached(MPI_Comm comm, starpu_data_handle_t data_handle,
                                         int node, void (*callback)(void *), void *arg)
{
    struct orr_rank *rank = ORR_API_RANK();

    return orr_api_must(rank, orr_move_to(rank, orr_api_comm(rank, comm, __func__),
                                          orr_api_handle(rank, data_handle, __func__), node,
                                          callback, arg, __func__));
}

void starpu_mpi_get_data_on_all_nodes_detached(MPI_Comm comm,
                                               starpu_data_handle_t data_handle)
{
    struct orr_rank *rank = ORR_API_RANK();
    const struct orr_comm *c = orr_api_comm(rank, comm, __func__);
    struct orr_handle *handle = orr_api_handle(rank, data_handle, __func__);

    for (int node = 0; node < c->size; node++)
        (void)orr_api_must(rank,
                           orr_move_to(rank, c, handle, node, NULL, NULL, __func__));
}

void starpu_mpi_data_migrate(MPI_Comm comm, starpu_data_handle_t handle, int new_rank)
{
    struct orr_rank *rank = ORR_API_RANK();

    (void)orr_api_must(rank, orr_move_migrate(rank, orr_api_comm(rank, comm, __func__),
                                              orr_api_handle(rank, handle, __func__),
                                              new_rank, __func__));
}

/* --- from datum to datum --- */

int starpu_mpi_data_cpy_priority(starpu_data_handle_t dst_handle,
                                 starpu_data_handle_t src_handle, MPI_Comm comm,
                                 int asynchronous, void (*callback_func)(void *),
                                 void *callback_arg, int priority)
{
    struct orr_rank *rank = ORR_API_RANK();

    return orr_api_must(
        rank, orr_move_copy(rank, orr_api_comm(rank, comm, __func__),
                            orr_api_handle(rank, dst_handle, __func__),
                            orr_api_handle(rank, src_handle, __func__), priority,
                            !asynchronous, callback_func, callback_arg, __func__));
}

int starpu_mpi_data_cpy(starpu_data_handle_t dst_handle, starpu_data_handle_t src_handle,
                        MPI_Comm comm, int asynchronous, void (*callback_func)(void *),
                        void *callback_arg)
{
    return starpu_mpi_data_cpy_priority(dst_handle, src_handle, comm, asynchronous,
                                        callback_func, callback_arg, STARPU_DEFAULT_PRIO);
}

/* --- one to all, all to one --- */

/* The application's arguments; its array of handles is one of ours. */
#define ORR_COLLECTION()                                                                   \
    (&(struct orr_collection){.handles = (struct orr_handle **)(void *)data_handles,       \
                              .n = count,                                                  \
                              .root = root,                                                \
                              .send_callback = scallback,                                  \
                              .receive_callback = rcallback,                               \
                              .send_arg = sarg,                                            \
                              .receive_arg = rarg})

int starpu_mpi_scatter_detached(starpu_data_handle_t *data_handles, int count, int root,
                                MPI_Comm comm, void (*scallback)(void *), void *sarg,
                                void (*rcallback)(void *), void *rarg)
{
    struct orr_rank *rank = ORR_API_RANK();

    return orr_api_must(rank, orr_move_scatter(rank, orr_api_comm(rank, comm, __func__),
                                               ORR_COLLECTION(), __func__));
}

int starpu_mpi_gather_detached(starpu_data_handle_t *data_handles, int count, int root,
                               MPI_Comm comm, void (*scallback)(void *), void *sarg,
                               void (*rcallback)(void *), void *rarg)
{
    struct orr_rank *rank = ORR_API_RANK();

    return orr_api_must(rank, orr_move_gather(rank, orr_api_comm(rank, comm, __func__),
                                              ORR_COLLECTION(), __func__));
}
