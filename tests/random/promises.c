/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/promises.c - see promises.h. */
#include "promises.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The whole of what is promised. Deques and queues whose owner takes the oldest
 * first and thieves the newest promise no age but to the owner. */
static const struct promise promises[] = {
    {"eager", EVERYBODY, .age = true},
    {"prio", EVERYBODY, .priority = true, .age = true},
    {"peager", EVERYBODY, .priority = true, .age = true},
    {"random", MINE, .priority = true, .age = true, .listed = true},
    {"lws", RELEASED, .priority = true, .age = true},
    {"ws", RELEASED, .priority = true, .age = true},
    {"dm", MINE, .age = true},
    {"dmda", MINE, .age = true},
    {"dmdap", MINE, .priority = true, .age = true},
    /* The rest is by what data are there. */
    {"dmdar", MINE, .least = true},
    {"dmdas", MINE, .priority = true},
    {"dmdasd", MINE, .priority = true},
    {"robust", MINE, .priority = true},
    {"pheft", MINE, .priority = true, .age = true, .listed = true},

    {"modular-eager", EVERYBODY, .priority = true, .positive = true,
     .age = true},
    {"modular-prio", EVERYBODY, .priority = true, .age = true},
    /* Who has made a task ready takes the newest one first. */
    {"modular-ws", RELEASED, .priority = true, .alone = true},
    {"modular-dmda", MINE, .priority = true, .positive = true, .age = true,
     .alone = true},
    {"modular-dmdap", MINE, .priority = true, .age = true, .alone = true},
    {"modular-dmdar", MINE, .priority = true, .positive = true, .alone = true},
    {"modular-dmdas", MINE, .priority = true, .alone = true},
    /* The queue above is emptied when somebody has nothing left. */
    {"modular-random", MINE, .priority = true, .age = true, .later = true},
    {"modular-random-prio", MINE, .priority = true, .age = true, .later = true},
    /* What is in a short queue below comes before what waits above. */
    {"modular-eager-prefetching", MINE, .priority = true, .positive = true,
     .most = 2},
    {"modular-eager-prio", MINE, .priority = true, .most = 2, .alone = true},
    {"modular-prio-prefetching", MINE, .priority = true, .most = 2},
    {"modular-random-prefetching", MINE, .priority = true, .positive = true,
     .most = 2},
    {"modular-random-prio-prefetching", MINE, .priority = true, .most = 2},
    {"modular-prandom", MINE, .priority = true, .positive = true, .most = 2},
    {"modular-prandom-prio", MINE, .priority = true, .most = 2},
    {"modular-heft", MINE, .priority = true, .most = 30},
    {"modular-heft2", MINE, .priority = true, .most = 30, .doubled = true},
    {"modular-pheft", MINE, .priority = true, .most = 30},
    {"modular-heft-prio", NODE, .priority = true, .most = 30},
    {"modular-gemm", NODE, .priority = true, .most = 2},

    /* Buckets, the newest first in each; acceleration; the depth of the graph; data;
     * a plan. */
    {"heteroprio", NOBODY, .priority = false},
    {"modular-heteroprio", NOBODY, .priority = false},
    {"modular-heteroprio-heft", NOBODY, .priority = false},
    {"graph_test", NOBODY, .priority = false},
    {"memaware", NOBODY, .priority = false},
    {"plan-heft", NOBODY, .priority = false},
};

const struct promise *promise_of(const char *policy)
{
    for (unsigned i = 0; i < sizeof(promises) / sizeof(*promises); i++)
        if (!strcmp(promises[i].policy, policy))
            return &promises[i];
    return NULL;
}

/* -- watching -- */

static uint16_t able_of(const struct seen *seen, struct starpu_task *task)
{
    uint16_t able = 0;

    for (unsigned w = 0; w < machine_workers(seen->machine); w++)
        if (starpu_worker_can_execute_task_first_impl(w, task, NULL))
            able |= (uint16_t)(1U << w);
    return able;
}

static void is_ready(void *arg)
{
    struct watched *w = arg;
    unsigned t = w->call->task;

    w->seen->of_task[t].able = able_of(w->seen, w->seen->tasks[t]);
    w->seen->of_task[t].by = (int8_t)starpu_worker_get_id();
}

static bool is_with_policy(const struct starpu_task *task)
{
    const struct timespec *pushed = &task->profiling_info->push_end_time;

    return pushed->tv_sec || pushed->tv_nsec;
}

static void is_taken(void *arg)
{
    struct watched *w = arg;
    struct seen *seen = w->seen;
    unsigned me = w->call->task;
    struct taken *taken = &seen->taken[seen->ntaken];

    if (seen->ready >> me & 1)
        seen->ready &= ~bit(me);
    else
        seen->often |= bit(me);
    if (seen->ntaken == sizeof(seen->taken) / sizeof(*seen->taken))
        return;
    seen->ntaken++;
    seen->of_task[me].pushed = seen->tasks[me]->profiling_info->push_end_time;
    seen->of_task[me].worker = (uint8_t)starpu_worker_get_id_check();
    *taken =
        (struct taken){.task = (uint8_t)me, .worker = seen->of_task[me].worker};
    for (unsigned t = 0; t < MAX_TASKS; t++)
        if (seen->ready >> t & 1 && is_with_policy(seen->tasks[t]))
            taken->ready |= bit(t);
}

void seen_begin(struct seen *seen, const struct machine *machine,
                const struct graph *graph, struct starpu_task *const *tasks)
{
    memset(seen, 0, sizeof(*seen));
    seen->machine = machine;
    seen->tasks = tasks;
    for (unsigned i = 0; i < graph->ncalls; i++) {
        const struct call *call = &graph->calls[i];

        seen->away |= call->away != 0;
        seen->hidden |= call->kind == CALL_COPY;
    }
    for (unsigned i = 0; i < graph->ndata; i++)
        seen->hidden |= graph->data[i].redux;
}

void seen_watch(struct seen *seen, const struct call *call,
                struct starpu_task *task)
{
    struct watched *w = &seen->watched[call->task];

    *w = (struct watched){seen, call};
    seen->ready |= bit(call->task);
    free(task->profiling_info);
    task->profiling_info = calloc(1, sizeof(*task->profiling_info));
    if (!task->profiling_info)
        abort();
    task->prologue_callback_func = is_ready;
    task->prologue_callback_arg = w;
    task->prologue_callback_pop_func = is_taken;
    task->prologue_callback_pop_arg = w;
}

/* -- judging -- */

/* Two tasks: `first` was taken by `worker` when `other` was with the policy, too. */
struct pair {
    const struct seen *seen;
    const struct promise *promise;
    const struct call *first, *other;
    unsigned worker;
};

enum rank { NOT_RANKED, RIGHT, PASSED_BY };

static int priority_in(const struct promise *promise, const struct call *call)
{
    return promise->positive && call->priority < 0 ? 0 : call->priority;
}

/* Positive: `a` was pushed later. */
static int compare_age(const struct seen *seen, unsigned a, unsigned b)
{
    const struct timespec *s = &seen->of_task[a].pushed;
    const struct timespec *t = &seen->of_task[b].pushed;

    if (s->tv_sec != t->tv_sec)
        return s->tv_sec > t->tv_sec ? 1 : -1;
    return (s->tv_nsec > t->tv_nsec) - (s->tv_nsec < t->tv_nsec);
}

/* What cannot be told from outside is not judged: where a task was when its worker
 * left, or gave it back. */
static bool is_clear(const struct seen *seen, const struct call *call)
{
    return !(seen->often >> call->task & 1) && !(seen->away && call->in_second);
}

static bool names_worker(const struct call *call)
{
    return call->worker >= 0;
}

static bool in_scope(const struct pair *p)
{
    const struct seen *seen = p->seen;
    unsigned a = p->first->task, b = p->other->task;

    if (p->first->in_second != p->other->in_second ||
        !(seen->of_task[b].able >> p->worker & 1))
        return false;
    switch (p->promise->scope) {
    case EVERYBODY:
        return true;
    case RELEASED:
        return seen->of_task[a].by >= 0 &&
               seen->of_task[a].by == seen->of_task[b].by &&
               seen->of_task[a].able >> seen->of_task[a].by & 1 &&
               seen->of_task[b].able >> seen->of_task[b].by & 1;
    case MINE:
        return seen->of_task[b].worker == p->worker;
    case NODE:
        return starpu_worker_get_memory_node(seen->of_task[b].worker) ==
               starpu_worker_get_memory_node(p->worker);
    default:
        return false;
    }
}

static enum rank by_priority_and_age(const struct pair *p, bool priority,
                                     bool age)
{
    bool listed = names_worker(p->first) || names_worker(p->other);
    int a = listed ? p->first->priority : priority_in(p->promise, p->first);
    int b = listed ? p->other->priority : priority_in(p->promise, p->other);
    int later = compare_age(p->seen, p->first->task, p->other->task);

    if (priority && a != b)
        return a < b ? PASSED_BY : RIGHT;
    if (!age || later == 0)
        return NOT_RANKED;
    return later > 0 ? PASSED_BY : RIGHT;
}

/* Whether no task that was ready in the scope is as old as the other one. */
static bool is_oldest(const struct pair *p, uint64_t ready)
{
    struct pair q = *p;

    for (unsigned t = 0; t < MAX_TASKS; t++) {
        if (!(ready >> t & 1) || t == p->other->task)
            continue;
        q.other = p->seen->watched[t].call;
        if (in_scope(&q) && compare_age(p->seen, t, p->other->task) <= 0)
            return false;
    }
    return compare_age(p->seen, p->first->task, p->other->task) > 0;
}

/* In a worker's own list. */
static enum rank rank_listed(const struct pair *p)
{
    bool first = names_worker(p->first), other = names_worker(p->other);

    if (p->seen->of_task[p->other->task].worker != p->worker)
        return NOT_RANKED;
    if (!p->promise->listed && first != other)
        return other ? PASSED_BY : RIGHT;
    return by_priority_and_age(p, true, true);
}

static enum rank rank(const struct pair *p, uint64_t ready)
{
    const struct promise *promise = p->promise;
    const struct seen *seen = p->seen;
    unsigned a = p->first->task, b = p->other->task;
    bool age = promise->age;

    if (!is_clear(seen, p->first) || !is_clear(seen, p->other))
        return NOT_RANKED;
    if (promise->listed || names_worker(p->first) || names_worker(p->other))
        return rank_listed(p);
    if (!in_scope(p))
        return NOT_RANKED;
    if (promise->least) {
        if (seen->hidden || p->first->priority == p->other->priority ||
            !is_oldest(p, ready))
            return NOT_RANKED;
        return p->first->priority < p->other->priority ? PASSED_BY : RIGHT;
    }
    if ((promise->later || promise->most) &&
        seen->of_task[a].able != seen->of_task[b].able)
        return NOT_RANKED;
    if (promise->later && compare_age(seen, a, b) <= 0)
        return NOT_RANKED;
    if (promise->scope == RELEASED && seen->of_task[a].by != (int)p->worker)
        age = false;
    return by_priority_and_age(p, promise->priority, age);
}

static void tell(const struct pair *p, unsigned often, char *ret, size_t size)
{
    int n = snprintf(ret, size,
                     "%s: task %u of priority %d waits while worker %u takes "
                     "task %u of priority %d, which came %s",
                     p->promise->policy, p->other->task, p->other->priority,
                     p->worker, p->first->task, p->first->priority,
                     compare_age(p->seen, p->first->task, p->other->task) > 0
                         ? "later"
                         : "no later");

    if (often > 1 && n > 0 && (size_t)n < size)
        snprintf(ret + n, size - (size_t)n, ", the last of %u", often);
}

/* What is left of the promise on this machine. */
static struct promise promise_on(const struct machine *machine,
                                 const struct promise *promise)
{
    struct promise here = *promise;

    if (promise->most && machine->queued)
        here.most = machine->queued;
    if (promise->doubled)
        here.most *= 2;
    if (promise->alone && machine_workers(machine) == 1) {
        here.positive = true;
        /* Negative ones come down by age, and go by priority then. */
        here.age = false;
        here.most = here.most ? here.most : 1;
    }
    return here;
}

unsigned seen_judge(const struct seen *seen, const struct promise *promise,
                    char *ret_failure, size_t size)
{
    const struct promise here = promise_on(seen->machine, promise);
    unsigned nright = 0, passed[MAX_TASKS] = {0};

    *ret_failure = '\0';
    for (unsigned i = 0; i < seen->ntaken; i++)
        for (uint64_t left = seen->taken[i].ready; left; left &= left - 1) {
            unsigned other = (unsigned)__builtin_ctzll(left);
            struct pair p = {seen, &here,
                             seen->watched[seen->taken[i].task].call,
                             seen->watched[other].call, seen->taken[i].worker};
            enum rank is = rank(&p, seen->taken[i].ready);
            bool named = names_worker(p.first) || names_worker(p.other);

            nright += is == RIGHT && !named;
            if (is != PASSED_BY)
                continue;
            passed[other] += !named;
            if (named || passed[other] > here.most) {
                tell(&p, passed[other], ret_failure, size);
                return nright;
            }
        }
    return nright;
}
