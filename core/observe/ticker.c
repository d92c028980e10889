/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/ticker.c - see ticker.h. */
#include "core/observe/ticker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

struct orr_ticker {
    double delay, period; /* [const] µs */
    void (*tick)(void *); /* [const] */
    void *arg;            /* [const] */
    bool stop;            /* [lock] */
    pthread_mutex_t lock;
    pthread_cond_t cond;
    pthread_t thread;
};

/* Returns false when it is to stop. */
static bool pause_for(struct orr_ticker *t, double us)
{
    struct timespec until;
    bool stop;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    if (us > 1e15) /* for ever, as far as a time_t goes */
        us = 1e15;
    us += (double)until.tv_nsec / 1e3;
    until.tv_sec += (time_t)(us / 1e6);
    until.tv_nsec = (long)((us - (double)(time_t)(us / 1e6) * 1e6) * 1e3);
    pthread_mutex_lock(&t->lock);
    while (!t->stop && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&t->cond, &t->lock, &until);
    stop = t->stop;
    pthread_mutex_unlock(&t->lock);
    return !stop;
}

static void *ticker_run(void *arg)
{
    struct orr_ticker *t = arg;

    double us = t->delay;

    while (pause_for(t, us)) {
        t->tick(t->arg);
        us = t->period;
    }
    return NULL;
}

/* Its thread, without signals: their handlers are the application's. */
static int ticker_start(struct orr_ticker *t)
{
    sigset_t all, old;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&t->thread, NULL, ticker_run, t);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -rc;
}

static void ticker_done(struct orr_ticker *t)
{
    pthread_cond_destroy(&t->cond);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

int orr_ticker_start(double delay, double period, void (*tick)(void *),
                     void *arg, struct orr_ticker **ret)
{
    struct orr_ticker *t = calloc(1, sizeof(*t));
    pthread_condattr_t attr;
    int rc;

    if (!t)
        return -ENOMEM;
    t->delay = delay;
    t->period = period;
    t->tick = tick;
    t->arg = arg;
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&t->cond, &attr);
    pthread_condattr_destroy(&attr);
    rc = ticker_start(t);
    if (rc)
        ticker_done(t);
    else
        *ret = t;
    return rc;
}

void orr_ticker_stop(struct orr_ticker *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_signal(&t->cond);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    ticker_done(t);
}
