/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-stress.c - several threads of the application submit at
 * once to more workers than there are processors, on the real machine, under
 * each policy. Each thread has data of its own, with an order to check, and
 * all add to data that they share. "calibrating", the kernels have models that
 * are measured during the run, and two implementations. The seed is printed;
 * give it as argument to repeat a run.
 */
#include <ftw.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

enum { NTHREADS = 4, NTASKS = 3000, NOWN = 8, NSHARED = 4 };

struct thread {
    uint64_t seed;
    uint64_t value[NOWN], expected[NOWN];
    starpu_data_handle_t handle[NOWN];
    uint64_t added[NSHARED];
};

static uint64_t shared[NSHARED];
static starpu_data_handle_t shared_handle[NSHARED];

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

static void advance(void *buffers[], void *arg)
{
    uint64_t *v = (uint64_t *)STARPU_VARIABLE_GET_PTR(buffers[0]);
    uint64_t step;

    starpu_codelet_unpack_args(arg, &step);
    *v = *v * 31 + step;
}

static void add(void *buffers[], void *arg)
{
    uint64_t step;

    starpu_codelet_unpack_args(arg, &step);
    *(uint64_t *)STARPU_VARIABLE_GET_PTR(buffers[0]) += step;
}

static struct starpu_codelet cl_advance = {
    .cpu_funcs = {advance, advance}, .nbuffers = 1, .modes = {STARPU_RW}};
static struct starpu_codelet cl_add = {
    .cpu_funcs = {add, add}, .nbuffers = 1, .modes = {STARPU_RW}};

/* Many rows, so that some are found out all the time. */
static uint32_t footprint(struct starpu_task *task)
{
    return (uint32_t)starpu_task_get_job_id(task) % 128;
}

static struct starpu_perfmodel model_advance = {
    .type = STARPU_HISTORY_BASED, .symbol = "advance", .footprint = footprint};
static struct starpu_perfmodel model_add = {
    .type = STARPU_HISTORY_BASED, .symbol = "add", .footprint = footprint};

static char directory[] = "/tmp/orrery-stress-XXXXXX";

static int remove_one(const char *path, const struct stat *status, int flag,
                      struct FTW *walk)
{
    (void)status;
    (void)flag;
    (void)walk;
    return remove(path);
}

static void *submit_all(void *arg)
{
    struct thread *t = arg;

    for (int i = 0; i < NTASKS; i++) {
        uint64_t step = draw(&t->seed) % 1000;
        unsigned d = (unsigned)(draw(&t->seed) % NOWN);
        unsigned s = (unsigned)(draw(&t->seed) % NSHARED);
        int err;

        if (draw(&t->seed) % 4) {
            err = starpu_task_insert(&cl_advance, STARPU_VALUE, &step,
                                     sizeof(step), STARPU_RW, t->handle[d],
                                     STARPU_PRIORITY, (int)(step % 3), 0);
            t->expected[d] = t->expected[d] * 31 + step;
        } else {
            err = starpu_task_insert(&cl_add, STARPU_VALUE, &step, sizeof(step),
                                     STARPU_RW, shared_handle[s], 0);
            t->added[s] += step;
        }
        if (err)
            abort();
        if (i % 500 == 499 &&
            (starpu_data_acquire(t->handle[d], STARPU_R) != 0 ||
             t->value[d] != t->expected[d]))
            abort();
        if (i % 500 == 499)
            starpu_data_release(t->handle[d]);
    }
    return NULL;
}

static int run(const char *sched, bool calibrating, uint64_t seed)
{
    static struct thread threads[NTHREADS];
    pthread_t id[NTHREADS];
    struct starpu_conf conf;
    int wrong = 0;

    starpu_conf_init(&conf);
    conf.ncpus = 6;
    conf.sched_policy_name = sched;
    conf.calibrate = calibrating ? 2 : 0;
    cl_advance.model = calibrating ? &model_advance : NULL;
    cl_add.model = calibrating ? &model_add : NULL;
    if (starpu_init(&conf) != 0)
        return 1;
    for (int s = 0; s < NSHARED; s++) {
        shared[s] = 0;
        starpu_variable_data_register(&shared_handle[s], STARPU_MAIN_RAM,
                                      (uintptr_t)&shared[s], sizeof(shared[s]));
    }
    for (int t = 0; t < NTHREADS; t++) {
        threads[t] = (struct thread){.seed = seed + (uint64_t)t};
        for (int d = 0; d < NOWN; d++)
            starpu_variable_data_register(
                &threads[t].handle[d], STARPU_MAIN_RAM,
                (uintptr_t)&threads[t].value[d], sizeof(uint64_t));
        pthread_create(&id[t], NULL, submit_all, &threads[t]);
    }
    for (int t = 0; t < NTHREADS; t++)
        pthread_join(id[t], NULL);
    starpu_task_wait_for_all();
    for (int t = 0; t < NTHREADS; t++)
        for (int d = 0; d < NOWN; d++) {
            starpu_data_unregister(threads[t].handle[d]);
            wrong += threads[t].value[d] != threads[t].expected[d];
        }
    for (int s = 0; s < NSHARED; s++) {
        uint64_t sum = 0;

        starpu_data_unregister(shared_handle[s]);
        for (int t = 0; t < NTHREADS; t++)
            sum += threads[t].added[s];
        wrong += sum != shared[s];
    }
    starpu_shutdown();
    return wrong;
}

int main(int argc, char **argv)
{
    static const char *const policies[] = {"eager",  "prio", "ws",    "lws",
                                           "random", "dmda", "dmdas", "dmdasd"};
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 20260101;
    int failed = 0, n = 2 * sizeof(policies) / sizeof(*policies);

    if (!mkdtemp(directory))
        return 1;
    setenv("STARPU_PERF_MODEL_DIR", directory, 1);
    setenv("STARPU_HOME", directory, 1);
    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_WORKERS_NOBIND", "1", 1);
    printf("1..%d\n# seed %llu\n", n, (unsigned long long)seed);
    for (int i = 0; i < n; i++) {
        int wrong = run(policies[i / 2], i % 2, seed);

        printf("%s %d - %s%s: 4 threads submit, 6 workers, every result "
               "right\n",
               wrong ? "not ok" : "ok", i + 1, policies[i / 2],
               i % 2 ? ", calibrating" : "");
        failed += wrong != 0;
    }
    nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return failed != 0;
}
