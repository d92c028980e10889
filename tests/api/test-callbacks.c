/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-callbacks.c - what a task's own functions see: the present
 * task, its status, its fields, on each machine; and the order of tasks on one
 * worker.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"

enum hook { PROLOGUE, POP, KERNEL, EPILOGUE, CALLBACK, NHOOKS };

/* What was seen in one of them, and when. */
struct seen {
    struct starpu_task *current;
    enum starpu_task_status status;
    int scheduled;
    int tick; /* 0: it was not called */
};

static struct seen seen[2][NHOOKS]; /* of two tasks */
static atomic_int ticks;

static void see(struct seen *ret)
{
    ret->current = starpu_task_get_current();
    if (ret->current) {
        ret->status = ret->current->status;
        ret->scheduled = ret->current->scheduled;
    }
    ret->tick = atomic_fetch_add(&ticks, 1) + 1;
}

static void hook(void *arg)
{
    see(arg);
}

static void kernel(void *buffers[], void *arg)
{
    (void)buffers;
    see(&((struct seen *)arg)[KERNEL]);
}

/* Kernels of GPUs are asynchronous: nothing is on the worker's stack. */
static struct starpu_codelet cl = {
    .cpu_funcs = {kernel},
    .cuda_funcs = {kernel},
    .cuda_flags = {STARPU_CUDA_ASYNC},
    .name = "k",
};

static void submit(struct starpu_task *task)
{
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

static struct starpu_task *new_task(int i, struct starpu_codelet *codelet)
{
    struct starpu_task *task = starpu_task_create();

    memset(seen[i], 0, sizeof(seen[i]));
    task->cl = codelet;
    task->cl_arg = seen[i];
    task->prologue_callback_func = task->prologue_callback_pop_func = hook;
    task->epilogue_callback_func = task->callback_func = hook;
    task->prologue_callback_arg = &seen[i][PROLOGUE];
    task->prologue_callback_pop_arg = &seen[i][POP];
    task->epilogue_callback_arg = &seen[i][EPILOGUE];
    task->callback_arg = &seen[i][CALLBACK];
    task->detach = 0;
    task->destroy = 0;
    return task;
}

static void finish(struct starpu_task *task)
{
    ck_assert_int_eq(starpu_task_wait(task), 0);
    ck_assert_int_eq((int)task->status, STARPU_TASK_FINISHED);
    starpu_task_destroy(task);
}

/* All were called, one after the other, with that task and these states. */
static void check(int i, const struct starpu_task *task, bool has_kernel)
{
    static const enum starpu_task_status states[] = {
        [PROLOGUE] = STARPU_TASK_BLOCKED,  [POP] = STARPU_TASK_READY,
        [KERNEL] = STARPU_TASK_RUNNING,    [EPILOGUE] = STARPU_TASK_RUNNING,
        [CALLBACK] = STARPU_TASK_FINISHED,
    };
    int before = 0;

    for (int h = 0; h < NHOOKS; h++) {
        enum starpu_task_status status = states[h];

        if (h == KERNEL && !has_kernel)
            continue;
        if (h == POP && !has_kernel)
            status = STARPU_TASK_RUNNING;
        ck_assert_msg(seen[i][h].current == task, "hook %d of task %d", h, i);
        if (h == PROLOGUE && seen[i][h].status >= STARPU_TASK_BLOCKED_ON_TAG)
            status = seen[i][h].status;
        ck_assert_msg(seen[i][h].status == status, "hook %d: status %d", h,
                      (int)seen[i][h].status);
        ck_assert_int_gt(seen[i][h].tick, before);
        before = seen[i][h].tick;
    }
    if (has_kernel)
        ck_assert_int_eq(seen[i][KERNEL].scheduled, 1);
}

START_TEST(functions_of_a_task_see_it_and_its_status)
{
    struct starpu_task *task;

    machine_open(_i);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        task = new_task(0, &cl);
        task->execute_on_a_specific_worker = 1;
        task->workerid = w;
        ck_assert_int_eq((int)task->status, STARPU_TASK_INIT);
        ck_assert_int_eq(task->scheduled, 0);
        submit(task);
        ck_assert_ptr_null(starpu_task_get_current());
        ck_assert_int_eq(starpu_task_wait(task), 0);
        check(0, task, true);
        finish(task);
    }
    starpu_shutdown();
}
END_TEST

START_TEST(functions_of_an_empty_task_see_it)
{
    struct starpu_task *task;

    machine_open(_i);
    task = new_task(0, NULL);
    submit(task);
    check(0, task, false);
    ck_assert_ptr_null(starpu_task_get_current());
    finish(task);
    starpu_shutdown();
}
END_TEST

/* It ends in the context that has ended its predecessor, with a kernel or
 * without. */
START_TEST(an_empty_successor_is_not_its_predecessor)
{
    for (int empty = 0; empty < 2; empty++) {
        struct starpu_task *tasks[2];

        machine_open(_i);
        tasks[0] = new_task(0, empty ? NULL : &cl);
        tasks[1] = new_task(1, NULL);
        starpu_task_declare_deps(tasks[1], 1, tasks[0]);
        submit(tasks[1]);
        ck_assert_int_eq((int)tasks[1]->status, STARPU_TASK_BLOCKED_ON_TASK);
        submit(tasks[0]);
        ck_assert_int_eq(starpu_task_wait(tasks[1]), 0);
        ck_assert_int_eq(starpu_task_wait(tasks[0]), 0);
        check(0, tasks[0], !empty);
        check(1, tasks[1], false);
        finish(tasks[0]);
        finish(tasks[1]);
        starpu_shutdown();
    }
}
END_TEST

static void submit_inner(void *arg)
{
    submit(arg);
    see(&seen[0][CALLBACK]);
}

/* An empty task that is submitted in a callback ends there, or after it. */
START_TEST(a_callback_has_its_task_again_after_another_one)
{
    struct starpu_task *outer, *inner;

    machine_open(_i);
    outer = new_task(0, &cl);
    inner = new_task(1, NULL);
    outer->callback_func = submit_inner;
    outer->callback_arg = inner;
    submit(outer);
    ck_assert_int_eq(starpu_task_wait(outer), 0);
    ck_assert_int_eq(starpu_task_wait(inner), 0);
    check(0, outer, true);
    check(1, inner, false);
    finish(outer);
    finish(inner);
    starpu_shutdown();
}
END_TEST

START_TEST(a_status_says_what_a_task_waits_for)
{
    starpu_data_handle_t handle;
    struct starpu_task *task;
    int value = 0;

    machine_open(_i);
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    task = new_task(0, NULL);
    task->use_tag = 1;
    task->tag_id = 2;
    starpu_tag_declare_deps((starpu_tag_t)2, 1, (starpu_tag_t)1);
    submit(task);
    ck_assert_int_eq((int)task->status, STARPU_TASK_BLOCKED_ON_TAG);
    starpu_tag_notify_from_apps((starpu_tag_t)1);
    finish(task);
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_RW), 0);
    task = starpu_task_create_sync(handle, STARPU_R);
    task->destroy = task->detach = 0;
    submit(task);
    ck_assert_int_eq((int)task->status, STARPU_TASK_BLOCKED_ON_DATA);
    starpu_data_release(handle);
    finish(task);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

static void called(void *arg)
{
    ck_assert_ptr_eq(arg, seen[0]);
    see(&seen[0][CALLBACK]);
}

START_TEST(a_codelet_has_a_callback_for_tasks_without)
{
    static struct starpu_codelet nowhere = {
        .where = STARPU_NOWHERE, .callback_func = called, .name = "k"};
    struct starpu_task *task;

    machine_open(_i);
    task = new_task(0, &nowhere);
    task->callback_func = NULL;
    task->callback_arg = seen[0];
    submit(task);
    check(0, task, false);
    finish(task);
    task = new_task(0, &nowhere); /* its own comes first */
    submit(task);
    check(0, task, false);
    finish(task);
    starpu_shutdown();
}
END_TEST

/* In the prologue a task may still decide to do without its kernel. */
static void go_nowhere(void *arg)
{
    see(arg);
    starpu_task_get_current()->where = STARPU_NOWHERE;
}

START_TEST(a_prologue_lets_its_task_do_nothing)
{
    struct starpu_task *task;

    machine_open(_i);
    task = new_task(0, &cl);
    task->prologue_callback_func = go_nowhere;
    submit(task);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    ck_assert_int_eq(seen[0][KERNEL].tick, 0);
    check(0, task, false);
    finish(task);
    starpu_shutdown();
}
END_TEST

/* --- models that look at the task --- */

static unsigned nasked;
static size_t largest;

static void parameters(struct starpu_task *task, double *values)
{
    nasked++;
    largest = STARPU_VECTOR_GET_NX(task->interfaces[0]);
    values[0] = (double)largest;
}

static size_t size_of(struct starpu_task *task, unsigned nimpl)
{
    (void)nimpl;
    return STARPU_VECTOR_GET_NX(task->interfaces[0]);
}

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

START_TEST(models_see_the_interfaces_at_submission)
{
    static const char *names[] = {"n"};
    static unsigned one[] = {1};
    static unsigned *combinations[] = {one};
    static struct starpu_perfmodel several = {
        .type = STARPU_MULTIPLE_REGRESSION_BASED,
        .symbol = "callbacks_several",
        .parameters = parameters,
        .nparameters = 1,
        .parameters_names = names,
        .ncombinations = 1,
        .combinations = combinations,
    };
    static struct starpu_perfmodel sized = {
        .type = STARPU_HISTORY_BASED,
        .symbol = "callbacks_sized",
        .size_base = size_of,
    };
    static struct starpu_codelet cls[] = {
        {.cpu_funcs = {nothing},
         .cuda_funcs = {nothing},
         .nbuffers = 1,
         .modes = {STARPU_RW},
         .model = &several,
         .name = "k"},
        {.cpu_funcs = {nothing},
         .cuda_funcs = {nothing},
         .nbuffers = 1,
         .modes = {STARPU_RW},
         .model = &sized,
         .name = "k"},
    };
    starpu_data_handle_t handle;
    float values[48] = {0};

    nasked = 0;
    setenv("STARPU_CALIBRATE", "1", 1);
    machine_open(_i);
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)values, 48,
                                sizeof(values[0]));
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(starpu_task_insert(&cls[i], STARPU_RW, handle, 0), 0);
    ck_assert_uint_gt(nasked, 0);
    ck_assert_uint_eq(largest, 48);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

/* --- the order of tasks on one worker --- */

enum { NORDERED = 24 };

static int order[NORDERED];
static atomic_int nordered;

static void note_order(void *buffers[], void *arg)
{
    (void)buffers;
    order[atomic_fetch_add(&nordered, 1)] = (int)(intptr_t)arg;
}

static struct starpu_codelet cl_order = {
    .cpu_funcs = {note_order}, .cuda_funcs = {note_order}, .name = "k"};

static void order_tasks(unsigned worker, bool urgent_last)
{
    atomic_store(&nordered, 0);
    for (int i = NORDERED; i > 0; i--) {
        int number = i; /* 1 comes last: nobody may begin before */

        ck_assert_int_eq(
            starpu_task_insert(&cl_order, STARPU_CL_ARGS_NFREE,
                               (void *)(intptr_t)number, (size_t)0,
                               STARPU_EXECUTE_ON_WORKER, (int)worker,
                               STARPU_PRIORITY, urgent_last ? number : -number,
                               STARPU_WORKER_ORDER, (unsigned)number, 0),
            0);
    }
    starpu_task_wait_for_all();
    for (int i = 0; i < NORDERED; i++)
        ck_assert_int_eq(order[i], i + 1);
}

START_TEST(tasks_of_a_worker_run_in_the_order_that_was_given)
{
    for (int urgent_last = 0; urgent_last < 2; urgent_last++) {
        machine_open(_i);
        for (unsigned w = 0; w < starpu_worker_get_count(); w++)
            order_tasks(w, urgent_last);
        starpu_shutdown();
    }
}
END_TEST

/* --- kernels that are executed on simulated devices --- */

static atomic_int on_cpu, on_gpu;

static void count_cpu(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    atomic_fetch_add(&on_cpu, 1);
}

static void count_gpu(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    atomic_fetch_add(&on_gpu, 1);
}

START_TEST(an_executed_codelet_runs_the_function_of_its_worker)
{
    static struct starpu_codelet executed = {
        .cpu_funcs = {count_cpu},
        .cuda_funcs = {count_gpu},
        .flags = STARPU_CODELET_SIMGRID_EXECUTE,
        .name = "k",
    };
    unsigned nworkers, ngpus;

    machine_open(_i);
    nworkers = starpu_worker_get_count();
    ngpus = starpu_cuda_worker_get_count();
    for (unsigned w = 0; w < nworkers; w++)
        ck_assert_int_eq(
            starpu_task_insert(&executed, STARPU_EXECUTE_ON_WORKER, (int)w, 0),
            0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(on_gpu, (int)ngpus);
    /* Loopback devices lend that function. */
    ck_assert_int_eq(on_cpu, (int)(machine_simulated(_i)
                                       ? starpu_cpu_worker_get_count()
                                       : starpu_worker_get_count()));
    starpu_shutdown();
}
END_TEST

/* What a kernel saw that asked for its task, and how it goes on. */
static struct {
    atomic_int nright, ncalled;
} alone;

static void count_call(void *arg)
{
    (void)arg;
    atomic_fetch_add(&alone.ncalled, 1);
}

static void look_and_ask_for_more(void *buffers[], void *arg)
{
    struct seen now;

    (void)buffers;
    see(&now);
    atomic_fetch_add(&alone.nright,
                     now.current->status == STARPU_TASK_RUNNING &&
                         now.current->scheduled == 1 &&
                         now.current->workerid ==
                             (unsigned)starpu_worker_get_id() &&
                         now.current->cl_arg == arg);
    now.current->callback_func = count_call;
}

/* Tasks without any function of their own and freed at their end: what nobody looks at
 * need not be written, but is there for a kernel that looks, and what that asks for is
 * done. */
START_TEST(a_kernel_sees_its_task_though_that_has_no_functions)
{
    static struct starpu_codelet looks = {.cpu_funcs = {look_and_ask_for_more},
                                          .nbuffers = 1,
                                          .modes = {STARPU_RW},
                                          .name = "k"};
    enum { N = 50 };
    starpu_data_handle_t handle;
    static int datum;

    machine_open(_i);
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&datum,
                                  sizeof(datum));
    for (int i = 0; i < N; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &looks;
        task->cl_arg = &alone;
        task->handles[0] = handle;
        submit(task);
    }
    starpu_task_wait_for_all();
    ck_assert_int_eq(alone.nright, N);
    ck_assert_int_eq(alone.ncalled, N);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(callbacks)
{
    Suite *suite = suite_create("callbacks");
    TCase *each = tcase_create("on each machine");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(functions_of_a_task_see_it_and_its_status);
    EACH(functions_of_an_empty_task_see_it);
    EACH(an_empty_successor_is_not_its_predecessor);
    EACH(a_callback_has_its_task_again_after_another_one);
    EACH(a_status_says_what_a_task_waits_for);
    EACH(a_codelet_has_a_callback_for_tasks_without);
    EACH(a_prologue_lets_its_task_do_nothing);
    EACH(models_see_the_interfaces_at_submission);
    EACH(tasks_of_a_worker_run_in_the_order_that_was_given);
    EACH(an_executed_codelet_runs_the_function_of_its_worker);
    EACH(a_kernel_sees_its_task_though_that_has_no_functions);
    return suite_main(suite);
}
