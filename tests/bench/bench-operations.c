/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-operations.c - what a task costs, counted and not timed:
 * locks taken and atomic operations that read and write (each locks a line of
 * the cache) per empty task of 0, 1, 2 and 4 buffers, by policy and number of
 * workers; with `sites`, by place in the sources, too. First the workers pause and main submits all tasks, then they run
 * them: `submit` is what main does, `run` what the workers do, per task.
 *
 * The sources are compiled with tests/steps/points.h, which calls us.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "empty_tasks.h"
#include "tests/steps/points.h"

enum { NTASKS = 5000 };

enum kind { LOCK, WRITE, FENCE, NKINDS };

struct counts {
    unsigned long locks, writes, fences;
};

/* A place in the sources, found by its line. */
struct site {
    const char *file, *object;
    int line;
    unsigned long n[2]; /* by others and by main */
};

static _Thread_local bool is_main;
static unsigned long counted[2][NKINDS];
static struct site sites[4096];
static bool counts_sites;

static void count_site(const char *object, const char *file, int line)
{
    struct site *site = &sites[(unsigned)line % 4096];

    while (site->file && (site->file != file || site->line != line))
        site = site == &sites[4095] ? sites : site + 1;
    *site = (struct site){file, object, line, {site->n[0], site->n[1]}};
    __atomic_fetch_add(&site->n[is_main], 1, __ATOMIC_RELAXED);
}

static void count(enum kind kind, const char *object, const char *file,
                  int line)
{
    __atomic_fetch_add(&counted[is_main][kind], 1, __ATOMIC_RELAXED);
    if (counts_sites)
        count_site(object, file, line);
}

void step_point(const char *what, const char *object, const char *file,
                int line)
{
    static const char *const writes[] = {"add", "subtract", "or",      "and",
                                         "try", "exchange", "compare", NULL};

    for (unsigned i = 0; writes[i]; i++)
        if (!strcmp(what, writes[i])) {
            count(WRITE, object, file, line);
            return;
        }
    if (!strcmp(what, "fence"))
        count(FENCE, "fence", file, line);
}

void step_lock(struct orr_lock *lock, const char *object, const char *file,
               int line)
{
    (void)lock;
    count(LOCK, object, file, line);
}

/* Those that a fifth of the tasks pass, and begins anew. */
static void print_sites(void)
{
    for (unsigned i = 0; i < 4096; i++) {
        struct site *site = &sites[i];

        for (int by = 0; by < 2; by++)
            if (site->n[by] > NTASKS / 5)
                printf("  %s %.2f %s:%d %s\n", by ? "submit" : "run",
                       (double)site->n[by] / NTASKS, site->file, site->line,
                       site->object);
        site->n[0] = site->n[1] = 0;
    }
}

static struct counts take_counts(bool main)
{
    struct counts c = {
        __atomic_exchange_n(&counted[main][0], 0, __ATOMIC_RELAXED),
        __atomic_exchange_n(&counted[main][1], 0, __ATOMIC_RELAXED),
        __atomic_exchange_n(&counted[main][2], 0, __ATOMIC_RELAXED)};

    return c;
}

static double one_us(struct starpu_task *task, struct starpu_perfmodel_arch *a,
                     unsigned nimpl)
{
    (void)task, (void)a, (void)nimpl;
    return 1;
}

static struct starpu_perfmodel model = {
    .type = STARPU_PER_ARCH,
    .arch_cost_function = one_us,
};

static void measure(const char *policy, int nworkers, int nbuffers)
{
    struct counts of_main, of_others;

    starpu_pause();
    (void)take_counts(true);
    (void)take_counts(false);
    memset(sites, 0, sizeof(sites));
    empty_tasks_submit(NTASKS, nbuffers);
    of_main = take_counts(true);
    starpu_resume();
    starpu_task_wait_for_all();
    of_others = take_counts(false);
    printf("bench operations policy=%s workers=%d buffers=%d "
           "submit_locks=%.2f submit_atomics=%.2f submit_fences=%.2f "
           "run_locks=%.2f run_atomics=%.2f run_fences=%.2f unit=per_task\n",
           policy, nworkers, nbuffers, (double)of_main.locks / NTASKS,
           (double)of_main.writes / NTASKS, (double)of_main.fences / NTASKS,
           (double)of_others.locks / NTASKS, (double)of_others.writes / NTASKS,
           (double)of_others.fences / NTASKS);
    if (counts_sites)
        print_sites();
}

static int run(const char *policy, int nworkers)
{
    static const int buffers[] = {0, 1, 2, 4};
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.ncpus = nworkers;
    conf.sched_policy_name = policy;
    empty_cl.model = !strncmp(policy, "dm", 2) ? &model : NULL;
    if (starpu_init(&conf) != 0)
        return 77;
    empty_data_register();
    for (unsigned k = 0; k < sizeof(buffers) / sizeof(*buffers); k++) {
        empty_tasks_submit(NTASKS, buffers[k]); /* makes rows and fills caches */
        starpu_task_wait_for_all();
        measure(policy, nworkers, buffers[k]);
    }
    empty_data_unregister();
    starpu_shutdown();
    return 0;
}

/* usage: bench-operations [POLICY WORKERS [sites]] */
int main(int argc, char **argv)
{
    static const char *const policies[] = {"eager", "prio",  "lws",
                                           "dm",    "dmdas", NULL};
    static const int workers[] = {2, 16, 64, 0};

    is_main = true;
    counts_sites = argc > 3;
    if (argc > 2)
        return run(argv[1], atoi(argv[2]));
    for (unsigned p = 0; policies[p]; p++)
        for (unsigned w = 0; workers[w]; w++)
            if (run(policies[p], workers[w]) != 0)
                return 77;
    return 0;
}
