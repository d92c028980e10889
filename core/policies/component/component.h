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
/* A task that was taken and is refused goes back before the one that was behind it, NULL:
 * none; if that has gone, before those of its priority. */
void orr_taskq_restore(struct orr_taskq *q, struct starpu_task *task,
                       struct starpu_task *next);
/* Before those of its priority. */
void orr_taskq_put_back(struct orr_taskq *q, struct starpu_task *task,
                        int priority);
void orr_taskq_take(struct orr_taskq *q, struct starpu_task *task);
/* The first one that the asking worker can run: the calling worker if it is
 * below `to`, else anybody there; `to` = NULL: the first. Left there. */
struct starpu_task *orr_taskq_first(const struct orr_taskq *q,
                                    struct starpu_sched_component *to);
/* The first one that any worker below `to` can run, whichever asks. */
struct starpu_task *orr_taskq_first_below(const struct orr_taskq *q,
                                          struct starpu_sched_component *to);
/* … as orr_taskq_first, of those with its priority, the one with the fewest bytes to bring. */
struct starpu_task *orr_taskq_first_ready(const struct orr_taskq *q,
                                          struct starpu_sched_component *to,
                                          unsigned node);

/* Moves tasks that no worker below can run any more, since workers have left,
 * from what a component of ours has queued to the list. */
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

/* How long the task takes on the worker, combined or not, with its best
 * implementation, which is set: the first whose length is unknown, else the
 * fastest with a length, else the first. False: it cannot run it. */
bool orr_component_best(struct starpu_sched_tree *tree, int worker,
                        struct starpu_task *task, unsigned *impl,
                        double *length);
int orr_component_can_run(int worker, struct starpu_task *task, unsigned impl);

/* Whether both workers can run the task alike, and take the same time. */
bool orr_component_alike(struct starpu_task *task, int a, int b);
/* The next worker below that is not like this one; -1 at the end. */
int orr_component_next(struct starpu_sched_component *component,
                       struct starpu_task *task, int worker);

/* A task has come to where workers below find it. can_pull has told one that sleeps;
 * if not all there can run the task, one that sleeps and can is woken. */
void orr_component_wake_for(struct starpu_sched_component *component,
                            struct starpu_task *task);

/* The node of the workers below; -1 if they have several. */
int orr_component_node(struct starpu_sched_component *component);
/* Sum of how many times faster than a core they are. */
double orr_component_speedup(struct starpu_sched_component *component);

/* Asks the parents to push, then gives nothing: a component that decides gives
 * no task to the first worker that comes. */
struct starpu_task *orr_component_pull_none(struct starpu_sched_component *from,
                                            struct starpu_sched_component *to);

/* For each child of `from`, in order, until one takes the task. */
int orr_component_offer(struct starpu_sched_component *component,
                        struct starpu_task *task);

/* -- recipe.c -- */
/* The first of those that a composed component stands for, above the others and what is
 * below; NULL: it is no such. */
struct starpu_sched_component *
orr_component_inner(struct starpu_sched_component *component);

/* -- worker.c -- */
void orr_component_leaf_done(struct starpu_sched_component *leaf);

/* -- mct.c -- */
struct orr_mct {
    double alpha, beta, gamma, idle_power;
};
void orr_mct_init(struct orr_mct *mct,
                  const struct starpu_sched_component_mct_data *from);
/* The child with the best fitness, and when the task would end on the one where it
 * ends first; its predicted times are set. NULL if nobody's length is known. */
struct starpu_sched_component *
orr_mct_choose(const struct orr_mct *mct,
               struct starpu_sched_component *component,
               struct starpu_task *task, double *ret_min_end);

/* What was chosen for a task that was refused then. Each worker that asks for work has
 * it offered again: at the same date the choice is the same, unless something has
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
