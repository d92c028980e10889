/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-redux.c - STARPU_REDUX: tasks that contribute side by side,
 * when their parts are combined and how often codelets are called for it; data
 * whose first value a codelet makes. On each machine.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"

enum { LENGTH = 5, MIB = 1 << 20 };

static int ninits, nadds, begin_with, priority_seen, strangers;
static void *init_arg; /* that the init codelet should get */
static void *arg_seen;

static long *longs(void *buffer)
{
    return (long *)STARPU_VECTOR_GET_PTR(buffer);
}

static void init(void *buffers[], void *arg)
{
    if (arg != init_arg)
        __atomic_fetch_add(&strangers, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&ninits, 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        longs(buffers[0])[i] = begin_with;
}

static void add(void *buffers[], void *arg)
{
    __atomic_fetch_add(&nadds, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&arg_seen, arg, __ATOMIC_RELAXED);
    __atomic_store_n(&priority_seen, starpu_task_get_current()->priority,
                     __ATOMIC_RELAXED);
    for (size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        longs(buffers[0])[i] += longs(buffers[1])[i];
}

/* Adds its argument, 1 without, to each element. */
static void contribute(void *buffers[], void *arg)
{
    for (size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        longs(buffers[0])[i] += arg ? *(long *)arg : 1;
}

static void set_7(void *buffers[], void *arg)
{
    (void)arg;
    for (size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        longs(buffers[0])[i] = 7;
}

static void look(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

#define CODELET(id, function, n, ...)                                          \
    static struct starpu_codelet id = {                                        \
        .cpu_funcs = {function},                                               \
        .cuda_funcs = {function},                                              \
        .nbuffers = n,                                                         \
        .modes = {__VA_ARGS__},                                                \
        .name = "k",                                                           \
    }

CODELET(cl_init, init, 1, STARPU_W);
CODELET(cl_add, add, 2, STARPU_RW | STARPU_COMMUTE, STARPU_R);
CODELET(cl_contribute, contribute, 1, STARPU_REDUX);
CODELET(cl_update, contribute, 1, STARPU_RW);
CODELET(cl_set, set_7, 1, STARPU_W);
CODELET(cl_look, look, 1, STARPU_R);
CODELET(cl_two, contribute, 2, STARPU_REDUX, STARPU_R);
CODELET(cl_three, contribute, 3, STARPU_REDUX, STARPU_SCRATCH, STARPU_REDUX);

static long value[LENGTH];
static starpu_data_handle_t h;

static void start(int machine, int first)
{
    machine_open(machine);
    ninits = nadds = strangers = 0;
    init_arg = NULL;
    begin_with = first;
    priority_seen = -1000;
    for (unsigned i = 0; i < LENGTH; i++)
        value[i] = 40;
}

static void with_home(void)
{
    starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)value, LENGTH,
                                sizeof(value[0]));
    starpu_data_set_reduction_methods(h, &cl_add, &cl_init);
}

static void without_home(void)
{
    starpu_vector_data_register(&h, -1, 0, LENGTH, sizeof(value[0]));
    starpu_data_set_reduction_methods(h, &cl_add, &cl_init);
}

static void submit(struct starpu_codelet *cl)
{
    ck_assert_int_eq(starpu_task_insert(cl, cl->modes[0], h, 0), 0);
}

/* Each worker contributes n times. */
static void contribute_everywhere(unsigned n)
{
    for (unsigned w = 0; w < n * starpu_worker_get_count(); w++)
        ck_assert_int_eq(
            starpu_task_insert(&cl_contribute, STARPU_REDUX, h,
                               STARPU_EXECUTE_ON_WORKER,
                               (int)(w % starpu_worker_get_count()), 0),
            0);
}

static int nworkers(void)
{
    return (int)starpu_worker_get_count();
}

/* What the data hold, by an acquisition. */
static long content(void)
{
    const long *at;
    long result;

    ck_assert_int_eq(starpu_data_acquire(h, STARPU_R), 0);
    at = (long *)starpu_vector_get_local_ptr(h);
    result = at[0];
    for (unsigned i = 1; i < LENGTH; i++)
        ck_assert_int_eq(at[i], result);
    starpu_data_release(h);
    return result;
}

/* An attempt on data that tasks have to make first: they may be quicker than it. */
static void try_once(void)
{
    int status = starpu_data_acquire_try(h, STARPU_R);

    if (status == 0)
        starpu_data_release(h);
    else
        ck_assert_int_eq(status, -EAGAIN);
}

static void finish(void)
{
    starpu_data_unregister(h);
    starpu_shutdown();
    ck_assert_int_eq(strangers, 0);
}

/* --- sums --- */

START_TEST(contributions_are_added_to_the_value)
{
    long expected = 40;

    start(_i, 0);
    with_home();
    for (unsigned phase = 0; phase < 20; phase++) {
        for (unsigned i = 0; i < 1 + 3 * phase; i++)
            submit(&cl_contribute);
        expected += 1 + 3 * phase;
        if (phase % 4 == 0)
            submit(&cl_look);
        if (phase % 4 == 1) {
            submit(&cl_update);
            expected++;
        }
        if (phase % 4 == 2)
            ck_assert_int_eq(content(), expected);
    }
    ck_assert_int_eq(content(), expected);
    finish();
    ck_assert_int_eq(value[0], expected);
}
END_TEST

/* What the init codelet makes is part of the sum: 100 from each worker. */
START_TEST(each_worker_begins_once_per_phase)
{
    start(_i, 100);
    with_home();
    contribute_everywhere(3);
    ck_assert_int_eq(content(), 40 + 103 * nworkers());
    ck_assert_int_eq(ninits, nworkers());
    ck_assert_int_eq(nadds, nworkers());
    contribute_everywhere(1);
    submit(&cl_look);
    ck_assert_int_eq(content(), 40 + 204 * nworkers());
    ck_assert_int_eq(ninits, 2 * nworkers());
    ck_assert_int_eq(nadds, 2 * nworkers());
    finish();
}
END_TEST

START_TEST(without_a_value_the_first_part_is_copied)
{
    start(_i, 100);
    without_home();
    contribute_everywhere(2);
    ck_assert_int_eq(content(), 102 * nworkers());
    ck_assert_int_eq(nadds, nworkers() - 1);
    /* Now it has one. */
    contribute_everywhere(1);
    ck_assert_int_eq(content(), 203 * nworkers());
    ck_assert_int_eq(nadds, 2 * nworkers() - 1);
    finish();
}
END_TEST

/* shows starpu_data_invalidate */
START_TEST(a_single_part_without_a_value_is_only_copied)
{
    int last;

    start(_i, 5);
    without_home();
    last = nworkers() - 1;
    for (unsigned i = 0; i < 3; i++) {
        starpu_task_insert(&cl_contribute, STARPU_REDUX, h,
                           STARPU_EXECUTE_ON_WORKER, last, 0);
        submit(&cl_look);
        ck_assert_int_eq(content(), 6);
        ck_assert_int_eq(nadds, 0);
        starpu_data_invalidate(h);
    }
    finish();
}
END_TEST

/* --- what ends a phase --- */

START_TEST(a_plain_write_ends_a_phase)
{
    start(_i, 0);
    with_home();
    contribute_everywhere(1);
    submit(&cl_set);
    contribute_everywhere(1);
    ck_assert_int_eq(content(), 7 + nworkers());
    ck_assert_int_eq(nadds, 2 * nworkers());
    finish();
}
END_TEST

START_TEST(nothing_is_combined_before_it_is_wanted)
{
    start(_i, 0);
    with_home();
    contribute_everywhere(1);
    starpu_task_wait_for_all();
    ck_assert_int_eq(nadds, 0);
    contribute_everywhere(1);
    starpu_task_wait_for_all();
    ck_assert_int_eq(nadds, 0);
    ck_assert_int_eq(ninits, nworkers());
    ck_assert_int_eq(content(), 40 + 2 * nworkers());
    ck_assert_int_eq(nadds, nworkers());
    ck_assert_int_eq(starpu_data_acquire_try(h, STARPU_R), 0);
    starpu_data_release(h);
    finish();
}
END_TEST

/* A program that tries until it succeeds gets the data. */
START_TEST(an_attempt_to_acquire_ends_a_phase)
{
    start(_i, 0);
    with_home();
    contribute_everywhere(1);
    starpu_task_wait_for_all();
    try_once();
    starpu_task_wait_for_all();
    while (starpu_data_acquire_try(h, STARPU_R) != 0)
        starpu_sleep(1e-4f);
    ck_assert_int_eq(nadds, nworkers());
    starpu_data_release(h);
    finish();
}
END_TEST

START_TEST(a_prefetch_ends_a_phase)
{
    int expected;

    start(_i, 0);
    with_home();
    contribute_everywhere(1);
    starpu_task_wait_for_all();
    ck_assert_int_eq(starpu_data_prefetch_on_node(h, 0, 1), 0);
    starpu_task_wait_for_all();
    contribute_everywhere(1);
    ck_assert_int_eq(starpu_data_fetch_on_node(h, 0, 0), 0);
    expected = 40 + 2 * nworkers();
    ck_assert_int_eq(nadds, 2 * nworkers());
    finish();
    ck_assert_int_eq(value[0], expected);
}
END_TEST

START_TEST(unregistration_combines)
{
    int expected;

    start(_i, 0);
    with_home();
    contribute_everywhere(2);
    expected = 40 + 2 * nworkers();
    starpu_data_unregister(h);
    ck_assert_int_eq(value[0], expected);
    ck_assert_int_eq(nadds, nworkers());
    without_home();
    contribute_everywhere(1);
    starpu_data_unregister(h);
    ck_assert_int_eq(nadds, 2 * nworkers() - 1);
    starpu_shutdown();
}
END_TEST

START_TEST(unregistration_without_coherency_discards)
{
    start(_i, 0);
    with_home();
    contribute_everywhere(1);
    starpu_data_unregister_no_coherency(h);
    with_home();
    contribute_everywhere(1);
    starpu_data_unregister_submit(h);
    with_home(); /* left to shutdown */
    contribute_everywhere(1);
    starpu_task_wait_for_all();
    starpu_shutdown();
    ck_assert_int_eq(nadds, 0);
    ck_assert_int_eq(value[0], 40);
}
END_TEST

START_TEST(invalidation_combines_and_drops)
{
    start(_i, 0);
    without_home();
    contribute_everywhere(1);
    starpu_data_invalidate(h);
    ck_assert_int_eq(nadds, nworkers() - 1);
    contribute_everywhere(1);
    starpu_data_invalidate_submit(h);
    contribute_everywhere(1);
    ck_assert_int_eq(content(), nworkers());
    finish();
}
END_TEST

/* The combination comes when all has been submitted: its value is gone then, and a part
 * that nobody writes has none. */
START_TEST(a_late_combination_is_no_value_of_what_was_invalidated)
{
    struct starpu_data_filter halves = {.filter_func = starpu_vector_filter_block,
                                        .nchildren = 2};
    starpu_data_handle_t parts[2];

    start(_i, 3);
    without_home();
    starpu_pause();
    submit(&cl_contribute);
    submit(&cl_look);
    starpu_data_invalidate_submit(h);
    starpu_resume();
    starpu_task_wait_for_all();
    starpu_data_partition_plan(h, &halves, parts);
    ck_assert_int_eq(starpu_task_insert(&cl_set, STARPU_W, parts[1], 0), 0);
    starpu_data_invalidate_submit(parts[1]);
    starpu_data_partition_clean(h, 2, parts);
    ck_assert_int_eq(content(), 3);
    finish();
}
END_TEST

/* --- the tasks that combine --- */

START_TEST(arguments_and_priorities_reach_the_tasks)
{
    static int argument, other;

    start(_i, 0);
    with_home();
    init_arg = &other;
    starpu_data_set_reduction_methods_with_args(h, &cl_add, &argument, &cl_init,
                                                &other);
    contribute_everywhere(1);
    starpu_task_insert(&cl_look, STARPU_R, h, STARPU_PRIORITY, 3, 0);
    starpu_task_wait_for_all();
    ck_assert_ptr_eq(arg_seen, &argument);
    ck_assert_int_eq(priority_seen, 3);
    contribute_everywhere(1);
    (void)content();
    ck_assert_int_eq(priority_seen, 0);
    finish();
}
END_TEST

/* --- other ways to use the data --- */

START_TEST(contributions_without_order_are_combined_too)
{
    start(_i, 0);
    with_home();
    starpu_data_set_sequential_consistency_flag(h, 0);
    for (unsigned i = 0; i < 300; i++) {
        submit(&cl_contribute);
        if (i % 3 == 0)
            submit(&cl_update);
        if (i % 7 == 0)
            submit(&cl_look);
    }
    starpu_task_wait_for_all();
    ck_assert_int_eq(content(), 440);
    finish();
}
END_TEST

static atomic_uint ncalled;

static void called_back(void *arg)
{
    *(long *)arg = ((long *)starpu_vector_get_local_ptr(h))[0];
    starpu_data_release(h);
    ncalled++;
}

START_TEST(acquisitions_by_callback_see_the_sum)
{
    long seen[10];

    start(_i, 0);
    with_home();
    for (unsigned i = 0; i < 10; i++) {
        contribute_everywhere(1);
        ck_assert_int_eq(
            starpu_data_acquire_cb(h, STARPU_R, called_back, &seen[i]), 0);
    }
    (void)content();
    /* The last one reads what content() reads, and may be told later. */
    while (ncalled < 10)
        starpu_usleep(10);
    for (unsigned i = 0; i < 10; i++)
        ck_assert_int_eq(seen[i], 40 + (long)(i + 1) * nworkers());
    finish();
}
END_TEST

/* Twice in one task it is one part, and scratch beside it is none. */
START_TEST(a_task_may_contribute_twice)
{
    start(_i, 0);
    with_home();
    for (unsigned i = 0; i < 30; i++)
        ck_assert_int_eq(starpu_task_insert(&cl_three, STARPU_REDUX, h,
                                            STARPU_SCRATCH, h, STARPU_REDUX, h,
                                            0),
                         0);
    ck_assert_int_eq(content(), 70);
    finish();
}
END_TEST

static void cut(unsigned nparts)
{
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = nparts};

    starpu_data_partition(h, &filter);
}

START_TEST(pieces_are_reduced_as_the_whole)
{
    start(_i, 0);
    with_home();
    contribute_everywhere(1);
    cut(LENGTH);
    for (unsigned i = 0; i < 50; i++)
        ck_assert_int_eq(
            starpu_task_insert(&cl_contribute, STARPU_REDUX,
                               starpu_data_get_sub_data(h, 1, i % LENGTH), 0),
            0);
    starpu_data_unpartition(h, 0);
    contribute_everywhere(1);
    ck_assert_int_eq(content(), 50 + 2 * nworkers());
    finish();
}
END_TEST

/* Set on partitioned data they are the pieces'. */
START_TEST(methods_reach_the_pieces_of_pieces)
{
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};

    start(_i, 0);
    starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)value, LENGTH,
                                sizeof(value[0]));
    cut(2);
    starpu_data_partition(starpu_data_get_sub_data(h, 1, 0), &filter);
    starpu_data_set_reduction_methods(h, &cl_add, &cl_init);
    for (unsigned i = 0; i < 20; i++) {
        starpu_task_insert(&cl_contribute, STARPU_REDUX,
                           starpu_data_get_sub_data(h, 2, 0, i % 2), 0);
        starpu_task_insert(&cl_contribute, STARPU_REDUX,
                           starpu_data_get_sub_data(h, 1, 1), 0);
    }
    starpu_data_unpartition(h, 0);
    finish();
    for (unsigned i = 0; i < LENGTH; i++)
        ck_assert_int_eq(value[i], i < 3 ? 50 : 60);
}
END_TEST

/* Parts of 24 MiB and data of 24 MiB on GPUs of 64: parts are written back. */
START_TEST(parts_may_leave_a_device)
{
    starpu_data_handle_t part[2], others[3];
    static struct starpu_codelet gpu;
    size_t n = 24 * MIB / sizeof(long);
    long *memory[5];

    start(_i, 0);
    gpu = cl_update;
    if (machine_simulated(_i))
        gpu.where = STARPU_CUDA;
    for (unsigned d = 0; d < 5; d++) {
        starpu_data_handle_t *to = d < 2 ? &part[d] : &others[d - 2];

        memory[d] = calloc(n, sizeof(long));
        starpu_vector_data_register(to, STARPU_MAIN_RAM, (uintptr_t)memory[d],
                                    n, sizeof(long));
        starpu_data_set_reduction_methods(*to, &cl_add, &cl_init);
    }
    for (unsigned i = 0; i < 12; i++) {
        starpu_task_insert(&cl_contribute, STARPU_REDUX, part[i % 2], 0);
        starpu_task_insert(&gpu, STARPU_RW, others[i % 3], 0);
    }
    for (unsigned d = 0; d < 5; d++)
        starpu_data_unregister(d < 2 ? part[d] : others[d - 2]);
    starpu_shutdown();
    for (unsigned d = 0; d < 5; d++) {
        ck_assert_int_eq(memory[d][0], d < 2 ? 6 : 4);
        ck_assert_int_eq(memory[d][n - 1], d < 2 ? 6 : 4);
        free(memory[d]);
    }
}
END_TEST

/* --- the first value --- */

START_TEST(what_is_read_first_is_made_by_the_init_codelet)
{
    start(_i, 3);
    starpu_vector_data_register(&h, -1, 0, LENGTH, sizeof(value[0]));
    starpu_data_set_reduction_methods(h, NULL, &cl_init);
    submit(&cl_update);
    submit(&cl_update);
    ck_assert_int_eq(content(), 5);
    ck_assert_int_eq(ninits, 1);
    starpu_data_invalidate(h);
    ck_assert_int_eq(content(), 3);
    submit(&cl_update);
    starpu_data_invalidate_submit(h);
    submit(&cl_look);
    submit(&cl_update);
    ck_assert_int_eq(content(), 4);
    ck_assert_int_eq(ninits, 3);
    starpu_data_invalidate_submit(h);
    submit(&cl_set);
    ck_assert_int_eq(content(), 7);
    ck_assert_int_eq(ninits, 3);
    finish();
}
END_TEST

START_TEST(every_kind_of_reader_makes_a_first_value)
{
    long seen = 0;

    start(_i, 3);
    for (unsigned kind = 0; kind < 4; kind++) {
        starpu_vector_data_register(&h, -1, 0, LENGTH, sizeof(value[0]));
        starpu_data_set_reduction_methods(h, NULL, &cl_init);
        if (kind == 0)
            ck_assert_int_eq(
                starpu_data_acquire_cb(h, STARPU_R, called_back, &seen), 0);
        if (kind == 1)
            ck_assert_int_eq(starpu_data_prefetch_on_node(h, 0, 1), 0);
        if (kind == 2)
            starpu_data_set_sequential_consistency_flag(h, 0);
        if (kind == 2)
            submit(&cl_update);
        if (kind == 3)
            try_once();
        starpu_task_wait_for_all();
        ck_assert_int_eq(ninits, (int)kind + 1);
        ck_assert_int_eq(content(), kind == 2 ? 4 : 3);
        starpu_data_unregister(h);
    }
    ck_assert_int_eq(seen, 3);
    ck_assert_int_eq(ninits, 4);
    starpu_shutdown();
}
END_TEST

/* A write that was submitted may come later, where no order says otherwise. */
START_TEST(what_is_read_before_a_pending_write_is_made)
{
    start(_i, 3);
    for (unsigned kind = 0; kind < 2; kind++) {
        struct starpu_codelet *first = kind ? &cl_contribute : &cl_set;

        without_home();
        starpu_data_set_sequential_consistency_flag(h, 0);
        starpu_tag_declare_deps(kind + 1, 1, (starpu_tag_t)100 + kind);
        ck_assert_int_eq(starpu_task_insert(first, first->modes[0], h,
                                            STARPU_TAG, (starpu_tag_t)kind + 1,
                                            0),
                         0);
        ck_assert_int_eq(starpu_task_insert(&cl_update, STARPU_RW, h,
                                            STARPU_TASK_SYNCHRONOUS, 1, 0),
                         0);
        ck_assert_int_eq(content(), 4);
        ck_assert_int_eq(ninits, 1);
        begin_with = 0;
        starpu_tag_notify_from_apps(100 + kind);
        starpu_task_wait_for_all();
        ck_assert_int_eq(content(), kind ? 5 : 7);
        starpu_data_unregister(h);
        begin_with = 3;
        ninits = 0;
    }
    starpu_shutdown();
}
END_TEST

START_TEST(data_with_a_value_are_not_made_anew)
{
    start(_i, 3);
    with_home();
    submit(&cl_update);
    ck_assert_int_eq(content(), 41);
    starpu_data_unregister(h);
    starpu_vector_data_register(&h, -1, 0, LENGTH, sizeof(value[0]));
    submit(&cl_set);
    starpu_data_set_reduction_methods(h, &cl_add, &cl_init);
    submit(&cl_update);
    ck_assert_int_eq(content(), 8);
    ck_assert_int_eq(ninits, 0);
    finish();
}
END_TEST

/* --- mistakes --- */

START_TEST(mistakes_are_refused)
{
    starpu_arbiter_t arbiter;

    start(_i, 0);
    starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)value, LENGTH,
                                sizeof(value[0]));
    ck_assert_int_eq(starpu_task_insert(&cl_contribute, STARPU_REDUX, h, 0),
                     -EINVAL);
    starpu_data_set_reduction_methods(h, &cl_add, NULL);
    ck_assert_int_eq(starpu_task_insert(&cl_contribute, STARPU_REDUX, h, 0),
                     -EINVAL);
    starpu_data_set_reduction_methods(h, &cl_add, &cl_init);
    ck_assert_int_eq(
        starpu_task_insert(&cl_two, STARPU_REDUX, h, STARPU_R, h, 0), -EINVAL);
    ck_assert_int_eq(starpu_data_acquire(h, STARPU_REDUX), -EINVAL);
    arbiter = starpu_arbiter_create();
    starpu_data_assign_arbiter(h, arbiter);
    ck_assert_int_eq(starpu_task_insert(&cl_contribute, STARPU_REDUX, h, 0),
                     -EINVAL);
    finish();
    starpu_arbiter_destroy(arbiter);
    ck_assert_int_eq(value[0], 40);
}
END_TEST

START_TEST(a_plain_rw_is_mended)
{
    static struct starpu_codelet plain;

    start(0, 0);
    plain = cl_add;
    plain.modes[0] = STARPU_RW;
    with_home();
    starpu_data_set_reduction_methods(h, &plain, &cl_init);
    ck_assert_int_eq(plain.modes[0], STARPU_RW | STARPU_COMMUTE);
    contribute_everywhere(1);
    ck_assert_int_eq(content(), 40 + nworkers());
    finish();
}
END_TEST

/* Simulated: what a reader waits for after a contribution of one worker, a GPU's or a
 * processor's, to `bytes` that had no value, for which the first part is copied. */
static double time_of_sum(const char *cost, unsigned bytes, bool on_gpu)
{
    double start;
    int worker;

    setenv("STARPU_SIMGRID_TRANSFER_COST", cost, 1);
    setenv("STARPU_SIMGRID_CUDA_MALLOC_COST", "0", 1);
    machine_open(FIRST_SIMULATED);
    worker = starpu_worker_get_by_type(
        on_gpu ? STARPU_CUDA_WORKER : STARPU_CPU_WORKER, 0);
    starpu_vector_data_register(&h, -1, 0, bytes / sizeof(long), sizeof(long));
    starpu_data_set_reduction_methods(h, &cl_add, &cl_init);
    starpu_task_insert(&cl_contribute, STARPU_REDUX, h,
                       STARPU_EXECUTE_ON_WORKER, worker, 0);
    starpu_task_wait_for_all();
    start = starpu_timing_now();
    starpu_task_insert(&cl_look, STARPU_R, h, STARPU_EXECUTE_ON_WORKER, worker,
                       0);
    starpu_task_wait_for_all();
    start = starpu_timing_now() - start;
    starpu_data_unregister_no_coherency(h);
    starpu_shutdown();
    return start;
}

/* Main memory is read and written by a core, at 10 GB/s, a GPU's by itself, at 200: the
 * machine states neither. */
START_TEST(copies_of_sums_take_their_time)
{
    unsigned bytes = _i ? 16 * MIB : MIB;
    double rate = _i ? 200e3 : 10e3, takes = 2. * bytes / rate;
    double took = time_of_sum("1", bytes, _i);

    ck_assert_double_ge(took, takes);
    ck_assert_double_le(took, takes + 100);
    ck_assert_double_le(time_of_sum("0", bytes, _i), 100);
}
END_TEST

START_TEST(wrong_codelets_abort)
{
    start(0, 0);
    with_home();
    if (_i == 0)
        starpu_data_set_reduction_methods(h, &cl_init, &cl_init);
    if (_i == 1)
        starpu_data_set_reduction_methods(h, &cl_add, &cl_update);
    if (_i == 2)
        starpu_data_set_reduction_methods(h, &cl_add, &cl_add);
    if (_i == 3)
        starpu_data_set_reduction_methods(h, &cl_two, &cl_init);
}
END_TEST

SUITE_MAIN(redux)
{
    const TTest *const everywhere[] = {
        contributions_are_added_to_the_value,
        each_worker_begins_once_per_phase,
        without_a_value_the_first_part_is_copied,
        a_single_part_without_a_value_is_only_copied,
        a_plain_write_ends_a_phase,
        nothing_is_combined_before_it_is_wanted,
        an_attempt_to_acquire_ends_a_phase,
        a_prefetch_ends_a_phase,
        unregistration_combines,
        unregistration_without_coherency_discards,
        invalidation_combines_and_drops,
        a_late_combination_is_no_value_of_what_was_invalidated,
        arguments_and_priorities_reach_the_tasks,
        contributions_without_order_are_combined_too,
        acquisitions_by_callback_see_the_sum,
        a_task_may_contribute_twice,
        pieces_are_reduced_as_the_whole,
        methods_reach_the_pieces_of_pieces,
        parts_may_leave_a_device,
        what_is_read_first_is_made_by_the_init_codelet,
        every_kind_of_reader_makes_a_first_value,
        what_is_read_before_a_pending_write_is_made,
        data_with_a_value_are_not_made_anew,
        mistakes_are_refused,
    };
    Suite *suite = suite_create("redux");
    TCase *tc = tcase_create("redux");

    tcase_set_timeout(tc, 60);
    for (unsigned i = 0; i < sizeof(everywhere) / sizeof(everywhere[0]); i++)
        tcase_add_loop_test(tc, everywhere[i], 0, NMACHINES);
    tcase_add_loop_test(tc, copies_of_sums_take_their_time,
                        strcmp(machine_ncpus(), "0") == 0, 2);
    tcase_add_test(tc, a_plain_rw_is_mended);
    tcase_add_loop_test_raise_signal(tc, wrong_codelets_abort, 6, 0, 4);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
