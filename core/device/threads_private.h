/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/threads_private.h - a context of the real machine, as its two files
 * see it: threads.c, which has contexts that are threads, and beside.c, which has
 * others that take turns with one on its thread.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "core/base/exec.h"
#include "core/device/switch.h"

enum token {
    NO_TOKEN,
    TOKEN,    /* set by wake, consumed by park and leave */
    SLEEPING, /* set by park before it sleeps in the kernel */
    WAITING,  /* set by leave: another context runs on the thread; it waits … */
    SPARE,    /* … or not */
};

struct thread {
    struct orr_context head; /* first */
    atomic_uint token;       /* [atomic] wake's exchange and park's */
    pthread_t id;            /* [const] */
    int cpu;                 /* [const] */
    void (*body)(void *);
    void *arg;
    struct thread *next, **link; /* [registry.lock] */
    /* Adopted threads and main only, else NULL: */
    struct orr_context *
        *self;           /* the thread's orr_self; main's: [registry.lock], and
                                * NULL when it has ended */
    struct thread *home; /* [const] whose thread it shares; NULL: its own */
    /* Of a context with a thread of its own, the context that runs there; NULL:
     * itself, and no other was ever there. */
    _Atomic(struct thread *) turn;
    struct orr_fiber fiber; /* of those that take turns */
};

static inline struct thread *orr_thread_of(struct orr_context *context)
{
    return (struct thread *)context;
}

/* The entries of the table that are in beside.c. */
int orr_threads_beside(struct orr_exec *exec, const struct orr_context *init,
                       void (*body)(void *), void *arg,
                       struct orr_context **ret);
void orr_threads_on_thread_stack(struct orr_exec *exec, void (*function)(void *),
                                 void *arg);
bool orr_threads_leave(struct orr_exec *exec, struct orr_context *to,
                       bool waits);
void orr_threads_forget(struct orr_exec *exec, struct orr_context *context);

/* What `init` says of a new context. */
static inline void orr_thread_init_head(struct thread *thread,
                                        struct orr_exec *exec,
                                        const struct orr_context *init)
{
    if (init) {
        thread->head.runtime = init->runtime;
        orr_context_sit(&thread->head, init->worker);
        thread->head.name = init->name;
        thread->head.thread = init->thread;
    }
    thread->head.exec = exec;
}
