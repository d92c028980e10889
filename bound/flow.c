/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/flow.c - the flow problem of flow.h, by the network simplex method.
 *
 * A task i is an arc from node 2i to node 2i + 1, one per variant that is worth
 * its price: on the lower convex hull of (ms, cost). Up to a capacity, where
 * the next faster variant begins to pay, its gain is the variant's ms; the
 * fastest variant has no capacity. Dependencies are arcs without gain. The tree
 * is rooted at the sink, and is kept strongly feasible (W. H. Cunningham,
 * Mathematical Programming 11 (1976) 105-116), so that the method ends.
 *
 * Flows and potentials are whole numbers, in units so small that rounding to
 * them does not matter, and large enough that no sum overflows: then errors do
 * not accumulate, and ties are exact. The value is computed from the unrounded
 * values.
 *
 * When prices change, the tree is kept: its flows are computed anew, subtrees
 * whose arc cannot carry them are attached to the sink by arcs of their own,
 * which cost so much that they leave the tree again.
 */
#include "bound/flow.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/methods.h"

#define UNIT_FLOW  (INT64_C(1) << 44) /* of all that flows */
#define UNBOUNDED  (INT64_C(1) << 60) /* more than can ever flow */
#define UNIT_GAIN  (INT64_C(1) << 50) /* no path is longer */
#define PIVOTS_ASK 1024               /* pivots between checks of the clock */

#define NONE UINT32_MAX

struct arc {
    unsigned from, to;
};

struct orr_flow {
    const struct orr_bound_instance *in;
    unsigned nnodes, narcs; /* without artificial ones */
    unsigned source, sink;
    unsigned nvariants;  /* arcs of variants come first, task by task */
    unsigned *first_arc; /* per task, and one more: its variants */
    unsigned *first_of;  /* per type, and one more: in by_type */
    unsigned *by_type;   /* tasks */
    double gain_unit;    /* of a ms */
    /* Per arc; those from `narcs` on are artificial: node v's is narcs + v. */
    struct arc *arcs;
    int64_t *gain, *flow, *capacity;
    int8_t *state; /* 1: at 0; −1: at capacity; 0: in the tree */
    /* Per node: the tree. */
    unsigned *parent, *arc;
    bool *up; /* the arc goes to the parent */
    unsigned *child, *next, *previous, *depth;
    int64_t *potential;
    /* Per variant of the instance: what it costs and may carry. */
    double *cost;
    int64_t *rung;     /* 0: the variant is not on the hull */
    unsigned *hull;    /* variants of a type, while its hull is made */
    unsigned *stack;   /* nodes */
    int64_t *excess;   /* nodes */
    double *through;   /* tasks: φ, mended */
    double *outflow;   /* tasks: what leaves on all arcs */
    double *length;    /* tasks */
    unsigned next_arc; /* where the search for an arc goes on */
    bool solved;       /* there is a tree of a former solution */
    int64_t expensive; /* gain of artificial arcs, negative */
    unsigned long pivots;
};

static unsigned type_of_arc(const struct orr_flow *f, unsigned arc)
{
    return f->in->type[f->arcs[arc].from / 2];
}

/* The instance's variant that an arc of a task stands for. */
static unsigned variant_of_arc(const struct orr_flow *f, unsigned arc)
{
    return f->in->types[type_of_arc(f, arc)].first_variant + arc -
           f->first_arc[f->arcs[arc].from / 2];
}

/* -- making -- */

static void add_arc(struct orr_flow *f, unsigned from, unsigned to)
{
    f->arcs[f->narcs] = (struct arc){from, to};
    f->capacity[f->narcs] = UNBOUNDED;
    f->narcs++;
}

static void make_arcs(struct orr_flow *f)
{
    const struct orr_bound_instance *in = f->in;

    for (unsigned i = 0; i < in->ntasks; i++) {
        const struct orr_bound_task_type *type = &in->types[in->type[i]];

        f->first_arc[i] = f->narcs;
        for (unsigned w = 0; w < type->nvariants; w++) {
            double ms = in->variants[type->first_variant + w].ms;

            f->gain[f->narcs] = llround(ms * f->gain_unit);
            add_arc(f, 2 * i, 2 * i + 1);
        }
    }
    f->nvariants = f->first_arc[in->ntasks] = f->narcs;
    for (unsigned i = 0; i < in->ntasks; i++) {
        for (unsigned e = in->first_succ[i]; e < in->first_succ[i + 1]; e++)
            add_arc(f, 2 * i + 1, 2 * in->succs[e]);
        if (in->first_succ[i] == in->first_succ[i + 1])
            add_arc(f, 2 * i + 1, f->sink);
        if (in->first_pred[i] == in->first_pred[i + 1])
            add_arc(f, f->source, 2 * i);
    }
    for (unsigned v = 0; v < f->nnodes; v++)
        f->gain[f->narcs + v] = f->expensive;
}

/* How long a path can be at most, whatever the variants. */
static double longest_path_limit(const struct orr_bound_instance *in)
{
    double sum = 0;

    for (unsigned k = 0; k < in->ntypes; k++) {
        const struct orr_bound_task_type *type = &in->types[k];
        double most = 0;

        for (unsigned w = 0; w < type->nvariants; w++)
            most = fmax(most, in->variants[type->first_variant + w].ms);
        sum += most * type->ntasks;
    }
    return sum;
}

static int flow_allocate(struct orr_flow *f, size_t arcs)
{
    const struct orr_bound_instance *in = f->in;
    size_t all = arcs + f->nnodes, nodes = f->nnodes;

    f->first_arc = calloc(in->ntasks + 1, sizeof(*f->first_arc));
    f->first_of = calloc(in->ntypes + 2, sizeof(*f->first_of));
    f->by_type = calloc(in->ntasks, sizeof(*f->by_type));
    f->arcs = calloc(all, sizeof(*f->arcs));
    f->gain = calloc(all, sizeof(*f->gain));
    f->flow = calloc(all, sizeof(*f->flow));
    f->capacity = calloc(all, sizeof(*f->capacity));
    f->state = calloc(all, sizeof(*f->state));
    f->parent = calloc(nodes, sizeof(*f->parent));
    f->arc = calloc(nodes, sizeof(*f->arc));
    f->up = calloc(nodes, sizeof(*f->up));
    f->child = calloc(nodes, sizeof(*f->child));
    f->next = calloc(nodes, sizeof(*f->next));
    f->previous = calloc(nodes, sizeof(*f->previous));
    f->depth = calloc(nodes, sizeof(*f->depth));
    f->potential = calloc(nodes, sizeof(*f->potential));
    f->cost = calloc(in->nvariants + 1, sizeof(*f->cost));
    f->rung = calloc(in->nvariants + 1, sizeof(*f->rung));
    f->hull = calloc(in->nvariants + 1, sizeof(*f->hull));
    f->stack = calloc(nodes, sizeof(*f->stack));
    f->excess = calloc(nodes, sizeof(*f->excess));
    f->through = calloc(in->ntasks, sizeof(*f->through));
    f->outflow = calloc(in->ntasks, sizeof(*f->outflow));
    f->length = calloc(in->ntasks, sizeof(*f->length));
    return f->first_arc && f->first_of && f->by_type && f->arcs && f->gain &&
                   f->flow && f->capacity && f->state && f->parent && f->arc &&
                   f->up && f->child && f->next && f->previous && f->depth &&
                   f->potential && f->cost && f->rung && f->hull && f->stack &&
                   f->excess && f->through && f->outflow && f->length
               ? 0
               : -ENOMEM;
}

static void sort_by_type(struct orr_flow *f)
{
    const struct orr_bound_instance *in = f->in;

    /* first_of[k + 1] counts up to where type k ends. */
    for (unsigned k = 0; k < in->ntypes; k++)
        f->first_of[k + 1] = f->first_of[k] + in->types[k].ntasks;
    for (unsigned i = 0; i < in->ntasks; i++)
        f->by_type[f->first_of[in->type[i]]++] = i;
    for (unsigned k = in->ntypes; k > 0; k--)
        f->first_of[k] = f->first_of[k - 1];
    f->first_of[0] = 0;
}

int orr_flow_new(const struct orr_bound_instance *instance,
                 struct orr_flow **ret)
{
    struct orr_flow *f = calloc(1, sizeof(*f));
    size_t arcs = instance->nedges + 2 * (size_t)instance->ntasks;
    double most = longest_path_limit(instance);

    if (!f)
        return -ENOMEM;
    for (unsigned k = 0; k < instance->ntypes; k++)
        arcs +=
            (size_t)instance->types[k].ntasks * instance->types[k].nvariants;
    f->in = instance;
    f->nnodes = 2 * instance->ntasks + 2;
    f->source = f->nnodes - 2;
    f->sink = f->nnodes - 1;
    f->gain_unit = most > 0 ? (double)UNIT_GAIN / most : 1;
    f->expensive = -2 * UNIT_GAIN;
    if (flow_allocate(f, arcs)) {
        orr_flow_free(f);
        return -ENOMEM;
    }
    make_arcs(f);
    sort_by_type(f);
    *ret = f;
    return 0;
}

void orr_flow_free(struct orr_flow *f)
{
    if (!f)
        return;
    free(f->first_arc);
    free(f->first_of);
    free(f->by_type);
    free(f->arcs);
    free(f->gain);
    free(f->flow);
    free(f->capacity);
    free(f->state);
    free(f->parent);
    free(f->arc);
    free(f->up);
    free(f->child);
    free(f->next);
    free(f->previous);
    free(f->depth);
    free(f->potential);
    free(f->cost);
    free(f->rung);
    free(f->hull);
    free(f->stack);
    free(f->excess);
    free(f->through);
    free(f->outflow);
    free(f->length);
    free(f);
}

/* -- prices -- */

/* The faster first; of equal ones the cheaper. */
static bool variant_precedes(const struct orr_flow *f, unsigned v, unsigned w)
{
    double a = f->in->variants[v].ms, b = f->in->variants[w].ms;

    return a < b || (a == b && f->cost[v] < f->cost[w]);
}

/* Cost per ms that is saved by variant v instead of the slower w. */
static double variant_cost_per_ms(const struct orr_flow *f, unsigned v,
                                  unsigned w)
{
    return (f->cost[v] - f->cost[w]) /
           (f->in->variants[w].ms - f->in->variants[v].ms);
}

/* Leaves in f->hull the variants of a type that are worth their price, the
 * fastest first; returns how many. */
static unsigned make_hull(struct orr_flow *f,
                          const struct orr_bound_task_type *type)
{
    unsigned *hull = f->hull, n = 0, sorted = 0;

    for (unsigned w = 0; w < type->nvariants; w++) {
        unsigned variant = type->first_variant + w, at = sorted++;

        for (; at > 0 && variant_precedes(f, variant, hull[at - 1]); at--)
            hull[at] = hull[at - 1];
        hull[at] = variant;
    }
    for (unsigned w = 0; w < sorted; w++) {
        unsigned variant = hull[w];

        if (n > 0 && f->cost[variant] >= f->cost[hull[n - 1]])
            continue;
        while (n > 1 && variant_cost_per_ms(f, hull[n - 1], variant) >=
                            variant_cost_per_ms(f, hull[n - 2], hull[n - 1]))
            n--;
        hull[n++] = variant;
    }
    return n;
}

/* How much may flow through a variant of each type. */
static void set_capacities(struct orr_flow *f, const double *price,
                           double path_price)
{
    const struct orr_bound_instance *in = f->in;
    double unit = (double)UNIT_FLOW / path_price;

    for (unsigned w = 0; w < in->nvariants; w++) {
        const struct orr_bound_variant *variant = &in->variants[w];

        f->cost[w] = price[variant->class] * variant->width * variant->ms;
        f->rung[w] = 0;
    }
    for (unsigned k = 0; k < in->ntypes; k++) {
        unsigned n = make_hull(f, &in->types[k]);
        double before = 0;

        for (unsigned h = n; h-- > 1;) {
            double until =
                variant_cost_per_ms(f, f->hull[h - 1], f->hull[h]) * unit;

            until = fmin(round(until), 2.0 * (double)UNIT_FLOW);
            f->rung[f->hull[h]] = (int64_t)(until - before);
            before = until;
        }
        if (n > 0)
            f->rung[f->hull[0]] = UNBOUNDED;
    }
    for (unsigned a = 0; a < f->nvariants; a++)
        f->capacity[a] = f->rung[variant_of_arc(f, a)];
}

/* -- the tree -- */

static void tree_attach(struct orr_flow *f, unsigned v, unsigned parent,
                        unsigned arc, bool up)
{
    f->parent[v] = parent;
    f->arc[v] = arc;
    f->up[v] = up;
    f->previous[v] = NONE;
    f->next[v] = f->child[parent];
    if (f->next[v] != NONE)
        f->previous[f->next[v]] = v;
    f->child[parent] = v;
}

static void tree_detach(struct orr_flow *f, unsigned v)
{
    if (f->previous[v] != NONE)
        f->next[f->previous[v]] = f->next[v];
    else
        f->child[f->parent[v]] = f->next[v];
    if (f->next[v] != NONE)
        f->previous[f->next[v]] = f->previous[v];
}

/* Potential: the gain of a unit on the path from the node to the sink. */
static void set_potential(struct orr_flow *f, unsigned v)
{
    unsigned p = f->parent[v];
    int64_t gain = f->gain[f->arc[v]];

    f->potential[v] = f->potential[p] + (f->up[v] ? gain : -gain);
    f->depth[v] = f->depth[p] + 1;
}

/* Lists the nodes below v, itself first, each after its parent. */
static unsigned list_subtree(struct orr_flow *f, unsigned v)
{
    unsigned n = 0;

    f->stack[n++] = v;
    for (unsigned i = 0; i < n; i++)
        for (unsigned c = f->child[f->stack[i]]; c != NONE; c = f->next[c])
            f->stack[n++] = c;
    return n;
}

static void update_subtree(struct orr_flow *f, unsigned v)
{
    unsigned n = list_subtree(f, v);

    for (unsigned i = 0; i < n; i++)
        set_potential(f, f->stack[i]);
}

/* The arc of task i's fastest variant that costs least. */
static unsigned fastest_arc(const struct orr_flow *f, unsigned i)
{
    const struct orr_bound_task_type *type = &f->in->types[f->in->type[i]];

    for (unsigned w = 0; w < type->nvariants; w++)
        if (f->rung[type->first_variant + w] == UNBOUNDED &&
            f->in->variants[type->first_variant + w].ms == type->best_ms)
            return f->first_arc[i] + w;
    return f->first_arc[i];
}

/* The first tree: the longest path to the sink from everywhere, all variants
 * the fastest. The arcs of each task are handled explicitly. */
static void first_tree(struct orr_flow *f)
{
    const struct orr_bound_instance *in = f->in;
    unsigned best = NONE;

    for (unsigned v = 0; v < f->nnodes; v++)
        f->child[v] = NONE;
    f->parent[f->sink] = NONE;
    f->arc[f->sink] = NONE;
    f->potential[f->sink] = 0;
    f->depth[f->sink] = 0;
    /* Per node 2i + 1, its arc on that path; arcs of edges know their ends. */
    for (unsigned v = 0; v < f->nnodes; v++)
        f->stack[v] = NONE;
    for (unsigned n = in->ntasks; n-- > 0;) {
        unsigned i = in->order[n];
        unsigned a = (unsigned)f->excess[i];

        for (; a < f->narcs && f->arcs[a].from == 2 * i + 1; a++)
            if (f->stack[i] == NONE ||
                f->potential[f->arcs[a].to] >
                    f->potential[f->arcs[f->stack[i]].to])
                f->stack[i] = a;
        tree_attach(f, 2 * i + 1, f->arcs[f->stack[i]].to, f->stack[i], true);
        set_potential(f, 2 * i + 1);
        tree_attach(f, 2 * i, 2 * i + 1, fastest_arc(f, i), true);
        set_potential(f, 2 * i);
    }
    for (unsigned a = f->nvariants; a < f->narcs; a++)
        if (f->arcs[a].from == f->source &&
            (best == NONE ||
             f->potential[f->arcs[a].to] > f->potential[f->arcs[best].to]))
            best = a;
    tree_attach(f, f->source, f->arcs[best].to, best, true);
    set_potential(f, f->source);
}

/* Where the arcs that leave each task begin, in f->excess. */
static void find_arcs(struct orr_flow *f)
{
    for (unsigned a = f->narcs; a-- > f->nvariants;)
        if (f->arcs[a].from != f->source)
            f->excess[f->arcs[a].from / 2] = a;
}

static void begin_tree(struct orr_flow *f)
{
    for (unsigned a = 0; a < f->narcs + f->nnodes; a++)
        f->state[a] = 1;
    find_arcs(f);
    first_tree(f);
    for (unsigned v = 0; v < f->nnodes; v++)
        if (v != f->sink)
            f->state[f->arc[v]] = 0;
}

/* Cuts v off and attaches it to the sink with an arc of its own, which carries
 * `amount`, to the sink where it is positive. */
static void hang_apart(struct orr_flow *f, unsigned v, int64_t amount)
{
    unsigned a = f->narcs + v;

    tree_detach(f, v);
    f->arcs[a] =
        amount >= 0 ? (struct arc){v, f->sink} : (struct arc){f->sink, v};
    f->capacity[a] = UNBOUNDED;
    f->flow[a] = amount >= 0 ? amount : -amount;
    f->state[a] = 0;
    tree_attach(f, v, f->sink, a, amount >= 0);
}

/* Whether v's arc may carry so much to the parent, and stays strongly feasible:
 * more could be sent on to the sink. */
static bool may_carry(const struct orr_flow *f, unsigned v, int64_t amount)
{
    unsigned a = f->arc[v];

    if (a >= f->narcs)
        return false;
    if (f->up[v])
        return amount >= 0 && amount < f->capacity[a];
    return amount < 0 && -amount <= f->capacity[a];
}

/* The flow of every arc, after capacities have changed. */
static void begin_flow(struct orr_flow *f)
{
    unsigned n;

    memset(f->excess, 0, f->nnodes * sizeof(*f->excess));
    f->excess[f->source] = UNIT_FLOW;
    for (unsigned a = 0; a < f->narcs; a++) {
        f->flow[a] = f->state[a] < 0 ? f->capacity[a] : 0;
        f->excess[f->arcs[a].from] -= f->flow[a];
        f->excess[f->arcs[a].to] += f->flow[a];
    }
    n = list_subtree(f, f->sink);
    while (--n > 0) {
        unsigned v = f->stack[n], p = f->parent[v], a = f->arc[v];
        int64_t amount = f->excess[v];

        if (may_carry(f, v, amount)) {
            f->flow[a] = f->up[v] ? amount : -amount;
            f->excess[p] += amount;
            continue;
        }
        f->state[a] = 1;
        f->flow[a] = 0;
        hang_apart(f, v, amount);
        f->excess[f->sink] += amount;
    }
    f->potential[f->sink] = 0;
    n = list_subtree(f, f->sink);
    for (unsigned i = 1; i < n; i++)
        set_potential(f, f->stack[i]);
}

/* -- pivots -- */

/* The gain of one unit more on an arc, or of one less on an arc at its
 * capacity. */
static int64_t arc_reduced_gain(const struct orr_flow *f, unsigned a)
{
    const struct arc *arc = &f->arcs[a];

    return f->state[a] *
           (f->gain[a] + f->potential[arc->to] - f->potential[arc->from]);
}

/* The best arc of the first block that has a good one, NONE: there is none. */
static unsigned find_entering(struct orr_flow *f)
{
    unsigned block = (unsigned)sqrt((double)f->narcs) + 10;
    unsigned best = NONE, a = f->next_arc, left = block;
    int64_t most = 0;

    for (unsigned n = 0; n < f->narcs; n++) {
        if (a >= f->narcs)
            a = 0;
        if (f->capacity[a] > 0) {
            int64_t gain = arc_reduced_gain(f, a);

            if (gain > most) {
                most = gain;
                best = a;
            }
        }
        a++;
        if (--left == 0) {
            if (best != NONE)
                break;
            left = block;
        }
    }
    f->next_arc = a;
    return best;
}

static unsigned find_join(const struct orr_flow *f, unsigned u, unsigned v)
{
    while (u != v) {
        if (f->depth[u] >= f->depth[v])
            u = f->parent[u];
        else
            v = f->parent[v];
    }
    return u;
}

/* The residual capacity from v's parent to v, or, `to_parent`, back. */
static int64_t flow_residual(const struct orr_flow *f, unsigned v,
                             bool to_parent)
{
    unsigned a = f->arc[v];

    return f->up[v] == to_parent ? f->capacity[a] - f->flow[a] : f->flow[a];
}

static void change_path(struct orr_flow *f, unsigned v, unsigned join,
                        int64_t amount, bool to_parent)
{
    for (; v != join; v = f->parent[v])
        f->flow[f->arc[v]] += f->up[v] == to_parent ? amount : -amount;
}

/* Turns the path from v up to `top` round, so that v is the top, and attaches
 * it to `parent`. */
static void tree_reattach(struct orr_flow *f, unsigned v, unsigned top,
                          unsigned parent, unsigned arc, bool up)
{
    for (bool last = false; !last;) {
        unsigned old_parent = f->parent[v], old_arc = f->arc[v];
        bool old_up = f->up[v];

        last = v == top;
        tree_detach(f, v);
        tree_attach(f, v, parent, arc, up);
        parent = v;
        arc = old_arc;
        up = !old_up;
        v = old_parent;
    }
}

/* Sends as much as possible round the cycle that arc `in` closes, and exchanges
 * it for the last arc that blocks. */
static void flow_pivot(struct orr_flow *f, unsigned in)
{
    bool forward = f->state[in] > 0;
    unsigned first = forward ? f->arcs[in].from : f->arcs[in].to;
    unsigned second = forward ? f->arcs[in].to : f->arcs[in].from;
    unsigned join = find_join(f, first, second);
    unsigned out = NONE, leaves;
    bool below_second = false;
    int64_t amount = f->capacity[in];

    for (unsigned v = first; v != join; v = f->parent[v])
        if (flow_residual(f, v, false) < amount) {
            amount = flow_residual(f, v, false);
            out = v;
        }
    for (unsigned v = second; v != join; v = f->parent[v])
        if (flow_residual(f, v, true) <= amount) {
            amount = flow_residual(f, v, true);
            out = v;
            below_second = true;
        }
    change_path(f, first, join, amount, false);
    change_path(f, second, join, amount, true);
    f->flow[in] += forward ? amount : -amount;
    if (out == NONE) {
        f->state[in] = (int8_t)-f->state[in];
        return;
    }
    leaves = f->arc[out];
    f->state[leaves] = f->flow[leaves] == 0 ? 1 : -1;
    f->state[in] = 0;
    if (below_second) {
        tree_reattach(f, second, out, first, in, !forward);
        update_subtree(f, second);
    } else {
        tree_reattach(f, first, out, second, in, forward);
        update_subtree(f, first);
    }
}

/* -- results -- */

/* Through which task how much flows, in units of path_price, with all that
 * enters a task leaving it: what flows on an edge counts only as the share that
 * goes along it. The result does not rely on the simplex method. */
static void mend_flow(struct orr_flow *f)
{
    const struct orr_bound_instance *in = f->in;
    double total = 0;

    memset(f->through, 0, in->ntasks * sizeof(*f->through));
    memset(f->outflow, 0, in->ntasks * sizeof(*f->outflow));
    for (unsigned a = f->nvariants; a < f->narcs; a++) {
        if (f->arcs[a].from == f->source)
            total += (double)f->flow[a];
        else
            f->outflow[f->arcs[a].from / 2] += (double)f->flow[a];
    }
    find_arcs(f);
    for (unsigned a = f->nvariants; a < f->narcs && total > 0; a++)
        if (f->arcs[a].from == f->source)
            f->through[f->arcs[a].to / 2] = (double)f->flow[a] / total;
    for (unsigned n = 0; n < in->ntasks; n++) {
        unsigned i = in->order[n], a = (unsigned)f->excess[i];

        for (; a < f->narcs && f->arcs[a].from == 2 * i + 1; a++)
            if (f->arcs[a].to != f->sink && f->outflow[i] > 0)
                f->through[f->arcs[a].to / 2] +=
                    f->through[i] * ((double)f->flow[a] / f->outflow[i]);
    }
}

/* The proof: see flow.h. */
static double flow_prove(struct orr_flow *f, const double *price,
                         double path_price)
{
    const struct orr_bound_instance *in = f->in;
    double sum = 0, all = path_price;

    for (unsigned c = 0; c < in->nclasses; c++)
        all += price[c] * in->classes[c].size;
    mend_flow(f);
    for (unsigned i = 0; i < in->ntasks; i++) {
        const struct orr_bound_task_type *type = &in->types[in->type[i]];
        double phi = f->through[i] * path_price, least = INFINITY;

        for (unsigned w = 0; w < type->nvariants; w++) {
            const struct orr_bound_variant *variant =
                &in->variants[type->first_variant + w];

            least = fmin(least, (price[variant->class] * variant->width + phi) *
                                    variant->ms);
        }
        sum += least;
    }
    return sum / all;
}

/* Divides a task among the variants of its type's hull so that it takes the
 * time that potentials give it. */
static void choose_variants(struct orr_flow *f, unsigned i, unsigned nhull,
                            double ms, struct orr_flow_answer *ret)
{
    const struct orr_bound_variant *variants = f->in->variants;
    double share = 1;
    unsigned h = 0;

    while (h + 1 < nhull && variants[f->hull[h + 1]].ms <= ms)
        h++;
    if (h + 1 < nhull && ms > variants[f->hull[h]].ms)
        share = (variants[f->hull[h + 1]].ms - ms) /
                (variants[f->hull[h + 1]].ms - variants[f->hull[h]].ms);
    f->length[i] = 0;
    for (unsigned n = h; n < nhull && n <= h + 1; n++) {
        double part = n == h ? share : 1 - share;

        ret->done[f->hull[n]] += part;
        f->length[i] += part * variants[f->hull[n]].ms;
    }
}

/* Sets the lengths of tasks and how much each variant does, then the longest
 * path from each task on, in f->length, and the classes' areas. */
static void flow_choose_variants(struct orr_flow *f,
                                 struct orr_flow_answer *ret)
{
    const struct orr_bound_instance *in = f->in;

    memset(ret->done, 0, in->nvariants * sizeof(*ret->done));
    for (unsigned k = 0; k < in->ntypes; k++) {
        unsigned nhull = make_hull(f, &in->types[k]);

        for (unsigned n = f->first_of[k]; n < f->first_of[k + 1]; n++) {
            unsigned i = f->by_type[n];
            int64_t time = f->potential[2 * i] - f->potential[2 * i + 1];

            choose_variants(f, i, nhull, (double)time / f->gain_unit, ret);
        }
    }
    memset(ret->area, 0, in->nclasses * sizeof(*ret->area));
    for (unsigned w = 0; w < in->nvariants; w++)
        ret->area[in->variants[w].class] +=
            ret->done[w] * in->variants[w].width * in->variants[w].ms;
    memcpy(ret->ms, f->length, in->ntasks * sizeof(*ret->ms));
    ret->path_ms = 0;
    for (unsigned n = in->ntasks; n-- > 0;) {
        unsigned i = in->order[n];
        double longest = 0;

        for (unsigned e = in->first_succ[i]; e < in->first_succ[i + 1]; e++)
            longest = fmax(longest, f->length[in->succs[e]]);
        f->length[i] += longest;
        ret->path_ms = fmax(ret->path_ms, f->length[i]);
    }
}

/* 0: optimal. */
static int flow_run_simplex(struct orr_flow *f, double deadline)
{
    unsigned long most = 1000 * ((unsigned long)f->narcs + 1000);
    unsigned in;

    for (unsigned long n = 0; (in = find_entering(f)) != NONE; n++) {
        if (n == most)
            return -EDOM;
        if (n % PIVOTS_ASK == 0 && orr_bound_clock() > deadline)
            return -ETIME;
        flow_pivot(f, in);
        f->pivots++;
    }
    return 0;
}

int orr_flow_solve(struct orr_flow *f, const double *price, double path_price,
                   double deadline, struct orr_flow_answer *ret)
{
    int rc;

    assert(path_price > 0);
    set_capacities(f, price, path_price);
    if (!f->solved)
        begin_tree(f);
    f->solved = true;
    begin_flow(f);
    rc = flow_run_simplex(f, deadline);
    ret->bound = flow_prove(f, price, path_price);
    if (rc == 0)
        flow_choose_variants(f, ret);
    return rc;
}
