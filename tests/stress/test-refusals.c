/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-refusals.c - tasks that can_execute refuses for all workers but
 * some, round after round, on workers that are just falling asleep: whoever has taken
 * one that it cannot run gives it back to those who can, and to itself what else there
 * is. If a wake is lost a round never ends, and the stall is said and ends the program.
 *
 * usage: test-refusals [SEED]
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

#include "../rng.h"

enum { NWORKERS = 4, ROUNDS = 3000, MOST = 6 };

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
static int run(const char *sched, uint64_t seed)
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
    for (int r = 0; r < ROUNDS; r++) {
        n += submit_round(&rng);
        starpu_task_wait_for_all();
    }
    starpu_shutdown();
    return nran == n && nwrong == 0;
}

int main(int argc, char **argv)
{
    static const char *const policies[] = {"heteroprio", "memaware", "eager",
                                           "prio",       "lws",      "dmda"};
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    const int n = sizeof(policies) / sizeof(policies[0]);
    int failed = 0;

    setenv("STARPU_WATCHDOG_CRASH", "1", 1);
    printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        int good = run(policies[i], seed);

        failed |= !good;
        printf("%s %d - who can execute a task gets it: %s\n",
               good ? "ok" : "not ok", i + 1, policies[i]);
        fflush(stdout);
    }
    return failed;
}
