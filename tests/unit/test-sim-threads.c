/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-sim-threads.c - starpu_pthread_* and starpu_sem_*: each
 * scenario runs on the simulated machine and, where it gives the same result,
 * without any machine as plain POSIX.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <starpu.h>

#include "core/api/thread.h"
#include "tests/suite.h"
#include "tests/unit/sim-machine.h"

enum { REAL, SIMULATED, NMACHINES };

static struct orr_machine *machine;

static void open_machine(int kind)
{
    if (kind == SIMULATED)
        machine = sim_machine_open(&(struct sim_spec){.ncpu = 2});
}

static void teardown(void)
{
    if (machine) {
        orr_context_end();
        machine->ops->close(machine);
    }
    machine = NULL;
}

static double virtual_now(void)
{
    return machine->exec->ops->now(machine->exec);
}

static starpu_pthread_t create(void *(*routine)(void *), void *arg)
{
    starpu_pthread_t thread;

    ck_assert_int_eq(starpu_pthread_create(&thread, NULL, routine, arg), 0);
    return thread;
}

/* -- threads -------------------------------------------------------------- */

static void *return_next(void *arg)
{
    ck_assert(
        starpu_pthread_equal(starpu_pthread_self(), starpu_pthread_self()));
    starpu_usleep(10);
    return (char *)arg + 1;
}

START_TEST(threads_return_their_results)
{
    char base[4];
    starpu_pthread_t threads[3], self;
    void *result;

    open_machine(_i);
    self = starpu_pthread_self();
    for (int i = 0; i < 3; i++)
        threads[i] = create(return_next, base + i);
    ck_assert(!starpu_pthread_equal(threads[0], self));
    for (int i = 2; i >= 0; i--) {
        ck_assert_int_eq(starpu_pthread_join(threads[i], &result), 0);
        ck_assert_ptr_eq(result, base + i + 1);
    }
    ck_assert(starpu_pthread_equal(starpu_pthread_self(), self));
}
END_TEST

static void exit_deeply(int depth, void *result)
{
    if (depth > 0) {
        exit_deeply(depth - 1, result);
        ck_abort_msg("the thread went on");
    }
    if (result)
        starpu_pthread_exit(result);
}

static void *exit_with(void *arg)
{
    exit_deeply(5, arg);
    return NULL;
}

START_TEST(exit_gives_a_result_from_anywhere)
{
    int mark;
    void *result = NULL;

    open_machine(_i);
    ck_assert_int_eq(starpu_pthread_join(create(exit_with, &mark), &result), 0);
    ck_assert_ptr_eq(result, &mark);
}
END_TEST

static void *add_one(void *arg)
{
    __atomic_fetch_add((int *)arg, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

START_TEST(detached_threads_run_and_go)
{
    starpu_pthread_attr_t attr;
    starpu_pthread_t thread;
    int n = 0;

    open_machine(_i);
    starpu_pthread_attr_init(&attr);
    starpu_pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    starpu_pthread_attr_setstacksize(&attr, 1 << 20);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(starpu_pthread_create(&thread, &attr, add_one, &n), 0);
    starpu_pthread_attr_destroy(&attr);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(starpu_pthread_detach(create(add_one, &n)), 0);
    thread = create(add_one, &n);
    starpu_usleep(100);
    ck_assert_int_eq(starpu_pthread_detach(thread), 0);
    while (__atomic_load_n(&n, __ATOMIC_SEQ_CST) < 21)
        starpu_usleep(100);
}
END_TEST

START_TEST(joining_twice_or_oneself_is_an_error_when_simulated)
{
    open_machine(SIMULATED);
    ck_assert_int_eq(starpu_pthread_join(starpu_pthread_self(), NULL), EINVAL);
}
END_TEST

/* -- keys ----------------------------------------------------------------- */

static int ndestroyed;

static void destroy_value(void *value)
{
    ndestroyed += *(int *)value;
}

static starpu_pthread_key_t key;

static void *use_key(void *arg)
{
    ck_assert_ptr_null(starpu_pthread_getspecific(key));
    ck_assert_int_eq(starpu_pthread_setspecific(key, arg), 0);
    starpu_usleep(50);
    ck_assert_ptr_eq(starpu_pthread_getspecific(key), arg);
    return NULL;
}

START_TEST(keys_have_a_value_per_thread_and_destructors)
{
    int values[] = {1, 10, 100};
    starpu_pthread_t a, b;

    open_machine(_i);
    ndestroyed = 0;
    ck_assert_int_eq(starpu_pthread_key_create(&key, destroy_value), 0);
    starpu_pthread_setspecific(key, &values[0]);
    a = create(use_key, &values[1]);
    b = create(use_key, &values[2]);
    starpu_pthread_join(a, NULL);
    starpu_pthread_join(b, NULL);
    ck_assert_ptr_eq(starpu_pthread_getspecific(key), &values[0]);
    ck_assert_int_eq(ndestroyed, 110);
    starpu_pthread_key_delete(key);
    if (_i == SIMULATED) {
        orr_context_end();
        ck_assert_ptr_null(starpu_pthread_getspecific(key));
    }
}
END_TEST

/* -- mutexes and conditions ----------------------------------------------- */

struct account {
    starpu_pthread_mutex_t lock;
    starpu_pthread_cond_t changed;
    int balance, inside, worst;
};

static struct account zero_account; /* all-zero objects are valid */
static struct account static_account = {
    .lock = STARPU_PTHREAD_MUTEX_INITIALIZER,
    .changed = STARPU_PTHREAD_COND_INITIALIZER,
};

static void *pay_in(void *arg)
{
    struct account *a = arg;

    for (int i = 0; i < 20; i++) {
        starpu_pthread_mutex_lock(&a->lock);
        if (++a->inside > a->worst)
            a->worst = a->inside;
        starpu_usleep(3); /* a user's lock may be held while time passes */
        a->balance++;
        a->inside--;
        starpu_pthread_cond_signal(&a->changed);
        starpu_pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

static void check_account(struct account *a)
{
    starpu_pthread_t threads[4];

    a->balance = a->inside = a->worst = 0;
    for (int i = 0; i < 4; i++)
        threads[i] = create(pay_in, a);
    starpu_pthread_mutex_lock(&a->lock);
    while (a->balance < 80)
        starpu_pthread_cond_wait(&a->changed, &a->lock);
    starpu_pthread_mutex_unlock(&a->lock);
    for (int i = 0; i < 4; i++)
        starpu_pthread_join(threads[i], NULL);
    ck_assert_int_eq(a->worst, 1);
    ck_assert_int_eq(a->balance, 80);
}

START_TEST(a_mutex_excludes_and_a_condition_wakes)
{
    struct account a;

    open_machine(_i);
    starpu_pthread_mutex_init(&a.lock, NULL);
    starpu_pthread_cond_init(&a.changed, NULL);
    check_account(&a);
    ck_assert_int_eq(starpu_pthread_mutex_destroy(&a.lock), 0);
    ck_assert_int_eq(starpu_pthread_cond_destroy(&a.changed), 0);
    check_account(&zero_account);
    check_account(&static_account);
}
END_TEST

START_TEST(objects_go_from_one_machine_to_the_next)
{
    for (int i = 0; i < 4; i++) {
        open_machine(i % NMACHINES);
        check_account(&static_account);
        teardown();
    }
}
END_TEST

START_TEST(kinds_of_mutexes)
{
    starpu_pthread_mutexattr_t attr;
    starpu_pthread_mutex_t recursive, plain = STARPU_PTHREAD_MUTEX_INITIALIZER;
    int type;

    open_machine(_i);
    starpu_pthread_mutexattr_init(&attr);
    starpu_pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    starpu_pthread_mutexattr_gettype(&attr, &type);
    ck_assert_int_eq(type, PTHREAD_MUTEX_RECURSIVE);
    ck_assert_int_eq(starpu_pthread_mutex_init(&recursive, &attr), 0);
    starpu_pthread_mutexattr_destroy(&attr);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(starpu_pthread_mutex_lock(&recursive), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(starpu_pthread_mutex_unlock(&recursive), 0);
    ck_assert_int_eq(starpu_pthread_mutex_unlock(&recursive), EPERM);
    ck_assert_int_eq(starpu_pthread_mutex_destroy(&recursive), 0);

    ck_assert_int_eq(starpu_pthread_mutex_trylock(&plain), 0);
    ck_assert_int_eq(starpu_pthread_mutex_trylock(&plain), EBUSY);
    ck_assert_int_eq(starpu_pthread_mutex_unlock(&plain), 0);
    ck_assert_int_eq(starpu_pthread_mutex_lock_sched(&plain), 0);
    ck_assert_int_eq(starpu_pthread_mutex_unlock_sched(&plain), 0);
}
END_TEST

START_TEST(a_timed_wait_ends_in_virtual_time)
{
    starpu_pthread_mutex_t lock = STARPU_PTHREAD_MUTEX_INITIALIZER;
    starpu_pthread_cond_t never = STARPU_PTHREAD_COND_INITIALIZER;
    struct timespec date;
    double before;

    open_machine(SIMULATED);
    before = virtual_now();
    clock_gettime(CLOCK_REALTIME, &date);
    date.tv_sec += 3600;
    starpu_pthread_mutex_lock(&lock);
    ck_assert_int_eq(starpu_pthread_cond_timedwait(&never, &lock, &date),
                     ETIMEDOUT);
    starpu_pthread_mutex_unlock(&lock);
    ck_assert_double_eq(virtual_now(), before + 3600e6);
}
END_TEST

/* -- readers and writers -------------------------------------------------- */

struct book {
    starpu_pthread_rwlock_t lock;
    int readers, writers, most_readers, bad;
};

static void *read_book(void *arg)
{
    struct book *b = arg;

    starpu_pthread_rwlock_rdlock(&b->lock);
    if (__atomic_add_fetch(&b->readers, 1, __ATOMIC_SEQ_CST) > b->most_readers)
        b->most_readers = b->readers;
    starpu_usleep(1000);
    b->bad += b->writers;
    __atomic_sub_fetch(&b->readers, 1, __ATOMIC_SEQ_CST);
    starpu_pthread_rwlock_unlock(&b->lock);
    return NULL;
}

static void *write_book(void *arg)
{
    struct book *b = arg;

    starpu_pthread_rwlock_wrlock(&b->lock);
    b->bad += b->readers + b->writers;
    b->writers++;
    starpu_usleep(1000);
    b->writers--;
    starpu_pthread_rwlock_unlock(&b->lock);
    return NULL;
}

START_TEST(readers_share_and_writers_exclude)
{
    struct book b = {.lock = STARPU_PTHREAD_RWLOCK_INITIALIZER};
    starpu_pthread_t threads[6];

    open_machine(_i);
    for (int i = 0; i < 6; i++)
        threads[i] = create(i == 3 ? write_book : read_book, &b);
    for (int i = 0; i < 6; i++)
        starpu_pthread_join(threads[i], NULL);
    ck_assert_int_eq(b.bad, 0);
    if (_i == SIMULATED)
        ck_assert_int_eq(b.most_readers, 3); /* no reader passes the writer */
    ck_assert_int_eq(starpu_pthread_rwlock_tryrdlock(&b.lock), 0);
    ck_assert_int_eq(starpu_pthread_rwlock_tryrdlock(&b.lock), 0);
    ck_assert_int_eq(starpu_pthread_rwlock_trywrlock(&b.lock), EBUSY);
    starpu_pthread_rwlock_unlock(&b.lock);
    starpu_pthread_rwlock_unlock(&b.lock);
    ck_assert_int_eq(starpu_pthread_rwlock_trywrlock(&b.lock), 0);
    ck_assert_int_eq(starpu_pthread_rwlock_tryrdlock(&b.lock), EBUSY);
    starpu_pthread_rwlock_unlock(&b.lock);
    ck_assert_int_eq(starpu_pthread_rwlock_destroy(&b.lock), 0);
}
END_TEST

/* -- barriers, spin locks, semaphores, queues ----------------------------- */

struct meeting {
    starpu_pthread_barrier_t barrier;
    int serial, round, early;
};

static void *meet(void *arg)
{
    struct meeting *m = arg;

    for (int i = 1; i <= 5; i++) {
        __atomic_add_fetch(&m->round, 1, __ATOMIC_SEQ_CST);
        if (starpu_pthread_barrier_wait(&m->barrier) ==
            STARPU_PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_add_fetch(&m->serial, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&m->round, __ATOMIC_SEQ_CST) < 3 * i)
            m->early++;
        starpu_pthread_barrier_wait(&m->barrier);
    }
    return NULL;
}

START_TEST(a_barrier_lets_go_when_all_have_come)
{
    struct meeting m = {.serial = 0};
    starpu_pthread_t a, b;

    open_machine(_i);
    ck_assert_int_eq(starpu_pthread_barrier_init(&m.barrier, NULL, 3), 0);
    a = create(meet, &m);
    b = create(meet, &m);
    meet(&m);
    starpu_pthread_join(a, NULL);
    starpu_pthread_join(b, NULL);
    ck_assert_int_eq(m.serial, 5);
    ck_assert_int_eq(m.early, 0);
    ck_assert_int_eq(starpu_pthread_barrier_destroy(&m.barrier), 0);
}
END_TEST

static starpu_pthread_spinlock_t spin;
static int spun;

static void *spin_and_count(void *arg)
{
    (void)arg;
    for (int i = 0; i < 20; i++) {
        starpu_pthread_spin_lock(&spin);
        spun++;
        starpu_usleep(2);
        starpu_pthread_spin_unlock(&spin);
    }
    return NULL;
}

START_TEST(spin_locks_exclude_even_across_a_sleep)
{
    starpu_pthread_t a, b;

    open_machine(_i);
    spun = 0;
    starpu_pthread_spin_init(&spin, 0);
    a = create(spin_and_count, NULL);
    b = create(spin_and_count, NULL);
    starpu_pthread_join(a, NULL);
    starpu_pthread_join(b, NULL);
    ck_assert_int_eq(spun, 40);
    ck_assert_int_eq(starpu_pthread_spin_destroy(&spin), 0);
}
END_TEST

struct belt {
    starpu_sem_t full, empty;
    int n;
};

static void *consume(void *arg)
{
    struct belt *belt = arg;

    for (int i = 0; i < 50; i++) {
        starpu_sem_wait(&belt->full);
        belt->n++;
        starpu_sem_post(&belt->empty);
    }
    return NULL;
}

START_TEST(semaphores_count)
{
    struct belt belt = {.n = 0};
    starpu_pthread_t thread;
    int value;

    /* Made before the machine, used after. */
    ck_assert_int_eq(starpu_sem_init(&belt.full, 0, 0), 0);
    ck_assert_int_eq(starpu_sem_init(&belt.empty, 0, 2), 0);
    open_machine(_i);
    ck_assert_int_eq(starpu_sem_trywait(&belt.full), -1);
    ck_assert_int_eq(errno, EAGAIN);
    thread = create(consume, &belt);
    for (int i = 0; i < 50; i++) {
        starpu_sem_wait(&belt.empty);
        starpu_sem_post(&belt.full);
    }
    starpu_pthread_join(thread, NULL);
    ck_assert_int_eq(belt.n, 50);
    ck_assert_int_eq(starpu_sem_getvalue(&belt.empty, &value), 0);
    ck_assert_int_eq(value, 2);
    ck_assert_int_eq(starpu_sem_destroy(&belt.full), 0);
    ck_assert_int_eq(starpu_sem_destroy(&belt.empty), 0);
}
END_TEST

struct desk {
    starpu_pthread_queue_t queues[2];
    int served;
};

static void *serve(void *arg)
{
    struct desk *desk = arg;
    starpu_pthread_wait_t w;

    starpu_pthread_wait_init(&w);
    for (int i = 0; i < 2; i++)
        starpu_pthread_queue_register(&w, &desk->queues[i]);
    __atomic_add_fetch(&desk->served, 1, __ATOMIC_SEQ_CST);
    starpu_pthread_wait_wait(&w);
    __atomic_add_fetch(&desk->served, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 2; i++)
        starpu_pthread_queue_unregister(&w, &desk->queues[i]);
    starpu_pthread_wait_destroy(&w);
    return NULL;
}

static void wait_for_count(int *n, int wanted)
{
    while (__atomic_load_n(n, __ATOMIC_SEQ_CST) < wanted)
        starpu_usleep(50);
}

START_TEST(one_waits_for_several_queues)
{
    struct desk desk = {.served = 0};
    starpu_pthread_t a, b;

    open_machine(_i);
    for (int i = 0; i < 2; i++)
        starpu_pthread_queue_init(&desk.queues[i]);
    a = create(serve, &desk);
    b = create(serve, &desk);
    wait_for_count(&desk.served, 2);
    starpu_pthread_queue_signal(&desk.queues[1]);
    wait_for_count(&desk.served, 3);
    starpu_pthread_queue_broadcast(&desk.queues[0]);
    starpu_pthread_join(a, NULL);
    starpu_pthread_join(b, NULL);
    ck_assert_int_eq(desk.served, 4);
    for (int i = 0; i < 2; i++)
        starpu_pthread_queue_destroy(&desk.queues[i]);
}
END_TEST

START_TEST(sleeping_takes_virtual_time)
{
    open_machine(SIMULATED);
    starpu_sleep(1.5);
    ck_assert_double_eq(virtual_now(), 1.5e6);
    starpu_usleep(4);
    starpu_usleep(0);
    starpu_usleep(-1);
    ck_assert_double_eq(virtual_now(), 1.5e6 + 4);
    starpu_pthread_setname("other");
    ck_assert_str_eq(orr_self->name, "other");
}
END_TEST

SUITE_MAIN(sim_threads)
{
    Suite *suite = suite_create("sim-threads");
    TCase *tc = tcase_create("both machines");
    TCase *sim = tcase_create("simulated");

    tcase_add_checked_fixture(tc, NULL, teardown);
    tcase_add_checked_fixture(sim, NULL, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, threads_return_their_results, 0, NMACHINES);
    tcase_add_loop_test(tc, exit_gives_a_result_from_anywhere, 0, NMACHINES);
    tcase_add_loop_test(tc, detached_threads_run_and_go, 0, NMACHINES);
    tcase_add_loop_test(tc, keys_have_a_value_per_thread_and_destructors, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_mutex_excludes_and_a_condition_wakes, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, kinds_of_mutexes, 0, NMACHINES);
    tcase_add_loop_test(tc, readers_share_and_writers_exclude, 0, NMACHINES);
    tcase_add_loop_test(tc, a_barrier_lets_go_when_all_have_come, 0, NMACHINES);
    tcase_add_loop_test(tc, spin_locks_exclude_even_across_a_sleep, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, semaphores_count, 0, NMACHINES);
    tcase_add_loop_test(tc, one_waits_for_several_queues, 0, NMACHINES);
    tcase_add_test(sim, joining_twice_or_oneself_is_an_error_when_simulated);
    tcase_add_test(sim, objects_go_from_one_machine_to_the_next);
    tcase_add_test(sim, a_timed_wait_ends_in_virtual_time);
    tcase_add_test(sim, sleeping_takes_virtual_time);
    suite_add_tcase(suite, tc);
    suite_add_tcase(suite, sim);
    return suite_main(suite);
}
