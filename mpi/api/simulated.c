/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/api/simulated.c - ranks that are simulated, in this process: what StarPU-MPI's calls
 * need of the simulation, and programs that are hosted as such ranks.
 */
#include "mpi/api/simulated.h"

#include <stdlib.h>
#include <orrery_mpi.h>

#include "mpi/answers/answers.h"
#include "mpi/images/host.h"
#include "mpi/simulated/program.h"

/* --- a rank --- */

static bool is_same(const void *native, const void *other)
{
    return native == orr_answers_simulated(*(const MPI_Comm *)other);
}

static void *keep(const void *native)
{
    return orr_answers_comm(*(const MPI_Comm *)native, "a call of StarPU-MPI")->simulated;
}

/* They stay as long as the network. */
static void drop(void *native)
{
    (void)native;
}

static int translate(const void *native, int peer)
{
    return orr_simulated_world_rank(native, peer);
}

static struct orr_transport *open_transport(void *arg, struct orr_error *err)
{
    const struct orr_session *session = arg;
    const struct orr_simulated_place *place = orr_simulated_place();
    struct orr_transport *t = orr_simulated_open(place->net, place->rank);

    if (!t)
        (void)orr_fail(err, -ENOMEM, "no memory for rank %d", place->rank);
    else if (session->initialize)
        orr_answers()->begun = true;
    return t;
}

void orr_api_simulate(struct orr_rank_conf *conf)
{
    conf->open = open_transport;
    conf->is_same = is_same;
    conf->keep = keep;
    conf->drop = drop;
    conf->translate = translate;
}

/* --- all ranks --- */

/* What is local to a process is the MPI's own. */
static void begin(void)
{
    int flag, level;

    PMPI_Initialized(&flag);
    if (!flag)
        PMPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
}

static void end(void)
{
    int flag;

    PMPI_Finalized(&flag);
    if (!flag)
        PMPI_Finalize();
}

__attribute__((constructor)) static void watch(void)
{
    static const struct orr_host host = {
        .find = orr_answers_find,
        .variables = "ompi_", /* Open MPI's handles; other MPIs' are numbers */
        .begin = begin,
        .end_rank = orr_answers_end,
        .end = end,
    };

    orr_host_watch(&host);
}
