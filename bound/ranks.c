/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/ranks.c - see ranks.h: dates along all paths, and the workers of each rank.
 *
 * Why they hold. Let T be the makespan of a run in which ranks keep their tasks.
 *
 * Heads and tails. A task starts after all that it waits for have ended, on its own rank or,
 * behind a message, on another one; none of them was faster than on the fastest worker of its rank;
 * and a message leaves when its sender's turn has come, and arrives least_ms later at the earliest.
 * So a task starts no earlier than its head, and ends no later than T minus its tail. The longest
 * path is the highest head + time of a task. What was sent early and depends on no task may have
 * arrived before the first submission: then the message takes no time.
 *
 * Workers. Let λ_c ≥ 0 be the prices of the area's linear program, with Σ n_c λ_c = 1, and
 * ω_t = min over variants of task t of λ_c · width · ms. In a time D, n_c workers of each class
 * execute tasks S with Σ_{t in S} ω_t ≤ Σ_c λ_c n_c D = D. Those of a set S are executed between the
 * least of their heads and T minus the least of their tails: so pieces of work ω_t with these heads
 * and tails are a problem of one machine (one_machine.h), whose end is no later than T. With
 * all tasks, and no heads and tails, it is the area.
 */
#include "bound/ranks_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bound/instance.h"
#include "bound/methods.h"
#include "bound/producers.h"
#include "bound/relaxed.h"

/* Of a rank's area: it is exact to rounding long before. */
#define AREA_SECONDS 10

/* --- the tasks of all ranks --- */

static int make_arrays(struct ranks_work *w)
{
    const struct orr_bound_ranks *p = w->problem;
    size_t n = 0, ndeps = 0;

    w->first = orr_bound_array((size_t)p->n + 1, sizeof(*w->first));
    w->producer = orr_bound_array(p->n, sizeof(*w->producer));
    if (!w->first || !w->producer)
        return -ENOMEM;
    for (unsigned r = 0; r < p->n; r++) {
        w->first[r] = (unsigned)n;
        n += p->graphs[r] ? p->graphs[r]->ntasks : 0;
        ndeps += p->graphs[r] ? p->graphs[r]->ndeps : 0;
    }
    w->first[p->n] = (unsigned)n;
    w->rank_of = orr_bound_array(n, sizeof(*w->rank_of));
    w->edges = orr_bound_array(p->nmessages, sizeof(*w->edges));
    w->in = orr_bound_array(p->nmessages, sizeof(*w->in));
    w->out = orr_bound_array(p->nmessages, sizeof(*w->out));
    w->first_in = orr_bound_array(n + 2, sizeof(*w->first_in));
    w->first_out = orr_bound_array(n + 2, sizeof(*w->first_out));
    w->first_later = orr_bound_array(n + 2, sizeof(*w->first_later));
    w->later = orr_bound_array(ndeps, sizeof(*w->later));
    w->order = orr_bound_array(n, sizeof(*w->order));
    w->ms = orr_bound_array(n, sizeof(*w->ms));
    w->head = orr_bound_array(n, sizeof(*w->head));
    w->tail = orr_bound_array(n, sizeof(*w->tail));
    w->is_task = orr_bound_array(n, sizeof(*w->is_task));
    w->needed = orr_bound_array(n, sizeof(*w->needed));
    w->rooted = orr_bound_array(n, sizeof(*w->rooted));
    return w->rank_of && w->edges && w->in && w->out && w->first_in && w->first_out &&
                   w->first_later && w->later && w->order && w->ms && w->head && w->tail &&
                   w->is_task && w->needed && w->rooted
               ? 0
               : -ENOMEM;
}

static void ranks_work_done(struct ranks_work *w)
{
    for (unsigned r = 0; w->producer && r < w->problem->n; r++)
        free(w->producer[r]);
    free(w->producer);
    free(w->first);
    free(w->rank_of);
    free(w->edges);
    free(w->in);
    free(w->out);
    free(w->first_in);
    free(w->first_out);
    free(w->first_later);
    free(w->later);
    free(w->order);
    free(w->ms);
    free(w->head);
    free(w->tail);
    free(w->is_task);
    free(w->needed);
    free(w->rooted);
}

/* The least that a task of the type takes. */
static double least_of_type(struct ranks_work *w, const struct orr_graph *graph,
                            const struct orr_graph_task_type *type)
{
    double least = INFINITY;

    for (unsigned k = 0; k < graph->nworkers; k++) {
        double ms = type->mean_ms[k] - w->problem->optimism * type->deviation_ms[k];

        if (isnan(type->mean_ms[k])) {
            w->result->unknown = true;
            return 0;
        }
        least = fmin(least, fmax(0, ms));
    }
    return isfinite(least) ? least : 0;
}

static int take_rank(struct ranks_work *w, unsigned rank)
{
    const struct orr_graph *graph = w->problem->graphs[rank];
    unsigned first = w->first[rank];
    double *least = orr_bound_array(graph->ntypes, sizeof(*least));

    if (!least)
        return -ENOMEM;
    for (unsigned k = 0; k < graph->ntypes; k++)
        least[k] = least_of_type(w, graph, &graph->types[k]);
    for (unsigned t = 0; t < graph->ntasks; t++) {
        const struct orr_graph_task *task = &graph->tasks[t];

        w->rank_of[first + t] = rank;
        w->ms[first + t] = least[task->type];
        w->is_task[first + t] = orr_graph_is_task(graph, t);
        for (unsigned e = 0; e < task->ndeps; e++)
            w->first_later[first + graph->deps[task->first_dep + e].task + 2]++;
    }
    free(least);
    return 0;
}

static void fill_later(struct ranks_work *w)
{
    unsigned n = w->first[w->problem->n];

    for (unsigned t = 0; t < n; t++)
        w->first_later[t + 2] += w->first_later[t + 1];
    for (unsigned t = 0; t < n; t++) {
        const struct orr_graph_task *task = ranks_task(w, t);
        unsigned rank = w->rank_of[t];
        const struct orr_graph_dep *deps =
            &w->problem->graphs[rank]->deps[task->first_dep];

        for (unsigned e = 0; e < task->ndeps; e++)
            w->later[w->first_later[w->first[rank] + deps[e].task + 1]++] = t;
    }
}

/* How long they take is known when it is known what they depend on. */
static void take_messages(struct ranks_work *w)
{
    const struct orr_bound_ranks *p = w->problem;
    unsigned n = w->first[p->n];

    for (unsigned m = 0; m < p->nmessages; m++) {
        const struct orr_bound_message *message = &p->messages[m];

        w->edges[m] = (struct ranks_edge){.from = w->first[message->from] + message->sent,
                                          .to = w->first[message->to] + message->received};
        w->first_out[w->edges[m].from + 2]++;
        w->first_in[w->edges[m].to + 2]++;
    }
    for (unsigned t = 0; t < n; t++) {
        w->first_out[t + 2] += w->first_out[t + 1];
        w->first_in[t + 2] += w->first_in[t + 1];
    }
    for (unsigned m = 0; m < p->nmessages; m++) {
        w->out[w->first_out[w->edges[m].from + 1]++] = m;
        w->in[w->first_in[w->edges[m].to + 1]++] = m;
    }
}

/* Kahn, over dependencies and messages. */
static int sort_all(struct ranks_work *w)
{
    unsigned n = w->first[w->problem->n], placed = 0;
    unsigned *left = orr_bound_array(n, sizeof(*left));

    if (!left)
        return -ENOMEM;
    for (unsigned t = 0; t < n; t++) {
        left[t] = ranks_task(w, t)->ndeps + w->first_in[t + 1] - w->first_in[t];
        if (left[t] == 0)
            w->order[placed++] = t;
    }
    for (unsigned at = 0; at < placed; at++) {
        unsigned t = w->order[at];

        for (unsigned e = w->first_later[t]; e < w->first_later[t + 1]; e++)
            if (--left[w->later[e]] == 0)
                w->order[placed++] = w->later[e];
        for (unsigned e = w->first_out[t]; e < w->first_out[t + 1]; e++)
            if (--left[w->edges[w->out[e]].to] == 0)
                w->order[placed++] = w->edges[w->out[e]].to;
    }
    free(left);
    return placed == n ? 0
                       : orr_fail(w->err, -EINVAL,
                                  "the messages and dependencies of the ranks are a cycle: "
                                  "are their graphs of one run?");
}

static int join_all(struct ranks_work *w)
{
    const struct orr_bound_ranks *p = w->problem;
    int rc = make_arrays(w);

    for (unsigned r = 0; r < p->n && !rc; r++)
        if (p->graphs[r]) {
            unsigned *order = NULL;

            rc = take_rank(w, r);
            if (!rc)
                rc = orr_bound_producers(p->graphs[r], &order, &w->producer[r]);
            free(order);
        }
    if (rc)
        return rc;
    fill_later(w);
    take_messages(w);
    return sort_all(w);
}

/* --- dates --- */

/* The one edge into or out of a task that makes its head, for the path's description. */
struct step {
    unsigned from;    /* task; the task itself: none */
    unsigned message; /* number; UINT32_MAX: a dependency */
};

static void raise_head(struct ranks_work *w, unsigned task, double head, struct step *by,
                       struct step step)
{
    if (!(head > w->head[task]))
        return;
    w->head[task] = head;
    by[task] = step;
}

/* In the order: what is before a task is known. */
static void pass_on(struct ranks_work *w, unsigned t, struct step *by)
{
    const struct orr_bound_ranks *p = w->problem;
    double end = w->head[t] + w->ms[t];

    w->rooted[t] |= w->is_task[t];
    for (unsigned e = w->first_later[t]; e < w->first_later[t + 1]; e++) {
        w->rooted[w->later[e]] |= w->rooted[t];
        raise_head(w, w->later[e], end, by, (struct step){t, UINT32_MAX});
    }
    for (unsigned e = w->first_out[t]; e < w->first_out[t + 1]; e++) {
        unsigned m = w->out[e];
        struct ranks_edge *edge = &w->edges[m];

        edge->counts = w->rooted[t] || !p->messages[m].early;
        if (edge->counts && ranks_node(w, t) != ranks_node(w, edge->to))
            edge->ms = p->least_ms(p->arg, ranks_node(w, t), ranks_node(w, edge->to),
                                   p->messages[m].bytes);
        w->rooted[edge->to] |= w->rooted[t];
        raise_head(w, edge->to, end + edge->ms, by, (struct step){t, m});
    }
}

/* Against the order: what is after a task is known. */
static void look_back(struct ranks_work *w, unsigned t)
{
    double tail = 0;

    w->needed[t] = w->is_task[t];
    for (unsigned e = w->first_later[t]; e < w->first_later[t + 1]; e++)
        if (w->needed[w->later[e]]) {
            w->needed[t] = true;
            tail = fmax(tail, w->ms[w->later[e]] + w->tail[w->later[e]]);
        }
    for (unsigned e = w->first_out[t]; e < w->first_out[t + 1]; e++) {
        const struct ranks_edge *edge = &w->edges[w->out[e]];

        if (w->needed[edge->to]) {
            w->needed[t] = true;
            tail = fmax(tail, edge->ms + w->ms[edge->to] + w->tail[edge->to]);
        }
    }
    w->tail[t] = tail;
}

static void describe_path(struct ranks_work *w, unsigned last, const struct step *by)
{
    struct orr_bound_ranks_result *ret = w->result;

    ret->path_ms = w->head[last] + w->ms[last];
    for (unsigned t = last;; t = by[t].from) {
        ret->path_tasks += w->is_task[t];
        if (by[t].from == t)
            return;
        if (by[t].message != UINT32_MAX && w->edges[by[t].message].ms > 0) {
            ret->path_messages++;
            ret->path_messages_ms += w->edges[by[t].message].ms;
        }
    }
}

static int find_dates(struct ranks_work *w)
{
    unsigned n = w->first[w->problem->n], last = UINT32_MAX;
    struct step *by = orr_bound_array(n, sizeof(*by));

    if (!by)
        return -ENOMEM;
    for (unsigned t = 0; t < n; t++)
        by[t] = (struct step){t, UINT32_MAX};
    for (unsigned at = 0; at < n; at++)
        pass_on(w, w->order[at], by);
    for (unsigned at = n; at-- > 0;)
        look_back(w, w->order[at]);
    for (unsigned t = 0; t < n; t++)
        if (w->is_task[t] &&
            (last == UINT32_MAX || w->head[t] + w->ms[t] > w->head[last] + w->ms[last]))
            last = t;
    if (last != UINT32_MAX)
        describe_path(w, last, by);
    free(by);
    return 0;
}

/* --- workers --- */

/* ω of each type, 0 of those without tasks. */
static void weigh_types(const struct orr_bound_instance *in, const double *price,
                        double *weight)
{
    double sum = 0;

    for (unsigned c = 0; c < in->nclasses; c++)
        sum += in->classes[c].size * price[c];
    for (unsigned k = 0; k < in->ntypes; k++) {
        double least = INFINITY;

        for (unsigned v = 0; v < in->types[k].nvariants; v++) {
            const struct orr_bound_variant *variant =
                &in->variants[in->types[k].first_variant + v];

            least = fmin(least, price[variant->class] * variant->width * variant->ms / sum);
        }
        weight[k] = isfinite(least) && sum > 0 ? least : 0;
    }
}

static int bound_workers(struct ranks_work *w, unsigned rank,
                         const struct orr_bound_instance *in, const double *price)
{
    struct orr_bound_rank *ret = &w->result->ranks[rank];
    double *weight = orr_bound_array(in->ntypes, sizeof(*weight));
    struct orr_bound_piece *pieces = orr_bound_array(in->ntasks, sizeof(*pieces));
    unsigned n = 0;
    int rc = weight && pieces ? 0 : -ENOMEM;

    if (!rc)
        weigh_types(in, price, weight);
    for (unsigned t = 0; t < in->ntasks && !rc; t++) {
        unsigned all = w->first[rank] + t;

        if (!w->is_task[all])
            continue;
        ret->ntasks++;
        ret->area_ms += weight[in->type[t]];
        pieces[n++] = (struct orr_bound_piece){w->head[all], weight[in->type[t]], w->tail[all]};
    }
    if (!rc)
        rc = orr_bound_one_machine(pieces, n, &ret->ms);
    free(weight);
    free(pieces);
    return rc;
}

static int bound_rank(struct ranks_work *w, unsigned rank)
{
    const struct orr_bound_instance_options options = {.optimism = w->problem->optimism,
                                                       .across_nodes = true};
    struct orr_bound_instance *in = NULL;
    struct orr_area_solution solution = {0};
    unsigned unknown = 0, t = w->first[rank];
    int rc;

    while (t < w->first[rank + 1] && !w->is_task[t])
        t++;
    if (t == w->first[rank + 1]) /* it only passes messages on */
        return 0;
    rc = orr_bound_instance_new(w->problem->graphs[rank], &options, &in, &unknown, w->err);
    if (rc)
        return rc == -ENOMEM ? rc : -EINVAL;
    w->result->unknown |= unknown > 0;
    w->result->ranks[rank].nworkers = w->problem->graphs[rank]->nworkers;
    solution.x = orr_bound_array(in->nvariants, sizeof(*solution.x));
    solution.price = orr_bound_array(in->nclasses, sizeof(*solution.price));
    rc = solution.x && solution.price
             ? orr_bound_area_solve(in, 1e-6, orr_bound_clock() + AREA_SECONDS, &solution)
             : -ENOMEM;
    /* The prices of a search that ended early are prices, too. */
    if (rc != -ENOMEM)
        rc = bound_workers(w, rank, in, solution.price);
    free(solution.x);
    free(solution.price);
    orr_bound_instance_free(in);
    return rc;
}

/* --- all of it --- */

int orr_bound_ranks_compute(const struct orr_bound_ranks *problem,
                            struct orr_bound_ranks_result *ret, struct orr_error *err)
{
    struct ranks_work w = {.problem = problem, .result = ret, .err = err};
    int rc = -ENOMEM;

    *ret = (struct orr_bound_ranks_result){
        .ranks = orr_bound_array(problem->n, sizeof(*ret->ranks))};
    if (ret->ranks)
        rc = join_all(&w);
    if (!rc)
        rc = find_dates(&w);
    for (unsigned r = 0; r < problem->n && !rc; r++)
        if (problem->graphs[r])
            rc = bound_rank(&w, r);
    if (!rc)
        rc = orr_bound_ranks_traffic(&w);
    ranks_work_done(&w);
    return rc;
}

void orr_bound_ranks_done(struct orr_bound_ranks_result *result)
{
    for (unsigned c = 0; c < result->ncuts; c++)
        free(result->traffic[c]);
    free(result->traffic);
    free(result->ranks);
    *result = (struct orr_bound_ranks_result){0};
}
