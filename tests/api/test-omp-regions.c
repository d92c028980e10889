/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-omp-regions.c - what threads of OpenMP regions do together:
 * regions, barriers, one thread's work, critical sections, locks.
 */
#include <orrery.h>
#include <pthread.h>
#include <stdbool.h>

#include "omp.h"

/* -- regions -- */

struct census {
    atomic_int n, seen[MANY], outside, size[MANY];
};

static void count_threads(void *buffers[], void *arg)
{
    struct census *census = arg;
    int me = starpu_omp_get_thread_num();

    (void)buffers;
    atomic_fetch_add(&census->n, 1);
    atomic_fetch_add(&census->seen[me], 1);
    census->size[me] = starpu_omp_get_num_threads();
    census->outside += starpu_worker_get_id() < 0;
}

static void expect_census(const struct census *census, int n)
{
    ck_assert_int_eq(census->n, n);
    ck_assert_int_eq(census->outside, 0);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(census->seen[i], 1);
        ck_assert_int_eq(census->size[i], n);
    }
}

START_TEST(each_thread_executes_a_region_once)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++)
        for (int again = 0; again < 3; again++) {
            struct census census = {0};

            omp_parallel(omp_threads[t], count_threads, &census);
            expect_census(&census, omp_threads[t]);
        }
    starpu_omp_shutdown();
    ck_assert_int_eq(starpu_is_initialized(), 0);
    omp_open(_i); /* once more */
    ck_assert_int_eq(starpu_is_initialized(), 1);
    starpu_omp_shutdown();
    starpu_omp_shutdown(); /* nothing */
}
END_TEST

START_TEST(clauses_say_how_many_threads_there_are)
{
    struct starpu_omp_parallel_region_attr attr;
    struct census census = {0};

    omp_open(_i);
    memset(&attr, 0, sizeof(attr));
    attr.cl.cpu_funcs[0] = count_threads;
    attr.cl_arg = &census;
    attr.if_clause = 1;
    starpu_omp_parallel_region(&attr); /* as many as workers */
    expect_census(&census, starpu_omp_get_num_procs());
    census = (struct census){0};
    starpu_omp_set_num_threads(5);
    starpu_omp_parallel_region(&attr);
    expect_census(&census, 5);
    census = (struct census){0};
    attr.if_clause = 0;
    attr.num_threads = 4;
    starpu_omp_parallel_region(&attr);
    expect_census(&census, 1);
    starpu_omp_shutdown();
}
END_TEST

struct nested {
    struct census inner[MANY];
    atomic_int actives[MANY];
    int n;
};

static void look_at_levels(void *buffers[], void *arg)
{
    struct nested *nested = arg;
    int outer = starpu_omp_get_ancestor_thread_num(1);

    count_threads(buffers, &nested->inner[outer]);
    ck_assert_int_eq(starpu_omp_get_level(), 2);
    ck_assert_int_eq(starpu_omp_get_team_size(1), nested->n);
    ck_assert_int_eq(starpu_omp_get_team_size(2), starpu_omp_get_num_threads());
    ck_assert_int_eq(starpu_omp_get_team_size(3), -1);
    ck_assert_int_eq(starpu_omp_get_team_size(0), 1);
    ck_assert_int_eq(starpu_omp_get_ancestor_thread_num(0), 0);
    ck_assert_int_eq(starpu_omp_get_ancestor_thread_num(2),
                     starpu_omp_get_thread_num());
    ck_assert_int_eq(starpu_omp_get_ancestor_thread_num(-1), -1);
    nested->actives[outer] = starpu_omp_get_active_level();
}

static void nest(void *buffers[], void *arg)
{
    (void)buffers;
    omp_parallel(3, look_at_levels, arg);
    starpu_omp_barrier();
    omp_parallel(3, look_at_levels, arg);
}

START_TEST(regions_in_regions_have_threads_if_levels_allow_it)
{
    omp_open(_i);
    ck_assert_int_eq(starpu_omp_get_nested(), 0);
    for (int levels = 1; levels <= 2; levels++)
        for (int t = 0; t < NTHREADS; t++) {
            struct nested nested = {.n = omp_threads[t]};
            int threads = levels > 1 || nested.n == 1 ? 3 : 1;

            starpu_omp_set_max_active_levels(levels);
            ck_assert_int_eq(starpu_omp_get_max_active_levels(), levels);
            omp_parallel(nested.n, nest, &nested);
            for (int i = 0; i < nested.n; i++) {
                ck_assert_int_eq(nested.inner[i].n, 2 * threads);
                ck_assert_int_eq(nested.inner[i].seen[0], 2);
                ck_assert_int_eq(nested.actives[i],
                                 (nested.n > 1) + (threads > 1));
            }
        }
    starpu_omp_set_nested(0);
    ck_assert_int_eq(starpu_omp_get_max_active_levels(), 1);
    starpu_omp_set_nested(1);
    ck_assert_int_gt(starpu_omp_get_max_active_levels(), 1);
    ck_assert_int_eq(starpu_omp_get_nested(), 1);
    starpu_omp_shutdown();
}
END_TEST

/* -- data of regions: all threads have them at once -- */

static void add_in_turns(void *buffers[], void *arg)
{
    int *sums = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const int *factor = (const int *)STARPU_VARIABLE_GET_PTR(buffers[1]);

    (void)arg;
    sums[starpu_omp_get_thread_num()] += *factor;
    starpu_omp_barrier();
    if (starpu_omp_master_inline())
        for (int i = 1; i < starpu_omp_get_num_threads(); i++)
            sums[0] += sums[i];
    starpu_omp_barrier();
    ck_assert_int_eq(sums[0], *factor * starpu_omp_get_num_threads());
}

static void add_one(void *buffers[], void *arg)
{
    (void)arg;
    ++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

START_TEST(threads_use_the_data_of_their_region_together)
{
    struct starpu_codelet cl = {
        .cpu_funcs = {add_one},
        .nbuffers = 1,
        .modes = {STARPU_RW},
        .name = "k",
    };

    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        struct starpu_omp_parallel_region_attr attr;
        starpu_data_handle_t handles[2];
        int sums[MANY] = {0}, factor = 6;

        memset(&attr, 0, sizeof(attr));
        starpu_vector_data_register(&handles[0], STARPU_MAIN_RAM,
                                    (uintptr_t)sums, MANY, sizeof(int));
        starpu_variable_data_register(&handles[1], STARPU_MAIN_RAM,
                                      (uintptr_t)&factor, sizeof(factor));
        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, handles[1], 0), 0);
        attr.cl.cpu_funcs[0] = add_in_turns;
        attr.cl.nbuffers = 2;
        attr.cl.modes[0] = STARPU_RW;
        attr.cl.modes[1] = STARPU_R;
        attr.handles = handles;
        attr.cl_arg = malloc(16);
        attr.cl_arg_free = 1; /* once */
        attr.if_clause = 1;
        attr.num_threads = omp_threads[t];
        starpu_omp_parallel_region(&attr);
        starpu_data_unregister(handles[0]);
        starpu_data_unregister(handles[1]);
        ck_assert_int_eq(sums[0], 7 * omp_threads[t]);
    }
    starpu_omp_shutdown();
}
END_TEST

/* -- barriers, masters -- */

struct rounds {
    atomic_int arrived, masters;
    int bad;
};

static void count_master(void *arg)
{
    atomic_fetch_add(&((struct rounds *)arg)->masters, 1);
}

static void meet_often(void *buffers[], void *arg)
{
    struct rounds *rounds = arg;
    int n = starpu_omp_get_num_threads();

    (void)buffers;
    for (int i = 1; i <= 50; i++) {
        atomic_fetch_add(&rounds->arrived, 1);
        starpu_omp_master(count_master, rounds);
        starpu_omp_barrier();
        if (rounds->arrived != i * n)
            rounds->bad = 1;
        starpu_omp_barrier();
    }
}

START_TEST(nobody_passes_a_barrier_before_all_have_come)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        struct rounds rounds = {0};

        omp_parallel(omp_threads[t], meet_often, &rounds);
        ck_assert_int_eq(rounds.bad, 0);
        ck_assert_int_eq(rounds.arrived, 50 * omp_threads[t]);
        ck_assert_int_eq(rounds.masters, 50);
    }
    starpu_omp_barrier(); /* one thread */
    starpu_omp_shutdown();
}
END_TEST

/* -- single -- */

struct singles {
    atomic_int n, inlined, copies, last;
};

static void count_single(void *arg)
{
    struct singles *singles = arg;

    atomic_fetch_add(&singles->n, 1);
    singles->last = singles->n;
}

static void make_copy(void *arg, void *data, unsigned long long size)
{
    struct singles *singles = arg;

    ck_assert_uint_eq(size, sizeof(int));
    *(int *)data = 100 + atomic_fetch_add(&singles->copies, 1);
}

static void do_singles(void *buffers[], void *arg)
{
    struct singles *singles = arg;

    (void)buffers;
    for (int i = 1; i <= 20; i++) {
        int own = -1, *of_other;

        starpu_omp_single(count_single, singles, 0);
        ck_assert_int_eq(singles->last, i);
        if (starpu_omp_single_inline())
            atomic_fetch_add(&singles->inlined, 1);
        starpu_omp_single_copyprivate(make_copy, singles, &own, sizeof(own));
        ck_assert_int_eq(own, 99 + i);
        own = -i;
        of_other = starpu_omp_single_copyprivate_inline_begin(&own);
        if (!of_other)
            own = 7 * i;
        else
            own = *of_other;
        starpu_omp_single_copyprivate_inline_end();
        ck_assert_int_eq(own, 7 * i);
        starpu_omp_barrier();
    }
}

START_TEST(one_thread_does_what_single_is_for)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        struct singles singles = {0};

        omp_parallel(omp_threads[t], do_singles, &singles);
        ck_assert_int_eq(singles.n, 20);
        ck_assert_int_eq(singles.inlined, 20);
        ck_assert_int_eq(singles.copies, 20);
    }
    starpu_omp_shutdown();
}
END_TEST

static void count_without_waiting(void *buffers[], void *arg)
{
    (void)buffers;
    for (int i = 0; i < 30; i++)
        starpu_omp_single(count_single, arg, 1);
}

START_TEST(singles_without_barrier_are_each_executed_once)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        struct singles singles = {0};

        omp_parallel(omp_threads[t], count_without_waiting, &singles);
        ck_assert_int_eq(singles.n, 30);
    }
    starpu_omp_shutdown();
}
END_TEST

/* -- critical sections and locks -- */

/* Plain integers: who is there together loses counts. The worker goes on with
 * other threads in the middle. */
struct shared {
    int named, nameless, atomics, locked, nested;
    starpu_omp_lock_t lock;
    starpu_omp_nest_lock_t nest_lock;
    atomic_int inside, together, tried;
};

static void pause_worker(void)
{
    starpu_omp_taskwait();
}

static void add_slowly(int *n)
{
    int before = *n;

    pause_worker();
    *n = before + 1;
}

static void idle(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

/* A task to wait for, so that waiting does suspend. */
static void add_in_section(void *arg)
{
    struct shared *shared = arg;

    omp_spawn(idle, NULL);
    add_slowly(&shared->nameless);
}

static void use_locks(void *buffers[], void *arg)
{
    struct shared *shared = arg;

    (void)buffers;
    for (int i = 0; i < 10; i++) {
        omp_spawn(idle, NULL);
        starpu_omp_critical(add_in_section, shared, NULL);
        starpu_omp_critical_inline_begin("a name");
        if (atomic_fetch_add(&shared->inside, 1))
            shared->together = 1;
        omp_spawn(idle, NULL);
        add_slowly(&shared->named);
        atomic_fetch_sub(&shared->inside, 1);
        starpu_omp_critical_inline_end("a name");
        starpu_omp_atomic_fallback_inline_begin();
        omp_spawn(idle, NULL);
        add_slowly(&shared->atomics);
        starpu_omp_atomic_fallback_inline_end();
        starpu_omp_set_lock(&shared->lock);
        omp_spawn(idle, NULL);
        add_slowly(&shared->locked);
        starpu_omp_unset_lock(&shared->lock);
        starpu_omp_set_nest_lock(&shared->nest_lock);
        starpu_omp_set_nest_lock(&shared->nest_lock);
        ck_assert_int_eq(starpu_omp_test_nest_lock(&shared->nest_lock), 3);
        starpu_omp_unset_nest_lock(&shared->nest_lock);
        starpu_omp_unset_nest_lock(&shared->nest_lock);
        omp_spawn(idle, NULL);
        add_slowly(&shared->nested);
        starpu_omp_unset_nest_lock(&shared->nest_lock);
    }
}

START_TEST(sections_and_locks_keep_others_out)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        struct shared shared = {0};
        int n = 10 * omp_threads[t];

        starpu_omp_init_lock(&shared.lock);
        starpu_omp_init_nest_lock(&shared.nest_lock);
        ck_assert_ptr_nonnull(shared.lock.internal);
        ck_assert_ptr_nonnull(shared.nest_lock.internal);
        omp_parallel(omp_threads[t], use_locks, &shared);
        ck_assert_int_eq(shared.nameless, n);
        ck_assert_int_eq(shared.named, n);
        ck_assert_int_eq(shared.atomics, n);
        ck_assert_int_eq(shared.locked, n);
        ck_assert_int_eq(shared.nested, n);
        ck_assert_int_eq(shared.together, 0);
        starpu_omp_destroy_lock(&shared.lock);
        starpu_omp_destroy_nest_lock(&shared.nest_lock);
        ck_assert_ptr_null(shared.lock.internal);
        ck_assert_ptr_null(shared.nest_lock.internal);
    }
    starpu_omp_shutdown();
}
END_TEST

/* What one thread has, others cannot get by trying. */
static void try_locks(void *buffers[], void *arg)
{
    struct shared *shared = arg;

    (void)buffers;
    if (starpu_omp_master_inline()) {
        ck_assert_int_eq(starpu_omp_test_lock(&shared->lock), 1);
        ck_assert_int_eq(starpu_omp_test_nest_lock(&shared->nest_lock), 1);
    }
    starpu_omp_barrier();
    if (!starpu_omp_master_inline()) {
        shared->tried += starpu_omp_test_lock(&shared->lock) == 0;
        shared->tried += starpu_omp_test_nest_lock(&shared->nest_lock) == 0;
    }
    starpu_omp_barrier();
    if (starpu_omp_master_inline()) {
        starpu_omp_unset_lock(&shared->lock);
        starpu_omp_unset_nest_lock(&shared->nest_lock);
        ck_assert_int_eq(starpu_omp_test_lock(&shared->lock), 1);
        starpu_omp_unset_lock(&shared->lock);
    }
}

START_TEST(a_lock_that_is_taken_cannot_be_got_by_trying)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        struct shared shared = {0};

        starpu_omp_init_lock(&shared.lock);
        starpu_omp_init_nest_lock(&shared.nest_lock);
        omp_parallel(omp_threads[t], try_locks, &shared);
        ck_assert_int_eq(shared.tried, 2 * (omp_threads[t] - 1));
        starpu_omp_destroy_lock(&shared.lock);
        starpu_omp_destroy_nest_lock(&shared.nest_lock);
    }
    starpu_omp_shutdown();
}
END_TEST

/* -- who is thread 0 -- */

struct first {
    pthread_t thread;
    int worker, level;
    atomic_int ntasks;
};

static void run_task(void *buffers[], void *arg)
{
    struct first *first = arg;

    (void)buffers;
    atomic_fetch_add(&first->ntasks, 1);
}

static struct starpu_codelet plain = {
    .cpu_funcs = {run_task},
    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
    .name = "plain",
};

/* A task of StarPU's that nobody in the region waits for. */
static void submit_plain(struct first *first, int worker)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &plain;
    task->cl_arg = first;
    if (worker >= 0) {
        task->execute_on_a_specific_worker = 1;
        task->workerid = (unsigned)worker;
    }
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

static void be_first(void *buffers[], void *arg)
{
    struct first *first = arg;

    (void)buffers;
    if (starpu_omp_get_thread_num() == 0) {
        first->thread = pthread_self();
        first->worker = starpu_worker_get_id();
        first->level = starpu_omp_get_level();
        ck_assert_ptr_nonnull(starpu_task_get_current());
    }
}

/* It would cost the waking of a thread, and of main again. */
START_TEST(main_is_thread_0_where_its_worker_has_nothing_to_do)
{
    bool was = false;

    if (machine_simulated(_i))
        return;
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++)
        do {
            struct first first = {.worker = -1};

            omp_parallel(omp_threads[t], be_first, &first);
            ck_assert_int_ge(first.worker, 0);
            ck_assert_int_eq(first.level, 1);
            was = pthread_equal(first.thread, pthread_self());
            ck_assert_int_lt(starpu_worker_get_id(), 0);
            ck_assert_ptr_null(starpu_task_get_current());
        } while (!was);
    starpu_omp_shutdown();
}
END_TEST

static void leave_work(void *buffers[], void *arg)
{
    struct first *first = arg;

    (void)buffers;
    submit_plain(first, -1);
    submit_plain(first, starpu_worker_get_id());
    omp_spawn(run_task, first);
    starpu_omp_barrier();
    submit_plain(first, starpu_worker_get_id());
    if (starpu_omp_get_thread_num() % 2)
        starpu_omp_taskwait();
}

START_TEST(its_worker_goes_on_when_the_region_has_ended)
{
    enum { TIMES = 200 };

    omp_open(_i);
    for (int i = 0; i < TIMES; i++)
        for (int t = 0; t < NTHREADS; t++) {
            struct first first = {.ntasks = 0};

            omp_parallel(omp_threads[t], leave_work, &first);
            ck_assert_int_ge(first.ntasks, omp_threads[t]);
            submit_plain(&first, 0);
            ck_assert_int_eq(starpu_task_wait_for_all(), 0);
            ck_assert_int_eq(first.ntasks, 4 * omp_threads[t] + 1);
            omp_parallel(omp_threads[t], be_first, &first);
            submit_plain(&first, -1);
            submit_plain(&first, 0);
            ck_assert_int_eq(starpu_task_wait_for_all(), 0);
            ck_assert_int_eq(first.ntasks, 4 * omp_threads[t] + 3);
        }
    starpu_omp_shutdown();
}
END_TEST

struct waited {
    starpu_data_handle_t handle;
    int value;
    atomic_int n;
};

static void wait_inside(void *buffers[], void *arg)
{
    struct waited *waited = arg;

    (void)buffers;
    ck_assert_int_eq(starpu_data_acquire(waited->handle, STARPU_RW), 0);
    waited->value++;
    starpu_data_release(waited->handle);
    atomic_fetch_add(&waited->n, 1);
}

static struct starpu_codelet waiting = {
    .cpu_funcs = {wait_inside},
    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
    .name = "waiting",
};

/* While a thread has the datum others begin tasks that wait for it, and which the
 * region does not wait for. */
static void hold(void *buffers[], void *arg)
{
    struct waited *waited = arg;

    (void)buffers;
    if (starpu_omp_get_thread_num() == 0)
        ck_assert_int_eq(starpu_data_acquire(waited->handle, STARPU_RW), 0);
    starpu_omp_barrier();
    for (int i = 0; i < 4; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &waiting;
        task->cl_arg = waited;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_omp_barrier();
    starpu_sleep(0.0001);
    starpu_omp_barrier();
    if (starpu_omp_get_thread_num() == 0) {
        waited->value++;
        starpu_data_release(waited->handle);
    }
}

START_TEST(tasks_that_wait_when_the_region_ends_go_on)
{
    omp_open(_i);
    for (int i = 0; i < 20; i++)
        for (int t = 0; t < NTHREADS; t++) {
            struct waited waited = {.value = 0};

            starpu_variable_data_register(&waited.handle, STARPU_MAIN_RAM,
                                          (uintptr_t)&waited.value,
                                          sizeof(waited.value));
            omp_parallel(omp_threads[t], hold, &waited);
            ck_assert_int_eq(starpu_task_wait_for_all(), 0);
            starpu_data_unregister(waited.handle);
            ck_assert_int_eq(waited.n, 4 * omp_threads[t]);
            ck_assert_int_eq(waited.value, 4 * omp_threads[t] + 1);
        }
    starpu_omp_shutdown();
}
END_TEST

/* -- time -- */

static void take_time(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    starpu_usleep(1000);
}

START_TEST(time_is_that_of_the_machine)
{
    double before, after;

    omp_open(_i);
    before = starpu_omp_get_wtime();
    omp_parallel(2, take_time, NULL);
    after = starpu_omp_get_wtime();
    ck_assert_double_ge(before, 0);
    ck_assert_double_ge(after - before, 0.000999);
    if (machine_simulated(_i)) /* at once, if there are two processors */
        ck_assert_double_le(after - before,
                            starpu_omp_get_num_procs() > 1 ? 0.0015 : 0.0025);
    ck_assert_double_gt(starpu_omp_get_wtick(), 0);
    starpu_omp_shutdown();
}
END_TEST

/* What a thread of the application's own calls first. */
static void *take_lock(void *arg)
{
    starpu_omp_set_lock(arg);
    ck_assert_int_eq(starpu_omp_test_lock(arg), 0);
    starpu_omp_unset_lock(arg);
    return NULL;
}

static void *take_if_free(void *arg)
{
    ck_assert_int_ne(starpu_omp_test_lock(arg), 0);
    starpu_omp_unset_lock(arg);
    return NULL;
}

static void *take_atomic(void *arg)
{
    starpu_omp_atomic_fallback_inline_begin();
    starpu_omp_atomic_fallback_inline_end();
    return arg;
}

START_TEST(a_lock_may_be_the_first_call_of_a_thread)
{
    void *(*const bodies[])(void *) = {take_lock, take_if_free, take_atomic};
    starpu_omp_lock_t lock;
    pthread_t thread;

    omp_open(0);
    starpu_omp_init_lock(&lock);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, bodies[i], &lock), 0);
        pthread_join(thread, NULL);
    }
    starpu_omp_destroy_lock(&lock);
    starpu_omp_shutdown();
}
END_TEST

SUITE_MAIN(omp_regions)
{
    Suite *suite = suite_create("threads of OpenMP regions");
    TCase *each = tcase_create("on each machine");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(each_thread_executes_a_region_once);
    EACH(clauses_say_how_many_threads_there_are);
    EACH(regions_in_regions_have_threads_if_levels_allow_it);
    EACH(threads_use_the_data_of_their_region_together);
    EACH(nobody_passes_a_barrier_before_all_have_come);
    EACH(one_thread_does_what_single_is_for);
    EACH(singles_without_barrier_are_each_executed_once);
    EACH(sections_and_locks_keep_others_out);
    EACH(a_lock_that_is_taken_cannot_be_got_by_trying);
    EACH(main_is_thread_0_where_its_worker_has_nothing_to_do);
    EACH(its_worker_goes_on_when_the_region_has_ended);
    EACH(tasks_that_wait_when_the_region_ends_go_on);
    EACH(time_is_that_of_the_machine);
    tcase_add_test(each, a_lock_may_be_the_first_call_of_a_thread);
    return suite_main(suite);
}
