/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/api/datum.c - tags and owners of data. The thread that submits their tasks. */
#include <stdlib.h>

#include "mpi/api/api.h"
#include "mpi/tags.h"

static void set(starpu_data_handle_t handle, int64_t tag, int owner, MPI_Comm native,
                const char *call)
{
    struct orr_rank *rank = orr_rank_need(call);
    const struct orr_comm *comm = orr_api_comm(rank, native, call);

    if (tag < -1)
        orr_rank_fail(rank, "%s: tag %lld is negative, and -1 alone means none", call,
                      (long long)tag);
    (void)orr_api_must(rank, orr_datum_set(rank, orr_api_handle(rank, handle, call), tag,
                                           owner, comm, call));
}

void starpu_mpi_data_register_comm(starpu_data_handle_t data_handle,
                                   starpu_mpi_tag_t data_tag, int rank, MPI_Comm comm)
{
    set(data_handle, data_tag, rank, comm, __func__);
}

void starpu_mpi_data_set_rank_comm(starpu_data_handle_t handle, int rank, MPI_Comm comm)
{
    set(handle, -1, rank, comm, __func__);
}

void starpu_mpi_data_set_tag(starpu_data_handle_t handle, starpu_mpi_tag_t data_tag)
{
    set(handle, data_tag, ORR_NO_RANK, MPI_COMM_WORLD, __func__);
}

/* Without making one. */
static const struct orr_datum *look(starpu_data_handle_t handle, const char *call)
{
    return orr_datum_of(orr_api_handle(orr_rank_need(call), handle, call));
}

int starpu_mpi_data_get_rank(starpu_data_handle_t handle)
{
    const struct orr_datum *datum = look(handle, __func__);

    return datum ? datum->owner : ORR_NO_RANK;
}

starpu_mpi_tag_t starpu_mpi_data_get_tag(starpu_data_handle_t handle)
{
    const struct orr_datum *datum = look(handle, __func__);

    return datum ? datum->tag : -1;
}

char *starpu_mpi_data_get_redux_map(starpu_data_handle_t handle)
{
    const struct orr_datum *datum = look(handle, __func__);

    return datum ? datum->contributors : NULL;
}

/* --- ranges of tags, with or without a run --- */

int64_t starpu_mpi_tags_allocate(int64_t nbtags)
{
    int64_t first;

    if (nbtags == 0)
        return -1;
    first = nbtags < 0 ? -EINVAL : orr_tags_take(nbtags);
    if (first >= 0)
        return first;
    orr_log_error("%s: %lld tags: %s", __func__, (long long)nbtags,
                  first == -EINVAL   ? "give a number that is not negative"
                  : first == -ENOSPC ? "so many in a row are not free: give some back by "
                                       "starpu_mpi_tags_free"
                                     : "out of memory");
    abort();
}

void starpu_mpi_tags_free(int64_t mintag)
{
    if (orr_tags_give(mintag) == 0)
        return;
    orr_log_error("%s: tag %lld is not the first of tags that starpu_mpi_tags_allocate has "
                  "given",
                  __func__, (long long)mintag);
    abort();
}
