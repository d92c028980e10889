/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-lend.c - tasks that use the data of the task that has submitted them
 * while that waits in its kernel: as a whole, and in planned parts.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include <orrery.h>

#include "inside.h"

static starpu_data_handle_t shared;

/* It waits for the last; the first has run before that. */
static void lend(void *buffers[], void *arg)
{
    int *v = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    v[0] = v[0] * 5 + 1;
    submit_add(shared, 1);
    wait_for(begin_add(shared, 2));
    v[0] = v[0] * 5 + 2;
    submit_add(shared, 3);
    ck_assert_int_eq(starpu_data_acquire(shared, STARPU_R), 0);
    ck_assert_int_eq(v[1] % 3, 0);
    starpu_data_release(shared);
    v[0] = v[0] * 5 + 3;
    submit_add(shared, 4); /* runs after the task, as ever */
}

static struct starpu_codelet cl_lend = {
    .cpu_funcs = {lend},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

/* What two of these make of a value. */
static int lent_value(int v)
{
    for (int i = 0; i < 2; i++) {
        v = ((v * 5 + 1) * 3 + 1) * 3 + 2;
        v = (v * 5 + 2) * 3 + 3;
        v = v * 5 + 3;
    }
    return (v * 3 + 4) * 3 + 4;
}

START_TEST(a_task_lends_its_data_while_it_waits)
{
    int v[2] = {1, 0};

    open_one(_i);
    starpu_vector_data_register(&shared, STARPU_MAIN_RAM, (uintptr_t)v, 2,
                                sizeof(v[0]));
    starpu_pause();
    for (int i = 0; i < 2; i++) {
        struct starpu_task *task = new_task(&cl_lend, NULL);

        task->handles[0] = shared;
        submit(task);
    }
    starpu_resume();
    starpu_task_wait_for_all();
    starpu_data_unregister(shared);
    ck_assert_int_eq(v[0], lent_value(1));
    starpu_shutdown();
}
END_TEST

static void sum(void *buffers[], void *arg)
{
    const int *v = (const int *)STARPU_VECTOR_GET_PTR(buffers[0]);

    for (size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        atomic_fetch_add((atomic_int *)arg, v[i]);
}

static struct starpu_codelet cl_sum = {
    .cpu_funcs = {sum},
    .cuda_funcs = {sum},
    .nbuffers = 1,
    .modes = {STARPU_R},
    .name = "k",
};

/* Others read beside it, and a writer waits for them all. */
static void lend_for_reading(void *buffers[], void *arg)
{
    struct starpu_task *tasks[3];

    (void)buffers;
    for (int i = 0; i < 3; i++) {
        tasks[i] = new_task(&cl_sum, arg);
        tasks[i]->handles[0] = shared;
        tasks[i]->detach = 0;
        submit(tasks[i]);
    }
    for (int i = 0; i < 3; i++)
        wait_for(tasks[i]);
}

static struct starpu_codelet cl_lend_for_reading = {
    .cpu_funcs = {lend_for_reading},
    .nbuffers = 1,
    .modes = {STARPU_R},
    .name = "k",
};

START_TEST(what_is_read_is_lent_for_reading_before_a_writer_that_waits)
{
    int v[2] = {3, 4};
    atomic_int total = 0;

    open_one(_i);
    starpu_vector_data_register(&shared, STARPU_MAIN_RAM, (uintptr_t)v, 2,
                                sizeof(v[0]));
    starpu_pause();
    for (int i = 0; i < 2; i++) {
        struct starpu_task *task = new_task(&cl_lend_for_reading, &total);

        task->handles[0] = shared;
        submit(task);
    }
    submit_add(shared, 1);
    starpu_resume();
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&total), 2 * 3 * (3 + 4));
    starpu_data_unregister(shared);
    ck_assert_int_eq(v[0], 10);
    starpu_shutdown();
}
END_TEST

/* The one in the middle does not use what the outer one has. */
static void innermost(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    submit_add(shared, 1);
    wait_for(begin_add(shared, 2));
}

static struct starpu_codelet cl_innermost = CODELET(innermost);

static void outermost(void *buffers[], void *arg)
{
    int *v = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    v[0]++;
    wait_for(begin(&cl_innermost, NULL));
    v[0] = v[0] * 7;
}

static struct starpu_codelet cl_outermost = {
    .cpu_funcs = {outermost},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

START_TEST(data_are_lent_to_those_further_inside)
{
    int v[1] = {1}, expected = 1;

    open_one(_i);
    starpu_vector_data_register(&shared, STARPU_MAIN_RAM, (uintptr_t)v, 1,
                                sizeof(v[0]));
    starpu_task_insert(&cl_outermost, STARPU_RW, shared, 0);
    starpu_task_insert(&cl_outermost, STARPU_RW, shared, 0);
    starpu_data_unregister(shared);
    for (int i = 0; i < 2; i++)
        expected = (((expected + 1) * 3 + 1) * 3 + 2) * 7;
    ck_assert_int_eq(v[0], expected);
    starpu_shutdown();
}
END_TEST

/* A planned partition of what the task has, and back. */
static void use_pieces(void *buffers[], void *arg)
{
    int *v = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);
    starpu_data_handle_t *pieces = arg;

    v[0] = v[0] * 5 + 1;
    for (int i = 0; i < PARTS; i++)
        submit_add(pieces[i], i);
    wait_for(begin_add(shared, 7));
    v[0] = v[0] * 5 + 2;
    for (int i = 0; i < PARTS; i++)
        submit_add(pieces[i], i);
    ck_assert_int_eq(starpu_data_acquire(pieces[1], STARPU_R), 0);
    ck_assert_int_eq(v[N / PARTS] % 3, 1);
    starpu_data_release(pieces[1]);
    ck_assert_int_eq(starpu_data_acquire(shared, STARPU_RW), 0);
    starpu_data_release(shared);
    v[0] = v[0] * 5 + 3;
}

static struct starpu_codelet cl_use_pieces = {
    .cpu_funcs = {use_pieces},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

START_TEST(pieces_of_a_planned_partition_are_lent)
{
    int v[N];
    starpu_data_handle_t pieces[PARTS];
    int first = 1, last = 1;

    open_one(_i);
    for (int i = 0; i < N; i++)
        v[i] = 1;
    starpu_vector_data_register(&shared, STARPU_MAIN_RAM, (uintptr_t)v, N,
                                sizeof(v[0]));
    starpu_data_partition_plan(shared, &thirds, pieces);
    for (int i = 0; i < 2; i++) {
        starpu_task_insert(&cl_use_pieces, STARPU_RW, shared,
                           STARPU_CL_ARGS_NFREE, pieces, sizeof(pieces), 0);
        first = ((first * 5 + 1) * 3) * 3 + 7;
        first = ((first * 5 + 2) * 3) * 5 + 3;
        last = ((last * 3 + 2) * 3 + 7) * 3 + 2;
    }
    starpu_task_wait_for_all();
    starpu_data_partition_clean(shared, PARTS, pieces);
    starpu_data_unregister(shared);
    ck_assert_int_eq(v[0], first);
    ck_assert_int_eq(v[N - 1], last);
    starpu_shutdown();
}
END_TEST

/* --- parts, while others are submitted outside --- */

static starpu_data_handle_t pieces[PARTS];
static starpu_sem_t inside, go;

static void open_planned(int i, int v[N])
{
    open_one(i);
    for (int k = 0; k < N; k++)
        v[k] = 1;
    starpu_vector_data_register(&shared, STARPU_MAIN_RAM, (uintptr_t)v, N,
                                sizeof(v[0]));
    starpu_data_partition_plan(shared, &thirds, pieces);
    starpu_sem_init(&inside, 0, 0);
    starpu_sem_init(&go, 0, 0);
}

static void close_planned(void)
{
    starpu_task_wait_for_all();
    starpu_data_partition_clean(shared, PARTS, pieces);
    starpu_data_unregister(shared);
    starpu_sem_destroy(&inside);
    starpu_sem_destroy(&go);
    starpu_shutdown();
}

static void submit_pieces(int value)
{
    for (int i = 0; i < PARTS; i++)
        submit_add(pieces[i], value);
}

/* The middle of it is when the application has submitted what comes after. */
static void use_before_and_after(void *buffers[], void *arg)
{
    int *v = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

    v[0] = mixed(v[0], 5, (int)(intptr_t)arg);
    submit_pieces(1);
    starpu_sem_post(&inside);
    ck_assert_int_eq(starpu_sem_wait(&go), 0);
    submit_pieces(2);
    wait_for(begin_add(pieces[PARTS - 1], 3));
    wait_for(begin_add(shared, 4));
    ck_assert_int_eq(starpu_data_acquire(pieces[0], STARPU_RW), 0);
    v[0] = mixed(v[0], 5, 1);
    starpu_data_release(pieces[0]);
    wait_for(begin_add(pieces[0], 5));
    submit_pieces(6); /* has run when the task ends */
}

static struct starpu_codelet cl_use_before_and_after = {
    .cpu_funcs = {use_before_and_after},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

static int first_before_and_after(int v, int value)
{
    v = mixed(mixed(mixed(v, 5, value), 3, 1), 3, 2);
    v = mixed(mixed(mixed(v, 3, 4), 5, 1), 3, 5);
    return mixed(v, 3, 6);
}

static int last_before_and_after(int v)
{
    v = mixed(mixed(v, 3, 1), 3, 2);
    v = mixed(mixed(v, 3, 3), 3, 4);
    return mixed(v, 3, 6);
}

START_TEST(turns_outside_come_after_those_of_a_task)
{
    int v[N], first = 1, last = 1;

    open_planned(_i, v);
    for (int i = 0; i < 2; i++) {
        starpu_task_insert(&cl_use_before_and_after, STARPU_RW, shared,
                           STARPU_CL_ARGS_NFREE, (void *)(intptr_t)i, 0, 0);
        first = first_before_and_after(first, i);
        last = last_before_and_after(last);
        if (i == 0) { /* the task has begun, the next one will be after these */
            starpu_sem_wait(&inside);
            submit_add(shared, 7);
            submit_pieces(8);
            submit_add(shared, 9);
            submit_pieces(10);
            starpu_sem_post(&go);
        }
        if (i == 0) {
            first = mixed(mixed(mixed(mixed(first, 3, 7), 3, 8), 3, 9), 3, 10);
            last = mixed(mixed(mixed(mixed(last, 3, 7), 3, 8), 3, 9), 3, 10);
        }
    }
    starpu_sem_wait(&inside);
    submit_pieces(11);
    starpu_sem_post(&go);
    close_planned();
    ck_assert_int_eq(v[0], mixed(first, 3, 11));
    ck_assert_int_eq(v[N - 1], mixed(last, 3, 11));
}
END_TEST

/* It does not wait: what it submits on parts has run when it ends. */
static void use_without_waiting(void *buffers[], void *arg)
{
    int *v = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

    v[0] = v[0] * 5 + (int)(intptr_t)arg;
    v[N - 1] = v[N - 1] * 5 + (int)(intptr_t)arg;
    submit_pieces(1);
    submit_pieces(2);
}

static struct starpu_codelet cl_use_without_waiting = {
    .cpu_funcs = {use_without_waiting},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

START_TEST(a_task_ends_after_those_that_use_parts_of_its_data)
{
    int v[N], expected = 1;

    open_planned(_i, v);
    starpu_pause();
    for (int i = 0; i < 3; i++) {
        starpu_task_insert(&cl_use_without_waiting, STARPU_RW, shared,
                           STARPU_CL_ARGS_NFREE, (void *)(intptr_t)i, 0, 0);
        submit_pieces(3);
        expected = (((expected * 5 + i) * 3 + 1) * 3 + 2) * 3 + 3;
    }
    starpu_resume();
    close_planned();
    ck_assert_int_eq(v[0], expected);
    ck_assert_int_eq(v[N - 1], expected);
}
END_TEST

/* Cuts what it has, to a depth, and waits now and then. */
struct cut {
    starpu_data_handle_t handle;
    int depth, waits;
};

static void cut(void *buffers[], void *arg);

static struct starpu_codelet cl_cut = {
    .cpu_funcs = {cut},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

static struct starpu_data_filter halves = {
    .filter_func = starpu_vector_filter_block,
    .nchildren = 2,
};

static void cut(void *buffers[], void *arg)
{
    const struct cut *c = arg;
    starpu_data_handle_t parts[2];

    add(buffers, (void *)(intptr_t)1);
    if (c->depth == 0)
        return;
    for (int round = 0; round < 2; round++) {
        struct cut inner[2];
        struct starpu_task *tasks[2];

        starpu_data_partition_plan(c->handle, &halves, parts);
        for (int i = 0; i < 2; i++) {
            inner[i] = (struct cut){parts[i], c->depth - 1, c->waits};
            tasks[i] = new_task(&cl_cut, &inner[i]);
            tasks[i]->handles[0] = parts[i];
            tasks[i]->detach = 0;
            submit(tasks[i]);
        }
        if (c->waits)
            submit_add(c->handle, 2);
        for (int i = 0; i < 2; i++)
            wait_for(tasks[i]);
        starpu_data_partition_clean(c->handle, 2, parts);
    }
}

static int cut_value(int v, int depth, int waits)
{
    v = mixed(v, 3, 1);
    for (int round = 0; depth > 0 && round < 2; round++) {
        v = cut_value(v, depth - 1, waits);
        if (waits)
            v = mixed(v, 3, 2);
    }
    return v;
}

START_TEST(parts_are_cut_in_turn_inside_of_tasks_that_have_them)
{
    unsigned v[8]; /* it overflows */
    struct cut c[2];
    unsigned expected = 1;

    open_one(_i);
    for (int i = 0; i < 8; i++)
        v[i] = 1;
    starpu_vector_data_register(&shared, STARPU_MAIN_RAM, (uintptr_t)v, 8,
                                sizeof(v[0]));
    for (int i = 0; i < 2; i++) {
        struct starpu_task *task = new_task(&cl_cut, &c[i]);

        c[i] = (struct cut){shared, 2, i};
        task->handles[0] = shared;
        submit(task);
        expected = (unsigned)cut_value((int)expected, 2, i);
    }
    starpu_task_wait_for_all();
    starpu_data_unregister(shared);
    for (int i = 0; i < 8; i++)
        ck_assert_uint_eq(v[i], expected);
    starpu_shutdown();
}
END_TEST

/* The inner one reads what it is given; what it submits writes that, after it. */
static void submit_writer(void *buffers[], void *arg)
{
    const int *v = (const int *)STARPU_VECTOR_GET_PTR(buffers[0]);

    submit_add(shared, 2);
    starpu_usleep(50);
    *(int *)arg = v[0];
}

static struct starpu_codelet cl_submit_writer = {
    .cpu_funcs = {submit_writer},
    .nbuffers = 1,
    .modes = {STARPU_R},
    .name = "k",
};

static void lend_for_writing_further_inside(void *buffers[], void *arg)
{
    struct starpu_task *task = new_task(&cl_submit_writer, arg);

    (void)buffers;
    submit_add(shared, 1);
    task->handles[0] = shared;
    task->detach = 0;
    submit(task);
    wait_for(task);
    ck_assert_int_eq(starpu_data_acquire(shared, STARPU_R), 0);
    starpu_data_release(shared);
    submit_pieces(3);
}

static struct starpu_codelet cl_lend_for_writing_further_inside = {
    .cpu_funcs = {lend_for_writing_further_inside},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

START_TEST(what_a_reader_inside_submits_writes_what_the_outer_one_has)
{
    int v[N], seen = 0;

    open_planned(_i, v);
    starpu_task_insert(&cl_lend_for_writing_further_inside, STARPU_RW, shared,
                       STARPU_CL_ARGS_NFREE, &seen, sizeof(seen), 0);
    submit_pieces(4);
    close_planned();
    ck_assert_int_eq(seen, 1 * 3 + 1);
    ck_assert_int_eq(v[0], (((1 * 3 + 1) * 3 + 2) * 3 + 3) * 3 + 4);
}
END_TEST

/* Switches that are asked for, inside and outside. */
static void switch_explicitly(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    starpu_sem_post(&inside);
    ck_assert_int_eq(starpu_sem_wait(&go), 0);
    starpu_data_partition_submit(shared, PARTS, pieces);
    submit_pieces(1);
    starpu_data_unpartition_submit(shared, PARTS, pieces, -1);
    starpu_data_partition_readonly_submit(shared, PARTS, pieces);
    starpu_data_partition_readwrite_upgrade_submit(shared, PARTS, pieces);
    submit_pieces(2);
    wait_for(begin_add(pieces[0], 0)); /* the parts stay what is used */
    starpu_data_unpartition_submit(shared, PARTS, pieces, -1);
}

static struct starpu_codelet cl_switch_explicitly = {
    .cpu_funcs = {switch_explicitly},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

START_TEST(switches_inside_and_outside_are_apart)
{
    int v[N];

    open_planned(_i, v);
    starpu_task_insert(&cl_switch_explicitly, STARPU_RW, shared, 0);
    starpu_sem_wait(&inside);
    starpu_data_partition_submit(shared, PARTS, pieces);
    submit_pieces(3);
    starpu_sem_post(&go);
    starpu_data_unpartition_submit(shared, PARTS, pieces, -1);
    close_planned();
    ck_assert_int_eq(v[0], ((1 * 3 + 1) * 3 + 2) * 3 * 3 + 3);
    ck_assert_int_eq(v[N - 1], ((1 * 3 + 1) * 3 + 2) * 3 + 3);
}
END_TEST

/* Those inside go on when the task around has ended, or is about to. */
static void go_on(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    for (int i = 0; i < 20; i++)
        submit_pieces(0);
}

static struct starpu_codelet cl_go_on = CODELET(go_on);

static void leave_behind(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    for (int i = 0; i < 3; i++)
        submit(new_task(&cl_go_on, NULL));
    submit_pieces(0);
    starpu_usleep(20);
}

static struct starpu_codelet cl_leave_behind = {
    .cpu_funcs = {leave_behind},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

START_TEST(parts_are_used_while_the_task_ends)
{
    int v[N];
    unsigned expected = 1;

    open_planned(_i, v);
    for (int i = 0; i < 5; i++) {
        starpu_task_insert(&cl_leave_behind, STARPU_RW, shared, 0);
        submit_pieces(0);
    }
    close_planned();
    for (int i = 0; i < 5 * (3 * 20 + 1 + 1); i++)
        expected *= 3;
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq((unsigned)v[i], expected);
}
END_TEST

/* --- tasks that have no order --- */

static atomic_int nreleased;

static void release_shared(void *arg)
{
    starpu_data_release(arg);
    atomic_fetch_add(&nreleased, 1);
}

/* It does not wait for what it submits, which has an order. */
static void submit_ordered(void *buffers[], void *arg)
{
    (void)buffers;
    switch ((uintptr_t)arg) {
    case 0:
        starpu_data_prefetch_on_node(shared, STARPU_MAIN_RAM, 1);
        break;
    case 1:
        starpu_data_acquire_cb(shared, STARPU_R, release_shared, shared);
        break;
    default:
        submit_add(shared, 1);
    }
}

static struct starpu_codelet cl_submit = {
    .cpu_funcs = {submit_ordered},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

START_TEST(what_a_task_without_order_submits_has_its_turn)
{
    enum { NTASKS = 20 };
    int v[2] = {0, 0};

    open_one(_i);
    atomic_store(&nreleased, 0);
    starpu_vector_data_register(&shared, STARPU_MAIN_RAM, (uintptr_t)v, 2,
                                sizeof(v[0]));
    for (uintptr_t what = 0; what < 3; what++)
        for (int i = 0; i < NTASKS; i++) {
            struct starpu_task *task = starpu_task_create();

            task->cl = &cl_submit;
            task->handles[0] = shared;
            task->cl_arg = (void *)what;
            task->sequential_consistency = 0;
            ck_assert_int_eq(starpu_task_submit(task), 0);
            if (i % 2)
                ck_assert_int_eq(starpu_task_wait_for_all(), 0);
        }
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    starpu_data_unregister(shared);
    ck_assert_int_eq(nreleased, NTASKS);
    ck_assert_int_ne(v[0], 0);
    starpu_shutdown();
}
END_TEST

/* Two tasks read the whole, and parts of it inside, while writers wait outside. */
static void read_parts(void *buffers[], void *arg)
{
    atomic_int sum_of_parts = 0;
    const int *v = (const int *)STARPU_VECTOR_GET_PTR(buffers[0]);
    struct starpu_task *tasks[PARTS];
    int expected = 0;

    starpu_sem_post(&inside);
    ck_assert_int_eq(starpu_sem_wait(&go), 0);
    for (int i = 0; i < N; i++)
        expected += v[i];
    for (int i = 0; i < PARTS; i++) {
        tasks[i] = new_task(&cl_sum, &sum_of_parts);
        tasks[i]->handles[0] = pieces[i];
        tasks[i]->detach = 0;
        submit(tasks[i]);
    }
    for (int i = 0; i < PARTS; i++)
        wait_for(tasks[i]);
    ck_assert_int_eq(starpu_data_acquire(pieces[1], STARPU_R), 0);
    ck_assert_int_eq(v[N / PARTS],
                     *(int *)starpu_vector_get_local_ptr(pieces[1]));
    starpu_data_release(pieces[1]);
    atomic_fetch_add((atomic_int *)arg, atomic_load(&sum_of_parts) == expected);
}

static struct starpu_codelet cl_read_parts = {
    .cpu_funcs = {read_parts},
    .nbuffers = 1,
    .modes = {STARPU_R},
    .name = "k",
};

START_TEST(parts_are_read_inside_while_writers_wait_outside)
{
    int v[N];
    atomic_int right = 0;

    open_planned(_i, v);
    submit_pieces(1);
    for (int i = 0; i < 2; i++)
        starpu_task_insert(&cl_read_parts, STARPU_R, shared,
                           STARPU_CL_ARGS_NFREE, &right, sizeof(right), 0);
    for (int i = 0; i < 2; i++)
        starpu_sem_wait(&inside);
    submit_pieces(2);
    submit_add(shared, 3);
    submit_pieces(4);
    for (int i = 0; i < 2; i++)
        starpu_sem_post(&go);
    close_planned();
    ck_assert_int_eq(atomic_load(&right), 2);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(v[i], (((1 * 3 + 1) * 3 + 2) * 3 + 3) * 3 + 4);
}
END_TEST

/* It asks for what it has, and ends before it gets that. */
static void ask_and_end(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    starpu_data_acquire_cb(shared, STARPU_R, release_shared, shared);
}

static struct starpu_codelet cl_ask_and_end = {
    .cpu_funcs = {ask_and_end},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

/* Whoever uses the data inside, the task has them back when it goes on. */
static void lend_to_who_asks(void *buffers[], void *arg)
{
    int *v = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);
    struct starpu_task *task = new_task(&cl_ask_and_end, NULL);

    (void)arg;
    task->handles[0] = shared;
    task->detach = 0;
    submit(task);
    wait_for(task);
    for (int i = 0; i < 8; i++) {
        v[0] = mixed(v[0], 5, 1);
        wait_for(begin_add(shared, i));
    }
}

static struct starpu_codelet cl_lend_to_who_asks = {
    .cpu_funcs = {lend_to_who_asks},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

START_TEST(data_come_back_after_one_inside_has_asked_for_them_in_vain)
{
    int v[2] = {1, 0}, expected = 1;
    struct starpu_task *task;

    open_one(_i);
    starpu_vector_data_register(&shared, STARPU_MAIN_RAM, (uintptr_t)v, 2,
                                sizeof(v[0]));
    task = new_task(&cl_lend_to_who_asks, NULL);
    task->handles[0] = shared;
    submit(task);
    starpu_task_wait_for_all();
    starpu_data_unregister(shared);
    for (int i = 0; i < 8; i++)
        expected = mixed(mixed(expected, 5, 1), 3, i);
    ck_assert_int_eq(v[0], expected);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(lend)
{
    Suite *suite = suite_create("api-lend");
    TCase *tc = tcase_create("each machine");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, a_task_lends_its_data_while_it_waits, 0, NTIMES);
    tcase_add_loop_test(
        tc, what_is_read_is_lent_for_reading_before_a_writer_that_waits, 0,
        NTIMES);
    tcase_add_loop_test(tc, data_are_lent_to_those_further_inside, 0, NTIMES);
    tcase_add_loop_test(
        tc, data_come_back_after_one_inside_has_asked_for_them_in_vain, 0,
        NTIMES);
    tcase_add_loop_test(tc, pieces_of_a_planned_partition_are_lent, 0, NTIMES);
    tcase_add_loop_test(tc, turns_outside_come_after_those_of_a_task, 0,
                        NTIMES);
    tcase_add_loop_test(tc, a_task_ends_after_those_that_use_parts_of_its_data,
                        0, NTIMES);
    tcase_add_loop_test(
        tc, parts_are_cut_in_turn_inside_of_tasks_that_have_them, 0, NTIMES);
    tcase_add_loop_test(
        tc, what_a_reader_inside_submits_writes_what_the_outer_one_has, 0,
        NTIMES);
    tcase_add_loop_test(tc, switches_inside_and_outside_are_apart, 0, NTIMES);
    tcase_add_loop_test(tc, parts_are_used_while_the_task_ends, 0, NTIMES);
    tcase_add_loop_test(tc, parts_are_read_inside_while_writers_wait_outside, 0,
                        NTIMES);
    tcase_add_loop_test(tc, what_a_task_without_order_submits_has_its_turn, 0,
                        NTIMES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
