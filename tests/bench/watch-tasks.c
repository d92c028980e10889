/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/watch-tasks.c - real tasks of so many turns of a loop, for bench-watch.py.
 *
 *   watch-tasks             prints how many turns take 100 us here
 *   watch-tasks N TURNS     N tasks, in chains over 64 data; prints what it took from the
 *                           first submission to the end of the last: seconds, those of
 *                           the processor, and in the system, page faults
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <starpu.h>

enum { DATA = 64 };

static unsigned long turns;

static uint64_t turn(unsigned long n)
{
    uint64_t x = 88172645463325252ULL;

    for (unsigned long i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

static void work(void *buffers[], void *arg)
{
    volatile uint64_t kept = turn(turns);

    (void)buffers;
    (void)arg;
    (void)kept;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* What the process has used so far. */
struct usage {
    double now, user, system; /* s */
    long faults;
};

static struct usage usage(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (struct usage){now_s(), seconds_of(used.ru_utime),
                          seconds_of(used.ru_stime), used.ru_minflt};
}

static void print_since(const struct usage *begin)
{
    struct usage end = usage();
    double system = end.system - begin->system;

    printf("%.6f %.6f %.6f %ld\n", end.now - begin->now,
           end.user - begin->user + system, system, end.faults - begin->faults);
}

/* The quickest of many tries: nobody was in between. */
static int calibrate(void)
{
    enum { TURNS = 100000 };
    double best = 1;

    for (int i = 0; i < 100; i++) {
        volatile uint64_t kept;
        double begin = now_s(), took;

        kept = turn(TURNS);
        (void)kept;
        took = now_s() - begin;
        best = took < best ? took : best;
    }
    printf("%.0f\n", TURNS * 100e-6 / best);
    return 0;
}

int main(int argc, char **argv)
{
    static struct starpu_codelet cl = {
        .cpu_funcs = {work}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "work"};
    starpu_data_handle_t data[DATA];
    static int values[DATA];
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    struct usage begin;

    if (argc < 3)
        return calibrate();
    turns = strtoul(argv[2], NULL, 10);
    if (starpu_init(NULL) != 0)
        return 1;
    for (int i = 0; i < DATA; i++)
        starpu_variable_data_register(&data[i], STARPU_MAIN_RAM, (uintptr_t)&values[i],
                                      sizeof(values[i]));
    begin = usage();
    for (long i = 0; i < n; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl;
        task->handles[0] = data[i % DATA];
        if (starpu_task_submit(task) != 0)
            return 1;
    }
    starpu_task_wait_for_all();
    print_since(&begin);
    for (int i = 0; i < DATA; i++)
        starpu_data_unregister(data[i]);
    starpu_shutdown();
    return 0;
}
