/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/select.c - see select.h. */
#include "mpi/select.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "mpi/datum.h"
#include "mpi/rank.h"

static bool is_policy(const struct orr_policies *policies, int number)
{
    return number == 0 ||
           (number > 0 && number < ORR_MOST_POLICIES && policies->at[number]);
}

int orr_policies_add(struct orr_rank *rank, orr_policy *policy, const char *call)
{
    for (int i = 1; i < ORR_MOST_POLICIES; i++)
        if (!rank->policies.at[i]) {
            rank->policies.at[i] = policy;
            return i;
        }
    orr_log_error("%s: there are %d policies already: unregister one", call,
                  ORR_MOST_POLICIES - 1);
    return -ENOSPC;
}

static int need(struct orr_rank *rank, int number, const char *call)
{
    if (is_policy(&rank->policies, number))
        return 0;
    orr_log_error("%s: there is no policy %d: see "
                  "starpu_mpi_node_selection_register_policy",
                  call, number);
    return -EINVAL;
}

int orr_policies_remove(struct orr_rank *rank, int number, const char *call)
{
    int rc = need(rank, number, call);

    if (rc == 0 && number == 0) {
        orr_log_error("%s: policy 0 cannot be unregistered", call);
        rc = -EINVAL;
    }
    if (rc)
        return rc;
    rank->policies.at[number] = NULL;
    if (rank->policies.current == number)
        rank->policies.current = 0;
    return 0;
}

int orr_policies_set_current(struct orr_rank *rank, int number, const char *call)
{
    int rc = need(rank, number, call);

    if (rc == 0)
        rank->policies.current = number;
    return rc;
}

/* Bytes that are read and bytes that are written each count; data that every rank has, or
 * that no rank was given, do not. */
static int rank_with_most(int size, const struct starpu_data_descr *data, unsigned n)
{
    size_t few[64] = {0}, *bytes = few;
    int best = 0;

    if (size > 64 && !(bytes = calloc((size_t)size, sizeof(*bytes))))
        return 0;
    for (unsigned i = 0; i < n; i++) {
        const struct orr_datum *datum =
            data[i].handle ? orr_datum_of(orr_handle_of(data[i].handle)) : NULL;
        unsigned times = !!(data[i].mode & STARPU_R) + !!(data[i].mode & STARPU_W);

        if (datum && datum->owner >= 0 && datum->owner < size)
            bytes[datum->owner] += times * datum->handle->size;
    }
    for (int r = 1; r < size; r++)
        if (bytes[r] > bytes[best])
            best = r;
    if (bytes != few)
        free(bytes);
    return best;
}

int orr_policies_choose(struct orr_rank *rank, const struct orr_comm *comm, int number,
                        struct starpu_data_descr *data, unsigned n, const char *call)
{
    int chosen;

    if (number == -1)
        number = rank->policies.current;
    if (need(rank, number, call) < 0)
        return -EINVAL;
    if (number == 0)
        return rank_with_most(comm->size, data, n);
    chosen = rank->policies.at[number](comm->rank, comm->size, data, (int)n);
    if (chosen >= 0 && chosen < comm->size)
        return chosen;
    orr_log_error("%s: policy %d has chosen rank %d, which is none of the %d ranks", call,
                  number, chosen, comm->size);
    return -EINVAL;
}
