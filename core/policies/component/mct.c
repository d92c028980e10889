/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/mct.c - mct: the child where a task is expected to cost
 * least, by its end, its transfers, its energy; heft: of a few tasks of the best
 * priority, the one that would end first.
 */
#include "core/policies/component/component.h"

#include "core/api/api.h"
#include "core/cost/power.h"
#include "core/sched/toolbox.h"

#define HEFT_TASKS 5

typedef struct starpu_sched_component component_t;

void orr_mct_init(struct orr_mct *mct,
                  const struct starpu_sched_component_mct_data *from)
{
    struct orr_runtime *rt = orr_runtime_need(__func__);

    if (from) {
        *mct = (struct orr_mct){.alpha = from->alpha,
                                .beta = from->beta,
                                .gamma = from->_gamma,
                                .idle_power = from->idle_power};
        return;
    }
    *mct = (struct orr_mct){
        .alpha = orr_sched_weight(rt, ORR_CFG_SCHED_ALPHA, 1),
        .beta = orr_sched_weight(rt, ORR_CFG_SCHED_BETA, 1),
        .gamma = orr_sched_weight(rt, ORR_CFG_SCHED_GAMMA, 1000),
        .idle_power = orr_sched_idle_power(rt),
    };
}

/* The energy of the best implementation on any worker there; 0 if it is not
 * known. */
static double child_least_energy(component_t *child, struct starpu_task *task)
{
    double least = INFINITY;

    if (!orr_cost_weighs_energy(orr_runtime_need(__func__), task->cl))
        return 0;
    for (int w = starpu_bitmap_first(&child->workers_in_ctx); w != -1;
         w = orr_component_next(child, task, w))
        for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++) {
            double joules;

            if (!orr_component_can_run(w, task, i))
                continue;
            joules = starpu_task_expected_energy(
                task,
                starpu_worker_get_perf_archtype(w, child->tree->sched_ctx_id),
                i);
            least = joules < least ? joules : least;
        }
    return isinf(least) ? 0 : least;
}

struct estimate {
    double length, transfer, energy, ready, end;
    bool usable;
};

/* Whether below each is one worker, and all but when it is free is the same. */
static bool are_alike(component_t *a, component_t *b, struct starpu_task *task,
                      const struct orr_worker_class **uniform)
{
    /* Workers of a class have one memory node. */
    return starpu_bitmap_cardinal(&a->workers_in_ctx) == 1 &&
           starpu_bitmap_cardinal(&b->workers_in_ctx) == 1 &&
           orr_component_alike(task, starpu_bitmap_first(&a->workers_in_ctx),
                               starpu_bitmap_first(&b->workers_in_ctx),
                               uniform);
}

/* The part of the estimate that does not depend on what other workers do. */
static struct estimate mct_estimate(component_t *child,
                                    struct starpu_task *task)
{
    struct estimate e = {.usable = false};

    if (!starpu_sched_component_execute_preds(child, task, &e.length) ||
        isnan(e.length) || e.length == 0)
        return e;
    e.usable = true;
    e.transfer = starpu_sched_component_transfer_length(child, task);
    e.energy = child_least_energy(child, task);
    return e;
}

static void estimate_end(struct estimate *e, component_t *child, double now)
{
    double free_at = child->estimated_end(child);

    e->ready = free_at > now ? free_at : now;
    e->end = fmax(e->ready, now + e->transfer) + e->length;
}

component_t *orr_mct_choose(const struct orr_mct *mct, component_t *component,
                            struct starpu_task *task, double *ret_min_end)
{
    struct estimate *all =
        orr_component_alloc(component->nchildren + 1, sizeof(*all));
    double min_end = INFINITY, all_free = 0, best_fitness = INFINITY;
    double now = starpu_timing_now();
    component_t **children = component->children, *best = NULL;
    const struct orr_worker_class *uniform = NULL;

    for (unsigned i = 0; i < component->nchildren; i++) {
        all[i] =
            i > 0 && are_alike(children[i - 1], children[i], task, &uniform)
                ? all[i - 1]
                : mct_estimate(children[i], task);
        if (!all[i].usable)
            continue;
        estimate_end(&all[i], children[i], now);
        min_end = fmin(min_end, all[i].end);
        all_free = fmax(all_free, all[i].ready);
    }
    for (unsigned i = 0; i < component->nchildren; i++) {
        double fitness, idle = all[i].end - all_free;

        if (!all[i].usable)
            continue;
        fitness = mct->alpha * (all[i].end - min_end) +
                  mct->beta * all[i].transfer + mct->gamma * all[i].energy;
        if (idle > 0)
            fitness += mct->gamma * mct->idle_power * idle / 1e6;
        if (best && !(fitness < best_fitness))
            continue;
        best = children[i];
        best_fitness = fitness;
        task->predicted = all[i].length;
        task->predicted_transfer = all[i].transfer;
    }
    free(all);
    if (ret_min_end)
        *ret_min_end = min_end;
    return best;
}

static uint64_t task_number(const struct starpu_task *task)
{
    return atomic_load_explicit(&orr_job_of(task)->id, memory_order_relaxed);
}

bool orr_choice_stands(const struct orr_choice *last,
                       const component_t *component,
                       const struct starpu_task *task)
{
    return last->job == task_number(task) &&
           last->date == starpu_timing_now() &&
           last->nchanges == *orr_tree_nchanges(component->tree);
}

component_t *orr_mct_choose_once(const struct orr_mct *mct,
                                 struct orr_choice *last,
                                 component_t *component,
                                 struct starpu_task *task)
{
    if (!orr_choice_stands(last, component, task)) {
        last->date = starpu_timing_now();
        last->child = orr_mct_choose(mct, component, task, NULL);
        last->length = task->predicted;
        last->transfer = task->predicted_transfer;
        last->nchanges = *orr_tree_nchanges(component->tree);
        last->job = task_number(task);
    }
    task->predicted = last->length;
    task->predicted_transfer = last->transfer;
    return last->child;
}

struct decides {
    struct orr_mct mct;
    struct orr_choice last;
};

static int mct_push_to_best(struct decides *d, component_t *c,
                            struct starpu_task *task)
{
    component_t *best = orr_mct_choose_once(&d->mct, &d->last, c, task);

    if (best)
        return starpu_sched_component_push_task(c, best, task);
    task->predicted = task->predicted_transfer = 0;
    return orr_component_offer(c, task);
}

/* --- mct --- */

static int mct_push(component_t *c, struct starpu_task *task)
{
    return mct_push_to_best(c->data, c, task);
}

component_t *starpu_sched_component_mct_create(
    struct starpu_sched_tree *tree,
    struct starpu_sched_component_mct_data *mct_data)
{
    struct decides *d = orr_component_alloc(1, sizeof(*d));
    component_t *c = orr_component_new(tree, "mct", mct_push, d);

    orr_mct_init(&d->mct, mct_data);
    c->pull_task = orr_component_pull_none;
    return c;
}

int starpu_sched_component_is_mct(component_t *component)
{
    return component->push_task == mct_push;
}

/* --- heft --- */

struct heft {
    struct decides decides;
    struct orr_taskq tasks;
};

/* Chooses, of the first tasks of the best priority, the one that would end first; a
 * task that was refused was put at the front. */
static struct starpu_task *choose_task(struct heft *heft, component_t *c)
{
    struct starpu_task *task = orr_taskq_first(&heft->tasks, NULL),
                       *best = task;
    int priority = task ? task->priority : 0;
    double least = INFINITY;

    if (task && orr_choice_stands(&heft->decides.last, c, task))
        return task;
    for (unsigned n = 0; task && n < HEFT_TASKS && task->priority == priority;
         n++, task = task->next) {
        double end;

        (void)orr_mct_choose(&heft->decides.mct, c, task, &end);
        if (end < least) {
            least = end;
            best = task;
        }
    }
    return best;
}

static int heft_progress(component_t *c)
{
    struct heft *heft = c->data;
    struct starpu_task *task;
    int moved = 0;

    while ((task = choose_task(heft, c)) != NULL) {
        orr_taskq_take(&heft->tasks, task);
        if (mct_push_to_best(&heft->decides, c, task)) {
            orr_taskq_put_back(&heft->tasks, task, task->priority);
            break;
        }
        moved = 1;
    }
    return moved;
}

static int heft_push(component_t *c, struct starpu_task *task)
{
    struct heft *heft = c->data;

    orr_taskq_insert(&heft->tasks, task, task->priority);
    orr_tree_changed(c->tree);
    (void)heft_progress(c);
    return 0;
}

void orr_heft_give_up(component_t *c, struct starpu_task_list *strays)
{
    orr_taskq_give_up(&((struct heft *)c->data)->tasks, c, strays);
}

static int heft_can_push(component_t *c, component_t *to)
{
    (void)to;
    return heft_progress(c) |
           starpu_sched_component_send_can_push_to_parents(c);
}

/* The component takes all tasks when they are pushed, so the parents have none as a
 * rule. */
static struct starpu_task *heft_pull(component_t *c, component_t *to)
{
    (void)heft_can_push(c, to);
    return NULL;
}

component_t *starpu_sched_component_heft_create(
    struct starpu_sched_tree *tree,
    struct starpu_sched_component_mct_data *mct_data)
{
    struct heft *heft = orr_component_alloc(1, sizeof(*heft));
    component_t *c = orr_component_new(tree, "heft", heft_push, heft);

    orr_mct_init(&heft->decides.mct, mct_data);
    c->can_push = heft_can_push;
    c->pull_task = heft_pull;
    return c;
}

int starpu_sched_component_is_heft(component_t *component)
{
    return component->push_task == heft_push;
}
