/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/simulated/ranks.c - see ranks.h. */
#include "mpi/simulated/ranks.h"

#include <errno.h>

#include "mpi/carrier.h"

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

struct orr_transport *orr_simulated_transport(struct orr_error *err)
{
    const struct orr_simulated_place *place = orr_simulated_place();
    struct orr_transport *t;

    if (orr_simulated_attach(place->net, place->rank, orr_self->runtime->machine, err))
        return NULL;
    t = orr_simulated_open(place->net, place->rank);
    if (!t)
        (void)orr_fail(err, -ENOMEM, "no memory for rank %d", place->rank);
    return t;
}

static struct orr_transport *open_transport(void *arg, struct orr_error *err)
{
    (void)arg;
    return orr_simulated_transport(err);
}

void orr_simulated_rank_fill(struct orr_rank_conf *conf)
{
    *conf = (struct orr_rank_conf){
        .open = open_transport,
        .world = orr_simulated_world(orr_simulated_place()->net),
        .is_same = is_same,
        .keep = keep,
        .drop = drop,
        .translate = translate,
        .cpu = -1,
    };
}

int orr_simulated_rank_open(const char *call)
{
    struct orr_rank_conf conf;

    orr_simulated_rank_fill(&conf);
    return orr_rank_open(orr_self->runtime, &conf, call);
}

/* --- all of them --- */

struct opening {
    const struct orr_simulated_ranks *ranks;
    struct orr_waiters waiters; /* ranks whose runs are open, until all are … */
    unsigned nopen;             /* … or have failed */
    int error;                  /* the first one */
};

/* One run more is open, or cannot be. Waits until that is so of all; whether all are. */
static bool all_are_open(struct opening *opening, int error)
{
    static const struct orr_awaited awaited = {.noun = "the other ranks"};
    struct orr_waiter waiter;

    if (!opening->error)
        opening->error = error;
    if (++opening->nopen == opening->ranks->nranks) {
        orr_waiters_release(orr_waiters_take_all(&opening->waiters));
    } else {
        orr_waiters_add(&opening->waiters, &waiter);
        orr_wait(&waiter, &awaited);
    }
    return opening->error == 0;
}

/* Without it none of the others could go on. */
static struct orr_rank *open_rank(void)
{
    static const char call[] = "the simulation";

    if (orr_simulated_rank_open(call))
        orr_runtime_fail(orr_self->runtime);
    return orr_rank_need(call);
}

static void rank_main(int number, void *arg)
{
    struct opening *opening = arg;
    const struct orr_simulated_ranks *ranks = opening->ranks;
    int error = ranks->open(number, ranks->arg);

    if (all_are_open(opening, error)) {
        struct orr_rank *rank = open_rank();

        ranks->main(rank, ranks->arg);
        orr_rank_close(rank, "the simulation");
    }
    if (!error)
        ranks->close(ranks->arg);
}

int orr_simulated_ranks_run(const struct orr_simulated_ranks *ranks)
{
    struct opening opening = {.ranks = ranks};
    struct orr_simulated_program program = {
        .conf = {.nranks = ranks->nranks,
                 .nodes = ranks->nodes,
                 .nnodes = ranks->nnodes,
                 .network = ranks->network},
        .main = rank_main,
        .arg = &opening,
    };
    int rc = orr_simulated_program_run(&program);

    return rc ? rc : opening.error;
}
