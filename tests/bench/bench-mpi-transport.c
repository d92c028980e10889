/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-mpi-transport.c - the transport of MPI (mpi/real) beside bare MPI
 * between two ranks, by turns in one run: latency of small messages (half of a round
 * trip), how many per second, bandwidth at 1 MiB. A line per measure: name, parameters,
 * value, unit, spread over the rounds, and the same of bare MPI with the ratio; for
 * latency the difference. usage: mpirun -n 2 bench-mpi-transport [ROUNDS]
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "mpi/real/real.h"

enum { MOST = 101, TRIPS = 2000, WINDOW = 64, WINDOWS = 60, LARGE = 1 << 20, BATCH = 16,
       BATCHES = 12, BARE_TAG = 7, SPIN_NS = 50000 };

static struct orr_transport *t;
static int me, other;
static char memory[BATCH][LARGE];

static double now_us(void)
{
    return bench_now_ns(CLOCK_MONOTONIC) * 1e-3;
}

/* --- the transport --- */

static void begin_send(struct orr_packet *message, struct orr_part *part, void *address,
                       size_t bytes)
{
    memset(message, 0, sizeof(*message));
    *part = (struct orr_part){.address = address, .size = bytes};
    message->header.peer = other;
    message->parts = part;
    message->nparts = 1;
    if (t->ops->send(t, message))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void take_header(struct orr_header *header)
{
    const void *inside;

    while (!t->ops->take_header(t, header, &inside))
        t->ops->wait(t, true, SPIN_NS, 0);
    if (inside)
        memcpy(memory[0], inside, header->bytes);
}

static void take_ended(unsigned n)
{
    (void)t->ops->progress(t); /* what was sent leaves */
    while (n > 0) {
        if (t->ops->take_ended(t))
            n--;
        else
            t->ops->wait(t, false, SPIN_NS, 0);
    }
}

static double our_latency(size_t bytes)
{
    double start = now_us();

    for (int i = 0; i < TRIPS; i++) {
        struct orr_packet message;
        struct orr_header header;
        struct orr_part part;

        if (me == 1)
            take_header(&header);
        begin_send(&message, &part, memory[1], bytes);
        take_ended(1);
        if (me == 0)
            take_header(&header);
    }
    return (now_us() - start) / TRIPS / 2;
}

/* Windows of messages to rank 1, an answer to each window; millions per second. */
static double our_rate(size_t bytes)
{
    static struct orr_packet messages[WINDOW];
    static struct orr_part parts[WINDOW];
    struct orr_header header;
    double start = now_us();

    for (int w = 0; w < WINDOWS; w++) {
        if (me == 0) {
            for (int i = 0; i < WINDOW; i++)
                begin_send(&messages[i], &parts[i], memory[1], bytes);
            take_ended(WINDOW);
            take_header(&header);
        } else {
            for (int i = 0; i < WINDOW; i++)
                take_header(&header);
            begin_send(&messages[0], &parts[0], memory[1], bytes);
            take_ended(1);
        }
    }
    return WINDOW * WINDOWS / (now_us() - start);
}

/* MB/s */
static double our_bandwidth(void)
{
    static struct orr_packet messages[BATCH];
    static struct orr_part parts[BATCH];
    struct orr_header header;
    double start = now_us();

    for (int b = 0; b < BATCHES; b++) {
        if (me == 0) {
            for (int i = 0; i < BATCH; i++)
                begin_send(&messages[i], &parts[i], memory[i], LARGE);
            take_ended(BATCH);
            take_header(&header);
        } else {
            for (int i = 0; i < BATCH; i++) {
                take_header(&header);
                memset(&messages[i], 0, sizeof(messages[i]));
                messages[i].header = header;
                parts[i] = (struct orr_part){.address = memory[i], .size = LARGE};
                messages[i].parts = &parts[i];
                messages[i].nparts = 1;
                t->ops->recv(t, &messages[i]);
            }
            take_ended(BATCH);
            begin_send(&messages[0], &parts[0], memory[0], 8);
            take_ended(1);
        }
    }
    return (double)BATCHES * BATCH * LARGE / (now_us() - start);
}

/* --- bare MPI --- */

static void bare_send(void *address, size_t bytes)
{
    MPI_Send(address, (int)bytes, MPI_BYTE, other, BARE_TAG, MPI_COMM_WORLD);
}

static void bare_recv(void *address, size_t bytes)
{
    MPI_Recv(address, (int)bytes, MPI_BYTE, other, BARE_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static double bare_latency(size_t bytes)
{
    double start = now_us();

    for (int i = 0; i < TRIPS; i++) {
        if (me == 1)
            bare_recv(memory[0], bytes);
        bare_send(memory[1], bytes);
        if (me == 0)
            bare_recv(memory[0], bytes);
    }
    return (now_us() - start) / TRIPS / 2;
}

/* `n` at a time, `times` times, and an answer each; us in all. */
static double bare_windows(int n, int times, size_t bytes)
{
    MPI_Request requests[WINDOW];
    MPI_Status statuses[WINDOW];
    double start = now_us();

    for (int w = 0; w < times; w++) {
        for (int i = 0; i < n; i++) {
            void *at = memory[i % BATCH];

            if (me == 0)
                MPI_Isend(at, (int)bytes, MPI_BYTE, other, BARE_TAG, MPI_COMM_WORLD,
                          &requests[i]);
            else
                MPI_Irecv(at, (int)bytes, MPI_BYTE, other, BARE_TAG, MPI_COMM_WORLD,
                          &requests[i]);
        }
        MPI_Waitall(n, requests, statuses);
        if (me == 0)
            bare_recv(memory[0], 8);
        else
            bare_send(memory[0], 8);
    }
    return now_us() - start;
}

/* --- by turns --- */

struct measure {
    const char *name, *unit;
    size_t bytes;
    double ours[MOST], bare[MOST];
};

static void run_once(struct measure *m, int i)
{
    MPI_Barrier(MPI_COMM_WORLD);
    switch (m->name[0]) {
    case 'l':
        m->bare[i] = bare_latency(m->bytes);
        m->ours[i] = our_latency(m->bytes);
        break;
    case 'r':
        m->bare[i] = WINDOW * WINDOWS / bare_windows(WINDOW, WINDOWS, m->bytes);
        m->ours[i] = our_rate(m->bytes);
        break;
    default:
        m->bare[i] = (double)BATCHES * BATCH * LARGE /
                     bare_windows(BATCH, BATCHES, LARGE);
        m->ours[i] = our_bandwidth();
        break;
    }
}

static void print(struct measure *m, unsigned rounds, const char *mpi)
{
    double ours = bench_median(m->ours, rounds), bare = bench_median(m->bare, rounds);

    printf("bench mpi-transport %s mpi=%s bytes=%zu %.3f %s spread=%.3f..%.3f bare=%.3f "
           "bare_spread=%.3f..%.3f ratio=%.3f",
           m->name, mpi, m->bytes, ours, m->unit, m->ours[rounds / 4],
           m->ours[rounds - 1 - rounds / 4], bare, m->bare[rounds / 4],
           m->bare[rounds - 1 - rounds / 4], ours / bare);
    if (m->name[0] == 'l')
        printf(" difference=%.3f", ours - bare);
    printf("\n");
}

int main(int argc, char **argv)
{
    static struct measure all[] = {
        {.name = "latency", .unit = "us", .bytes = 8},
        {.name = "latency", .unit = "us", .bytes = 1024},
        {.name = "rate", .unit = "M/s", .bytes = 8},
        {.name = "bandwidth", .unit = "MB/s", .bytes = LARGE},
    };
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 15;
    struct orr_mpi_conf conf = {0};
    MPI_Comm world = MPI_COMM_WORLD;
    struct orr_error err;
    struct orr_comm comm;
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    int level, length;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (rounds < 1 || rounds > MOST || orr_mpi_open(&conf, &t, &err) ||
        t->ops->comm_add(t, &world, &comm, &err) || comm.size != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    me = comm.rank;
    other = 1 - me;
    MPI_Get_library_version(mpi, &length);
    mpi[strcspn(mpi, " \t\n")] = '\0';
    for (unsigned i = 0; i < BATCH; i++)
        memset(memory[i], (int)i, LARGE);
    for (unsigned i = 0; i < rounds; i++)
        for (unsigned m = 0; m < sizeof(all) / sizeof(*all); m++)
            run_once(&all[m], (int)i);
    for (unsigned m = 0; m < sizeof(all) / sizeof(*all) && me == 0; m++)
        print(&all[m], rounds, mpi);
    MPI_Barrier(MPI_COMM_WORLD);
    t->ops->close(t);
    MPI_Finalize();
    return 0;
}
