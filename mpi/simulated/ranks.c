/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/simulated/ranks.c - see ranks.h. */
#include "mpi/simulated/ranks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "mpi/carrier.h"

/* Of the program. */
struct program {
    const struct orr_simulated_ranks *ranks;
    struct orr_simulated *net;
    struct orr_waiters waiters; /* ranks whose runs are open, until all are … */
    unsigned nopen;             /* … or have failed */
    int error;                  /* the first one */
};

struct place {
    struct program *program;
    int rank;
    struct orr_context *context; /* NULL: none */
    char name[32];
};

/* --- communicators --- */

static bool is_same(const void *a, const void *b)
{
    return a == b;
}

/* They stay as long as the network. */
static void *keep(const void *native)
{
    return (void *)(uintptr_t)native;
}

static void drop(void *native)
{
    (void)native;
}

static int translate(const void *native, int peer)
{
    return orr_simulated_world_rank(native, peer);
}

/* --- a rank --- */

static struct orr_transport *open_transport(void *arg, struct orr_error *err)
{
    const struct place *place = arg;
    struct orr_simulated *net = place->program->net;
    struct orr_transport *t = NULL;

    if (orr_simulated_attach(net, place->rank, orr_self->runtime->machine, err))
        return NULL;
    t = orr_simulated_open(net, place->rank);
    if (!t)
        (void)orr_fail(err, -ENOMEM, "no memory for rank %d", place->rank);
    return t;
}

/* With its run open. The others are about to wait for it: without it none can go on. */
static struct orr_rank *open_rank(struct place *place)
{
    static const char call[] = "the simulation";
    struct orr_rank_conf conf = {
        .open = open_transport,
        .arg = place,
        .world = orr_simulated_world(place->program->net),
        .is_same = is_same,
        .keep = keep,
        .drop = drop,
        .translate = translate,
        .cpu = -1,
    };

    if (orr_rank_open(orr_self->runtime, &conf, call))
        orr_runtime_fail(orr_self->runtime);
    return orr_rank_need(call);
}

/* One run more is open, or cannot be. Waits until that is so of all; whether all are. */
static bool all_are_open(struct program *program, int error)
{
    static const struct orr_awaited awaited = {.noun = "the other ranks"};
    struct orr_waiter waiter;

    if (!program->error)
        program->error = error;
    if (++program->nopen == program->ranks->nranks) {
        orr_waiters_release(orr_waiters_take_all(&program->waiters));
    } else {
        orr_waiters_add(&program->waiters, &waiter);
        orr_wait(&waiter, &awaited);
    }
    return program->error == 0;
}

/* With its run open, unless that is an error. */
static void run_rank(struct place *place, int error)
{
    const struct orr_simulated_ranks *ranks = place->program->ranks;
    struct orr_rank *rank;

    if (!all_are_open(place->program, error))
        return;
    rank = open_rank(place);
    ranks->main(rank, ranks->arg);
    orr_rank_close(rank, "the simulation");
}

static void rank_body(void *arg)
{
    struct place *place = arg;
    const struct orr_simulated_ranks *ranks = place->program->ranks;
    int error = ranks->open(place->rank, ranks->arg);

    run_rank(place, error);
    if (!error)
        ranks->close(ranks->arg);
    orr_context_end();
}

/* --- all of them --- */

static void start_rank(struct program *program, struct place *place, int rank)
{
    struct orr_exec *exec = orr_self->exec;
    struct orr_context init = {.name = place->name};
    int rc;

    place->program = program;
    place->rank = rank;
    snprintf(place->name, sizeof(place->name), "main of rank %d", rank);
    rc = exec->ops->spawn(exec, &init, -1, rank_body, place, &place->context);
    if (rc == 0)
        return;
    orr_log_error("rank %d could not be started: error %d", rank, rc);
    program->nopen++;
    program->error = rc;
}

static void run_all(struct program *program, struct place *places)
{
    static const struct orr_awaited awaited = {.noun = "the end of the other ranks"};

    for (unsigned i = 1; i < program->ranks->nranks; i++)
        start_rank(program, &places[i], (int)i);
    places[0].program = program;
    run_rank(&places[0], 0);
    for (unsigned i = 1; i < program->ranks->nranks; i++)
        if (places[i].context)
            orr_context_join(&awaited, places[i].context);
}

/* With rank 0's run open. */
static int run_program(const struct orr_simulated_ranks *ranks)
{
    struct program program = {.ranks = ranks};
    struct orr_simulated_conf conf = {
        .nranks = ranks->nranks,
        .nodes = ranks->nodes,
        .nnodes = ranks->nnodes,
        .network = ranks->network,
        .cluster = orr_remote_cluster(orr_self->runtime),
    };
    struct place *places = calloc(ranks->nranks, sizeof(*places));
    struct orr_error err = {"out of memory"};
    int rc = -ENOMEM;

    if (places && !conf.cluster)
        rc = orr_fail(&err, -EINVAL, "the machine of rank 0 is real: name one with "
                                     "ORRERY_MACHINE");
    else if (places)
        rc = orr_simulated_new(&conf, &program.net, &err);
    if (rc) {
        orr_log_error("%u simulated ranks: %s", ranks->nranks, err.text);
    } else {
        run_all(&program, places);
        orr_simulated_free(program.net);
        rc = program.error;
    }
    free(places);
    return rc;
}

int orr_simulated_ranks_run(const struct orr_simulated_ranks *ranks)
{
    int rc = ranks->open(0, ranks->arg);

    if (rc)
        return rc;
    rc = run_program(ranks);
    ranks->close(ranks->arg);
    return rc;
}
