/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-wakes.c - no task waits while a worker sleeps: as many
 * tasks as there are workers, none of which ends before all have begun, are
 * submitted by two threads at once, round after round, to workers that are just
 * falling asleep. If a wake goes to a busy worker, a round never ends. When
 * "uncalibrated", each round has a footprint of its own, so that its tasks wait
 * in the queue of those that cannot be placed yet.
 */
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <starpu.h>

enum { NWORKERS = 6, NTHREADS = 2, ROUNDS = 3000, PATIENCE_S = 20 };

static atomic_int begun, round_number, late;
static pthread_barrier_t barrier;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Ends when all tasks of its round have begun. */
static void meet(void *buffers[], void *arg)
{
    double start = now_s();
    unsigned looks = 0;

    (void)buffers;
    (void)arg;
    atomic_fetch_add(&begun, 1);
    while (atomic_load(&begun) < NWORKERS && !atomic_load(&late)) {
        sched_yield();
        if (++looks % 1024 == 0 && now_s() - start > PATIENCE_S)
            atomic_store(&late, 1);
    }
}

static uint32_t footprint(struct starpu_task *task)
{
    (void)task;
    return (uint32_t)atomic_load(&round_number);
}

static struct starpu_perfmodel model = {
    .type = STARPU_HISTORY_BASED, .symbol = "meet", .footprint = footprint};
static struct starpu_codelet cl = {.cpu_funcs = {meet}};

static void *submit_rounds(void *arg)
{
    (void)arg;
    for (int r = 0; r < ROUNDS && !atomic_load(&late); r++) {
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < NWORKERS / NTHREADS; i++)
            if (starpu_task_insert(&cl, 0))
                abort();
        pthread_barrier_wait(&barrier);
        starpu_task_wait_for_all();
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
            atomic_store(&begun, 0);
            atomic_fetch_add(&round_number, 1);
        }
    }
    return NULL;
}

/* Returns the round that never ended, 0 if all did. */
static int run(const char *sched, int uncalibrated)
{
    pthread_t id[NTHREADS];
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.ncpus = NWORKERS;
    conf.sched_policy_name = sched;
    conf.calibrate = uncalibrated ? 2 : 0;
    cl.model = uncalibrated ? &model : NULL;
    if (starpu_init(&conf) != 0)
        return 1;
    atomic_store(&begun, 0);
    atomic_store(&round_number, 1);
    atomic_store(&late, 0);
    pthread_barrier_init(&barrier, NULL, NTHREADS);
    for (int t = 0; t < NTHREADS; t++)
        pthread_create(&id[t], NULL, submit_rounds, NULL);
    for (int t = 0; t < NTHREADS; t++)
        pthread_join(id[t], NULL);
    pthread_barrier_destroy(&barrier);
    starpu_shutdown();
    return atomic_load(&late) ? atomic_load(&round_number) : 0;
}

static char directory[] = "/tmp/orrery-wakes-XXXXXX";

static int remove_one(const char *path, const struct stat *status, int flag,
                      struct FTW *walk)
{
    (void)status;
    (void)flag;
    (void)walk;
    return remove(path);
}

int main(void)
{
    static const struct {
        const char *sched;
        int uncalibrated;
    } runs[] = {{"eager", 0}, {"prio", 0}, {"ws", 0},   {"lws", 0},
                {"eager", 1}, {"dmda", 1}, {"dmdas", 1}};
    int failed = 0, n = sizeof(runs) / sizeof(*runs);

    if (!mkdtemp(directory))
        return 1;
    setenv("STARPU_PERF_MODEL_DIR", directory, 1);
    setenv("STARPU_HOME", directory, 1);
    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_WORKERS_NOBIND", "1", 1);
    printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        int stuck = run(runs[i].sched, runs[i].uncalibrated);

        printf("%s %d - %s%s: tasks that wait for each other all begin\n",
               stuck ? "not ok" : "ok", i + 1, runs[i].sched,
               runs[i].uncalibrated ? ", uncalibrated" : "");
        if (stuck)
            printf("# round %d of %d never ended\n", stuck, ROUNDS);
        fflush(stdout);
        failed += stuck != 0;
    }
    nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return failed != 0;
}
