/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/exec.c - see exec.h. The rule of the whole simulator: only park, sleep
 * and join switch, everything else marks and queues.
 *
 * The context that runs next, first match:
 *   1. the oldest context in the run queue;
 *   2. the first event in virtual time: transfers before timers of one date,
 *      timers of one date in the order in which they were set;
 *   3. none: the application has a deadlock.
 * A context that blocks chooses and switches straight to the chosen one; other
 * events are left to the dispatcher, a fiber with a large stack, so that
 * neither the network nor handlers ever run above user code.
 */
#include "sim/exec.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/list.h"
#include "core/base/log.h"
#include "core/base/slab.h"
#include "core/base/wait.h"

static const size_t dispatcher_stack = (size_t)8 << 20;

static struct orr_sim_exec *exec_of(struct orr_exec *exec)
{
    return (struct orr_sim_exec *)exec;
}

static struct orr_sim_context *context_of(struct orr_context *context)
{
    return (struct orr_sim_context *)context;
}

static struct orr_sim_context *timer_context(struct orr_timer *timer)
{
    return (struct orr_sim_context *)((char *)timer -
                                      offsetof(struct orr_sim_context, timer));
}

/* -- stacks --------------------------------------------------------------- */

static int make_stack(struct orr_sim_exec *x, struct orr_sim_context *c,
                      size_t size, void (*body)(void *), void *arg)
{
    if (x->stacks)
        return x->stacks->ops->make(x->stacks, c->head.name, body, arg,
                                    &c->stack);
    return orr_fiber_init(&c->fiber, size, body, arg);
}

static void switch_stacks(struct orr_sim_exec *x, struct orr_sim_context *from,
                          struct orr_sim_context *to)
{
    if (x->stacks)
        x->stacks->ops->go(x->stacks, from->stack, to->stack);
    else
        orr_fiber_switch(&from->fiber, &to->fiber);
}

/* For the last time. */
static _Noreturn void leave_stack(struct orr_sim_exec *x,
                                  struct orr_sim_context *from,
                                  struct orr_sim_context *to)
{
    if (x->stacks) {
        x->stacks->ops->go(x->stacks, from->stack, to->stack);
        abort();
    }
    orr_fiber_leave(&from->fiber, &to->fiber);
}

static void free_stack(struct orr_sim_exec *x, struct orr_sim_context *c)
{
    if (x->stacks)
        x->stacks->ops->end(x->stacks, c->stack);
    else
        orr_fiber_done(&c->fiber);
}

/* -- the run queue -------------------------------------------------------- */

static void push_ready(struct orr_sim_exec *x, struct orr_sim_context *context)
{
    context->state = ORR_SIM_READY;
    context->next_ready = NULL;
    *x->last_ready = context;
    x->last_ready = &context->next_ready;
}

static struct orr_sim_context *pop_ready(struct orr_sim_exec *x)
{
    struct orr_sim_context *context = x->first_ready;

    if (!context)
        return NULL;
    x->first_ready = context->next_ready;
    if (!x->first_ready)
        x->last_ready = &x->first_ready;
    return context;
}

/* -- choosing and switching ----------------------------------------------- */

static void set_clock(struct orr_sim_exec *x, double date)
{
    __atomic_store(&x->now, &date, __ATOMIC_RELAXED);
}

static void find_next_break(struct orr_sim_exec *x)
{
    x->break_us = ORR_FOREVER;
    for (struct orr_sim_user *user = x->users; user; user = user->next)
        if (user->break_us < x->break_us)
            x->break_us = user->break_us;
}

static __attribute__((noinline)) void come_to_break(struct orr_sim_exec *x, double until)
{
    while (x->break_us <= until) {
        struct orr_sim_user *user = x->users;

        while (user->break_us > x->break_us)
            user = user->next;
        if (x->break_us > x->now)
            set_clock(x, x->break_us);
        user->break_us = ORR_FOREVER;
        find_next_break(x);
        user->on_break(user->runtime);
    }
}

/* Moves the clock. */
static inline void exec_advance_clock(struct orr_sim_exec *x, double date)
{
    if (date >= x->break_us)
        come_to_break(x, date);
    set_clock(x, date);
}

static double events_next(const struct orr_sim_exec *x)
{
    return x->events->next_us;
}

/* The context that goes on next, with the clock moved to its date; NULL when
 * another event comes first. */
static struct orr_sim_context *exec_choose_context(struct orr_sim_exec *x)
{
    struct orr_sim_context *context = pop_ready(x);
    const struct orr_timer_entry *first;

    if (context || !x->timers.n)
        return context;
    first = &x->timers.heap[0];
    if (first->timer->fire || first->date >= events_next(x))
        return NULL;
    exec_advance_clock(x, first->date);
    return timer_context(orr_timers_pop(&x->timers));
}

/* Where programs, as ranks are, share something of the process that is told by who runs. */
static void end_turn(const struct orr_sim_exec *x, const struct orr_sim_context *from,
                     const struct orr_sim_context *to)
{
    const struct orr_program *program = from->head.program;

    if (x->head.turn_ends && program && program != to->head.program)
        x->head.turn_ends(false);
}

static void switch_to(struct orr_sim_exec *x, struct orr_sim_context *from,
                      struct orr_sim_context *to)
{
    to->state = ORR_SIM_RUNNING;
    if (to == from)
        return;
    end_turn(x, from, to);
    x->current = to;
    orr_self = &to->head;
    switch_stacks(x, from, to);
}

/* Switches away; returns when `self` has been chosen again. */
static void block(struct orr_sim_exec *x, struct orr_sim_context *self)
{
    struct orr_sim_context *next = exec_choose_context(x);

    switch_to(x, self, next ? next : &x->dispatcher);
}

static bool ask_users(struct orr_sim_exec *x, enum orr_deadlock_step step)
{
    for (struct orr_sim_user *user = x->users; user; user = user->next) {
        orr_sim_work_for(user);
        if (user->on_deadlock && user->on_deadlock(user->runtime, step))
            return true;
    }
    return false;
}

/* Contexts of no run, as ranks are before they open one: no user says what they wait for. */
static void explain_others(struct orr_sim_exec *x)
{
    struct orr_sim_context *c = x->newest;
    char text[ORR_AWAITED_TEXT];

    while (c->older)
        c = c->older;
    for (; c; c = c->newer) {
        if (c->head.runtime || !c->head.program || !c->head.awaited)
            continue;
        x->dispatcher.head.program = c->head.program;
        x->dispatcher.head.runtime = NULL;
        orr_awaited_write(c->head.awaited, text, sizeof(text));
        orr_log_error("deadlock: %s waits for %s", c->head.name ? c->head.name : "main", text);
    }
}

/* Nothing is left to do, unless core finds something. */
static void stand_still(struct orr_sim_exec *x)
{
    if (ask_users(x, ORR_DEADLOCK_RELIEVES))
        return;
    (void)ask_users(x, ORR_DEADLOCK_EXPLAINS);
    explain_others(x);
    (void)ask_users(x, ORR_DEADLOCK_ENDS);
    orr_log_error("the application has a deadlock: nothing can go on, and "
                  "virtual time has nothing left");
    exit(3);
}

static void dispatch(void *arg)
{
    struct orr_sim_exec *x = arg;

    for (;;) {
        struct orr_sim_context *next = exec_choose_context(x);
        double date = orr_timers_next(&x->timers);
        struct orr_sim_events *events = x->events;

        if (next) {
            switch_to(x, &x->dispatcher, next);
        } else if (events->next_us <= date &&
                   events->next_us < ORR_FOREVER) {
            if (events->next_us > x->now)
                exec_advance_clock(x, events->next_us);
            events->run(events);
        } else if (date < ORR_FOREVER) {
            struct orr_timer *timer = orr_timers_pop(&x->timers);

            exec_advance_clock(x, date);
            timer->fire(timer);
        } else {
            stand_still(x);
        }
    }
}

/* -- the operations ------------------------------------------------------- */

static double sim_now(struct orr_exec *exec)
{
    double now;

    __atomic_load(&exec_of(exec)->now, &now, __ATOMIC_RELAXED);
    return now;
}

_Noreturn static void refuse(const struct orr_context *self, const char *what)
{
    char text[ORR_AWAITED_TEXT] = "virtual time";

    if (self && self->awaited)
        orr_awaited_write(self->awaited, text, sizeof(text));
    if (!self)
        orr_log_error("%s: called from a thread that the simulation does not "
                      "know; simulated, all threads that call the library "
                      "must be made with starpu_pthread_create",
                      what);
    else if (self->ranks)
        orr_log_error("%s: %s would wait for %s while it holds a lock of the "
                      "library",
                      what, self->name, text);
    else
        orr_log_error("%s: %s must not wait (for %s) inside a callback, a "
                      "kernel, a cost function or a scheduling policy",
                      what, self->name ? self->name : "this context", text);
    abort();
}

/* The calling context, which is about to block. */
static inline struct orr_sim_context *blocking_self(struct orr_sim_exec *x,
                                                    const char *what)
{
    struct orr_context *self = orr_self;

    if (__builtin_expect(!self || self->frozen || self->ranks, 0))
        refuse(self, what);
    assert(self->exec == &x->head);
    self->polls = 0;
    self->spins = self->asks;
    atomic_store_explicit(
        &x->activity,
        atomic_load_explicit(&x->activity, memory_order_relaxed) + 1,
        memory_order_relaxed);
    return context_of(self);
}

/* Whether nothing happens before the date, nor at it. */
static inline bool is_free_until(const struct orr_sim_exec *x, double date)
{
    return !x->first_ready && orr_timers_next(&x->timers) > date &&
           events_next(x) > date;
}

/* Sleeps until the date where no context is ready, if what comes first by then is a
 * context that sleeps: the clock moves, and that one goes on. Else returns false, and
 * nothing has happened. */
static bool exec_try_sleep(struct orr_sim_exec *x, struct orr_sim_context *self,
                           enum orr_sim_state state, double date)
{
    double timer = orr_timers_next(&x->timers), event = events_next(x);
    struct orr_sim_context *next;

    if (timer >= event || x->timers.heap[0].timer->fire)
        return false;
    self->state = state;
    next = timer_context(orr_timers_exchange(&x->timers, &self->timer, date));
    exec_advance_clock(x, timer);
    switch_to(x, self, next);
    return true;
}

/* Blocks in `state` until the date, which is not over, or, when parked, a wake. */
static __attribute__((noinline)) void block_until(struct orr_sim_exec *x, struct orr_sim_context *self,
                        enum orr_sim_state state, double date)
{
    if (x->first_ready || !(date < ORR_FOREVER) ||
        !exec_try_sleep(x, self, state, date)) {
        if (date < ORR_FOREVER)
            orr_timers_set(&x->timers, &self->timer, date);
        self->state = state;
        block(x, self);
    }
    orr_timers_cancel(&x->timers, &self->timer);
}

/* The usual case first: the clock moves, and the context goes on. */
static inline void sleep_until(struct orr_sim_exec *x,
                               struct orr_sim_context *self,
                               enum orr_sim_state state, double date)
{
    if (date < ORR_FOREVER && is_free_until(x, date))
        exec_advance_clock(x, date);
    else
        block_until(x, self, state, date);
}

static void sim_park(struct orr_exec *exec, double until_us)
{
    struct orr_sim_exec *x = exec_of(exec);
    struct orr_sim_context *self = blocking_self(x, "park");

    self->parked = x->now;
    if (!self->token)
        sleep_until(x, self, ORR_SIM_PARKED,
                    until_us < x->now ? x->now : until_us);
    self->token = false;
}

/* A thread looks for its token for a while before it sleeps, about as long as waking it
 * takes then: it is never longer under way than it has slept. */
static double wake_after(const struct orr_sim_wake *wake, double slept)
{
    double us = wake->late;

    if (slept < ORR_SIM_LATE_US)
        us = wake->soon + (wake->late - wake->soon) *
                              fmax(slept - ORR_SIM_SOON_US, 0) /
                              (ORR_SIM_LATE_US - ORR_SIM_SOON_US);
    return fmin(us, slept);
}

static void wake_parked(struct orr_sim_exec *x, struct orr_sim_context *c)
{
    double us = wake_after(&x->wake, x->now - c->parked);

    /* A processor that works for others, such as the thread that wakes this one where there
     * is no other, need not wake up itself. */
    if (c->head.processors && (c->head.processors->nworking > 0 ||
                               (c->head.processors->n == 1 && orr_self &&
                                orr_self->processors == c->head.processors)))
        us = 0;

    if (!(us > 0)) {
        push_ready(x, c);
        return;
    }
    orr_timers_cancel(&x->timers, &c->timer);
    orr_timers_set(&x->timers, &c->timer, x->now + us);
    c->state = ORR_SIM_SLEEPING;
}

static void sim_wake(struct orr_exec *exec, struct orr_context *context)
{
    struct orr_sim_context *c = context_of(context);
    bool first = !c->token;

    c->token = true;
    if (c->state == ORR_SIM_PARKED)
        wake_parked(exec_of(exec), c);
    else if (c->state == ORR_SIM_LEFT && first)
        (c->waits ? exec->woken : exec->missed)(context);
}

static void sim_sleep(struct orr_exec *exec, double us)
{
    struct orr_sim_exec *x = exec_of(exec);
    struct orr_sim_context *self = blocking_self(x, "sleep");

    /* Written so that NaN counts as no time. */
    sleep_until(x, self, ORR_SIM_SLEEPING, us > 0 ? x->now + us : x->now);
}

static void sim_work(struct orr_exec *exec, double us)
{
    struct orr_sim_exec *x = exec_of(exec);
    struct orr_sim_context *self = blocking_self(x, "work");

    /* Written so that NaN counts as no time. */
    if (!(us > 0))
        us = 0;
    sleep_until(x, self, ORR_SIM_SLEEPING,
                orr_sim_work_begin(&x->timers, x->now, &self->work, self->head.processors, us));
    orr_sim_work_end(&x->timers, x->now, &self->work);
}

static void sim_relax(struct orr_exec *exec)
{
    (void)exec;
}

/* -- the thread that all of it runs on -- */

static void notice_end_of_main(void *value)
{
    struct orr_sim_exec *x = value;

    __atomic_store_n(&x->head.thread, 0, __ATOMIC_RELEASE);
}

/* The calling thread is that from now on. */
static int take_main(struct orr_sim_exec *x)
{
    __atomic_store_n(&x->head.thread, (uintptr_t)pthread_self(),
                     __ATOMIC_RELEASE);
    orr_self = &x->main->head;
    return -pthread_setspecific(x->main_key, x);
}

/* Of threads that come at once one is the first. Stacks that are not our own stay where
 * they are. */
static struct orr_context *sim_adopt(struct orr_exec *exec)
{
    struct orr_sim_exec *x = exec_of(exec);
    uintptr_t ended = 0;

    if (x->stacks || __atomic_load_n(&exec->thread, __ATOMIC_ACQUIRE) != 0 ||
        x->current != x->main ||
        !__atomic_compare_exchange_n(&exec->thread, &ended,
                                     (uintptr_t)pthread_self(), false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return NULL;
    for (struct orr_sim_context *c = x->newest; c; c = c->older)
        orr_fiber_move(&c->fiber);
    orr_fiber_move(&x->dispatcher.fiber);
    if (take_main(x) < 0)
        orr_log_warning("the simulation will not notice the end of this "
                        "thread: out of memory");
    return orr_self;
}

/* -- contexts ------------------------------------------------------------- */

static void link_context(struct orr_sim_exec *x, struct orr_sim_context *c)
{
    c->older = x->newest;
    if (x->newest)
        x->newest->newer = c;
    x->newest = c;
}

static void unlink_context(struct orr_sim_exec *x, struct orr_sim_context *c)
{
    if (c->older)
        c->older->newer = c->newer;
    if (c->newer)
        c->newer->older = c->older;
    else
        x->newest = c->older;
}

static void free_context(struct orr_sim_exec *x, struct orr_sim_context *c)
{
    unlink_context(x, c);
    free_stack(x, c);
    orr_timers_cancel(&x->timers, &c->timer);
    orr_timers_release(&x->timers);
    free(c);
}

static void bury(struct orr_sim_exec *x)
{
    if (x->corpse)
        free_context(x, x->corpse);
    x->corpse = NULL;
}

/* The end of a context, on its own stack, which therefore must stay until
 * another one frees it: the one that joins or, for a detached one, the next
 * one. */
static void context_main(void *arg)
{
    struct orr_sim_context *self = arg;
    struct orr_sim_exec *x = exec_of(self->head.exec);
    struct orr_sim_context *next;

    self->body(self->arg);
    self->state = ORR_SIM_ENDED;
    if (self->joiner && self->joiner->state == ORR_SIM_JOINING)
        push_ready(x, self->joiner);
    if (self->head.detached) {
        bury(x);
        x->corpse = self;
    }
    next = exec_choose_context(x);
    if (!next)
        next = &x->dispatcher;
    end_turn(x, self, next);
    next->state = ORR_SIM_RUNNING;
    x->current = next;
    orr_self = &next->head;
    leave_stack(x, self, next);
}

/* A context that does not run yet. */
static int make_context(struct orr_exec *exec, const struct orr_context *init,
                        void (*body)(void *), void *arg,
                        struct orr_sim_context **ret)
{
    struct orr_sim_exec *x = exec_of(exec);
    struct orr_sim_context *c = calloc(1, sizeof(*c));
    int error = -ENOMEM;

    if (!c)
        return -ENOMEM;
    bury(x);
    if (init) {
        c->head.runtime = init->runtime;
        orr_context_sit(&c->head, init->worker);
        c->head.name = init->name;
        c->head.thread = init->thread;
        c->head.detached = init->detached;
    }
    c->head.exec = exec;
    c->head.cache = ORR_CACHE_OF_TURNS;
    c->head.program = orr_self->program;
    c->head.processors = orr_self->processors;
    c->work = (struct orr_sim_work){.rate = 1, .timer = &c->timer};
    c->body = body;
    c->arg = arg;
    error = orr_timers_reserve(&x->timers);
    if (error < 0)
        goto free_memory;
    error = make_stack(x, c, exec->stack_size, context_main, c);
    if (error < 0)
        goto release_timer;
    link_context(x, c);
    *ret = c;
    return 0;

release_timer:
    orr_timers_release(&x->timers);
free_memory:
    free(c);
    return error;
}

static int sim_spawn(struct orr_exec *exec, const struct orr_context *init,
                     int cpu, void (*body)(void *), void *arg,
                     struct orr_context **ret)
{
    struct orr_sim_context *c;
    int error = make_context(exec, init, body, arg, &c);

    (void)cpu;
    if (error < 0)
        return error;
    push_ready(exec_of(exec), c);
    *ret = &c->head;
    return 0;
}

static int sim_beside(struct orr_exec *exec, const struct orr_context *init,
                      void (*body)(void *), void *arg, struct orr_context **ret)
{
    struct orr_sim_context *c;
    int error = make_context(exec, init, body, arg, &c);

    if (error < 0)
        return error;
    c->state = ORR_SIM_LEFT;
    *ret = &c->head;
    return 0;
}

static bool sim_leave(struct orr_exec *exec, struct orr_context *context,
                      bool waits)
{
    struct orr_sim_exec *x = exec_of(exec);
    struct orr_sim_context *self = blocking_self(x, "leave");
    bool left = !self->token;

    if (left) {
        self->state = ORR_SIM_LEFT;
        self->waits = waits;
        switch_to(x, self, context_of(context));
    }
    self->token = false;
    return left;
}

static void sim_forget(struct orr_exec *exec, struct orr_context *context)
{
    free_context(exec_of(exec), context_of(context));
}

/* Threads that only ask, core/exec/guest.h, are on their own stacks. */
static bool is_on_main_stack(const struct orr_sim_exec *x)
{
    return orr_self->away || x->current == x->main ||
           x->head.thread != (uintptr_t)pthread_self();
}

static void sim_on_thread_stack(struct orr_exec *exec, void (*function)(void *), void *arg)
{
    struct orr_sim_exec *x = exec_of(exec);
    struct orr_sim_context *self = context_of(orr_self);
    struct orr_away before;

    if (is_on_main_stack(x)) {
        function(arg);
        return;
    }
    before = orr_away_begin(&self->head);
    if (x->stacks)
        x->stacks->ops->call_on_main(x->stacks, function, arg);
    else
        orr_fiber_call(&self->fiber, &x->main->fiber, function, arg);
    orr_away_end(&self->head, before);
}

static void sim_join(struct orr_exec *exec, struct orr_context *context)
{
    struct orr_sim_exec *x = exec_of(exec);
    struct orr_sim_context *c = context_of(context);

    if (c->state != ORR_SIM_ENDED) {
        struct orr_sim_context *self = blocking_self(x, "join");

        c->joiner = self;
        self->state = ORR_SIM_JOINING;
        block(x, self);
        assert(c->state == ORR_SIM_ENDED);
    }
    free_context(x, c);
}

static bool sim_linger(struct orr_exec *exec, unsigned n)
{
    (void)exec;
    (void)n;
    return false;
}

/* All contexts share one processor. */
static int sim_bind(struct orr_exec *exec, struct orr_context *context,
                    const int *cpus, unsigned n)
{
    (void)exec;
    (void)context;
    (void)cpus;
    (void)n;
    return 0;
}

static void sim_each(struct orr_exec *exec,
                     void (*visit)(struct orr_context *context, void *arg),
                     void *arg)
{
    struct orr_sim_context *c = exec_of(exec)->main;

    while (c) {
        struct orr_sim_context *newer = c->newer;

        if (c->state != ORR_SIM_ENDED)
            visit(&c->head, arg);
        c = newer;
    }
}

static const struct orr_exec_ops sim_exec_ops = {
    .now = sim_now,
    .recently = sim_now,
    .spawn = sim_spawn,
    .join = sim_join,
    .park = sim_park,
    .wake = sim_wake,
    .sleep = sim_sleep,
    .work = sim_work,
    .relax = sim_relax,
    .linger = sim_linger,
    .bind = sim_bind,
    .beside = sim_beside,
    .leave = sim_leave,
    .forget = sim_forget,
    .on_thread_stack = sim_on_thread_stack,
    .adopt = sim_adopt,
    .each = sim_each,
};

/* -- beginning and end ---------------------------------------------------- */

static void init_exec(struct orr_sim_exec *x, struct orr_sim_context *root)
{
    x->head.ops = &sim_exec_ops;
    x->head.one_thread = true;
    x->head.virtual_time = true;
    x->last_ready = &x->first_ready;
    x->no_events.next_us = ORR_FOREVER; /* so that it is never run */
    x->events = &x->no_events;
    x->head.stack_size = orr_fiber_default_size();
    x->head.nprocessors = 1;
    x->main = root;
    x->current = root;

    x->dispatcher.head.exec = &x->head;
    x->dispatcher.head.cache = ORR_CACHE_OF_TURNS;
    x->dispatcher.head.name = "the machine";
    x->dispatcher.head.machine = true;
    x->dispatcher.head.frozen = 1; /* handlers must not block */

    root->head.exec = &x->head;
    root->head.cache = ORR_CACHE_OF_TURNS;
    root->head.name = "main";
    root->state = ORR_SIM_RUNNING;
    root->work = (struct orr_sim_work){.rate = 1, .timer = &root->timer};
    if (!x->stacks)
        orr_fiber_init_running(&root->fiber);
    link_context(x, root);
    x->break_us = ORR_FOREVER;
}

int orr_sim_exec_new(struct orr_stacks *stacks, struct orr_sim_exec **ret)
{
    struct orr_sim_exec *x = calloc(1, sizeof(*x));
    struct orr_sim_context *root = calloc(1, sizeof(*root));
    int error = -ENOMEM;

    if (!x || !root)
        goto fail;
    x->stacks = stacks;
    init_exec(x, root);
    error = orr_timers_reserve(&x->timers);
    if (error < 0)
        goto fail;
    error = -pthread_key_create(&x->main_key, notice_end_of_main);
    if (error < 0)
        goto fail;
    error = make_stack(x, &x->dispatcher, dispatcher_stack, dispatch, x);
    if (error < 0)
        goto fail_key;
    error = take_main(x);
    if (error < 0)
        goto fail_stack;
    *ret = x;
    return 0;

fail_stack:
    orr_self = NULL;
    free_stack(x, &x->dispatcher);
fail_key:
    pthread_key_delete(x->main_key);
fail:
    if (x)
        orr_timers_done(&x->timers);
    free(root);
    free(x);
    return error;
}

void orr_sim_exec_free(struct orr_sim_exec *exec)
{
    if (!exec)
        return;
    while (exec->newest != exec->main)
        free_context(exec, exec->newest);
    free_stack(exec, &exec->dispatcher);
    if (exec->kept)
        exec->drop(exec->kept);
    orr_timers_done(&exec->timers);
    pthread_key_delete(exec->main_key);
    if (orr_self == &exec->main->head)
        orr_self = NULL;
    free(exec->main);
    free(exec);
}

struct orr_sim_exec *orr_sim_exec_current(void)
{
    return orr_self && orr_self->exec->ops->park == sim_park
               ? exec_of(orr_self->exec)
               : NULL;
}

void orr_sim_exec_join(struct orr_sim_exec *exec, struct orr_sim_user *user)
{
    struct orr_sim_user **link = &exec->users;

    while (*link)
        link = &(*link)->next;
    *link = user;
    user->exec = exec;
    user->program = orr_self->program;
    user->next = NULL;
    user->break_us = ORR_FOREVER;
}

void orr_sim_exec_quit(struct orr_sim_user *user)
{
    struct orr_sim_user **link = &user->exec->users;

    while (*link != user)
        link = &(*link)->next;
    *link = user->next;
    find_next_break(user->exec);
}

void orr_sim_exec_break_at(struct orr_sim_user *user, double us)
{
    user->break_us = us;
    find_next_break(user->exec);
}

/* Of one date those of the oldest machine. */
static bool is_before(struct orr_heap_link *a, struct orr_heap_link *b)
{
    const struct orr_sim_events *one =
        orr_container(a, struct orr_sim_events, dated);
    const struct orr_sim_events *other =
        orr_container(b, struct orr_sim_events, dated);

    return one->date_us < other->date_us ||
           (one->date_us == other->date_us && one->age < other->age);
}

static bool is_older(struct orr_heap_link *a, struct orr_heap_link *b)
{
    return orr_container(a, struct orr_sim_events, asked)->age <
           orr_container(b, struct orr_sim_events, asked)->age;
}

void orr_sim_exec_add_events(struct orr_sim_exec *exec,
                             struct orr_sim_events *events)
{
    events->age = exec->nadded++;
    events->next_us = events->date_us = ORR_FOREVER;
}

void orr_sim_exec_remove_events(struct orr_sim_exec *exec,
                                struct orr_sim_events *events)
{
    orr_sim_exec_set_events(exec, events, ORR_FOREVER);
}

static void exec_date_events(struct orr_sim_exec *exec,
                             struct orr_sim_events *events, double us)
{
    double before = events->date_us;

    if (us < before && before < ORR_FOREVER) {
        events->date_us = us;
        orr_heap_bring_forward(&exec->dated, &events->dated, is_before);
        return;
    }
    if (before < ORR_FOREVER)
        orr_heap_remove(&exec->dated, &events->dated, is_before);
    events->date_us = us;
    if (us < ORR_FOREVER)
        orr_heap_insert(&exec->dated, &events->dated, is_before);
}

static struct orr_sim_events *first_events(struct orr_sim_exec *exec)
{
    if (exec->asked.first)
        return orr_container(exec->asked.first, struct orr_sim_events, asked);
    if (exec->dated.first)
        return orr_container(exec->dated.first, struct orr_sim_events, dated);
    return &exec->no_events;
}

void orr_sim_exec_move_events(struct orr_sim_exec *exec,
                              struct orr_sim_events *events, double us)
{
    if (events->next_us == -ORR_FOREVER)
        orr_heap_remove(&exec->asked, &events->asked, is_older);
    events->next_us = us;
    if (us == -ORR_FOREVER)
        orr_heap_insert(&exec->asked, &events->asked, is_older);
    else if (us != events->date_us)
        exec_date_events(exec, events, us);
    exec->events = first_events(exec);
}

void orr_sim_exec_set_timer(struct orr_sim_exec *exec, struct orr_timer *timer,
                            double date)
{
    orr_timers_set(&exec->timers, timer, date < exec->now ? exec->now : date);
}
