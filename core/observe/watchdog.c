/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/watchdog.c - see watchdog.h. */
#include "core/observe/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/config.h"
#include "core/base/log.h"
#include "core/runtime.h"
#include "core/task/count.h"

struct orr_watchdog_tasks {
    struct orr_runtime *rt;
    double delay, period; /* µs */
    bool crash;
    bool stop; /* [lock] */
    pthread_mutex_t lock;
    pthread_cond_t cond;
    pthread_t thread;
};

/* Lives longer than a runtime: it may be set before starpu_init. */
static struct {
    pthread_mutex_t lock;
    void (*func)(void *);
    void *arg;
} hook = {.lock = PTHREAD_MUTEX_INITIALIZER};

void orr_watchdog_tasks_hook(void (*func)(void *), void *arg)
{
    pthread_mutex_lock(&hook.lock);
    hook.func = func;
    hook.arg = arg;
    pthread_mutex_unlock(&hook.lock);
}

static void say(const struct orr_watchdog_tasks *w)
{
    pthread_mutex_lock(&hook.lock);
    if (hook.func)
        hook.func(hook.arg);
    else
        orr_log_error("no task has ended for %.3f s (STARPU_WATCHDOG_TIMEOUT), "
                      "and %lu are submitted: %lu of them wait for a worker",
                      w->period / 1e6, orr_count_unfinished(w->rt),
                      orr_count_ready(w->rt));
    pthread_mutex_unlock(&hook.lock);
    if (!w->crash)
        return;
    orr_log_error("the program ends, as STARPU_WATCHDOG_CRASH wants");
    abort();
}

/* Returns false when it is to stop. */
static bool pause_for(struct orr_watchdog_tasks *w, double us)
{
    struct timespec until;
    bool stop;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    us += (double)until.tv_nsec / 1e3;
    until.tv_sec += (time_t)(us / 1e6);
    until.tv_nsec = (long)((us - (double)(time_t)(us / 1e6) * 1e6) * 1e3);
    pthread_mutex_lock(&w->lock);
    while (!w->stop && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&w->cond, &w->lock, &until);
    stop = w->stop;
    pthread_mutex_unlock(&w->lock);
    return !stop;
}

static void *watch(void *arg)
{
    struct orr_watchdog_tasks *w = arg;
    unsigned long before;

    if (w->delay > 0 && !pause_for(w, w->delay))
        return NULL;
    before = orr_count_all_ended(w->rt);
    while (pause_for(w, w->period)) {
        unsigned long ended = orr_count_all_ended(w->rt);

        if (ended == before && orr_count_unfinished(w->rt) > 0)
            say(w);
        before = ended;
    }
    return NULL;
}

static int start(struct orr_watchdog_tasks *w)
{
    pthread_condattr_t attr;
    int rc;

    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->cond, &attr);
    pthread_condattr_destroy(&attr);
    rc = pthread_create(&w->thread, NULL, watch, w);
    if (rc == 0)
        return 0;
    pthread_cond_destroy(&w->cond);
    pthread_mutex_destroy(&w->lock);
    return -rc;
}

int orr_watchdog_tasks_start(struct orr_runtime *rt)
{
    const struct orr_config *config = &rt->config;
    double period = orr_config_double(config, ORR_CFG_WATCHDOG_TIMEOUT);
    struct orr_watchdog_tasks *w;
    int err;

    if (!(period > 0))
        return 0;
    w = calloc(1, sizeof(*w));
    if (!w)
        return -ENOMEM;
    w->rt = rt;
    w->period = period;
    w->delay = orr_config_double(config, ORR_CFG_WATCHDOG_DELAY);
    w->crash = orr_config_bool(config, ORR_CFG_WATCHDOG_CRASH);
    err = start(w);
    if (err)
        free(w);
    else
        rt->watchdog = w;
    return err;
}

void orr_watchdog_tasks_stop(struct orr_runtime *rt)
{
    struct orr_watchdog_tasks *w = rt->watchdog;

    if (!w)
        return;
    rt->watchdog = NULL;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->cond);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->cond);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
