/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bindings/python/starpupy/wait.c - see starpupy.h. A waiter is a semaphore: the
 * library's where the wait must let other stacks run, in a simulation and in a
 * kernel, else the system's, whose wait a signal ends.
 */
#include "starpupy.h"

#include <errno.h>
#include <math.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { WAITING, WOKEN, GIVEN_UP };

struct spy_waiter {
    struct spy_waiter *next; /* [GIL] of all that wait for tasks */
    atomic_int state;
    bool native;
    bool all; /* [GIL] it waits until no task is unfinished */
    union {
        sem_t native;
        starpu_sem_t runtime;
    } sem;
};

static struct spy_waiter *waiters; /* [GIL] for tasks to be delivered */

bool spy_may_wait(void)
{
    int worker = starpu_worker_get_id();

    if (!spy.simulated)
        return true;
    if (spy.delivering)
        spy_error("in a simulation, a callback of a future cannot wait: submit "
                  "a task that does");
    else if (worker >= 0 && starpu_worker_get_type(worker) != STARPU_CPU_WORKER)
        spy_error("a function that a simulated device runs cannot wait: keep "
                  "it on processors, task_submit(where='cpu')");
    else if (worker < 0 && spy.pauses && spy.unfinished)
        spy_error("workers are paused and tasks would never end: call "
                  "resume() first");
    else
        return true;
    return false;
}

struct spy_waiter *spy_waiter_new(void)
{
    struct spy_waiter *waiter =
        spy_may_wait() ? calloc(1, sizeof(*waiter)) : NULL;

    if (!waiter && PyErr_Occurred())
        return NULL;
    if (!waiter)
        return (void *)PyErr_NoMemory();
    waiter->native = !spy.simulated && !spy_in_task();
    if (waiter->native)
        sem_init(&waiter->sem.native, 0, 0);
    else
        starpu_sem_init(&waiter->sem.runtime, 0, 0);
    return waiter;
}

void spy_waiter_free(struct spy_waiter *waiter)
{
    if (waiter->native)
        sem_destroy(&waiter->sem.native);
    else
        starpu_sem_destroy(&waiter->sem.runtime);
    free(waiter);
}

bool spy_wake(struct spy_waiter *waiter)
{
    int state = WAITING;

    if (!atomic_compare_exchange_strong(&waiter->state, &state, WOKEN)) {
        if (state == GIVEN_UP)
            spy_waiter_free(waiter);
        return state == WOKEN;
    }
    orrery_own_wait_end(waiter);
    if (waiter->native)
        sem_post(&waiter->sem.native);
    else
        starpu_sem_post(&waiter->sem.runtime);
    return true;
}

bool spy_give_up(struct spy_waiter *waiter)
{
    int state = WAITING;

    if (atomic_compare_exchange_strong(&waiter->state, &state, GIVEN_UP))
        return true;
    /* The thread that woke it may still be about to post. */
    if (waiter->native)
        while (sem_wait(&waiter->sem.native) != 0)
            ;
    else
        (void)starpu_sem_wait(&waiter->sem.runtime);
    spy_waiter_free(waiter);
    return false;
}

bool spy_is_interrupted(void)
{
    if (!spy.interruption || spy_in_task())
        return false;
    PyErr_SetObject((PyObject *)Py_TYPE(spy.interruption), spy.interruption);
    Py_CLEAR(spy.interruption);
    return true;
}

/* Returns now and then as well: a signal that came just before was not for this
 * wait, and would be seen when the wait ends. */
static int wait_natively(sem_t *sem)
{
    enum { TENTH_OF_SECOND_NS = 100000000, SECOND_NS = 1000000000 };
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TENTH_OF_SECOND_NS;
    if (until.tv_nsec >= SECOND_NS) {
        until.tv_nsec -= SECOND_NS;
        until.tv_sec++;
    }
    return sem_clockwait(sem, CLOCK_MONOTONIC, &until);
}

int spy_wait(struct spy_waiter *waiter, double until_us)
{
    orrery_own_wait_begin(waiter);
    for (;;) {
        PyThreadState *self;
        int ret;

        if (spy_is_interrupted() ||
            (waiter->native && PyErr_CheckSignals() != 0))
            return -1;
        self = spy_detach();
        if (waiter->native)
            ret = wait_natively(&waiter->sem.native);
        else
            ret = orrery_sem_wait_until(&waiter->sem.runtime, until_us);
        spy_attach(self);
        if (ret == 0 && atomic_load(&waiter->state) == WOKEN)
            return 1;
        if (ret != 0 && !waiter->native)
            return 0;
    }
}

static void waiter_unlink(struct spy_waiter *waiter)
{
    struct spy_waiter **link = &waiters;

    while (*link && *link != waiter)
        link = &(*link)->next;
    if (*link)
        *link = waiter->next;
}

static int wait_listed(bool all, double until_us)
{
    struct spy_waiter *waiter = spy_waiter_new();
    int ret;

    if (!waiter)
        return -1;
    waiter->all = all;
    waiter->next = waiters;
    waiters = waiter;
    ret = spy_wait(waiter, until_us);
    waiter_unlink(
        waiter); /* under the GIL: nobody else knows it from here on */
    spy_waiter_free(waiter);
    return ret >= 0 && spy_is_interrupted() ? -1 : ret;
}

int spy_wait_for_all(void)
{
    while (spy.unfinished)
        if (wait_listed(true, INFINITY) < 0)
            return -1;
    return 0;
}

int spy_wait_for_any(double until_us)
{
    return wait_listed(false, until_us);
}

void spy_wake_waiters(void)
{
    struct spy_waiter **link = &waiters, *waiter;

    while ((waiter = *link) != NULL) {
        if (waiter->all && spy.unfinished && !spy.interruption) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        (void)spy_wake(waiter);
    }
}

void spy_interrupt(PyObject *exception)
{
    Py_XSETREF(spy.interruption, exception);
    spy_wake_waiters();
}

void spy_unraisable(PyObject *where)
{
    PyObject *type, *value, *traceback;

    if (!spy.simulated || !PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_WriteUnraisable(where);
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    spy_interrupt(value);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
}
