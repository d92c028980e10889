/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The scenarios over MPI, a process per rank. Rank 0 prints TAP.
 * usage: mpirun -n N test-mpi-ranks [SEEDS [PART OF A NAME] | own]
 *
 * own: the transport initialises MPI, and ends it.
 */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/real/real.h"
#include "rank.h"

static MPI_Comm halves = MPI_COMM_NULL;

static const void *half(struct rank *rank)
{
    MPI_Comm_split(MPI_COMM_WORLD, rank->world.rank % 2, rank->world.rank, &halves);
    return &halves;
}

/* Failures of this rank. Each run opens the transport anew. */
static int run(const struct scenario *scenario, uint64_t seed, bool own)
{
    struct orr_mpi_conf conf = {.initialize = own, .tag = (int)seed * 3};
    MPI_Comm world = MPI_COMM_WORLD;
    struct rank rank = {.half = half};
    struct orr_error err = {""};

    if (orr_mpi_open(&conf, &rank.t, &err)) {
        fprintf(stderr, "# %s\n", err.text);
        exit(1);
    }
    rank_begin(&rank, &world, seed);
    scenario->run(&rank);
    rank_end(&rank);
    /* Others may still want to be answered. */
    if (own)
        printf("# rank %d of %d\n", rank.world.rank, rank.world.size);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    rank.t->ops->close(rank.t);
    if (halves != MPI_COMM_NULL)
        MPI_Comm_free(&halves);
    return rank.failures;
}

static int number_of_test;

/* Of all ranks together; returns whether there are some. */
static int report(int failures, const char *text)
{
    int all = 0, me;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    number_of_test++;
    if (me == 0) {
        printf("%s %d - %s\n", all ? "not ok" : "ok", number_of_test, text);
        fflush(stdout);
    }
    return all > 0;
}

/* What is refused at opening, with a sentence. */
static int refused(struct orr_mpi_conf conf, const char *word)
{
    struct orr_transport *t;
    struct orr_error err = {""};

    return orr_mpi_open(&conf, &t, &err) != -EINVAL || !strstr(err.text, word);
}

/* The application's error handler is there again. */
static int handler_stays(void)
{
    struct orr_mpi_conf conf = {0};
    MPI_Comm world = MPI_COMM_WORLD;
    struct orr_error err;
    struct orr_transport *t;
    struct orr_comm comm;
    MPI_Errhandler now;
    int failures = 0;

    if (orr_mpi_open(&conf, &t, &err) || t->ops->comm_add(t, &world, &comm, &err))
        return 1;
    MPI_Comm_get_errhandler(world, &now);
    failures += now != MPI_ERRORS_RETURN;
    MPI_Barrier(MPI_COMM_WORLD);
    t->ops->close(t);
    MPI_Comm_get_errhandler(world, &now);
    failures += now != MPI_ERRORS_ARE_FATAL;
    return failures;
}

/* --- MPI that fails: no launcher lets a rank die and others live --- */

/* What the calls below return instead; 0: what MPI does. */
static int isend_returns, receive_returns;

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    if (isend_returns)
        return isend_returns;
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

/* Data that have come are said to have failed; there is nothing else under way. */
int MPI_Testsome(int n, MPI_Request requests[], int *nended, int indices[],
                 MPI_Status statuses[])
{
    int code = PMPI_Testsome(n, requests, nended, indices, statuses);

    if (code || !receive_returns || *nended <= 0)
        return code;
    for (int i = 0; i < *nended; i++)
        statuses[i].MPI_ERROR = receive_returns;
    receive_returns = 0;
    return MPI_ERR_IN_STATUS;
}

/* The one failure there is names rank 0. */
static int names_rank(struct orr_transport *t)
{
    struct orr_failure failure = {0};
    int failures = !t->ops->take_failure(t, &failure);

    failures += failure.error != -ECONNRESET || !failure.of_a_peer || failure.peer != 0;
    failures += !strstr(failure.why.text, "rank 0");
    failures += t->ops->take_failure(t, &failure);
    return failures;
}

/* A message to itself, alone in a communicator. */
static void send_self(struct orr_transport *t, struct orr_packet *message,
                      struct orr_part *part, int *result)
{
    static char data[10000];

    memset(message, 0, sizeof(*message));
    *part = (struct orr_part){.address = data, .size = sizeof(data)};
    message->parts = part;
    message->nparts = 1;
    *result = t->ops->send(t, message);
}

/* Its peer is lost while it sends, or while it receives: errors say which rank. */
static int lost(bool receiving)
{
    struct orr_mpi_conf conf = {0};
    MPI_Comm self = MPI_COMM_SELF;
    struct orr_packet sent[2], received[2];
    struct orr_part part, to;
    static char room[10000];
    struct orr_header header;
    struct orr_error err;
    struct orr_transport *t;
    struct orr_comm comm;
    struct orr_packet *ended;
    const void *inside;
    int failures = 0, result, nended = 0;

    if (orr_mpi_open(&conf, &t, &err) || t->ops->comm_add(t, &self, &comm, &err))
        return 1;
    for (int i = 0; receiving && i < 2; i++) {
        send_self(t, &sent[i], &part, &result);
        failures += result != 0;
        while (!t->ops->take_header(t, &header, &inside))
            t->ops->wait(t, true, (struct orr_patience){0}, 0);
        memset(&received[i], 0, sizeof(received[i]));
        received[i].header = header;
        to = (struct orr_part){.address = room, .size = sizeof(room)};
        received[i].parts = &to;
        received[i].nparts = 1;
    }
    if (receiving) {
        /* The second is asked for before the first, so MPI has not seen it yet. */
        failures += t->ops->recv(t, &received[1]) != 0;
        failures += t->ops->recv(t, &received[0]) != 0;
        receive_returns = MPI_ERR_OTHER;
        while (nended < 4) {
            while ((ended = t->ops->take_ended(t))) {
                nended++;
                failures += ended->receives && ended->error == 0 && ended->moved == 0;
            }
            t->ops->progress(t);
        }
        failures += received[0].error != -ECONNRESET && received[1].error != -ECONNRESET;
    } else {
        isend_returns = MPI_ERR_OTHER;
        send_self(t, &sent[0], &part, &result);
        isend_returns = 0;
        failures += result != -ECONNRESET;
    }
    failures += names_rank(t);
    send_self(t, &sent[0], &part, &result);
    failures += result != -ECONNRESET;
    t->ops->close(t);
    return failures;
}

static void *wake_it(void *t)
{
    ((struct orr_transport *)t)->ops->wake(t);
    return NULL;
}

/* wake ends a wait that nothing else ends, before it, while it sleeps, or while it looks
 * for headers. */
static int wakes(void)
{
    struct orr_mpi_conf conf = {0};
    MPI_Comm self = MPI_COMM_SELF;
    struct orr_error err;
    struct orr_transport *t;
    struct orr_comm comm;
    pthread_t thread;
    int failures = 0;

    if (orr_mpi_open(&conf, &t, &err) || t->ops->comm_add(t, &self, &comm, &err))
        return 1;
    for (int i = 0; i < 100; i++) {
        pthread_create(&thread, NULL, wake_it, t);
        failures += t->ops->wait(t, i % 2, (struct orr_patience){0}, 0);
        pthread_join(thread, NULL);
    }
    t->ops->wake(t);
    t->ops->wake(t);
    failures += t->ops->wait(t, false, (struct orr_patience){0}, 0);
    t->ops->close(t);
    return failures;
}

static int run_own(void)
{
    int failures = refused((struct orr_mpi_conf){0}, "not initialised");
    int over = 0;

    /* Its barrier is the last thing. */
    failures += run(&scenarios[5], 1, true);
    MPI_Finalized(&over);
    failures += !over;
    failures += refused((struct orr_mpi_conf){.initialize = true}, "twice");
    return failures > 0;
}

int main(int argc, char **argv)
{
    unsigned long nseeds = argc > 1 ? strtoul(argv[1], NULL, 10) : 5;
    int level, failed = 0, me;

    if (argc > 1 && strcmp(argv[1], "own") == 0) {
        const char *name = getenv("OMPI_COMM_WORLD_RANK");
        int failures = run_own();

        if (!name)
            name = getenv("PMI_RANK");
        if (name && strcmp(name, "0") == 0)
            printf("1..1\n%s 1 - MPI is initialised and ended by the transport\n",
                   failures ? "not ok" : "ok");
        return failures;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (const struct scenario *s = scenarios; s->name; s++) {
        int failures = 0;

        if (s->faults || (argc > 2 && !strstr(s->name, argv[2])))
            continue;
        for (unsigned long seed = 0; seed < nseeds; seed++)
            failures += run(s, seed, false);
        failed += report(failures, s->name);
    }
    failed += report(refused((struct orr_mpi_conf){.initialize = true}, "already") +
                         refused((struct orr_mpi_conf){.tag = 2147483647}, "tags"),
                     "what cannot be opened is refused");
    failed += report(wakes(), "wake ends any wait");
    failed += report(lost(false), "a peer is lost while this rank sends");
    failed += report(lost(true), "a peer is lost while this rank receives");
    failed += report(handler_stays(), "the error handler of the application stays");
    if (me == 0)
        printf("1..%d\n", number_of_test);
    MPI_Finalize();
    return failed > 0;
}
