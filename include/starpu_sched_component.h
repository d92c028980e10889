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

struct starpu_sched_tree *starpu_sched_tree_create(unsigned sched_ctx_id);
/* With all its components; the second one is a deinit_sched. */
void starpu_sched_tree_destroy(struct starpu_sched_tree *tree);
void starpu_sched_tree_deinitialize(unsigned sched_ctx_id);
/* NULL without. */
struct starpu_sched_tree *starpu_sched_tree_get(unsigned sched_ctx_id);
/* Compute `workers`, `workers_in_ctx` of all components again: after the tree
 * has changed, after the context has. */
void starpu_sched_tree_update_workers(struct starpu_sched_tree *t);
void starpu_sched_tree_update_workers_in_ctx(struct starpu_sched_tree *t);

/* Hooks for a struct starpu_sched_policy. */
int starpu_sched_tree_push_task(struct starpu_task *task);
struct starpu_task *starpu_sched_tree_pop_task(unsigned sched_ctx);
void starpu_sched_tree_add_workers(unsigned sched_ctx_id, int *workerids,
                                   unsigned nworkers);
void starpu_sched_tree_remove_workers(unsigned sched_ctx_id, int *workerids,
                                      unsigned nworkers);
void starpu_sched_tree_do_schedule(unsigned sched_ctx_id);
/* As push_task, but a worker's goes to its own deque of the stealing component
 * above it, if it can run it. */
int starpu_sched_tree_work_stealing_push_task(struct starpu_task *task);
void starpu_sched_component_worker_pre_exec_hook(struct starpu_task *task,
                                                 unsigned sched_ctx_id);
void starpu_sched_component_worker_post_exec_hook(struct starpu_task *task,
                                                  unsigned sched_ctx_id);

/* -- components -- */

/* One without children; the name is copied. */
struct starpu_sched_component *
starpu_sched_component_create(struct starpu_sched_tree *tree, const char *name);
/* Takes it out of the tree; with what only it has below, but worker's leaves. */
void starpu_sched_component_destroy(struct starpu_sched_component *component);
void starpu_sched_component_destroy_rec(
    struct starpu_sched_component *component);
/* The child is not told; both are. */
void starpu_sched_component_add_child(struct starpu_sched_component *component,
                                      struct starpu_sched_component *child);
void starpu_sched_component_connect(struct starpu_sched_component *parent,
                                    struct starpu_sched_component *child);

/* Call `to`'s push_task; `from`'s pull_task. */
int starpu_sched_component_push_task(struct starpu_sched_component *from,
                                     struct starpu_sched_component *to,
                                     struct starpu_task *task);
struct starpu_task *
starpu_sched_component_pull_task(struct starpu_sched_component *from,
                                 struct starpu_sched_component *to);
/* Moves tasks from the component to a child, its only one, until one is refused,
 * which is returned, or there are none. *success: something moved. */
struct starpu_task *
starpu_sched_component_pump_to(struct starpu_sched_component *component,
                               struct starpu_sched_component *to, int *success);
struct starpu_task *
starpu_sched_component_pump_downstream(struct starpu_sched_component *component,
                                       int *success);
int starpu_sched_component_send_can_push_to_parents(
    struct starpu_sched_component *component);

/* Some worker below can run it; how long there at best (NaN: some length is not
 * known, 0: no model) and µs until its data are there. */
int starpu_sched_component_can_execute_task(
    struct starpu_sched_component *component, struct starpu_task *task);
int starpu_sched_component_execute_preds(
    struct starpu_sched_component *component, struct starpu_task *task,
    double *length);
double starpu_sched_component_transfer_length(
    struct starpu_sched_component *component, struct starpu_task *task);
/* If all workers below have one memory node. */
void starpu_sched_component_prefetch_on_node(
    struct starpu_sched_component *component, struct starpu_task *task);

/* Methods, the first of each sort being what components are created with. */
struct starpu_task *
starpu_sched_component_parents_pull_task(struct starpu_sched_component *component,
                                         struct starpu_sched_component *to);
int starpu_sched_component_can_push(struct starpu_sched_component *component,
                                    struct starpu_sched_component *to);
int starpu_sched_component_can_pull(struct starpu_sched_component *component);
int starpu_sched_component_can_pull_all(
    struct starpu_sched_component *component);
double
starpu_sched_component_estimated_load(struct starpu_sched_component *component);
double starpu_sched_component_estimated_end_min(
    struct starpu_sched_component *component);
double starpu_sched_component_estimated_end_min_add(
    struct starpu_sched_component *component, double exp_len);
double starpu_sched_component_estimated_end_average(
    struct starpu_sched_component *component);

/* -- leaves -- */

/* That of a worker, or combined worker, in a context: made when first asked for. */
struct starpu_sched_component *
starpu_sched_component_worker_get(unsigned sched_ctx, int workerid);
struct starpu_sched_component *
starpu_sched_component_worker_new(unsigned sched_ctx, int workerid);
/* A new combined worker's. */
struct starpu_sched_component *starpu_sched_component_parallel_worker_create(
    struct starpu_sched_tree *tree, unsigned nworkers, unsigned *workers);
int starpu_sched_component_worker_get_workerid(
    struct starpu_sched_component *worker_component);
int starpu_sched_component_is_worker(struct starpu_sched_component *component);
int starpu_sched_component_is_simple_worker(
    struct starpu_sched_component *component);
int starpu_sched_component_is_combined_worker(
    struct starpu_sched_component *component);

/* -- queues -- */

/* 0 = no limit. `ready`: give the task with most data there. `exp`: keep expected
 * lengths, µs. */
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

struct starpu_sched_component *
starpu_sched_component_fifo_create(struct starpu_sched_tree *tree,
                                   struct starpu_sched_component_fifo_data *fifo_data);
int starpu_sched_component_is_fifo(struct starpu_sched_component *component);
struct starpu_sched_component *
starpu_sched_component_prio_create(struct starpu_sched_tree *tree,
                                   struct starpu_sched_component_prio_data *prio_data);
int starpu_sched_component_is_prio(struct starpu_sched_component *component);

/* -- decisions -- */

struct starpu_sched_component *
starpu_sched_component_work_stealing_create(struct starpu_sched_tree *tree,
                                            void *arg);
int starpu_sched_component_is_work_stealing(
    struct starpu_sched_component *component);
struct starpu_sched_component *
starpu_sched_component_random_create(struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_random(struct starpu_sched_component *component);
struct starpu_sched_component *
starpu_sched_component_eager_create(struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_eager(struct starpu_sched_component *component);
struct starpu_sched_component *
starpu_sched_component_eager_prio_create(struct starpu_sched_tree *tree,
                                         void *arg);
int starpu_sched_component_is_eager_prio(
    struct starpu_sched_component *component);
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

struct starpu_sched_component *
starpu_sched_component_mct_create(struct starpu_sched_tree *tree,
                                  struct starpu_sched_component_mct_data *mct_data);
int starpu_sched_component_is_mct(struct starpu_sched_component *component);
struct starpu_sched_component *
starpu_sched_component_heft_create(struct starpu_sched_tree *tree,
                                   struct starpu_sched_component_mct_data *mct_data);
int starpu_sched_component_is_heft(struct starpu_sched_component *component);

/* batch: all priorities become INT_MAX once the task has its bucket. */
struct starpu_sched_component_heteroprio_data {
    struct starpu_sched_component_mct_data *mct;
    unsigned batch;
};
struct starpu_sched_component *starpu_sched_component_heteroprio_create(
    struct starpu_sched_tree *tree,
    struct starpu_sched_component_heteroprio_data *params);
int starpu_sched_component_is_heteroprio(
    struct starpu_sched_component *component);

/* Chooses the implementation for its only child. */
struct starpu_sched_component *
starpu_sched_component_best_implementation_create(struct starpu_sched_tree *tree,
                                                  void *arg);

/* Where tasks go: some length unknown, no model, all known. */
struct starpu_sched_component_perfmodel_select_data {
    struct starpu_sched_component *calibrator_component;
    struct starpu_sched_component *no_perfmodel_component;
    struct starpu_sched_component *perfmodel_component;
};
struct starpu_sched_component *starpu_sched_component_perfmodel_select_create(
    struct starpu_sched_tree *tree,
    struct starpu_sched_component_perfmodel_select_data *perfmodel_select_data);
int starpu_sched_component_is_perfmodel_select(
    struct starpu_sched_component *component);

/* Pulls from its parents in order. */
struct starpu_sched_component *
starpu_sched_component_stage_create(struct starpu_sched_tree *tree, void *arg);
int starpu_sched_component_is_stage(struct starpu_sched_component *component);
/* Pushes to the child whose number is in task->sched_data. */
struct starpu_sched_component *
starpu_sched_component_userchoice_create(struct starpu_sched_tree *tree,
                                         void *arg);
int starpu_sched_component_is_userchoice(
    struct starpu_sched_component *component);

/* -- recipes -- */

struct starpu_sched_component_composed_recipe;

struct starpu_sched_component_composed_recipe *
starpu_sched_component_composed_recipe_create(void);
struct starpu_sched_component_composed_recipe *
starpu_sched_component_composed_recipe_create_singleton(
    struct starpu_sched_component *(*create_component)(
        struct starpu_sched_tree *tree, void *arg),
    void *arg);
/* Below those that are in it. */
void starpu_sched_component_composed_recipe_add(
    struct starpu_sched_component_composed_recipe *recipe,
    struct starpu_sched_component *(*create_component)(
        struct starpu_sched_tree *tree, void *arg),
    void *arg);
void starpu_sched_component_composed_recipe_destroy(
    struct starpu_sched_component_composed_recipe *recipe);
/* Its components, one below the other, as one. */
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

/* Makes the context's tree and its policy data. The second takes `ndecisions`
 * triples (create, data, flags): one scheduler each, chosen by userchoice. */
void starpu_sched_component_initialize_simple_scheduler(
    starpu_sched_component_create_t create_decision_component, void *data,
    unsigned flags, unsigned sched_ctx_id);
void starpu_sched_component_initialize_simple_schedulers(unsigned sched_ctx_id,
                                                         unsigned ndecisions,
                                                         ...);

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
