/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/worker.c - the leaves of a tree: a worker's tasks, and when
 * it will have executed them; a combined worker, whose tasks are those of its members.
 */
#include "core/policies/component/component.h"

#include "core/api/api.h"
#include "core/api/combined.h"
#include "core/sched/gang.h"
#include "core/sched/toolbox.h"
#include "core/worker/combined.h"

typedef struct starpu_sched_component component_t;

struct leaf {
    int worker;
    struct orr_taskq tasks; /* that were pushed to it */
    /* µs: as the dm family has them, dm_load.h */
    double exp_start, exp_len, pipeline_len;
    unsigned ntasks; /* pushed or pulled, not ended */
};

static double positive_us(double us)
{
    return us > 0 ? us : 0;
}

static double speedup_of(component_t *c)
{
    struct leaf *leaf = c->data;

    return orr_component_worker_speedup(c->tree, leaf->worker);
}

static void set_start(struct leaf *leaf)
{
    leaf->exp_start = starpu_timing_now() + leaf->pipeline_len;
}

/* --- a worker --- */

static void leaf_expect_task(struct leaf *leaf, const struct starpu_task *task)
{
    double now = starpu_timing_now();

    if (leaf->exp_start < now)
        leaf->exp_start = now;
    leaf->exp_len +=
        orr_known(task->predicted) + orr_known(task->predicted_transfer);
    leaf->ntasks++;
}

static int leaf_push(component_t *c, struct starpu_task *task)
{
    struct leaf *leaf = c->data;

    if (isnan(task->predicted)) {
        unsigned impl;
        double us = 0;

        (void)orr_component_best(c->tree, leaf->worker, task, &impl, &us);
        task->predicted = orr_known(us);
        task->predicted_transfer = 0;
    }
    leaf_expect_task(leaf, task);
    starpu_sched_component_prefetch_on_node(c, task);
    orr_taskq_insert(&leaf->tasks, task, task->priority);
    (void)c->can_pull(c);
    return 0;
}

static struct starpu_task *leaf_take_own(struct leaf *leaf)
{
    struct starpu_task *task = starpu_task_list_begin(&leaf->tasks.list);

    if (task)
        orr_taskq_take(&leaf->tasks, task);
    return task;
}

/* The worker's own task, else one pulled from the parents, else one that they have
 * pushed to it meanwhile. */
static struct starpu_task *leaf_take(component_t *c)
{
    struct leaf *leaf = c->data;
    struct starpu_task *task = leaf_take_own(leaf);

    if (task)
        return task;
    task = starpu_sched_component_parents_pull_task(c, c);
    if (!task)
        return leaf_take_own(leaf);
    leaf_expect_task(leaf, task);
    return task;
}

static struct starpu_task *leaf_pull(component_t *c, component_t *to)
{
    struct leaf *leaf = c->data;
    struct starpu_task *task = leaf_take(c);
    double transfer;

    (void)to;
    if (!task)
        return NULL;
    transfer = orr_known(task->predicted_transfer);
    leaf->exp_len = positive_us(leaf->exp_len - transfer);
    leaf->pipeline_len += transfer;
    set_start(leaf);
    (void)starpu_push_task_end(task);
    return task;
}

static int leaf_wake(component_t *c)
{
    return starpu_wake_worker_relax_light(((struct leaf *)c->data)->worker);
}

static double leaf_load(component_t *c)
{
    double speedup = speedup_of(c);

    return ((struct leaf *)c->data)->ntasks / (speedup > 0 ? speedup : 1);
}

static double leaf_estimated_end(component_t *c)
{
    struct leaf *leaf = c->data;
    double now = starpu_timing_now();

    return (leaf->exp_start > now ? leaf->exp_start : now) + leaf->exp_len;
}

/* --- a combined worker --- */

static component_t *leaf_make(struct starpu_sched_tree *tree, int worker);

/* Made when it is asked for first. */
static component_t *leaf_in(struct starpu_sched_tree *tree, int worker)
{
    struct orr_tree *all = (struct orr_tree *)tree;

    if (!all->leaves[worker])
        all->leaves[worker] = leaf_make(tree, worker);
    return all->leaves[worker];
}

static component_t *combined_leaf_member(component_t *c, unsigned i)
{
    int worker = ((struct leaf *)c->data)->worker;
    const struct orr_combined *combined =
        orr_combined_at(orr_runtime_need(__func__), (unsigned)worker);

    return i < combined->size ? leaf_in(c->tree, combined->members[i]) : NULL;
}

static int combined_push(component_t *c, struct starpu_task *task)
{
    struct orr_runtime *rt = orr_runtime_need(__func__);
    struct leaf *leaf = c->data;
    struct orr_job *job = orr_job_of(task);
    component_t *m;
    double us;
    unsigned impl;

    if (!orr_component_best(c->tree, leaf->worker, task, &impl, &us))
        return 1;
    starpu_task_set_implementation(task, impl);
    task->predicted = orr_known(us);
    task->predicted_transfer = 0;
    for (unsigned i = 0; (m = combined_leaf_member(c, i)) != NULL; i++)
        leaf_expect_task(m->data, task);
    if (orr_gang_push_combined(rt, job,
                               orr_combined_at(rt, (unsigned)leaf->worker), NULL,
                               NULL) == 0)
        return 0;
    for (unsigned i = 0; (m = combined_leaf_member(c, i)) != NULL; i++) {
        struct leaf *of = m->data;

        of->exp_len = positive_us(of->exp_len - task->predicted);
        of->ntasks--;
    }
    return 1;
}

static struct starpu_task *combined_pull(component_t *from, component_t *to)
{
    (void)from;
    (void)to;
    return NULL;
}

static int combined_wake(component_t *c)
{
    component_t *m;
    int woken = 0;

    for (unsigned i = 0; (m = combined_leaf_member(c, i)) != NULL; i++)
        woken |= m->can_pull(m);
    return woken;
}

static double combined_load(component_t *c)
{
    component_t *m;
    double sum = 0;

    for (unsigned i = 0; (m = combined_leaf_member(c, i)) != NULL; i++)
        sum += m->estimated_load(m);
    return sum;
}

static double combined_end(component_t *c)
{
    component_t *m;
    double latest = 0;

    for (unsigned i = 0; (m = combined_leaf_member(c, i)) != NULL; i++) {
        double date = m->estimated_end(m);

        latest = date > latest ? date : latest;
    }
    return latest;
}

/* --- both --- */

static component_t *leaf_make(struct starpu_sched_tree *tree, int worker)
{
    bool combined = starpu_worker_is_combined_worker(worker);
    struct leaf *leaf = orr_component_alloc(1, sizeof(*leaf));
    component_t *c;
    char name[32];

    if (combined)
        snprintf(name, sizeof(name), "combined worker %d", worker);
    else
        snprintf(name, sizeof(name), "worker %d", worker);
    leaf->worker = worker;
    leaf->exp_start = starpu_timing_now();
    c = orr_component_new(tree, name, combined ? combined_push : leaf_push,
                          leaf);
    c->pull_task = combined ? combined_pull : leaf_pull;
    c->can_pull = combined ? combined_wake : leaf_wake;
    c->estimated_load = combined ? combined_load : leaf_load;
    c->estimated_end = combined ? combined_end : leaf_estimated_end;
    starpu_bitmap_set(&c->workers, worker);
    return c;
}

static component_t *get_leaf(const char *call, unsigned sched_ctx, int workerid)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_get(sched_ctx);

    if (!tree) {
        orr_log_error("%s: context %u has no tree of components: call "
                      "starpu_sched_tree_create before",
                      call, sched_ctx);
        abort();
    }
    if (workerid >= MAX_LEAVES || !starpu_worker_is_combined_worker(workerid))
        (void)orr_api_worker(call, workerid);
    return leaf_in(tree, workerid);
}

component_t *starpu_sched_component_worker_get(unsigned sched_ctx, int workerid)
{
    return get_leaf(__func__, sched_ctx, workerid);
}

component_t *starpu_sched_component_worker_new(unsigned sched_ctx, int workerid)
{
    return get_leaf(__func__, sched_ctx, workerid);
}

component_t *
starpu_sched_component_parallel_worker_create(struct starpu_sched_tree *tree,
                                              unsigned nworkers,
                                              unsigned *workers)
{
    int ids[STARPU_NMAXWORKERS], id;

    for (unsigned i = 0; i < nworkers && i < STARPU_NMAXWORKERS; i++)
        ids[i] = (int)workers[i];
    id = starpu_combined_worker_assign_workerid((int)nworkers, ids);
    if (id < 0) {
        orr_log_error("%s: these %u workers cannot be combined: they are to be "
                      "different processors, two at least",
                      __func__, nworkers);
        abort();
    }
    return get_leaf(__func__, tree->sched_ctx_id, id);
}

int starpu_sched_component_worker_get_workerid(component_t *worker_component)
{
    STARPU_ASSERT(starpu_sched_component_is_worker(worker_component));
    return ((struct leaf *)worker_component->data)->worker;
}

int starpu_sched_component_is_simple_worker(component_t *component)
{
    return component->push_task == leaf_push;
}

int starpu_sched_component_is_combined_worker(component_t *component)
{
    return component->push_task == combined_push;
}

int starpu_sched_component_is_worker(component_t *component)
{
    return starpu_sched_component_is_simple_worker(component) ||
           starpu_sched_component_is_combined_worker(component);
}

/* --- hooks --- */

/* The calling worker's leaf. NULL: the task was not pushed to the tree. */
static struct leaf *leaf_of(const struct starpu_task *task, unsigned ctx)
{
    int self = starpu_worker_get_id();

    if (self < 0 || task->execute_on_a_specific_worker ||
        !starpu_sched_tree_get(ctx))
        return NULL;
    return starpu_sched_component_worker_get(ctx, self)->data;
}

void starpu_sched_component_worker_pre_exec_hook(struct starpu_task *task,
                                                 unsigned sched_ctx_id)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_get(sched_ctx_id);
    double length = orr_known(task->predicted);
    struct leaf *leaf;

    if (!tree)
        return;
    STARPU_COMPONENT_MUTEX_LOCK(&tree->lock);
    leaf = leaf_of(task, sched_ctx_id);
    if (leaf) {
        leaf->pipeline_len = positive_us(leaf->pipeline_len -
                                         orr_known(task->predicted_transfer));
        leaf->exp_len = positive_us(leaf->exp_len - length);
        leaf->pipeline_len += length;
        set_start(leaf);
        orr_tree_changed(tree);
    }
    STARPU_COMPONENT_MUTEX_UNLOCK(&tree->lock);
}

void starpu_sched_component_worker_post_exec_hook(struct starpu_task *task,
                                                  unsigned sched_ctx_id)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_get(sched_ctx_id);
    struct leaf *leaf;

    if (!tree)
        return;
    STARPU_COMPONENT_MUTEX_LOCK(&tree->lock);
    leaf = leaf_of(task, sched_ctx_id);
    if (leaf) {
        leaf->pipeline_len =
            positive_us(leaf->pipeline_len - orr_known(task->predicted));
        leaf->ntasks -= leaf->ntasks > 0;
        set_start(leaf);
        orr_tree_changed(tree);
    }
    STARPU_COMPONENT_MUTEX_UNLOCK(&tree->lock);
}
