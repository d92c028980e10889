/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-components.c - trees of components: built and called by hand in
 * init_sched, where no worker looks for tasks yet; recipes, simple schedulers and the
 * policies modular-*, which execute tasks.
 */
#include <starpu_sched_component.h>

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "machines.h"

#define NTASKS 200

typedef struct starpu_sched_component component_t;
typedef starpu_sched_component_create_t create_t;

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

/* --- a component of the test's: takes `room` tasks, counts its calls --- */

struct probe {
    int room, npushed, nasked, nchanged, nended, nscheduled;
    struct starpu_task *held;
};

static int probe_push(component_t *c, struct starpu_task *task)
{
    struct probe *p = c->data;

    if (p->npushed == p->room)
        return 1;
    p->npushed++;
    p->held = task;
    return 0;
}

static struct starpu_task *probe_pull(component_t *c, component_t *to)
{
    struct probe *p = c->data;
    struct starpu_task *task = p->held;

    (void)to;
    p->held = NULL;
    return task;
}

static int probe_can_push(component_t *c, component_t *to)
{
    (void)to;
    ((struct probe *)c->data)->nasked++;
    return 1;
}

static int probe_can_pull(component_t *c)
{
    ((struct probe *)c->data)->nasked++;
    return 1;
}

static double probe_figure(component_t *c)
{
    return 100.0 * ((struct probe *)c->data)->room;
}

static void probe_changed(component_t *c)
{
    ((struct probe *)c->data)->nchanged++;
}

static void probe_schedule(component_t *c)
{
    ((struct probe *)c->data)->nscheduled++;
}

static void probe_end(component_t *c)
{
    ((struct probe *)c->data)->nended++;
}

static component_t *probe(struct starpu_sched_tree *tree, struct probe *p)
{
    component_t *c = starpu_sched_component_create(tree, "probe");

    ck_assert_str_eq(c->name, "probe");
    ck_assert_ptr_eq(c->tree, tree);
    c->data = p;
    c->push_task = probe_push;
    c->pull_task = probe_pull;
    c->can_push = probe_can_push;
    c->can_pull = probe_can_pull;
    c->estimated_load = c->estimated_end = probe_figure;
    c->notify_change_workers = probe_changed;
    c->do_schedule = probe_schedule;
    c->deinit_data = probe_end;
    return c;
}

/* --- running a policy --- */

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

static void run_tasks(void)
{
    atomic_store(&nrun, 0);
    for (int i = 0; i < NTASKS; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl;
        task->priority = i % 3 - 1;
        task->sched_data = (void *)(uintptr_t)(i % 2);
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(atomic_load(&nrun), NTASKS);
}

static void run(int i, void (*init)(unsigned))
{
    open_with(i, init);
    run_tasks();
    starpu_shutdown();
}

/* --- by hand --- */

static struct probe above, low, high;
static component_t *top, *middle, *left, *right;

static void build(unsigned ctx)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);

    ck_assert_ptr_eq(starpu_sched_tree_get(ctx), tree);
    above = (struct probe){.room = 9};
    low = (struct probe){.room = 1};
    high = (struct probe){.room = 3};
    top = probe(tree, &above);
    middle = starpu_sched_component_eager_create(tree, NULL);
    left = probe(tree, &low);
    right = probe(tree, &high);
    tree->root = top;
    starpu_sched_component_connect(top, middle);
    starpu_sched_component_connect(middle, left);
    starpu_sched_component_connect(middle, right);
    starpu_sched_component_connect(left,
                                   starpu_sched_component_worker_get(ctx, 0));
    starpu_sched_tree_update_workers(tree);
}

static void set_policy_data(unsigned ctx)
{
    build(ctx);
    ck_assert_uint_eq(middle->nchildren, 2);
    ck_assert_uint_eq(middle->nparents, 1);
    ck_assert(starpu_bitmap_get(&top->workers, 0));
    ck_assert_int_eq(above.nchanged, 1);
}

START_TEST(components_ask_and_tell_their_neighbours)
{
    struct starpu_task a, b;
    int success = 0;

    open_with(_i, set_policy_data);
    STARPU_COMPONENT_MUTEX_LOCK(&top->tree->lock); /* no worker pulls */
    ck_assert_int_ne(STARPU_COMPONENT_MUTEX_TRYLOCK(&top->tree->lock), 0);
    ck_assert(starpu_bitmap_get(&top->workers_in_ctx, 0));
    ck_assert(STARPU_SCHED_COMPONENT_IS_HOMOGENEOUS(top));
    ck_assert(STARPU_SCHED_COMPONENT_IS_SINGLE_MEMORY_NODE(top));
    ck_assert_double_eq(starpu_sched_component_estimated_load(middle), 400);
    ck_assert_double_eq(starpu_sched_component_estimated_end_min(middle), 100);
    ck_assert_double_eq(starpu_sched_component_estimated_end_average(middle),
                        200);
    ck_assert_double_eq(
        starpu_sched_component_estimated_end_min_add(middle, 50), 350);
    above.nasked = low.nasked = high.nasked = 0;
    ck_assert_int_eq(starpu_sched_component_can_push(middle, left), 1);
    ck_assert_int_eq(starpu_sched_component_send_can_push_to_parents(middle), 1);
    ck_assert_int_eq(above.nasked, 2);
    ck_assert_int_eq(starpu_sched_component_can_pull(middle), 1);
    ck_assert_int_eq(high.nasked, 0);
    ck_assert_int_eq(starpu_sched_component_can_pull_all(middle), 0);
    ck_assert_int_eq(high.nasked, 1);
    starpu_task_init(&a);
    starpu_task_init(&b);
    ck_assert_int_eq(starpu_sched_component_push_task(NULL, top, &a), 0);
    ck_assert_ptr_eq(starpu_sched_component_parents_pull_task(middle, left), &a);
    ck_assert_int_eq(starpu_sched_component_push_task(NULL, top, &b), 0);
    ck_assert_ptr_eq(starpu_sched_component_pull_task(top, middle), &b);
    above.held = &a;
    ck_assert_ptr_null(starpu_sched_component_pump_to(top, left, &success));
    ck_assert_int_eq(success, 1);
    above.held = &b;
    ck_assert_ptr_eq(starpu_sched_component_pump_to(top, left, &success), &b);
    ck_assert_int_eq(success, 0);
    above.held = &b;
    middle->push_task = probe_push;
    middle->data = &high;
    ck_assert_ptr_null(starpu_sched_component_pump_downstream(top, &success));
    ck_assert_int_eq(success, 1);
    middle->data = NULL;
    above.held = low.held = high.held = NULL;
    STARPU_COMPONENT_MUTEX_UNLOCK(&top->tree->lock);
    starpu_sched_tree_do_schedule(0);
    ck_assert_int_ge(high.nscheduled, 1);
    low.nchanged = 0;
    starpu_sched_tree_update_workers_in_ctx(starpu_sched_tree_get(0));
    ck_assert_int_eq(low.nchanged, 1);
    starpu_sched_component_destroy(right);
    ck_assert_int_eq(high.nended, 1);
    ck_assert_uint_eq(middle->nchildren, 1);
    above.held = NULL;
    starpu_shutdown();
    ck_assert_int_eq(low.nended, 1);
    ck_assert_int_eq(above.nended, 1);
}
END_TEST

/* --- kinds --- */

static void is_kind(component_t *c, component_t *other, int (*is)(component_t *))
{
    ck_assert(is(c));
    ck_assert(!is(other));
    ck_assert(!starpu_sched_component_is_worker(c));
    starpu_sched_component_destroy(c);
}

static void make_kinds(unsigned ctx)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);
    component_t *other = starpu_sched_component_stage_create(tree, NULL);
    component_t *c;
    struct starpu_sched_component_perfmodel_select_data to = {other, other,
                                                              other};

    is_kind(starpu_sched_component_fifo_create(tree, NULL), other,
            starpu_sched_component_is_fifo);
    is_kind(starpu_sched_component_prio_create(tree, NULL), other,
            starpu_sched_component_is_prio);
    is_kind(starpu_sched_component_eager_create(tree, NULL), other,
            starpu_sched_component_is_eager);
    is_kind(starpu_sched_component_eager_prio_create(tree, NULL), other,
            starpu_sched_component_is_eager_prio);
    is_kind(starpu_sched_component_eager_calibration_create(tree, NULL), other,
            starpu_sched_component_is_eager_calibration);
    is_kind(starpu_sched_component_random_create(tree, NULL), other,
            starpu_sched_component_is_random);
    is_kind(starpu_sched_component_work_stealing_create(tree, NULL), other,
            starpu_sched_component_is_work_stealing);
    is_kind(starpu_sched_component_mct_create(tree, NULL), other,
            starpu_sched_component_is_mct);
    is_kind(starpu_sched_component_heft_create(tree, NULL), other,
            starpu_sched_component_is_heft);
    is_kind(starpu_sched_component_heteroprio_create(tree, NULL), other,
            starpu_sched_component_is_heteroprio);
    is_kind(starpu_sched_component_userchoice_create(tree, NULL), other,
            starpu_sched_component_is_userchoice);
    is_kind(starpu_sched_component_perfmodel_select_create(tree, &to), other,
            starpu_sched_component_is_perfmodel_select);
    ck_assert(starpu_sched_component_is_stage(other));
    c = starpu_sched_component_worker_new(ctx, 0);
    ck_assert(starpu_sched_component_is_worker(c));
    ck_assert(starpu_sched_component_is_simple_worker(c));
    ck_assert(!starpu_sched_component_is_combined_worker(c));
    ck_assert_int_eq(starpu_sched_component_worker_get_workerid(c), 0);
    ck_assert_ptr_eq(starpu_sched_component_worker_get(ctx, 0), c);
    starpu_sched_component_add_child(other, c);
    ck_assert_uint_eq(other->nchildren, 1);
    ck_assert_uint_eq(c->nparents, 0);
    starpu_sched_component_destroy_rec(other);
    starpu_sched_tree_destroy(tree);
    ck_assert_ptr_null(starpu_sched_tree_get(ctx));
    starpu_sched_component_initialize_simple_scheduler(
        (create_t)starpu_sched_component_eager_create, NULL,
        STARPU_SCHED_SIMPLE_DECIDE_WORKERS | STARPU_SCHED_SIMPLE_FIFO_ABOVE, ctx);
}

START_TEST(kinds_are_told_apart)
{
    run(_i, make_kinds);
}
END_TEST

/* --- recipes --- */

static struct starpu_sched_component_composed_recipe *
worker_recipe(enum starpu_worker_archtype type)
{
    (void)type;
    return starpu_sched_component_composed_recipe_create_singleton(
        starpu_sched_component_best_implementation_create, NULL);
}

static void by_levels(unsigned ctx)
{
    struct starpu_sched_component_composed_recipe *recipe =
        starpu_sched_component_composed_recipe_create();
    struct starpu_sched_component_specs specs = {
        .hwloc_machine_composed_sched_component = recipe,
        .worker_composed_sched_component = worker_recipe,
    };

    starpu_sched_component_composed_recipe_add(
        recipe, (create_t)starpu_sched_component_fifo_create, NULL);
    starpu_sched_component_composed_recipe_add(
        recipe, starpu_sched_component_eager_create, NULL);
    starpu_sched_component_make_scheduler(ctx, specs);
    ck_assert_str_eq(starpu_sched_tree_get(ctx)->root->name, "composed");
    starpu_sched_component_composed_recipe_destroy(recipe);
}

START_TEST(recipes_make_schedulers)
{
    run(_i, by_levels);
}
END_TEST

static void one_of_two(unsigned ctx)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_create(ctx);
    struct starpu_sched_component_composed_recipe *recipe =
        starpu_sched_component_composed_recipe_create_singleton(
            starpu_sched_component_random_create, NULL);
    component_t *c =
        starpu_sched_component_composed_component_create(tree, recipe);

    ck_assert(starpu_sched_component_is_random(c));
    starpu_sched_component_destroy(c);
    starpu_sched_component_composed_recipe_destroy(recipe);
    starpu_sched_tree_destroy(tree);
    starpu_sched_component_initialize_simple_schedulers(
        ctx, 2U, (create_t)starpu_sched_component_eager_create, NULL,
        (unsigned)(STARPU_SCHED_SIMPLE_DECIDE_WORKERS |
                   STARPU_SCHED_SIMPLE_FIFO_ABOVE),
        (create_t)starpu_sched_component_random_create, NULL,
        (unsigned)(STARPU_SCHED_SIMPLE_DECIDE_ARCHS |
                   STARPU_SCHED_SIMPLE_FIFO_ABOVE |
                   STARPU_SCHED_SIMPLE_WS_BELOW));
    ck_assert(starpu_sched_component_is_userchoice(
        starpu_sched_tree_get(ctx)->root));
}

START_TEST(the_application_chooses_a_scheduler)
{
    run(_i, one_of_two);
}
END_TEST

static void stealing(unsigned ctx)
{
    starpu_sched_component_initialize_simple_scheduler(
        (create_t)starpu_sched_component_work_stealing_create, NULL,
        STARPU_SCHED_SIMPLE_DECIDE_WORKERS | STARPU_SCHED_SIMPLE_DECIDE_ALWAYS,
        ctx);
}

START_TEST(tasks_are_pushed_to_deques)
{
    policy.push_task = starpu_sched_tree_work_stealing_push_task;
    run(_i, stealing);
}
END_TEST

/* --- workers --- */

static int estimates_are_right;
static double expected;

static int look_and_push(struct starpu_task *task)
{
    component_t *root = starpu_sched_tree_get(0)->root;
    double length = -1;

    estimates_are_right +=
        starpu_sched_component_can_execute_task(root, task) == 1 &&
        starpu_sched_component_execute_preds(root, task, &length) == 1 &&
        length == expected && starpu_sched_component_transfer_length(root, task) == 0;
    starpu_sched_component_prefetch_on_node(root, task);
    return starpu_sched_tree_push_task(task);
}

static void eager(unsigned ctx)
{
    starpu_sched_component_initialize_simple_scheduler(
        (create_t)starpu_sched_component_eager_create, NULL,
        STARPU_SCHED_SIMPLE_DECIDE_WORKERS | STARPU_SCHED_SIMPLE_FIFO_ABOVE |
            STARPU_SCHED_SIMPLE_IMPL,
        ctx);
}

START_TEST(estimates_are_made_of_a_ready_task)
{
    estimates_are_right = 0;
    expected = machine_simulated(_i) ? 50 : 0; /* machines.c */
    policy.push_task = look_and_push;
    run(_i, eager);
    ck_assert_int_eq(estimates_are_right, NTASKS);
}
END_TEST

START_TEST(workers_leave_and_come_back)
{
    int first = 0;
    component_t *root;

    open_with(_i, eager);
    root = starpu_sched_tree_get(0)->root;
    starpu_sched_tree_remove_workers(0, &first, 1);
    ck_assert(!starpu_bitmap_get(&root->workers_in_ctx, 0));
    ck_assert(starpu_bitmap_get(&root->workers, 0));
    starpu_sched_tree_add_workers(0, &first, 1);
    ck_assert(starpu_bitmap_get(&root->workers_in_ctx, 0));
    run_tasks();
    starpu_shutdown();
}
END_TEST

static void pair(unsigned ctx)
{
    unsigned ids[2];
    int cpus[2];
    component_t *c;

    eager(ctx);
    if (starpu_cpu_worker_get_count() < 2)
        return;
    starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, cpus, 2);
    ids[0] = (unsigned)cpus[0];
    ids[1] = (unsigned)cpus[1];
    c = starpu_sched_component_parallel_worker_create(starpu_sched_tree_get(ctx),
                                                      2, ids);
    ck_assert(starpu_sched_component_is_combined_worker(c));
    ck_assert(starpu_sched_component_is_worker(c));
    ck_assert(!starpu_sched_component_is_simple_worker(c));
}

START_TEST(a_leaf_may_be_a_combined_worker)
{
    run(_i, pair);
}
END_TEST

/* --- the policies --- */

START_TEST(every_modular_policy_executes_all_tasks)
{
    struct starpu_sched_policy **list = starpu_sched_get_predefined_policies();
    int n = 0;

    for (; *list; list++) {
        if (strncmp((*list)->policy_name, "modular-", 8) != 0)
            continue;
        machine_choose(_i);
        setenv("STARPU_SCHED", (*list)->policy_name, 1);
        ck_assert_int_eq(starpu_init(NULL), 0);
        ck_assert_str_eq(starpu_sched_get_sched_policy()->policy_name,
                         (*list)->policy_name);
        run_tasks();
        starpu_shutdown();
        n++;
    }
    ck_assert_int_eq(n, 23);
}
END_TEST

static atomic_int nfirst, nsecond;

static void first(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    atomic_fetch_add(&nfirst, 1);
}

static void second(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    atomic_fetch_add(&nsecond, 1);
}

/* A time is taken for known from ten measures on. */
START_TEST(modular_heft_measures_each_implementation)
{
    static struct starpu_perfmodel times = {.type = STARPU_HISTORY_BASED,
                                            .symbol = "api_components"};
    static struct starpu_codelet two = {
        .cpu_funcs = {first, second}, .model = &times, .name = "two"};

    machine_choose(0);
    setenv("STARPU_SCHED", "modular-heft", 1);
    setenv("STARPU_CALIBRATE", "2",
           1); /* what earlier runs know is forgotten */
    ck_assert_int_eq(starpu_init(NULL), 0);
    for (int i = 0; i < NTASKS; i++)
        ck_assert_int_eq(
            starpu_task_insert(&two, STARPU_TASK_SYNCHRONOUS, 1, 0), 0);
    starpu_shutdown();
    ck_assert_int_eq(nfirst + nsecond, NTASKS);
    ck_assert_int_ge(nfirst, 10);
    ck_assert_int_ge(nsecond, 10);
}
END_TEST

SUITE_MAIN(components)
{
    Suite *suite = suite_create("components");
    TCase *each = tcase_create("on each machine");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(components_ask_and_tell_their_neighbours);
    EACH(kinds_are_told_apart);
    EACH(recipes_make_schedulers);
    EACH(the_application_chooses_a_scheduler);
    EACH(tasks_are_pushed_to_deques);
    EACH(estimates_are_made_of_a_ready_task);
    EACH(workers_leave_and_come_back);
    EACH(a_leaf_may_be_a_combined_worker);
    EACH(every_modular_policy_executes_all_tasks);
    tcase_add_test(each, modular_heft_measures_each_implementation);
    return suite_main(suite);
}
