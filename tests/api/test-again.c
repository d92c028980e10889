/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-again.c - tasks that run more than once: submitted again, in
 * callbacks and elsewhere, or by themselves; graphs whose dependencies are
 * declared once.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include <orrery.h>

#include "machines.h"
#include "together.h"

static void add_one(void *buffers[], void *arg)
{
    (void)buffers;
    atomic_fetch_add((atomic_int *)arg, 1);
}

static struct starpu_codelet cl = {
    .cpu_funcs = {add_one}, .cuda_funcs = {add_one}, .name = "k"};

static void submit(struct starpu_task *task)
{
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

static void make(struct starpu_task *task, atomic_int *n)
{
    starpu_task_init(task);
    task->cl = &cl;
    task->cl_arg = n;
}

START_TEST(a_finished_task_is_submitted_again)
{
    struct starpu_task task;
    atomic_int n = 0;

    machine_open(_i);
    make(&task, &n);
    task.detach = 0;
    for (int i = 1; i <= 500; i++) {
        submit(&task);
        ck_assert_int_eq(starpu_task_wait(&task), 0);
        ck_assert_int_eq(n, i);
        ck_assert_int_eq(starpu_task_finished(&task), 1);
        ck_assert_int_eq((int)task.status, STARPU_TASK_FINISHED);
    }
    starpu_task_clean(&task);
    starpu_task_clean(&task); /* nothing more */
    starpu_shutdown();
}
END_TEST

/* Tasks of the application's own, which it does not clean: their memory is static, or is
 * unmapped before the run ends. */
START_TEST(a_task_of_an_earlier_run_is_submitted_again)
{
    static struct starpu_task task, behind;
    struct starpu_task *made = NULL, *next;
    const size_t size = 1 << 16;
    atomic_int n = 0;

    make(&task, &n);
    make(&behind, &n);
    task.detach = 0;
    for (int round = 0; round < 3; round++) {
        struct starpu_task *gone =
            mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        machine_open(_i);
        ck_assert_int_eq(starpu_task_finished(&task), round > 0);
        if (round > 0) { /* what has ended holds nobody back */
            ck_assert_int_eq(starpu_task_wait(&task), 0);
            starpu_task_declare_deps(&behind, 2, made, &task);
        }
        submit(&behind);
        ck_assert_int_eq(starpu_task_wait_for_all(), 0);
        starpu_task_declare_deps(&behind, 1, &task);
        submit(&task);
        submit(&behind);
        make(gone, &n);
        gone->detach = 0;
        submit(gone);
        next = starpu_task_create();
        next->cl = &cl;
        next->cl_arg = &n;
        next->detach = next->destroy = 0;
        submit(next);
        ck_assert_int_eq(starpu_task_wait(&task), 0);
        ck_assert_int_eq(starpu_task_wait_for_all(), 0);
        ck_assert_int_eq(n, 5 * (round + 1));
        if (made)
            starpu_task_destroy(made);
        made = next;
        munmap(gone, size);
        starpu_shutdown();
    }
    starpu_task_destroy(made);
    starpu_task_clean(&task);
    starpu_task_clean(&behind);
}
END_TEST

START_TEST(a_task_that_is_under_way_is_refused)
{
    struct starpu_task task;
    atomic_int n = 0;

    machine_open(_i);
    make(&task, &n);
    task.detach = 0;
    starpu_task_end_dep_add(&task, 1);
    submit(&task);
    ck_assert_int_eq(starpu_task_submit(&task), -EINVAL);
    starpu_task_end_dep_release(&task);
    ck_assert_int_eq(starpu_task_wait(&task), 0);
    submit(&task);
    ck_assert_int_eq(starpu_task_wait(&task), 0);
    ck_assert_int_eq(n, 2);
    starpu_task_clean(&task);
    starpu_shutdown();
}
END_TEST

/* The same with a tag, which stands for the run that was submitted last. */
START_TEST(a_tagged_task_is_submitted_again)
{
    struct starpu_task task;
    atomic_int n = 0;

    machine_open(_i);
    make(&task, &n);
    task.use_tag = 1;
    task.tag_id = UINT64_C(0x9234567890abcdef);
    for (int i = 1; i <= 500; i++) {
        submit(&task);
        ck_assert_int_eq(starpu_tag_wait(task.tag_id), 0);
        ck_assert_int_eq(n, i);
        ck_assert_ptr_eq(starpu_tag_get_task(task.tag_id), &task);
    }
    starpu_task_wait_for_all();
    starpu_task_clean(&task);
    ck_assert_ptr_null(starpu_tag_get_task(UINT64_C(0x9234567890abcdef)));
    starpu_shutdown();
}
END_TEST

START_TEST(data_are_in_the_order_of_each_submission)
{
    struct starpu_task *task[2];
    starpu_data_handle_t handle;
    int value = 0;

    machine_open(_i);
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    for (int i = 0; i < 2; i++)
        task[i] = starpu_task_create_sync(handle, STARPU_RW);
    for (int i = 0; i < 2; i++) {
        task[i]->destroy = 0;
        task[i]->detach = 0;
    }
    for (int round = 0; round < 20; round++) {
        ck_assert_int_eq(starpu_data_acquire(handle, STARPU_RW),
                         0); /* holds them back */
        submit(task[0]);
        submit(task[1]);
        ck_assert_int_eq(starpu_task_finished(task[0]), 0);
        ck_assert_int_eq(starpu_task_finished(task[1]), 0);
        starpu_data_release(handle);
        ck_assert_int_eq(starpu_task_wait_array(task, 2), 0);
    }
    starpu_data_unregister(handle);
    starpu_task_destroy(task[0]);
    starpu_task_destroy(task[1]);
    starpu_shutdown();
}
END_TEST

/* --- a graph A -> {B, C} -> D, declared once --- */

enum { A, B, C, D, NTASKS };

static struct graph {
    struct starpu_task tasks[NTASKS];
    atomic_int n[NTASKS];
    int order[NTASKS]; /* of submission */
    int rounds;
    atomic_int round, wrong;
} graph;

/* In the callback of D: all have run once more. */
static void next_round(void *arg)
{
    (void)arg;
    graph.round++;
    for (int i = 0; i < NTASKS; i++)
        graph.wrong |= graph.n[i] != graph.round;
    for (int i = 0; i < NTASKS && graph.round < graph.rounds; i++)
        if (starpu_task_submit(&graph.tasks[graph.order[i]]) != 0)
            graph.wrong = 1;
}

static void make_graph(int rounds, const int order[NTASKS])
{
    struct starpu_task *tasks = graph.tasks;

    memset(&graph, 0, sizeof(graph));
    graph.rounds = rounds;
    memcpy(graph.order, order, sizeof(graph.order));
    for (int i = 0; i < NTASKS; i++)
        make(&tasks[i], &graph.n[i]);
    tasks[D].callback_func = next_round;
}

static void count_up(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static const int orders[][NTASKS] = {
    {A, B, C, D}, {D, C, B, A}, {C, A, D, B}, {D, A, B, C}};

static void replay(int machine, bool empty)
{
    machine_open(machine);
    for (unsigned o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
        make_graph(200, orders[o]);
        for (int i = 0; empty && i < NTASKS; i++) {
            graph.tasks[i].cl = NULL;
            graph.tasks[i].prologue_callback_func = count_up;
            graph.tasks[i].prologue_callback_arg = &graph.n[i];
        }
        starpu_task_declare_deps(&graph.tasks[B], 1, &graph.tasks[A]);
        starpu_task_declare_deps(&graph.tasks[C], 1, &graph.tasks[A]);
        starpu_task_declare_deps(&graph.tasks[D], 2, &graph.tasks[B],
                                 &graph.tasks[C]);
        for (int i = 0; i < NTASKS; i++)
            submit(&graph.tasks[orders[o][i]]);
        starpu_task_wait_for_all();
        ck_assert_int_eq(graph.round, 200);
        ck_assert_int_eq(graph.wrong, 0);
        for (int i = 0; i < NTASKS; i++)
            starpu_task_clean(&graph.tasks[i]);
    }
    starpu_shutdown();
}

START_TEST(a_graph_is_submitted_again_by_its_last_task)
{
    replay(_i, false);
}
END_TEST

START_TEST(a_graph_of_empty_tasks_is_submitted_again)
{
    replay(_i, true);
}
END_TEST

/* From main, who waits for the last one only: the others may still be in their
 * callbacks. */
START_TEST(a_graph_is_submitted_again_from_outside)
{
    machine_open(_i);
    make_graph(0, orders[0]);
    graph.tasks[D].callback_func = NULL;
    graph.tasks[D].detach = 0;
    starpu_task_declare_deps(&graph.tasks[B], 1, &graph.tasks[A]);
    starpu_task_declare_deps(&graph.tasks[C], 1, &graph.tasks[A]);
    starpu_task_declare_deps(&graph.tasks[D], 2, &graph.tasks[B],
                             &graph.tasks[C]);
    for (int round = 1; round <= 200; round++) {
        for (int i = 0; i < NTASKS; i++)
            submit(&graph.tasks[orders[round % 4][i]]);
        ck_assert_int_eq(starpu_task_wait(&graph.tasks[D]), 0);
        for (int i = 0; i < NTASKS; i++)
            ck_assert_int_eq(graph.n[i], round);
    }
    starpu_task_wait_for_all();
    for (int i = 0; i < NTASKS; i++)
        starpu_task_clean(&graph.tasks[i]);
    starpu_shutdown();
}
END_TEST

START_TEST(a_graph_of_tags_is_submitted_again)
{
    machine_open(_i);
    for (unsigned o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
        starpu_tag_t tag = 100 * (o + 1);

        make_graph(200, orders[o]);
        for (int i = 0; i < NTASKS; i++) {
            graph.tasks[i].use_tag = 1;
            graph.tasks[i].tag_id = tag + (starpu_tag_t)i;
        }
        starpu_tag_declare_deps(tag + B, 1, tag + A);
        starpu_tag_declare_deps(tag + C, 1, tag + A);
        starpu_tag_declare_deps(tag + D, 2, tag + B, tag + C);
        for (int i = 0; i < NTASKS; i++)
            submit(&graph.tasks[orders[o][i]]);
        starpu_task_wait_for_all();
        ck_assert_int_eq(graph.round, 200);
        ck_assert_int_eq(graph.wrong, 0);
        for (int i = 0; i < NTASKS; i++)
            starpu_task_clean(&graph.tasks[i]);
    }
    starpu_shutdown();
}
END_TEST

/* A start tag that the application notifies in each round. */
static void next_start(void *arg)
{
    starpu_tag_t start = *(starpu_tag_t *)arg;

    if (++graph.round == graph.rounds)
        return;
    starpu_tag_restart(start);
    for (int i = A; i <= B; i++)
        graph.wrong |= starpu_task_submit(&graph.tasks[i]) != 0;
    starpu_tag_notify_from_apps(start);
}

START_TEST(a_start_tag_is_restarted_and_notified_in_each_round)
{
    static starpu_tag_t start = 1;

    machine_open(_i);
    make_graph(200, orders[0]);
    for (int i = A; i <= B; i++) {
        graph.tasks[i].use_tag = 1;
        graph.tasks[i].tag_id = start + 1 + (starpu_tag_t)i;
        starpu_tag_declare_deps(start + 1 + (starpu_tag_t)i, 1,
                                start + (starpu_tag_t)i);
    }
    graph.tasks[B].callback_func = next_start;
    graph.tasks[B].callback_arg = &start;
    submit(&graph.tasks[A]);
    submit(&graph.tasks[B]);
    ck_assert_int_eq(starpu_task_nsubmitted(), 2);
    starpu_tag_notify_from_apps(start);
    starpu_task_wait_for_all();
    ck_assert_int_eq(graph.round, 200);
    ck_assert_int_eq(graph.wrong, 0);
    ck_assert_int_eq(graph.n[A], 200);
    ck_assert_int_eq(graph.n[B], 200);
    starpu_task_clean(&graph.tasks[A]);
    starpu_task_clean(&graph.tasks[B]);
    starpu_shutdown();
}
END_TEST

static void submit_self(void *arg)
{
    struct starpu_task *task = starpu_task_get_current();

    if (atomic_load((atomic_int *)arg) < 100 && starpu_task_submit(task) != 0)
        graph.wrong = 1;
}

/* A cycle that comes round before the call has ended must find the tag restarted: it
 * reaches it, and may not take back what it has freed. */
START_TEST(what_notify_restart_frees_is_free_when_it_comes_later)
{
    machine_open(_i);
    make_graph(0, orders[0]);
    graph.tasks[A].use_tag = 1;
    graph.tasks[A].tag_id = 7;
    starpu_tag_declare_deps((starpu_tag_t)7, 1, (starpu_tag_t)8);
    starpu_tag_notify_restart_from_apps((starpu_tag_t)8);
    submit(&graph.tasks[A]);
    starpu_task_wait_for_all();
    ck_assert_int_eq(graph.n[A], 1);
    submit(&graph.tasks[A]); /* waits for the tag again */
    starpu_sleep(0.001f);
    ck_assert_int_eq(graph.n[A], 1);
    starpu_tag_notify_restart_from_apps((starpu_tag_t)8);
    starpu_task_wait_for_all();
    ck_assert_int_eq(graph.n[A], 2);
    starpu_task_clean(&graph.tasks[A]);
    starpu_shutdown();
}
END_TEST

/* Nobody waits for the last one alone: each waits for another. */
START_TEST(a_cycle_of_tags_goes_round)
{
    machine_open(_i);
    make_graph(0, orders[0]);
    for (int i = 0; i < NTASKS; i++) {
        graph.tasks[i].use_tag = 1;
        graph.tasks[i].tag_id = (starpu_tag_t)i;
        graph.tasks[i].callback_func = submit_self;
        graph.tasks[i].callback_arg = &graph.n[i];
        starpu_tag_declare_deps((starpu_tag_t)i, 1,
                                (starpu_tag_t)((i + 3) % NTASKS));
    }
    for (int i = 0; i < NTASKS; i++)
        submit(&graph.tasks[i]);
    starpu_tag_notify_restart_from_apps((starpu_tag_t)D);
    starpu_task_wait_for_all();
    for (int i = 0; i < NTASKS; i++)
        ck_assert_int_eq(graph.n[i], 100);
    ck_assert_int_eq(graph.wrong, 0);
    for (int i = 0; i < NTASKS; i++)
        starpu_task_clean(&graph.tasks[i]);
    starpu_shutdown();
}
END_TEST

/* --- by themselves --- */

static void stop_at_100(void *arg)
{
    if (atomic_load((atomic_int *)arg) >= 100)
        starpu_task_get_current()->regenerate = 0;
}

START_TEST(regenerating_tasks_run_until_a_callback_stops_them)
{
    enum { MANY = 40 };
    struct starpu_task tasks[MANY];
    atomic_int n[MANY] = {0};

    machine_open(_i);
    for (int i = 0; i < MANY; i++) {
        make(&tasks[i], &n[i]);
        tasks[i].regenerate = 1;
        tasks[i].callback_func = stop_at_100;
        tasks[i].callback_arg = &n[i];
        submit(&tasks[i]);
    }
    starpu_task_wait_for_all();
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(n[i], 100);
        starpu_task_clean(&tasks[i]);
    }
    starpu_shutdown();
}
END_TEST

START_TEST(a_regenerating_empty_task_calls_back_each_time)
{
    struct starpu_task task;
    atomic_int n = 0;

    machine_open(_i);
    make(&task, &n);
    task.cl = NULL;
    task.regenerate = 1;
    task.prologue_callback_func = count_up;
    task.prologue_callback_arg = &n;
    task.callback_func = stop_at_100;
    task.callback_arg = &n;
    submit(&task);
    ck_assert_int_eq(n, 100);
    starpu_task_wait_for_all();
    starpu_task_clean(&task);
    starpu_shutdown();
}
END_TEST

static int furthest;

/* No stage may be more than one run ahead of the next one. */
static void look_ahead(void *arg)
{
    int i = (int)(intptr_t)arg;
    int ahead = graph.n[i] - (i < C ? graph.n[i + 1] : graph.n[i]);

    if (ahead > furthest)
        furthest = ahead;
    stop_at_100(&graph.n[i]);
}

START_TEST(the_stages_of_a_pipeline_stay_together)
{
    machine_open(_i);
    make_graph(0, orders[0]);
    furthest = 0;
    for (int i = A; i <= C; i++) {
        graph.tasks[i].regenerate = 1;
        graph.tasks[i].callback_func = look_ahead;
        graph.tasks[i].callback_arg = (void *)(intptr_t)i;
        if (i > A)
            starpu_task_declare_deps(&graph.tasks[i], 1, &graph.tasks[i - 1]);
    }
    for (int i = C; i >= A; i--)
        submit(&graph.tasks[i]);
    starpu_task_wait_for_all();
    for (int i = A; i <= C; i++) {
        ck_assert_int_eq(graph.n[i], 100);
        starpu_task_clean(&graph.tasks[i]);
    }
    ck_assert_int_le(furthest, 2);
    starpu_shutdown();
}
END_TEST

static void submit_first(void *arg)
{
    (void)arg;
    graph.round++;
    if (graph.round < 100)
        graph.wrong |= starpu_task_submit(&graph.tasks[A]) != 0;
    else
        graph.tasks[D].regenerate = 0;
}

/* Its last run is over, not only its kernel, and the next one waits. */
static void wait_until_blocked(const struct starpu_task *task)
{
    enum starpu_task_status status;

    do {
        starpu_usleep(100);
        status = __atomic_load_n(&task->status, __ATOMIC_RELAXED);
    } while (status != STARPU_TASK_BLOCKED &&
             status != STARPU_TASK_BLOCKED_ON_TASK);
}

/* As in a graph whose first task is an event of the application. */
START_TEST(regenerating_successors_run_once_for_each_submission)
{
    machine_open(_i);
    make_graph(0, orders[0]);
    for (int i = B; i <= D; i++)
        graph.tasks[i].regenerate = 1;
    graph.tasks[D].callback_func = submit_first;
    starpu_task_declare_deps(&graph.tasks[B], 1, &graph.tasks[A]);
    starpu_task_declare_deps(&graph.tasks[C], 1, &graph.tasks[A]);
    starpu_task_declare_deps(&graph.tasks[D], 2, &graph.tasks[B],
                             &graph.tasks[C]);
    for (int i = 0; i < NTASKS; i++)
        submit(&graph.tasks[i]);
    /* B and C regenerate once more than they can run: A does not end again. */
    while (graph.round < 100)
        starpu_usleep(100);
    ck_assert_int_eq(graph.wrong, 0);
    starpu_task_wait_for_no_ready();
    for (int i = 0; i < NTASKS; i++)
        ck_assert_int_eq(graph.n[i], 100);
    for (int i = B; i <= C; i++) {
        wait_until_blocked(&graph.tasks[i]);
        graph.tasks[i].regenerate = 0;
    }
    /* One more end of A lets all three end. */
    submit(&graph.tasks[A]);
    starpu_task_wait_for_all();
    ck_assert_int_eq(graph.n[A], 101);
    ck_assert_int_eq(graph.n[B], 101);
    ck_assert_int_eq(graph.n[C], 101);
    for (int i = 0; i < NTASKS; i++)
        starpu_task_clean(&graph.tasks[i]);
    starpu_shutdown();
}
END_TEST

static void make_once_more(void *arg)
{
    struct starpu_task *task = starpu_task_get_current();

    if (atomic_load((atomic_int *)arg) < 3)
        task->regenerate = 1;
    else
        task->regenerate = 0;
    task->destroy = 0;
}

/* What counts is what the fields say when the callback has returned. */
START_TEST(a_callback_decides_whether_the_task_runs_again)
{
    struct starpu_task *task;
    atomic_int n = 0;

    machine_open(_i);
    task = starpu_task_create();
    task->cl = &cl;
    task->cl_arg = &n;
    task->callback_func = make_once_more;
    task->callback_arg = &n;
    submit(task);
    starpu_task_wait_for_all();
    ck_assert_int_eq(n, 3);
    starpu_task_destroy(task);
    starpu_shutdown();
}
END_TEST

static void stop_and_destroy(void *arg)
{
    if (atomic_load((atomic_int *)arg) < 3)
        return;
    starpu_task_get_current()->regenerate = 0;
    starpu_task_destroy(starpu_task_get_current());
}

START_TEST(a_regenerating_task_is_destroyed_by_its_last_callback)
{
    struct starpu_task *task;
    atomic_int n = 0;

    machine_open(_i);
    task = starpu_task_create();
    task->destroy = 0;
    task->regenerate = 1;
    task->cl = &cl;
    task->cl_arg = &n;
    task->callback_func = stop_and_destroy;
    task->callback_arg = &n;
    submit(task);
    starpu_task_wait_for_all();
    ck_assert_int_eq(n, 3);
    starpu_shutdown();
}
END_TEST

/* --- dependencies of the next run --- */

/* Declared after a run that is over, for the next one. */
START_TEST(a_dependency_is_added_between_two_runs)
{
    struct starpu_task first, second, *task;
    atomic_int n = 0;

    machine_open(_i);
    make(&first, &n);
    make(&second, &n);
    second.detach = first.detach = 0;
    submit(&second);
    ck_assert_int_eq(starpu_task_wait(&second), 0);
    starpu_task_declare_deps(&second, 1, &first);
    submit(&second);
    starpu_task_wait_for_no_ready();
    ck_assert_int_eq(n, 1);
    task = NULL;
    ck_assert_int_eq(starpu_task_get_task_succs(&first, 1, &task), 1);
    ck_assert_ptr_eq(task, &second);
    submit(&first);
    ck_assert_int_eq(starpu_task_wait(&second), 0);
    ck_assert_int_eq(n, 3);
    ck_assert_int_eq(starpu_task_wait(&first), 0);
    starpu_task_clean(&first);
    starpu_task_clean(&second);
    starpu_shutdown();
}
END_TEST

/* --- the next run of a task as several threads declare it --- */

enum { NDECLARERS = 2, NTURNS = 2000 };

static struct starpu_task gathered, gatherers[NDECLARERS];
static starpu_pthread_barrier_t turn;
static atomic_int nearlier, nwrong, nstarted;

static void check_earlier(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
    if (atomic_exchange(&nearlier, 0) != NDECLARERS)
        atomic_fetch_add(&nwrong, 1);
}

static struct starpu_codelet cl_gather = {
    .cpu_funcs = {check_earlier}, .cuda_funcs = {check_earlier}, .name = "k"};

/* One thread more, which submits what they have declared, joins in each turn. */
static void *declare(void *arg)
{
    struct starpu_task *mine = arg, *before[] = {mine};

    for (int i = 0; i < NTURNS; i++) {
        make(mine, &nearlier);
        mine->detach = 0;
        STARPU_PTHREAD_BARRIER_WAIT(&turn);
        start_together(&nstarted, NDECLARERS * (i + 1));
        starpu_task_declare_deps_array(&gathered, 1, before);
        STARPU_PTHREAD_BARRIER_WAIT(&turn);
        ck_assert_int_eq(starpu_task_submit(mine), 0);
        ck_assert_int_eq(starpu_task_wait(mine), 0);
        STARPU_PTHREAD_BARRIER_WAIT(&turn);
        starpu_task_clean(mine);
    }
    return NULL;
}

START_TEST(several_threads_add_to_the_next_run)
{
    starpu_pthread_t threads[NDECLARERS];

    machine_open(_i);
    nearlier = nwrong = nstarted = 0;
    make(&gathered, NULL);
    gathered.cl = &cl_gather;
    gathered.detach = 0;
    STARPU_PTHREAD_BARRIER_INIT(&turn, NULL, NDECLARERS + 1);
    for (int t = 0; t < NDECLARERS; t++)
        STARPU_PTHREAD_CREATE(&threads[t], NULL, declare, &gatherers[t]);
    for (int i = 0; i < NTURNS; i++) {
        STARPU_PTHREAD_BARRIER_WAIT(&turn);
        STARPU_PTHREAD_BARRIER_WAIT(&turn);
        submit(&gathered);
        ck_assert_int_eq(starpu_task_wait(&gathered), 0);
        STARPU_PTHREAD_BARRIER_WAIT(&turn);
    }
    for (int t = 0; t < NDECLARERS; t++)
        STARPU_PTHREAD_JOIN(threads[t], NULL);
    ck_assert_int_eq(nwrong, 0);
    starpu_task_clean(&gathered);
    starpu_shutdown();
}
END_TEST

/* The next run of the second would wait for the first, which is cleaned. */
START_TEST(a_task_that_was_cleaned_is_not_waited_for)
{
    struct starpu_task first, second;
    atomic_int n = 0;

    machine_open(_i);
    make(&first, &n);
    make(&second, &n);
    second.detach = first.detach = 0;
    starpu_task_declare_deps(&second, 1, &first);
    submit(&second);
    submit(&first);
    ck_assert_int_eq(starpu_task_wait(&second), 0);
    ck_assert_int_eq(starpu_task_wait(&first), 0);
    submit(&second);
    starpu_task_wait_for_no_ready();
    ck_assert_int_eq(n, 2);
    starpu_task_clean(&first);
    ck_assert_int_eq(starpu_task_wait(&second), 0);
    ck_assert_int_eq(n, 3);
    starpu_task_clean(&second);
    starpu_shutdown();
}
END_TEST

/* Tasks wait for one that is to run, and are destroyed before they are submitted: the
 * memory of what was known of them has other tasks when it ends, which wait for nothing
 * of that. */
START_TEST(tasks_that_wait_are_destroyed_before_they_were_submitted)
{
    enum { NWAIT = 20, NOTHERS = 200 };
    struct starpu_task first, *others[NOTHERS];
    atomic_int n = 0, nothers = 0;

    machine_open(_i);
    make(&first, &n);
    first.detach = 0;
    for (int i = 0; i < NWAIT; i++) {
        struct starpu_task *task = starpu_task_create(), *before = &first;

        task->cl = &cl;
        task->cl_arg = &n;
        starpu_task_declare_deps_array(task, 1, &before);
        starpu_task_declare_end_deps_array(task, 1, &before);
        starpu_task_destroy(task);
    }
    for (int i = 0; i < NOTHERS; i++) {
        others[i] = starpu_task_create();
        others[i]->cl = &cl;
        others[i]->cl_arg = &nothers;
        others[i]->destroy = 0;
        others[i]->detach = 0;
        submit(others[i]);
        ck_assert_int_eq(starpu_task_wait(others[i]), 0);
    }
    submit(&first);
    ck_assert_int_eq(starpu_task_wait(&first), 0);
    submit(&first);
    ck_assert_int_eq(starpu_task_wait(&first), 0);
    for (int i = 0; i < NOTHERS; i++)
        starpu_task_destroy(others[i]);
    starpu_task_clean(&first);
    ck_assert_int_eq(n, 2);
    ck_assert_int_eq(nothers, NOTHERS);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(again)
{
    Suite *suite = suite_create("tasks that run again");
    TCase *each = tcase_create("on each machine");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(a_finished_task_is_submitted_again);
    EACH(a_task_of_an_earlier_run_is_submitted_again);
    EACH(a_task_that_is_under_way_is_refused);
    EACH(a_tagged_task_is_submitted_again);
    EACH(data_are_in_the_order_of_each_submission);
    EACH(a_graph_is_submitted_again_by_its_last_task);
    EACH(a_graph_of_empty_tasks_is_submitted_again);
    EACH(a_graph_is_submitted_again_from_outside);
    EACH(a_graph_of_tags_is_submitted_again);
    EACH(a_start_tag_is_restarted_and_notified_in_each_round);
    EACH(what_notify_restart_frees_is_free_when_it_comes_later);
    EACH(a_cycle_of_tags_goes_round);
    EACH(regenerating_tasks_run_until_a_callback_stops_them);
    EACH(a_regenerating_empty_task_calls_back_each_time);
    EACH(the_stages_of_a_pipeline_stay_together);
    EACH(regenerating_successors_run_once_for_each_submission);
    EACH(a_callback_decides_whether_the_task_runs_again);
    EACH(a_regenerating_task_is_destroyed_by_its_last_callback);
    EACH(a_dependency_is_added_between_two_runs);
    EACH(several_threads_add_to_the_next_run);
    EACH(a_task_that_was_cleaned_is_not_waited_for);
    EACH(tasks_that_wait_are_destroyed_before_they_were_submitted);
    return suite_main(suite);
}
