/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/threads.c - see threads.h. Every entry may be called from any
 * thread that is a context; the lock guards the list of threads only.
 *
 * Park and wake meet in one word per context: a wake of a context that runs or
 * spins is one atomic exchange; only for one that sleeps in the kernel a
 * system call follows.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif
#include "core/device/threads.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/device/threads_private.h"

/* The number of looks for work of a context before it declares that it parks:
 * at intervals in which a submitting thread prepares several tasks, undisturbed
 * by readers of the lines that it writes, and then as a park does. */
enum { LOOKS = 8 };

/* How long a park looks for its token before it sleeps in the kernel. The first
 * phase costs a microsecond or two, which is what a wake through the kernel
 * would cost its sender; the second lets the other threads of the processor
 * run, maybe the one that will wake this one. */
enum { SPINS = 200, YIELDS = 20 };

struct threads {
    struct orr_exec head; /* first */
    struct orr_threads_options options;
    struct timespec origin;
    unsigned spins; /* [const] 0 with a single processor */
    struct thread main;
    pthread_key_t adopted_key; /* its destructor ends adopted contexts */
    struct thread *spare;  /* [registry.lock] contexts of threads that ended */
    atomic_uint ncontexts; /* spawned, adopted, and main */
    atomic_uint nadopted;  /* of these, adopted */
    /* ONE_PARK for each park for ever that there was, and 1 for each that lasts. */
    atomic_ullong parked;
    pthread_mutex_t gate; /* held while a context looks at those that are parked
                           * … */
    atomic_bool looking;  /* … which wait for it then, if they are woken */
    int settled;     /* [main] the kernel's number of that processor, + 1 */
    bool main_bound; /* [main] */
    cpu_set_t main_before; /* [main] its affinity before that */
};

/* The registry of the process: a thread that ends while its machine closes must
 * find out whether its context still exists before it looks at either. */
static struct {
    pthread_mutex_t lock;
    struct thread *threads; /* [lock] of all machines, spawned and adopted */
    atomic_int nhelpers;    /* threads that wake no context */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct threads *threads_of(struct orr_exec *exec)
{
    return (struct threads *)exec;
}

/* -- time ----------------------------------------------------------------- */

static double us_of_clock(struct orr_exec *exec, clockid_t clock)
{
    const struct timespec *origin = &threads_of(exec)->origin;
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)(now.tv_sec - origin->tv_sec) * 1e6 +
           (double)(now.tv_nsec - origin->tv_nsec) * 1e-3;
}

static double threads_now(struct orr_exec *exec)
{
    return us_of_clock(exec, CLOCK_MONOTONIC);
}

/* That of the system's last tick. */
static double threads_recently(struct orr_exec *exec)
{
#ifdef CLOCK_MONOTONIC_COARSE
    return us_of_clock(exec, CLOCK_MONOTONIC_COARSE);
#else
    return us_of_clock(exec, CLOCK_MONOTONIC);
#endif
}

static struct timespec timespec_of_us(double us)
{
    struct timespec ts = {0, 0};

    if (!(us > 0))
        return ts;
    if (us > 1e15) /* thirty years: no limit, without overflow */
        us = 1e15;
    ts.tv_sec = (time_t)(us / 1e6);
    ts.tv_nsec = (long)((us - (double)ts.tv_sec * 1e6) * 1e3);
    if (ts.tv_nsec > 999999999)
        ts.tv_nsec = 999999999;
    return ts;
}

static void threads_sleep(struct orr_exec *exec, double us)
{
    struct timespec left = timespec_of_us(us);

    (void)exec;
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

/* -- park and wake -------------------------------------------------------- */

/* Acquire pairs with wake's release: what the waker wrote is seen. */
static bool take_token(struct thread *self)
{
    unsigned expected = TOKEN;

    if (atomic_load_explicit(&self->token, memory_order_relaxed) != TOKEN)
        return false;
    return atomic_compare_exchange_strong_explicit(
        &self->token, &expected, NO_TOKEN, memory_order_acquire,
        memory_order_relaxed);
}

static bool spin_for_token(const struct threads *threads, struct thread *self)
{
    for (unsigned i = 0; i < threads->spins; i++) {
        if (take_token(self))
            return true;
        orr_exec_pause();
    }
    for (unsigned i = 0; i < YIELDS; i++) {
        if (take_token(self))
            return true;
        sched_yield();
    }
    return false;
}

static bool threads_linger(struct orr_exec *exec, unsigned n)
{
    const struct threads *threads = threads_of(exec);
    unsigned most = threads->options.most_pauses;
    uint64_t pauses = (uint64_t)threads->options.first_pauses << n % LOOKS;

    if (threads->spins == 0 || most == 0 || n >= LOOKS + YIELDS)
        return false;
    if (n >= LOOKS)
        sched_yield();
    for (unsigned i = 0; n < LOOKS && i < most && i < pauses; i++)
        orr_exec_pause();
    return true;
}

/* Sleeps in the kernel while the state is SLEEPING; may return early. */
static void futex_wait(atomic_uint *word, double us)
{
    struct timespec timeout = timespec_of_us(us);

    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, SLEEPING,
            us < ORR_FOREVER ? &timeout : NULL, NULL, 0);
}

void orr_threads_count_helper(int change)
{
    atomic_fetch_add(&registry.nhelpers, change);
}

/* Whether the process has threads that are no contexts; so if in doubt. */
static bool has_others(const struct threads *threads)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *entry;
    unsigned n = 0;

    if (!tasks)
        return true;
    while ((entry = readdir(tasks)))
        n += entry->d_name[0] != '.';
    closedir(tasks);
    return n != atomic_load(&threads->ncontexts) +
                    (unsigned)atomic_load(&registry.nhelpers);
}

/* Whether the context that runs on the thread sleeps. */
static bool is_asleep(const struct thread *thread)
{
    const struct thread *turn = atomic_load(&thread->turn);

    return atomic_load(turn ? &turn->token : &thread->token) == SLEEPING;
}

/* Whether it is a thread of the application, but main. */
static bool is_adopted(const struct thread *thread)
{
    return thread->self && thread != &threads_of(thread->head.exec)->main;
}

#define ONE_PARK (1ULL << 32)

/* Whether hardly anybody can be awake: all, but for threads of the application.
 * One that was woken by another before that one slept has its token, though it is
 * still counted. */
static bool seem_parked(struct threads *threads)
{
    return (unsigned)atomic_load(&threads->parked) +
               atomic_load(&threads->nadopted) >=
           atomic_load(&threads->ncontexts);
}

/* Whether all are parked, but for threads of the application; *ret_own: of which
 * some are not. */
static bool are_parked(struct threads *threads, bool *ret_own)
{
    bool parked;

    *ret_own = false;
    pthread_mutex_lock(&registry.lock);
    parked = !threads->main.self || is_asleep(&threads->main);
    for (const struct thread *t = registry.threads; t && parked; t = t->next) {
        if (threads_of(t->head.exec) != threads || is_asleep(t))
            continue;
        parked = is_adopted(t);
        *ret_own = true;
    }
    pthread_mutex_unlock(&registry.lock);
    if (*ret_own)
        return parked;
    return parked && (unsigned)atomic_load(&threads->parked) ==
                         atomic_load(&threads->ncontexts);
}

/* Asks what to do if all are parked; returns the µs after which to ask again. A
 * context that is woken by a thread which the machine does not know, and a
 * thread that becomes a context, declares that first and then looks whether it
 * has to wait: either that is seen here, or it waits. If the process has no
 * other threads none has to wait, and the run may end. */
static double threads_ask_all_parked(struct threads *threads, double since)
{
    struct orr_exec *exec = &threads->head;
    double (*all_parked)(void *arg, enum orr_parked who, double since) =
        __atomic_load_n(&exec->all_parked, __ATOMIC_ACQUIRE);
    double again = ORR_FOREVER;
    bool own, parked, alone = false;

    if (!all_parked)
        return ORR_FOREVER;
    pthread_mutex_lock(&threads->gate);
    atomic_store(&threads->looking, true);
    parked = are_parked(threads, &own) &&
             __atomic_load_n(&exec->noutside, __ATOMIC_ACQUIRE) == 0;
    if (parked)
        alone = !own && !has_others(threads);
    if (parked && !alone)
        again = all_parked(exec->all_parked_arg,
                           own ? ORR_PARKED_OWN : ORR_PARKED_KNOWN, since);
    atomic_store(&threads->looking, false);
    pthread_mutex_unlock(&threads->gate);
    return alone ? all_parked(exec->all_parked_arg, ORR_PARKED_ALL, since)
                 : again;
}

/* Another context may be looking at those that are parked; the caller was one
 * of them, or was not known. */
static void let_look(struct threads *threads)
{
    if (!atomic_load(&threads->looking))
        return;
    pthread_mutex_lock(&threads->gate);
    pthread_mutex_unlock(&threads->gate);
}

/* Sleeps, though not for longer than that; false: it was not woken in that
 * time. */
static bool sleep_for(struct threads *threads, struct thread *self, double us)
{
    double end = threads_now(&threads->head) + us, left = us;

    for (; left > 0; left = end - threads_now(&threads->head)) {
        futex_wait(&self->token, left);
        if (atomic_load(&self->token) != SLEEPING)
            return true;
    }
    return false;
}

/* The last context that parks asks what that means, and once more later if none
 * has parked meanwhile: then none was woken either, or one is awake and will be
 * the last. */
static void sleep_for_ever(struct threads *threads, struct thread *self)
{
    unsigned long long parked =
        atomic_fetch_add(&threads->parked, ONE_PARK + 1) + ONE_PARK + 1;
    double begin = 0, again = ORR_FOREVER;

    if (seem_parked(threads)) {
        begin = threads_now(&threads->head);
        again = threads_ask_all_parked(threads, 0);
    }
    while (again < ORR_FOREVER && !sleep_for(threads, self, again))
        again = atomic_load(&threads->parked) == parked
                    ? threads_ask_all_parked(
                          threads, threads_now(&threads->head) - begin)
                    : ORR_FOREVER;
    if (!(again < ORR_FOREVER))
        futex_wait(&self->token, ORR_FOREVER);
    atomic_fetch_sub(&threads->parked, 1);
    let_look(threads);
}

static void sleep_on(struct threads *threads, struct thread *self, double left)
{
    if (left < ORR_FOREVER)
        futex_wait(&self->token, left);
    else
        sleep_for_ever(threads, self);
}

static void threads_park(struct orr_exec *exec, double until_us)
{
    struct thread *self = orr_thread_of(orr_self);
    unsigned expected = NO_TOKEN;
    double left = ORR_FOREVER;

    assert(self && self->head.exec == exec);
    if (spin_for_token(threads_of(exec), self))
        return;
    if (until_us < ORR_FOREVER) {
        left = until_us - threads_now(exec);
        if (!(left > 0))
            return;
    }
    /* Fails when the token has come meanwhile. */
    if (atomic_compare_exchange_strong_explicit(&self->token, &expected,
                                                SLEEPING, memory_order_acquire,
                                                memory_order_acquire))
        sleep_on(threads_of(exec), self, left);
    /* Whether woken, timed out or interrupted: the next park starts afresh, and
     * a token that was there is consumed by this one. */
    atomic_exchange_explicit(&self->token, NO_TOKEN, memory_order_acquire);
}

static void threads_wake(struct orr_exec *exec, struct orr_context *context)
{
    struct thread *thread = orr_thread_of(context);
    unsigned before =
        atomic_exchange_explicit(&thread->token, TOKEN, memory_order_acq_rel);

    if (before == SLEEPING)
        syscall(SYS_futex, &thread->token, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
                0);
    else if (before == WAITING)
        exec->woken(context);
    else if (before == SPARE)
        exec->missed(context);
}

static void threads_relax(struct orr_exec *exec)
{
    (void)exec;
    sched_yield();
}

/* -- contexts ------------------------------------------------------------- */

static void threads_enter_locked(struct thread *thread)
{
    thread->next = registry.threads;
    thread->link = &registry.threads;
    if (thread->next)
        thread->next->link = &thread->next;
    registry.threads = thread;
    if (is_adopted(thread))
        atomic_fetch_add(&threads_of(thread->head.exec)->nadopted, 1);
    atomic_fetch_add(&threads_of(thread->head.exec)->ncontexts, 1);
}

static void threads_leave_locked(struct thread *thread)
{
    *thread->link = thread->next;
    if (thread->next)
        thread->next->link = thread->link;
    atomic_fetch_sub(&threads_of(thread->head.exec)->ncontexts, 1);
    if (is_adopted(thread))
        atomic_fetch_sub(&threads_of(thread->head.exec)->nadopted, 1);
}

static void threads_leave(struct thread *thread)
{
    pthread_mutex_lock(&registry.lock);
    threads_leave_locked(thread);
    pthread_mutex_unlock(&registry.lock);
}

static int bind_self(const struct threads *threads, int cpu)
{
    cpu_set_t set;

    if (threads->options.bind)
        return threads->options.bind(cpu, threads->options.arg);
    if (cpu >= CPU_SETSIZE)
        return -EINVAL;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof(set), &set) == 0 ? 0 : -errno;
}

static void *thread_main(void *arg)
{
    struct thread *self = arg;

    orr_self = &self->head;
    if (self->cpu >= 0 && bind_self(threads_of(self->head.exec), self->cpu) < 0)
        orr_log_warning("%s could not be bound to processor %d; it runs "
                        "unbound (STARPU_WORKERS_NOBIND=1 does so without a "
                        "message)",
                        self->head.name ? self->head.name : "a thread",
                        self->cpu);
    self->body(self->arg);
    orr_self = NULL;
    return NULL;
}

/* Errors as pthread_create's. */
static int thread_create(struct thread *thread, size_t stack_size)
{
    pthread_attr_t attr;
    int error = pthread_attr_init(&attr);

    if (error)
        return error;
    error = pthread_attr_setstacksize(&attr, stack_size);
    if (!error)
        error = pthread_create(&thread->id, &attr, thread_main, thread);
    pthread_attr_destroy(&attr);
    return error;
}

static int threads_spawn(struct orr_exec *exec, const struct orr_context *init,
                         int cpu, void (*body)(void *), void *arg,
                         struct orr_context **ret)
{
    struct thread *thread = calloc(1, sizeof(*thread));
    int error;

    if (!thread)
        return -ENOMEM;
    orr_thread_init_head(thread, exec, init);
    thread->cpu = cpu;
    thread->body = body;
    thread->arg = arg;
    pthread_mutex_lock(&registry.lock);
    threads_enter_locked(thread);
    pthread_mutex_unlock(&registry.lock);
    error = thread_create(thread, exec->stack_size);
    if (error) {
        threads_leave(thread);
        free(thread);
        return -error;
    }
    *ret = &thread->head;
    return 0;
}

static void threads_join(struct orr_exec *exec, struct orr_context *context)
{
    struct thread *thread = orr_thread_of(context);

    (void)exec;
    pthread_join(thread->id, NULL);
    threads_leave(thread);
    free(thread);
}

/* -- threads of the application ------------------------------------------- */

/* Whether the calling thread's context is in the list. The machine that made it
 * may have closed, and its memory be another thread's context now. */
static bool is_mine_locked(const struct thread *mine)
{
    for (const struct thread *t = registry.threads; t; t = t->next)
        if (t == mine && t->self)
            return pthread_equal(t->id, pthread_self());
    return false;
}

/* Runs when an adopted thread ends, or main, whose run another thread may
 * close. Its context stays for the next one: its last waker may still be about
 * to touch it. */
static void end_adopted(void *value)
{
    struct thread *thread = value;

    pthread_mutex_lock(&registry.lock);
    if (is_mine_locked(thread)) {
        struct threads *threads = threads_of(thread->head.exec);

        threads_leave_locked(thread);
        if (is_adopted(thread)) {
            thread->next = threads->spare;
            threads->spare = thread;
        } else {
            thread->self = NULL;
        }
        if (orr_self == &thread->head)
            orr_self = NULL;
    }
    pthread_mutex_unlock(&registry.lock);
}

/* A context of a thread that has ended, or a new one; NULL without memory. */
static struct thread *threads_take_spare(struct threads *threads)
{
    struct thread *thread;

    pthread_mutex_lock(&registry.lock);
    thread = threads->spare;
    if (thread)
        threads->spare = thread->next;
    pthread_mutex_unlock(&registry.lock);
    if (!thread)
        return calloc(1, sizeof(*thread));
    /* The token may still be written: a park that finds it returns early. */
    memset(&thread->head, 0, sizeof(thread->head));
    return thread;
}

static struct orr_context *threads_adopt(struct orr_exec *exec)
{
    struct threads *threads = threads_of(exec);
    struct thread *thread = threads_take_spare(threads);
    bool known;

    if (!thread)
        return NULL;
    thread->head.exec = exec;
    thread->head.name = "a thread of the application";
    thread->id = pthread_self();
    thread->self = &orr_self;
    known = pthread_setspecific(threads->adopted_key, thread) == 0;
    pthread_mutex_lock(&registry.lock);
    if (known) {
        threads_enter_locked(thread);
    } else {
        thread->next = threads->spare;
        threads->spare = thread;
    }
    pthread_mutex_unlock(&registry.lock);
    let_look(threads);
    orr_self = known ? &thread->head : NULL;
    return orr_self;
}

/* Remaining threads must not find a context of a machine that is gone, nor must main,
 * if another one closes it. */
static void forget_adopted(struct threads *threads)
{
    struct thread *next;

    pthread_mutex_lock(&registry.lock);
    for (struct thread *t = registry.threads; t; t = next) {
        next = t->next;
        if (!t->self || threads_of(t->head.exec) != threads)
            continue;
        threads_leave_locked(t);
        if (*t->self == &t->head)
            *t->self = NULL;
        if (is_adopted(t))
            free(t);
    }
    for (struct thread *t = threads->spare; t; t = next) {
        next = t->next;
        free(t);
    }
    pthread_mutex_unlock(&registry.lock);
}

/* -- beginning and end ---------------------------------------------------- */

static int threads_bind(struct orr_exec *exec, struct orr_context *context,
                        const int *cpus, unsigned n)
{
    const struct thread *thread = (struct thread *)context;
    cpu_set_t set;

    (void)exec;
    CPU_ZERO(&set);
    for (unsigned i = 0; i < n; i++) {
        if (cpus[i] < 0 || cpus[i] >= CPU_SETSIZE)
            return -EINVAL;
        CPU_SET(cpus[i], &set);
    }
    return -pthread_setaffinity_np(thread->id, sizeof(set), &set);
}

/* Those that the process may use. */
static unsigned count_processors(void)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    return online > 0 ? (unsigned)online : 1;
}

/* The context that runs on the thread. */
static struct orr_context *thread_runs(struct thread *thread)
{
    struct thread *turn = atomic_load(&thread->turn);

    return turn ? &turn->head : &thread->head;
}

static void threads_each(struct orr_exec *exec,
                         void (*visit)(struct orr_context *context, void *arg),
                         void *arg)
{
    struct threads *threads = threads_of(exec);

    pthread_mutex_lock(&registry.lock);
    if (threads->main.self)
        visit(thread_runs(&threads->main), arg);
    for (struct thread *t = registry.threads; t; t = t->next)
        if (threads_of(t->head.exec) == threads && t != &threads->main)
            visit(thread_runs(t), arg);
    pthread_mutex_unlock(&registry.lock);
}

static const struct orr_exec_ops threads_ops = {
    .now = threads_now,
    .recently = threads_recently,
    .spawn = threads_spawn,
    .join = threads_join,
    .park = threads_park,
    .wake = threads_wake,
    .work = threads_sleep,
    .sleep = threads_sleep,
    .relax = threads_relax,
    .linger = threads_linger,
    .bind = threads_bind,
    .beside = orr_threads_beside,
    .leave = orr_threads_leave,
    .forget = orr_threads_forget,
    .on_thread_stack = orr_threads_on_thread_stack,
    .adopt = threads_adopt,
    .each = threads_each,
};

/* Its end is noticed as those of adopted threads are; without memory for that it has
 * to close the machine itself. */
static void enter_main(struct threads *threads)
{
    if (pthread_setspecific(threads->adopted_key, &threads->main) != 0)
        orr_log_warning("out of memory: starpu_shutdown must be called by the "
                        "thread that has called starpu_init");
    pthread_mutex_lock(&registry.lock);
    threads_enter_locked(&threads->main);
    pthread_mutex_unlock(&registry.lock);
}

int orr_threads_new(const struct orr_threads_options *options,
                    struct orr_exec **ret)
{
    static const struct orr_threads_options usual = ORR_THREADS_OPTIONS;
    struct threads *threads = calloc(1, sizeof(*threads));
    int error;

    if (!threads)
        return -ENOMEM;
    error = pthread_key_create(&threads->adopted_key, end_adopted);
    if (error) {
        free(threads);
        return -error;
    }
    pthread_mutex_init(&threads->gate, NULL);
    threads->options = options ? *options : usual;
    threads->head.ops = &threads_ops;
    threads->head.stack_size = orr_fiber_default_size();
    threads->head.nprocessors = count_processors();
    threads->spins = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? SPINS : 0;
    clock_gettime(CLOCK_MONOTONIC, &threads->origin);
    threads->main.head.exec = &threads->head;
    threads->main.head.name = "main";
    threads->main.cpu = -1;
    threads->main.id = pthread_self();
    threads->main.self = &orr_self;
    orr_self = &threads->main.head;
    enter_main(threads);
    *ret = &threads->head;
    return 0;
}

int orr_threads_bind_main(struct orr_exec *exec, int cpu)
{
    struct threads *threads = threads_of(exec);
    int rc;

    if (sched_getaffinity(0, sizeof(threads->main_before),
                          &threads->main_before) < 0)
        return -errno;
    rc = bind_self(threads, cpu);
    threads->main_bound = rc == 0;
    return rc;
}

void orr_threads_settle(struct orr_exec *exec, int cpu)
{
    struct threads *threads = threads_of(exec);
    cpu_set_t before;

    if (cpu < 0 || sched_getcpu() + 1 == threads->settled ||
        sched_getaffinity(0, sizeof(before), &before) < 0)
        return;
    if (bind_self(threads, cpu) == 0)
        threads->settled = sched_getcpu() + 1;
    (void)sched_setaffinity(0, sizeof(before), &before);
}

void orr_threads_free(struct orr_exec *exec)
{
    struct threads *threads = threads_of(exec);

    if (!threads)
        return;
    if (threads->main_bound && threads->main.self)
        (void)pthread_setaffinity_np(threads->main.id,
                                     sizeof(threads->main_before),
                                     &threads->main_before);
    forget_adopted(threads);
    pthread_key_delete(threads->adopted_key);
    pthread_mutex_destroy(&threads->gate);
    free(threads);
}
