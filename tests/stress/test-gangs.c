/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-gangs.c - parallel tasks of overlapping combined workers, of
 * any priority, beside single ones, tasks of contexts whose workers are awake or
 * blocked, pauses and blocked processors, submitted by several threads. Each task
 * adds 1 to what it writes, by one of its workers: none is lost, and the run must
 * end. On the real machine; simulated (ORRERY_MACHINE) one thread submits.
 * usage: test-gangs [SEED [ROUNDS]]
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <orrery.h>
#include <starpu.h>

#include "../rng.h"

enum {
    NWORKERS = 4,
    NTHREADS = 3,
    NHANDLES = 6,
    NTASKS = 400,
    NSTEPS = 40,
    NROUNDS = 10,
    NCOMBINED = 6,
    DEADLINE_S = 280
};

static const char *const policies[] = {"pheft", "peager", "lws",
                                       "dmdas", "prio",   "pheft"};
enum { NPOLICIES = sizeof(policies) / sizeof(policies[0]) };

static uint64_t value[NHANDLES], added[NTHREADS][NHANDLES];
static starpu_data_handle_t handle[NHANDLES];
static int combined[NCOMBINED];
static unsigned pair_ctx;
static atomic_ulong nawake;
static atomic_int wrong_size;

static double length_of(struct starpu_task *task,
                        struct starpu_perfmodel_arch *arch, unsigned impl)
{
    (void)task;
    (void)impl;
    return 60.0 / arch->devices[0].ncores;
}

static struct starpu_perfmodel model = {.type = STARPU_PER_ARCH,
                                        .arch_cost_function = length_of};

static void add(void *buffers[], void *arg)
{
    int size = starpu_combined_worker_get_size();

    (void)arg;
    if (starpu_combined_worker_get_rank() < 0 ||
        starpu_combined_worker_get_rank() >= size)
        wrong_size++;
    if (starpu_combined_worker_get_rank() == 0)
        ++*(volatile uint64_t *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static void count(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    atomic_fetch_add(&nawake, 1);
}

#define CODELET(...)                                                           \
    {                                                                          \
        .cpu_funcs = {add}, .nbuffers = 1, .modes = {STARPU_RW},               \
        .model = &model, __VA_ARGS__                                           \
    }
static struct starpu_codelet codelets[] = {
    CODELET(.name = "spmd", .type = STARPU_SPMD, .max_parallelism = NWORKERS),
    CODELET(.name = "forkjoin", .type = STARPU_FORKJOIN, .max_parallelism = 3),
    CODELET(.name = "single"),
};
static struct starpu_codelet counts = {
    .cpu_funcs = {count}, .model = &model, .name = "count"};

/* --- who submits --- */

struct submitter {
    unsigned number;
    uint64_t rng;
};

/* Which worker a task names; -1: none. */
static int choose_worker(uint64_t *rng, unsigned kind)
{
    unsigned c = (unsigned)(rng_next(rng) % NCOMBINED);

    if (rng_next(rng) & 1)
        return -1;
    /* The last one is too large for fork-join. */
    return kind == 2 ? (int)(rng_next(rng) % NWORKERS)
                     : combined[kind == 1 && c == NCOMBINED - 1 ? 0 : c];
}

static void submit_one(struct submitter *s)
{
    unsigned h = (unsigned)(rng_next(&s->rng) % NHANDLES);
    unsigned kind = (unsigned)(rng_next(&s->rng) % 3);
    unsigned ctx = rng_next(&s->rng) % 4 ? 0 : pair_ctx;

    if (starpu_task_insert(&codelets[kind], STARPU_RW, handle[h],
                           STARPU_PRIORITY, (int)(rng_next(&s->rng) % 3),
                           STARPU_EXECUTE_ON_WORKER,
                           choose_worker(&s->rng, kind), STARPU_SCHED_CTX, ctx,
                           0) != 0)
        abort();
    added[s->number][h]++;
}

static void *submit(void *arg)
{
    for (int i = 0; i < NTASKS; i++)
        submit_one(arg);
    return NULL;
}

/* --- who disturbs --- */

static void *nothing(void *arg)
{
    return arg;
}

/* A context without policy that ends soon; returns how often its tasks are
 * called. */
static unsigned long use_awake(uint64_t *rng)
{
    int first = (int)(rng_next(rng) % 2), n = 2 + (int)(rng_next(rng) % 2);
    int ids[] = {first, first + 1, first + 2};
    unsigned ctx = starpu_sched_ctx_create(
        ids, n, "awake", STARPU_SCHED_CTX_AWAKE_WORKERS, 0);
    unsigned long ntasks = rng_next(rng) % 10;

    for (unsigned long i = 0; i < ntasks; i++)
        if (starpu_task_insert(&counts, STARPU_SCHED_CTX, ctx, 0) != 0)
            abort();
    starpu_sched_ctx_delete(ctx);
    return ntasks * (unsigned)n;
}

static unsigned long disturb(uint64_t *rng)
{
    switch (rng_next(rng) % 4) {
    case 0:
        return use_awake(rng);
    case 1:
        if (starpu_sched_ctx_exec_parallel_code(nothing, rng, pair_ctx) != rng)
            abort();
        break;
    case 2:
        starpu_pause();
        starpu_resume();
        break;
    default:
        starpu_task_wait_for_n_submitted(20);
        break;
    }
    return 0;
}

/* --- a round --- */

static int combine(int n, int a, int b, int c, int d)
{
    int ids[] = {a, b, c, d};
    int id = starpu_combined_worker_assign_workerid(n, ids);
    struct starpu_worker_collection *workers =
        starpu_sched_ctx_get_worker_collection(0);

    (void)workers->add(workers, id);
    return id;
}

static void make_all(void)
{
    int pair[] = {2, 3};

    combined[0] = combine(2, 0, 1, 0, 0);
    combined[1] = combine(2, 1, 2, 0, 0);
    combined[2] = combine(2, 3, 0, 0, 0);
    combined[3] = combine(3, 0, 2, 3, 0);
    combined[4] = combine(3, 1, 2, 3, 0);
    combined[5] = combine(4, 0, 1, 2, 3);
    pair_ctx = starpu_sched_ctx_create(
        pair, 2, "pair", STARPU_SCHED_CTX_POLICY_NAME, "peager", 0);
    for (unsigned h = 0; h < NHANDLES; h++) {
        value[h] = 0;
        for (unsigned t = 0; t < NTHREADS; t++)
            added[t][h] = 0;
        starpu_variable_data_register(&handle[h], STARPU_MAIN_RAM,
                                      (uintptr_t)&value[h], sizeof(value[h]));
    }
}

static int count_wrong(void)
{
    int wrong = 0;

    for (unsigned h = 0; h < NHANDLES; h++) {
        uint64_t expected = 0;

        starpu_data_unregister(handle[h]);
        for (unsigned t = 0; t < NTHREADS; t++)
            expected += added[t][h];
        wrong += value[h] != expected;
    }
    return wrong;
}

static unsigned long submit_all(uint64_t seed, uint64_t *rng)
{
    struct submitter submitters[NTHREADS];
    pthread_t threads[NTHREADS];
    unsigned long expected = 0;

    for (unsigned t = 0; t < NTHREADS; t++) {
        submitters[t] = (struct submitter){t, rng_of(seed + 1000 * (t + 1))};
        if (orrery_is_simulated())
            submit(&submitters[t]);
        else
            pthread_create(&threads[t], NULL, submit, &submitters[t]);
    }
    for (int i = 0; i < NSTEPS; i++)
        expected += disturb(rng);
    for (unsigned t = 0; !orrery_is_simulated() && t < NTHREADS; t++)
        pthread_join(threads[t], NULL);
    return expected;
}

static int run(unsigned round, uint64_t seed)
{
    uint64_t rng = rng_of(seed);
    unsigned long expected;
    struct starpu_conf conf;
    int wrong;

    starpu_conf_init(&conf);
    conf.ncpus = NWORKERS;
    conf.ncuda = conf.nopencl = 0;
    conf.sched_policy_name = policies[round % NPOLICIES];
    if (starpu_init(&conf) != 0)
        exit(77);
    atomic_store(&nawake, 0);
    make_all();
    expected = submit_all(seed, &rng);
    starpu_sched_ctx_delete(pair_ctx);
    starpu_task_wait_for_all();
    wrong = count_wrong() + (atomic_load(&nawake) != expected) +
            atomic_load(&wrong_size);
    starpu_shutdown();
    printf("%sok %u - seed %llu: %d sums are wrong\n", wrong ? "not " : "",
           round + 1, (unsigned long long)seed, wrong);
    fflush(stdout);
    return wrong;
}

static void stuck(int number)
{
    static const char text[] = "Bail out! the tasks do not end\n";

    (void)number;
    (void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
    _exit(1);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    unsigned nrounds =
        argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : NROUNDS;
    int wrong = 0;

    printf("1..%u\n", nrounds);
    signal(SIGALRM, stuck);
    setenv("STARPU_SILENT", "1", 1);
    for (unsigned round = 0; round < nrounds; round++) {
        alarm(DEADLINE_S);
        wrong += run(round, seed * 1000 + round);
    }
    return wrong != 0;
}
