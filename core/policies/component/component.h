/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/component.h - what the components share. Everything runs
 * with the tree's lock held, but for building trees.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <starpu_sched_component.h>

struct orr_worker_class;

#define MAX_LEAVES STARPU_NMAXWORKERS

/* What starpu_sched_tree_create returns the first member of. */
struct orr_tree {
    struct starpu_sched_tree tree;
    struct starpu_sched_component *leaves[MAX_LEAVES];
    uint64_t nchanges; /* of what ends are estimated from */
};

static inline uint64_t *orr_tree_nchanges(struct starpu_sched_tree *tree)
{
    return &((struct orr_tree *)tree)->nchanges;
}

/* A task has moved, begun or ended; a worker has come or left. */
static inline void orr_tree_changed(struct starpu_sched_tree *tree)
{
    ++*orr_tree_nchanges(tree);
}

/* Memory that is zero; without any the program ends. */
void *orr_component_alloc(size_t n, size_t size);

/* A component with a push, and data, owned. */
struct starpu_sched_component *
orr_component_new(struct starpu_sched_tree *tree, const char *name,
                  int (*push)(struct starpu_sched_component *,
                              struct starpu_task *),
                  void *data);

/* Tasks by decreasing priority, or with those of none behind; oldest first. */
struct orr_taskq {
    struct starpu_task_list list;
    unsigned ntasks;
};

void orr_taskq_insert(struct orr_taskq *q, struct starpu_task *task,
                      int priority);
/* Puts a task that was taken out, and was refused, before `next`, the one that was
 * behind it (NULL: none); if that has gone, before those of its priority. */
void orr_taskq_restore(struct orr_taskq *q, struct starpu_task *task,
                       struct starpu_task *next);
/* Before those of its priority. */
void orr_taskq_put_back(struct orr_taskq *q, struct starpu_task *task,
                        int priority);
void orr_taskq_take(struct orr_taskq *q, struct starpu_task *task);
/* The first task that the calling worker can run, if that is below `to`, else any
 * worker below `to`; `to` = NULL: the first task. It stays in the queue. */
struct starpu_task *orr_taskq_first(const struct orr_taskq *q,
                                    struct starpu_sched_component *to);
/* The first one that any worker below `to` can run, whichever asks. */
struct starpu_task *orr_taskq_first_below(const struct orr_taskq *q,
                                          struct starpu_sched_component *to);
/* … as orr_taskq_first, of those with its priority, the one with the fewest bytes to bring. */
struct starpu_task *orr_taskq_first_ready(const struct orr_taskq *q,
                                          struct starpu_sched_component *to,
                                          unsigned node);

/* Moves to the list the tasks that one of our components has queued and that no worker
 * below can run any more, since workers have left. */
void orr_taskq_give_up(struct orr_taskq *q, struct starpu_sched_component *c,
                       struct starpu_task_list *strays);
void orr_queue_give_up(struct starpu_sched_component *c,
                       struct starpu_task_list *strays);
void orr_stealing_give_up(struct starpu_sched_component *c,
                          struct starpu_task_list *strays);
void orr_eager_prio_give_up(struct starpu_sched_component *c,
                            struct starpu_task_list *strays);
void orr_heft_give_up(struct starpu_sched_component *c,
                      struct starpu_task_list *strays);
void orr_heteroprio_give_up(struct starpu_sched_component *c,
                            struct starpu_task_list *strays);

/* A predicted time of a task, 0 where nothing is known. */
static inline double orr_known(double us)
{
    return isnan(us) ? 0 : us;
}

/* The expected duration of the task on the worker, combined or not, with the best
 * implementation, which is stored: the first one of unknown duration, else the fastest
 * one, else the first. False: the worker cannot run it. */
bool orr_component_best(struct starpu_sched_tree *tree, int worker,
                        struct starpu_task *task, unsigned *impl,
                        double *length);
int orr_component_can_run(int worker, struct starpu_task *task, unsigned impl);

/* Whether both workers can run the task alike, and take the same time. *uniform is the
 * last class whose workers were found to be alike for this task; NULL at first. */
bool orr_component_alike(struct starpu_task *task, int a, int b,
                         const struct orr_worker_class **uniform);
/* The next worker below that is not like this one; -1 at the end. */
int orr_component_next(struct starpu_sched_component *component,
                       struct starpu_task *task, int worker);

/* A task was queued where workers below find it. can_pull has woken one that sleeps; if
 * not all workers there can run the task, one that sleeps and can run it is woken. */
void orr_component_wake_for(struct starpu_sched_component *component,
                            struct starpu_task *task);

/* The node of the workers below; -1 if they have several. */
int orr_component_node(struct starpu_sched_component *component);
/* How many times faster than a core the worker is; the sum of that over those below. */
double orr_component_worker_speedup(const struct starpu_sched_tree *tree,
                                    int worker);
double orr_component_speedup(struct starpu_sched_component *component);

/* Asks the parents to push, then gives nothing: a component that decides gives
 * no task to the first worker that comes. */
struct starpu_task *orr_component_pull_none(struct starpu_sched_component *from,
                                            struct starpu_sched_component *to);

/* For each child of `from`, in order, until one takes the task. */
int orr_component_offer(struct starpu_sched_component *component,
                        struct starpu_task *task);

/* -- recipe.c -- */
/* The topmost of the components that a composed one consists of; NULL: the component is
 * no composed one. */
struct starpu_sched_component *
orr_component_inner(struct starpu_sched_component *component);

/* -- mct.c -- */
struct orr_mct {
    double alpha, beta, gamma, idle_power;
};
void orr_mct_init(struct orr_mct *mct,
                  const struct starpu_sched_component_mct_data *from);
/* The child of the best fitness; *end is when the task would end on the child where it
 * ends first; the task's predicted times are set. NULL if the duration is known for
 * none. */
struct starpu_sched_component *
orr_mct_choose(const struct orr_mct *mct,
               struct starpu_sched_component *component,
               struct starpu_task *task, double *ret_min_end);

/* What was chosen for a task that was refused then. The task is offered anew for each
 * worker that asks: at the same date the choice is the same, unless something has
 * changed in the tree. */
struct orr_choice {
    uint64_t job; /* its number; 0: none */
    double date;
    uint64_t nchanges;
    struct starpu_sched_component *child;
    double length, transfer; /* predicted */
};
bool orr_choice_stands(const struct orr_choice *last,
                       const struct starpu_sched_component *component,
                       const struct starpu_task *task);
/* orr_mct_choose, unless the last choice stands; it is the last one then. */
struct starpu_sched_component *
orr_mct_choose_once(const struct orr_mct *mct, struct orr_choice *last,
                    struct starpu_sched_component *component,
                    struct starpu_task *task);

/* -- gemm.c -- */
struct starpu_sched_component *
orr_component_gemm_create(struct starpu_sched_tree *tree, void *arg);
