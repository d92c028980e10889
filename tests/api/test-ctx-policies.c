/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-ctx-policies.c - policies of the application in scheduling
 * contexts of their own: their hooks, data and counts, tasks that they move, and
 * the workers that they walk over.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"
#include "silence.h"

#define NTASKS 60
#define NMAX   STARPU_NMAX_SCHED_CTXS

/* --- a central list per context, which counts its hooks --- */

struct list {
    starpu_pthread_mutex_t mutex;
    struct starpu_task_list tasks;
};

static atomic_int ninits[NMAX], ndeinits[NMAX], nadded[NMAX], nremoved[NMAX];
static atomic_int npushes[NMAX], npops[NMAX], nbegun[NMAX], nended[NMAX];
static atomic_int nsubmitted, nscheduled[NMAX], wrong;
static unsigned to_move, adds_in_hook;
static bool others_leave_hooks;

static void init(unsigned ctx)
{
    struct list *list = calloc(1, sizeof(*list));

    starpu_pthread_mutex_init(&list->mutex, NULL);
    starpu_task_list_init(&list->tasks);
    wrong += starpu_sched_ctx_get_policy_data(ctx) != NULL;
    starpu_sched_ctx_set_policy_data(ctx, list);
    ninits[ctx]++;
}

static void deinit(unsigned ctx)
{
    struct list *list = starpu_sched_ctx_get_policy_data(ctx);

    wrong += !starpu_task_list_empty(&list->tasks);
    starpu_pthread_mutex_destroy(&list->mutex);
    free(list);
    ndeinits[ctx]++;
}

static void add(unsigned ctx, int *ids, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        wrong += ids[i] <= ids[i - 1];
    nadded[ctx] += (int)n;
}

static void take_out(unsigned ctx, int *ids, unsigned n)
{
    (void)ids;
    nremoved[ctx] += (int)n;
}

static void *schedule(void *arg)
{
    starpu_do_schedule();
    return arg;
}

static void leave_hook_in_another_thread(void)
{
    pthread_t thread;

    wrong += pthread_create(&thread, NULL, schedule, NULL) != 0;
    wrong += pthread_join(thread, NULL) != 0;
}

static int push(struct starpu_task *task)
{
    unsigned ctx = task->sched_ctx;
    struct list *list = starpu_sched_ctx_get_policy_data(ctx);

    npushes[ctx]++;
    wrong += !starpu_worker_sched_op_pending();
    if (to_move && ctx != to_move) {
        starpu_sched_ctx_move_task_to_ctx_locked(task, to_move, 1);
        starpu_sched_ctx_revert_task_counters_ctx_locked(ctx, task->flops);
        return 0;
    }
    if (adds_in_hook) {
        int worker = 0;

        starpu_sched_ctx_add_workers(&worker, 1, adds_in_hook);
        if (others_leave_hooks)
            leave_hook_in_another_thread();
        wrong += starpu_sched_ctx_contains_worker(0, adds_in_hook) != 0;
        adds_in_hook = 0;
    }
    starpu_pthread_mutex_lock(&list->mutex);
    starpu_task_list_push_back(&list->tasks, task);
    starpu_pthread_mutex_unlock(&list->mutex);
    return 0;
}

static struct starpu_task *pop(unsigned ctx)
{
    struct list *list = starpu_sched_ctx_get_policy_data(ctx);
    struct starpu_task *task = NULL;

    starpu_pthread_mutex_lock(&list->mutex);
    if (!starpu_task_list_empty(&list->tasks))
        task = starpu_task_list_pop_front(&list->tasks);
    starpu_pthread_mutex_unlock(&list->mutex);
    npops[ctx] += task != NULL;
    return task;
}

static void begin(struct starpu_task *task, unsigned ctx)
{
    (void)task;
    nbegun[ctx]++;
}

static void end(struct starpu_task *task, unsigned ctx)
{
    (void)task;
    nended[ctx]++;
}

static void submitted(struct starpu_task *task)
{
    (void)task;
    nsubmitted++;
}

static void do_schedule(unsigned ctx)
{
    nscheduled[ctx]++;
}

static struct starpu_sched_policy policy = {
    .init_sched = init,
    .deinit_sched = deinit,
    .add_workers = add,
    .remove_workers = take_out,
    .push_task = push,
    .pop_task = pop,
    .pre_exec_hook = begin,
    .post_exec_hook = end,
    .submit_hook = submitted,
    .do_schedule = do_schedule,
    .policy_name = "central",
    .worker_type = STARPU_WORKER_LIST,
};

static atomic_int ran_on[STARPU_NMAXWORKERS];

static void note(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    ran_on[starpu_worker_get_id()]++;
}

static struct starpu_codelet cl = {
    .cpu_funcs = {note}, .cuda_funcs = {note}, .name = "k"};

static void open_machine(int i)
{
    machine_choose(i);
    setenv("STARPU_NCPU", machine_simulated(i) ? "3" : "2", 1);
    setenv("STARPU_NCUDA", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

static unsigned make(int *ids, int n)
{
    return starpu_sched_ctx_create(ids, n, "own",
                                   STARPU_SCHED_CTX_POLICY_STRUCT, &policy, 0);
}

static void submit_to(unsigned ctx, int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_SCHED_CTX, ctx,
                                            STARPU_FLOPS, 1e6, 0),
                         0);
}

START_TEST(each_context_has_a_policy_of_its_own)
{
    unsigned a, b;
    int count;

    open_machine(_i);
    count = (int)starpu_worker_get_count();
    a = make(NULL, -1);
    b = make((int[]){1}, 1);
    ck_assert_int_eq(nadded[a], count);
    ck_assert_int_eq(nadded[b], 1);
    ck_assert_str_eq(starpu_sched_ctx_get_sched_policy(a)->policy_name,
                     "central");
    ck_assert_int_eq(starpu_worker_sched_op_pending(), 0);
    submit_to(a, NTASKS);
    submit_to(b, NTASKS);
    starpu_task_wait_for_all_in_ctx(a);
    starpu_task_wait_for_all_in_ctx(b);
    for (unsigned c = a; c <= b; c++) {
        ck_assert_int_eq(npushes[c], NTASKS);
        ck_assert_int_eq(npops[c], NTASKS);
        ck_assert_int_eq(nbegun[c], NTASKS);
        ck_assert_int_eq(nended[c], NTASKS);
        ck_assert_int_ge(nscheduled[c], 1);
        ck_assert_int_eq(ninits[c], 1);
    }
    ck_assert_int_eq(nsubmitted, 2 * NTASKS);
    starpu_sched_ctx_add_workers((int[]){0, 1}, 2, b);
    ck_assert_int_eq(nadded[b], 2);
    starpu_sched_ctx_delete(b);
    ck_assert_int_eq(ndeinits[b], 1);
    ck_assert_int_eq(nremoved[b], 2);
    starpu_shutdown();
    ck_assert_int_eq(ndeinits[a], 1);
    ck_assert_int_eq(nremoved[a], count);
    ck_assert_int_eq(wrong, 0);
}
END_TEST

START_TEST(the_policy_is_told_when_a_worker_has_left)
{
    unsigned ctx;
    int count;

    open_machine(_i);
    count = (int)starpu_worker_get_count();
    ctx = make(NULL, -1);
    submit_to(ctx, NTASKS);
    starpu_sched_ctx_remove_workers((int[]){0}, 1, ctx);
    starpu_task_wait_for_all();
    while (!nremoved[ctx])
        starpu_sleep(0.001f);
    for (int w = 0; w < count; w++)
        ran_on[w] = 0;
    submit_to(ctx, NTASKS);
    starpu_task_wait_for_all();
    ck_assert_int_eq(ran_on[0], 0);
    starpu_sched_ctx_delete(ctx);
    ck_assert_int_eq(nremoved[ctx], count);
    ck_assert_int_eq(wrong, 0);
    starpu_shutdown();
}
END_TEST

/* A policy that shares its lists has nothing to be waited for. */
START_TEST(a_worker_without_tasks_of_its_own_leaves_at_once)
{
    unsigned ctx;

    open_machine(_i);
    ctx = make(NULL, -1);
    starpu_sched_ctx_worker_shares_tasks_lists(1, (int)ctx);
    starpu_pause();
    submit_to(ctx, NTASKS);
    starpu_sched_ctx_remove_workers((int[]){1}, 1, ctx);
    ck_assert_int_eq(nremoved[ctx], 1);
    starpu_resume();
    starpu_task_wait_for_all();
    ck_assert_int_eq(ran_on[1], 0);
    starpu_shutdown();
}
END_TEST

START_TEST(a_policy_moves_tasks_to_another_context)
{
    unsigned a, b;

    open_machine(_i);
    a = make((int[]){0}, 1);
    b = make((int[]){1}, 1);
    to_move = b;
    submit_to(a, NTASKS);
    ck_assert_int_eq(starpu_task_wait_for_all_in_ctx(a), 0);
    ck_assert_int_eq(starpu_sched_ctx_get_nready_tasks(a), 0);
    ck_assert_int_eq(starpu_task_wait_for_all_in_ctx(b), 0);
    ck_assert_int_eq(ran_on[1], NTASKS);
    ck_assert_int_eq(nended[b], NTASKS);
    ck_assert_int_eq(starpu_sched_ctx_get_nready_tasks(b), 0);
    ck_assert_double_eq(starpu_sched_ctx_get_nready_flops(a), 0);
    ck_assert_double_eq(starpu_sched_ctx_get_nready_flops(b), 0);
    ck_assert_int_eq(starpu_task_nready(), 0);
    starpu_shutdown();
}
END_TEST

START_TEST(workers_asked_for_in_a_hook_come_after_it)
{
    unsigned a, b;

    open_machine(_i);
    a = make((int[]){0}, 1);
    b = make((int[]){1}, 1);
    adds_in_hook = b;
    others_leave_hooks = !machine_simulated(_i);
    submit_to(a, 1);
    starpu_task_wait_for_all();
    ck_assert_uint_eq(starpu_sched_ctx_contains_worker(0, b), 1);
    ck_assert_int_eq(nadded[b], 2);
    ck_assert_int_eq(wrong, 0);
    starpu_shutdown();
}
END_TEST

/* --- whom a worker serves first --- */

static unsigned order[2 * NTASKS];
static atomic_int nordered;

static void note_order(void *buffers[], void *arg)
{
    (void)buffers;
    order[nordered++] = *(unsigned *)arg;
}

static struct starpu_codelet cl_order = {
    .cpu_funcs = {note_order}, .cuda_funcs = {note_order}, .name = "k"};

static void submit_paused(unsigned *a, unsigned *b)
{
    starpu_pause();
    for (int i = 0; i < NTASKS; i++) {
        ck_assert_int_eq(starpu_task_insert(&cl_order, STARPU_SCHED_CTX, *a,
                                            STARPU_CL_ARGS_NFREE, a, sizeof(*a),
                                            0),
                         0);
        ck_assert_int_eq(starpu_task_insert(&cl_order, STARPU_SCHED_CTX, *b,
                                            STARPU_CL_ARGS_NFREE, b, sizeof(*b),
                                            0),
                         0);
    }
}

static int first_n_are(unsigned ctx, int n)
{
    for (int i = 0; i < n; i++)
        if (order[i] != ctx)
            return 0;
    return 1;
}

START_TEST(the_context_of_higher_priority_is_served_first)
{
    unsigned a, b;
    int one = 1;

    open_machine(_i);
    a = make(&one, 1);
    b = make(&one, 1);
    starpu_sched_ctx_set_priority(&one, 1, b, 3);
    submit_paused(&a, &b);
    starpu_resume();
    starpu_task_wait_for_all();
    ck_assert_int_eq(first_n_are(b, NTASKS), 1);
    /* Of equal priority they are served in turn. */
    starpu_sched_ctx_set_priority(&one, 1, b, 0);
    nordered = 0;
    submit_paused(&a, &b);
    starpu_resume();
    starpu_task_wait_for_all();
    for (int i = 2; i < 2 * NTASKS; i++)
        ck_assert_uint_eq(order[i], order[i - 2]);
    ck_assert_uint_ne(order[0], order[1]);
    starpu_shutdown();
}
END_TEST

typedef void (*count_fn)(unsigned ctx, int worker);

static void all_up(unsigned ctx, int worker)
{
    (void)worker;
    starpu_sched_ctx_list_task_counters_increment_all_ctx_locked(NULL, ctx);
}

static void all_down(unsigned ctx, int worker)
{
    (void)worker;
    starpu_sched_ctx_list_task_counters_decrement_all_ctx_locked(NULL, ctx);
}

static void all_reset(unsigned ctx, int worker)
{
    (void)worker;
    starpu_sched_ctx_list_task_counters_reset_all(NULL, ctx);
}

/* One that has counted tasks goes before one of higher priority that has not. */
static void serve_counted(count_fn up, count_fn down)
{
    unsigned a, b;
    int one = 1;

    a = make(&one, 1);
    b = make(&one, 1);
    starpu_sched_ctx_set_priority(&one, 1, b, 3);
    up(a, one);
    submit_paused(&a, &b);
    starpu_resume();
    starpu_task_wait_for_all();
    ck_assert_int_eq(first_n_are(a, NTASKS), 1);
    down(a, one);
    nordered = 0;
    submit_paused(&a, &b);
    starpu_resume();
    starpu_task_wait_for_all();
    ck_assert_int_eq(first_n_are(b, NTASKS), 1);
    starpu_sched_ctx_delete(a);
    starpu_sched_ctx_delete(b);
    nordered = 0;
}

START_TEST(contexts_with_counted_tasks_are_served_first)
{
    open_machine(_i);
    serve_counted(starpu_sched_ctx_list_task_counters_increment,
                  starpu_sched_ctx_list_task_counters_decrement);
    serve_counted(starpu_sched_ctx_list_task_counters_increment,
                  starpu_sched_ctx_list_task_counters_reset);
    serve_counted(all_up, all_down);
    serve_counted(all_up, all_reset);
    starpu_shutdown();
}
END_TEST

/* --- collections --- */

static int walk(struct starpu_worker_collection *workers, int *ids)
{
    struct starpu_sched_ctx_iterator it;
    int n = 0, again = 0;

    workers->init_iterator(workers, &it);
    while (workers->has_next(workers, &it))
        ids[n++] = workers->get_next(workers, &it);
    while (workers->has_next(workers, &it))
        ck_assert_int_eq(workers->get_next(workers, &it), ids[again++]);
    ck_assert_int_eq(again, n);
    return n;
}

static void change_and_walk(struct starpu_worker_collection *workers)
{
    int ids[STARPU_NMAXWORKERS], count = (int)starpu_worker_get_count();
    char seen[STARPU_NMAXWORKERS] = {0};

    workers->init(workers);
    ck_assert_int_eq(walk(workers, ids), 0);
    for (int w = count - 1; w >= 0; w--)
        ck_assert_int_eq(workers->add(workers, w), w);
    ck_assert_int_eq(workers->add(workers, 0), -1);
    ck_assert_uint_eq(workers->nworkers, (unsigned)count);
    ck_assert_int_eq(walk(workers, ids), count);
    if (workers->type == STARPU_WORKER_LIST)
        ck_assert_int_eq(ids[0], count - 1);
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(seen[ids[i]]++, 0);
    ck_assert_int_eq(workers->remove(workers, 1), 1);
    ck_assert_int_eq(workers->remove(workers, 1), -1);
    ck_assert_int_eq(walk(workers, ids), count - 1);
    for (int i = 0; i < count - 1; i++)
        ck_assert_int_ne(ids[i], 1);
    workers->deinit(workers);
    ck_assert_uint_eq(workers->nworkers, 0);
}

START_TEST(collections_are_walked_over)
{
    struct starpu_worker_collection list = {
        .has_next = starpu_worker_list.has_next,
        .get_next = starpu_worker_list.get_next,
        .add = starpu_worker_list.add,
        .remove = starpu_worker_list.remove,
        .init = starpu_worker_list.init,
        .deinit = starpu_worker_list.deinit,
        .init_iterator = starpu_worker_list.init_iterator,
        .type = STARPU_WORKER_LIST,
    };
    struct starpu_worker_collection tree = starpu_worker_tree;
    struct starpu_worker_collection *own;
    struct starpu_sched_ctx_iterator it;
    struct starpu_task task = {.possibly_parallel = 1};
    int ids[STARPU_NMAXWORKERS], cpus[STARPU_NMAXWORKERS], n;
    unsigned ctx;

    open_machine(_i);
    change_and_walk(&list);
    change_and_walk(&tree);
    own = starpu_sched_ctx_create_worker_collection(0, STARPU_WORKER_TREE);
    ck_assert_int_eq((int)own->type, STARPU_WORKER_TREE);
    ck_assert_ptr_eq(own, starpu_sched_ctx_get_worker_collection(0));
    ck_assert_int_eq(walk(own, ids), (int)starpu_worker_get_count());
    starpu_sched_ctx_delete_worker_collection(0);
    ck_assert_int_eq((int)own->type, STARPU_WORKER_LIST);
    /* A walk for a task passes who is blocked. */
    n = (int)starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, cpus,
                                           STARPU_NMAXWORKERS);
    ctx = starpu_sched_ctx_create(cpus, n, "none", 0);
    own->init_iterator_for_parallel_tasks(own, &it, &task);
    for (n = 0; own->has_next(own, &it); n++)
        ck_assert_uint_eq(starpu_worker_is_blocked_in_parallel(
                              own->get_next(own, &it)),
                          0);
    ck_assert_int_lt(n, (int)starpu_worker_get_count());
    ck_assert_int_gt(n, 0);
    starpu_sched_ctx_delete(ctx);
    starpu_shutdown();
}
END_TEST

/* A policy that asks for a list gets the tree, if the user prefers that. */
START_TEST(a_variable_makes_all_collections_trees)
{
    for (int on = 0; on < 2; on++) {
        const struct starpu_worker_collection *own;
        unsigned ctx;

        machine_choose(_i);
        setenv("STARPU_WORKER_TREE", on ? "1" : "0", 1);
        ck_assert_int_eq(starpu_init(NULL), 0);
        ctx = starpu_sched_ctx_create(NULL, -1, "own",
                                      STARPU_SCHED_CTX_POLICY_STRUCT,
                                      &policy, 0);
        for (unsigned c = 0; c <= ctx; c += ctx) {
            own = starpu_sched_ctx_get_worker_collection(c);
            ck_assert_int_eq((int)own->type,
                             on ? STARPU_WORKER_TREE : STARPU_WORKER_LIST);
        }
        starpu_sched_ctx_delete(ctx);
        starpu_shutdown();
    }
}
END_TEST

/* --- weights --- */

static double micros(struct starpu_task *task, unsigned worker, unsigned impl)
{
    (void)task;
    (void)impl;
    return worker == 0 ? 100 : 50;
}

static double joules(struct starpu_task *task, unsigned worker, unsigned impl)
{
    (void)task;
    (void)impl;
    return worker == 0 ? 1 : 100;
}

static int weighed_on;

static void note_worker(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    weighed_on = starpu_worker_get_id();
}

static struct starpu_perfmodel model = {.type = STARPU_PER_WORKER,
                                        .worker_cost_function = micros};
static struct starpu_perfmodel energy_model = {.type = STARPU_PER_WORKER,
                                               .worker_cost_function = joules};
static struct starpu_codelet modelled = {
    .cpu_funcs = {note_worker},
    .cuda_funcs = {note_worker},
    .model = &model,
    .energy_model = &energy_model,
    .name = "k",
};

/* They are of all contexts, not of the first one, whose policy has no use for them.
 * With that of energy the slower, thrifty worker is better. */
START_TEST(weights_are_set_in_each_context_that_weighs)
{
    int alpha, gamma;
    unsigned ctx;

    machine_choose(FIRST_SIMULATED);
    setenv("STARPU_SCHED", "eager", 1);
    setenv("STARPU_SCHED_ALPHA", "3", 1);
    unsetenv("STARPU_SILENT");
    ck_assert_int_eq(starpu_init(NULL), 0);
    alpha = starpu_perf_knob_name_to_id(starpu_perf_knob_scope_per_scheduler,
                                        "starpu.dmda.s_alpha_knob");
    gamma = starpu_perf_knob_name_to_id(starpu_perf_knob_scope_per_scheduler,
                                        "starpu.dmda.s_gamma_knob");
    ck_assert_double_eq(
        starpu_perf_knob_get_per_scheduler_double_value(alpha, "eager"), 3);
    silence_begin();
    starpu_perf_knob_set_per_scheduler_double_value(alpha, "eager", 2);
    ck_assert_ptr_nonnull(strstr(silence_end(), "no effect"));
    ck_assert_double_eq(
        starpu_perf_knob_get_per_scheduler_double_value(alpha, "eager"), 3);
    silence_begin();
    ctx = starpu_sched_ctx_create(NULL, -1, "weighs",
                                  STARPU_SCHED_CTX_POLICY_NAME, "dmda", 0);
    (void)silence_end();
    for (int thrifty = 0; thrifty < 2; thrifty++) {
        double weight = thrifty ? 1000 : 1e-6;

        starpu_perf_knob_set_per_scheduler_double_value(gamma, "dmda", weight);
        ck_assert_double_eq(
            starpu_perf_knob_get_per_scheduler_double_value(gamma, "dmda"),
            weight);
        ck_assert_int_eq(starpu_task_insert(&modelled, STARPU_SCHED_CTX, ctx,
                                            STARPU_TASK_SYNCHRONOUS, 1, 0),
                         0);
        ck_assert_int_eq(weighed_on == 0, thrifty);
    }
    starpu_sched_ctx_delete(ctx);
    starpu_shutdown();
}
END_TEST

START_TEST(a_better_policy_is_recommended_once)
{
    const char *what = "dmdas (or dmdar", *said;

    machine_choose(0);
    setenv("STARPU_SCHED", "eager", 1);
    setenv("STARPU_SILENT", "0", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    silence_begin();
    for (int i = 0; i < 3; i++)
        starpu_sched_ctx_create(NULL, -1, "c", STARPU_SCHED_CTX_POLICY_NAME,
                                "dmda", 0);
    said = strstr(silence_end(), what);
    ck_assert_ptr_nonnull(said);
    ck_assert_ptr_null(strstr(said + 1, what));
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(ctx_policies)
{
    Suite *suite = suite_create("ctx-policies");
    TCase *tc = tcase_create("on each machine");

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, each_context_has_a_policy_of_its_own, 0, NMACHINES);
    tcase_add_loop_test(tc, the_policy_is_told_when_a_worker_has_left, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_worker_without_tasks_of_its_own_leaves_at_once, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_policy_moves_tasks_to_another_context, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, workers_asked_for_in_a_hook_come_after_it, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, the_context_of_higher_priority_is_served_first, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, contexts_with_counted_tasks_are_served_first, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, collections_are_walked_over, 0, NMACHINES);
    tcase_add_loop_test(tc, a_variable_makes_all_collections_trees, 0,
                        NMACHINES);
    tcase_add_test(tc, weights_are_set_in_each_context_that_weighs);
    tcase_add_test(tc, a_better_policy_is_recommended_once);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
