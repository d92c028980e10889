/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-inits.c - threads that each call starpu_init and starpu_shutdown
 * around their tasks, as libraries do that know nothing of each other: whoever comes
 * first starts, whoever leaves last stops, one that comes meanwhile waits and starts
 * anew. Sometimes the start fails.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

enum { NTHREADS = 3, NTASKS = 5 };

static unsigned nrounds = 150;
static atomic_uint nstarts, nfailures;

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void add(void *buffers[], void *arg)
{
    (void)arg;
    ++*(uint64_t *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet cl = {
    .cpu_funcs = {add}, .nbuffers = 1, .modes = {STARPU_RW}};

static void expect(int is, const char *what)
{
    if (is)
        return;
    fprintf(stderr, "# %s\n", what);
    abort();
}

static void use(void)
{
    starpu_data_handle_t handle;
    uint64_t value = 0;

    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    for (int i = 0; i < NTASKS; i++)
        expect(starpu_task_insert(&cl, STARPU_RW, handle, 0) == 0, "insert");
    starpu_data_unregister(handle);
    expect(value == NTASKS, "a task was lost");
}

/* A start without workers fails, unless somebody else has started. */
static int init(int fails)
{
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    if (fails)
        starpu_conf_noworker(&conf);
    else
        conf.ncpus = 2;
    return starpu_init(&conf);
}

static void *body(void *arg)
{
    uint64_t random = (uint64_t)(uintptr_t)arg;

    for (unsigned i = 0; i < nrounds; i++) {
        int fails = next_random(&random) % 3 == 0;
        int rc = init(fails);

        expect(rc == 0 || (fails && rc == -ENODEV), "starpu_init");
        if (rc != 0) {
            atomic_fetch_add(&nfailures, 1);
            continue;
        }
        atomic_fetch_add(&nstarts, 1);
        if (next_random(&random) % 2)
            use();
        starpu_shutdown();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    pthread_t threads[NTHREADS];

    if (argc > 2)
        nrounds = (unsigned)strtoul(argv[2], NULL, 10);
    printf("1..1\n# seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    for (uint64_t t = 0; t < NTHREADS; t++)
        if (pthread_create(&threads[t], NULL, body,
                           (void *)(uintptr_t)(seed * NTHREADS + t)) != 0)
            return 1;
    for (int t = 0; t < NTHREADS; t++)
        pthread_join(threads[t], NULL);
    printf("# %u starts, %u failed\n", atomic_load(&nstarts),
           atomic_load(&nfailures));
    expect(!starpu_is_initialized(), "somebody has not stopped");
    printf("ok 1 - who comes first starts and who leaves last stops\n");
    return 0;
}
