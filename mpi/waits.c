/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/waits.c - see waits.h. */
#include "mpi/waits.h"

#include <errno.h>

#include "mpi/check.h"
#include "mpi/rank.h"
#include "mpi/redux.h"

int orr_wait_barrier(struct orr_rank *rank, const struct orr_comm *comm, const char *call)
{
    struct orr_meeting meeting = {.kind = ORR_MEETING_BARRIER, .comm = comm->number};
    ORR_REMOTE_SCOPE(rank->rt);

    if (!orr_may_block(call))
        return -EDEADLK;
    orr_rank_record_skipped(rank);
    ORR_REMOTE_RECORD(rank->rt, BARRIER, .id = comm->number);
    orr_check_barrier(rank, comm);
    return orr_rank_meet(rank, &meeting, call);
}

int orr_wait_messages(struct orr_rank *rank, const char *call)
{
    ORR_REMOTE_SCOPE(rank->rt);

    if (!orr_may_block(call))
        return -EDEADLK;
    orr_check_wait(rank);
    orr_redux_end_all(rank, call);
    orr_rank_record_skipped(rank);
    ORR_REMOTE_RECORD(rank->rt, WAIT_MESSAGES);
    return orr_outside_wait(rank->rt, call);
}
