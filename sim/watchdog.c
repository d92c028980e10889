/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/watchdog.c - see watchdog.h. A long computation must not be reported, so
 * three conditions must hold at every check: no blocking call since the last
 * one, another context could go on, and the kernel reports that the
 * simulation's thread sleeps (which a computing thread does not).
 */
#include "sim/watchdog.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/number.h"
#include "core/base/race.h"

/* Shared by the two threads; freed by the last to release it. */
struct orr_watchdog {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct orr_sim_exec *exec; /* [lock] NULL: stop */
    unsigned holders;                /* [lock] */
    pid_t process;                   /* [const] whose thread watches */
    long thread;                     /* [const] watched, kernel's number */
    double limit_s;                  /* [const] */
};

static int read_limit(double *ret, struct orr_error *err)
{
    const char *value = getenv("ORRERY_SIM_WATCHDOG");
    char *end;
    double limit;

    *ret = 20;
    if (!value || !*value)
        return 0;
    limit = orr_strtod(value, &end);
    if (*end || !(limit >= 0) || limit > 1e6)
        return orr_fail(err, -EINVAL,
                        "ORRERY_SIM_WATCHDOG=%s: must be seconds, 0 for none",
                        value);
    *ret = limit;
    return 0;
}

/* The kernel's letter for the state of a thread, 0 if unknown. */
static char thread_state(long thread)
{
    char path[64], line[512];
    const char *name_end;
    FILE *file;
    size_t n;

    snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", thread);
    file = fopen(path, "re");
    if (!file)
        return 0;
    n = fread(line, 1, sizeof(line) - 1, file);
    fclose(file);
    line[n] = '\0';
    name_end = strrchr(line, ')');
    return name_end && name_end[1] == ' ' ? name_end[2] : 0;
}

/* Fields of another thread's objects, read for a hint only: while they matter
 * that thread sleeps and they do not change. */
static bool others_could_run(const struct orr_sim_exec *exec)
{
    bool could;

    orr_race_begin();
    could = __atomic_load_n(&exec->first_ready, __ATOMIC_RELAXED) != NULL ||
            __atomic_load_n(&exec->timers.n, __ATOMIC_RELAXED) > 0;
    orr_race_end();
    return could;
}

static bool seems_stuck(const struct orr_watchdog *w, unsigned long *last)
{
    unsigned long activity =
        atomic_load_explicit(&w->exec->activity, memory_order_relaxed);
    bool same = activity == *last;

    *last = activity;
    return same && others_could_run(w->exec) && thread_state(w->thread) == 'S';
}

static void watchdog_warn(const struct orr_watchdog *w)
{
    const struct orr_sim_context *current =
        __atomic_load_n(&w->exec->current, __ATOMIC_RELAXED);

    orr_log_warning(
        "\"%s\" has been waiting outside virtual time for %g s, while others "
        "could go on only if it waited inside: a raw pthread or semaphore "
        "call? Simulated, use starpu_pthread_* and starpu_sem_* (or include "
        "starpu.h's names for them)",
        current->head.name ? current->head.name : "a context", w->limit_s);
}

/* Waits a quarter of the limit; false when it is to stop. Lock held. */
static bool pause_locked(struct orr_watchdog *w)
{
    double wait_s = w->limit_s / 4 < 5 ? w->limit_s / 4 : 5;
    struct timespec until;
    int ret = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)wait_s;
    until.tv_nsec += (long)((wait_s - floor(wait_s)) * 1e9);
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    while (w->exec && ret == 0)
        ret = pthread_cond_timedwait(&w->changed, &w->lock, &until);
    return w->exec != NULL;
}

static void let_go_locked(struct orr_watchdog *w)
{
    bool last = --w->holders == 0;

    pthread_mutex_unlock(&w->lock);
    if (!last)
        return;
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static void *watchdog_thread(void *arg)
{
    struct orr_watchdog *w = arg;
    unsigned long last = ULONG_MAX;
    double stuck_s = 0, step_s = w->limit_s / 4 < 5 ? w->limit_s / 4 : 5;
    bool warned = false;

    pthread_mutex_lock(&w->lock);
    while (pause_locked(w)) {
        if (!seems_stuck(w, &last)) {
            stuck_s = 0;
            warned = false;
            continue;
        }
        stuck_s += step_s;
        if (stuck_s + step_s / 2 < w->limit_s || warned)
            continue;
        watchdog_warn(w);
        warned = true;
    }
    let_go_locked(w);
    return NULL;
}

/* The thread must not take the application's signals. */
static int start_thread(struct orr_watchdog *w)
{
    pthread_attr_t attr;
    sigset_t all, old;
    pthread_t thread;
    int ret;

    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, (size_t)256 << 10);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    ret = pthread_create(&thread, &attr, watchdog_thread, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return ret;
}

int orr_watchdog_start(const struct orr_sim_exec *exec,
                       struct orr_watchdog **ret, struct orr_error *err)
{
    struct orr_watchdog *w;
    pthread_condattr_t attr;
    double limit_s;
    int error = read_limit(&limit_s, err);

    if (error < 0)
        return error;
    *ret = NULL;
    w = limit_s > 0 ? calloc(1, sizeof(*w)) : NULL;
    if (!w)
        return 0;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &attr);
    pthread_condattr_destroy(&attr);
    w->exec = exec;
    w->holders = 2;
    w->process = getpid();
    w->thread = syscall(SYS_gettid);
    w->limit_s = limit_s;
    if (start_thread(w) == 0) {
        *ret = w;
        return 0;
    }
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
    return 0;
}

void orr_watchdog_stop(struct orr_watchdog *watchdog)
{
    if (!watchdog)
        return;
    /* After a fork the other thread is not there, maybe with the lock. */
    if (watchdog->process != getpid()) {
        free(watchdog);
        return;
    }
    pthread_mutex_lock(&watchdog->lock);
    watchdog->exec = NULL;
    pthread_cond_signal(&watchdog->changed);
    let_go_locked(watchdog);
}
