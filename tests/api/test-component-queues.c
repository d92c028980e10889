/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-component-queues.c - components whose queues are short, and tasks
 * that only some of the workers below can run: nobody sleeps while there is something
 * for it, and nothing waits for ever.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include <starpu_perf_steering.h>
#include <starpu_sched_component.h>

#include "machines.h"

typedef struct starpu_sched_component component_t;

static atomic_int nrun;

static void count(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    atomic_fetch_add(&nrun, 1);
}

static struct starpu_codelet cl = {
    .cpu_funcs = {count},
    .cuda_funcs = {count},
    .name = "k", /* as machines.c has a length for */
};

static struct starpu_sched_policy policy = {
    .deinit_sched = starpu_sched_tree_deinitialize,
    .add_workers = starpu_sched_tree_add_workers,
    .remove_workers = starpu_sched_tree_remove_workers,
    .do_schedule = starpu_sched_tree_do_schedule,
    .push_task = starpu_sched_tree_push_task,
    .pop_task = starpu_sched_tree_pop_task,
    .pre_exec_hook = starpu_sched_component_worker_pre_exec_hook,
    .post_exec_hook = starpu_sched_component_worker_post_exec_hook,
    .prefetches = 1,
    .policy_name = "of components",
};

static void open_with(int i, void (*init)(unsigned))
{
    struct starpu_conf conf;

    machine_choose(i);
    starpu_conf_init(&conf);
    policy.init_sched = init;
    conf.sched_policy = &policy;
    ck_assert_int_eq(starpu_init(&conf), 0);
}

/* --- short queues below --- */

static void build_short_queues(unsigned ctx)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);
    component_t *choice = starpu_sched_component_userchoice_create(tree, NULL);

    tree->root = starpu_sched_component_prio_create(tree, NULL);
    starpu_sched_component_connect(tree->root, choice);
    for (int worker = 0; worker < 2; worker++) {
        struct starpu_sched_component_prio_data one = {.ntasks_threshold = 1};
        component_t *queue = starpu_sched_component_prio_create(tree, &one);
        component_t *best =
            starpu_sched_component_best_implementation_create(tree, NULL);

        starpu_sched_component_connect(choice, queue);
        starpu_sched_component_connect(queue, best);
        starpu_sched_component_connect(
            best, starpu_sched_component_worker_get(ctx, worker));
    }
    starpu_sched_tree_update_workers(tree);
}

/* The last one is for worker 0 alone, which finds those for worker 1 before it, whose
 * queue is full, and sleeps then. */
START_TEST(who_waits_behind_others_is_not_forgotten)
{
    enum { N = 20 };
    static uint32_t first_worker[] = {1};

    open_with(_i, build_short_queues);
    ck_assert_uint_ge(starpu_worker_get_count(), 2);
    atomic_store(&nrun, 0);
    starpu_pause();
    for (int i = 0; i <= N; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl;
        task->sched_data = (void *)(uintptr_t)(i < N);
        if (i == N) {
            task->workerids = first_worker;
            task->workerids_len = 1;
        }
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_resume();
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(atomic_load(&nrun), N + 1);
    starpu_shutdown();
}
END_TEST

/* --- a queue above two others, each of a worker's --- */

static int not_for_others(unsigned worker, struct starpu_task *task,
                          unsigned implementation)
{
    (void)implementation;
    return worker == 0 || task->sched_data;
}

static struct starpu_codelet some_cl = {
    .cpu_funcs = {count},
    .cuda_funcs = {count},
    .can_execute = not_for_others,
    .name = "k",
};

/* Where the task says, whoever asks. */
static int send(component_t *c, struct starpu_task *task)
{
    return starpu_sched_component_push_task(
        c, c->children[task->sched_data ? 1 : 0], task);
}

static void build_two_queues(unsigned ctx)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);
    struct starpu_sched_component_fifo_data one = {.ntasks_threshold = 1};
    component_t *by_task = starpu_sched_component_create(tree, "by task");

    by_task->push_task = send;
    tree->root = starpu_sched_component_fifo_create(tree, NULL);
    starpu_sched_component_connect(tree->root, by_task);
    for (int w = 0; w < 2; w++) {
        component_t *queue = starpu_sched_component_fifo_create(tree, &one);

        starpu_sched_component_connect(by_task, queue);
        starpu_sched_component_connect(
            queue, starpu_sched_component_worker_get(ctx, w));
    }
    starpu_sched_tree_update_workers(tree);
}

/* Worker 0 asks, finds tasks for worker 1 only, and sleeps; when worker 1 has taken
 * them it is told of those that only it can execute. */
START_TEST(who_cannot_run_a_task_sends_it_on)
{
    enum { FOR_OTHER = 6, OWN = 2 };

    open_with(_i, build_two_queues);
    atomic_store(&nrun, 0);
    starpu_pause();
    for (int i = 0; i < FOR_OTHER + OWN; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &some_cl;
        task->sched_data = i < FOR_OTHER ? task : NULL;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_resume();
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(atomic_load(&nrun), FOR_OTHER + OWN);
    starpu_shutdown();
}
END_TEST

/* --- a short queue above several workers --- */

static int for_whom_it_says(unsigned worker, struct starpu_task *task,
                            unsigned implementation)
{
    (void)implementation;
    return worker == (uintptr_t)task->sched_data;
}

static struct starpu_codelet one_cl = {
    .cpu_funcs = {count},
    .cuda_funcs = {count},
    .can_execute = for_whom_it_says,
    .name = "k",
};

static component_t *with_workers(component_t *shared, unsigned ctx)
{
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        starpu_sched_component_connect(
            shared, starpu_sched_component_worker_get(ctx, (int)w));
    return shared;
}

static void build_shared(unsigned ctx,
                         component_t *(*make)(struct starpu_sched_tree *,
                                              void *))
{
    struct starpu_sched_component_fifo_data one = {.ntasks_threshold = 1};
    struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);
    component_t *queue = starpu_sched_component_fifo_create(tree, &one);

    tree->root = starpu_sched_component_fifo_create(tree, NULL);
    starpu_sched_component_connect(tree->root, queue);
    starpu_sched_component_connect(queue, with_workers(make(tree, NULL), ctx));
    starpu_sched_tree_update_workers(tree);
}

static void build_queue_of_many(unsigned ctx)
{
    build_shared(ctx, starpu_sched_component_eager_create);
}

/* The last worker, and then all others, find nothing for them and sleep. When the
 * first one has taken its tasks, the last one is told of its own. */
START_TEST(who_can_run_a_task_is_woken)
{
    enum { N = 6 };
    unsigned last;

    setenv("TEST_NCPU", "4", 1);
    open_with(_i, build_queue_of_many);
    last = starpu_worker_get_count() - 1;
    ck_assert_uint_ge(last, 2);
    atomic_store(&nrun, 0);
    starpu_pause();
    for (int i = 0; i <= N; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &one_cl;
        task->sched_data = (void *)(uintptr_t)(i < N ? 0 : last);
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_resume();
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(atomic_load(&nrun), N + 1);
    starpu_shutdown();
}
END_TEST

/* --- a list above short queues --- */

static void build_list_and_queues(unsigned ctx)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);
    struct starpu_sched_component_prio_data one = {.ntasks_threshold = 1};

    tree->root = starpu_sched_component_eager_prio_create(tree, NULL);
    for (int w = 0; w < 2; w++) {
        component_t *queue = starpu_sched_component_prio_create(tree, &one);

        starpu_sched_component_connect(tree->root, queue);
        starpu_sched_component_connect(
            queue, starpu_sched_component_worker_get(ctx, w));
    }
    starpu_sched_tree_update_workers(tree);
}

static atomic_int nbefore;

static void count_before(void *buffers[], void *arg)
{
    count(buffers, arg);
    if (starpu_worker_get_id() == 1)
        atomic_store(&nbefore, atomic_load(&nrun) - 1);
}

static struct starpu_codelet before_cl = {
    .cpu_funcs = {count_before},
    .cuda_funcs = {count_before},
    .can_execute = for_whom_it_says,
    .name = "k",
};

/* Worker 1 does not wait until worker 0 has taken all tasks in front of its own. */
START_TEST(who_asks_gets_what_is_behind_others)
{
    enum { N = 8 };

    open_with(_i, build_list_and_queues);
    atomic_store(&nrun, 0);
    starpu_pause();
    for (int i = 0; i <= N; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &before_cl;
        task->sched_data = (void *)(uintptr_t)(i == N);
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_resume();
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(atomic_load(&nrun), N + 1);
    if (machine_simulated(_i))
        ck_assert_int_lt(atomic_load(&nbefore), 3);
    starpu_shutdown();
}
END_TEST

/* --- a task that is refused --- */

static int refuse(component_t *c, struct starpu_task *task)
{
    (void)c;
    (void)task;
    return 1;
}

static void build_closed_door(unsigned ctx)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);
    component_t *door = starpu_sched_component_create(tree, "door");

    door->push_task = refuse;
    tree->root = starpu_sched_component_fifo_create(tree, NULL);
    starpu_sched_component_connect(tree->root, door);
    starpu_sched_component_connect(door,
                                   starpu_sched_component_worker_get(ctx, 0));
    starpu_sched_component_connect(tree->root,
                                   starpu_sched_component_worker_get(ctx, 1));
    starpu_sched_tree_update_workers(tree);
}

/* The second task, for worker 0 alone, does not get in front of the first one. */
START_TEST(who_is_refused_keeps_its_place)
{
    struct starpu_task *tasks[2];
    component_t *root;

    open_with(_i, build_closed_door);
    root = starpu_sched_tree_get(0)->root;
    atomic_store(&nrun, 0);
    starpu_pause();
    for (int i = 0; i < 2; i++) {
        tasks[i] = starpu_task_create();
        tasks[i]->cl = &one_cl;
        tasks[i]->sched_data = (void *)(uintptr_t)(i == 0);
        ck_assert_int_eq(starpu_task_submit(tasks[i]), 0);
    }
    STARPU_COMPONENT_MUTEX_LOCK(&root->tree->lock);
    ck_assert_int_eq(root->can_push(root, root->children[0]), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_ptr_eq(starpu_sched_component_pull_task(root, NULL),
                         tasks[i]);
        ck_assert_int_eq(starpu_sched_component_push_task(NULL, root, tasks[i]),
                         0);
    }
    STARPU_COMPONENT_MUTEX_UNLOCK(&root->tree->lock);
    starpu_resume();
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(atomic_load(&nrun), 2);
    starpu_shutdown();
}
END_TEST

/* --- queues within composed components --- */

static int nscheduled;

static void note_schedule(component_t *c)
{
    (void)c;
    nscheduled++;
}

static component_t *fifo_that_notes(struct starpu_sched_tree *tree, void *arg)
{
    component_t *queue = starpu_sched_component_fifo_create(tree, arg);

    queue->do_schedule = note_schedule;
    return queue;
}

/* Of two workers, each with a queue; the last one's is the first that is offered
 * tasks. */
static void build_composed(unsigned ctx)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);
    struct starpu_sched_component_composed_recipe *recipe =
        starpu_sched_component_composed_recipe_create();

    starpu_sched_component_composed_recipe_add(recipe, fifo_that_notes, NULL);
    starpu_sched_component_composed_recipe_add(
        recipe, starpu_sched_component_best_implementation_create, NULL);
    tree->root = starpu_sched_component_eager_create(tree, NULL);
    for (int w = 1; w >= 0; w--) {
        component_t *both =
            starpu_sched_component_composed_component_create(tree, recipe);

        starpu_sched_component_connect(tree->root, both);
        starpu_sched_component_connect(
            both, starpu_sched_component_worker_get(ctx, w));
    }
    starpu_sched_component_composed_recipe_destroy(recipe);
    starpu_sched_tree_update_workers(tree);
}

/* What was queued there for a worker that leaves goes to the other one. */
START_TEST(a_composed_queue_gives_up_what_nobody_takes)
{
    int ids[] = {0, 1};
    unsigned ctx;

    machine_open(_i);
    policy.init_sched = build_composed;
    ctx = starpu_sched_ctx_create(ids, 2, "two", STARPU_SCHED_CTX_POLICY_STRUCT,
                                  &policy, 0);
    atomic_store(&nrun, 0);
    starpu_pause();
    for (int i = 0; i < 10; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl;
        ck_assert_int_eq(starpu_task_submit_to_ctx(task, ctx), 0);
    }
    starpu_sched_ctx_remove_workers(&ids[1], 1, ctx);
    starpu_resume();
    ck_assert_int_eq(starpu_task_wait_for_all_in_ctx(ctx), 0);
    ck_assert_int_eq(atomic_load(&nrun), 10);
    nscheduled = 0;
    starpu_sched_tree_do_schedule(ctx);
    ck_assert_int_eq(nscheduled, 2);
    starpu_sched_ctx_delete(ctx);
    starpu_shutdown();
}
END_TEST

/* --- opposite accelerations --- */

static void for_processors(void *buffers[], void *arg)
{
    count(buffers, arg);
}

static void for_gpus(void *buffers[], void *arg)
{
    count(buffers, arg);
}

static struct starpu_codelet processors_cl = {
    .cpu_funcs = {for_processors},
    .cuda_funcs = {for_processors},
    .name = "processors",
};

static struct starpu_codelet gpus_cl = {
    .cpu_funcs = {for_gpus},
    .cuda_funcs = {for_gpus},
    .name = "gpus",
};

/* The tasks that differ most between processors and GPUs are for processors, whose
 * queues are full; those that differ less are for GPUs. */
START_TEST(heteroprio_gives_tasks_to_whom_they_suit)
{
    enum { N = 40 };

    machine_choose(_i);
    setenv("STARPU_SCHED", "modular-heteroprio", 1);
    setenv("STARPU_NTASKS_THRESHOLD", "1", 1);
    setenv("ORRERY_ASSUME",
           "kernel[processors] on cpu = 50us; kernel[processors] on cuda = 5ms;"
           "kernel[gpus] on cpu = 60us; kernel[gpus] on cuda = 50us",
           1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    atomic_store(&nrun, 0);
    starpu_pause();
    for (int i = 0; i < N; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = i < N / 2 ? &processors_cl : &gpus_cl;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_resume();
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(atomic_load(&nrun), N);
    starpu_shutdown();
}
END_TEST

/* --- a decision that is refused --- */

static int nestimates;
static bool refuses;

static double counted_end(component_t *c)
{
    nestimates++;
    return starpu_sched_component_estimated_end_min(c);
}

static int refuse_or_send(component_t *c, struct starpu_task *task)
{
    return refuses ? 1
                   : starpu_sched_component_push_task(c, c->children[0], task);
}

static void build_refusing(unsigned ctx,
                           component_t *(*create)(
                               struct starpu_sched_tree *,
                               struct starpu_sched_component_mct_data *))
{
    struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);
    component_t *decision = create(tree, NULL);

    tree->root = starpu_sched_component_fifo_create(tree, NULL);
    starpu_sched_component_connect(tree->root, decision);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        component_t *gate = starpu_sched_component_create(tree, "gate");

        gate->push_task = refuse_or_send;
        gate->estimated_end = counted_end;
        starpu_sched_component_connect(decision, gate);
        starpu_sched_component_connect(
            gate, starpu_sched_component_worker_get(ctx, (int)w));
    }
    starpu_sched_tree_update_workers(tree);
}

static void build_refusing_mct(unsigned ctx)
{
    build_refusing(ctx, starpu_sched_component_mct_create);
}

static void build_refusing_heft(unsigned ctx)
{
    build_refusing(ctx, starpu_sched_component_heft_create);
}

/* What the tree asks its children while somebody below says that it could push. */
static int estimates_of_an_offer(void)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_get(0);

    starpu_pthread_mutex_lock(&tree->lock);
    nestimates = 0;
    tree->root->can_push(tree->root, tree->root->children[0]);
    tree->root->children[0]->can_push(tree->root->children[0], NULL);
    starpu_pthread_mutex_unlock(&tree->lock);
    return nestimates;
}

/* Whoever asks for work offers a task again that was refused: at the same date all
 * ends are as they were, and nobody is asked for them. */
static void refuse_at_one_date(int machine, void (*build)(unsigned))
{
    enum { N = 5 };
    int first;

    refuses = true;
    open_with(machine, build);
    atomic_store(&nrun, 0);
    for (int i = 0; i < N; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_sleep(0.001F);
    first = estimates_of_an_offer();
    if (machine_simulated(machine)) {
        ck_assert_int_ge(first, (int)starpu_worker_get_count());
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(estimates_of_an_offer(), 0);
        starpu_sleep(0.001F);
        ck_assert_int_eq(estimates_of_an_offer(), first);
    }
    refuses = false;
    (void)estimates_of_an_offer();
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(atomic_load(&nrun), N);
    starpu_shutdown();
}

START_TEST(mct_decides_once_at_a_date)
{
    refuse_at_one_date(_i, build_refusing_mct);
}
END_TEST

START_TEST(heft_decides_once_at_a_date)
{
    refuse_at_one_date(_i, build_refusing_heft);
}
END_TEST

/* --- a root that refuses since nobody is there just then --- */

static atomic_int nrefusals;
static bool come_back;

static void enable_all(int enabled)
{
    int id = starpu_perf_knob_name_to_id(starpu_perf_knob_scope_per_worker,
                                         "starpu.worker.w_enable_worker_knob");

    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        starpu_perf_knob_set_per_worker_int32_value(id, w, enabled);
}

/* As if others had done that while it looked. */
static int refuse_first(component_t *c, struct starpu_task *task)
{
    if (atomic_fetch_add(&nrefusals, 1) > 0)
        return starpu_sched_component_push_task(c, c->children[0], task);
    enable_all(0);
    if (come_back)
        enable_all(1);
    return 1;
}

static void build_refusing_root(unsigned ctx)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);

    tree->root = starpu_sched_component_create(tree, "fickle");
    tree->root->push_task = refuse_first;
    tree->root->pull_task = starpu_sched_component_parents_pull_task;
    starpu_sched_component_connect(
        tree->root, starpu_sched_component_fifo_create(tree, NULL));
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        starpu_sched_component_connect(
            tree->root->children[0],
            starpu_sched_component_worker_get(ctx, (int)w));
    starpu_sched_tree_update_workers(tree);
}

/* Number _i / 2 of the machines. */
START_TEST(what_a_root_refuses_while_nobody_is_there_waits)
{
    struct starpu_task *task;

    come_back = _i % 2;
    atomic_store(&nrefusals, 0);
    atomic_store(&nrun, 0);
    open_with(_i / 2, build_refusing_root);
    task = starpu_task_create();
    task->cl = &cl;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(atomic_load(&nrefusals), come_back ? 2 : 1);
    enable_all(1);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(atomic_load(&nrefusals), 2);
    ck_assert_int_eq(atomic_load(&nrun), 1);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(component_queues)
{
    Suite *suite = suite_create("component-queues");
    TCase *each = tcase_create("on each machine");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(who_waits_behind_others_is_not_forgotten);
    EACH(who_cannot_run_a_task_sends_it_on);
    EACH(who_can_run_a_task_is_woken);
    EACH(heteroprio_gives_tasks_to_whom_they_suit);
    EACH(who_asks_gets_what_is_behind_others);
    EACH(who_is_refused_keeps_its_place);
    EACH(a_composed_queue_gives_up_what_nobody_takes);
    EACH(mct_decides_once_at_a_date);
    EACH(heft_decides_once_at_a_date);
    tcase_add_loop_test(each, what_a_root_refuses_while_nobody_is_there_waits,
                        0, 2 * NMACHINES);
    return suite_main(suite);
}
