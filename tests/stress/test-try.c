/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-try.c - starpu_data_acquire_try does not wait for others: a
 * thread tries, others take the datum and give it back only when one of its
 * calls has returned meanwhile. If a call that found the datum free waited for
 * who came in between, neither would go on; an alarm ends the test.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <starpu.h>

/* With a sanitizer each takes a hundred times as long. */
#ifdef __SANITIZE_THREAD__
enum { NROUNDS = 500 };
#else
enum { NROUNDS = 2000 };
#endif
enum { NHOLDERS = 2, LIMIT_S = 100 };

static atomic_uint ntries, nsuccesses, running;
static starpu_data_handle_t handle;
static int value;

static void *hold(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < NROUNDS; i++) {
        unsigned before;

        if (starpu_data_acquire(handle, STARPU_RW) != 0)
            abort();
        value++;
        before = atomic_load(&ntries);
        /* Two: one may have begun before. */
        while (atomic_load(&ntries) - before < 2)
            sched_yield();
        starpu_data_release(handle);
        alarm(LIMIT_S); /* it goes on */
        sched_yield();
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* Returns whether all calls did what they should. */
static int try_on(void)
{
    int rc = 0, sum = 0;

    while (atomic_load(&running)) {
        rc = starpu_data_acquire_try(handle, STARPU_RW);
        atomic_fetch_add(&ntries, 1);
        if (rc == -EAGAIN)
            continue;
        if (rc != 0)
            return 0;
        value++;
        sum++;
        starpu_data_release(handle);
    }
    atomic_store(&nsuccesses, (unsigned)sum);
    return 1;
}

/* On data with order, and without. */
static int run(unsigned sequential)
{
    pthread_t threads[NHOLDERS];
    int right;

    value = 0;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    starpu_data_set_sequential_consistency_flag(handle, sequential);
    atomic_store(&running, NHOLDERS);
    for (int i = 0; i < NHOLDERS; i++)
        if (pthread_create(&threads[i], NULL, hold, NULL) != 0)
            abort();
    right = try_on();
    for (int i = 0; i < NHOLDERS; i++)
        pthread_join(threads[i], NULL);
    starpu_data_unregister(handle);
    return right && value == NHOLDERS * NROUNDS + (int)atomic_load(&nsuccesses);
}

int main(void)
{
    int wrong = 0;

    printf("1..2\n");
    alarm(LIMIT_S);
    if (starpu_init(NULL) != 0)
        return 1;
    for (int i = 0; i < 2; i++) {
        int right = run(!i);

        printf("%sok %d - an attempt to acquire data %s order does not wait\n",
               right ? "" : "not ", i + 1, i ? "without" : "with");
        fflush(stdout);
        wrong += !right;
    }
    starpu_shutdown();
    return wrong;
}
