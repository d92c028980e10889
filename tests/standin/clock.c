/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/clock.c - see private.h: threads and time, the system's or those of
 * a program that has set its own. On the latter everything that happens follows from
 * the seed, and delays of very different lengths bring about any order of operations
 * that streams and events allow.
 */
#include "private.h"
#include "standin.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static struct standin_clock own;
static bool is_own;
static unsigned long seed;
static atomic_uint nstreams;

void gpu_standin_set_clock(const struct standin_clock *clock,
                           unsigned long new_seed);
void gpu_standin_set_clock(const struct standin_clock *clock,
                           unsigned long new_seed)
{
    own = *clock;
    is_own = true;
    seed = new_seed;
    atomic_store(&nstreams, 0);
    currents_forget();
}

uint64_t clock_seed(void)
{
    return (is_own ? seed : gpus.options.seed) * 1000 +
           atomic_fetch_add(&nstreams, 1);
}

/* -- waiting -- */

void bell_init(struct bell *bell)
{
    pthread_cond_init(&bell->changed, NULL);
    bell->n = 0;
}

void bell_done(struct bell *bell)
{
    pthread_cond_destroy(&bell->changed);
}

void bell_wait(struct bell *bell, pthread_mutex_t *lock)
{
    if (!is_own) {
        pthread_cond_wait(&bell->changed, lock);
        return;
    }
    if (bell->n == sizeof(bell->waiting) / sizeof(bell->waiting[0]))
        __builtin_trap();
    bell->waiting[bell->n++] = own.self();
    pthread_mutex_unlock(lock);
    own.park();
    pthread_mutex_lock(lock);
    /* What woke it may have been something else. */
    for (unsigned i = 0; i < bell->n; i++)
        if (bell->waiting[i] == own.self())
            bell->waiting[i--] = bell->waiting[--bell->n];
}

void bell_ring(struct bell *bell)
{
    if (!is_own) {
        pthread_cond_broadcast(&bell->changed);
        return;
    }
    for (unsigned i = 0; i < bell->n; i++)
        own.wake(bell->waiting[i]);
    bell->n = 0;
}

/* -- executing -- */

struct start {
    void (*body)(void *);
    void *arg;
};

static void *run(void *arg)
{
    struct start start = *(struct start *)arg;

    free(arg);
    start.body(start.arg);
    return NULL;
}

int runner_start(struct runner *runner, void (*body)(void *), void *arg)
{
    struct start *start;

    if (is_own) {
        runner->context = own.spawn(body, arg);
        return runner->context ? 0 : -1;
    }
    start = malloc(sizeof(*start));
    if (!start)
        return -1;
    *start = (struct start){body, arg};
    if (pthread_create(&runner->thread, NULL, run, start) == 0)
        return 0;
    free(start);
    return -1;
}

void runner_join(struct runner *runner)
{
    if (is_own)
        own.join(runner->context);
    else
        pthread_join(runner->thread, NULL);
}

void *clock_context(void)
{
    return is_own ? own.self() : NULL;
}

/* -- time -- */

double clock_now_us(void)
{
    struct timespec t;

    if (is_own)
        return own.now();
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Most operations are not held back, some are; on a clock of the program's some for
 * a thousandth of the most, and some for all of it. */
static double delay_us(uint64_t *random)
{
    uint64_t drawn;

    *random = *random * 6364136223846793005u + 1442695040888963407u;
    drawn = *random >> 33;
    if (gpus.options.delay_us == 0)
        return 0;
    if (is_own)
        return drawn % 2 ? 0
                         : (double)gpus.options.delay_us /
                               (double)(1u << (drawn / 2 % 11));
    return drawn % 10 < 7 ? 0 : (double)(drawn / 10 % gpus.options.delay_us);
}

void clock_hold(uint64_t *random, double takes_us)
{
    double us = delay_us(random) + (is_own ? takes_us : 0);
    struct timespec t = {.tv_nsec = (long)us * 1000};

    if (us <= 0)
        return;
    if (is_own)
        own.sleep(us);
    else
        nanosleep(&t, NULL);
}

void clock_wait(double until_us)
{
    double us = until_us - clock_now_us();
    struct timespec t;

    if (us <= 0)
        return;
    if (is_own) {
        own.sleep(us);
        return;
    }
    t = (struct timespec){(time_t)(us / 1e6), (long)(us * 1e3) % 1000000000};
    nanosleep(&t, NULL);
}
