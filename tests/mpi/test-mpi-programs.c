/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/test-mpi-programs.c - random programs of 2 to 8 ranks in this process, beside
 * the sequential one: messages come late and in all orders that the loopback knows.
 *
 * usage: test-mpi-programs [FIRST [NUMBER [CALLS]]]: seeds FIRST … on.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/splitmix.h"
#include "core/data/nodes.h"
#include "tests/mpi/here.h"
#include "tests/mpi/spmd_loopback.h"

enum { MOST_RANKS = SPMD_MOST_RANKS };

struct world {
    struct orr_loopback *net;
    uint64_t seed;
    int ncalls, nranks;
    const char *memory; /* MiB of main memory, NULL: any */
    unsigned most_elements; /* of a datum: where memory is small, a few fill it */
    const char *cache, *coop, *priorities, *tree_from; /* settings; NULL: usual */
    struct orr_loopback_comm *all, *twin, *turned, *halves[2];
};

struct member {
    struct world *world;
    int rank, wrong;
};

static void *run_rank(void *arg)
{
    static const char *const policies[] = {"eager", "lws", "dmda", "prio"};
    struct member *member = arg;
    struct world *world = member->world;
    const struct orr_setting settings[] = {
        {ORR_CFG_NCPU, member->rank % 2 ? "1" : "2"},
        {ORR_CFG_SCHED, policies[(world->seed + (unsigned)member->rank) % 4]},
        {ORR_CFG_LIMIT_CPU_MEM, world->memory},
        {ORR_CFG_MPI_CACHE, world->cache},
        {ORR_CFG_MPI_COOP_SENDS, world->coop},
        {ORR_CFG_MPI_PRIORITIES, world->priorities},
        {ORR_CFG_MPI_REDUX_ARITY_THRESHOLD, world->tree_from},
        {0, NULL},
    };
    const void *const comms[SPMD_COMMS] = {
        [SPMD_WORLD] = world->all,
        [SPMD_TWIN] = world->twin,
        [SPMD_TURNED] = world->turned,
        [SPMD_HALVES] = world->halves[member->rank % 2],
    };
    struct orr_rank *rank = here_open(world->net, member->rank, settings);

    spmd_loopback_comms(comms);
    member->wrong = spmd_run(world->seed, world->ncalls, world->most_elements);
    here_close(rank);
    return NULL;
}

/* n ranks, from the first one on by that step. */
static struct orr_loopback_comm *make_comm(struct world *world, int first, int step, int n)
{
    int ranks[MOST_RANKS];
    struct orr_loopback_comm *ret;

    for (int i = 0; i < n; i++)
        ranks[i] = first + i * step;
    ret = orr_loopback_comm_new(world->net, ranks, n);
    if (!ret)
        abort();
    return ret;
}

static void make_comms(struct world *world)
{
    int n = world->nranks;

    world->all = orr_loopback_world(world->net);
    world->twin = make_comm(world, 0, 1, n);
    world->turned = make_comm(world, n - 1, -1, n);
    world->halves[0] = make_comm(world, 0, 2, (n + 1) / 2);
    world->halves[1] = make_comm(world, 1, 2, n / 2);
}

/* One in n programs has that value of a setting. */
static const char *seldom(uint64_t *random, unsigned n, const char *value)
{
    return orr_splitmix(random) % n == 0 ? value : NULL;
}

static void choose_settings(struct world *world, uint64_t *random)
{
    if (orr_splitmix(random) % 3 == 0) {
        world->memory = "1";
        world->most_elements = SPMD_LARGE + 2000;
    }
    world->cache = seldom(random, 8, "0");
    world->coop = seldom(random, 4, "0");
    world->priorities = seldom(random, 8, "0");
    world->tree_from = seldom(random, 3, orr_splitmix(random) % 2 ? "0" : "-1");
}

static int run_program(uint64_t seed, int ncalls)
{
    uint64_t random = seed * 977 + 5;
    struct orr_loopback_conf conf = {
        .nranks = 2 + (unsigned)(orr_splitmix(&random) % (MOST_RANKS - 1)),
        .seed = seed,
        .delay = (unsigned)(orr_splitmix(&random) % 3 * 20),
        .inside_bytes = orr_splitmix(&random) % 2 ? 0 : 64,
        .eager_bytes = orr_splitmix(&random) % 2 ? 1024 : 1 << 20,
    };
    struct world world = {.net = orr_loopback_new(&conf),
                          .seed = seed,
                          .ncalls = ncalls,
                          .nranks = (int)conf.nranks,
                          .most_elements = 700};
    struct member members[MOST_RANKS];
    pthread_t threads[MOST_RANKS];
    int wrong = 0;

    choose_settings(&world, &random);
    make_comms(&world);
    for (int r = 0; r < world.nranks; r++) {
        members[r] = (struct member){.world = &world, .rank = r};
        if (pthread_create(&threads[r], NULL, run_rank, &members[r]))
            abort();
    }
    for (int r = 0; r < world.nranks; r++) {
        pthread_join(threads[r], NULL);
        wrong += members[r].wrong;
    }
    orr_loopback_free(world.net);
    return wrong;
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int n = argc > 2 ? atoi(argv[2]) : 60, ncalls = argc > 3 ? atoi(argv[3]) : 60;
    int wrong = 0;

    setenv("STARPU_SILENT", "1", 1);
    printf("1..1\n");
    for (int i = 0; i < n; i++) {
        int here = run_program(first + (uint64_t)i, ncalls);

        if (here)
            printf("# seed %llu: %d data are wrong\n",
                   (unsigned long long)first + (unsigned)i, here);
        wrong += here;
    }
    printf("%sok 1 - %d random programs of several ranks\n", wrong ? "not " : "", n);
    return wrong != 0;
}
