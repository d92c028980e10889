/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/ends.c - see ends.h. The end of a process is the process's: what is
 * known of it stands at file scope.
 *
 * A signal handler, or another thread, cannot write files while the simulation
 * may be anywhere, in malloc for instance. It asks for the end instead: it
 * exchanges the table of the calls that block, which every simulation makes
 * all the time and never inside anything, for one that ends the process. If
 * none comes for a while, because the application computes or waits by itself,
 * an alarm does the same wherever the simulation stands, and if that goes
 * wrong, only the files are lost: the process still dies of its signal.
 *
 * The threads of a real run may be anywhere, too, the one that the handler stops in
 * malloc for instance: a thread that does nothing else writes trace and graph. One that
 * crashes waits in the handler meanwhile. If it holds a lock that the writer needs, the
 * alarm ends the process.
 */
#include "core/ends.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "core/data/node.h"
#include "core/device/leftovers.h"
#include "core/device/simulated.h"
#include "core/device/threads.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/observe/calls.h"
#include "core/observe/deadlock.h"
#include "core/observe/progress.h"
#include "core/observe/report.h"
#include "core/remote_ops.h"

enum { FAILURE = -1 }; /* instead of a signal's number */

static const suseconds_t patience_us = 200000;
static const time_t deadline_s = 60, crash_deadline_s = 10;
static const double same_s = 1;

/* Behind the first ones those of crashes. */
enum { NASKING = 3, NSIGNALS = 5 };
static const int signals[NSIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGABRT, SIGSEGV};

static bool is_crash(int number)
{
    return number == SIGABRT || number == SIGSEGV;
}

static struct {
    /* The run to save, or NULL; of a simulation of several ranks those of the others are behind
     * it (`also`). */
    _Atomic(struct orr_runtime *) open;
    atomic_int reason;          /* a signal's number, FAILURE, 0: none … */
    _Atomic double asked_s;     /* … and when that came */
    _Atomic pid_t process;      /* children of fork have nothing to save */
    struct orr_exec_ops ending; /* exchanged for the machine's own */
    struct sigaction before[NSIGNALS]; /* of the signals below */
    atomic_int nasking;         /* calls of orr_ends_interrupt under way */
    sem_t asked;                /* a real run's end: the saver waits for that */
    pthread_t saver;
    bool may_ask;        /* [lock] there is the semaphore … */
    atomic_bool saves;   /* [lock] for writing: … and the thread */
    atomic_bool off;     /* [lock] for writing: signals are not to be caught */
    orr_leave_fn leave; /* [main] in place of the process's end, or NULL */
    void *leave_arg;
    bool registered;      /* [lock] with atexit */
    pthread_mutex_t lock; /* of runs that are opened and closed at once; no handler, nor
                           * the saver, takes it */
} ends = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What the process has made for itself goes with it. Safe in signal handlers. */
static void clean_up(void)
{
    if (getpid() == ends.process)
        orr_leftovers_remove();
}

static void leave(int status)
{
    if (!ends.leave)
        return;
    ends.leave(ends.leave_arg, status);
    _exit(status);
}

/* What ranks have written that is not printed yet. */
static void end_turn(void)
{
    if (orr_self && orr_self->exec && orr_self->exec->turn_ends)
        orr_self->exec->turn_ends(true);
}

_Noreturn void orr_ends_exit(int status)
{
    end_turn();
    leave(status);
    clean_up();
    fflush(NULL);
    _exit(status);
}

static _Noreturn void die(int reason)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t set;

    leave(reason > 0 ? 128 + reason : 1);
    clean_up();
    if (reason > 0) {
        sigaction(reason, &action, NULL);
        sigemptyset(&set);
        sigaddset(&set, reason);
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
        raise(reason);
    }
    _exit(1);
}

static void set_alarm(time_t s, suseconds_t us, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    struct itimerval timer = {.it_value = {s, us}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void give_up(int number)
{
    (void)number;
    die(atomic_load(&ends.reason));
}

/* Writes what can be read where the run stands. */
static void save(struct orr_runtime *rt, const char *how)
{
    if (rt->sim) {
        orr_report_write(rt, how);
    } else {
        orr_report_write_beside(rt);
        orr_calls_close(rt, how);
    }
}

static void save_all(struct orr_runtime *rt, const char *how)
{
    for (; rt; rt = atomic_load(&rt->also))
        save(rt, how);
}

/* Saves what there is and ends the process. */
static _Noreturn void end_now(void)
{
    struct orr_runtime *rt = atomic_exchange(&ends.open, NULL);
    int reason = atomic_load(&ends.reason);

    if (!ends.leave)
        set_alarm(is_crash(reason) ? crash_deadline_s : deadline_s, 0, give_up);
    if (rt)
        orr_progress_leave(rt);
    save_all(rt, reason > 0 ? "signal" : "error");
    die(reason);
}

/* --- at a place where nothing is half done --- */

static _Noreturn void end_at_rest(void)
{
    /* Another thread may hold a stream for ever: its process goes on. */
    if (atomic_load(&ends.reason) == FAILURE && !ends.leave)
        fflush(NULL);
    end_now();
}

static void end_instead_of_park(struct orr_exec *exec, double until_us)
{
    (void)exec;
    (void)until_us;
    end_at_rest();
}

static void end_instead_of_sleep(struct orr_exec *exec, double us)
{
    (void)exec;
    (void)us;
    end_at_rest();
}

static void end_instead_of_join(struct orr_exec *exec,
                                struct orr_context *context)
{
    (void)exec;
    (void)context;
    end_at_rest();
}

/* --- anywhere --- */

static void on_alarm(int number)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT};
    struct sigaction action = {.sa_handler = give_up};
    struct orr_runtime *rt = atomic_load(&ends.open);
    pthread_t thread;

    if (!rt)
        return; /* it is being saved */
    thread = (pthread_t)__atomic_load_n(&rt->exec->thread, __ATOMIC_ACQUIRE);
    if (thread && !pthread_equal(pthread_self(), thread)) {
        pthread_kill(thread, number);
        return;
    }
    for (unsigned i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
        sigaction(crashes[i], &action, NULL);
    end_now();
}

/* Of a real run: writes what there is when a signal has come, and ends the process. Without
 * a reason the run has ended; after a failure another thread ends the process. */
static void *save_when_asked(void *arg)
{
    while (sem_wait(&ends.asked) != 0 && errno == EINTR)
        ;
    if (atomic_load(&ends.reason) > 0) {
        struct orr_runtime *rt = atomic_load(&ends.open);

        if (rt && !rt->exec->ops->adopt(rt->exec)) /* no memory */
            die(atomic_load(&ends.reason));
        end_now();
    }
    while (atomic_load(&ends.reason))
        pause();
    return arg;
}

/* No signal is handled by the saver itself. Without one, signals are as they were. */
static void start_saver(void)
{
    sigset_t all, before;

    /* Once per process: a handler of the run before may be late. */
    if (!ends.may_ask && sem_init(&ends.asked, 0, 0) != 0)
        return;
    ends.may_ask = true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    orr_threads_count_helper(1);
    ends.saves = pthread_create(&ends.saver, NULL, save_when_asked, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!ends.saves)
        orr_threads_count_helper(-1);
}

/* Does not return if the process is about to end by a signal. */
static void stop_saver(void)
{
    if (!ends.saves || getpid() != ends.process)
        return;
    sem_post(&ends.asked);
    pthread_join(ends.saver, NULL);
    orr_threads_count_helper(-1);
    ends.saves = false;
}

/* Whether what the run has recorded can be written where a signal comes. */
static bool can_save(const struct orr_runtime *rt)
{
    return rt->sim || ends.saves;
}

/* Returns false when the end was asked for before. Safe in signal handlers. */
static bool ask(struct orr_runtime *rt, int reason)
{
    int none = 0;

    if (!atomic_compare_exchange_strong(&ends.reason, &none, reason))
        return false;
    if (!rt->sim) {
        sem_post(&ends.asked);
        return true;
    }
    __atomic_store_n(&rt->exec->ops, &ends.ending, __ATOMIC_RELEASE);
    /* A run that is left cannot be wherever it stands. */
    if (!ends.leave)
        set_alarm(0, patience_us, on_alarm);
    return true;
}

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void on_signal(int number)
{
    struct orr_runtime *rt = atomic_load(&ends.open);
    double now = now_s();

    if (getpid() != ends.process || (rt && !can_save(rt)))
        die(number);
    if (atomic_load(&ends.reason) == 0)
        atomic_store(&ends.asked_s, now);
    if (rt && ask(rt, number))
        return;
    /* Who asks twice does not want to wait; but one interrupt may come twice, from
     * the terminal and from a command that passes it on. */
    if (atomic_load(&ends.reason) == 0 ||
        now - atomic_load(&ends.asked_s) > same_s)
        die(number);
}

/* In the thread of a real run that crashes, which goes no further. */
static void on_crash(int number)
{
    struct orr_runtime *rt = atomic_load(&ends.open);

    if (!rt || getpid() != ends.process || !can_save(rt))
        die(number);
    ask(rt, number); /* else the process ends already */
    for (;;)
        pause();
}

void orr_ends_interrupt(void)
{
    struct orr_runtime *rt;

    atomic_fetch_add(&ends.nasking, 1);
    rt = atomic_load(&ends.open);
    if (rt && ends.leave)
        ask(rt, SIGINT);
    atomic_fetch_sub(&ends.nasking, 1);
}

/* Another thread, which is no context, may still ask for the end of a run that is not
 * open any more. */
static void await_asking(void)
{
    while (atomic_load(&ends.nasking) > 0)
        sched_yield();
}

_Noreturn void orr_ends_fail(struct orr_runtime *rt, const char *how)
{
    if (rt->remote)
        rt->remote->process_fails(rt);
    if (how) {
        orr_ends_forget(rt);
        orr_report_write(rt, how);
        if (rt->sim)
            save_all(atomic_exchange(&ends.open, NULL), "error");
        orr_ends_exit(1);
    }
    if (orr_self && orr_self->runtime == rt) {
        atomic_store(&ends.reason, FAILURE);
        end_at_rest();
    }
    if (atomic_load(&ends.open) == rt && rt->sim)
        ask(rt, FAILURE);
    else
        die(FAILURE);
    for (;;)
        pause();
}

/* --- the others --- */

/* The application may have set a handler of its own meanwhile. */
static void restore_signals(void)
{
    for (unsigned i = 0; i < NSIGNALS; i++) {
        struct sigaction now;

        sigaction(signals[i], NULL, &now);
        if (now.sa_handler == on_signal || now.sa_handler == on_crash)
            sigaction(signals[i], &ends.before[i], NULL);
    }
}

/* Registered once per process; a run that is open then was left by exit(). */
static void at_exit(void)
{
    struct orr_runtime *rt = NULL;

    if (getpid() == ends.process) {
        orr_ends_settle(atomic_load(&ends.open));
        rt = atomic_exchange(&ends.open, NULL);
    }
    if (rt && (orr_self || !rt->sim))
        save_all(rt, orr_count_unfinished(rt) == 0 ? "returned" : "exit");
    clean_up();
}

static bool on_deadlock(struct orr_runtime *rt, enum orr_deadlock_step step)
{
    if (step == ORR_DEADLOCK_RELIEVES)
        return orr_memory_relieve(rt) || orr_drop_left(rt);
    if (step == ORR_DEADLOCK_ENDS)
        orr_ends_exit(3);
    ORR_TELL(rt, ORR_TOLD_STANDS_STILL);
    atomic_store(&ends.open, NULL);
    orr_progress_leave(rt);
    orr_deadlock_explain(rt);
    orr_report_write(rt, "deadlock");
    return false;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}, now;
    unsigned n = ends.saves || orr_leftovers_exist() ? NSIGNALS : NASKING;

    for (unsigned i = 0; i < n && !ends.leave; i++) {
        action.sa_handler = i < NASKING ? on_signal : on_crash;
        sigaction(signals[i], NULL, &now);
        if (now.sa_handler == action.sa_handler)
            continue;
        ends.before[i] = now;
        if (now.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    }
}

/* Whether anything is to be done before the process dies of a signal. */
static bool has_to_end(const struct orr_runtime *rt)
{
    return can_save(rt) || orr_leftovers_exist();
}

static bool leaves_files(const struct orr_config *config)
{
    return orr_config_string(config, ORR_CFG_TRACE) ||
           orr_config_string(config, ORR_CFG_GRAPH) ||
           orr_config_string(config, ORR_CFG_RECORD);
}

static void watch_locked(struct orr_runtime *rt)
{
    struct orr_runtime *first = atomic_load(&ends.open);

    /* Of several runs in one process the first one is saved, and those of its simulation. */
    if (first && ends.process == getpid()) {
        if (rt->sim && rt->exec == first->exec) {
            atomic_store(&rt->also, atomic_load(&first->also));
            atomic_store(&first->also, rt);
        }
        return;
    }
    if (!ends.registered)
        ends.registered = atexit(at_exit) == 0;
    ends.process = getpid();
    atomic_store(&ends.reason, 0);
    if (rt->sim) {
        ends.ending = *rt->exec->ops;
        ends.ending.park = end_instead_of_park;
        ends.ending.sleep = end_instead_of_sleep;
        ends.ending.work = end_instead_of_sleep;
        ends.ending.join = end_instead_of_join;
    }
    atomic_store(&ends.open, rt);
    if (!rt->sim && leaves_files(&rt->config))
        start_saver();
    ends.off = false;
    if (has_to_end(rt))
        catch_signals();
}

void orr_ends_watch(struct orr_runtime *rt)
{
    if (rt->sim)
        rt->sim->on_deadlock(rt->machine, on_deadlock, rt);
    pthread_mutex_lock(&ends.lock);
    watch_locked(rt);
    pthread_mutex_unlock(&ends.lock);
}

void orr_ends_note_made(const struct orr_runtime *rt)
{
    pthread_mutex_lock(&ends.lock);
    if (!ends.off && atomic_load(&ends.open) == rt && has_to_end(rt))
        catch_signals();
    pthread_mutex_unlock(&ends.lock);
}

void orr_ends_leave(orr_leave_fn leave_fn, void *arg)
{
    ends.leave = leave_fn;
    ends.leave_arg = arg;
}

bool orr_ends_catches(void)
{
    return !ends.off;
}

void orr_ends_catch(struct orr_runtime *rt, bool on)
{
    pthread_mutex_lock(&ends.lock);
    ends.off = !on;
    if (has_to_end(rt) && on)
        catch_signals();
    else if (has_to_end(rt))
        restore_signals();
    pthread_mutex_unlock(&ends.lock);
}

static void settle_locked(void)
{
    if (!ends.saves)
        return;
    restore_signals();
    stop_saver();
}

void orr_ends_settle(struct orr_runtime *rt)
{
    pthread_mutex_lock(&ends.lock);
    if (atomic_load(&ends.open) == rt)
        settle_locked();
    pthread_mutex_unlock(&ends.lock);
}

void orr_ends_forget_left(struct orr_runtime *rt)
{
    struct orr_runtime *expected = rt;

    (void)atomic_compare_exchange_strong(&ends.open, &expected, NULL);
    await_asking();
    atomic_store(&ends.reason, 0);
}

/* Whether others of the simulation are watched: they go on being so. */
static bool leave_others(struct orr_runtime *rt)
{
    struct orr_runtime *at = atomic_load(&ends.open), *next = atomic_load(&rt->also);

    atomic_store(&rt->also, NULL);
    if (at == rt) {
        if (next)
            atomic_store(&ends.open, next);
        return next != NULL;
    }
    for (; at && atomic_load(&at->also) != rt; at = atomic_load(&at->also))
        ;
    if (at)
        atomic_store(&at->also, next);
    return at != NULL;
}

static void forget_locked(struct orr_runtime *rt)
{
    struct orr_runtime *expected = rt;

    if (atomic_load(&ends.reason) && atomic_load(&ends.open) && rt->sim &&
        rt->exec == atomic_load(&ends.open)->exec)
        end_at_rest();
    if (leave_others(rt) || (atomic_load(&ends.open) && atomic_load(&ends.open) != rt))
        return;
    settle_locked();
    if (atomic_load(&ends.reason) && atomic_load(&ends.open) == rt)
        end_at_rest();
    if (!atomic_compare_exchange_strong(&ends.open, &expected, NULL))
        return;
    await_asking();
    restore_signals();
}

void orr_ends_forget(struct orr_runtime *rt)
{
    pthread_mutex_lock(&ends.lock);
    forget_locked(rt);
    pthread_mutex_unlock(&ends.lock);
}
