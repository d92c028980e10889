/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-contexts.c - scheduling contexts that gain and lose workers,
 * are made and deleted, and are blocked for parallel code, while several threads
 * submit to them tasks that depend on each other through data. Every task adds 1
 * to what it writes: none is lost, and the run must end. Worker 0 stays in each
 * context. On the real machine. usage: test-contexts [SEED [ROUNDS]]
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <starpu.h>

#include "../rng.h"

/* With a sanitizer each takes a hundred times as long. */
#ifdef __SANITIZE_THREAD__
enum { NTASKS = 150, NSTEPS = 30 };
#else
enum { NTASKS = 1500, NSTEPS = 120 };
#endif
enum {
    NWORKERS = 4,
    NTHREADS = 3,
    NCTXS = 3,
    NHANDLES = 5,
    NROUNDS = 8,
    DEADLINE_S = 280
};

static const char *const policies[] = {"eager", "prio", "random", "lws",
                                       "ws",    "dm",   "dmdas",  "dmdasd"};
enum { NPOLICIES = sizeof(policies) / sizeof(policies[0]) };

static uint64_t value[NHANDLES], added[NTHREADS][NHANDLES];
static starpu_data_handle_t handle[NHANDLES];
static unsigned ctxs[NCTXS];
static atomic_ulong nfree;

static void add(void *buffers[], void *arg)
{
    (void)arg;
    ++*(volatile uint64_t *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static void count(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    atomic_fetch_add(&nfree, 1);
}

static struct starpu_codelet adds = {
    .cpu_funcs = {add}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "add"};
static struct starpu_codelet counts = {.cpu_funcs = {count}, .name = "count"};

/* --- a policy of the application --- */

struct list {
    starpu_pthread_mutex_t mutex;
    struct starpu_task_list tasks;
};

static void init(unsigned ctx)
{
    struct list *list = malloc(sizeof(*list));

    starpu_pthread_mutex_init(&list->mutex, NULL);
    starpu_task_list_init(&list->tasks);
    starpu_sched_ctx_set_policy_data(ctx, list);
}

static void deinit(unsigned ctx)
{
    struct list *list = starpu_sched_ctx_get_policy_data(ctx);

    starpu_pthread_mutex_destroy(&list->mutex);
    free(list);
}

/* Walks over the workers, as policies do. */
static int push(struct starpu_task *task)
{
    unsigned ctx = task->sched_ctx;
    struct list *list = starpu_sched_ctx_get_policy_data(ctx);
    struct starpu_worker_collection *workers =
        starpu_sched_ctx_get_worker_collection(ctx);
    struct starpu_sched_ctx_iterator it;

    workers->init_iterator(workers, &it);
    while (workers->has_next(workers, &it))
        if (workers->get_next(workers, &it) >= NWORKERS)
            abort();
    starpu_pthread_mutex_lock(&list->mutex);
    starpu_task_list_push_back(&list->tasks, task);
    starpu_pthread_mutex_unlock(&list->mutex);
    return 0;
}

static struct starpu_task *pop(unsigned ctx)
{
    struct list *list = starpu_sched_ctx_get_policy_data(ctx);
    struct starpu_task *task = NULL;

    starpu_pthread_mutex_lock(&list->mutex);
    if (!starpu_task_list_empty(&list->tasks))
        task = starpu_task_list_pop_front(&list->tasks);
    starpu_pthread_mutex_unlock(&list->mutex);
    return task;
}

static struct starpu_sched_policy policy = {
    .init_sched = init,
    .deinit_sched = deinit,
    .push_task = push,
    .pop_task = pop,
    .policy_name = "own",
};

/* --- who submits --- */

struct submitter {
    unsigned number;
    uint64_t rng;
};

static void submit_one(struct submitter *s)
{
    unsigned h = (unsigned)(rng_next(&s->rng) % NHANDLES);
    unsigned c = (unsigned)(rng_next(&s->rng) % (NCTXS + 1));

    if (starpu_task_insert(&adds, STARPU_RW, handle[h], STARPU_PRIORITY,
                           (int)(rng_next(&s->rng) % 3), STARPU_SCHED_CTX,
                           c == NCTXS ? 0 : ctxs[c], 0) != 0)
        abort();
    added[s->number][h]++;
}

static void *submit(void *arg)
{
    for (int i = 0; i < NTASKS; i++)
        submit_one(arg);
    return NULL;
}

/* --- who changes contexts --- */

static unsigned some_workers(uint64_t *rng, int first, int *ids)
{
    unsigned n = 0;

    for (int w = first; w < NWORKERS; w++)
        if (rng_next(rng) & 1)
            ids[n++] = w;
    if (n == 0)
        ids[n++] = NWORKERS - 1;
    return n;
}

static unsigned make_ctx(uint64_t *rng, int *ids, int n)
{
    uint64_t which = rng_next(rng) % (NPOLICIES + 1);

    if (which == NPOLICIES)
        return starpu_sched_ctx_create(
            ids, n, "own", STARPU_SCHED_CTX_POLICY_STRUCT, &policy, 0);
    return starpu_sched_ctx_create(ids, n, "ours", STARPU_SCHED_CTX_POLICY_NAME,
                                   policies[which], 0);
}

/* One that ends soon, maybe without policy; returns how many tasks it had. */
static unsigned long use_short_one(uint64_t *rng)
{
    int ids[NWORKERS];
    unsigned n = some_workers(rng, 0, ids), ctx;
    unsigned long ntasks = rng_next(rng) % 20;

    if (rng_next(rng) % 3 == 0)
        ctx = starpu_sched_ctx_create(ids, (int)n, "none", 0);
    else
        ctx = make_ctx(rng, ids, (int)n);
    if (rng_next(rng) & 1)
        starpu_sched_ctx_set_inheritor(ctx, ctxs[rng_next(rng) % NCTXS]);
    for (unsigned long i = 0; i < ntasks; i++)
        if (starpu_task_insert(&counts, STARPU_SCHED_CTX, ctx, 0) != 0)
            abort();
    if (rng_next(rng) & 1)
        starpu_sched_ctx_finished_submit(ctx);
    starpu_sched_ctx_delete(ctx);
    return ntasks;
}

static void *nothing(void *arg)
{
    return arg;
}

static unsigned long change(uint64_t *rng)
{
    unsigned ctx = ctxs[rng_next(rng) % NCTXS];
    int ids[NWORKERS];
    unsigned n;

    switch (rng_next(rng) % 8) {
    case 0:
        return use_short_one(rng);
    case 1:
        if (starpu_sched_ctx_exec_parallel_code(nothing, &ctx, ctx) != &ctx)
            abort();
        break;
    case 2:
        n = some_workers(rng, 0, ids);
        starpu_sched_ctx_set_priority(ids, (int)n, ctx,
                                      (unsigned)(rng_next(rng) % 3));
        break;
    case 3:
        starpu_task_wait_for_n_submitted_in_ctx(ctx, 5);
        break;
    case 4:
    case 5:
        n = some_workers(rng, 0, ids);
        starpu_sched_ctx_add_workers(ids, n, ctx);
        break;
    default:
        n = some_workers(rng, 1, ids);
        starpu_sched_ctx_remove_workers(ids, n, ctx);
        break;
    }
    return 0;
}

/* --- a round --- */

static void make_data(void)
{
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

static int run(unsigned round, uint64_t seed)
{
    struct submitter submitters[NTHREADS];
    pthread_t threads[NTHREADS];
    uint64_t rng = rng_of(seed);
    unsigned long expected = 0;
    struct starpu_conf conf;
    int wrong;

    starpu_conf_init(&conf);
    conf.ncpus = NWORKERS;
    conf.sched_policy_name = policies[round % NPOLICIES];
    if (starpu_init(&conf) != 0)
        exit(77);
    atomic_store(&nfree, 0);
    make_data();
    for (unsigned c = 0; c < NCTXS; c++)
        ctxs[c] = make_ctx(&rng, (int[]){0, 1}, 2);
    for (unsigned t = 0; t < NTHREADS; t++) {
        submitters[t] = (struct submitter){t, rng_of(seed + 1000 * (t + 1))};
        pthread_create(&threads[t], NULL, submit, &submitters[t]);
    }
    for (int i = 0; i < NSTEPS; i++)
        expected += change(&rng);
    for (unsigned t = 0; t < NTHREADS; t++)
        pthread_join(threads[t], NULL);
    starpu_sched_ctx_delete(ctxs[0]);
    starpu_task_wait_for_all();
    wrong = count_wrong() + (atomic_load(&nfree) != expected);
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
