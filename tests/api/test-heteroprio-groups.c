/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-heteroprio-groups.c - heteroprio's locality mode: to which memory
 * node tasks are pushed, and from which ones workers take them. Simulated, but for
 * misuse.
 */
/* shows starpu_heteroprio_map_wgroup_memory_nodes, starpu_heteroprio_print_wgroups,
 * starpu_heteroprio_set_use_locality */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_heteroprio.h>

#include "machines.h"

enum { NTASKS = 200, NGPUS = 3 };

static atomic_int nran, ran_on[NTASKS], order[NTASKS];

/* The argument is the task's number. */
static void note(void *buffers[], void *arg)
{
    int number = (int)(intptr_t)arg;

    (void)buffers;
    atomic_store(&ran_on[number], starpu_worker_get_id());
    atomic_store(&order[atomic_fetch_add(&nran, 1)], number);
}

static void map(unsigned ctx)
{
    starpu_heteroprio_map_wgroup_memory_nodes(ctx);
}

static void open_with(const char *rule, void (*callback)(unsigned))
{
    struct starpu_conf conf;

    machine_choose(FIRST_SIMULATED);
    setenv("STARPU_SCHED", "heteroprio", 1);
    setenv("STARPU_HETEROPRIO_USE_AUTO_CALIBRATION", "0", 1);
    if (rule)
        setenv("STARPU_HETEROPRIO_USE_LA", "1", 1);
    if (rule)
        setenv("STARPU_LAHETEROPRIO_PUSH", rule, 1);
    starpu_conf_init(&conf);
    conf.sched_policy_callback = callback;
    ck_assert_int_eq(starpu_init(&conf), 0);
}

static unsigned node_of_gpu(int i)
{
    int id = starpu_worker_get_by_type(STARPU_CUDA_WORKER, i);

    ck_assert_int_ge(id, 0);
    return starpu_worker_get_memory_node((unsigned)id);
}

/* A vector whose value only GPU `i` has. */
static starpu_data_handle_t there(int i, size_t bytes)
{
    starpu_data_handle_t handle;
    int node = (int)node_of_gpu(i);

    starpu_vector_data_register(&handle, -1, 0, (uint32_t)bytes, 1);
    ck_assert_int_eq(starpu_data_acquire_on_node(handle, node, STARPU_W), 0);
    starpu_data_release_on_node(handle, node);
    return handle;
}

/* Of node `node`, as printed: how many tasks are queued there; -1: no such group. */
static int queued_on(unsigned node)
{
    char *text = NULL, wanted[40], *at;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    int n = -1;

    starpu_heteroprio_print_wgroups(file, 0);
    fclose(file);
    snprintf(wanted, sizeof(wanted), "memory node %u, ", node);
    at = strstr(text, wanted);
    at = at ? strstr(at, "worker") : NULL;
    if (at)
        ck_assert_int_eq(sscanf(at, "%*[^,], %d task", &n), 1);
    free(text);
    return n;
}

static void submit(struct starpu_codelet *cl, int number, int priority,
                   starpu_data_handle_t a, starpu_data_handle_t b)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    task->priority = priority;
    task->cl_arg = (void *)(intptr_t)number;
    task->handles[0] = a;
    if (b)
        task->handles[1] = b;
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

static void wait_for(int ntasks)
{
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&nran), ntasks);
}

static void end(int ntasks)
{
    starpu_resume();
    wait_for(ntasks);
}

/* --- who gets a task --- */

/* A task reads x, which GPU 1 has, and uses y, which GPU 2 has: who gets it? */
static const struct {
    size_t x, y;
    enum starpu_data_access_mode mode;
    int lcs, sdh, sdh2, sdhb, smwb;
} uses[] = {
    {100000, 40000, STARPU_RW, 1, 1, 2, 1, 2},
    {100000, 80000, STARPU_RW, 1, 1, 2, 2, 2},
    {100000, 200, STARPU_RW, 1, 1, 1, 1, 2},
    {1000, 80000, STARPU_W, 1, 2, 2, 2, 2},
};
static const char *const rules[] = {"LcS",     "LS_SDH",  "LS_SDH2",
                                    "LS_SDHB", "LC_SMWB", "AUTO"};
enum { NUSES = 4, NRULES = 6 };

START_TEST(rules_choose_the_memory)
{
    int use = _i % NUSES, rule = _i / NUSES;
    const int expected[] = {uses[use].lcs,  uses[use].sdh,  uses[use].sdh2,
                            uses[use].sdhb, uses[use].smwb, uses[use].sdhb};
    struct starpu_codelet cl = {.where = STARPU_CUDA,
                                .cpu_funcs = {note},
                                .cuda_funcs = {note},
                                .nbuffers = 2,
                                .modes = {STARPU_R, uses[use].mode},
                                .name = "k"};
    starpu_data_handle_t x, y;

    open_with(rules[rule], map);
    x = there(1, uses[use].x);
    y = there(2, uses[use].y);
    starpu_pause();
    submit(&cl, 0, 0, x, y);
    for (int gpu = 0; gpu < NGPUS; gpu++)
        ck_assert_int_eq(queued_on(node_of_gpu(gpu)), gpu == expected[rule]);
    ck_assert_int_eq(queued_on(0), 0);
    end(1);
    starpu_data_unregister_no_coherency(x);
    starpu_data_unregister_no_coherency(y);
    starpu_shutdown();
}
END_TEST

static struct starpu_codelet anywhere = {.cpu_funcs = {note},
                                         .cuda_funcs = {note},
                                         .nbuffers = 1,
                                         .modes = {STARPU_RW},
                                         .name = "k"};
/* Simulated, all kernels are those of processors. */
static struct starpu_codelet on_gpus = {.where = STARPU_CUDA,
                                        .cpu_funcs = {note},
                                        .cuda_funcs = {note},
                                        .nbuffers = 1,
                                        .modes = {STARPU_RW},
                                        .name = "k"};

/* Main pushes to the processors, for whom its data are far; what they cannot run goes
 * to somebody who can. A task that a GPU releases goes to that GPU. */
START_TEST(by_worker_a_task_goes_to_who_pushes)
{
    starpu_data_handle_t x;

    open_with("WORKER", map);
    x = there(1, 1000);
    starpu_pause();
    submit(&anywhere, 0, 0, x, NULL);
    ck_assert_int_eq(queued_on(0), 1);
    end(1);
    starpu_pause();
    submit(&on_gpus, 1, 0, x, NULL);
    ck_assert_int_eq(queued_on(0), 0);
    ck_assert_int_eq(queued_on(node_of_gpu(0)), 1);
    end(2);
    starpu_data_unregister_no_coherency(x);
    starpu_shutdown();
}
END_TEST

/* Without the call the first push makes the groups. */
START_TEST(groups_are_made_by_the_first_push)
{
    starpu_data_handle_t x;

    open_with("LS_SDH", NULL);
    x = there(2, 1000);
    ck_assert_int_eq(queued_on(0), -1);
    starpu_pause();
    submit(&anywhere, 0, 0, x, NULL);
    ck_assert_int_eq(queued_on(node_of_gpu(2)), 1);
    end(1);
    starpu_data_unregister_no_coherency(x);
    starpu_shutdown();
}
END_TEST

/* --- who takes it --- */

enum { FROM_OWN, FROM_NEAR };

/* Tasks of bucket 1 are queued for workers of the kind, those of bucket 0 for the
 * others. They begin with their own, unless they look at a bucket of near nodes before
 * the next bucket of their own. */
static const struct {
    enum starpu_worker_archtype type;
    const char *step_variable, *step, *near_variable, *near;
    int first;
} looks[] = {
#define LOOK(kind, step, near, first)                                          \
    {                                                                          \
        STARPU_##kind##_WORKER, "STARPU_LAHETEROPRIO_PRIO_STEP_" #kind, step,  \
            "STARPU_LAHETEROPRIO_S_" #kind, near, first                        \
    }
    LOOK(CUDA, "0", "1", FROM_OWN), LOOK(CUDA, "1", "1", FROM_NEAR),
    LOOK(CUDA, "1", "0", FROM_OWN), LOOK(CUDA, "2", "1", FROM_OWN),
    LOOK(CPU, "0", "1", FROM_OWN),  LOOK(CPU, "1", "1", FROM_NEAR),
    LOOK(CPU, "1", "0", FROM_OWN),  LOOK(CPU, "2", "1", FROM_OWN),
};
enum { NLOOKS = 8 };

START_TEST(a_worker_looks_at_its_own_node_first)
{
    int gpus_own = looks[_i].type == STARPU_CUDA_WORKER, first = -1;
    starpu_data_handle_t x[4], y[4];

    setenv("STARPU_LAHETEROPRIO_PRIO_STEP_CUDA", "0", 1);
    setenv("STARPU_LAHETEROPRIO_PRIO_STEP_CPU", "0", 1);
    setenv(looks[_i].step_variable, looks[_i].step, 1);
    setenv(looks[_i].near_variable, looks[_i].near, 1);
    setenv("STARPU_NCUDA", "1", 1);
    setenv("TEST_NCPU", "1", 1);
    open_with("LS_SDH", map);
    starpu_pause();
    for (int i = 0; i < 4; i++) {
        starpu_vector_data_register(&x[i], -1, 0, 1000, 1);
        ck_assert_int_eq(starpu_data_acquire_on_node(x[i], 0, STARPU_W), 0);
        starpu_data_release_on_node(x[i], 0);
        y[i] = there(0, 1000);
        submit(&anywhere, 2 * i, !gpus_own, x[i], NULL);
        submit(&anywhere, 2 * i + 1, gpus_own, y[i], NULL);
    }
    ck_assert_int_eq(queued_on(0), 4);
    ck_assert_int_eq(queued_on(node_of_gpu(0)), 4);
    end(8);
    for (int i = 0; i < 8 && first < 0; i++)
        if (starpu_worker_get_type(ran_on[order[i]]) == looks[_i].type)
            first = order[i] % 2 == gpus_own ? FROM_OWN : FROM_NEAR;
    ck_assert_int_eq(first, looks[_i].first);
    for (int i = 0; i < 4; i++) {
        starpu_data_unregister_no_coherency(x[i]);
        starpu_data_unregister_no_coherency(y[i]);
    }
    starpu_shutdown();
}
END_TEST

/* How often a task of a chain runs elsewhere than the one before it. */
static int count_moves(const char *rule)
{
    enum { NCHAINS = 5, LENGTH = NTASKS / NCHAINS };
    starpu_data_handle_t x[NCHAINS];
    int moves = 0;

    atomic_store(&nran, 0);
    open_with(rule, NULL);
    for (int c = 0; c < NCHAINS; c++)
        x[c] = there(c % NGPUS, 1000);
    for (int i = 0; i < NTASKS; i++)
        submit(&on_gpus, i, 0, x[i % NCHAINS], NULL);
    wait_for(NTASKS);
    for (int i = NCHAINS; i < NTASKS; i++)
        moves += ran_on[i] != ran_on[i - NCHAINS];
    for (int c = 0; c < NCHAINS; c++)
        starpu_data_unregister_no_coherency(x[c]);
    starpu_shutdown();
    return moves;
}

START_TEST(chains_move_less)
{
    int without = count_moves(NULL);

    ck_assert_int_lt(4 * count_moves("AUTO"), 3 * without);
}
END_TEST

/* --- on and off --- */

START_TEST(what_is_queued_stays_when_locality_changes)
{
    starpu_data_handle_t x[NGPUS];

    open_with("AUTO", NULL);
    starpu_pause();
    for (int i = 0; i < NGPUS; i++) {
        x[i] = there(i, 1000);
        submit(&anywhere, i, i, x[i], NULL);
    }
    starpu_heteroprio_set_use_locality(0, 0);
    ck_assert_int_eq(queued_on(0), -1);
    end(NGPUS);
    starpu_pause();
    starpu_heteroprio_set_use_locality(0, 1);
    starpu_heteroprio_map_wgroup_memory_nodes(0);
    for (int i = 0; i < NGPUS; i++)
        submit(&anywhere, NGPUS + i, i, x[i], NULL);
    end(2 * NGPUS);
    for (int i = 0; i < NGPUS; i++)
        starpu_data_unregister_no_coherency(x[i]);
    starpu_shutdown();
}
END_TEST

/* The order of buckets, which decides who is near, changes all the time. */
START_TEST(automatic_mode_has_groups_too)
{
    setenv("STARPU_AUTOHETEROPRIO_ORDERING_INTERVAL", "1", 1);
    setenv("STARPU_HETEROPRIO_USE_LA", "1", 1);
    setenv("STARPU_LAHETEROPRIO_PUSH", rules[_i], 1);
    machine_choose(FIRST_SIMULATED);
    setenv("STARPU_SCHED", "heteroprio", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    for (int c = 0; c < 2; c++) {
        starpu_data_handle_t x = there(c, 1000);

        for (int i = 0; i < NTASKS / 2; i++)
            submit(c ? &anywhere : &on_gpus, c * NTASKS / 2 + i, 0, x, NULL);
        starpu_data_unregister_submit(x);
    }
    wait_for(NTASKS);
    starpu_shutdown();
}
END_TEST

/* --- misuse --- */

START_TEST(a_rule_that_is_none_is_refused)
{
    machine_choose(_i);
    setenv("STARPU_SCHED", "heteroprio", 1);
    setenv("STARPU_LAHETEROPRIO_PUSH", "LS_SDH3", 1);
    ck_assert_int_eq(starpu_init(NULL), -EINVAL);
}
END_TEST

START_TEST(groups_need_locality)
{
    open_with(NULL, map);
}
END_TEST

SUITE_MAIN(heteroprio_groups)
{
    Suite *suite = suite_create("heteroprio-groups");
    TCase *simulated = tcase_create("simulated");
    TCase *misuse = tcase_create("misuse");

    suite_add_tcase(suite, simulated);
    suite_add_tcase(suite, misuse);
    if (NMACHINES > FIRST_SIMULATED) {
        tcase_add_loop_test(simulated, rules_choose_the_memory, 0,
                            NUSES * NRULES);
        tcase_add_test(simulated, by_worker_a_task_goes_to_who_pushes);
        tcase_add_test(simulated, groups_are_made_by_the_first_push);
        tcase_add_loop_test(simulated, a_worker_looks_at_its_own_node_first, 0,
                            NLOOKS);
        tcase_add_test(simulated, chains_move_less);
        tcase_add_test(simulated, what_is_queued_stays_when_locality_changes);
        tcase_add_loop_test(simulated, automatic_mode_has_groups_too, 0,
                            NRULES);
        tcase_add_test_raise_signal(misuse, groups_need_locality, SIGABRT);
    }
    tcase_add_loop_test(misuse, a_rule_that_is_none_is_refused, 0, NMACHINES);
    return suite_main(suite);
}
