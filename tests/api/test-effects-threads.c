/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-effects-threads.c - as test-effects.c, for threads and what they
 * share: what is destroyed, initialised, held and given back.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "machines.h"

/* shows starpu_pthread_mutex_destroy */
START_TEST(a_mutex_that_is_held_is_not_destroyed)
{
    starpu_pthread_mutex_t mutex;

    machine_open(_i);
    ck_assert_int_eq(starpu_pthread_mutex_init(&mutex, NULL), 0);
    ck_assert_int_eq(starpu_pthread_mutex_lock(&mutex), 0);
    ck_assert_int_eq(starpu_pthread_mutex_destroy(&mutex), EBUSY);
    ck_assert_int_eq(starpu_pthread_mutex_unlock(&mutex), 0);
    ck_assert_int_eq(starpu_pthread_mutex_destroy(&mutex), 0);
    starpu_shutdown();
}
END_TEST

/* shows starpu_pthread_rwlock_init, starpu_pthread_rwlock_destroy */
START_TEST(a_lock_of_readers_and_writers_begins_free_and_ends_free)
{
    starpu_pthread_rwlock_t lock;

    machine_open(_i);
    memset(&lock, 1, sizeof(lock));
    ck_assert_int_eq(starpu_pthread_rwlock_init(&lock, NULL), 0);
    ck_assert_int_eq(starpu_pthread_rwlock_trywrlock(&lock), 0);
    if (machine_simulated(_i))
        ck_assert_int_eq(starpu_pthread_rwlock_destroy(&lock), EBUSY);
    ck_assert_int_eq(starpu_pthread_rwlock_unlock(&lock), 0);
    ck_assert_int_eq(starpu_pthread_rwlock_destroy(&lock), 0);
    starpu_shutdown();
}
END_TEST

/* shows starpu_pthread_spin_lock, starpu_pthread_spin_unlock,
 * starpu_pthread_spin_destroy */
START_TEST(a_spin_lock_is_held_until_it_is_unlocked)
{
    starpu_pthread_spinlock_t lock;

    machine_open(_i);
    ck_assert_int_eq(starpu_pthread_spin_init(&lock, 0), 0);
    ck_assert_int_eq(starpu_pthread_spin_lock(&lock), 0);
    ck_assert_int_eq(starpu_pthread_spin_trylock(&lock), EBUSY);
    ck_assert_int_eq(starpu_pthread_spin_destroy(&lock), EBUSY);
    ck_assert_int_eq(starpu_pthread_spin_unlock(&lock), 0);
    ck_assert_int_eq(starpu_pthread_spin_trylock(&lock), 0);
    ck_assert_int_eq(starpu_pthread_spin_unlock(&lock), 0);
    starpu_shutdown();
}
END_TEST

static void *own_number(void *arg)
{
    *(starpu_pthread_t *)arg = starpu_pthread_self();
    return NULL;
}

/* shows starpu_pthread_self */
START_TEST(threads_have_numbers_of_their_own)
{
    starpu_pthread_t thread, inside;

    machine_open(_i);
    ck_assert_int_eq(starpu_pthread_create(&thread, NULL, own_number, &inside),
                     0);
    ck_assert_int_eq(starpu_pthread_join(thread, NULL), 0);
    ck_assert(pthread_equal(thread, inside));
    ck_assert(!pthread_equal(starpu_pthread_self(), inside));
    ck_assert(pthread_equal(starpu_pthread_self(), starpu_pthread_self()));
    starpu_shutdown();
}
END_TEST

/* shows starpu_pthread_detach */
START_TEST(a_thread_is_detached_once)
{
    starpu_pthread_t thread, inside;

    machine_open(FIRST_SIMULATED);
    ck_assert_int_eq(starpu_pthread_create(&thread, NULL, own_number, &inside),
                     0);
    ck_assert_int_eq(starpu_pthread_detach(thread), 0);
    ck_assert_int_eq(starpu_pthread_detach(thread), EINVAL);
    starpu_sleep(1); /* virtual */
    starpu_shutdown();
}
END_TEST

/* shows starpu_pthread_attr_setdetachstate, starpu_pthread_attr_setstacksize */
START_TEST(attributes_keep_what_they_are_given)
{
    starpu_pthread_attr_t attr;
    size_t size = 0;
    int state = -1;

    machine_open(_i);
    ck_assert_int_eq(starpu_pthread_attr_init(&attr), 0);
    ck_assert_int_eq(
        starpu_pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED), 0);
    ck_assert_int_eq(pthread_attr_getdetachstate(&attr, &state), 0);
    ck_assert_int_eq(state, PTHREAD_CREATE_DETACHED);
    ck_assert_int_eq(starpu_pthread_attr_setstacksize(&attr, 1 << 20), 0);
    ck_assert_int_eq(pthread_attr_getstacksize(&attr, &size), 0);
    ck_assert_uint_eq(size, 1 << 20);
    ck_assert_int_eq(starpu_pthread_attr_destroy(&attr), 0);
    starpu_shutdown();
}
END_TEST

/* shows starpu_pthread_mutexattr_init */
START_TEST(attributes_of_a_mutex_begin_with_the_default)
{
    starpu_pthread_mutexattr_t attr;
    int type = -1;

    machine_open(_i);
    memset(&attr, 1, sizeof(attr));
    ck_assert_int_eq(starpu_pthread_mutexattr_init(&attr), 0);
    ck_assert_int_eq(starpu_pthread_mutexattr_gettype(&attr, &type), 0);
    ck_assert_int_eq(type, PTHREAD_MUTEX_DEFAULT);
    starpu_shutdown();
}
END_TEST

static int nclosed;

static void close_value(void *value)
{
    (void)value;
    nclosed++;
}

static void *set_value(void *arg)
{
    starpu_pthread_key_t *key = arg;

    starpu_pthread_setspecific(*key, arg);
    starpu_pthread_key_delete(*key);
    return NULL;
}

/* shows starpu_pthread_key_delete */
START_TEST(values_of_a_deleted_key_are_not_closed)
{
    starpu_pthread_key_t key;
    starpu_pthread_t thread;

    machine_open(_i);
    ck_assert_int_eq(starpu_pthread_key_create(&key, close_value), 0);
    ck_assert_int_eq(starpu_pthread_create(&thread, NULL, set_value, &key), 0);
    ck_assert_int_eq(starpu_pthread_join(thread, NULL), 0);
    ck_assert_int_eq(nclosed, 0);
    starpu_shutdown();
}
END_TEST

/* shows starpu_pthread_queue_unregister */
START_TEST(who_has_left_a_queue_gets_no_signals)
{
    starpu_pthread_queue_t queue;
    starpu_pthread_wait_t wait;

    machine_open(_i);
    starpu_pthread_queue_init(&queue);
    starpu_pthread_wait_init(&wait);
    starpu_pthread_queue_register(&wait, &queue);
    starpu_pthread_wait_reset(&wait);
    starpu_pthread_queue_unregister(&wait, &queue);
    starpu_pthread_queue_signal(&queue);
    ck_assert_int_eq((int)wait.block, 1);
    starpu_pthread_queue_register(&wait, &queue);
    starpu_pthread_queue_signal(&queue);
    ck_assert_int_eq((int)wait.block, 0);
    starpu_pthread_wait_wait(&wait); /* returns */
    starpu_pthread_queue_unregister(&wait, &queue);
    starpu_pthread_queue_destroy(&queue);
    starpu_shutdown();
}
END_TEST

/* shows starpu_cuda_worker_get_count */
START_TEST(devices_are_counted)
{
    machine_open(_i);
    ck_assert_uint_eq(starpu_cuda_worker_get_count(),
                      machine_simulated(_i) ? 3 : 0);
    ck_assert_uint_eq(starpu_hip_worker_get_count(), 0);
    ck_assert_uint_eq(starpu_mpi_ms_worker_get_count(), 0);
    starpu_shutdown();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("effects-threads");
    TCase *tc = tcase_create("threads");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, a_mutex_that_is_held_is_not_destroyed, 0,
                        NMACHINES);
    tcase_add_loop_test(tc,
                        a_lock_of_readers_and_writers_begins_free_and_ends_free,
                        0, NMACHINES);
    tcase_add_loop_test(tc, a_spin_lock_is_held_until_it_is_unlocked, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, threads_have_numbers_of_their_own, 0, NMACHINES);
    tcase_add_test(tc, a_thread_is_detached_once);
    tcase_add_loop_test(tc, attributes_keep_what_they_are_given, 0, NMACHINES);
    tcase_add_loop_test(tc, attributes_of_a_mutex_begin_with_the_default, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, values_of_a_deleted_key_are_not_closed, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, who_has_left_a_queue_gets_no_signals, 0, NMACHINES);
    tcase_add_loop_test(tc, devices_are_counted, 0, NMACHINES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
