/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-foreign.c - threads that the application made itself call
 * the library and end: at once after a call, while others are woken; when
 * starpu_shutdown runs; after it; or they call again after the next starpu_init.
 * With a sanitizer this shows contexts that are used after their end.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

enum { NTHREADS = 4, NSHORT = 60, NRUNS = 25 };

static starpu_data_handle_t handle;
static uint64_t value;
static pthread_barrier_t called, closed, opened;

static void add(void *buffers[], void *arg)
{
    (void)arg;
    ++*(uint64_t *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet cl = {
    .cpu_funcs = {add}, .nbuffers = 1, .modes = {STARPU_RW}};

static void call(void)
{
    if (starpu_task_insert(&cl, STARPU_RW, handle, STARPU_TASK_SYNCHRONOUS, 1,
                           0) != 0 ||
        starpu_data_acquire(handle, STARPU_RW) != 0)
        abort();
    value++;
    starpu_data_release(handle);
}

/* The worker that wakes it may still be about to when it has ended. */
static void *call_and_end(void *arg)
{
    (void)arg;
    call();
    return NULL;
}

static void *end_beside_shutdown(void *arg)
{
    (void)arg;
    call();
    pthread_barrier_wait(&called);
    return NULL;
}

static void *end_after_shutdown(void *arg)
{
    (void)arg;
    call();
    pthread_barrier_wait(&called);
    pthread_barrier_wait(&closed);
    return NULL;
}

static void *call_again(void *arg)
{
    (void)arg;
    for (int run = 0; run < NRUNS; run++) {
        pthread_barrier_wait(&opened);
        call();
        pthread_barrier_wait(&called);
        pthread_barrier_wait(&closed);
    }
    return NULL;
}

static void begin(pthread_t *thread, void *(*body)(void *))
{
    if (pthread_create(thread, NULL, body, NULL) != 0)
        abort();
}

/* Returns whether all calls have had their effect. */
static int run(void)
{
    pthread_t beside[NTHREADS], after[NTHREADS], brief[NTHREADS];
    uint64_t n = 0;

    if (starpu_init(NULL) != 0)
        abort();
    value = 0;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    pthread_barrier_wait(&opened);
    for (int i = 0; i < NTHREADS; i++) {
        begin(&beside[i], end_beside_shutdown);
        begin(&after[i], end_after_shutdown);
    }
    for (int i = 0; i < NSHORT; i += NTHREADS) {
        for (int k = 0; k < NTHREADS; k++)
            begin(&brief[k], call_and_end);
        for (int k = 0; k < NTHREADS; k++)
            pthread_join(brief[k], NULL);
        n += NTHREADS;
    }
    n += 3 * NTHREADS;
    pthread_barrier_wait(&called);
    starpu_data_unregister(handle);
    starpu_shutdown();
    pthread_barrier_wait(&closed);
    for (int i = 0; i < NTHREADS; i++) {
        pthread_join(beside[i], NULL);
        pthread_join(after[i], NULL);
    }
    return value == 2 * n;
}

int main(void)
{
    pthread_t again[NTHREADS];
    int right = 1;

    printf("1..1\n");
    pthread_barrier_init(&opened, NULL, NTHREADS + 1);
    pthread_barrier_init(&called, NULL, 3 * NTHREADS + 1);
    pthread_barrier_init(&closed, NULL, 2 * NTHREADS + 1);
    for (int i = 0; i < NTHREADS; i++)
        begin(&again[i], call_again);
    for (int i = 0; i < NRUNS; i++)
        right &= run();
    for (int i = 0; i < NTHREADS; i++)
        pthread_join(again[i], NULL);
    printf("%sok 1 - threads of the application come and go\n",
           right ? "" : "not ");
    return !right;
}
