/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-mpi.c - what starpu_mpi.h costs, between two ranks: an insertion in which
 * the rank has no part, detached messages beside MPI_Isend and MPI_Irecv by turns in one run,
 * the thread MPI while nothing happens. A line per measure: name, parameters, the median and
 * the least (of a rate the most) over the rounds; of messages the same of bare MPI, the
 * ratio of both, and of a rate rank 0's processor time per message, in us. usage: mpirun -n 2 bench-mpi [ROUNDS [insert | messages | idle]]
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <starpu_mpi.h>

#include "bench.h"

enum { MOST = 101, INSERTIONS = 20000, TRIPS = 500, WINDOW = 1024, WINDOWS = 8, LARGE = 1 << 20,
       BATCH = 16, BATCHES = 4, BARE_TAG = 7 };

static int me, other;
static unsigned rounds = 15;
static char mpi[MPI_MAX_LIBRARY_VERSION_STRING];

static double now_us(void)
{
    return bench_now_ns(CLOCK_MONOTONIC) * 1e-3;
}

/* --- an insertion without a part --- */

static struct starpu_codelet cl_three = {.nbuffers = 3,
                                         .modes = {STARPU_RW, STARPU_R, STARPU_R}};

/* The same list of arguments, looked through and no more. */
static __attribute__((noinline)) int walk(struct starpu_codelet *cl, ...)
{
    va_list ap;
    int key, n = cl != NULL;

    va_start(ap, cl);
    while ((key = va_arg(ap, int)) != 0) {
        n += va_arg(ap, void *) != NULL;
        n += key & STARPU_W;
    }
    va_end(ap);
    return n;
}

/* ns of this thread per call, of the insertion or of the walk. */
static double insertions(const starpu_data_handle_t *data, int only_walk)
{
    volatile int sink = 0;
    double start = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);

    for (int i = 0; i < INSERTIONS; i++)
        if (only_walk)
            sink += walk(&cl_three, (int)STARPU_RW, data[0], (int)STARPU_R, data[1],
                         (int)STARPU_R, data[2], 0);
        else
            sink += starpu_mpi_task_insert(MPI_COMM_WORLD, &cl_three, STARPU_RW, data[0],
                                           STARPU_R, data[1], STARPU_R, data[2], 0);
    return (bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / INSERTIONS;
}

/* On rank 1, of data that rank 0 owns: no message goes. */
static void measure_insertions(void)
{
    double ours[MOST], walks[MOST], median, walk_median;
    starpu_data_handle_t data[3];
    int value[3];

    for (int i = 0; i < 3; i++) {
        starpu_variable_data_register(&data[i], me == 0 ? STARPU_MAIN_RAM : -1,
                                      me == 0 ? (uintptr_t)&value[i] : 0, sizeof(value[i]));
        starpu_mpi_data_register(data[i], i, 0);
    }
    for (unsigned r = 0; r < rounds && me == 1; r++) {
        walks[r] = insertions(data, 1);
        ours[r] = insertions(data, 0);
    }
    for (int i = 0; i < 3; i++)
        starpu_data_unregister(data[i]);
    if (me == 0)
        return;
    median = bench_median(ours, rounds);
    walk_median = bench_median(walks, rounds);
    printf("bench mpi insert-without-part mpi=%s data=3 %.1f ns least=%.1f walk=%.1f "
           "walk_least=%.1f\n",
           mpi, median, ours[0], walk_median, walks[0]);
    fflush(stdout);
}

/* --- detached messages --- */

static char memory[BATCH][LARGE];
static starpu_data_handle_t out[WINDOW], in[WINDOW];
static sem_t ended;
static int left; /* of the messages of a run; the thread MPI */

static void register_data(size_t bytes, int n)
{
    for (int i = 0; i < n; i++) {
        starpu_vector_data_register(&out[i], STARPU_MAIN_RAM,
                                    (uintptr_t)memory[i % BATCH], (uint32_t)bytes, 1);
        starpu_vector_data_register(&in[i], STARPU_MAIN_RAM,
                                    (uintptr_t)memory[i % BATCH], (uint32_t)bytes, 1);
    }
}

static void unregister_data(int n)
{
    for (int i = 0; i < n; i++) {
        starpu_data_unregister(out[i]);
        starpu_data_unregister(in[i]);
    }
}

/* A message has come: asks for the next one, then answers. */
static void answer(void *arg)
{
    int more = --left > 0;

    if (more)
        starpu_mpi_irecv_detached(in[0], other, 0, MPI_COMM_WORLD, answer, arg);
    if (more || me == 1)
        starpu_mpi_isend_detached(out[0], other, 0, MPI_COMM_WORLD, NULL, NULL);
    if (!more)
        sem_post(&ended);
}

static double our_latency(void)
{
    double start;

    left = TRIPS;
    starpu_mpi_barrier(MPI_COMM_WORLD);
    start = now_us();
    starpu_mpi_irecv_detached(in[0], other, 0, MPI_COMM_WORLD, answer, NULL);
    if (me == 0)
        starpu_mpi_isend_detached(out[0], other, 0, MPI_COMM_WORLD, NULL, NULL);
    sem_wait(&ended);
    return (now_us() - start) / TRIPS / 2;
}

static void count(void *arg)
{
    (void)arg;
    if (--left == 0)
        sem_post(&ended);
}

/* `n` at a time, `times` times, and an answer each; us in all. */
static double our_windows(int n, int times)
{
    double start;

    starpu_mpi_barrier(MPI_COMM_WORLD);
    start = now_us();
    for (int w = 0; w < times; w++) {
        left = n;
        for (int i = 0; i < n; i++)
            if (me == 0)
                starpu_mpi_isend_detached(out[i], other, i, MPI_COMM_WORLD, count, NULL);
            else
                starpu_mpi_irecv_detached(in[i], other, i, MPI_COMM_WORLD, count, NULL);
        sem_wait(&ended);
        if (me == 0)
            starpu_mpi_recv(in[0], other, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            starpu_mpi_send(out[0], other, n, MPI_COMM_WORLD);
    }
    return now_us() - start;
}

/* --- bare MPI, while the thread MPI is not there --- */

static double bare_latency(size_t bytes)
{
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = now_us();
    for (int i = 0; i < TRIPS; i++) {
        MPI_Request requests[2];

        MPI_Irecv(memory[0], (int)bytes, MPI_BYTE, other, BARE_TAG, MPI_COMM_WORLD,
                  &requests[0]);
        if (me == 1)
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Isend(memory[1], (int)bytes, MPI_BYTE, other, BARE_TAG, MPI_COMM_WORLD,
                  &requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        if (me == 0)
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    return (now_us() - start) / TRIPS / 2;
}

static double bare_windows(int n, int times, size_t bytes)
{
    MPI_Request requests[WINDOW];
    MPI_Status statuses[WINDOW];
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = now_us();
    for (int w = 0; w < times; w++) {
        for (int i = 0; i < n; i++)
            if (me == 0)
                MPI_Isend(memory[i % BATCH], (int)bytes, MPI_BYTE, other, BARE_TAG,
                          MPI_COMM_WORLD, &requests[i]);
            else
                MPI_Irecv(memory[i % BATCH], (int)bytes, MPI_BYTE, other, BARE_TAG,
                          MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(n, requests, statuses);
        if (me == 0)
            MPI_Recv(memory[0], (int)bytes, MPI_BYTE, other, BARE_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        else
            MPI_Send(memory[0], (int)bytes, MPI_BYTE, other, BARE_TAG, MPI_COMM_WORLD);
    }
    return now_us() - start;
}

/* --- by turns --- */

struct measure {
    const char *name, *unit;
    size_t bytes;
    double ours[MOST], bare[MOST];
    double our_time[MOST], bare_time[MOST]; /* of all threads of a rank, per message, in us */
};

static double process_us(void)
{
    return bench_now_ns(CLOCK_PROCESS_CPUTIME_ID) * 1e-3;
}

static double measure_bare(const struct measure *m)
{
    if (m->name[0] == 'l')
        return bare_latency(m->bytes);
    if (m->name[0] == 'r')
        return WINDOW * WINDOWS / bare_windows(WINDOW, WINDOWS, m->bytes);
    return (double)BATCHES * BATCH * LARGE / bare_windows(BATCH, BATCHES, LARGE);
}

static double measure_ours(const struct measure *m)
{
    double result;

    register_data(m->bytes, m->name[0] == 'b' ? BATCH : WINDOW);
    if (m->name[0] == 'l')
        result = our_latency();
    else if (m->name[0] == 'r')
        result = WINDOW * WINDOWS / our_windows(WINDOW, WINDOWS);
    else
        result = (double)BATCHES * BATCH * LARGE / our_windows(BATCH, BATCHES);
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    unregister_data(m->name[0] == 'b' ? BATCH : WINDOW);
    return result;
}

static void open_ranks(void)
{
    if (starpu_mpi_init_comm(NULL, NULL, 0, MPI_COMM_WORLD) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void close_ranks(void)
{
    starpu_mpi_barrier(MPI_COMM_WORLD);
    starpu_mpi_shutdown();
}

static void print(struct measure *m)
{
    double ours = bench_median(m->ours, rounds), bare = bench_median(m->bare, rounds);
    unsigned best = m->name[0] == 'l' ? 0 : rounds - 1;

    printf("bench mpi %s mpi=%s bytes=%zu %.3f %s best=%.3f bare=%.3f bare_best=%.3f "
           "ratio=%.3f ratio_of_best=%.3f",
           m->name, mpi, m->bytes, ours, m->unit, m->ours[best], bare, m->bare[best],
           ours / bare, m->ours[best] / m->bare[best]);
    if (m->name[0] == 'l')
        printf(" difference=%.3f difference_of_best=%.3f", ours - bare,
               m->ours[best] - m->bare[best]);
    if (m->name[0] == 'r') {
        ours = bench_median(m->our_time, rounds);
        bare = bench_median(m->bare_time, rounds);
        printf(" processor=%.3f least=%.3f bare_processor=%.3f least=%.3f", ours,
               m->our_time[0], bare, m->bare_time[0]);
    }
    printf("\n");
    fflush(stdout);
}

static void measure_messages(void)
{
    static struct measure all[] = {
        {.name = "latency", .unit = "us", .bytes = 8},
        {.name = "latency", .unit = "us", .bytes = 1024},
        {.name = "rate", .unit = "M/s", .bytes = 8},
        {.name = "rate", .unit = "M/s", .bytes = 1024},
        {.name = "bandwidth", .unit = "MB/s", .bytes = LARGE},
    };
    unsigned n = sizeof(all) / sizeof(*all);

    for (unsigned r = 0; r < rounds; r++) {
        for (unsigned m = 0; m < n; m++) {
            double start = process_us();

            all[m].bare[r] = measure_bare(&all[m]);
            all[m].bare_time[r] = (process_us() - start) / (WINDOW * WINDOWS);
        }
        open_ranks();
        for (unsigned m = 0; m < n; m++) {
            double start = process_us();

            all[m].ours[r] = measure_ours(&all[m]);
            all[m].our_time[r] = (process_us() - start) / (WINDOW * WINDOWS);
        }
        close_ranks();
    }
    for (unsigned m = 0; m < n && me == 0; m++)
        print(&all[m]);
}

/* --- the thread MPI while nothing happens --- */

/* Its clock of processor time. */
static clockid_t thread_clock;

static void look_at_clock(void *arg)
{
    (void)arg;
    if (pthread_getcpuclockid(pthread_self(), &thread_clock) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    sem_post(&ended);
}

/* With and without a receive that nobody answers for that time. */
static void measure_idle(void)
{
    for (int waiting = 0; waiting < 2; waiting++) {
        double start;

        register_data(8, 1);
        /* A message to oneself calls back there. */
        starpu_mpi_isend_detached(out[0], me, 1, MPI_COMM_WORLD, NULL, NULL);
        starpu_mpi_irecv_detached(in[0], me, 1, MPI_COMM_WORLD, look_at_clock, NULL);
        sem_wait(&ended);
        if (waiting)
            starpu_mpi_irecv_detached(in[0], other, 0, MPI_COMM_WORLD, NULL, NULL);
        starpu_mpi_barrier(MPI_COMM_WORLD);
        start = bench_now_ns(thread_clock);
        nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
        if (me == 0)
            printf("bench mpi idle-thread mpi=%s receives=%d %.2f ms-in-2s\n", mpi, waiting,
                   (bench_now_ns(thread_clock) - start) * 1e-6);
        starpu_mpi_barrier(MPI_COMM_WORLD);
        if (waiting)
            starpu_mpi_send(out[0], other, 0, MPI_COMM_WORLD);
        starpu_mpi_wait_for_all(MPI_COMM_WORLD);
        unregister_data(1);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *only = argc > 2 ? argv[2] : "";
    int level, n, length;

    if (argc > 1)
        rounds = (unsigned)atoi(argv[1]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    other = 1 - me;
    if (rounds < 1 || rounds > MOST || n != 2 || starpu_init(NULL) != 0) {
        fprintf(stderr, "usage: mpirun -n 2 bench-mpi [ROUNDS [insert | messages | idle]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Get_library_version(mpi, &length);
    mpi[strcspn(mpi, " \t\n")] = '\0';
    sem_init(&ended, 0, 0);
    for (unsigned i = 0; i < BATCH; i++)
        memset(memory[i], (int)i, LARGE);
    if (!*only || !strcmp(only, "messages"))
        measure_messages();
    open_ranks();
    if (!*only || !strcmp(only, "insert"))
        measure_insertions();
    if (!*only || !strcmp(only, "idle"))
        measure_idle();
    close_ranks();
    starpu_shutdown();
    MPI_Finalize();
    return 0;
}
