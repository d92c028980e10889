/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/optimise/plan.c - see plan.h. */
#include "tools/optimise/plan.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

double plan_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

static unsigned random_below(uint64_t *random, unsigned n)
{
    return (unsigned)(plan_random(random) * n);
}

int plan_new(const struct orr_graph *graph, struct plan *ret)
{
    ret->worker = calloc(graph->ntasks + 1, sizeof(*ret->worker));
    ret->when = calloc(graph->ntasks + 1, sizeof(*ret->when));
    ret->ms = (double)NAN;
    if (ret->worker && ret->when)
        return 0;
    plan_done(ret);
    return -ENOMEM;
}

void plan_copy(const struct orr_graph *graph, struct plan *to,
               const struct plan *from)
{
    memcpy(to->worker, from->worker, graph->ntasks * sizeof(*to->worker));
    memcpy(to->when, from->when, graph->ntasks * sizeof(*to->when));
    to->ms = from->ms;
}

void plan_done(struct plan *plan)
{
    free(plan->worker);
    free(plan->when);
    *plan = (struct plan){.ms = (double)NAN};
}

void plan_from_run(const struct orr_graph *graph, struct plan *ret)
{
    for (unsigned t = 0; t < graph->ntasks; t++) {
        ret->worker[t] = graph->tasks[t].worker;
        ret->when[t] = graph->tasks[t].start_ms;
    }
    ret->ms = (double)NAN;
}

/* --- list scheduling --- */

static double task_time_on_worker(const struct orr_graph *graph, unsigned task,
                                  unsigned worker)
{
    return graph->types[graph->tasks[task].type].mean_ms[worker];
}

static bool worker_can_run_task(const struct orr_graph *graph, unsigned task,
                                unsigned worker)
{
    return isfinite(task_time_on_worker(graph, task, worker));
}

static double mean_time(const struct orr_graph *graph, unsigned task)
{
    double sum = 0;
    unsigned n = 0;

    for (unsigned w = 0; w < graph->nworkers; w++)
        if (worker_can_run_task(graph, task, w)) {
            sum += task_time_on_worker(graph, task, w);
            n++;
        }
    return n ? sum / n : 0;
}

/* Bytes per ms between different memories, on average of the machine's routes. */
static double mean_bandwidth(const struct orr_graph *graph)
{
    double sum = 0;
    unsigned n = 0;

    for (unsigned r = 0; r < graph->nroutes; r++) {
        double least = INFINITY;

        for (unsigned l = 0; l < graph->routes[r].nlinks; l++) {
            unsigned link = graph->route_links[graph->routes[r].first_link + l];

            least = fmin(least, graph->links[link].bandwidth);
        }
        if (isfinite(least) && least > 0) {
            sum += least;
            n++;
        }
    }
    return n ? sum / n : (double)INFINITY;
}

struct list {
    const struct orr_graph *graph;
    double bandwidth;
    double *rank, *end, *free; /* per task, per task, per worker */
    unsigned *order, *waiting; /* per task */
};

/* Tasks such that each comes behind those that it waits for. */
static unsigned list_sort_topologically(struct list *l)
{
    const struct orr_graph *g = l->graph;
    unsigned n = 0, before;

    /* Dependencies mostly point back: few rounds do. */
    for (unsigned t = 0; t < g->ntasks; t++)
        l->waiting[t] = 1;
    do {
        before = n;
        for (unsigned t = 0; t < g->ntasks; t++) {
            bool ready = l->waiting[t];

            for (unsigned d = 0; ready && d < g->tasks[t].ndeps; d++)
                ready = !l->waiting[g->deps[g->tasks[t].first_dep + d].task];
            if (ready) {
                l->waiting[t] = 0;
                l->order[n++] = t;
            }
        }
    } while (n > before);
    return n;
}

static void list_find_ranks(struct list *l, unsigned n, double noise,
                            uint64_t *random)
{
    const struct orr_graph *g = l->graph;

    for (unsigned i = n; i-- > 0;) {
        unsigned t = l->order[i];

        l->rank[t] +=
            mean_time(g, t) * (1 + noise * (2 * plan_random(random) - 1));
        for (unsigned d = 0; d < g->tasks[t].ndeps; d++) {
            const struct orr_graph_dep *dep =
                &g->deps[g->tasks[t].first_dep + d];
            double through = l->rank[t] + (double)dep->bytes / l->bandwidth / 2;

            if (through > l->rank[dep->task])
                l->rank[dep->task] = through;
        }
    }
}

/* When the data of the task can be in the worker's memory. */
static double list_data_arrival(const struct list *l, const struct plan *plan,
                                unsigned t, unsigned worker)
{
    const struct orr_graph *g = l->graph;
    double there = 0;

    for (unsigned d = 0; d < g->tasks[t].ndeps; d++) {
        const struct orr_graph_dep *dep = &g->deps[g->tasks[t].first_dep + d];
        unsigned from = plan->worker[dep->task];
        double at = l->end[dep->task];

        if (from != ORR_GRAPH_NOT_RUN &&
            g->workers[from].node != g->workers[worker].node)
            at += (double)dep->bytes / l->bandwidth;
        there = fmax(there, at);
    }
    return there;
}

static void list_place_task(struct list *l, unsigned t, struct plan *plan)
{
    const struct orr_graph *g = l->graph;
    double best = INFINITY;

    plan->worker[t] = ORR_GRAPH_NOT_RUN;
    for (unsigned w = 0; w < g->nworkers; w++) {
        double start, end;

        if (!worker_can_run_task(g, t, w))
            continue;
        start = fmax(l->free[w], list_data_arrival(l, plan, t, w));
        end = start + task_time_on_worker(g, t, w);
        if (end < best) {
            best = end;
            plan->worker[t] = w;
            plan->when[t] = start;
        }
    }
    l->end[t] = isfinite(best) ? best : list_data_arrival(l, plan, t, 0);
    if (plan->worker[t] != ORR_GRAPH_NOT_RUN)
        l->free[plan->worker[t]] = best;
}

/* A rank is not below those behind it, so that sorting by it keeps dependencies; of
 * tasks without time the earlier one, which others mostly wait for, comes first. */
static int task_compare_rank(const void *a, const void *b, void *arg)
{
    const double *rank = arg;
    unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;

    if (rank[left] != rank[right])
        return rank[left] > rank[right] ? -1 : 1;
    return left < right ? -1 : left > right;
}

int plan_list(const struct orr_graph *graph, double noise, uint64_t *random,
              struct plan *ret)
{
    size_t n = graph->ntasks + 1;
    struct list l = {.graph = graph,
                     .bandwidth = mean_bandwidth(graph),
                     .rank = calloc(n, sizeof(double)),
                     .end = calloc(n, sizeof(double)),
                     .free = calloc(graph->nworkers + 1, sizeof(double)),
                     .order = calloc(n, sizeof(unsigned)),
                     .waiting = calloc(n, sizeof(unsigned))};
    int rc = -ENOMEM;

    if (l.rank && l.end && l.free && l.order && l.waiting) {
        unsigned sorted = list_sort_topologically(&l);

        list_find_ranks(&l, sorted, noise, random);
        qsort_r(l.order, sorted, sizeof(*l.order), task_compare_rank, l.rank);
        for (unsigned i = 0; i < sorted; i++)
            list_place_task(&l, l.order[i], ret);
        ret->ms = (double)NAN;
        rc = 0;
    }
    free(l.rank);
    free(l.end);
    free(l.free);
    free(l.order);
    free(l.waiting);
    return rc;
}

/* --- local search --- */

/* To another worker that can; one of two draws, the faster. */
static void plan_move_task(const struct orr_graph *graph, uint64_t *random,
                           struct plan *plan, unsigned t)
{
    unsigned best = random_below(random, graph->nworkers);
    unsigned other = random_below(random, graph->nworkers);

    if (!worker_can_run_task(graph, t, best) ||
        (worker_can_run_task(graph, t, other) &&
         task_time_on_worker(graph, t, other) <
             task_time_on_worker(graph, t, best)))
        best = other;
    if (worker_can_run_task(graph, t, best))
        plan->worker[t] = best;
}

static void plan_exchange_tasks(const struct orr_graph *graph,
                                struct plan *plan, unsigned a, unsigned b)
{
    unsigned of_a = plan->worker[a], of_b = plan->worker[b];

    if (of_a == ORR_GRAPH_NOT_RUN || of_b == ORR_GRAPH_NOT_RUN ||
        !worker_can_run_task(graph, a, of_b) ||
        !worker_can_run_task(graph, b, of_a))
        return;
    plan->worker[a] = of_b;
    plan->worker[b] = of_a;
}

static double last_date(const struct orr_graph *graph, const struct plan *plan)
{
    double last = 0;

    for (unsigned t = 0; t < graph->ntasks; t++)
        if (plan->when[t] > last)
            last = plan->when[t];
    return last;
}

void plan_change(const struct orr_graph *graph, uint64_t *random,
                 struct plan *plan)
{
    unsigned changes = 1U << random_below(random, 4);
    double reach = last_date(graph, plan) / 10;

    while (changes-- > 0) {
        unsigned t = random_below(random, graph->ntasks);

        switch (random_below(random, 4)) {
        case 0:
            plan_exchange_tasks(graph, plan, t,
                                random_below(random, graph->ntasks));
            break;
        case 1:
            plan_move_task(graph, random, plan, t);
            break;
        default:
            plan->when[t] += reach * (2 * plan_random(random) - 1.5);
        }
    }
    plan->ms = (double)NAN;
}
