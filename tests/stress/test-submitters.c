/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-submitters.c - several threads of the application submit
 * tasks that share several handles: in the same order of buffers, in another
 * one each, and some handles twice; in order, commuting, or without any order.
 * Every task adds 1 to all that it writes, so that a lost update shows, and the
 * run must end: of two tasks one comes first on all handles that both use. On
 * the real machine.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <starpu.h>

/* With a sanitizer each takes a hundred times as long. */
#ifdef __SANITIZE_THREAD__
enum { NTASKS = 1500 };
#else
enum { NTASKS = 60000 };
#endif
enum { NHANDLES = 3, NTHREADS = 3, DEADLINE_S = 240 };

static uint64_t value[NHANDLES], added[NTHREADS][NHANDLES];
static starpu_data_handle_t handle[NHANDLES];

static void add(void *buffers[], void *arg)
{
    (void)arg;
    ++*(volatile uint64_t *)STARPU_VARIABLE_GET_PTR(buffers[0]);
    ++*(volatile uint64_t *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

static struct starpu_codelet cl = {
    .cpu_funcs = {add}, .nbuffers = 2, .modes = {STARPU_RW, STARPU_RW}};

static struct starpu_codelet commuting = {
    .cpu_funcs = {add},
    .nbuffers = 2,
    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_RW | STARPU_COMMUTE}};

/* Which two handles a thread's task number i has in its buffers. */
typedef void pattern(unsigned thread, unsigned i, unsigned pair[2]);

static void same_order(unsigned thread, unsigned i, unsigned pair[2])
{
    (void)thread;
    (void)i;
    pair[0] = 0;
    pair[1] = 1;
}

static void opposite_order(unsigned thread, unsigned i, unsigned pair[2])
{
    (void)i;
    pair[0] = thread % 2;
    pair[1] = !pair[0];
}

static void in_turn(unsigned thread, unsigned i, unsigned pair[2])
{
    pair[0] = (thread + i) % NHANDLES;
    pair[1] = (thread + i * 2) % NHANDLES; /* sometimes the same one */
}

struct submitter {
    pattern *pick;
    int mode;
    unsigned number;
};

static void *submit(void *arg)
{
    const struct submitter *s = arg;

    for (unsigned i = 0; i < NTASKS; i++) {
        unsigned pair[2];

        s->pick(s->number, i, pair);
        if (starpu_task_insert(s->mode & STARPU_COMMUTE ? &commuting : &cl,
                               s->mode, handle[pair[0]], s->mode,
                               handle[pair[1]], STARPU_PRIORITY, (int)(i % 3),
                               0) != 0)
            abort();
        added[s->number][pair[0]]++;
        added[s->number][pair[1]]++;
    }
    return NULL;
}

static int run(unsigned number, const char *name, pattern *pick, int mode,
               unsigned ordered)
{
    struct submitter submitters[NTHREADS];
    pthread_t threads[NTHREADS];
    int wrong = 0;

    for (unsigned h = 0; h < NHANDLES; h++) {
        value[h] = 0;
        starpu_variable_data_register(&handle[h], STARPU_MAIN_RAM,
                                      (uintptr_t)&value[h], sizeof(value[h]));
        starpu_data_set_sequential_consistency_flag(handle[h], ordered);
        for (unsigned t = 0; t < NTHREADS; t++)
            added[t][h] = 0;
    }
    for (unsigned t = 0; t < NTHREADS; t++) {
        submitters[t] = (struct submitter){pick, mode, t};
        pthread_create(&threads[t], NULL, submit, &submitters[t]);
    }
    for (unsigned t = 0; t < NTHREADS; t++)
        pthread_join(threads[t], NULL);
    for (unsigned h = 0; h < NHANDLES; h++) {
        uint64_t expected = 0;

        starpu_data_unregister(handle[h]);
        for (unsigned t = 0; t < NTHREADS; t++)
            expected += added[t][h];
        wrong += value[h] != expected;
    }
    printf("%sok %u - %d threads, the same handles %s: %d sums are wrong\n",
           wrong ? "not " : "", number, NTHREADS, name, wrong);
    return wrong;
}

static void stuck(int number)
{
    static const char text[] = "Bail out! the tasks wait for one another\n";

    (void)number;
    (void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
    _exit(1);
}

int main(void)
{
    struct starpu_conf conf;
    int wrong = 0;

    printf("1..7\n");
    fflush(stdout);
    signal(SIGALRM, stuck);
    alarm(DEADLINE_S);
    starpu_conf_init(&conf);
    conf.ncpus = 2;
    if (starpu_init(&conf) != 0)
        return 77;
    wrong += run(1, "in the same order", same_order, STARPU_RW, 1);
    wrong += run(2, "in opposite orders", opposite_order, STARPU_RW, 1);
    wrong += run(3, "in turn", in_turn, STARPU_RW, 1);
    wrong += run(4, "in opposite orders, commuting", opposite_order,
                 STARPU_RW | STARPU_COMMUTE, 1);
    wrong +=
        run(5, "in turn, commuting", in_turn, STARPU_RW | STARPU_COMMUTE, 1);
    wrong +=
        run(6, "in opposite orders, unordered", opposite_order, STARPU_RW, 0);
    wrong += run(7, "in turn, unordered", in_turn, STARPU_RW, 0);
    starpu_shutdown();
    return wrong != 0;
}
