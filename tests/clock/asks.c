/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/clock/asks.c - a program that times itself by all clocks of the C library: what
 * each says that ten kernels took, and a sleep, in ms; then whether one went back.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <starpu.h>

#ifdef _OPENMP
#    include <omp.h>
#endif

#ifdef ASKS_MPI
double MPI_Wtime(void); /* of wtime.c, a library as MPI's is one */

static double mpi(void)
{
    return 1e3 * MPI_Wtime();
}
#endif

static double by_clock(clockid_t id)
{
    struct timespec now;

    if (clock_gettime(id, &now) != 0)
        exit(2);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static double realtime(void)
{
    return by_clock(CLOCK_REALTIME);
}

static double monotonic(void)
{
    return by_clock(CLOCK_MONOTONIC);
}

static double processor(void)
{
    return by_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static double of_day(void)
{
    struct timeval now;

    gettimeofday(&now, NULL);
    return 1e3 * (double)now.tv_sec + 1e-3 * (double)now.tv_usec;
}

static double seconds(void)
{
    return 1e3 * (double)time(NULL);
}

static double ticks(void)
{
    return 1e3 * (double)clock() / CLOCKS_PER_SEC;
}

static double get(void)
{
    struct timespec now;

    return timespec_get(&now, TIME_UTC) == TIME_UTC
               ? 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec
               : 0;
}

#ifdef _OPENMP
static double openmp(void)
{
    return 1e3 * omp_get_wtime();
}
#endif

static const struct {
    const char *name;
    double (*ms)(void);
} clocks[] = {
    {"clock_gettime", realtime}, {"monotonic", monotonic},
    {"processor", processor},    {"gettimeofday", of_day},
    {"time", seconds},           {"clock", ticks},
    {"timespec_get", get},
#ifdef _OPENMP
    {"omp_get_wtime", openmp},
#endif
#ifdef ASKS_MPI
    {"MPI_Wtime", mpi},
#endif
};

enum { NCLOCKS = sizeof(clocks) / sizeof(*clocks) };

static double last[NCLOCKS], before[NCLOCKS];
static int back;

static void read_all(double *ret)
{
    for (int i = 0; i < NCLOCKS; i++) {
        double now = clocks[i].ms();

        if (now < last[i])
            back++;
        ret[i] = last[i] = now;
    }
}

static void print(const char *what)
{
    double now[NCLOCKS];

    read_all(now);
    for (int i = 0; i < NCLOCKS; i++)
        printf("%s %s %.6f\n", what, clocks[i].name, now[i] - before[i]);
}

static void kernel(void **buffers, void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet cl = {
    .cpu_funcs = {kernel}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "k"};

static void run_tasks(starpu_data_handle_t handle)
{
    for (int i = 0; i < 10; i++)
        if (starpu_task_insert(&cl, STARPU_RW, handle, 0) != 0)
            exit(2);
    starpu_task_wait_for_all();
}

static void sleep_all_ways(void)
{
    struct timespec time = {0, 250000000}, until;

    usleep(250000);
    if (nanosleep(&time, NULL) != 0 ||
        clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) != 0)
        exit(2);
    if (clock_gettime(CLOCK_MONOTONIC, &until) != 0)
        exit(2);
    until.tv_sec++;
    if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0 ||
        sleep(1) != 0)
        exit(2);
    time.tv_nsec = 2000000000;
    if (nanosleep(&time, NULL) == 0 || errno != EINVAL)
        exit(2);
}

int main(int argc, char **argv)
{
    starpu_data_handle_t handle;
    double ignored[NCLOCKS], started;
    int value = 0, quiet = argc > 1 && !strcmp(argv[1], "quiet");

    if (!quiet)
        read_all(ignored);
    if (starpu_init(NULL) != 0)
        return 1;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    if (quiet) {
        run_tasks(handle);
    } else {
        read_all(before);
        started = starpu_timing_now();
        run_tasks(handle);
        printf("tasks starpu_timing_now %.6f\n",
               1e-3 * (starpu_timing_now() - started));
        print("tasks");
        read_all(before);
        sleep_all_ways();
        print("sleep");
    }
    starpu_data_unregister(handle);
    starpu_shutdown();
    if (!quiet)
        read_all(ignored);
    printf("back %d\n", back);
    return 0;
}
