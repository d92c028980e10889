/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-refusals.c - tasks that can_execute refuses for all workers but
 * some, round after round, on workers that are just falling asleep: whoever has taken
 * one that it cannot run gives it back to those who can, and to itself what else there
 * is. If a wake is lost a round never ends, and the stall is said and ends the program.
 * Under each policy.
 *
 * usage: test-refusals [SEED [ROUNDS]]
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

#include "../rng.h"

enum { NWORKERS = 4, ROUNDS = 1000, MOST = 6 };

static atomic_uint nwrong, nran;

static int accepts(unsigned worker, struct starpu_task *task, unsigned impl)
{
    (void)impl;
    return (uintptr_t)task->cl_arg >> worker & 1;
}

static void kernel(void *buffers[], void *arg)
{
    (void)buffers;
    nran++;
    nwrong += !((uintptr_t)arg >> starpu_worker_get_id() & 1);
}

static struct starpu_codelet choosy = {
    .cpu_funcs = {kernel},
    .can_execute = accepts,
    .name = "choosy",
};

static unsigned submit_round(uint64_t *rng)
{
    unsigned n = 1 + (unsigned)(rng_next(rng) % MOST);

    for (unsigned i = 0; i < n; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &choosy;
        task->cl_arg =
            (void *)(uintptr_t)(1 + rng_next(rng) % ((1U << NWORKERS) - 1));
        task->priority = (int)(rng_next(rng) % 3);
        if (starpu_task_submit(task) != 0)
            abort();
    }
    return n;
}

/* Whether each task ran once, and where it may. */
static int run(const char *sched, uint64_t seed, int rounds)
{
    uint64_t rng = rng_of(seed);
    struct starpu_conf conf;
    unsigned n = 0;

    starpu_conf_init(&conf);
    conf.ncpus = NWORKERS;
    conf.sched_policy_name = sched;
    nran = nwrong = 0;
    if (starpu_init(&conf) != 0)
        return 0;
    for (int r = 0; r < rounds; r++) {
        n += submit_round(&rng);
        starpu_task_wait_for_all();
    }
    starpu_shutdown();
    return nran == n && nwrong == 0;
}

int main(int argc, char **argv)
{
    struct starpu_sched_policy **policies =
        starpu_sched_get_predefined_policies();
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : ROUNDS;
    int n = 0, failed = 0;

    setenv("STARPU_WATCHDOG_CRASH", "1", 1);
    setenv("STARPU_SILENT", "1", 1);
    while (policies[n])
        n++;
    printf("1..%d\n", n);
    fflush(stdout);
    for (int i = 0; i < n; i++) {
        const char *name = policies[i]->policy_name;
        int good;

        printf("# %s\n", name);
        fflush(stdout);
        good = run(name, seed, rounds);
        failed |= !good;
        printf("%s %d - who can execute a task gets it: %s\n",
               good ? "ok" : "not ok", i + 1, name);
    }
    return failed;
}
