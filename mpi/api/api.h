/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/api/api.h - what the public functions share: from MPI's types and handles to those
 * of mpi/. A mistake of the caller that the function cannot return ends the program, after
 * a message that names the call.
 */
#pragma once

#include <errno.h>

#include <starpu_mpi.h>

#include "core/base/log.h"
#include "mpi/datum.h"
#include "mpi/rank.h"

/* What is known of this run beside its rank: rank->conf.arg. */
struct orr_session {
    bool started_core; /* by starpu_mpi_init_conf */
    int cpu;           /* position of the thread's processor, -1: it is bound to none */
    /* Until the transport is open. */
    MPI_Comm comm;
    int *argc;
    char ***argv;
    bool initialize, every_thread;
};

static inline struct orr_session *orr_api_session(const struct orr_rank *rank)
{
    return rank->conf.arg;
}

/* The rank of the caller; without one the program ends. */
#define ORR_API_RANK() orr_rank_need(__func__)

/* Of functions that return 0 whatever happens: ends the program after an error, of which
 * there was a message; but a call that was refused since it would wait is returned. */
static inline int orr_api_must(struct orr_rank *rank, int rc)
{
    if (rc < 0 && rc != -EDEADLK)
        orr_runtime_fail(rank->rt);
    return rc;
}

/* The communicator, never NULL. */
static inline const struct orr_comm *orr_api_comm(struct orr_rank *rank, MPI_Comm native,
                                                  const char *call)
{
    const struct orr_comm *comm = orr_rank_comm(rank, &native, call);

    if (!comm)
        orr_runtime_fail(rank->rt);
    return comm;
}

/* The handle behind the public name. */
static inline struct orr_handle *orr_api_handle(struct orr_rank *rank,
                                                starpu_data_handle_t handle,
                                                const char *call)
{
    const char *trouble = orr_handle_trouble(orr_handle_of(handle));

    if (trouble)
        orr_rank_fail(rank, "%s: the data handle is %s", call, trouble);
    return orr_handle_of(handle);
}

/* What several ranks know of the handle, made if there is nothing yet. */
static inline struct orr_datum *orr_api_datum(struct orr_rank *rank,
                                              starpu_data_handle_t handle,
                                              const char *call)
{
    struct orr_datum *datum =
        orr_datum_need(rank, orr_api_handle(rank, handle, call), call);

    if (!datum)
        orr_runtime_fail(rank->rt);
    return datum;
}

/* A pointer of the caller's that may not be NULL. */
static inline void orr_api_pointer(struct orr_rank *rank, const void *pointer,
                                   const char *what, const char *call)
{
    if (!pointer)
        orr_rank_fail(rank, "%s: the %s is NULL", call, what);
}
