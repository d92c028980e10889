/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-late-ends.c - tasks that have run and whose end waits for others: what
 * no order keeps from their data goes on, what comes after them waits.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "machines.h"

enum { NROUNDS = 20 };

static starpu_data_handle_t handle;
static int value;
static atomic_int nsteps; /* kernels that have run */

static void release_end(void *arg)
{
    starpu_task_end_dep_release(arg);
}

/* Adds its argument to what it finds, doubled: the order shows. */
static void step(void *buffers[], void *arg)
{
    int *v = (int *)STARPU_VARIABLE_GET_PTR(buffers[0]);

    *v = 2 * *v + (int)(intptr_t)arg;
    atomic_fetch_add(&nsteps, 1);
}

static void look(void *buffers[], void *arg)
{
    *(int *)arg = *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
    atomic_fetch_add(&nsteps, 1);
}

static struct starpu_codelet cl_step = {.cpu_funcs = {step},
                                        .cuda_funcs = {step},
                                        .opencl_funcs = {step},
                                        .nbuffers = 1,
                                        .modes = {STARPU_RW},
                                        .name = "k"},
                             cl_look = {.cpu_funcs = {look},
                                        .cuda_funcs = {look},
                                        .opencl_funcs = {look},
                                        .nbuffers = 1,
                                        .modes = {STARPU_R},
                                        .name = "k"},
                             cl_view = {.where = STARPU_NOWHERE,
                                        .nbuffers = 1,
                                        .modes = {STARPU_RW},
                                        .name = "k"};

static struct starpu_task *new_task(struct starpu_codelet *cl, int arg)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    task->handles[0] = handle;
    task->cl_arg = (void *)(intptr_t)arg;
    return task;
}

static void submit(struct starpu_task *task)
{
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

/* Whose order does not count, and which lets `first` end. */
static void submit_beside(struct starpu_task *first, struct starpu_task *task,
                          unsigned char *no_order)
{
    task->handles_sequential_consistency = no_order;
    task->callback_func = release_end;
    task->callback_arg = first;
    submit(task);
}

static void open_machine(int machine)
{
    machine_open(machine);
    value = 0;
    atomic_store(&nsteps, 0);
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
}

static void close_machine(void)
{
    starpu_task_wait_for_all();
    starpu_data_unregister(handle);
    starpu_shutdown();
}

/* first runs, another one by who is not in the order, then who is behind it. */
static void check_order(struct starpu_codelet *first_cl, int after_first)
{
    static unsigned char no_order[] = {0};

    for (int i = 0; i < NROUNDS; i++) {
        struct starpu_task *first = new_task(first_cl, 1);

        starpu_task_end_dep_add(first, 1);
        submit(first);
        submit(new_task(&cl_step, 5));
        submit_beside(first, new_task(&cl_step, 3), no_order);
        starpu_task_wait_for_all();
        starpu_data_acquire(handle, STARPU_RW);
        ck_assert_int_eq(value, 2 * (2 * after_first + 3) + 5);
        value = 0;
        starpu_data_release(handle);
    }
}

START_TEST(who_has_no_order_uses_the_data_before_the_end)
{
    open_machine(_i);
    check_order(&cl_step, 1);
    check_order(&cl_view, 0);
    close_machine();
}
END_TEST

/* The handle has seen nobody without order when the first has run. */
START_TEST(who_has_no_order_may_be_the_first_and_come_late)
{
    static unsigned char no_order[] = {0};
    struct starpu_task *first;

    open_machine(_i);
    first = new_task(&cl_step, 1);
    starpu_task_end_dep_add(first, 1);
    submit(first);
    submit(new_task(&cl_step, 5));
    while (atomic_load(&nsteps) < 1)
        starpu_usleep(50);
    starpu_usleep(1000);
    submit_beside(first, new_task(&cl_step, 3), no_order);
    close_machine();
    ck_assert_int_eq(value, 2 * (2 * 1 + 3) + 5);
}
END_TEST

START_TEST(readers_behind_wait_for_the_end)
{
    int seen = -1;
    struct starpu_task *first, *reader;

    open_machine(_i);
    first = new_task(&cl_step, 1);
    starpu_task_end_dep_add(first, 1);
    submit(first);
    reader = new_task(&cl_look, 0);
    reader->cl_arg = &seen;
    submit(reader);
    while (atomic_load(&nsteps) < 1)
        starpu_usleep(50);
    starpu_usleep(1000);
    ck_assert_int_eq(atomic_load(&nsteps), 1);
    starpu_task_end_dep_release(first);
    close_machine();
    ck_assert_int_eq(seen, 1);
}
END_TEST

/* --- submitted by the task itself --- */

static void step_and_submit(void *buffers[], void *arg)
{
    static unsigned char no_order[] = {0};
    struct starpu_task *self = starpu_task_get_current();

    step(buffers, arg);
    starpu_task_end_dep_add(self, 1);
    submit_beside(self, new_task(&cl_step, 3), no_order);
}

static struct starpu_codelet cl_outer = {.cpu_funcs = {step_and_submit},
                                         .cuda_funcs = {step_and_submit},
                                         .opencl_funcs = {step_and_submit},
                                         .nbuffers = 1,
                                         .modes = {STARPU_RW},
                                         .name = "k"};

START_TEST(what_a_task_submits_can_be_what_its_end_waits_for)
{
    open_machine(_i);
    for (int i = 0; i < NROUNDS; i++) {
        submit(new_task(&cl_outer, 1));
        submit(new_task(&cl_step, 5));
        starpu_data_acquire(handle, STARPU_RW);
        ck_assert_int_eq(value, 2 * (2 * 1 + 3) + 5);
        value = 0;
        starpu_data_release(handle);
    }
    close_machine();
}
END_TEST

/* --- on behalf of it --- */

static atomic_int ninside, ntogether;

static void be_alone(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
    if (atomic_fetch_add(&ninside, 1) > 0)
        atomic_fetch_add(&ntogether, 1);
    for (volatile int i = 0; i < 300000; i++)
        ;
    atomic_fetch_sub(&ninside, 1);
}

static struct starpu_codelet cl_alone = {.cpu_funcs = {be_alone},
                                         .cuda_funcs = {be_alone},
                                         .opencl_funcs = {be_alone},
                                         .nbuffers = 1,
                                         .modes = {STARPU_RW},
                                         .name = "k"};

static void submit_on_behalf(void *buffers[], void *arg)
{
    struct starpu_task *self = starpu_task_get_current();
    struct starpu_task *task = new_task(&cl_alone, 0);

    (void)buffers, (void)arg;
    starpu_task_end_dep_add(self, 1);
    task->callback_func = release_end;
    task->callback_arg = self;
    task->execute_on_a_specific_worker = 1;
    ck_assert_int_eq(starpu_task_submit_nodeps(task), 0);
}

static struct starpu_codelet cl_begin = {.cpu_funcs = {submit_on_behalf},
                                         .cuda_funcs = {submit_on_behalf},
                                         .opencl_funcs = {submit_on_behalf},
                                         .nbuffers = 1,
                                         .modes = {STARPU_RW},
                                         .name = "k"};

START_TEST(who_works_on_its_behalf_is_alone_with_the_data)
{
    static unsigned char no_order[] = {0};

    open_machine(_i);
    for (int i = 0; i < NROUNDS; i++) {
        struct starpu_task *other = new_task(&cl_alone, 0);

        submit(new_task(&cl_begin, 0));
        other->handles_sequential_consistency = no_order;
        other->execute_on_a_specific_worker = 1;
        other->workerid = 1;
        submit(other);
    }
    close_machine();
    ck_assert_int_eq(atomic_load(&ntogether), 0);
}
END_TEST

/* --- a question about a task that has run meanwhile --- */

static atomic_int nasking, nepilogues, nearly;
static atomic_bool has_run;

/* Lets others go on until the condition is true; gives up after `ms`. */
#define AWAIT(condition, ms)                                                   \
    do {                                                                       \
        for (int i = 0; i < 10 * (ms) && !(condition); i++)                    \
            usleep(100);                                                       \
    } while (0)

/* Two workers ask at once. The first one gets the task; the other one's question takes
 * until that has run, and longer. */
static int ask_twice(unsigned worker, struct starpu_task *task, unsigned nimpl)
{
    int n;

    (void)worker, (void)task, (void)nimpl;
    if (starpu_worker_get_id() < 0)
        return 1; /* on submission */
    n = atomic_fetch_add(&nasking, 1);
    if (n == 0)
        AWAIT(atomic_load(&nasking) > 1, 1000);
    if (n == 1) {
        AWAIT(atomic_load(&has_run), 1000);
        AWAIT(atomic_load(&nsteps) > 1, 50);
    }
    return 1;
}

static void step_and_say(void *buffers[], void *arg)
{
    step(buffers, arg);
    atomic_store(&has_run, true);
}

/* What has the datum next, without an order: only after the first one's epilogue. */
static void step_next(void *buffers[], void *arg)
{
    atomic_fetch_add(&nearly, atomic_load(&nepilogues) == 0);
    step(buffers, arg);
}

static void count_epilogue(void *arg)
{
    (void)arg;
    atomic_fetch_add(&nepilogues, 1);
}

START_TEST(a_question_gives_nothing_back_before_the_epilogue)
{
    static struct starpu_codelet asked = {.cpu_funcs = {step_and_say},
                                          .can_execute = ask_twice,
                                          .nbuffers = 1,
                                          .modes = {STARPU_RW},
                                          .name = "k"},
                                 next = {.cpu_funcs = {step_next},
                                         .nbuffers = 1,
                                         .modes = {STARPU_RW},
                                         .name = "k"};
    struct starpu_task *task;

    setenv("STARPU_NCPU", "3", 1);
    setenv("STARPU_WORKERS_NOBIND", "1", 1);
    setenv("STARPU_SCHED", "eager", 1);
    machine_open(_i);
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    starpu_data_set_sequential_consistency_flag(handle, 0);
    starpu_pause();
    task = new_task(&asked, 1);
    task->epilogue_callback_func = count_epilogue;
    submit(task);
    submit(new_task(&next, 1));
    starpu_resume();
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&nepilogues), 1);
    ck_assert_int_eq(atomic_load(&nearly), 0);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(late_ends)
{
    Suite *suite = suite_create("tasks whose end waits for others");
    TCase *tc = tcase_create("on each machine");

    tcase_set_timeout(tc, 60);
    suite_add_tcase(suite, tc);
#define EACH(test) tcase_add_loop_test(tc, test, 0, NMACHINES)
    /* Simulated, who asks is not interrupted. */
    tcase_add_loop_test(tc, a_question_gives_nothing_back_before_the_epilogue,
                        0, FIRST_SIMULATED);
    EACH(who_has_no_order_uses_the_data_before_the_end);
    EACH(who_has_no_order_may_be_the_first_and_come_late);
    EACH(readers_behind_wait_for_the_end);
    EACH(who_works_on_its_behalf_is_alone_with_the_data);
    EACH(what_a_task_submits_can_be_what_its_end_waits_for);
    return suite_main(suite);
}
