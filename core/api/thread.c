/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/thread.c - threads and keys of starpu_thread.h, and waiting for a time.
 * Real: POSIX. Simulated: a thread is a context. The number of a thread made here is
 * the address of its record. That of any other context is odd, its own address plus 1:
 * its record is made on request, perhaps at the address of a record that was freed, so
 * that this address would not be unique.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif
#include "core/api/thread.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <orrery.h>
#include <starpu.h>

#include "core/base/log.h"
#include "core/observe/calls.h"

struct value {
    void *value;
    unsigned made; /* of which key of this number it is the value */
};

/* What a context has that uses the functions of threads. Contexts that were not
 * made here (main, workers) get one on request. */
struct orr_user_thread {
    struct orr_context *context;
    void *(*routine)(void *); /* NULL: not made here */
    void *arg, *result;
    jmp_buf exit; /* starpu_pthread_exit */
    bool joined;  /* another context joins it already */
    bool ended;   /* the routine has returned */
    char name[32];
    struct value *values; /* by key */
    unsigned nvalues;
};

static_assert(sizeof(pthread_t) >= sizeof(void *),
              "a thread's number must hold the address of its record");

/* NULL for contexts that were not made here. */
static struct orr_user_thread *thread_of(starpu_pthread_t number)
{
    return (uintptr_t)number & 1 ? NULL
                                 : (struct orr_user_thread *)(uintptr_t)number;
}

static starpu_pthread_t number_of(const struct orr_user_thread *thread)
{
    return (starpu_pthread_t)(uintptr_t)thread;
}

static void forget_self(void);

/* The calling context's record, NULL without memory. */
static struct orr_user_thread *self_thread(void)
{
    if (!orr_self->thread) {
        orr_self->thread = calloc(1, sizeof(*orr_self->thread));
        if (!orr_self->thread)
            return NULL;
        orr_self->thread->context = orr_self;
        orr_self->at_end = forget_self;
    }
    return orr_self->thread;
}

/* -- keys ----------------------------------------------------------------- */

/* Keys are the process's, as POSIX has it, and its own tables cannot be read:
 * hence the one table at file scope. Written by key_create, read by simulated
 * threads. */
static struct {
    void (*_Atomic destructor)(void *);
    atomic_uint made; /* keys that had this number: values of earlier ones are none */
} keys[PTHREAD_KEYS_MAX];

int starpu_pthread_key_create(starpu_pthread_key_t *key,
                              void (*destr_function)(void *))
{
    int ret = pthread_key_create(key, destr_function);

    if (ret == 0 && *key < PTHREAD_KEYS_MAX) {
        atomic_store(&keys[*key].destructor, destr_function);
        atomic_fetch_add(&keys[*key].made, 1);
    }
    return ret;
}

int starpu_pthread_key_delete(starpu_pthread_key_t key)
{
    if (key < PTHREAD_KEYS_MAX)
        atomic_store(&keys[key].destructor, NULL);
    return pthread_key_delete(key);
}

static int grow_values(struct orr_user_thread *thread, unsigned key)
{
    struct value *values;

    if (key < thread->nvalues)
        return 0;
    values = realloc(thread->values, (key + 1) * sizeof(*values));
    if (!values)
        return ENOMEM;
    memset(values + thread->nvalues, 0,
           (key + 1 - thread->nvalues) * sizeof(*values));
    thread->values = values;
    thread->nvalues = key + 1;
    return 0;
}

int starpu_pthread_setspecific(starpu_pthread_key_t key, const void *pointer)
{
    struct orr_user_thread *thread;
    int ret;

    if (!orr_waits_virtually())
        return pthread_setspecific(key, pointer);
    thread = self_thread();
    if (!thread)
        return ENOMEM;
    if (key >= PTHREAD_KEYS_MAX)
        return EINVAL;
    ret = grow_values(thread, key);
    if (ret == 0)
        thread->values[key] =
            (struct value){(void *)(uintptr_t)pointer, keys[key].made};
    return ret;
}

static void *value_of(const struct orr_user_thread *thread, unsigned key)
{
    const struct value *value = &thread->values[key];

    return value->made == atomic_load(&keys[key].made) ? value->value : NULL;
}

void *starpu_pthread_getspecific(starpu_pthread_key_t key)
{
    if (!orr_waits_virtually())
        return pthread_getspecific(key);
    if (!orr_self->thread || key >= orr_self->thread->nvalues)
        return NULL;
    return value_of(orr_self->thread, key);
}

/* One round over all values; true when a destructor was called, which may have
 * set other values. */
static bool destroy_values(struct orr_user_thread *thread)
{
    bool some = false;

    for (unsigned key = 0; key < thread->nvalues; key++) {
        void (*destructor)(void *) = atomic_load(&keys[key].destructor);
        void *value = value_of(thread, key);

        thread->values[key].value = NULL;
        if (!value || !destructor)
            continue;
        destructor(value);
        some = true;
    }
    return some;
}

static void end_values(struct orr_user_thread *thread)
{
    for (int i = 0; i < PTHREAD_DESTRUCTOR_ITERATIONS; i++)
        if (!destroy_values(thread))
            break;
    free(thread->values);
    thread->values = NULL;
    thread->nvalues = 0;
}

/* The end of a context that was not made here: main at shutdown, workers. */
static void forget_self(void)
{
    struct orr_user_thread *thread = orr_self->thread;

    if (thread->routine)
        return;
    end_values(thread);
    orr_self->thread = NULL;
    orr_self->at_end = NULL;
    free(thread);
}

/* -- threads -------------------------------------------------------------- */

int starpu_pthread_equal(starpu_pthread_t t1, starpu_pthread_t t2)
{
    return pthread_equal(t1, t2);
}

starpu_pthread_t starpu_pthread_self(void)
{
    const struct orr_user_thread *thread;

    if (!orr_waits_virtually())
        return pthread_self();
    thread = orr_self->thread;
    return thread && thread->routine
               ? number_of(thread)
               : (starpu_pthread_t)((uintptr_t)orr_self | 1);
}

static void run_thread(void *arg)
{
    struct orr_user_thread *thread = arg;

    if (setjmp(thread->exit) == 0)
        thread->result = thread->routine(thread->arg);
    end_values(thread);
    thread->ended = true;
    if (orr_self->detached)
        free(thread);
}

static bool is_detached(const starpu_pthread_attr_t *attr)
{
    int state = PTHREAD_CREATE_JOINABLE;

    if (attr)
        pthread_attr_getdetachstate(attr, &state);
    return state == PTHREAD_CREATE_DETACHED;
}

static int create_context(starpu_pthread_t *number, bool detached,
                          void *(*routine)(void *), void *arg)
{
    struct orr_user_thread *thread = calloc(1, sizeof(*thread));
    struct orr_context init = {.runtime = orr_self->runtime,
                               .name = "a thread of the application",
                               .thread = thread,
                               .detached = detached};
    struct orr_exec *exec = orr_self->exec;
    int ret;

    if (!thread)
        return EAGAIN;
    thread->routine = routine;
    thread->arg = arg;
    ret =
        exec->ops->spawn(exec, &init, -1, run_thread, thread, &thread->context);
    if (ret < 0) {
        free(thread);
        return EAGAIN;
    }
    *number = number_of(thread);
    return 0;
}

int starpu_pthread_create(starpu_pthread_t *thread,
                          const starpu_pthread_attr_t *attr,
                          void *(*start_routine)(void *), void *arg)
{
    if (!orr_waits_virtually())
        return pthread_create(thread, attr, start_routine, arg);
    return create_context(thread, is_detached(attr), start_routine, arg);
}

static void thread_describe_end(const struct orr_awaited *awaited, char *text,
                                size_t size)
{
    const struct orr_user_thread *thread = awaited->object;

    snprintf(text, size, "the end of %s", thread->context->name);
}

/* Not in a callback. */
static bool may_switch(void)
{
    return orr_self->frozen ? orr_self->frozen == orr_self->suspends_at
                            : !orr_self->job;
}

int starpu_pthread_join(starpu_pthread_t number, void **retval)
{
    struct orr_user_thread *thread = thread_of(number);
    const struct orr_awaited awaited = {.noun = "the end of a thread",
                                        .describe = thread_describe_end,
                                        .object = thread};
    unsigned frozen;

    if (!orr_waits_virtually())
        return pthread_join(number, retval);
    if (!thread || !thread->routine || thread->joined ||
        thread->context->detached)
        return EINVAL;
    if (thread->context == orr_self)
        return EDEADLK;
    thread->joined = true;
    frozen = orr_self->frozen;
    if (may_switch()) /* a kernel keeps its worker, as it does on the real machine */
        orr_self->frozen = 0;
    orr_context_join(&awaited, thread->context);
    orr_self->frozen = frozen;
    if (retval)
        *retval = thread->result;
    free(thread);
    return 0;
}

int starpu_pthread_detach(starpu_pthread_t number)
{
    struct orr_user_thread *thread = thread_of(number);

    if (!orr_waits_virtually())
        return pthread_detach(number);
    if (!thread || !thread->routine || thread->joined ||
        thread->context->detached)
        return EINVAL;
    if (thread->ended)
        return starpu_pthread_join(number, NULL); /* returns at once */
    thread->context->detached = true;
    return 0;
}

void starpu_pthread_exit(void *retval)
{
    struct orr_user_thread *thread;

    if (!orr_waits_virtually())
        pthread_exit(retval);
    thread = orr_self->thread;
    if (!thread || !thread->routine) {
        orr_log_error("starpu_pthread_exit: %s was not made with "
                      "starpu_pthread_create; return or call exit instead",
                      orr_self->name ? orr_self->name : "the caller");
        abort();
    }
    thread->result = retval;
    longjmp(thread->exit, 1);
}

int starpu_pthread_setname(const char *name)
{
    struct orr_user_thread *thread;
    char cut[16];

    if (!orr_waits_virtually()) {
        strncpy(cut, name, sizeof(cut) - 1);
        cut[sizeof(cut) - 1] = '\0';
        return pthread_setname_np(pthread_self(), cut);
    }
    thread = self_thread();
    if (!thread)
        return ENOMEM;
    strncpy(thread->name, name, sizeof(thread->name) - 1);
    orr_self->name = thread->name;
    return 0;
}

int starpu_pthread_attr_init(starpu_pthread_attr_t *attr)
{
    return pthread_attr_init(attr);
}

int starpu_pthread_attr_destroy(starpu_pthread_attr_t *attr)
{
    return pthread_attr_destroy(attr);
}

int starpu_pthread_attr_setdetachstate(starpu_pthread_attr_t *attr,
                                       int detachstate)
{
    return pthread_attr_setdetachstate(attr, detachstate);
}

int starpu_pthread_attr_setstacksize(starpu_pthread_attr_t *attr,
                                     size_t stacksize)
{
    return pthread_attr_setstacksize(attr, stacksize);
}

/* -- time ----------------------------------------------------------------- */

/* A kernel that sleeps keeps its worker, as it does on the real machine. */
static void sleep_virtually(double us, const struct orr_awaited *awaited)
{
    struct orr_runtime *rt = orr_self->runtime;
    unsigned frozen = orr_self->frozen;

    orr_self->frozen = 0;
    {
        ORR_APPLICATION_DOES(rt, ORR_TRACE_OWN, NULL);
        orr_context_sleep(awaited, us);
    }
    orr_self->frozen = frozen;
}

bool orr_pass_time(double us, const struct orr_awaited *awaited)
{
    if (!may_switch())
        return false;
    sleep_virtually(us, awaited);
    return true;
}

static void thread_describe_sleep(const struct orr_awaited *awaited, char *text,
                                  size_t size)
{
    snprintf(text, size, "%llu µs to pass", awaited->number);
}

/* On the real machine it is a part of the time between calls. */
static void sleep_recorded(double us)
{
    const struct orr_awaited awaited = {.noun = "a time",
                                        .describe = thread_describe_sleep,
                                        .number = (unsigned long long)us};
    struct orr_runtime *rt = orr_self->runtime;
    ORR_API_SCOPE(rt);

    if (rt)
        ORR_RECORD(rt, SLEEP, .us = us);
    sleep_virtually(us, &awaited);
}

static void sleep_us(double us)
{
    struct timespec left = {0, 0};

    if (!(us > 0))
        return;
    if (orr_waits_virtually() && !may_switch()) {
        orr_self->debt += us; /* it owes the time */
        return;
    }
    if (orr_waits_virtually()) {
        sleep_recorded(us);
        return;
    }
    left.tv_sec = (time_t)(us / 1e6);
    left.tv_nsec = (long)(fmod(us, 1e6) * 1e3);
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

void starpu_sleep(float nb_sec)
{
    sleep_us((double)nb_sec * 1e6);
}

void starpu_usleep(float nb_micro_sec)
{
    sleep_us((double)nb_micro_sec);
}

void orrery_usleep(double microseconds)
{
    sleep_us(microseconds);
}
