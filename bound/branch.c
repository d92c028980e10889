/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/branch.c - branch and bound over linear programs whose bounds are
 * proved. One thread per program.
 *
 * The result of the solver's own branch and cut rests on cuts and nodes that
 * cannot be checked. So here is another tree: the bound of a node is that of
 * its program's dual solution, checked as all others (orr_lp_dual_bound), or
 * its parent's; a node without a feasible point is left out only where a row
 * cannot be met within the bounds of its columns. The least bound of all that
 * was left out or is still open is a proved bound of the whole, whatever the
 * solver's rounding did.
 *
 * A node branches on the makespan where it uses columns that imply a longer one
 * than its bound: either the makespan is as long, or no such column is used
 * (Lenstra, Shmoys & Tardos 1990, "Approximation algorithms for scheduling
 * unrelated parallel machines"). Else it branches on the column furthest from
 * whole. The child nearer to the solution is first; where a branch ends, the
 * open node with the least bound is next.
 */
#include "bound/branch.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "bound/glpk_lp.h"
#include "bound/methods.h"

enum { MOST_NODES = 1 << 21, NONE = -1 };

#define WHOLE 1e-6 /* as near counts as whole */

/* The bounds that a node adds to its parent's; on column 0, the makespan,
 * `upper` excludes columns that imply a makespan of at least that. */
struct node {
    int parent;
    unsigned column;
    double lower, upper;
    double bound;
};

struct tree {
    const struct orr_branch_program *program;
    const struct orr_branch_options *options;
    struct orr_lp *lp;
    struct orr_lp_solver *solver;
    double *lower, *upper; /* owned, per column: at the root */
    struct node *nodes;    /* owned */
    int *heap;             /* owned: open nodes, the least bound first */
    int nnodes, room, nheap;
    unsigned long solved;
    double best, left_out, stop_at;
};

/* -- open nodes -- */

static void heap_push(struct tree *t, int node)
{
    int i = t->nheap++;

    while (i > 0 &&
           t->nodes[t->heap[(i - 1) / 2]].bound > t->nodes[node].bound) {
        t->heap[i] = t->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    t->heap[i] = node;
}

static int heap_pop(struct tree *t)
{
    int top = t->heap[0], last = t->heap[--t->nheap], i = 0;

    while (2 * i + 1 < t->nheap) {
        int child = 2 * i + 1;

        if (child + 1 < t->nheap &&
            t->nodes[t->heap[child + 1]].bound < t->nodes[t->heap[child]].bound)
            child++;
        if (t->nodes[t->heap[child]].bound >= t->nodes[last].bound)
            break;
        t->heap[i] = t->heap[child];
        i = child;
    }
    t->heap[i] = last;
    return top;
}

/* Room for two more nodes, open or not. */
static int tree_reserve_nodes(struct tree *t)
{
    int room = t->room ? 2 * t->room : 64;
    struct node *nodes;
    int *heap;

    if (t->nnodes + 2 <= t->room)
        return 0;
    nodes = realloc(t->nodes, (size_t)room * sizeof(*nodes));
    if (!nodes)
        return -ENOMEM;
    t->nodes = nodes;
    heap = realloc(t->heap, (size_t)room * sizeof(*heap));
    if (!heap)
        return -ENOMEM;
    t->heap = heap;
    t->room = room;
    return 0;
}

static int tree_add_node(struct tree *t, struct node node)
{
    t->nodes[t->nnodes] = node;
    return t->nnodes++;
}

/* -- one node -- */

static void column_narrow(struct orr_lp_column *column, double lower,
                          double upper)
{
    column->lower = fmax(column->lower, lower);
    column->upper = fmin(column->upper, upper);
}

static void tree_exclude_columns(struct tree *t, double makespan)
{
    for (unsigned j = 1; j < t->lp->ncolumns; j++)
        if (t->program->implied[j] >= makespan)
            column_narrow(&t->lp->columns[j], 0, 0);
}

/* Puts the node's bounds into the program. */
static void tree_apply_node(struct tree *t, int node)
{
    double shorter = t->best;

    for (unsigned j = 0; j < t->lp->ncolumns; j++) {
        t->lp->columns[j].lower = t->lower[j];
        t->lp->columns[j].upper = t->upper[j];
    }
    for (int i = node; i != NONE; i = t->nodes[i].parent) {
        const struct node *n = &t->nodes[i];

        if (n->column)
            column_narrow(&t->lp->columns[n->column], n->lower, n->upper);
        else
            shorter = fmin(shorter, n->upper);
    }
    tree_exclude_columns(t, shorter);
}

/* Whether a row cannot be met, or a column has no value, by more than what
 * rounding may have done. */
static bool is_impossible(const struct orr_lp *lp)
{
    for (unsigned j = 0; j < lp->ncolumns; j++)
        if (lp->columns[j].lower > lp->columns[j].upper)
            return true;
    for (unsigned i = 0; i < lp->nrows; i++) {
        const struct orr_lp_row *row = &lp->rows[i];
        double least = 0, most = 0, size = 0;

        for (unsigned k = row->first; k < row->first + row->n; k++) {
            const struct orr_lp_column *c = &lp->columns[lp->coef_column[k]];
            double a = lp->coef_value[k] * c->lower;
            double b = lp->coef_value[k] * c->upper;

            least += fmin(a, b);
            most += fmax(a, b);
            size += fabs(a) + fabs(b);
        }
        if (least - 1e-9 * size > row->upper || most + 1e-9 * size < row->lower)
            return true;
    }
    return false;
}

static void tree_leave_out(struct tree *t, double bound)
{
    t->left_out = fmin(t->left_out, bound);
}

static bool tree_bound_is_hopeless(const struct tree *t, double bound)
{
    return bound >= t->best * (1 - t->options->tolerance);
}

/* The least makespan, above the node's bound, that a column in use implies;
 * INFINITY: none does. */
static double find_implied(const struct tree *t, double bound, const double *x)
{
    double least = INFINITY;

    for (unsigned j = 1; j < t->lp->ncolumns; j++)
        if (x[j] > WHOLE &&
            t->program->implied[j] > bound * (1 + t->options->tolerance / 4))
            least = fmin(least, t->program->implied[j]);
    return least;
}

/* The column furthest from whole, large ones first; 0: all are whole. */
static unsigned find_broken(const struct tree *t, const double *x)
{
    unsigned broken = 0;
    double most = 0;

    for (unsigned j = 1; j < t->lp->ncolumns; j++) {
        double off = fabs(x[j] - round(x[j]));
        double score = off * (t->program->implied[j] + 1e-12);

        if (t->lp->columns[j].integer && off > WHOLE && score > most) {
            most = score;
            broken = j;
        }
    }
    return broken;
}

/* Adds two children; returns the one to go on with, the other is open. */
static int tree_split_node(struct tree *t, struct node first,
                           struct node second)
{
    heap_push(t, tree_add_node(t, second));
    return tree_add_node(t, first);
}

static int tree_branch(struct tree *t, int node, double bound, const double *x)
{
    double longer = find_implied(t, bound, x);
    struct node below = {node, 0, 0, longer, bound};
    struct node above = {node, 0, longer, INFINITY, fmax(bound, longer)};
    unsigned j;

    if (isfinite(longer)) {
        above.column = 0;
        return tree_split_node(t, below, above);
    }
    j = find_broken(t, x);
    if (!j) {
        /* Whole, so `round` has seen it; or the result of the solver is
         * wrong. */
        tree_leave_out(t, bound);
        return NONE;
    }
    below = (struct node){node, j, 0, floor(x[j]), bound};
    above = (struct node){node, j, ceil(x[j]), INFINITY, bound};
    return x[j] - floor(x[j]) > 0.5 ? tree_split_node(t, above, below)
                                    : tree_split_node(t, below, above);
}

/* Solves a node. Sets *ret to a child to go on with, or NONE. */
static int tree_visit_node(struct tree *t, int node, int *ret)
{
    const struct orr_lp_solve_options how = {
        .seconds = fmax(1e-3, t->stop_at - orr_bound_clock()),
        .tolerance = 1e-7,
        .scale = true};
    double bound = t->nodes[node].bound;
    struct orr_lp_solution solution;
    int rc;

    *ret = NONE;
    tree_apply_node(t, node);
    if (is_impossible(t->lp))
        return 0;
    t->solved++;
    rc = orr_lp_solver_run(t->solver, t->lp, &how, &solution);
    if (rc)
        return rc;
    bound = fmax(bound, solution.bound);
    /* x is feasible wherever it has a value, be it the least or not. */
    if (!isnan(solution.objective))
        t->best = fmin(t->best, t->program->round(solution.x, t->program->arg));
    if (tree_bound_is_hopeless(t, bound) || isnan(solution.objective)) {
        tree_leave_out(t, bound);
    } else {
        rc = tree_reserve_nodes(t);
        if (rc == 0)
            *ret = tree_branch(t, node, bound, solution.x);
    }
    orr_lp_solution_done(&solution);
    return rc;
}

/* -- the tree -- */

/* `next` is the node to go on with, or NONE. */
static double tree_proved(const struct tree *t, int next)
{
    double lower = fmin(t->left_out, t->best);

    if (next != NONE)
        lower = fmin(lower, t->nodes[next].bound);
    if (t->nheap)
        lower = fmin(lower, t->nodes[t->heap[0]].bound);
    return lower;
}

static bool tree_is_over(const struct tree *t, int next)
{
    if (t->options->goes_on &&
        !t->options->goes_on(tree_proved(t, next), t->options->arg))
        return true;
    return orr_bound_clock() > t->stop_at || t->nnodes >= MOST_NODES ||
           (t->options->nodes && t->solved >= t->options->nodes);
}

/* At least the root is solved. */
static int tree_search(struct tree *t)
{
    int next, rc = tree_reserve_nodes(t);

    if (rc)
        return rc;
    next = tree_add_node(
        t, (struct node){NONE, 0, 0, INFINITY, fmax(0, t->options->lower)});
    do {
        if (next == NONE)
            next = heap_pop(t);
        if (tree_bound_is_hopeless(t, t->nodes[next].bound)) {
            tree_leave_out(t, t->nodes[next].bound);
            next = NONE;
        } else {
            rc = tree_visit_node(t, next, &next);
        }
    } while (rc == 0 && (next != NONE || t->nheap) &&
             !tree_is_over(t, next));
    if (next != NONE)
        tree_leave_out(t, t->nodes[next].bound);
    if (t->nheap)
        tree_leave_out(t, t->nodes[t->heap[0]].bound);
    return rc;
}

static int tree_init(struct tree *t)
{
    size_t n = t->lp->ncolumns + (size_t)1;

    t->lower = malloc(n * sizeof(*t->lower));
    t->upper = malloc(n * sizeof(*t->upper));
    if (t->lp->failed || !t->lower || !t->upper)
        return -ENOMEM;
    for (unsigned j = 0; j < t->lp->ncolumns; j++) {
        t->lower[j] = t->lp->columns[j].lower;
        t->upper[j] = t->lp->columns[j].upper;
    }
    return orr_lp_solver_new(&t->solver);
}

int orr_branch(const struct orr_branch_program *program,
               const struct orr_branch_options *options,
               struct orr_branch_result *ret)
{
    struct tree t = {.program = program,
                     .options = options,
                     .lp = program->lp,
                     .best = INFINITY,
                     .left_out = INFINITY,
                     .stop_at = orr_bound_clock() + options->seconds};
    int rc = tree_init(&t);

    if (rc == 0)
        rc = tree_search(&t);
    if (rc == 0) {
        double lower = fmin(t.left_out, t.best);

        *ret = (struct orr_branch_result){
            .lower = fmax(options->lower, lower),
            .upper = t.best,
            .finished = lower >= t.best * (1 - options->tolerance),
            .nodes = t.solved};
    }
    orr_lp_solver_free(t.solver);
    free(t.lower);
    free(t.upper);
    free(t.nodes);
    free(t.heap);
    return rc;
}
