/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/api/init.c - begin and end: of main. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpi/api/simulated.h"
#include "mpi/carrier.h"
#include "mpi/answers/answers.h"
#include "mpi/balance.h"
#include "mpi/checkpoint.h"
#include "mpi/peers.h"
#include "mpi/real/real.h"
#include "mpi/redux.h"
#include "mpi/simulated/program.h"
#include "mpi/stats.h"

enum { TAG = 42 };

/* Set before a run, and for each. */
static atomic_int first_tag = TAG;

int starpu_mpi_get_communication_tag(void)
{
    return atomic_load(&first_tag);
}

void starpu_mpi_set_communication_tag(int tag)
{
    if (tag < 1 || tag > INT_MAX - 2) {
        orr_log_error("%s: tag %d: give one from 1 to %d", __func__, tag, INT_MAX - 2);
        abort();
    }
    atomic_store(&first_tag, tag);
}

/* --- communicators of MPI --- */

static bool is_same(const void *native, const void *other)
{
    return *(const MPI_Comm *)native == *(const MPI_Comm *)other;
}

static void *keep(const void *native)
{
    MPI_Comm *new = malloc(sizeof(*new));

    if (new)
        *new = *(const MPI_Comm *)native;
    return new;
}

/* -1: the rank is none of the communicator of all. */
static int translate(const void *native, int peer)
{
    const MPI_Comm *world = orr_rank_current()->comms[0]->native;
    MPI_Group from, to;
    int ret = MPI_UNDEFINED;

    MPI_Comm_group(*(const MPI_Comm *)native, &from);
    MPI_Comm_group(*world, &to);
    MPI_Group_translate_ranks(from, 1, &peer, to, &ret);
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    return ret == MPI_UNDEFINED ? -1 : ret;
}

/* --- the processor of the thread --- */

static bool is_taken(unsigned position)
{
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        if (starpu_worker_get_bindid((int)w) == (int)position)
            return true;
    return false;
}

/* -1: none. Where all compute, the thread goes where the system sees fit. */
static int choose_cpu(const struct orr_runtime *rt)
{
    int cpu = orr_config_int(&rt->config, ORR_CFG_MPI_THREAD_CPUID);
    int core = orr_config_int(&rt->config, ORR_CFG_MPI_THREAD_COREID);
    unsigned preferred = (unsigned)core, position;

    if (rt->exec->one_thread || orr_config_bool(&rt->config, ORR_CFG_MPI_NOBIND))
        return -1;
    if (cpu >= 0 && core >= 0)
        orr_log_warning("STARPU_MPI_THREAD_COREID is ignored: STARPU_MPI_THREAD_CPUID is "
                        "set, too");
    if (cpu >= 0)
        return cpu;
    position = starpu_get_next_bindid(STARPU_THREAD_ACTIVE, core >= 0 ? &preferred : NULL,
                                      core >= 0);
    return is_taken(position) && core < 0 ? -1 : (int)position;
}

/* --- begin --- */

/* On the thread of MPI. */
static void bind_carrier(struct orr_rank *rank, struct orr_errand *errand)
{
    struct orr_session *session = orr_api_session(rank);

    (void)errand;
    if (starpu_bind_thread_on(session->cpu, STARPU_THREAD_ACTIVE, "MPI") < 0)
        session->cpu = -1;
}

/* Where other ranks may use the same processors, each would choose the same one: the
 * system does better then. */
static void settle_processor(struct orr_rank *rank, const char *call)
{
    struct orr_session *session = orr_api_session(rank);
    const struct orr_config *config = &rank->rt->config;
    struct orr_errand errand = {.run = bind_carrier};

    if (rank->shares_processors && !orr_config_is_set(config, ORR_CFG_MPI_THREAD_CPUID) &&
        !orr_config_is_set(config, ORR_CFG_MPI_THREAD_COREID))
        session->cpu = -1;
    if (session->cpu >= 0)
        (void)orr_rank_ask(rank, &errand, call);
}

/* On the thread that is going to own MPI. */
static struct orr_transport *open_transport(void *arg, struct orr_error *err)
{
    struct orr_session *session = arg;
    struct orr_mpi_conf conf = {.initialize = session->initialize,
                                .argc = session->argc,
                                .argv = session->argv,
                                .every_thread = session->every_thread,
                                .tag = starpu_mpi_get_communication_tag()};
    struct orr_transport *t;
    int size = 1;

    if (orr_mpi_open(&conf, &t, err) < 0)
        return NULL;
    if (orr_self->exec->virtual_time)
        MPI_Comm_size(session->comm, &size);
    if (size == 1)
        return t;
    t->ops->close(t);
    orr_fail(err, -EINVAL,
             "a simulated machine has one rank, and there are %d: start one process, with "
             "STARPU_MPI_FAKE_SIZE and STARPU_MPI_FAKE_RANK to have what one of several "
             "ranks would do, or unset ORRERY_MACHINE",
             size);
    return NULL;
}

/* What others would be told that do not exist. */
static int pretend(const struct orr_config *config, struct orr_rank_conf *conf)
{
    int size = orr_config_int(config, ORR_CFG_MPI_FAKE_SIZE);
    int rank = orr_config_int(config, ORR_CFG_MPI_FAKE_RANK);

    if (size <= 0 && rank < 0)
        return 0;
    if (size <= 0 || rank >= size) {
        orr_log_error("STARPU_MPI_FAKE_RANK=%d, STARPU_MPI_FAKE_SIZE=%d: give a size, and a "
                      "rank from 0 to one less",
                      rank, size);
        return -EINVAL;
    }
    conf->pretended_size = size;
    conf->pretended_rank = rank < 0 ? 0 : rank;
    return 0;
}

static int open_rank(struct orr_runtime *rt, struct orr_session *session, const char *call)
{
    struct orr_rank_conf conf = {
        .open = open_transport,
        .arg = session,
        .world = &session->comm,
        .is_same = is_same,
        .keep = keep,
        .drop = free,
        .translate = translate,
        .cpu = -1, /* the thread binds itself, by position */
    };
    int rc;

    if (orr_simulated_place()) {
        orr_api_simulate(session, &conf);
        return orr_rank_open(rt, &conf, call);
    }
    rc = pretend(&rt->config, &conf);
    return rc ? rc : orr_rank_open(rt, &conf, call);
}

/* --- a process that ends in between --- */

/* Launchers end the other ranks, which would wait for this one for ever, only if its status
 * is not 0. The process's, as exit is. */
static struct {
    atomic_bool open; /* between begin and end … */
    pid_t process;    /* … of this process, not of a child of it */
    bool registered;  /* [main] */
    int status;       /* with which to end, 0: as usual */
} life;

static void on_exit_between(int status, void *arg)
{
    struct orr_rank *rank;

    (void)arg;
    if (!atomic_load(&life.open) || getpid() != life.process)
        return;
    orr_log_error("the process ends, by exit or by a return from main, before "
                  "starpu_mpi_shutdown, so that other ranks would wait for it: call that "
                  "first, on all ranks. The program ends with a status that is not 0");
    rank = orr_rank_current();
    if (rank)
        orr_peers_say_goodbye(rank);
    life.status = status ? status : EXIT_FAILURE;
}

/* After all functions of atexit, which save what the run has recorded. */
__attribute__((destructor)) static void end_between(void)
{
    if (!life.status)
        return;
    fflush(NULL);
    _exit(life.status);
}

static void note_begin(void)
{
    if (!life.registered)
        (void)on_exit(on_exit_between, NULL);
    life.registered = true;
    life.process = getpid();
    atomic_store(&life.open, true);
}

static int check_comm(MPI_Comm native, int initialize, const char *call)
{
    MPI_Comm comm = orr_answers_comm_in(native);

    if (comm == MPI_COMM_NULL)
        orr_log_error("%s: the communicator is MPI_COMM_NULL: give one that this rank is a "
                      "member of",
                      call);
    else if (initialize && comm != MPI_COMM_WORLD)
        orr_log_error("%s: MPI is not initialised yet, so that MPI_COMM_WORLD is its only "
                      "communicator: give that, or initialise MPI before",
                      call);
    else
        return 0;
    return -EINVAL;
}

static int begin(int *argc, char ***argv, int initialize, MPI_Comm comm, bool started_core,
                 const char *call)
{
    struct orr_runtime *rt = orr_runtime_need(call);
    struct orr_session *session;
    struct orr_rank *rank;
    int rc = check_comm(comm, initialize, call);

    if (rc)
        return rc;
    session = malloc(sizeof(*session));
    if (!session) {
        orr_log_error("%s: out of memory", call);
        return -ENOMEM;
    }
    *session = (struct orr_session){
        .started_core = started_core,
        .cpu = choose_cpu(rt),
        .comm = comm,
        .argc = argc,
        .argv = argv,
        .initialize = initialize,
        .every_thread = orr_config_bool(&rt->config, ORR_CFG_MPI_THREAD_MULTIPLE_SEND),
    };
    rc = open_rank(rt, session, call);
    if (rc) {
        free(session);
        return rc;
    }
    if (!orr_simulated_place()) /* whose end is seen to otherwise */
        note_begin();
    rank = orr_rank_need(call);
    settle_processor(rank, call);
    (void)orr_api_comm(rank, MPI_COMM_WORLD, call);
    if (orr_config_bool(&rt->config, ORR_CFG_MPI_STATS) ||
        orr_config_bool(&rt->config, ORR_CFG_COMM_STATS))
        orr_stats_set(rank, true);
    return 0;
}

/* Whether the environment says where the thread goes; what cannot be read starpu_init
 * tells. */
static bool has_place(void)
{
    struct orr_config config;
    struct orr_error err = {""};
    bool ret;

    if (orr_config_read(&config, &err) < 0)
        return false;
    ret = orr_config_is_set(&config, ORR_CFG_MPI_THREAD_CPUID) ||
          orr_config_is_set(&config, ORR_CFG_MPI_THREAD_COREID);
    orr_config_done(&config);
    return ret;
}

static int init_conf(int *argc, char ***argv, int initialize, MPI_Comm comm,
                     const struct starpu_conf *user_conf, const char *call)
{
    struct starpu_conf conf;
    int rc = check_comm(comm, initialize, call);

    if (rc)
        return rc;
    if (user_conf)
        conf = *user_conf;
    else
        rc = starpu_conf_init(&conf);
    if (rc)
        return rc;
    if (conf.ncpus == -1 && !has_place())
        conf.reserve_ncpus = conf.reserve_ncpus > 0 ? conf.reserve_ncpus + 1 : 1;
    conf.will_use_mpi = 1;
    rc = starpu_init(&conf);
    if (rc)
        return rc;
    rc = begin(argc, argv, initialize, comm, true, call);
    if (rc)
        starpu_shutdown();
    return rc;
}

int starpu_mpi_init_conf(int *argc, char ***argv, int initialize_mpi, MPI_Comm comm,
                         struct starpu_conf *conf)
{
    return init_conf(argc, argv, initialize_mpi, comm, conf, __func__);
}

int starpu_mpi_init_comm(int *argc, char ***argv, int initialize_mpi, MPI_Comm comm)
{
    return begin(argc, argv, initialize_mpi, comm, false, __func__);
}

int starpu_mpi_init(int *argc, char ***argv, int initialize_mpi)
{
    return begin(argc, argv, initialize_mpi, MPI_COMM_WORLD, false, __func__);
}

int starpu_mpi_initialize(void)
{
    return begin(NULL, NULL, 0, MPI_COMM_WORLD, false, __func__);
}

int starpu_mpi_initialize_extended(int *rank, int *world_size)
{
    int rc = begin(NULL, NULL, 1, MPI_COMM_WORLD, false, __func__);

    if (rc)
        return rc;
    *rank = starpu_mpi_world_rank();
    *world_size = starpu_mpi_world_size();
    return 0;
}

/* --- end --- */

static int end(const char *call)
{
    struct orr_rank *rank = orr_rank_need(call);
    struct orr_session *session = orr_api_session(rank);
    bool started_core = session->started_core;

    if (!orr_may_block(call))
        return -EDEADLK;
    orr_redux_end_all(rank, call);
    orr_balance_end(rank, call);
    if (rank->checkpoints)
        (void)orr_checkpoints_shutdown(rank, call);
    orr_rank_close(rank, call);
    atomic_store(&life.open, false);
    free(session);
    if (started_core)
        starpu_shutdown();
    return 0;
}

int starpu_mpi_shutdown(void)
{
    return end(__func__);
}

int starpu_mpi_shutdown_comm(MPI_Comm comm)
{
    (void)comm;
    return end(__func__);
}

int starpu_mpi_get_thread_cpuid(void)
{
    return orr_api_session(ORR_API_RANK())->cpu;
}
