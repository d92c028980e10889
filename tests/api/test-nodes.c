/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-nodes.c - codelets that say on which memory node each buffer is
 * used, on each machine; the simulated ones have three GPUs of 64 MiB.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"

enum { MIB = 1 << 20 };

static int nkernels, wrong;

/* What the kernels expect of buffer i: the node whose memory they get; -1: that
 * of their worker. */
static int expected[STARPU_NMAXBUFS];
static starpu_data_handle_t handles[STARPU_NMAXBUFS];
static unsigned nhandles;

static void note(int condition)
{
    if (!condition)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

/* Each buffer is the replicate of its node, valid there if it is read. */
static void look(void *buffers[], void *arg)
{
    (void)arg;
    __atomic_fetch_add(&nkernels, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < nhandles; i++) {
        unsigned node = expected[i] < 0 ? starpu_worker_get_memory_node(
                                              (unsigned)starpu_worker_get_id())
                                        : (unsigned)expected[i];
        int allocated, valid, requested;

        starpu_data_query_status(handles[i], (int)node, &allocated, &valid,
                                 &requested);
        note(allocated && valid);
        note(buffers[i] == starpu_data_get_interface_on_node(handles[i], node));
        note(STARPU_VECTOR_GET_PTR(buffers[i]) ==
             (uintptr_t)starpu_data_handle_to_pointer(handles[i], node));
    }
    for (unsigned i = 0; i < nhandles; i++)
        ++*(int *)STARPU_VECTOR_GET_PTR(buffers[i]);
}

static struct starpu_codelet cl_look(unsigned n, const int *nodes)
{
    struct starpu_codelet cl = {
        .cpu_funcs = {look},
        .cuda_funcs = {look},
        .nbuffers = (int)n,
        .specific_nodes = 1,
        .name = "k",
    };

    nhandles = n;
    for (unsigned i = 0; i < n; i++) {
        cl.nodes[i] = nodes[i];
        cl.modes[i] = STARPU_RW;
    }
    return cl;
}

static int *values[STARPU_NMAXBUFS];

static void register_values(unsigned n, unsigned bytes)
{
    for (unsigned i = 0; i < n; i++) {
        values[i] = calloc(1, bytes);
        starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
                                    (uintptr_t)values[i], bytes / sizeof(int),
                                    sizeof(int));
    }
}

static void check_values(unsigned n, int expect)
{
    for (unsigned i = 0; i < n; i++) {
        starpu_data_unregister(handles[i]);
        ck_assert_int_eq(values[i][0], expect);
        free(values[i]);
    }
    ck_assert_int_eq(nkernels, expect);
    ck_assert_int_eq(wrong, 0);
}

static void submit(struct starpu_codelet *cl)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    for (unsigned i = 0; i < nhandles; i++)
        task->handles[i] = handles[i];
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

/* The machine's last node: a GPU's where there is one. */
static int last_node(void)
{
    return (int)starpu_memory_nodes_get_count() - 1;
}

START_TEST(each_buffer_is_on_its_node)
{
    struct starpu_codelet cl;
    int nodes[4] = {STARPU_SPECIFIC_NODE_LOCAL, STARPU_MAIN_RAM,
                    STARPU_SPECIFIC_NODE_FAST, 0};

    machine_open(_i);
    nodes[3] = last_node();
    expected[0] = expected[2] = -1;
    expected[1] = 0;
    expected[3] = last_node();
    register_values(4, 4096);
    cl = cl_look(4, nodes);
    for (unsigned i = 0; i < 40; i++)
        submit(&cl);
    check_values(4, 40);
    starpu_shutdown();
}
END_TEST

START_TEST(main_memory_has_several_names)
{
    struct starpu_codelet cl;
    const int nodes[3] = {STARPU_SPECIFIC_NODE_CPU, STARPU_SPECIFIC_NODE_SLOW,
                          STARPU_SPECIFIC_NODE_LOCAL};

    machine_open(_i);
    expected[0] = expected[1] = 0;
    expected[2] = -1;
    register_values(3, 4096);
    cl = cl_look(3, nodes);
    for (unsigned i = 0; i < 20; i++)
        submit(&cl);
    check_values(3, 20);
    starpu_shutdown();
}
END_TEST

/* What main memory has stays there; what only the worker's node has, too. */
START_TEST(local_or_cpu_moves_nothing)
{
    struct starpu_codelet cl, bring;
    const int local = STARPU_SPECIFIC_NODE_LOCAL,
              either = STARPU_SPECIFIC_NODE_LOCAL_OR_CPU;

    machine_open(_i);
    register_values(1, 4096);
    cl = cl_look(1, &either);
    bring = cl_look(1, &local);
    if (machine_simulated(_i))
        cl.where = bring.where = STARPU_CUDA;
    expected[0] = 0;
    for (unsigned i = 0; i < 5; i++)
        submit(&cl);
    starpu_task_wait_for_all();
    expected[0] = -1;
    for (unsigned i = 0; i < 5; i++) {
        struct starpu_task *task = starpu_task_create();
        unsigned worker =
            machine_simulated(_i)
                ? (unsigned)starpu_worker_get_by_type(STARPU_CUDA_WORKER, 1)
                : 0;

        task->cl = i ? &cl : &bring;
        task->handles[0] = handles[0];
        task->execute_on_a_specific_worker = 1;
        task->workerid = worker;
        ck_assert_int_eq(starpu_task_submit(task), 0);
        starpu_task_wait_for_all();
    }
    check_values(1, 10);
    starpu_shutdown();
}
END_TEST

static void see_shape(void *buffers[], void *arg)
{
    (void)arg;
    __atomic_fetch_add(&nkernels, 1, __ATOMIC_RELAXED);
    note(STARPU_VECTOR_GET_NX(buffers[0]) == 1024);
}

/* It is waited for, and not brought: a node without a copy stays so. */
START_TEST(none_is_for_the_order_only)
{
    struct starpu_codelet cl = {
        .cpu_funcs = {see_shape},
        .cuda_funcs = {see_shape},
        .nbuffers = 1,
        .modes = {STARPU_RW},
        .specific_nodes = 1,
        .nodes = {STARPU_SPECIFIC_NODE_NONE},
        .name = "k",
    };
    int allocated, valid, requested;

    machine_open(_i);
    register_values(1, 4096);
    nhandles = 1;
    if (machine_simulated(_i))
        cl.where = STARPU_CUDA;
    for (unsigned i = 0; i < 10; i++)
        submit(&cl);
    starpu_task_wait_for_all();
    ck_assert_int_eq(nkernels, 10);
    ck_assert_int_eq(wrong, 0);
    starpu_data_query_status(handles[0], STARPU_MAIN_RAM, &allocated, &valid,
                             &requested);
    ck_assert(valid);
    for (int node = 1; node <= last_node(); node++) {
        starpu_data_query_status(handles[0], node, &allocated, &valid,
                                 &requested);
        ck_assert(!allocated && !valid);
    }
    starpu_data_unregister(handles[0]);
    free(values[0]);
    starpu_shutdown();
}
END_TEST

static void compare(void *buffers[], void *arg)
{
    const int *here = (const int *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const int *there = (const int *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    __atomic_fetch_add(&nkernels, 1, __ATOMIC_RELAXED);
    note(here[0] == 42 && there[0] == 42);
    note((here == there) ==
         (starpu_worker_get_memory_node((unsigned)starpu_worker_get_id()) ==
          STARPU_MAIN_RAM));
}

START_TEST(a_value_is_read_on_two_nodes_at_once)
{
    struct starpu_codelet cl = {
        .cpu_funcs = {compare},
        .cuda_funcs = {compare},
        .nbuffers = 2,
        .modes = {STARPU_R, STARPU_R},
        .specific_nodes = 1,
        .nodes = {STARPU_SPECIFIC_NODE_LOCAL, STARPU_SPECIFIC_NODE_CPU},
        .name = "k",
    };

    machine_open(_i);
    register_values(1, 4096);
    values[0][0] = 42;
    for (unsigned i = 0; i < 10; i++)
        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_R, handles[0], STARPU_R,
                                            handles[0], 0),
                         0);
    starpu_data_unregister(handles[0]);
    starpu_shutdown();
    free(values[0]);
    ck_assert_int_eq(nkernels, 10);
    ck_assert_int_eq(wrong, 0);
}
END_TEST

/* Each task needs 24 MiB on two GPUs each, of which 64 are there: two tasks of
 * three find no room, in any order. */
START_TEST(memory_of_several_nodes_is_waited_for)
{
    enum { N = 12, BYTES = 24 * MIB };
    struct starpu_codelet cl = cl_look(2, (const int[]){0, 0});
    struct starpu_codelet each[3];
    starpu_data_handle_t data[N];
    int *memory[N];
    unsigned ngpus;

    machine_open(_i);
    ngpus = (unsigned)last_node();
    for (unsigned i = 0; i < N; i++) {
        memory[i] = calloc(1, BYTES);
        starpu_vector_data_register(&data[i], STARPU_MAIN_RAM,
                                    (uintptr_t)memory[i], BYTES / sizeof(int),
                                    sizeof(int));
    }
    nhandles = 0;
    for (unsigned i = 0; i < 3; i++) {
        each[i] = cl;
        each[i].nodes[0] = ngpus ? (int)(1 + i % ngpus) : 0;
        each[i].nodes[1] = ngpus ? (int)(1 + (i + 1) % ngpus) : 0;
    }
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < N; i++) {
            unsigned other = (i + 1 + round) % N;

            ck_assert_int_eq(starpu_task_insert(&each[i % 3], STARPU_RW,
                                                data[i], STARPU_RW, data[other],
                                                0),
                             0);
        }
    for (unsigned i = 0; i < N; i++)
        starpu_data_unregister(data[i]);
    starpu_shutdown();
    ck_assert_int_eq(nkernels, 3 * N);
    for (unsigned i = 0; i < N; i++)
        free(memory[i]);
}
END_TEST

/* Without a kernel the value goes to its node nonetheless. */
START_TEST(a_task_that_runs_nowhere_moves_data)
{
    struct starpu_codelet cl = {
        .where = STARPU_NOWHERE,
        .nbuffers = 1,
        .modes = {STARPU_RW},
        .specific_nodes = 1,
        .name = "k",
    };
    int allocated, valid, requested;

    machine_open(_i);
    register_values(1, 4096);
    values[0][0] = 7;
    nhandles = 1;
    cl.nodes[0] = last_node();
    submit(&cl);
    starpu_task_wait_for_all();
    starpu_data_query_status(handles[0], last_node(), &allocated, &valid,
                             &requested);
    ck_assert(allocated && valid);
    if (last_node() > 0) {
        starpu_data_query_status(handles[0], 0, &allocated, &valid, &requested);
        ck_assert(!valid);
    }
    starpu_data_unregister(handles[0]);
    ck_assert_int_eq(values[0][0], 7);
    free(values[0]);
    starpu_shutdown();
}
END_TEST

/* More buffers than the codelet's own array has. */
START_TEST(dyn_nodes_says_it_for_many_buffers)
{
    enum { N = 40 };
    starpu_data_handle_t data[N];
    struct starpu_data_descr descrs[N];
    int numbers[N] = {0}, nodes[N];
    struct starpu_codelet cl = {
        .cpu_funcs = {look},
        .cuda_funcs = {look},
        .nbuffers = N,
        .specific_nodes = 1,
        .dyn_nodes = nodes,
        .name = "k",
    };
    int allocated, valid, requested;

    machine_open(_i);
    nhandles = 0;
    for (unsigned i = 0; i < N; i++) {
        starpu_variable_data_register(&data[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&numbers[i], sizeof(int));
        descrs[i] = (struct starpu_data_descr){data[i], STARPU_RW};
        nodes[i] = i % 2 ? last_node() : STARPU_MAIN_RAM;
    }
    ck_assert_int_eq(
        starpu_task_insert(&cl, STARPU_DATA_MODE_ARRAY, descrs, N, 0), 0);
    starpu_task_wait_for_all();
    for (unsigned i = 0; i < N; i++) {
        starpu_data_query_status(data[i], nodes[i], &allocated, &valid,
                                 &requested);
        ck_assert(valid);
        starpu_data_unregister(data[i]);
    }
    starpu_shutdown();
    free(cl.dyn_modes);
    ck_assert_int_eq(nkernels, 1);
}
END_TEST

/* dmda sends the task to a CPU, since the datum that is far away stays there. */
START_TEST(predictions_count_the_transfer_to_the_node)
{
    struct starpu_codelet cl = cl_look(1, (const int[]){STARPU_MAIN_RAM});
    struct starpu_task *task;
    double here, there;

    machine_open(_i);
    register_values(1, 16 * MIB);
    task = starpu_task_create();
    task->cl = &cl;
    task->handles[0] = handles[0];
    here = starpu_task_expected_data_transfer_time((unsigned)last_node(), task);
    ck_assert_double_eq(here, 0);
    cl.nodes[0] = last_node();
    there = starpu_task_expected_data_transfer_time(STARPU_MAIN_RAM, task);
    ck_assert(last_node() == 0 || there > 0);
    cl.nodes[0] = STARPU_SPECIFIC_NODE_NONE;
    ck_assert_double_eq(
        starpu_task_expected_data_transfer_time((unsigned)last_node(), task),
        0);
    cl.nodes[0] = STARPU_SPECIFIC_NODE_LOCAL;
    ck_assert_double_eq(
        starpu_task_expected_data_transfer_time((unsigned)last_node(), task),
        there);
    starpu_task_destroy(task);
    check_values(1, 0);
    starpu_shutdown();
}
END_TEST

static void refuse(struct starpu_codelet *cl)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    for (int i = 0; i < cl->nbuffers; i++)
        task->handles[i] = handles[0];
    ck_assert_int_eq(starpu_task_submit(task), -EINVAL);
    task->destroy = 0;
    starpu_task_destroy(task);
}

START_TEST(wrong_nodes_are_refused)
{
    struct starpu_codelet cl = cl_look(2, (const int[]){0, -1});

    machine_open(_i);
    register_values(1, 4096);
    refuse(&cl);
    cl.modes[0] = cl.modes[1] = STARPU_R;
    cl.nodes[0] = last_node() + 1;
    refuse(&cl);
    cl.nodes[0] = -7;
    refuse(&cl);
    check_values(1, 0);
    starpu_shutdown();
}
END_TEST

/* Two buffers that may be on two nodes, in either order, also in dyn_nodes. */
START_TEST(a_value_is_not_written_on_two_nodes)
{
    static const int pairs[][2] = {
        {STARPU_SPECIFIC_NODE_CPU, STARPU_SPECIFIC_NODE_LOCAL},
        {STARPU_SPECIFIC_NODE_SLOW, STARPU_SPECIFIC_NODE_FAST},
        {STARPU_MAIN_RAM, STARPU_SPECIFIC_NODE_LOCAL},
        {STARPU_SPECIFIC_NODE_LOCAL_OR_CPU, STARPU_SPECIFIC_NODE_FAST},
        {STARPU_SPECIFIC_NODE_NONE, STARPU_SPECIFIC_NODE_LOCAL}};

    machine_open(_i);
    register_values(1, 4096);
    for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        for (int order = 0; order < 2; order++)
            for (int writer = 0; writer < 2; writer++) {
                int nodes[2] = {pairs[i][order], pairs[i][!order]};
                struct starpu_codelet cl = cl_look(2, nodes);

                cl.modes[writer] = STARPU_R;
                refuse(&cl);
                cl.dyn_nodes = nodes;
                cl.nodes[0] = cl.nodes[1] = STARPU_SPECIFIC_NODE_LOCAL;
                refuse(&cl);
            }
    check_values(1, 0);
    starpu_shutdown();
}
END_TEST

static void add_by_both(void *buffers[], void *arg)
{
    int *a = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    __atomic_fetch_add(&nkernels, 1, __ATOMIC_RELAXED);
    note(a == (int *)STARPU_VECTOR_GET_PTR(buffers[1]));
    ++*a;
}

/* Names of one node, for the workers that may run the task. */
START_TEST(names_of_one_node_go_together)
{
    static const int pairs[][3] = {
        {STARPU_SPECIFIC_NODE_LOCAL, STARPU_SPECIFIC_NODE_FAST, 0},
        {STARPU_SPECIFIC_NODE_CPU, STARPU_SPECIFIC_NODE_SLOW, 0},
        {STARPU_SPECIFIC_NODE_CPU, STARPU_MAIN_RAM, 0},
        {STARPU_SPECIFIC_NODE_CPU, STARPU_SPECIFIC_NODE_LOCAL, STARPU_CPU},
        {STARPU_MAIN_RAM, STARPU_SPECIFIC_NODE_LOCAL_OR_CPU, STARPU_CPU}};
    int n = 0;

    machine_open(_i);
    register_values(1, 4096);
    for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        for (int order = 0; order < 2; order++) {
            struct starpu_codelet cl = {.cpu_funcs = {add_by_both},
                                        .cuda_funcs = {add_by_both},
                                        .nbuffers = 2,
                                        .modes = {STARPU_RW, STARPU_R},
                                        .specific_nodes = 1,
                                        .nodes = {pairs[i][order],
                                                  pairs[i][!order]},
                                        .where = (uint32_t)pairs[i][2],
                                        .name = "k"};

            ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, handles[0],
                                                STARPU_R, handles[0], 0),
                             0);
            starpu_task_wait_for_all();
            n++;
        }
    check_values(1, n);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(nodes)
{
    Suite *suite = suite_create("nodes");
    TCase *tc = tcase_create("machines");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, each_buffer_is_on_its_node, 0, NMACHINES);
    tcase_add_loop_test(tc, main_memory_has_several_names, 0, NMACHINES);
    tcase_add_loop_test(tc, local_or_cpu_moves_nothing, 0, NMACHINES);
    tcase_add_loop_test(tc, none_is_for_the_order_only, 0, NMACHINES);
    tcase_add_loop_test(tc, a_value_is_read_on_two_nodes_at_once, 0, NMACHINES);
    tcase_add_loop_test(tc, memory_of_several_nodes_is_waited_for, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_task_that_runs_nowhere_moves_data, 0, NMACHINES);
    tcase_add_loop_test(tc, dyn_nodes_says_it_for_many_buffers, 0, NMACHINES);
    tcase_add_loop_test(tc, predictions_count_the_transfer_to_the_node, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, wrong_nodes_are_refused, 0, NMACHINES);
    tcase_add_loop_test(tc, a_value_is_not_written_on_two_nodes, 0, NMACHINES);
    tcase_add_loop_test(tc, names_of_one_node_go_together, 0, NMACHINES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
