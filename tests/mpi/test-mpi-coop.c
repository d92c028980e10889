/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/test-mpi-coop.c - one value to several ranks of this process: along a tree,
 * counted by what each rank sends.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/data/nodes.h"
#include "mpi/coop.h"
#include "mpi/datum.h"
#include "mpi/stats.h"
#include "tests/mpi/here.h"

enum { MOST_RANKS = 9, N = 5000 };

/* What the root does. */
enum way { ALL, HINT, OFF, TWICE };

struct world {
    struct orr_loopback *net;
    int nranks;
    enum way way;
    const char *memory;
};

struct member {
    struct world *world;
    int rank, wrong;
    size_t sent; /* messages of the value's size */
};

static void start(struct orr_rank *rank, starpu_data_handle_t handle,
                  enum orr_request_way way, int peer)
{
    const struct orr_request_call call = {
        .call = "test",
        .handle = handle,
        .way = way,
        .peer = peer,
        .tag = 7,
        .comm = orr_rank_comm_at(rank, 0),
        .detached = true,
    };

    if (orr_coop_start(rank, &call, NULL))
        abort();
}

static void fill(int *values, int first)
{
    for (int i = 0; i < N; i++)
        values[i] = first + i;
}

static int wrong(const int *values, int first)
{
    for (int i = 0; i < N; i++)
        if (values[i] != first + i)
            return 1;
    return 0;
}

/* The value is not there while it is sent to all. */
static void send_all(struct member *member, struct orr_rank *rank,
                     starpu_data_handle_t handle, int *values)
{
    enum way way = member->world->way;
    int n = member->world->nranks;

    starpu_data_acquire(handle, STARPU_RW);
    if (way == HINT) {
        if (!orr_datum_need(rank, orr_handle_of(handle), "test"))
            abort();
        orr_coop_expect(orr_datum_of(orr_handle_of(handle)), (n - 1) / 2);
    }
    for (int times = 0; times < (way == TWICE ? 2 : 1); times++)
        for (int r = 1; r < n; r++) {
            start(rank, handle, ORR_SENDS, r);
        }
    fill(values, 100);
    starpu_data_release(handle);
}

static void *run_rank(void *arg)
{
    struct member *member = arg;
    struct world *world = member->world;
    const struct orr_setting settings[] = {{ORR_CFG_NCPU, "1"},
                                           {ORR_CFG_LIMIT_CPU_MEM, world->memory},
                                           {0, NULL}};
    static _Thread_local int values[2][N];
    size_t bytes[MOST_RANKS];
    starpu_data_handle_t handle[2];
    struct orr_rank *rank;

    rank = here_open(world->net, member->rank, settings);
    atomic_store(&rank->cooperates, world->way != OFF);
    orr_stats_set(rank, true);
    for (int i = 0; i < 2; i++)
        starpu_vector_data_register(&handle[i], STARPU_MAIN_RAM, (uintptr_t)values[i], N,
                                    sizeof(int));
    /* All count before the first one passes something on. */
    if (orr_rank_meet(rank, &(struct orr_meeting){.kind = ORR_MEETING_BARRIER}, "test"))
        abort();
    if (member->rank == 0)
        send_all(member, rank, handle[0], values[0]);
    else
        for (int i = 0; i < (world->way == TWICE ? 2 : 1); i++)
            start(rank, handle[i], ORR_RECEIVES, 0);
    (void)orr_outside_wait(rank->rt, "test");
    for (int i = 0; i < 2; i++)
        starpu_data_unregister(handle[i]);
    if (member->rank > 0)
        member->wrong = wrong(values[0], 100) ||
                        (world->way == TWICE && wrong(values[1], 100));
    if (orr_stats_get(rank, bytes))
        for (int r = 0; r < world->nranks; r++)
            member->sent += bytes[r] / (N * sizeof(int));
    orr_stats_set(rank, false);
    here_close(rank);
    return NULL;
}

static int number;

/* The root sends `roots` times, 0: that depends on who is first; all ranks together `all`
 * times. */
static bool check(const char *what, enum way way, int nranks, size_t roots, size_t all)
{
    struct orr_loopback_conf conf = {.nranks = (unsigned)nranks, .seed = 3, .delay = 10,
                                     .inside_bytes = 64, .eager_bytes = 1024};
    struct world world = {.net = orr_loopback_new(&conf), .nranks = nranks, .way = way};
    struct member members[MOST_RANKS];
    pthread_t threads[MOST_RANKS];
    size_t sent = 0;
    int nwrong = 0;
    bool ok;

    for (int r = 0; r < nranks; r++) {
        members[r] = (struct member){.world = &world, .rank = r};
        if (pthread_create(&threads[r], NULL, run_rank, &members[r]))
            abort();
    }
    for (int r = 0; r < nranks; r++) {
        pthread_join(threads[r], NULL);
        sent += members[r].sent;
        nwrong += members[r].wrong;
    }
    orr_loopback_free(world.net);
    ok = (roots == 0 || members[0].sent == roots) && sent == all && nwrong == 0;
    if (!ok)
        printf("# the root has sent %zu times, all %zu times; %d ranks have no value\n",
               members[0].sent, sent, nwrong);
    printf("%sok %d - %s\n", ok ? "" : "not ", ++number, what);
    return ok;
}

int main(void)
{
    int failed = 0;

    setenv("STARPU_SILENT", "1", 1);
    failed += !check("8 receivers: the root sends 4 times", ALL, 9, 4, 8);
    failed += !check("7 receivers: 3 times", ALL, 8, 3, 7);
    failed += !check("3 receivers: twice", ALL, 4, 2, 3);
    failed += !check("2 receivers: to each", ALL, 3, 2, 2);
    failed += !check("1 receiver", ALL, 2, 1, 1);
    failed += !check("not together: to each", OFF, 9, 8, 8);
    failed += !check("8 receivers, announced as 4: two trees", HINT, 9, 6, 8);
    failed += !check("to each twice", TWICE, 9, 0, 16);
    printf("1..%d\n", number);
    return failed > 0;
}
