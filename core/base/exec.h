/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/exec.h - time and contexts, the lower half of a machine.
 *
 * A context is what executes: the application's main thread, a worker, a user's
 * thread. The real machine makes them from threads, the simulated one from
 * stacks that it switches itself, in virtual time. Core calls
 * nothing else that waits or reads the clock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for the ranks of core/base/lock.h. */
#define ORR_MAX_LOCK_RANKS 12

struct orr_awaited;
struct orr_exec;
struct orr_grant;
struct orr_handle;
struct orr_job;
struct orr_list;
struct orr_processors;
struct orr_program;
struct orr_runtime;
struct orr_user_thread;
struct orr_worker;

/* How many jobs a context remembers that it has queued. */
enum { ORR_LEADS_BACK = 8 };

/* The head of every context; a machine embeds it at the start of its own
 * structure. Only the context itself writes the [owner] fields. */
struct orr_context {
    struct orr_exec *exec;       /* [const] the machine it runs on */
    struct orr_runtime *runtime; /* [const] after core attached it, or NULL */
    struct orr_program *program; /* [const] simulated: that of the context that started it,
                                  * core/exec/program.h; NULL: the process's */
    struct orr_processors *processors; /* [owner] simulated: those that it works on, in turns
                                        * with others; of the context that started it; NULL:
                                        * it has one for itself */
    struct orr_worker *worker;   /* [owner] NULL unless it is a worker, or calls
                                  * back about memory that is not its own */
    struct orr_worker *seat;     /* [owner] whose place it has: the same, but in
                                  * such calls; others read it while it is left */
    struct orr_job *job;         /* [owner] the task being executed, or NULL */
    const char *name;            /* [const] for messages, e.g. "worker 3" */
    const struct orr_awaited *awaited; /* [owner] what it waits for, or NULL;
                                        * others read it: core/base/wait.h */
    unsigned readers; /* [atomic] that do so now */
    bool seen;        /* [atomic] of the present wait: one has done so */
    const struct orr_handle *cuts; /* [owner] the data whose parts a filter
                                    * describes now, or NULL */
    const char *call; /* [owner] the last call of the application that may
                       * have blocked, or NULL */
    double debt;              /* [owner] virtual µs owed for API calls made
                                  * where it must not switch */
    unsigned frozen;          /* [owner] > 0: user code is on the stack,
                                  * blocking calls are refused */
    unsigned short in_policy; /* [owner] hooks of a policy of the application
                               * that are on the stack */
    unsigned short sched_ctx; /* [owner] the scheduling context of what it
                               * submits, + 1, 0: none was chosen */
    unsigned short ranks; /* [owner] of the core locks that it holds, a bit each, and … */
    unsigned short more[ORR_MAX_LOCK_RANKS]; /* [owner] … how many of each, less one;
                                              * debug builds */
    struct orr_list *ended; /* [owner] empty tasks that end once the present one has;
                             * NULL: none ends now */
    struct orr_grant *grant; /* [owner] memory that a method of an interface is
                              * to take, core/data/memory.c, or NULL */
    struct orr_list *admitted;      /* [owner] jobs that it will go on with,
                                * core/data/admit.c, or NULL */
    unsigned cache;                 /* [owner] which cache of each slab it uses,
                                  * core/base/slab.h */
    struct orr_user_thread *thread; /* [owner] what core/api/thread.c knows of
                                  * it, or NULL */
    void (*at_end)(void);           /* [owner] called by orr_context_end, NULL:
                                  * nothing to do */
    struct orr_list *left[ORR_LEADS_BACK]; /* [owner] those jobs' links, at
                                            * nleft modulo that the oldest:
                                            * core/sched/queue.c */
    unsigned nleft;                        /* [owner] how many it has queued */
    unsigned suspends_at; /* [owner] `frozen` as it is in the kernel that runs
                           * here, if its task may wait; 0: none does */
    unsigned polls;       /* [owner] simulated: questions since it last waited,
                           * core/api/poll.h */
    bool spins;           /* [owner] … which were many */
    double spins_since;   /* [owner] … since then, virtual µs */
    bool asks;            /* [owner] … and it waits only to ask again */
    struct orr_context *next; /* in one list of those that were left */
    bool away;     /* [owner] it runs on its thread's own stack for a while, on_thread_stack */
    bool borrows;  /* [owner] it has borrowed its worker, or runs beside one that
                    * has: core/loop/borrow.h */
    bool machine;  /* [const] the machine's own, which calls `done` of what has
                   * ended: it may free no data of the application */
    bool detached; /* [owner] simulated: never joined, the
                                  * machine frees it when its body returns */
};

/* The running context of this OS thread, NULL on a thread that no machine
 * knows. The one thread-local variable of the library: machines set it, with
 * every switch. */
extern _Thread_local struct orr_context *orr_self
    __attribute__((tls_model("initial-exec")));

#define ORR_FOREVER __builtin_inf()

/* Time and contexts. No entry is NULL. "Blocks" means that other contexts may
 * run before it returns; all other entries never switch contexts. */
struct orr_exec_ops {
    /* Microseconds since the machine was opened. Any context, any lock. */
    double (*now)(struct orr_exec *exec);

    /* The same, or up to some milliseconds before it where that costs less to know. */
    double (*recently)(struct orr_exec *exec);

    /* Makes a context that will call body(arg), and lets it run at some later
     * time (never before spawn returns, when simulated). `name` is borrowed
     * until join. `init` describes fields copied into the new context's head
     * (runtime, worker, name). `cpu` is the logical processor to bind to, -1
     * for none. Errors: -ENOMEM, -EAGAIN; then *ret is untouched. */
    int (*spawn)(struct orr_exec *exec, const struct orr_context *init, int cpu,
                 void (*body)(void *), void *arg, struct orr_context **ret);

    /* Blocks until the context's body has returned, then frees it. */
    void (*join)(struct orr_exec *exec, struct orr_context *context);

    /* Blocks until the calling context is woken or until the time `until_us`
     * (ORR_FOREVER for none) has come. A wake that came before is not lost: it
     * is a sticky token, consumed by the next park. Spurious returns are
     * allowed on the real machine. */
    void (*park)(struct orr_exec *exec, double until_us);

    /* Gives `context` its token. Any context, any lock held, never blocks. */
    void (*wake)(struct orr_exec *exec, struct orr_context *context);

    /* Blocks for that long; wakes are kept for the next park. Simulated: the
     * others run on, virtual time passes. */
    void (*sleep)(struct orr_exec *exec, double us);

    /* The same, but what passes is the work of a processor: simulated it takes longer
     * where others use that, too. */
    void (*work)(struct orr_exec *exec, double us);

    /* Called while spinning on a lock: lets the holder run. Real only, a
     * no-op when simulated. Never switches contexts when simulated. */
    void (*relax)(struct orr_exec *exec);

    /* The calling context has found nothing to do for the n-th time in a row,
     * from 0: lets a moment pass and returns true if it should look again before
     * it says that it parks, which costs both it and who would wake it more than
     * a few looks. False, at once: it should park, always when simulated. Never
     * switches contexts when simulated. */
    bool (*linger)(struct orr_exec *exec, unsigned n);

    /* Binds a context that was spawned to other logical processors, any of
     * which it may use, at once. Errors: -EINVAL and others of the system;
     * simulated, none. Any context. */
    int (*bind)(struct orr_exec *exec, struct orr_context *context,
                const int *cpus, unsigned n);

    /* Makes a context that takes turns with the calling one, on the same OS
     * thread: it goes on when it is switched to, and leaves nothing behind when
     * it is forgotten. body(arg) must not return. Errors: -ENOMEM, -EAGAIN; then
     * *ret is untouched. */
    int (*beside)(struct orr_exec *exec, const struct orr_context *init,
                  void (*body)(void *), void *arg, struct orr_context **ret);

    /* Leaves the calling context where it is: `to`, which takes turns with it,
     * goes on. Returns true when it is switched to again. The first wake in
     * between is its token, and calls exec->woken if it `waits`, then it is
     * switched to after that only, else exec->missed. With a token it stays,
     * consumes that and returns false, at once. */
    bool (*leave)(struct orr_exec *exec, struct orr_context *to, bool waits);

    /* Frees one that was made by `beside` and was left for ever; nobody wakes it
     * any more. Any context. */
    void (*forget)(struct orr_exec *exec, struct orr_context *context);

    /* Calls function(arg) on the stack that the calling OS thread began with, beneath all
     * that is on it: simulated, main's; real, another one only where a worker goes on
     * beside kernels that wait. Where that is not the caller's own stack the function
     * must not wait: the caller counts as frozen, and is `away`. Else a plain call. */
    void (*on_thread_stack)(struct orr_exec *exec, void (*function)(void *),
                            void *arg);

    /* Makes the calling OS thread a context (a thread that the application
     * made itself). NULL when the machine cannot have such threads: the
     * simulated one, whose callers print an error naming the API call. But where
     * the thread of main has ended, this one is main from now on. */
    struct orr_context *(*adopt)(struct orr_exec *exec);

    /* Calls visit(context, arg) for main, and for each context alive that was spawned,
     * made beside another one or adopted; simulated, the oldest first. For reports:
     * none of them runs meanwhile, but maybe the caller. Real: not those that are left,
     * of which the one that runs on a thread stands for it. */
    void (*each)(struct orr_exec *exec,
                 void (*visit)(struct orr_context *context, void *arg),
                 void *arg);
};

/* What could still wake a context, where all are parked for ever. */
enum orr_parked {
    ORR_PARKED_ALL,   /* nobody: the process has no other threads */
    ORR_PARKED_KNOWN, /* threads that the machine does not know */
    ORR_PARKED_OWN, /* … and some of the application that it knows, which are not
                        * parked: they may be in the library or not */
};

/* The head of every machine's execution half. */
struct orr_exec {
    const struct orr_exec_ops *ops;
    bool one_thread; /* contexts share an OS thread and switch only in blocking
                        * calls: core's locks need not lock */
    bool virtual_time; /* its clock moves when all contexts wait: equal runs
                        * have equal times */
    uintptr_t thread; /* [atomic] of `one_thread`: which (pthread_t), 0: it has ended */
    unsigned nprocessors; /* on which its contexts run at once, 1: they take turns.
                           * With more of them than that nobody spins */
    size_t stack_size; /* of the contexts that it will start, bytes: what user
                        * code may expect, or more */
    /* Called by the last context that parks for ever when all others do, and again
     * after the µs that it returns, ORR_FOREVER: never, if none has been woken since:
     * that is `since` µs ago then. Unless the context is one of `ORR_PARKED_OWN`,
     * none goes on before it returns. NULL: nothing to do. Real only; the simulated
     * machine has its own report (core/device/simulated.h). [atomic] Threads of
     * drivers run before it is set, after its argument, and when it is taken away. */
    double (*all_parked)(void *arg, enum orr_parked who, double since);
    void *all_parked_arg;
    unsigned noutside; /* [atomic] operations under way that no context performs,
                        * but whose end wakes one: then not all is parked */
    /* Simulated: called by the context that is left when one of another program, such as a
     * rank, goes on, or (`last`) when the process ends without a call of exit. It does not
     * block. NULL: nobody asks. */
    void (*turn_ends)(bool last);
    /* core/loop/suspend.h: what a task does instead of parking; a context that
     * was left may go on; one that was left without waiting was woken. The latter
     * two in any context, with any lock. */
    void (*suspend)(double until_us);
    void (*woken)(struct orr_context *context);
    void (*missed)(struct orr_context *context);
};

/* The context is the worker from now on, or none. */
static inline void orr_context_sit(struct orr_context *self,
                                   struct orr_worker *worker)
{
    self->worker = self->seat = worker;
}

/* What a context is while it is away from its stack: no kernel that may wait. */
struct orr_away {
    unsigned suspends_at;
};

static inline struct orr_away orr_away_begin(struct orr_context *self)
{
    struct orr_away before = {self->suspends_at};

    self->away = true;
    self->frozen++;
    self->suspends_at = 0;
    return before;
}

static inline void orr_away_end(struct orr_context *self, struct orr_away before)
{
    self->away = false;
    self->frozen--;
    self->suspends_at = before.suspends_at;
}

/* To be called by a context that core started, as the last thing that it does,
 * and by main before the machine closes: frees what others keep for it. */
static inline void orr_context_end(void)
{
    if (orr_self && orr_self->at_end)
        orr_self->at_end();
}

/* In loops that spin: the processor waits for a moment. */
static inline void orr_exec_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline double orr_exec_now(struct orr_exec *exec)
{
    return exec->ops->now(exec);
}
