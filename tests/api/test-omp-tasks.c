/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-omp-tasks.c - explicit tasks of OpenMP: when they run and who waits
 * for them, dependencies, taskgroups, taskloops, handles by address.
 */
#include <stdbool.h>

#include <orrery.h>

#include "omp.h"

/* Each test is made outside of regions and in regions of several threads. */
static void in_each_region(omp_body_t body, void *arg)
{
    body(NULL, arg);
    for (int t = 0; t < NTHREADS; t++)
        omp_parallel(omp_threads[t], body, arg);
}

/* -- taskwait: Fibonacci -- */

struct fib {
    int n, result;
};

static void fib(void *buffers[], void *arg)
{
    struct fib *self = arg, left = {self->n - 1, 0}, right = {self->n - 2, 0};

    (void)buffers;
    self->result = self->n;
    if (self->n < 2)
        return;
    omp_spawn(fib, &left);
    omp_spawn(fib, &right);
    starpu_omp_taskwait();
    self->result = left.result + right.result;
}

static void check_fib(void *buffers[], void *arg)
{
    struct fib root = {9, 0};

    (void)arg;
    fib(buffers, &root);
    ck_assert_int_eq(root.result, 34);
}

START_TEST(who_waits_has_the_results_of_its_tasks)
{
    omp_open(_i);
    in_each_region(check_fib, NULL);
    starpu_omp_shutdown();
}
END_TEST

/* -- barriers and taskgroups wait for descendants, taskwait for children -- */

struct tree {
    atomic_int ended, groups, bad;
    int n;
};

static void grow(void *buffers[], void *arg)
{
    struct tree *tree = arg;

    (void)buffers;
    atomic_fetch_add(&tree->ended, 1);
}

static void branch(void *buffers[], void *arg)
{
    (void)buffers;
    for (int i = 0; i < 3; i++)
        omp_spawn(grow, arg);
    grow(buffers, arg); /* it ends before those it created */
}

static void branches(void *arg)
{
    for (int i = 0; i < 5; i++)
        omp_spawn(branch, arg);
}

static void group_of_branches(void *buffers[], void *arg)
{
    struct tree *own = calloc(1, sizeof(*own));

    (void)buffers;
    (void)arg;
    starpu_omp_taskgroup(branches, own);
    ck_assert_int_eq(own->ended, 20);
    starpu_omp_taskgroup_inline_begin();
    branches(own);
    starpu_omp_taskgroup_inline_begin();
    starpu_omp_taskgroup_inline_end(); /* there is nothing in it */
    starpu_omp_taskgroup_inline_end();
    ck_assert_int_eq(own->ended, 40);
    free(own);
}

static void tree_then_barrier(void *buffers[], void *arg)
{
    struct tree *tree = arg;

    (void)buffers;
    branches(tree);
    starpu_omp_barrier();
    if (tree->ended != 20 * starpu_omp_get_num_threads())
        tree->bad = 1;
}

START_TEST(groups_and_barriers_wait_for_tasks_of_tasks)
{
    omp_open(_i);
    in_each_region(group_of_branches, NULL);
    for (int t = 0; t < NTHREADS; t++) {
        struct tree tree = {0};

        omp_parallel(omp_threads[t], tree_then_barrier, &tree);
        ck_assert_int_eq(tree.bad, 0);
        ck_assert_int_eq(tree.ended, 20 * omp_threads[t]);
    }
    starpu_omp_shutdown();
}
END_TEST

/* A region ends when its tasks have, without a barrier. */
static void leave_tasks(void *buffers[], void *arg)
{
    (void)buffers;
    branches(arg);
}

START_TEST(a_region_ends_after_its_tasks)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        struct tree tree = {0};

        omp_parallel(omp_threads[t], leave_tasks, &tree);
        ck_assert_int_eq(tree.ended, 20 * omp_threads[t]);
    }
    starpu_omp_shutdown();
}
END_TEST

/* -- tasks that are not deferred -- */

static void note_final(void *buffers[], void *arg)
{
    (void)buffers;
    *(int *)arg += 1 + 10 * (starpu_omp_in_final() != 0);
}

/* Of tasks in it nothing is deferred. */
static void final_task(void *buffers[], void *arg)
{
    int own = 0;

    (void)buffers;
    omp_spawn(note_final, &own);
    ck_assert_int_eq(own, 11);
    *(int *)arg += starpu_omp_in_final() != 0;
}

static void not_deferred(void *buffers[], void *arg)
{
    struct starpu_omp_task_region_attr attr;
    int n = 0;

    (void)buffers;
    (void)arg;
    attr = omp_task(note_final, &n);
    attr.if_clause = 0;
    starpu_omp_task_region(&attr);
    ck_assert_int_eq(n, 1);
    attr.mergeable_clause = 1;
    attr.untied_clause = 1;
    starpu_omp_task_region(&attr);
    ck_assert_int_eq(n, 2);
    n = 0;
    attr = omp_task(final_task, &n);
    attr.final_clause = 1;
    starpu_omp_task_region(&attr);
    starpu_omp_taskwait();
    ck_assert_int_eq(n, 1);
    ck_assert_int_eq(starpu_omp_in_final(), 0);
}

START_TEST(tasks_that_are_not_deferred_have_ended_at_once)
{
    omp_open(_i);
    in_each_region(not_deferred, NULL);
    starpu_omp_shutdown();
}
END_TEST

/* -- dependencies -- */

enum { NSTEPS = 30 };

static void add_step(void *buffers[], void *arg)
{
    int *value = (int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
    int step = *(int *)arg;

    *value = *value * 3 % 1009 + step; /* the order matters */
}

static void read_step(void *buffers[], void *arg)
{
    *(int *)arg = *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

/* As a compiler does for depend: the handle of the address, made if needed. */
static starpu_data_handle_t handle_of(int *variable)
{
    starpu_data_handle_t handle = starpu_omp_data_lookup(variable);

    if (handle)
        return handle;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)variable,
                                  sizeof(*variable));
    starpu_omp_handle_register(handle);
    return handle;
}

static void depend(omp_body_t body, void *arg, int *variable,
                   enum starpu_data_access_mode mode, bool deferred)
{
    struct starpu_omp_task_region_attr attr = omp_task(body, arg);
    starpu_data_handle_t handle = handle_of(variable);

    attr.cl.nbuffers = 1;
    attr.cl.modes[0] = mode;
    attr.handles = &handle;
    attr.if_clause = deferred;
    starpu_omp_task_region(&attr);
}

/* Steps of two variables, each in its order; readers in between. */
static void take_steps(void *arg)
{
    int steps[NSTEPS], seen[NSTEPS], a = 1, b = 1, expected = 1;

    (void)arg;
    for (int i = 0; i < NSTEPS; i++) {
        steps[i] = i;
        depend(add_step, &steps[i], &a, STARPU_RW, i % 5 != 3);
        depend(add_step, &steps[i], &b, STARPU_RW, true);
        depend(read_step, &seen[i], &a, STARPU_R, true);
    }
    starpu_omp_taskwait();
    for (int i = 0; i < NSTEPS; i++) {
        expected = expected * 3 % 1009 + i;
        ck_assert_int_eq(seen[i], expected);
    }
    ck_assert_int_eq(a, expected);
    ck_assert_int_eq(b, expected);
    ck_assert_ptr_eq(starpu_omp_data_lookup(&a), handle_of(&a));
    for (int i = 0; i < 2; i++) { /* they are this function's */
        starpu_data_handle_t handle = starpu_omp_data_lookup(i ? &b : &a);

        starpu_omp_handle_unregister(handle);
        starpu_data_unregister(handle);
    }
    ck_assert_ptr_null(starpu_omp_data_lookup(&a));
}

static void steps_of_master(void *buffers[], void *arg)
{
    (void)buffers;
    starpu_omp_master(take_steps, arg);
}

START_TEST(tasks_with_a_datum_keep_their_order)
{
    omp_open(_i);
    in_each_region(steps_of_master, NULL);
    starpu_omp_shutdown();
}
END_TEST

/* In the task, siblings have an order of their own, whatever it depends on. */
static void depend_inside(void *buffers[], void *arg)
{
    int steps[3] = {1, 2, 3}, own = 0;

    ck_assert_ptr_null(starpu_omp_data_lookup(arg));
    ck_assert_ptr_null(starpu_omp_data_lookup(&own));
    for (int i = 0; i < 3; i++)
        depend(add_step, &steps[i], arg, STARPU_RW, true);
    starpu_omp_taskwait();
    ck_assert_ptr_nonnull(starpu_omp_data_lookup(arg));
    if (buffers)
        ck_assert_ptr_eq(arg, (int *)STARPU_VARIABLE_GET_PTR(buffers[0]));
}

static void nested_steps(void *arg)
{
    int *value = arg;

    for (int i = 0; i < 4; i++)
        depend(depend_inside, value, value, i == 2 ? STARPU_R : STARPU_RW,
               true);
    starpu_omp_taskwait();
}

static void nested_steps_of_master(void *buffers[], void *arg)
{
    (void)buffers;
    starpu_omp_master(nested_steps, arg);
}

START_TEST(tasks_in_tasks_order_the_same_datum_among_themselves)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        int value = 0, expected = 0;

        for (int i = 0; i < 12; i++)
            expected = expected * 3 % 1009 + 1 + i % 3;
        omp_parallel(omp_threads[t], nested_steps_of_master, &value);
        ck_assert_int_eq(value, expected);
    }
    starpu_omp_shutdown();
}
END_TEST

/* -- beside StarPU's own tasks -- */

static void multiply(void *buffers[], void *arg)
{
    int *value = (int *)STARPU_VARIABLE_GET_PTR(buffers[0]);

    *value = *value * 5 % 1009 + *(int *)arg;
}

static struct starpu_codelet multiply_cl = {
    .cpu_funcs = {multiply},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
    .name = "multiply",
};

static void submit_multiply(starpu_data_handle_t handle, int *step)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &multiply_cl;
    task->handles[0] = handle;
    task->cl_arg = step;
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

/* One order for both sorts, and for what acquires the datum. */
static void mix_sorts(void *arg)
{
    int steps[NSTEPS], value = 1, expected = 1;
    starpu_data_handle_t handle;

    (void)arg;
    for (int i = 0; i < NSTEPS; i++) {
        steps[i] = i;
        expected = expected * (i % 3 ? 3 : 5) % 1009 + i;
        if (i % 3)
            depend(add_step, &steps[i], &value, STARPU_RW, true);
        else
            submit_multiply(handle_of(&value), &steps[i]);
        if (i % 16 != 7)
            continue;
        starpu_data_acquire(handle_of(&value), STARPU_R);
        ck_assert_int_eq(value, expected);
        starpu_data_release(handle_of(&value));
    }
    starpu_data_acquire(handle_of(&value), STARPU_R);
    ck_assert_int_eq(value, expected);
    starpu_data_release(handle_of(&value));
    starpu_omp_taskwait();
    handle = starpu_omp_data_lookup(&value);
    starpu_omp_handle_unregister(handle);
    starpu_data_unregister(handle);
}

static void mix_sorts_in_master(void *buffers[], void *arg)
{
    (void)buffers;
    starpu_omp_master(mix_sorts, arg);
}

START_TEST(tasks_of_both_sorts_have_one_order)
{
    omp_open(_i);
    in_each_region(mix_sorts_in_master, NULL);
    starpu_omp_shutdown();
}
END_TEST

/* A kernel of another task is in no region: it is answered as main is outside of one. */
static void ask_openmp(void *buffers[], void *arg)
{
    starpu_omp_lock_t lock;
    int *nasked = arg;

    (void)buffers;
    ck_assert_int_eq(starpu_omp_get_thread_num(), 0);
    ck_assert_int_eq(starpu_omp_get_num_threads(), 1);
    ck_assert_int_eq(starpu_omp_in_parallel(), 0);
    ck_assert_int_eq(starpu_omp_get_level(), 0);
    starpu_omp_init_lock(&lock);
    starpu_omp_set_lock(&lock);
    ++*nasked;
    starpu_omp_unset_lock(&lock);
    starpu_omp_destroy_lock(&lock);
}

static struct starpu_codelet ask_openmp_cl = {
    .cpu_funcs = {ask_openmp},
    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
    .name = "ask_openmp",
};

START_TEST(kernels_of_other_tasks_may_ask)
{
    enum { N = 3 };
    int nasked[N] = {0};

    omp_open(_i);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(starpu_task_insert(&ask_openmp_cl, STARPU_CL_ARGS_NFREE,
                                            &nasked[i], sizeof(nasked[i]), 0),
                         0);
    starpu_task_wait_for_all();
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(nasked[i], 1);
    starpu_omp_shutdown();
}
END_TEST

/* Whoever waits in a task that depends on others lets these go on. */
struct waits {
    starpu_omp_lock_t *lock;
    atomic_int ended;
};

static void wait_inside(void *buffers[], void *arg)
{
    struct waits *waits = arg;
    struct tree tree = {.n = 0};

    (void)buffers;
    starpu_omp_set_lock(waits->lock);
    starpu_omp_unset_lock(waits->lock);
    for (int i = 0; i < 3; i++)
        omp_spawn(grow, &tree);
    starpu_omp_taskwait();
    ck_assert_int_eq(tree.ended, 3);
    atomic_fetch_add(&waits->ended, 1);
}

static void many_wait_inside(void *buffers[], void *arg)
{
    enum { N = 500, NVARIABLES = 7 };
    struct waits *waits = arg;
    static int variables[NVARIABLES];

    (void)buffers;
    if (!starpu_omp_single_inline())
        return;
    starpu_omp_set_lock(
        waits->lock); /* none of them ends before the last one */
    for (int i = 0; i < N; i++)
        depend(wait_inside, waits, &variables[i % NVARIABLES],
               i % 4 ? STARPU_R : STARPU_RW, true);
    ck_assert_int_eq(waits->ended, 0);
    starpu_omp_unset_lock(waits->lock);
    starpu_omp_taskwait();
    ck_assert_int_eq(waits->ended, N);
}

START_TEST(tasks_with_data_may_wait_for_who_creates_them)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        starpu_omp_lock_t lock;
        struct waits waits = {.lock = &lock};

        starpu_omp_init_lock(&lock);
        omp_parallel(omp_threads[t], many_wait_inside, &waits);
        starpu_omp_destroy_lock(&lock);
    }
    starpu_omp_shutdown();
}
END_TEST

/* -- what a task is to StarPU -- */

struct held {
    struct starpu_task *task;
    atomic_int order, second;
    int value;
};

static void let_it_end(void *buffers[], void *arg)
{
    struct held *held = arg;

    (void)buffers;
    ++held->order;
    starpu_task_end_dep_release(held->task);
}

static void hold_its_end(void *buffers[], void *arg)
{
    struct held *held = arg;
    struct starpu_task *task = starpu_task_get_current();

    ck_assert_ptr_nonnull(task);
    ck_assert_str_eq(starpu_task_get_name(task), "k");
    ck_assert_ptr_eq(task->cl_arg, arg);
    ck_assert_ptr_eq((int *)STARPU_VARIABLE_GET_PTR(buffers[0]), &held->value);
    ck_assert_int_eq((int)task->workerid, starpu_worker_get_id());
    ck_assert_ptr_nonnull(task->handles[0]);
    starpu_task_end_dep_add(task, 1);
    held->task = task;
    omp_spawn(let_it_end, held);
}

static void come_second(void *buffers[], void *arg)
{
    struct held *held = arg;

    (void)buffers;
    held->second = ++held->order;
}

static void hold_and_release(void *buffers[], void *arg)
{
    struct held held = {.order = 0};

    (void)buffers;
    (void)arg;
    if (!starpu_omp_single_inline())
        return;
    depend(hold_its_end, &held, &held.value, STARPU_RW, true);
    depend(come_second, &held, &held.value, STARPU_RW, true);
    starpu_omp_taskwait();
    ck_assert_int_eq(held.second, 2);
}

START_TEST(the_end_of_a_task_may_wait_for_another_one)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++)
        omp_parallel(omp_threads[t], hold_and_release, NULL);
    starpu_omp_shutdown();
}
END_TEST

/* What a region has entered is unregistered at its end: the value is at home. */
static void enter_and_leave(void *buffers[], void *arg)
{
    static int five = 5;

    (void)buffers;
    if (starpu_omp_master_inline())
        depend(add_step, &five, arg, STARPU_RW, true);
}

START_TEST(handles_of_a_region_end_with_it)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        int value = 7;

        omp_parallel(omp_threads[t], enter_and_leave, &value);
        ck_assert_int_eq(value, 26);
        ck_assert_ptr_null(starpu_omp_data_lookup(&value));
    }
    starpu_omp_shutdown();
}
END_TEST

/* -- taskloops -- */

struct taskloop {
    int other;
    struct starpu_omp_task_region_attr attr;
    atomic_int *times;
    atomic_int *tasks, *longest;
};

static void loop_range(void *buffers[], void *arg)
{
    struct taskloop *loop = arg;

    (void)buffers;
    atomic_fetch_add(loop->tasks, 1);
    ck_assert_uint_eq(loop->attr.chunk, loop->attr.end_i - loop->attr.begin_i);
    if ((int)loop->attr.chunk > *loop->longest)
        *loop->longest = (int)loop->attr.chunk;
    for (unsigned long long i = loop->attr.begin_i; i < loop->attr.end_i; i++)
        atomic_fetch_add(&loop->times[i], 1);
}

static atomic_int attr_times[100], nloops;

static void loop_of_attr(void *buffers[], void *arg)
{
    struct starpu_omp_task_region_attr *attr = arg;

    (void)buffers;
    for (unsigned long long i = attr->begin_i; i < attr->end_i; i++)
        atomic_fetch_add(&attr_times[i], 1);
}

static void expect_times(const atomic_int *times, int n)
{
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(times[i], n);
}

static void run_taskloop(int num_tasks, unsigned long long grainsize,
                         int expected_tasks, int expected_longest)
{
    atomic_int times[100] = {0}, tasks = 0, longest = 0;
    struct taskloop loop = {
        .times = times, .tasks = &tasks, .longest = &longest};

    loop.attr = omp_task(loop_range, &loop);
    loop.attr.cl_arg_size = sizeof(loop);
    loop.attr.nb_iterations = 100;
    loop.attr.num_tasks = num_tasks;
    loop.attr.grainsize = grainsize;
    starpu_omp_taskloop_inline_begin(&loop.attr);
    starpu_omp_taskloop_inline_end(&loop.attr);
    expect_times(times, 1);
    ck_assert_int_eq(tasks, expected_tasks);
    ck_assert_int_eq(longest, expected_longest);
}

static void taskloops(void *buffers[], void *arg)
{
    struct starpu_omp_task_region_attr attr;

    (void)buffers;
    (void)arg;
    run_taskloop(7, 0, 7, 16);
    run_taskloop(0, 30, 3, 34);
    run_taskloop(0, 0, 4, 25);
    run_taskloop(1000, 0, 100, 1);
    attr = omp_task(loop_of_attr, NULL);
    attr.cl_arg = &attr; /* the argument is the structure itself */
    attr.nb_iterations = 100;
    attr.num_tasks = 3;
    attr.nogroup_clause = 1;
    starpu_omp_taskloop_inline_begin(&attr);
    starpu_omp_taskloop_inline_end(&attr);
    starpu_omp_taskwait();
    atomic_fetch_add(&nloops, 1);
}

/* The argument is something else: they look at the structure. */
struct apart {
    struct starpu_omp_task_region_attr *attr;
    atomic_int times[100];
};

static void range_apart(void *buffers[], void *arg)
{
    struct apart *apart = arg;

    (void)buffers;
    for (unsigned long long i = apart->attr->begin_i; i < apart->attr->end_i;
         i++)
        atomic_fetch_add(&apart->times[i], 1);
}

static void taskloop_apart(void *buffers[], void *arg)
{
    struct apart *apart = calloc(1, sizeof(*apart));
    struct starpu_omp_task_region_attr attr = omp_task(range_apart, apart);

    (void)buffers;
    (void)arg;
    apart->attr = &attr;
    attr.nb_iterations = 100;
    attr.num_tasks = 6;
    starpu_omp_taskloop_inline_begin(&attr);
    starpu_omp_taskloop_inline_end(&attr);
    expect_times(apart->times, 1);
    free(apart);
}

START_TEST(the_tasks_of_a_taskloop_share_its_iterations)
{
    omp_open(_i);
    in_each_region(taskloops, NULL);
    expect_times(attr_times, nloops);
    in_each_region(taskloop_apart, NULL);
    starpu_omp_shutdown();
}
END_TEST

/* -- where tasks run -- */

struct places {
    int threads;
    atomic_int inside[MANY], crowded, outside;
};

static void look_where(void *buffers[], void *arg)
{
    struct places *places = arg;
    int me = starpu_omp_get_thread_num();

    (void)buffers;
    if (me < 0 || me >= places->threads ||
        starpu_omp_get_num_threads() != places->threads) {
        places->outside = 1;
        return;
    }
    if (atomic_fetch_add(&places->inside[me], 1))
        places->crowded = 1;
    for (volatile int i = 0; i < 2000; i++)
        ;
    atomic_fetch_sub(&places->inside[me], 1);
}

static void scatter(void *buffers[], void *arg)
{
    (void)buffers;
    for (int i = 0; i < 40; i++)
        omp_spawn(look_where, arg);
}

START_TEST(no_two_tasks_are_one_thread_at_once)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        struct places places = {.threads = omp_threads[t]};

        omp_parallel(omp_threads[t], scatter, &places);
        ck_assert_int_eq(places.outside, 0);
        ck_assert_int_eq(places.crowded, 0);
    }
    starpu_omp_shutdown();
}
END_TEST

/* -- arguments, priorities, devices -- */

static void free_nothing(void *buffers[], void *arg)
{
    (void)buffers;
    ck_assert_int_eq(*(int *)arg, 4);
}

static void give_arguments(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    for (int i = 0; i < 4; i++) {
        struct starpu_omp_task_region_attr attr =
            omp_task(free_nothing, malloc(sizeof(int)));

        *(int *)attr.cl_arg = 4;
        attr.cl_arg_size = sizeof(int);
        attr.cl_arg_free = 1;
        attr.priority = i;
        attr.if_clause = i % 2;
        starpu_omp_task_region(&attr);
    }
}

START_TEST(arguments_are_freed_with_their_tasks)
{
    omp_open(_i);
    in_each_region(give_arguments, NULL);
    starpu_omp_shutdown();
}
END_TEST

static double model_us(struct starpu_task *task,
                       struct starpu_perfmodel_arch *arch, unsigned impl)
{
    (void)task;
    (void)arch;
    (void)impl;
    return 1000;
}

static struct starpu_perfmodel model = {
    .type = STARPU_PER_ARCH,
    .arch_cost_function = model_us,
};

static void model_tasks(void *buffers[], void *arg)
{
    struct starpu_omp_task_region_attr attr = omp_task(grow, arg);

    (void)buffers;
    if (!starpu_omp_master_inline())
        return;
    attr.cl.model = &model;
    for (int i = 0; i < 10; i++)
        starpu_omp_task_region(&attr);
    attr.if_clause = 0;
    starpu_omp_task_region(&attr);
}

START_TEST(tasks_take_the_time_of_their_model)
{
    double before, us, least;
    struct tree tree = {0};

    machine_choose(_i);
    setenv("STARPU_NCUDA", "1", 1);
    unsetenv("ORRERY_SIM_KERNELS");
    ck_assert_int_eq(starpu_omp_init(), 0);
    before = starpu_omp_get_wtime();
    omp_parallel(2, model_tasks, &tree);
    us = (starpu_omp_get_wtime() - before) * 1e6;
    least = 11000 / (starpu_omp_get_num_procs() > 1 ? 2 : 1);
    if (machine_simulated(_i)) {
        ck_assert_double_ge(us, least);
        ck_assert_double_le(us, least + 2000);
        ck_assert_int_eq(tree.ended, 0); /* as all kernels of a simulation */
    } else {
        ck_assert_int_eq(tree.ended, 11);
    }
    starpu_omp_shutdown();
}
END_TEST

static void slice(void *buffers[], void *arg)
{
    struct starpu_vector_interface *vector = buffers[0];
    int *array = (int *)STARPU_VECTOR_GET_PTR(vector);
    unsigned base = STARPU_VECTOR_GET_SLICE_BASE(vector);

    array -= base; /* indices are those of the array */
    for (unsigned i = base; i < base + STARPU_VECTOR_GET_NX(vector); i++)
        array[i] = (int)i + *(int *)arg;
}

static void slices(void *buffers[], void *arg)
{
    int *array = arg;
    static int offset = 1000;

    (void)buffers;
    if (!starpu_omp_single_inline())
        return;
    for (unsigned half = 0; half < 2; half++) {
        struct starpu_omp_task_region_attr attr = omp_task(slice, &offset);
        starpu_data_handle_t handle;

        starpu_vector_data_register(&handle, STARPU_MAIN_RAM,
                                    (uintptr_t)&array[10 * half], 10,
                                    sizeof(int));
        starpu_omp_vector_annotate(handle, 10 * half);
        starpu_omp_handle_register(handle);
        ck_assert_ptr_eq(starpu_omp_data_lookup(&array[10 * half]), handle);
        attr.cl.nbuffers = 1;
        attr.cl.modes[0] = STARPU_RW;
        attr.handles = &handle;
        starpu_omp_task_region(&attr);
    }
}

START_TEST(slices_know_where_they_begin)
{
    int array[20];

    omp_open(_i);
    ck_assert_ptr_nonnull(starpu_omp_get_default_arbiter());
    omp_parallel(2, slices, array);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(array[i], 1000 + i);
    starpu_omp_shutdown();
}
END_TEST

/* -- the same run twice has the same times -- */

static void some_of_all(void *buffers[], void *arg)
{
    check_fib(buffers, arg);
    starpu_omp_critical(branches, arg, NULL);
    starpu_omp_barrier();
    steps_of_master(buffers, NULL);
    starpu_omp_barrier();
}

static double time_of_run(int machine)
{
    struct tree tree = {0};
    double end;

    omp_open(machine);
    omp_parallel(8, some_of_all, &tree);
    end = starpu_omp_get_wtime();
    starpu_omp_shutdown();
    ck_assert_int_eq(tree.ended, 160);
    return end;
}

START_TEST(simulated_runs_repeat_to_the_last_digit)
{
    double once;

    if (!machine_simulated(_i))
        return;
    once = time_of_run(_i);
    ck_assert_double_gt(once, 0);
    ck_assert(once == time_of_run(_i));
}
END_TEST

SUITE_MAIN(omp_tasks)
{
    Suite *suite = suite_create("explicit tasks of OpenMP");
    TCase *each = tcase_create("on each machine");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(who_waits_has_the_results_of_its_tasks);
    EACH(groups_and_barriers_wait_for_tasks_of_tasks);
    EACH(a_region_ends_after_its_tasks);
    EACH(tasks_that_are_not_deferred_have_ended_at_once);
    EACH(tasks_with_a_datum_keep_their_order);
    EACH(tasks_in_tasks_order_the_same_datum_among_themselves);
    EACH(tasks_of_both_sorts_have_one_order);
    EACH(kernels_of_other_tasks_may_ask);
    EACH(tasks_with_data_may_wait_for_who_creates_them);
    EACH(the_end_of_a_task_may_wait_for_another_one);
    EACH(handles_of_a_region_end_with_it);
    EACH(the_tasks_of_a_taskloop_share_its_iterations);
    EACH(no_two_tasks_are_one_thread_at_once);
    EACH(arguments_are_freed_with_their_tasks);
    EACH(tasks_take_the_time_of_their_model);
    EACH(slices_know_where_they_begin);
    EACH(simulated_runs_repeat_to_the_last_digit);
    return suite_main(suite);
}
