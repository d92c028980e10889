/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/tree.c - the tree of a scheduling context: which workers
 * are below which component, and the hooks of a policy, one at a time.
 */
#include "core/policies/component/component.h"

#include "core/api/ctx.h"
#include "core/sched/ctx.h"
#include "core/sched/ctxs.h"

typedef struct starpu_sched_component component_t;

static struct starpu_sched_tree **context_tree_slot(const char *call,
                                                    unsigned ctx)
{
    return &orr_api_sched(call, ctx)->said->tree;
}

/* --- beginning and end --- */

struct starpu_sched_tree *starpu_sched_tree_create(unsigned sched_ctx_id)
{
    struct starpu_sched_tree **place =
        context_tree_slot(__func__, sched_ctx_id);
    struct orr_tree *made = orr_component_alloc(1, sizeof(*made));

    if (*place) {
        orr_log_error("%s: context %u has a tree of components already; "
                      "starpu_sched_tree_destroy ends it",
                      __func__, sched_ctx_id);
        abort();
    }
    made->tree.sched_ctx_id = sched_ctx_id;
    starpu_pthread_mutex_init(&made->tree.lock, NULL);
    *place = &made->tree;
    return &made->tree;
}

struct starpu_sched_tree *starpu_sched_tree_get(unsigned sched_ctx_id)
{
    return *context_tree_slot(__func__, sched_ctx_id);
}

void starpu_sched_tree_destroy(struct starpu_sched_tree *tree)
{
    struct orr_tree *all = (struct orr_tree *)tree;

    *context_tree_slot(__func__, tree->sched_ctx_id) = NULL;
    if (tree->root && !starpu_sched_component_is_worker(tree->root))
        starpu_sched_component_destroy_rec(tree->root);
    for (unsigned w = 0; w < MAX_LEAVES; w++)
        if (all->leaves[w])
            starpu_sched_component_destroy(all->leaves[w]);
    starpu_pthread_mutex_destroy(&tree->lock);
    free(all);
}

void starpu_sched_tree_deinitialize(unsigned sched_ctx_id)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_get(sched_ctx_id);

    if (tree)
        starpu_sched_tree_destroy(tree);
}

/* --- the workers below --- */

static bool all_inside(const struct starpu_bitmap *workers, int combined)
{
    struct starpu_bitmap in = *workers;
    int *members, n;

    starpu_combined_worker_get_description(combined, &n, &members);
    for (int i = 0; i < n; i++)
        if (!starpu_bitmap_get(&in, members[i]))
            return false;
    return true;
}

static void set_in_ctx(component_t *c)
{
    struct starpu_bitmap *inside = &c->tree->workers;

    starpu_bitmap_unset_all(&c->workers_in_ctx);
    for (int w = starpu_bitmap_first(&c->workers); w != -1;
         w = starpu_bitmap_next(&c->workers, w))
        if (starpu_worker_is_combined_worker(w) ? all_inside(inside, w)
                                                : starpu_bitmap_get(inside, w))
            starpu_bitmap_set(&c->workers_in_ctx, w);
}

/* Whether both workers are of one architecture, so that their models are the same. */
static bool is_like(int a, int b, unsigned ctx)
{
    struct starpu_perfmodel_arch *one = starpu_worker_get_perf_archtype(a, ctx);
    struct starpu_perfmodel_arch *other =
        starpu_worker_get_perf_archtype(b, ctx);

    return one->ndevices == 1 && other->ndevices == 1 &&
           one->devices[0].type == other->devices[0].type &&
           one->devices[0].devid == other->devices[0].devid &&
           one->devices[0].ncores == other->devices[0].ncores;
}

static void set_properties(component_t *c)
{
    int first = starpu_bitmap_first(&c->workers_in_ctx);
    bool same = true;

    c->properties = 0;
    if (first == -1 || starpu_worker_is_combined_worker(first))
        return;
    for (int w = first; w != -1; w = starpu_bitmap_next(&c->workers_in_ctx, w))
        same &= !starpu_worker_is_combined_worker(w) &&
                is_like(w, first, c->tree->sched_ctx_id);
    if (same)
        c->properties |= STARPU_SCHED_COMPONENT_HOMOGENEOUS;
    if (orr_component_node(c) != -1)
        c->properties |= STARPU_SCHED_COMPONENT_SINGLE_MEMORY_NODE;
}

/* Recomputes which workers are below each component; a leaf keeps its own. */
static void component_update_workers(component_t *c, bool below)
{
    for (unsigned i = 0; i < c->nchildren; i++)
        component_update_workers(c->children[i], below);
    if (below && !starpu_sched_component_is_worker(c)) {
        starpu_bitmap_unset_all(&c->workers);
        for (unsigned i = 0; i < c->nchildren; i++)
            starpu_bitmap_or(&c->workers, &c->children[i]->workers);
    }
    set_in_ctx(c);
    set_properties(c);
    c->notify_change_workers(c);
}

void starpu_sched_tree_update_workers(struct starpu_sched_tree *t)
{
    if (t->root)
        component_update_workers(t->root, true);
}

void starpu_sched_tree_update_workers_in_ctx(struct starpu_sched_tree *t)
{
    if (t->root)
        component_update_workers(t->root, false);
}

/* --- hooks --- */

static struct starpu_sched_tree *tree_enter_hook(const char *call, unsigned ctx)
{
    struct starpu_sched_tree *tree = *context_tree_slot(call, ctx);

    if (!tree || !tree->root) {
        orr_log_error("%s: context %u has no tree of components with a root: "
                      "init_sched is to make one, starpu_sched_tree_create",
                      call, ctx);
        abort();
    }
    STARPU_COMPONENT_MUTEX_LOCK(&tree->lock);
    return tree;
}

static void tree_leave_hook(struct starpu_sched_tree *tree)
{
    STARPU_COMPONENT_MUTEX_UNLOCK(&tree->lock);
}

static int tree_root_refused(struct starpu_sched_tree *tree,
                             struct starpu_task *task)
{
    orr_log_error("the root `%s' of a scheduling policy refuses task `%s': a "
                  "root must take every task, as a queue without limit does",
                  tree->root->name, starpu_task_get_name(task));
    abort();
}

/* Pushes it to a component of the tree, which refuses it only if no worker
 * below can run it now. */
static int push_to(const char *call, struct starpu_task *task,
                   component_t *(*choose)(struct starpu_sched_tree *tree,
                                          struct starpu_task *task))
{
    unsigned ctx = task->sched_ctx;
    struct orr_sched *sched = orr_runtime_need(call)->sched_ctxs->at[ctx];
    struct orr_sched_state state;
    struct starpu_sched_tree *tree;
    enum orr_kept kept;
    int refused;

    do {
        orr_sched_look(sched, &state);
        tree = tree_enter_hook(call, ctx);
        refused =
            starpu_sched_component_push_task(NULL, choose(tree, task), task);
        tree_leave_hook(tree);
        if (!refused)
            return 0;
        kept = orr_sched_keep(sched, orr_job_of(task), &state);
    } while (kept == ORR_TRY_AGAIN);
    return kept == ORR_KEPT ? 0 : tree_root_refused(tree, task);
}

static component_t *root_of(struct starpu_sched_tree *tree,
                            struct starpu_task *task)
{
    (void)task;
    return tree->root;
}

int starpu_sched_tree_push_task(struct starpu_task *task)
{
    return push_to(__func__, task, root_of);
}

struct starpu_task *starpu_sched_tree_pop_task(unsigned sched_ctx)
{
    struct starpu_sched_tree *tree = tree_enter_hook(__func__, sched_ctx);
    int w = (int)starpu_worker_get_id_check();
    component_t *leaf = starpu_sched_component_worker_get(sched_ctx, w);
    struct starpu_task *task = starpu_sched_component_pull_task(leaf, NULL);

    tree_leave_hook(tree);
    return task;
}

static component_t *nearest_stealer(component_t *c)
{
    component_t *found = NULL;

    if (starpu_sched_component_is_work_stealing(c))
        return c;
    for (unsigned i = 0; !found && i < c->nparents; i++)
        found = nearest_stealer(c->parents[i]);
    return found;
}

/* The component from which the calling worker would steal, if it can run the
 * task. */
static component_t *stealer_of(struct starpu_sched_tree *tree,
                               struct starpu_task *task)
{
    int self = starpu_worker_get_id();
    component_t *found = NULL;

    if (self >= 0 && starpu_bitmap_get(&tree->workers, self) &&
        starpu_worker_can_execute_task_first_impl((unsigned)self, task, NULL))
        found = nearest_stealer(
            starpu_sched_component_worker_get(tree->sched_ctx_id, self));
    return found ? found : tree->root;
}

int starpu_sched_tree_work_stealing_push_task(struct starpu_task *task)
{
    return push_to(__func__, task, stealer_of);
}

static void tree_change_workers(const char *call, unsigned ctx, const int *ids,
                                unsigned n,
                                void (*how)(struct starpu_bitmap *, int))
{
    struct starpu_sched_tree *tree = tree_enter_hook(call, ctx);

    for (unsigned i = 0; i < n; i++)
        how(&tree->workers, ids[i]);
    orr_tree_changed(tree);
    starpu_sched_tree_update_workers_in_ctx(tree);
    tree_leave_hook(tree);
}

static void bitmap_set(struct starpu_bitmap *b, int e)
{
    starpu_bitmap_set(b, e);
}

static void bitmap_unset(struct starpu_bitmap *b, int e)
{
    starpu_bitmap_unset(b, e);
}

/* Tasks that were queued for workers that have left go to others, or wait for a
 * worker to come. */
static void component_give_up_tasks(component_t *c,
                                    struct starpu_task_list *strays)
{
    static const struct {
        int (*is)(component_t *);
        void (*give_up)(component_t *, struct starpu_task_list *);
    } kinds[] = {
        {starpu_sched_component_is_fifo, orr_queue_give_up},
        {starpu_sched_component_is_prio, orr_queue_give_up},
        {starpu_sched_component_is_work_stealing, orr_stealing_give_up},
        {starpu_sched_component_is_eager_prio, orr_eager_prio_give_up},
        {starpu_sched_component_is_heft, orr_heft_give_up},
        {starpu_sched_component_is_heteroprio, orr_heteroprio_give_up},
    };

    if (orr_component_inner(c)) {
        component_give_up_tasks(orr_component_inner(c), strays);
        return;
    }
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kinds[i].is(c))
            kinds[i].give_up(c, strays);
    for (unsigned i = 0; i < c->nchildren; i++)
        component_give_up_tasks(c->children[i], strays);
}

void starpu_sched_tree_add_workers(unsigned sched_ctx_id, int *workerids,
                                   unsigned nworkers)
{
    tree_change_workers(__func__, sched_ctx_id, workerids, nworkers,
                        bitmap_set);
}

void starpu_sched_tree_remove_workers(unsigned sched_ctx_id, int *workerids,
                                      unsigned nworkers)
{
    struct starpu_task_list strays;
    struct starpu_sched_tree *tree;

    tree_change_workers(__func__, sched_ctx_id, workerids, nworkers,
                        bitmap_unset);
    starpu_task_list_init(&strays);
    tree = tree_enter_hook(__func__, sched_ctx_id);
    component_give_up_tasks(tree->root, &strays);
    tree_leave_hook(tree);
    while (!starpu_task_list_empty(&strays)) {
        struct starpu_task *task = starpu_task_list_pop_front(&strays);

        orr_sched_stray(
            orr_runtime_need(__func__)->sched_ctxs->at[sched_ctx_id],
            orr_job_of(task));
    }
}

static void do_schedule(component_t *c)
{
    if (orr_component_inner(c)) {
        do_schedule(orr_component_inner(c));
        return;
    }
    if (c->do_schedule)
        c->do_schedule(c);
    for (unsigned i = 0; i < c->nchildren; i++)
        do_schedule(c->children[i]);
}

void starpu_sched_tree_do_schedule(unsigned sched_ctx_id)
{
    struct starpu_sched_tree *tree = tree_enter_hook(__func__, sched_ctx_id);

    do_schedule(tree->root);
    tree_leave_hook(tree);
}
