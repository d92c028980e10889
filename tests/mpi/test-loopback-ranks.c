/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The scenarios on the loopback transport, a thread per rank, with 100 seeds each: of 8
 * ranks, and of 1, 2 or 3; and what only this transport has. Prints TAP.
 * usage: test-loopback-ranks [SEEDS [PART OF A NAME]]
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/splitmix.h"
#include "mpi/loopback/loopback.h"
#include "rank.h"

struct thread {
    pthread_t thread;
    const struct scenario *scenario;
    struct orr_loopback *net;
    struct orr_loopback_comm **halves;
    struct rank rank;
    int number;
    uint64_t seed;
};

static const void *half(struct rank *rank)
{
    struct thread *thread = orr_container(rank, struct thread, rank);

    return thread->halves[thread->number % 2];
}

static void *run_rank(void *arg)
{
    struct thread *thread = arg;
    struct rank *rank = &thread->rank;

    rank->t = orr_loopback_open(thread->net, thread->number);
    if (!rank->t)
        abort();
    rank->net = thread->net;
    rank->half = half;
    rank_begin(rank, orr_loopback_world(thread->net), thread->seed);
    thread->scenario->run(rank);
    rank_end(rank);
    rank->t->ops->close(rank->t);
    return NULL;
}

/* Failures of all ranks. */
static int run(const struct scenario *scenario, unsigned nranks, uint64_t seed)
{
    uint64_t random = seed;
    struct orr_loopback_conf conf = {
        .nranks = nranks,
        .seed = seed,
        .delay = (unsigned)(orr_splitmix(&random) % 100),
        .inside_bytes = orr_splitmix(&random) % 2 ? 0 : 64,
        .eager_bytes = orr_splitmix(&random) % 3 * 5000,
    };
    struct orr_loopback *net = orr_loopback_new(&conf);
    struct thread *threads = calloc(nranks, sizeof(*threads));
    struct orr_loopback_comm *halves[2] = {NULL, NULL};
    int members[2][8], n[2] = {0, 0}, failures = 0;

    for (unsigned i = 0; i < nranks; i++)
        members[i % 2][n[i % 2]++] = (int)i;
    for (unsigned i = 0; i < 2 && i < nranks; i++)
        halves[i] = orr_loopback_comm_new(net, members[i], n[i]);
    for (unsigned i = 0; i < nranks; i++) {
        threads[i].scenario = scenario;
        threads[i].net = net;
        threads[i].halves = halves;
        threads[i].number = (int)i;
        threads[i].seed = seed;
        pthread_create(&threads[i].thread, NULL, run_rank, &threads[i]);
    }
    for (unsigned i = 0; i < nranks; i++) {
        pthread_join(threads[i].thread, NULL);
        failures += threads[i].rank.failures;
    }
    free(threads);
    orr_loopback_free(net);
    return failures;
}

/* --- one thread: the same run each time --- */

/* A hash of who took what in which turn. */
static uint64_t history(uint64_t seed)
{
    enum { RANKS = 3, ROUNDS = 200 };
    struct orr_loopback_conf conf = {
        .nranks = RANKS, .seed = seed, .delay = 40, .eager_bytes = 0};
    struct orr_loopback *net = orr_loopback_new(&conf);
    struct orr_transport *t[RANKS];
    static struct orr_packet sent[RANKS][20];
    uint64_t hash = 1;

    memset(sent, 0, sizeof(sent));
    for (int i = 0; i < RANKS; i++) {
        struct orr_comm comm;

        t[i] = orr_loopback_open(net, i);
        t[i]->ops->comm_add(t[i], orr_loopback_world(net), &comm, NULL);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < RANKS; i++) {
            struct orr_header header;
            const void *inside;

            if (round < 20) {
                sent[i][round].header.peer = (i + round) % RANKS;
                t[i]->ops->send(t[i], &sent[i][round]);
            }
            t[i]->ops->progress(t[i]);
            while (t[i]->ops->take_header(t[i], &header, &inside))
                hash = hash * 31 + (uint64_t)(round * 64 + i * 8 + header.peer);
            while (t[i]->ops->take_ended(t[i]))
                ;
        }
    for (int i = 0; i < RANKS; i++)
        t[i]->ops->close(t[i]);
    orr_loopback_free(net);
    return hash;
}

/* Seeds differ, a seed does not. */
static int check_seeds(void)
{
    unsigned equal = 0;

    for (uint64_t seed = 0; seed < 20; seed++) {
        if (history(seed) != history(seed))
            return 1;
        equal += history(seed) == history(seed + 1);
    }
    return equal > 0;
}

/* --- wake --- */

static void *wake_it(void *t)
{
    ((struct orr_transport *)t)->ops->wake(t);
    return NULL;
}

/* wake ends a wait that nothing else ends, before it or while it sleeps; and what was
 * sent before a communicator was known comes when it is. */
static int check_wakes(void)
{
    struct orr_loopback_conf conf = {.nranks = 2, .seed = 1};
    struct orr_loopback *net = orr_loopback_new(&conf);
    struct orr_transport *from = orr_loopback_open(net, 0), *to;
    struct orr_packet sent = {.header = {.peer = 1, .tag = 5}};
    struct orr_header header;
    struct orr_comm comm;
    const void *inside;
    pthread_t thread;
    int failures = 0;

    for (int i = 0; i < 50; i++) {
        pthread_create(&thread, NULL, wake_it, from);
        failures += from->ops->wait(from, i % 2, (struct orr_patience){0}, 0);
        pthread_join(thread, NULL);
    }
    from->ops->wake(from);
    from->ops->wake(from);
    failures += from->ops->wait(from, false, (struct orr_patience){0}, 0);
    from->ops->comm_add(from, orr_loopback_world(net), &comm, NULL);
    failures += from->ops->send(from, &sent) != 0;
    to = orr_loopback_open(net, 1);
    failures += to->ops->progress(to);
    to->ops->comm_add(to, orr_loopback_world(net), &comm, NULL);
    failures += !to->ops->wait(to, true, (struct orr_patience){0}, 0);
    failures += !to->ops->take_header(to, &header, &inside) || header.tag != 5;
    from->ops->close(from);
    to->ops->close(to);
    orr_loopback_free(net);
    return failures;
}

static int number_of_test;

static int report(int failures, const char *text)
{
    printf("%s %d - %s\n", failures ? "not ok" : "ok", ++number_of_test, text);
    fflush(stdout);
    return failures > 0;
}

int main(int argc, char **argv)
{
    static const unsigned nranks[] = {8, 1, 2, 3};
    uint64_t nseeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    int failed = 0;

    for (const struct scenario *s = scenarios; s->name; s++) {
        int failures = 0;

        if (argc > 2 && !strstr(s->name, argv[2]))
            continue;
        for (uint64_t seed = 0; seed < nseeds; seed++)
            for (uint64_t i = 0; i < 2 && !failures; i++)
                if (!s->faults || i == 0 || seed % 3)
                    failures += run(s, nranks[i ? 1 + seed % 3 : 0], seed);
        failed += report(failures, s->name);
    }
    failed += report(check_seeds(), "one thread and one seed: one run");
    failed += report(check_wakes(), "wake, and what came before its communicator");
    printf("1..%d\n", number_of_test);
    return failed > 0;
}
