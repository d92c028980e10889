/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/steal.c - work stealing: a deque per child; a child whose own
 * deque is empty takes from the others in turn.
 */
#include "core/policies/component/component.h"

#include "core/api/api.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"

typedef struct starpu_sched_component component_t;

struct stealing {
    struct orr_taskq *deques; /* one per child */
    unsigned ndeques;
    unsigned next_push, next_victim;
};

static int stealing_push(component_t *c, struct starpu_task *task);

static struct stealing *deques_of(component_t *c)
{
    struct stealing *s = c->data;

    if (s->ndeques >= c->nchildren)
        return s;
    s->deques = realloc(s->deques, c->nchildren * sizeof(*s->deques));
    STARPU_ASSERT(s->deques);
    for (; s->ndeques < c->nchildren; s->ndeques++)
        s->deques[s->ndeques] = (struct orr_taskq){.ntasks = 0};
    return s;
}

/* The deque of the calling worker if that can run the task, else the next one in turn
 * whose worker can. */
static unsigned stealing_choose_deque(component_t *c, struct stealing *s,
                                      struct starpu_task *task)
{
    int self = starpu_worker_get_id();

    for (unsigned i = 0; self >= 0 && i < c->nchildren; i++)
        if (starpu_bitmap_get(&c->children[i]->workers_in_ctx, self) &&
            starpu_sched_component_can_execute_task(c->children[i], task))
            return i;
    for (unsigned i = 0; i < c->nchildren; i++) {
        unsigned at = (s->next_push + i) % c->nchildren;

        if (!starpu_sched_component_can_execute_task(c->children[at], task))
            continue;
        s->next_push = at + 1;
        return at;
    }
    return c->nchildren;
}

static int stealing_push(component_t *c, struct starpu_task *task)
{
    struct stealing *s = deques_of(c);
    unsigned at = stealing_choose_deque(c, s, task);

    if (at == c->nchildren)
        return 1;
    orr_taskq_put_back(&s->deques[at], task, task->priority);
    (void)starpu_sched_component_can_pull_all(c);
    orr_component_wake_for(c, task);
    return 0;
}

/* Takes from the back of the highest priority that has a task for the thief. */
static struct starpu_task *find_back(const struct orr_taskq *q, component_t *to)
{
    struct starpu_task *task = orr_taskq_first(q, to), *last = task;

    for (; task && task->priority == last->priority; task = task->next)
        if (starpu_sched_component_can_execute_task(to, task))
            last = task;
    return last;
}

/* Tells observers that the task was stolen from the worker below `victim`; of several
 * workers the first one is named. */
static void tell_steal(component_t *victim, struct starpu_task *task)
{
    struct orr_runtime *rt = orr_runtime_need(__func__);
    int thief = starpu_worker_get_id();
    int from = starpu_bitmap_first(&victim->workers_in_ctx);

    if (thief >= 0 && from >= 0 && from != thief)
        ORR_TELL(rt, ORR_TOLD_STOLEN, .stolen.thief = (unsigned)thief,
                 .stolen.victim = (unsigned)from,
                 .stolen.job = starpu_task_get_job_id(task));
}

static struct starpu_task *stealing_steal(component_t *c, struct stealing *s,
                                          component_t *to)
{
    for (unsigned i = 0; i < c->nchildren; i++) {
        unsigned victim = (s->next_victim + i) % c->nchildren;
        struct starpu_task *task = find_back(&s->deques[victim], to);

        if (!task)
            continue;
        orr_taskq_take(&s->deques[victim], task);
        s->next_victim = victim + 1;
        if (c->children[victim] != to)
            tell_steal(c->children[victim], task);
        return task;
    }
    return NULL;
}

static struct starpu_task *stealing_pull(component_t *c, component_t *to)
{
    struct stealing *s = deques_of(c);
    struct starpu_task *task;

    for (unsigned i = 0; i < c->nchildren; i++) {
        task = c->children[i] == to ? orr_taskq_first(&s->deques[i], to) : NULL;
        if (!task)
            continue;
        orr_taskq_take(&s->deques[i], task);
        return task;
    }
    task = stealing_steal(c, s, to);
    if (task || !starpu_sched_component_send_can_push_to_parents(c))
        return task;
    return stealing_steal(c, s, to);
}

void orr_stealing_give_up(component_t *c, struct starpu_task_list *strays)
{
    struct stealing *s = c->data;

    for (unsigned i = 0; i < s->ndeques; i++)
        orr_taskq_give_up(&s->deques[i], c, strays);
}

static double stealing_load(component_t *c)
{
    struct stealing *s = deques_of(c);
    double speedup = orr_component_speedup(c), n = 0;

    for (unsigned i = 0; i < s->ndeques; i++)
        n += s->deques[i].ntasks;
    return starpu_sched_component_estimated_load(c) +
           n / (speedup > 0 ? speedup : 1);
}

static void stealing_deinit(component_t *c)
{
    free(((struct stealing *)c->data)->deques);
    free(c->data);
}

component_t *
starpu_sched_component_work_stealing_create(struct starpu_sched_tree *tree,
                                            void *arg)
{
    component_t *c =
        orr_component_new(tree, "work_stealing", stealing_push,
                          orr_component_alloc(1, sizeof(struct stealing)));

    (void)arg;
    c->pull_task = stealing_pull;
    c->estimated_load = stealing_load;
    c->deinit_data = stealing_deinit;
    return c;
}

int starpu_sched_component_is_work_stealing(component_t *component)
{
    return component->push_task == stealing_push;
}
