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
#include "mpi/simulated/ranks.h"

/* --- a rank --- */

static bool is_same(const void *native, const void *other)
{
    return native == orr_answers_simulated(*(const MPI_Comm *)other);
}

static void *keep(const void *native)
{
    return orr_answers_comm(*(const MPI_Comm *)native, "a call of StarPU-MPI")->simulated;
}

static struct orr_transport *open_transport(void *arg, struct orr_error *err)
{
    const struct orr_session *session = arg;
    struct orr_transport *t = orr_simulated_transport(err);

    if (t && session->initialize)
        orr_answers()->begun = true;
    return t;
}

void orr_api_simulate(struct orr_session *session, struct orr_rank_conf *conf)
{
    orr_simulated_rank_fill(conf);
    conf->open = open_transport;
    conf->arg = session;
    conf->world = &session->comm;
    conf->is_same = is_same;
    conf->keep = keep;
}

/* --- all ranks --- */

struct main_of_ranks {
    void (*main)(int rank, void *arg);
    void *arg;
};

static void run_main(int rank, void *arg)
{
    const struct main_of_ranks *of = arg;

    of->main(rank, of->arg);
    orr_answers_end();
}

int orrery_mpi_run_ranks(const char *cluster, void (*main)(int rank, void *arg), void *arg)
{
    struct main_of_ranks of = {main, arg};
    const char *name = cluster ? cluster : getenv("ORRERY_MACHINE");
    struct orr_cluster_ranks *ranks;
    struct orr_error err = {""};
    int rc;

    if (orr_self) {
        orr_log_error("%s: the library is initialised in this process: call it before", __func__);
        return -EBUSY;
    }
    rc = name && *name ? orr_remote_read_cluster(name, &ranks, &err) : 1;
    if (rc > 0)
        rc = orr_fail(&err, -EINVAL, "%s is no cluster: give one, such as \"4*h100-pcie-4 + ib "
                      "200Gb/s\"",
                      name && *name ? name : "nothing");
    if (rc < 0) {
        orr_log_error("%s: %s", __func__, err.text);
        return rc;
    }
    rc = orr_simulated_program_run_on(ranks, ranks->n, run_main, &of);
    orr_remote_forget_cluster(ranks);
    return rc;
}

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

    const char *pretended = getenv("STARPU_MPI_FAKE_SIZE");

    if (pretended && atoi(pretended) > 0)
        orr_host_alone(orr_answers_find_alone);
    else
        orr_host_watch(&host);
}
