/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-suspend.c - kernels that wait: for tasks that they submitted, tags,
 * data, semaphores; their worker goes on with others meanwhile. On each machine,
 * with one, two and more workers.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include <orrery.h>

#include "inside.h"

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static void set(void *buffers[], void *arg)
{
    (void)buffers;
    atomic_store((atomic_int *)arg, 1);
}

static struct starpu_codelet cl_nothing = CODELET(nothing);
static struct starpu_codelet cl_set = CODELET(set);

/* --- recursion --- */

struct fib {
    int n;
    long result;
    void (*wait)(struct starpu_task *tasks[2]);
};

static void fib(void *buffers[], void *arg);
static struct starpu_codelet cl_fib = CODELET(fib);

static void fib(void *buffers[], void *arg)
{
    struct fib *f = arg, inner[2];
    struct starpu_task *tasks[2];

    (void)buffers;
    f->result = f->n;
    if (f->n < 2)
        return;
    for (int i = 0; i < 2; i++) {
        inner[i] = (struct fib){f->n - 1 - i, -1, f->wait};
        tasks[i] = new_task(&cl_fib, &inner[i]);
        tasks[i]->detach = f->wait != NULL ? 0 : 1;
        submit(tasks[i]);
    }
    if (f->wait)
        f->wait(tasks);
    else
        starpu_task_wait_for_all();
    f->result = inner[0].result + inner[1].result;
}

static void wait_each(struct starpu_task *tasks[2])
{
    ck_assert_int_eq(starpu_task_wait(tasks[0]), 0);
    ck_assert_int_eq(starpu_task_wait(tasks[1]), 0);
}

static void wait_array(struct starpu_task *tasks[2])
{
    ck_assert_int_eq(starpu_task_wait_array(tasks, 2), 0);
}

static long fib_of(int n, void (*wait)(struct starpu_task *tasks[2]))
{
    struct fib f = {n, -1, wait};

    run(&cl_fib, &f);
    return f.result;
}

START_TEST(tasks_wait_for_those_that_they_submit)
{
    open_one(_i);
    ck_assert_int_eq(fib_of(13, wait_each), 233);
    ck_assert_int_eq(fib_of(10, wait_array), 55);
    starpu_shutdown();
}
END_TEST

START_TEST(waiting_for_all_means_those_around_it_not)
{
    open_one(_i);
    ck_assert_int_eq(fib_of(9, NULL), 34);
    starpu_shutdown();
}
END_TEST

static void chain(void *buffers[], void *arg);
static struct starpu_codelet cl_chain = CODELET(chain);

static void free_unsubmitted(struct starpu_task *task)
{
    task->destroy = 0;
    starpu_task_destroy(task);
}

/* As many kernels wait at once as the number says. */
static void chain(void *buffers[], void *arg)
{
    int next = *(int *)arg - 1, inner = next;
    struct starpu_task *task = new_task(&cl_chain, &inner);

    (void)buffers;
    task->synchronous = 1;
    if (next >= 0)
        submit(task);
    else
        free_unsubmitted(task);
    *(int *)arg = next;
}

START_TEST(synchronous_tasks_may_be_nested_deeply)
{
    int depth = 300;

    open_one(_i);
    run(&cl_chain, &depth);
    ck_assert_int_eq(depth, 299);
    starpu_shutdown();
}
END_TEST

/* --- what stays as it was --- */

static struct {
    pthread_t thread;
    int worker, error, status;
    struct starpu_task *task;
} seen[2];

static struct starpu_task *waiting;
static atomic_int status_seen;

static void look(int i)
{
    seen[i].thread = pthread_self();
    seen[i].worker = starpu_worker_get_id();
    seen[i].task = starpu_task_get_current();
    seen[i].status = (int)seen[i].task->status;
    seen[i].error = errno;
}

static void spoil(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    errno = ERANGE;
    atomic_store(&status_seen, (int)waiting->status);
}

static struct starpu_codelet cl_spoil = CODELET(spoil);

static void look_around_a_wait(void *buffers[], void *arg)
{
    struct starpu_task *task;

    (void)buffers;
    (void)arg;
    waiting = starpu_task_get_current();
    task = new_task(&cl_spoil, NULL);
    task->detach = 0;
    task->execute_on_a_specific_worker = 1;
    task->workerid = (unsigned)starpu_worker_get_id();
    submit(task);
    errno = EDOM;
    look(0);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    look(1);
}

static struct starpu_codelet cl_look = CODELET(look_around_a_wait);

START_TEST(a_kernel_goes_on_where_it_was)
{
    open_one(_i);
    run(&cl_look, NULL);
    ck_assert(pthread_equal(seen[0].thread, seen[1].thread));
    ck_assert_int_eq(seen[0].worker, seen[1].worker);
    ck_assert_ptr_eq(seen[0].task, seen[1].task);
    ck_assert_int_eq(seen[0].status, STARPU_TASK_RUNNING);
    ck_assert_int_eq(seen[1].status, STARPU_TASK_RUNNING);
    ck_assert_int_eq(seen[1].error, EDOM);
    ck_assert_int_eq(atomic_load(&status_seen), STARPU_TASK_STOPPED);
    starpu_shutdown();
}
END_TEST

/* --- tags --- */

static void set_and_wait_for_tags(void *buffers[], void *arg)
{
    atomic_int done[2] = {0};
    starpu_tag_t tags[2] = {71, 72};

    (void)buffers;
    for (int i = 0; i < 2; i++) {
        struct starpu_task *task = new_task(&cl_set, &done[i]);

        task->use_tag = 1;
        task->tag_id = tags[i];
        starpu_tag_declare_deps(tags[i], 1, i ? tags[0] : (starpu_tag_t)70);
        submit(task);
    }
    starpu_tag_notify_from_apps(70);
    ck_assert_int_eq(starpu_tag_wait(71), 0);
    ck_assert_int_eq(atomic_load(&done[0]), 1);
    ck_assert_int_eq(starpu_tag_wait_array(2, tags), 0);
    ck_assert_int_eq(atomic_load(&done[1]), 1);
    *(int *)arg = 1;
}

static struct starpu_codelet cl_tags = CODELET(set_and_wait_for_tags);

START_TEST(tags_can_be_waited_for)
{
    int passed = 0;

    open_one(_i);
    run(&cl_tags, &passed);
    ck_assert_int_eq(passed, 1);
    starpu_shutdown();
}
END_TEST

/* --- data of its own --- */

static void use_data(void *buffers[], void *arg)
{
    int v[N] = {0};
    starpu_data_handle_t handle;

    (void)buffers;
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)v, N,
                                sizeof(v[0]));
    submit_add(handle, 1);
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_RW), 0);
    ck_assert_int_eq(v[0], 1);
    v[0] = 5;
    starpu_data_release(handle);
    starpu_data_partition(handle, &thirds);
    for (int i = 0; i < PARTS; i++)
        submit_add(starpu_data_get_sub_data(handle, 1, i), i);
    starpu_data_unpartition(handle, STARPU_MAIN_RAM);
    submit_add(handle, 2);
    starpu_data_unregister(handle);
    ck_assert_int_eq(v[0], (5 * 3 + 0) * 3 + 2);
    ck_assert_int_eq(v[N - 1], (1 * 3 + 2) * 3 + 2);
    *(int *)arg = 1;
}

static struct starpu_codelet cl_use_data = CODELET(use_data);

START_TEST(a_kernel_may_acquire_partition_and_unregister)
{
    int passed[4] = {0};

    open_one(_i);
    for (int i = 0; i < 4; i++)
        submit(new_task(&cl_use_data, &passed[i]));
    starpu_task_wait_for_all();
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(passed[i], 1);
    starpu_shutdown();
}
END_TEST

/* --- semaphores, mutexes, conditions, barriers --- */

enum { STAGES = 4, ITEMS = 20 };

static struct pipe {
    starpu_sem_t full, empty;
    int item;
} pipes[STAGES + 1];

static int received[ITEMS];

static int take_item(struct pipe *pipe)
{
    int item;

    ck_assert_int_eq(starpu_sem_wait(&pipe->full), 0);
    item = pipe->item;
    starpu_sem_post(&pipe->empty);
    return item;
}

static void put_item(struct pipe *pipe, int item)
{
    ck_assert_int_eq(starpu_sem_wait(&pipe->empty), 0);
    pipe->item = item;
    starpu_sem_post(&pipe->full);
}

static void stage(void *buffers[], void *arg)
{
    struct pipe *in = arg;

    (void)buffers;
    for (int i = 0; i < ITEMS; i++)
        put_item(in + 1, take_item(in) + 1);
}

static void source(void *buffers[], void *arg)
{
    (void)buffers;
    for (int i = 0; i < ITEMS; i++)
        put_item(arg, 100 * i);
}

static void sink(void *buffers[], void *arg)
{
    (void)buffers;
    for (int i = 0; i < ITEMS; i++)
        received[i] = take_item(arg);
}

static struct starpu_codelet cl_stage = CODELET(stage);
static struct starpu_codelet cl_source = CODELET(source);
static struct starpu_codelet cl_sink = CODELET(sink);

START_TEST(a_pipeline_of_kernels_with_semaphores_flows)
{
    open_one(_i);
    for (int i = 0; i <= STAGES; i++) {
        starpu_sem_init(&pipes[i].full, 0, 0);
        starpu_sem_init(&pipes[i].empty, 0, 1);
    }
    submit(new_task(&cl_sink, &pipes[STAGES]));
    for (int i = STAGES; i-- > 0;)
        submit(new_task(&cl_stage, &pipes[i]));
    submit(new_task(&cl_source, &pipes[0]));
    starpu_task_wait_for_all();
    for (int i = 0; i < ITEMS; i++)
        ck_assert_int_eq(received[i], 100 * i + STAGES);
    for (int i = 0; i <= STAGES; i++) {
        starpu_sem_destroy(&pipes[i].full);
        starpu_sem_destroy(&pipes[i].empty);
    }
    starpu_shutdown();
}
END_TEST

static starpu_sem_t bell;

static void ring(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    starpu_sem_post(&bell);
}

static struct starpu_codelet cl_ring = CODELET(ring);

/* Waits in vain, then for what it submits. */
static void wait_for_bell(void *buffers[], void *arg)
{
    double late = starpu_timing_now() + 2000;

    (void)buffers;
    (void)arg;
    ck_assert_int_eq(orrery_sem_wait_until(&bell, late), -ETIMEDOUT);
    ck_assert(starpu_timing_now() >= late);
    submit(new_task(&cl_ring, NULL));
    ck_assert_int_eq(orrery_sem_wait_until(&bell, HUGE_VAL), 0);
    submit(new_task(&cl_ring, NULL));
    ck_assert_int_eq(orrery_sem_wait_until(&bell, late + 1e9), 0);
    ck_assert_int_eq(orrery_sem_wait_until(&bell, late), -ETIMEDOUT);
}

static struct starpu_codelet cl_wait_for_bell = CODELET(wait_for_bell);

START_TEST(a_wait_for_a_semaphore_ends_at_its_date)
{
    open_one(_i);
    starpu_sem_init(&bell, 0, 0);
    wait_for_bell(NULL, NULL);
    run(&cl_wait_for_bell, NULL);
    starpu_sem_post(&bell);
    ck_assert_int_eq(orrery_sem_wait_until(&bell, 0), 0);
    starpu_sem_destroy(&bell);
    starpu_shutdown();
}
END_TEST

static struct {
    starpu_pthread_mutex_t mutex;
    starpu_pthread_cond_t cond;
    int turn, rounds;
} table = {STARPU_PTHREAD_MUTEX_INITIALIZER, STARPU_PTHREAD_COND_INITIALIZER, 0,
           0};

enum { PLAYERS = 5, ROUNDS = 6 };

/* Each in its turn, with a wait for a task while the mutex is held. */
static void play(void *buffers[], void *arg)
{
    int me = (int)(intptr_t)arg;

    (void)buffers;
    for (int i = 0; i < ROUNDS; i++) {
        ck_assert_int_eq(starpu_pthread_mutex_lock(&table.mutex), 0);
        while (table.turn != me)
            ck_assert_int_eq(
                starpu_pthread_cond_wait(&table.cond, &table.mutex), 0);
        wait_for(begin(&cl_nothing, NULL));
        table.turn = (me + 1) % PLAYERS;
        table.rounds++;
        starpu_pthread_cond_broadcast(&table.cond);
        ck_assert_int_eq(starpu_pthread_mutex_unlock(&table.mutex), 0);
    }
}

static struct starpu_codelet cl_play = CODELET(play);

START_TEST(kernels_take_turns_by_mutex_and_condition)
{
    open_one(_i);
    table.turn = table.rounds = 0;
    for (intptr_t i = PLAYERS; i-- > 0;)
        submit(new_task(&cl_play, (void *)i));
    starpu_task_wait_for_all();
    ck_assert_int_eq(table.rounds, PLAYERS * ROUNDS);
    starpu_shutdown();
}
END_TEST

static void wait_in_vain(void *buffers[], void *arg)
{
    struct timespec date;

    (void)buffers;
    clock_gettime(CLOCK_REALTIME, &date);
    date.tv_nsec += 20 * 1000000;
    if (date.tv_nsec >= 1000000000) {
        date.tv_sec++;
        date.tv_nsec -= 1000000000;
    }
    starpu_pthread_mutex_lock(&table.mutex);
    *(int *)arg =
        starpu_pthread_cond_timedwait(&table.cond, &table.mutex, &date);
    starpu_pthread_mutex_unlock(&table.mutex);
}

static struct starpu_codelet cl_in_vain = CODELET(wait_in_vain);

START_TEST(a_kernel_may_wait_for_a_time)
{
    int rc = 0;

    open_one(_i);
    run(&cl_in_vain, &rc);
    ck_assert_int_eq(rc, ETIMEDOUT);
    starpu_shutdown();
}
END_TEST

static starpu_pthread_barrier_t barrier;
static atomic_int arrived, serial;

static void meet(void *buffers[], void *arg)
{
    (void)buffers;
    for (int i = 1; i <= 3; i++) {
        int rc;

        atomic_fetch_add(&arrived, 1);
        rc = starpu_pthread_barrier_wait(&barrier);
        ck_assert_int_ge(atomic_load(&arrived), i * *(int *)arg);
        atomic_fetch_add(&serial, rc == STARPU_PTHREAD_BARRIER_SERIAL_THREAD);
    }
}

static struct starpu_codelet cl_meet = CODELET(meet);

START_TEST(more_kernels_than_workers_meet_at_a_barrier)
{
    int n = 7;

    open_one(_i);
    atomic_store(&arrived, 0);
    atomic_store(&serial, 0);
    starpu_pthread_barrier_init(&barrier, NULL, (unsigned)n);
    for (int i = 1; i < n; i++)
        submit(new_task(&cl_meet, &n));
    meet(NULL, &n); /* with the application's thread */
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&serial), 3);
    starpu_pthread_barrier_destroy(&barrier);
    starpu_shutdown();
}
END_TEST

static starpu_pthread_rwlock_t rwlock;
static int guarded;

static void read_or_write(void *buffers[], void *arg)
{
    (void)buffers;
    if (arg)
        starpu_pthread_rwlock_wrlock(&rwlock);
    else
        starpu_pthread_rwlock_rdlock(&rwlock);
    wait_for(begin(&cl_nothing, NULL));
    if (arg)
        guarded++;
    starpu_pthread_rwlock_unlock(&rwlock);
}

static struct starpu_codelet cl_rw = CODELET(read_or_write);

static starpu_pthread_spinlock_t spin;

static void hold_spin_lock(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    starpu_pthread_spin_lock(&spin);
    wait_for(begin(&cl_nothing, NULL));
    guarded++;
    starpu_pthread_spin_unlock(&spin);
}

static struct starpu_codelet cl_spin = CODELET(hold_spin_lock);

START_TEST(locks_are_held_while_a_kernel_waits)
{
    open_one(_i);
    guarded = 0;
    starpu_pthread_rwlock_init(&rwlock, NULL);
    starpu_pthread_spin_init(&spin, 0);
    for (int i = 0; i < 12; i++)
        submit(new_task(&cl_rw, i % 3 ? NULL : &guarded));
    starpu_task_wait_for_all();
    ck_assert_int_eq(guarded, 4);
    for (int i = 0; i < 6; i++)
        submit(new_task(&cl_spin, NULL));
    starpu_task_wait_for_all();
    ck_assert_int_eq(guarded, 10);
    starpu_pthread_rwlock_destroy(&rwlock);
    starpu_shutdown();
}
END_TEST

/* --- others --- */

static void call_everywhere(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void wait_in_other_ways(void *buffers[], void *arg)
{
    atomic_int n = 0, done[3] = {0};

    (void)buffers;
    starpu_execute_on_each_worker(call_everywhere, &n, STARPU_CPU);
    ck_assert_int_eq(atomic_load(&n), (int)starpu_cpu_worker_get_count());
    for (int i = 0; i < 3; i++)
        submit(new_task(&cl_set, &done[i]));
    ck_assert_int_eq(starpu_task_wait_for_n_submitted(0), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(atomic_load(&done[i]), 1);
    submit(new_task(&cl_set, &n));
    ck_assert_int_eq(starpu_task_wait_for_no_ready(), 0);
    ck_assert_int_eq(atomic_load(&n), 1);
    starpu_worker_wait_for_initialisation();
    *(int *)arg = 1;
}

static struct starpu_codelet cl_other_ways = CODELET(wait_in_other_ways);

START_TEST(kernels_wait_in_other_ways)
{
    int passed = 0;

    open_one(_i);
    run(&cl_other_ways, &passed);
    ck_assert_int_eq(passed, 1);
    starpu_shutdown();
}
END_TEST

static int refused;

static void wait_in_callback(void *arg)
{
    (void)arg;
    refused = starpu_task_wait_for_all();
}

static void submit_with_callback(void *buffers[], void *arg)
{
    struct starpu_task *task = new_task(NULL, NULL);

    (void)buffers;
    (void)arg;
    task->callback_func = wait_in_callback; /* is called in this kernel */
    submit(task);
}

static struct starpu_codelet cl_callback = CODELET(submit_with_callback);

START_TEST(callbacks_in_kernels_are_refused_as_ever)
{
    open_one(_i);
    refused = 0;
    run(&cl_callback, NULL);
    ck_assert_int_eq(refused, -EDEADLK);
    starpu_shutdown();
}
END_TEST

/* The application's main thread holds up the kernel that it waits for then. */
static starpu_sem_t go;

static void wait_for_main(void *buffers[], void *arg)
{
    (void)buffers;
    starpu_sem_wait(&go);
    *(int *)arg = 1;
}

static struct starpu_codelet cl_wait_for_main = CODELET(wait_for_main);

START_TEST(others_run_while_kernels_wait_for_the_application)
{
    int went[6] = {0};
    atomic_int ran = 0;

    open_one(_i);
    starpu_sem_init(&go, 0, 0);
    for (int i = 0; i < 6; i++)
        submit(new_task(&cl_wait_for_main, &went[i]));
    wait_for(begin(&cl_set, &ran));
    ck_assert_int_eq(atomic_load(&ran), 1);
    starpu_pause();
    for (int i = 0; i < 6; i++)
        starpu_sem_post(&go);
    ck_assert_int_ge(starpu_task_nsubmitted(), 0);
    starpu_resume();
    starpu_task_wait_for_all();
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(went[i], 1);
    starpu_shutdown();
}
END_TEST

static void *let_them_go(void *result)
{
    for (int i = 0; i < 6; i++)
        starpu_sem_post(&go);
    return result;
}

/* Their processors do nothing: who takes them does not wait for the kernels, which wait
 * for what comes later. */
START_TEST(processors_of_kernels_that_wait_can_be_taken)
{
    int went[6] = {0}, ids[STARPU_NMAXWORKERS];
    atomic_int ran = 0;
    unsigned ctx, n;

    open_one(_i);
    n = starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids,
                                      STARPU_NMAXWORKERS);
    starpu_sem_init(&go, 0, 0);
    for (int i = 0; i < 6; i++)
        submit(new_task(&cl_wait_for_main, &went[i]));
    wait_for(begin(&cl_set, &ran));
    ctx = starpu_sched_ctx_create(ids, (int)n, "without policy", 0);
    starpu_sched_ctx_delete(ctx);
    ck_assert_ptr_eq(starpu_sched_ctx_exec_parallel_code(let_them_go, went, 0),
                     went);
    starpu_task_wait_for_all();
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(went[i], 1);
    starpu_shutdown();
}
END_TEST

static void sleep_in_kernel(void *buffers[], void *arg)
{
    double before = starpu_timing_now();

    (void)buffers;
    starpu_usleep(500);
    *(double *)arg = starpu_timing_now() - before;
}

static struct starpu_codelet cl_sleep = CODELET(sleep_in_kernel);

START_TEST(a_kernel_that_sleeps_sees_time_pass)
{
    double took = 0;

    open_one(_i);
    run(&cl_sleep, &took);
    ck_assert_double_ge(took, 499);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(suspend)
{
    Suite *suite = suite_create("api-suspend");
    TCase *tc = tcase_create("each machine");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, tasks_wait_for_those_that_they_submit, 0, NTIMES);
    tcase_add_loop_test(tc, waiting_for_all_means_those_around_it_not, 0,
                        NTIMES);
    tcase_add_loop_test(tc, synchronous_tasks_may_be_nested_deeply, 0, NTIMES);
    tcase_add_loop_test(tc, a_kernel_goes_on_where_it_was, 0, NTIMES);
    tcase_add_loop_test(tc, tags_can_be_waited_for, 0, NTIMES);
    tcase_add_loop_test(tc, a_kernel_may_acquire_partition_and_unregister, 0,
                        NTIMES);
    tcase_add_loop_test(tc, a_pipeline_of_kernels_with_semaphores_flows, 0,
                        NTIMES);
    tcase_add_loop_test(tc, a_wait_for_a_semaphore_ends_at_its_date, 0, NTIMES);
    tcase_add_loop_test(tc, kernels_take_turns_by_mutex_and_condition, 0,
                        NTIMES);
    tcase_add_loop_test(tc, a_kernel_may_wait_for_a_time, 0, NTIMES);
    tcase_add_loop_test(tc, more_kernels_than_workers_meet_at_a_barrier, 0,
                        NTIMES);
    tcase_add_loop_test(tc, locks_are_held_while_a_kernel_waits, 0, NTIMES);
    tcase_add_loop_test(tc, kernels_wait_in_other_ways, 0, NTIMES);
    tcase_add_loop_test(tc, callbacks_in_kernels_are_refused_as_ever, 0,
                        NTIMES);
    tcase_add_loop_test(tc, others_run_while_kernels_wait_for_the_application,
                        0, NTIMES);
    tcase_add_loop_test(tc, processors_of_kernels_that_wait_can_be_taken, 0,
                        NTIMES);
    tcase_add_loop_test(tc, a_kernel_that_sleeps_sees_time_pass, 0, NTIMES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
