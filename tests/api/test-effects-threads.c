/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-effects-threads.c - as test-effects.c, for threads and what they
 * share: what is destroyed, initialised, held and given back.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machines.h"

/* shows starpu_pthread_mutex_destroy */
START_TEST(a_mutex_that_is_held_is_not_destroyed)
{
    starpu_pthread_mutex_t mutex;

#if defined(__SANITIZE_THREAD__)
    SKIP_TEST("the thread sanitizer reports the mistake itself");
#endif
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
    starpu_pthread_rwlock_t lock, other;

    machine_open(_i);
    memset(&lock, 1, sizeof(lock));
    ck_assert_int_eq(starpu_pthread_rwlock_init(&lock, NULL), 0);
    ck_assert_int_eq(starpu_pthread_rwlock_trywrlock(&lock), 0);
    memcpy(&other, &lock, sizeof(other)); /* the bytes of one that is held */
    ck_assert_int_eq(starpu_pthread_rwlock_init(&other, NULL), 0);
    ck_assert_int_eq(starpu_pthread_rwlock_trywrlock(&other), 0);
    ck_assert_int_eq(starpu_pthread_rwlock_unlock(&other), 0);
    ck_assert_int_eq(starpu_pthread_rwlock_destroy(&other), 0);
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
    starpu_pthread_t threads[20], inside[20];

    machine_open(_i);
    for (int t = 0; t < 20; t++)
        ck_assert_int_eq(
            starpu_pthread_create(&threads[t], NULL, own_number, &inside[t]),
            0);
    for (int t = 0; t < 20; t++)
        ck_assert_int_eq(starpu_pthread_join(threads[t], NULL), 0);
    /* Main, which asks for the first time now, has lived beside them. */
    for (int t = 0; t < 20; t++) {
        ck_assert(pthread_equal(threads[t], inside[t]));
        ck_assert(!pthread_equal(starpu_pthread_self(), inside[t]));
    }
    if (machine_simulated(_i)) {
        ck_assert_int_eq(starpu_pthread_join(starpu_pthread_self(), NULL),
                         EINVAL);
        ck_assert_int_eq(starpu_pthread_detach(starpu_pthread_self()), EINVAL);
    }
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

/* What a thread of the tests below waits for. */
struct meeting {
    starpu_pthread_mutex_t mutex;
    starpu_pthread_cond_t cond;
    starpu_pthread_barrier_t barrier;
    starpu_pthread_queue_t queue;
    int waits, signalled;
};

static void *wait_for_cond(void *arg)
{
    struct meeting *m = arg;

    starpu_pthread_mutex_lock(&m->mutex);
    m->waits = 1;
    while (!m->signalled)
        starpu_pthread_cond_wait(&m->cond, &m->mutex);
    starpu_pthread_mutex_unlock(&m->mutex);
    return NULL;
}

/* shows starpu_pthread_cond_destroy; with POSIX threads it is undefined */
START_TEST(a_condition_that_is_waited_for_is_not_destroyed)
{
    struct meeting m = {.waits = 0};
    starpu_pthread_t thread;

    machine_open(FIRST_SIMULATED);
    ck_assert_int_eq(starpu_pthread_mutex_init(&m.mutex, NULL), 0);
    ck_assert_int_eq(starpu_pthread_cond_init(&m.cond, NULL), 0);
    ck_assert_int_eq(starpu_pthread_create(&thread, NULL, wait_for_cond, &m),
                     0);
    for (int waits = 0; !waits;) {
        starpu_sleep(0.001F);
        starpu_pthread_mutex_lock(&m.mutex);
        waits = m.waits;
        starpu_pthread_mutex_unlock(&m.mutex);
    }
    ck_assert_int_eq(starpu_pthread_cond_destroy(&m.cond), EBUSY);
    starpu_pthread_mutex_lock(&m.mutex);
    m.signalled = 1;
    starpu_pthread_cond_signal(&m.cond);
    starpu_pthread_mutex_unlock(&m.mutex);
    ck_assert_int_eq(starpu_pthread_join(thread, NULL), 0);
    ck_assert_int_eq(starpu_pthread_cond_destroy(&m.cond), 0);
    starpu_shutdown();
}
END_TEST

static void *wait_at_barrier(void *arg)
{
    struct meeting *m = arg;

    starpu_pthread_barrier_wait(&m->barrier);
    return NULL;
}

/* shows starpu_pthread_barrier_destroy; with POSIX threads it is undefined */
START_TEST(a_barrier_that_is_waited_at_is_not_destroyed)
{
    struct meeting m = {.waits = 0};
    starpu_pthread_t thread;

    machine_open(FIRST_SIMULATED);
    ck_assert_int_eq(starpu_pthread_barrier_init(&m.barrier, NULL, 2), 0);
    ck_assert_int_eq(starpu_pthread_create(&thread, NULL, wait_at_barrier, &m),
                     0);
    starpu_sleep(0.001F); /* virtual: the thread arrives before it ends */
    ck_assert_int_eq(starpu_pthread_barrier_destroy(&m.barrier), EBUSY);
    starpu_pthread_barrier_wait(&m.barrier);
    ck_assert_int_eq(starpu_pthread_join(thread, NULL), 0);
    ck_assert_int_eq(starpu_pthread_barrier_destroy(&m.barrier), 0);
    starpu_shutdown();
}
END_TEST

static void *signal_later(void *arg)
{
    struct meeting *m = arg;

    starpu_sleep(0.02F); /* main waits meanwhile, or else returns too early */
    __atomic_store_n(&m->signalled, 1, __ATOMIC_SEQ_CST);
    starpu_pthread_queue_signal(&m->queue);
    return NULL;
}

/* shows starpu_pthread_wait_wait */
START_TEST(a_waiter_waits_until_its_queue_is_signalled)
{
    struct meeting m = {.waits = 0};
    starpu_pthread_wait_t wait;
    starpu_pthread_t thread;

    machine_open(_i);
    ck_assert_int_eq(starpu_pthread_queue_init(&m.queue), 0);
    ck_assert_int_eq(starpu_pthread_wait_init(&wait), 0);
    starpu_pthread_queue_register(&wait, &m.queue);
    starpu_pthread_wait_reset(&wait);
    ck_assert_int_eq(starpu_pthread_create(&thread, NULL, signal_later, &m), 0);
    starpu_pthread_wait_wait(&wait);
    ck_assert_int_eq(__atomic_load_n(&m.signalled, __ATOMIC_SEQ_CST), 1);
    ck_assert_int_eq(starpu_pthread_join(thread, NULL), 0);
    starpu_pthread_queue_unregister(&wait, &m.queue);
    starpu_pthread_wait_destroy(&wait);
    starpu_pthread_queue_destroy(&m.queue);
    starpu_shutdown();
}
END_TEST

/* shows starpu_pthread_wait_destroy */
START_TEST(a_waiter_whose_mutex_is_held_is_not_destroyed)
{
    starpu_pthread_wait_t wait;

    machine_open(FIRST_SIMULATED); /* POSIX would have lost the condition */
    ck_assert_int_eq(starpu_pthread_wait_init(&wait), 0);
    ck_assert_int_eq(starpu_pthread_mutex_lock(&wait.mutex), 0);
    ck_assert_int_eq(starpu_pthread_wait_destroy(&wait), EBUSY);
    ck_assert_int_eq(starpu_pthread_mutex_unlock(&wait.mutex), 0);
    ck_assert_int_eq(starpu_pthread_wait_destroy(&wait), 0);
    starpu_shutdown();
}
END_TEST

/* shows starpu_task_clean: what the library made goes, what the application set
 * stays, as its own. */
START_TEST(a_task_that_is_cleaned_keeps_what_is_the_applications)
{
    struct starpu_task task = STARPU_TASK_INITIALIZER;
    int value = 5;

    machine_open(_i);
    task.cl_arg = malloc(4);
    task.cl_arg_free = 1;
    task.callback_arg = task.epilogue_callback_arg = &value;
    task.prologue_callback_arg = task.prologue_callback_pop_arg = &value;
    task.dyn_handles = calloc(1, sizeof(*task.dyn_handles));
    task.dyn_modes = calloc(1, sizeof(*task.dyn_modes));
    starpu_task_clean(&task);
    ck_assert_ptr_null(task.dyn_handles);
    ck_assert_ptr_null(task.dyn_modes);
    ck_assert_ptr_eq(task.callback_arg, &value);
    ck_assert_ptr_eq(task.epilogue_callback_arg, &value);
    ck_assert_ptr_eq(task.prologue_callback_arg, &value);
    ck_assert_ptr_eq(task.prologue_callback_pop_arg, &value);
    ck_assert_ptr_nonnull(task.cl_arg);
    free(task.cl_arg);
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

/* TEST_MACHINE with OpenCL devices instead of CUDA's. */
static void write_opencl_machine(const char *path)
{
    FILE *from = fopen(TEST_MACHINE, "r"), *to = fopen(path, "w");
    char line[1024];

    ck_assert(from && to);
    while (fgets(line, sizeof(line), from)) {
        char *rest = line;

        for (char *at; (at = strstr(rest, "CUDA")) != NULL; rest = at + 4)
            fprintf(to, "%.*sOpenCL", (int)(at - rest), rest);
        fputs(rest, to);
    }
    fclose(from);
    fclose(to);
}

/* shows starpu_opencl_worker_get_count */
START_TEST(opencl_devices_are_counted)
{
    char folder[] = "/tmp/orrery-test-XXXXXX", path[64];

    machine_choose(FIRST_SIMULATED);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/opencl.xml", folder);
    write_opencl_machine(path);
    setenv("ORRERY_MACHINE", path, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_uint_eq(starpu_opencl_worker_get_count(), 3);
    ck_assert_uint_eq(starpu_cuda_worker_get_count(), 0);
    starpu_shutdown();
    unlink(path);
    rmdir(folder);
}
END_TEST

static struct {
    int id;            /* of the counter */
    atomic_int within; /* calls under way */
    int overlaps;
    int64_t last, backwards;
} heard;

static void hear(struct starpu_perf_counter_listener *listener,
                 struct starpu_perf_counter_sample *sample, void *context)
{
    int64_t value =
        starpu_perf_counter_sample_get_int64_value(sample, heard.id);

    (void)listener, (void)context;
    heard.overlaps += atomic_fetch_add(&heard.within, 1) > 0;
    heard.backwards += value < heard.last;
    heard.last = value;
    usleep(100);
    atomic_fetch_sub(&heard.within, 1);
}

static void nothing(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
}

static struct starpu_codelet listened_to = {.cpu_funcs = {nothing},
                                            .name = "listened to"};

/* A listener needs no lock for what it keeps, and knows the last value in the end. */
START_TEST(a_listener_is_called_by_one_worker_at_a_time)
{
    enum starpu_perf_counter_scope scope =
        starpu_perf_counter_scope_per_codelet;
    struct starpu_perf_counter_listener *listener;
    struct starpu_perf_counter_set *set;

    machine_choose(0);
    setenv("STARPU_NCPU", "3", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    set = starpu_perf_counter_set_alloc(scope);
    heard.id =
        starpu_perf_counter_name_to_id(scope, "starpu.task.c_total_executed");
    starpu_perf_counter_set_enable_id(set, heard.id);
    listener = starpu_perf_counter_listener_init(set, hear, NULL);
    starpu_perf_counter_set_per_codelet_listener(&listened_to, listener);
    starpu_perf_counter_collection_start();
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(starpu_task_insert(&listened_to, 0), 0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(heard.overlaps, 0);
    ck_assert_int_eq(heard.backwards, 0);
    ck_assert_int_eq(heard.last, 100);
    starpu_perf_counter_collection_stop();
    starpu_perf_counter_unset_per_codelet_listener(&listened_to);
    starpu_perf_counter_listener_exit(listener);
    starpu_perf_counter_set_free(set);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(effects_threads)
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
    tcase_add_test(tc, a_condition_that_is_waited_for_is_not_destroyed);
    tcase_add_test(tc, a_barrier_that_is_waited_at_is_not_destroyed);
    tcase_add_loop_test(tc, a_waiter_waits_until_its_queue_is_signalled, 0,
                        NMACHINES);
    tcase_add_test(tc, a_waiter_whose_mutex_is_held_is_not_destroyed);
    tcase_add_loop_test(tc,
                        a_task_that_is_cleaned_keeps_what_is_the_applications,
                        0, NMACHINES);
    tcase_add_loop_test(tc, devices_are_counted, 0, NMACHINES);
    tcase_add_test(tc, opencl_devices_are_counted);
    tcase_add_test(tc, a_listener_is_called_by_one_worker_at_a_time);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
