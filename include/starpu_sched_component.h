/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_sched_component.h - scheduling policies put together from components. A
 * tree of them: tasks are pushed down from the root until a component refuses,
 * workers pull from the leaves up. Trees are built in init_sched; afterwards the
 * hooks below call their components one at a time, the tree's lock held.
 */
#pragma once

#include <starpu.h>
#include <starpu_bitmap.h>
#include <starpu_scheduler.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hwloc_obj *hwloc_obj_t;

enum starpu_sched_component_properties {
    STARPU_SCHED_COMPONENT_HOMOGENEOUS = 1,
    STARPU_SCHED_COMPONENT_SINGLE_MEMORY_NODE = 2
};

/* Whether all workers below are of one architecture; have one memory node. */
#define STARPU_SCHED_COMPONENT_IS_HOMOGENEOUS(component)                       \
    (((component)->properties & STARPU_SCHED_COMPONENT_HOMOGENEOUS) != 0)
#define STARPU_SCHED_COMPONENT_IS_SINGLE_MEMORY_NODE(component)                \
    (((component)->properties & STARPU_SCHED_COMPONENT_SINGLE_MEMORY_NODE) != 0)

struct starpu_sched_tree;

/* A component. What starpu_sched_component_create() puts there may be replaced
 * by the component's own methods; push_task has to be. */
struct starpu_sched_component {
    struct starpu_sched_tree *tree;
    /* The workers below, combined ones among them; those in the context. */
    struct starpu_bitmap workers;
    struct starpu_bitmap workers_in_ctx;
    void *data; /* the component's own */
    char *name; /* owned */
    unsigned nchildren;
    struct starpu_sched_component **children;
    unsigned nparents;
    struct starpu_sched_component **parents;

    void (*add_child)(struct starpu_sched_component *component,
                      struct starpu_sched_component *child);
    void (*remove_child)(struct starpu_sched_component *component,
                         struct starpu_sched_component *child);
    void (*add_parent)(struct starpu_sched_component *component,
                       struct starpu_sched_component *parent);
    void (*remove_parent)(struct starpu_sched_component *component,
                          struct starpu_sched_component *parent);

    /* 0: the task was taken; else the caller keeps it. The root takes all. */
    int (*push_task)(struct starpu_sched_component *component,
                     struct starpu_task *task);
    /* A task for the child `to`, or NULL. */
    struct starpu_task *(*pull_task)(struct starpu_sched_component *from,
                                     struct starpu_sched_component *to);
    /* There is room in `to`: push what you hold. Whether something moved. */
    int (*can_push)(struct starpu_sched_component *from,
                    struct starpu_sched_component *to);
    /* There is a task: wake who would pull it. Whether somebody slept. */
    int (*can_pull)(struct starpu_sched_component *component);
    void (*do_schedule)(struct starpu_sched_component *component);
    int (*notify)(struct starpu_sched_component *component, int message,
                  void *arg);
    /* Tasks below per speed; µs, the date at which they will have ended. */
    double (*estimated_load)(struct starpu_sched_component *component);
    double (*estimated_end)(struct starpu_sched_component *component);
    /* Frees `data`. */
    void (*deinit_data)(struct starpu_sched_component *component);
    /* `workers` or `workers_in_ctx` were computed again. */
    void (*notify_change_workers)(struct starpu_sched_component *component);
    int properties;
    hwloc_obj_t obj;
};

struct starpu_sched_tree {
    struct starpu_sched_component *root;
    struct starpu_bitmap workers; /* of the context */
    unsigned sched_ctx_id;
    starpu_pthread_mutex_t lock;
};

typedef struct starpu_sched_component *(*starpu_sched_component_create_t)(
    struct starpu_sched_tree *tree, void *data);

/* -- trees: one per context -- */

/* An empty tree for the context, whose `root` the caller sets; one per context, a
 * second one ends the program. It belongs to the context: starpu_sched_tree_destroy,
 * or a deinit_sched, frees it. */
struct starpu_sched_tree *starpu_sched_tree_create(unsigned sched_ctx_id);
/* Frees the tree with all components and leaves. No worker may be in one of its
 * hooks. */
void starpu_sched_tree_destroy(struct starpu_sched_tree *tree);
/* The same by the context's number, to be the deinit_sched of a policy; without a
 * tree it does nothing. */
void starpu_sched_tree_deinitialize(unsigned sched_ctx_id);
/* The context's tree, or NULL. */
struct starpu_sched_tree *starpu_sched_tree_get(unsigned sched_ctx_id);
/* Computes `workers`, `workers_in_ctx` and properties of all components, from the
 * leaves up: to be called when components were connected in init_sched. Each
 * component's notify_change_workers is called. */
void starpu_sched_tree_update_workers(struct starpu_sched_tree *t);
/* The same without `workers`: when only the context's workers have changed, which
 * the hooks below do. */
void starpu_sched_tree_update_workers_in_ctx(struct starpu_sched_tree *t);

/* The push_task of a policy: pushes to the root, the tree's lock held. A root that
 * refuses a task, which some worker can run now, ends the program. Returns 0. */
int starpu_sched_tree_push_task(struct starpu_task *task);
/* The pop_task of a policy: the calling worker's leaf pulls. NULL: there is none for
 * it. */
struct starpu_task *starpu_sched_tree_pop_task(unsigned sched_ctx);
/* The add_workers and remove_workers of a policy: workers enter or leave `workers`
 * of the tree. What was queued for those that leave is pushed once more at the root,
 * or kept until a worker comes. */
void starpu_sched_tree_add_workers(unsigned sched_ctx_id, int *workerids,
                                   unsigned nworkers);
void starpu_sched_tree_remove_workers(unsigned sched_ctx_id, int *workerids,
                                      unsigned nworkers);
/* The do_schedule of a policy: calls that of each component that has one, from the
 * root down. */
void starpu_sched_tree_do_schedule(unsigned sched_ctx_id);
/* As starpu_sched_tree_push_task, but what a worker pushes goes to the worker's own
 * deque of the nearest stealing component above its leaf, if that worker can run
 * it. */
int starpu_sched_tree_work_stealing_push_task(struct starpu_task *task);
/* The pre_exec_hook and post_exec_hook of a policy: they keep the leaves' expected
 * dates. Without them expected ends do not count tasks that run. */
void starpu_sched_component_worker_pre_exec_hook(struct starpu_task *task,
                                                 unsigned sched_ctx_id);
void starpu_sched_component_worker_post_exec_hook(struct starpu_task *task,
                                                  unsigned sched_ctx_id);

/* -- components -- */

/* A component without parents and children, with default methods but for push_task.
 * The name is copied; the caller sets `data` and deinit_data. Freed by
 * starpu_sched_component_destroy, or with a tree that it is connected to. */
struct starpu_sched_component *
starpu_sched_component_create(struct starpu_sched_tree *tree, const char *name);
/* Takes the component out of the tree, leaving its children without that parent,
 * calls its deinit_data and frees it. */
void starpu_sched_component_destroy(struct starpu_sched_component *component);
/* The same, with all below that has no other parent; leaves of workers stay, the
 * tree has them. NULL is nothing. */
void starpu_sched_component_destroy_rec(
    struct starpu_sched_component *component);
/* Calls the component's add_child only: the child does not know its parent. */
void starpu_sched_component_add_child(struct starpu_sched_component *component,
                                      struct starpu_sched_component *child);
/* Makes them parent and child of each other, the child behind the ones that are
 * there. */
void starpu_sched_component_connect(struct starpu_sched_component *parent,
                                    struct starpu_sched_component *child);

/* Calls push_task of `to`; 0: the task was taken, else the caller has it still.
 * `from` is not looked at, and may be NULL. */
int starpu_sched_component_push_task(struct starpu_sched_component *from,
                                     struct starpu_sched_component *to,
                                     struct starpu_task *task);
/* Calls pull_task of `from` for its child `to`; the caller has the task then. NULL:
 * none. */
struct starpu_task *
starpu_sched_component_pull_task(struct starpu_sched_component *from,
                                 struct starpu_sched_component *to);
/* Moves tasks from the component to its child `to` until the child refuses one,
 * which is returned and is the caller's to put back, or there are none: NULL.
 * *success, unless NULL: 1 if any was moved, else 0. */
struct starpu_task *
starpu_sched_component_pump_to(struct starpu_sched_component *component,
                               struct starpu_sched_component *to, int *success);
/* The same to the component's only child. */
struct starpu_task *
starpu_sched_component_pump_downstream(struct starpu_sched_component *component,
                                       int *success);
/* Tells the parents, in order, that there is room in the component, until one of
 * them has moved a task: then 1, else 0. */
int starpu_sched_component_send_can_push_to_parents(
    struct starpu_sched_component *component);

/* Whether some worker below that is in the context, or combined worker, can run the
 * task with some implementation. */
int starpu_sched_component_can_execute_task(
    struct starpu_sched_component *component, struct starpu_task *task);
/* The same, and in *length the shortest expected duration there, in µs: NaN when one is
 * not known, 0 when there is no model. Of workers of one architecture the first is
 * asked. */
int starpu_sched_component_execute_preds(
    struct starpu_sched_component *component, struct starpu_task *task,
    double *length);
/* Expected µs until the task's data are on the memory node of the workers below; on
 * several nodes, the mean over the workers. */
double starpu_sched_component_transfer_length(
    struct starpu_sched_component *component, struct starpu_task *task);
/* Prefetches the task's data to the memory node of the workers below; nothing if
 * they have several, or where STARPU_PREFETCH is 0. */
void starpu_sched_component_prefetch_on_node(
    struct starpu_sched_component *component, struct starpu_task *task);

/* The default pull_task: the first task that a parent gives. */
struct starpu_task *
starpu_sched_component_parents_pull_task(struct starpu_sched_component *component,
                                         struct starpu_sched_component *to);
/* The default can_push: starpu_sched_component_send_can_push_to_parents. */
int starpu_sched_component_can_push(struct starpu_sched_component *component,
                                    struct starpu_sched_component *to);
/* The default can_pull: tells the children, in order, until one of them has woken
 * somebody: then 1, else 0. */
int starpu_sched_component_can_pull(struct starpu_sched_component *component);
/* Another can_pull: tells all children; returns 0. */
int starpu_sched_component_can_pull_all(
    struct starpu_sched_component *component);
/* The default estimated_load: the sum of the children's. */
double
starpu_sched_component_estimated_load(struct starpu_sched_component *component);
/* The default estimated_end, in µs as starpu_timing_now counts: the least of the
 * children's, or now without children. */
double starpu_sched_component_estimated_end_min(
    struct starpu_sched_component *component);
/* The same with exp_len µs more of work: the date at which all workers below would
 * have ended if they shared it out evenly. */
double starpu_sched_component_estimated_end_min_add(
    struct starpu_sched_component *component, double exp_len);
/* Another estimated_end: the mean of the children's. */
double starpu_sched_component_estimated_end_average(
    struct starpu_sched_component *component);

/* -- leaves -- */

/* The leaf of a worker, or combined worker, in a context: made when it is first
 * asked for, freed with the tree. Before that the context needs a tree. Both names
 * do the same. */
struct starpu_sched_component *
starpu_sched_component_worker_get(unsigned sched_ctx, int workerid);
struct starpu_sched_component *
starpu_sched_component_worker_new(unsigned sched_ctx, int workerid);
/* The leaf of a new combined worker of these workers, two processors at least, which
 * must differ; else the program ends. The array is read only. */
struct starpu_sched_component *starpu_sched_component_parallel_worker_create(
    struct starpu_sched_tree *tree, unsigned nworkers, unsigned *workers);
/* The number of a leaf's worker; a component that is no leaf fails an assertion. */
int starpu_sched_component_worker_get_workerid(
    struct starpu_sched_component *worker_component);
/* Whether the component is a leaf, of a worker or a combined one. */
int starpu_sched_component_is_worker(struct starpu_sched_component *component);
/* Whether it is the leaf of a worker. */
int starpu_sched_component_is_simple_worker(
    struct starpu_sched_component *component);
/* Whether it is the leaf of a combined worker. */
int starpu_sched_component_is_combined_worker(
    struct starpu_sched_component *component);

/* -- queues -- */

/* 0 = no limit. `ready`: give the task with most data there. `exp`: count expected
 * durations, in µs. */
struct starpu_sched_component_fifo_data {
    unsigned ntasks_threshold;
    double exp_len_threshold;
    int ready;
    int exp;
};
struct starpu_sched_component_prio_data {
    unsigned ntasks_threshold;
    double exp_len_threshold;
    int ready;
    int exp;
};

/* A queue in order of arrival, but for tasks of positive priority, which come first
 * by priority. The parameters are copied; NULL: no limits. It refuses tasks when it
 * is full; an empty one takes any. */
struct starpu_sched_component *
starpu_sched_component_fifo_create(struct starpu_sched_tree *tree,
                                   struct starpu_sched_component_fifo_data *fifo_data);
/* Whether the component is such a queue: the is_ functions below ask the same of the
 * other sorts. */
int starpu_sched_component_is_fifo(struct starpu_sched_component *component);
/* The same by priority, equal ones in order of arrival. */
struct starpu_sched_component *
starpu_sched_component_prio_create(struct starpu_sched_tree *tree,
                                   struct starpu_sched_component_prio_data *prio_data);
int starpu_sched_component_is_prio(struct starpu_sched_component *component);

/* -- decisions -- */

/* A deque per child: a task that a worker below pushes goes to that worker's child,
 * another one to the children in turn. A child pulls the newest of its own that it
 * can run, or else steals the oldest, of the best priority, of the next one that has
 * any. `arg` is not looked at, here and in the next four. */
struct starpu_sched_component *
starpu_sched_component_work_stealing_create(struct starpu_sched_tree *tree,
                                            void *arg);
int starpu_sched_component_is_work_stealing(
    struct starpu_sched_component *component);
/* Chooses a child that can run the task by chance, in proportion to the speed of its
 * workers. */
struct starpu_sched_component *
starpu_sched_component_random_create(struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_random(struct starpu_sched_component *component);
/* Gives a task to the first child that can run it and takes it; workers below may
 * pull from above through it. */
struct starpu_sched_component *
starpu_sched_component_eager_create(struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_eager(struct starpu_sched_component *component);
/* The same with a queue by priority of its own, so that it refuses no task. */
struct starpu_sched_component *
starpu_sched_component_eager_prio_create(struct starpu_sched_tree *tree,
                                         void *arg);
int starpu_sched_component_is_eager_prio(
    struct starpu_sched_component *component);
/* Gives a task to the first worker, and implementation, of which its duration is
 * not known yet; refuses tasks whose durations are all known. */
struct starpu_sched_component *
starpu_sched_component_eager_calibration_create(struct starpu_sched_tree *tree,
                                                void *arg);
int starpu_sched_component_is_eager_calibration(
    struct starpu_sched_component *component);

/* What ends, transfers and energy count. NULL for it: STARPU_SCHED_ALPHA and the
 * like. `nolock` has no effect: the tree's lock is held. */
struct starpu_sched_component_mct_data {
    double alpha;
    double beta;
    double _gamma;
    double idle_power;
    int nolock;
};

/* Chooses the child where a task is expected to cost least: its end, its transfers,
 * its energy. The weights are copied. */
struct starpu_sched_component *
starpu_sched_component_mct_create(struct starpu_sched_tree *tree,
                                  struct starpu_sched_component_mct_data *mct_data);
int starpu_sched_component_is_mct(struct starpu_sched_component *component);
/* Holds tasks by priority, and of the first few of equal priority sends on the one
 * that would end first, to where it would. */
struct starpu_sched_component *
starpu_sched_component_heft_create(struct starpu_sched_tree *tree,
                                   struct starpu_sched_component_mct_data *mct_data);
int starpu_sched_component_is_heft(struct starpu_sched_component *component);

/* batch: all priorities become INT_MAX once the task has its bucket. */
struct starpu_sched_component_heteroprio_data {
    struct starpu_sched_component_mct_data *mct;
    unsigned batch;
};
/* Buckets of tasks by how much faster they are on one architecture than on another.
 * The parameters are copied, *mct too; NULL: mct NULL and batch 1. */
struct starpu_sched_component *starpu_sched_component_heteroprio_create(
    struct starpu_sched_tree *tree,
    struct starpu_sched_component_heteroprio_data *params);
int starpu_sched_component_is_heteroprio(
    struct starpu_sched_component *component);

/* Chooses, for the worker below it, the implementation that is expected to take
 * least; has one child. `arg` is not looked at. */
struct starpu_sched_component *
starpu_sched_component_best_implementation_create(struct starpu_sched_tree *tree,
                                                  void *arg);

/* Where a task goes of which some duration is not known, that has no model, of which
 * all durations are known. */
struct starpu_sched_component_perfmodel_select_data {
    struct starpu_sched_component *calibrator_component;
    struct starpu_sched_component *no_perfmodel_component;
    struct starpu_sched_component *perfmodel_component;
};
/* Sends tasks to one of the three components, which the caller connects as its
 * children as well. The structure is copied; none of them may be NULL. */
struct starpu_sched_component *starpu_sched_component_perfmodel_select_create(
    struct starpu_sched_tree *tree,
    struct starpu_sched_component_perfmodel_select_data *perfmodel_select_data);
int starpu_sched_component_is_perfmodel_select(
    struct starpu_sched_component *component);

/* Offers a task to its children in order, to the first one that can run it and takes
 * it; pulls from its parents in order. `arg` is not looked at. */
struct starpu_sched_component *
starpu_sched_component_stage_create(struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_stage(struct starpu_sched_component *component);
/* Pushes to the child whose number is task->sched_data, cast to an integer; one that
 * there is not fails an assertion. `arg` is not looked at. */
struct starpu_sched_component *
starpu_sched_component_userchoice_create(struct starpu_sched_tree *tree,
                                         void *arg);
int starpu_sched_component_is_userchoice(
    struct starpu_sched_component *component);

/* -- recipes -- */

struct starpu_sched_component_composed_recipe;

/* A recipe is a list of functions that make components. An empty one; it is the
 * caller's, for starpu_sched_component_composed_recipe_destroy. */
struct starpu_sched_component_composed_recipe *
starpu_sched_component_composed_recipe_create(void);
/* A recipe of one component, which create_component(tree, arg) makes; `arg` is lent
 * until then. */
struct starpu_sched_component_composed_recipe *
starpu_sched_component_composed_recipe_create_singleton(
    struct starpu_sched_component *(*create_component)(
        struct starpu_sched_tree *tree, void *arg),
    void *arg);
/* Adds a component below those that are in it. */
void starpu_sched_component_composed_recipe_add(
    struct starpu_sched_component_composed_recipe *recipe,
    struct starpu_sched_component *(*create_component)(
        struct starpu_sched_tree *tree, void *arg),
    void *arg);
/* Frees the recipe, not the components that were made by it; NULL is nothing. */
void starpu_sched_component_composed_recipe_destroy(
    struct starpu_sched_component_composed_recipe *recipe);
/* Makes the recipe's components, one below the other, and returns them as one
 * component, which ends with all of them; a recipe of one gives just that. The
 * recipe may be destroyed afterwards, and used for others before. */
struct starpu_sched_component *
starpu_sched_component_composed_component_create(
    struct starpu_sched_tree *tree,
    struct starpu_sched_component_composed_recipe *recipe);

/* Recipes for the levels of the machine; NULL where there is to be none, but the
 * machine's. */
struct starpu_sched_component_specs {
    struct starpu_sched_component_composed_recipe
        *hwloc_machine_composed_sched_component;
    struct starpu_sched_component_composed_recipe
        *hwloc_component_composed_sched_component;
    struct starpu_sched_component_composed_recipe
        *hwloc_socket_composed_sched_component;
    struct starpu_sched_component_composed_recipe
        *hwloc_cache_composed_sched_component;
    struct starpu_sched_component_composed_recipe *(
        *worker_composed_sched_component)(enum starpu_worker_archtype archtype);
    int mix_heterogeneous_workers;
};
/* Makes the context's tree by these recipes, which stay the caller's but for those
 * that worker_composed_sched_component returns: these are destroyed. The parts of
 * the machine are its memory nodes, or one with mix_heterogeneous_workers; socket
 * and cache count as one part of each. The policy data of the context are not set. */
struct starpu_sched_tree *
starpu_sched_component_make_scheduler(unsigned sched_ctx_id,
                                      struct starpu_sched_component_specs s);

/* -- simple schedulers: queue, decision, queues, workers -- */

#define STARPU_SCHED_SIMPLE_DECIDE_MASK (3 << 0)
#define STARPU_SCHED_SIMPLE_DECIDE_WORKERS (1 << 0)
#define STARPU_SCHED_SIMPLE_DECIDE_MEMNODES (2 << 0)
#define STARPU_SCHED_SIMPLE_DECIDE_ARCHS (3 << 0)
#define STARPU_SCHED_SIMPLE_DECIDE_ALWAYS (1 << 3)
#define STARPU_SCHED_SIMPLE_PERFMODEL (1 << 4)
#define STARPU_SCHED_SIMPLE_IMPL (1 << 5)
#define STARPU_SCHED_SIMPLE_FIFO_ABOVE (1 << 6)
#define STARPU_SCHED_SIMPLE_FIFO_ABOVE_PRIO (1 << 7)
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW (1 << 8)
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW_PRIO (1 << 9)
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW_READY (1 << 10)
#define STARPU_SCHED_SIMPLE_WS_BELOW (1 << 11)
#define STARPU_SCHED_SIMPLE_COMBINED_WORKERS (1 << 12)
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW_EXP (1 << 13)
#define STARPU_SCHED_SIMPLE_PRE_DECISION (1 << 14)
#define STARPU_SCHED_SIMPLE_FIFOS_BELOW_NOLIMIT (1 << 16)

/* Makes the context's tree and sets it as policy data, to be called in init_sched.
 * `data` is the argument of create_decision_component; flags are those above. */
void starpu_sched_component_initialize_simple_scheduler(
    starpu_sched_component_create_t create_decision_component, void *data,
    unsigned flags, unsigned sched_ctx_id);
/* The same with `ndecisions` triples (create function, void *data, unsigned flags):
 * one scheduler for each, without STARPU_SCHED_SIMPLE_PERFMODEL where there are
 * several, of which a task's sched_data names one (userchoice). A triple with
 * STARPU_SCHED_SIMPLE_PRE_DECISION stands above the next one. */
void starpu_sched_component_initialize_simple_schedulers(unsigned sched_ctx_id,
                                                         unsigned ndecisions,
                                                         ...);

/* For an application's components that have a lock of their own, and share their
 * policy's source with StarPU: as the STARPU_PTHREAD_MUTEX_ forms. */
#define STARPU_COMPONENT_MUTEX_LOCK(m)                                         \
    do {                                                                       \
        starpu_worker_relax_on();                                              \
        STARPU_PTHREAD_MUTEX_LOCK(m);                                          \
        starpu_worker_relax_off();                                             \
    } while (0)
#define STARPU_COMPONENT_MUTEX_TRYLOCK(m) STARPU_PTHREAD_MUTEX_TRYLOCK(m)
#define STARPU_COMPONENT_MUTEX_UNLOCK(m) STARPU_PTHREAD_MUTEX_UNLOCK(m)

#ifdef __cplusplus
}
#endif
