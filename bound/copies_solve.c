/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/copies_solve.c - solves the linear program with copies: row after row
 * that its last solution violates. See copies.h.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound/copies.h"
#include "core/base/number.h"

/* Times that one row for all values of a set is tried before each value gets
 * its own variable. */
#define JOINT_ROUNDS 3

/* Shares and durations of tasks in a solution; those that exceed 1 are scaled
 * down, so that every solution is one of shares. Returns by how much one
 * exceeds 1. */
static double read_point(struct orr_copies *c, const double *x)
{
    double worst = 0;

    memset(c->share, 0, (size_t)c->in->ntasks * c->ngroups * sizeof(*c->share));
    for (unsigned i = 0; i < c->in->ntasks; i++) {
        double *share = &c->share[(size_t)i * c->ngroups];
        double sum = 0, scale;

        for (unsigned o = 1; o < orr_copies_noptions(c, i); o++)
            sum += fmax(0, x[c->first_x[i] + o - 1]);
        scale = sum > 1 ? 1 / sum : 1;
        worst = fmax(worst, sum - 1);
        share[orr_copies_option(c, i, 0)->group] = fmax(0, 1 - sum);
        c->ms[i] = fmax(0, 1 - sum) * orr_copies_option(c, i, 0)->ms;
        for (unsigned o = 1; o < orr_copies_noptions(c, i); o++) {
            double part = scale * fmax(0, x[c->first_x[i] + o - 1]);

            share[orr_copies_option(c, i, o)->group] += part;
            c->ms[i] += part * orr_copies_option(c, i, o)->ms;
        }
    }
    return worst;
}

/* The most that a resource does, per worker, in units. */
static double area_need(const struct orr_copies *c, const double *x,
                        unsigned resource, double *ret_types)
{
    double busy = 0;

    for (unsigned i = 0; i < c->in->ntasks; i++) {
        double rest = 1;

        for (unsigned o = orr_copies_noptions(c, i); o-- > 0;) {
            double part = o ? x[c->first_x[i] + o - 1] : rest;

            rest -= part;
            if (orr_copies_option(c, i, o)->resource != resource)
                continue;
            busy += part * orr_copies_option(c, i, o)->area;
            if (ret_types)
                ret_types[c->in->type[i]] +=
                    part * orr_copies_option(c, i, o)->area;
        }
    }
    return busy / c->resources[resource].size / c->unit_ms;
}

/* Rows: the shares of a task do not exceed 1. */
static int cut_shares(struct orr_copies *c, const double *x, double tolerance)
{
    int n = 0;

    for (unsigned i = 0; i < c->in->ntasks; i++) {
        double sum = 0;

        for (unsigned o = 1; o < orr_copies_noptions(c, i); o++)
            sum += x[c->first_x[i] + o - 1];
        if (orr_copies_noptions(c, i) < 3 || sum <= 1 + tolerance)
            continue;
        for (unsigned o = 1; o < orr_copies_noptions(c, i); o++)
            orr_copies_add_column(c, c->first_x[i] + o - 1, 1);
        c->constant = -1;
        orr_copies_end_row(c, false, ORR_COPIES_OTHER, 0);
        n++;
    }
    return n;
}

/* The reader that most needs a copy into the set, and how much of one. */
static unsigned find_neediest_reader(const struct orr_copies *c,
                                     const struct orr_bound_version *version,
                                     const double *weight, double *ret_need)
{
    double origin = orr_copies_origin(c, version, weight);
    unsigned best = ORR_BOUND_NO_TASK;

    *ret_need = 0;
    for (unsigned r = 0; r < version->nreaders; r++) {
        unsigned task = c->versions.readers[version->first_reader + r];
        double need = orr_copies_place(c, task, weight) - origin;

        if (need > *ret_need) {
            *ret_need = need;
            best = task;
        }
    }
    return best;
}

static double version_bytes(const struct orr_copies *c, unsigned v)
{
    return c->in->graph->data[c->versions.versions[v].datum].bytes /
           c->unit_bytes;
}

static void add_entering(struct orr_copies *c, const struct orr_copies_set *set)
{
    const struct orr_graph *graph = c->in->graph;

    for (unsigned r = 0; r < graph->nroutes; r++)
        if (!set->has[c->group[graph->routes[r].src]] &&
            set->has[c->group[graph->routes[r].dst]])
            orr_copies_add_column(c, c->first_flow + r, 1);
}

static double bytes_entering_set(const struct orr_copies *c,
                                 const struct orr_copies_set *set,
                                 const double *x)
{
    const struct orr_graph *graph = c->in->graph;
    double sum = 0;

    for (unsigned r = 0; r < graph->nroutes; r++)
        if (!set->has[c->group[graph->routes[r].src]] &&
            set->has[c->group[graph->routes[r].dst]])
            sum += x[c->first_flow + r];
    return sum;
}

/* One row: all values that are needed in the set now, each by the reader that
 * needs most. It holds in every schedule. */
static void cut_jointly(struct orr_copies *c, const struct orr_copies_set *set,
                        const double *weight)
{
    add_entering(c, set);
    for (unsigned v = 0; v < c->versions.nversions; v++) {
        const struct orr_bound_version *version = &c->versions.versions[v];
        double need;
        unsigned reader = find_neediest_reader(c, version, weight, &need);

        if (reader == ORR_BOUND_NO_TASK)
            continue;
        orr_copies_add_place(c, reader, weight, -version_bytes(c, v));
        orr_copies_add_origin(c, version, weight, version_bytes(c, v));
    }
    orr_copies_end_row(c, true, ORR_COPIES_OTHER, 0);
}

static void make_copy_columns(struct orr_copies *c, struct orr_copies_set *set)
{
    set->first_copy = c->lp.ncolumns;
    for (unsigned v = 0; v < c->versions.nversions; v++)
        orr_lp_column(&c->lp, 0, 0, 1, false, "copy%u", c->lp.ncolumns);
    add_entering(c, set);
    for (unsigned v = 0; v < c->versions.nversions; v++)
        orr_copies_add_column(c, set->first_copy + v, -version_bytes(c, v));
    orr_copies_end_row(c, true, ORR_COPIES_OTHER, 0);
}

/* A row for each value whose own variable is too small. */
static int cut_singly(struct orr_copies *c, struct orr_copies_set *set,
                      const double *weight, const double *x, double tolerance)
{
    bool fresh = set->first_copy == 0;
    int n = fresh;

    if (fresh)
        make_copy_columns(c, set);
    for (unsigned v = 0; v < c->versions.nversions; v++) {
        const struct orr_bound_version *version = &c->versions.versions[v];
        double need, have = fresh ? 0 : x[set->first_copy + v];
        unsigned reader = find_neediest_reader(c, version, weight, &need);

        if (reader == ORR_BOUND_NO_TASK || need <= have + tolerance)
            continue;
        orr_copies_add_column(c, set->first_copy + v, -1);
        orr_copies_add_place(c, reader, weight, 1);
        orr_copies_add_origin(c, version, weight, -1);
        orr_copies_end_row(c, false, ORR_COPIES_OTHER, 0);
        n++;
    }
    return n;
}

/* The bytes of all values that are needed in the set. */
static double set_need(const struct orr_copies *c, const double *weight)
{
    double sum = 0;

    for (unsigned v = 0; v < c->versions.nversions; v++) {
        double need;

        find_neediest_reader(c, &c->versions.versions[v], weight, &need);
        sum += need * version_bytes(c, v);
    }
    return sum;
}

/* *ret_short: by which factor the flows would have to grow. */
static int cut_copies(struct orr_copies *c, const double *x, double tolerance,
                      double *weight, double *ret_short)
{
    int n = 0;

    *ret_short = 1;
    for (unsigned s = 0; s < c->nsets; s++) {
        struct orr_copies_set *set = &c->sets[s];
        double have = bytes_entering_set(c, set, x), need;

        for (unsigned g = 0; g < c->ngroups; g++)
            weight[g] = set->has[g];
        need = set_need(c, weight);
        if (need > 1e-9)
            *ret_short = fmax(*ret_short, need / have);
        if (need <= have + tolerance * fmax(1, need))
            continue;
        if (set->rounds++ < JOINT_ROUNDS) {
            cut_jointly(c, set, weight);
            n++;
        } else {
            n += cut_singly(c, set, weight, x, tolerance);
        }
    }
    return n;
}

/* The most that a link does, in units. */
static double link_need(const struct orr_copies *c, const double *x)
{
    const struct orr_graph *graph = c->in->graph;
    double most = 0;

    for (unsigned l = 0; l < graph->nlinks; l++) {
        double sum = 0;

        for (unsigned r = 0; r < graph->nroutes; r++)
            for (unsigned k = 0; k < graph->routes[r].nlinks; k++)
                if (graph->route_links[graph->routes[r].first_link + k] == l) {
                    sum += x[c->first_flow + r];
                    break;
                }
        most = fmax(most, sum * c->unit_bytes / graph->links[l].bandwidth /
                              c->unit_ms);
    }
    return most;
}

/* Rows that the solution violates. *ret_need: the makespan of the solution in
 * the program with all rows, or more; NaN where it is no solution of that. */
static int add_violated_rows(struct orr_copies *c,
                             const struct orr_copies_cutter *cutter,
                             const double *x, double tolerance, double *weight,
                             double *ret_need)
{
    double excess = read_point(c, x), flow, need = 0;
    int n = cut_shares(c, x, tolerance * 1e-2), more;

    more = cut_copies(c, x, tolerance * 1e-2, weight, &flow);
    n += more;
    /* No flow at all cannot be scaled. */
    *ret_need = isfinite(flow) ? flow * link_need(c, x) : (double)INFINITY;
    for (unsigned r = 0; r < c->nresources; r++)
        *ret_need = fmax(*ret_need, area_need(c, x, r, NULL));
    if (cutter->cut) {
        more = cutter->cut(c, x[0], tolerance, cutter->arg, &need);
        if (more < 0)
            return more;
        n += more;
    }
    *ret_need = fmax(*ret_need, need);
    if (excess > tolerance * 1e-2)
        *ret_need = NAN;
    return c->lp.failed ? -ENOMEM : n;
}

/* -- proofs -- */

/* Rounding may leave variables with large upper bounds a tiny negative reduced
 * cost, which would weigh. So y is made to give the flows none: rows that ask
 * for copies pay no more for a flow than its links charge. */
static void repair_flows(const struct orr_copies *c, double *y, double *asked,
                         double *charged)
{
    unsigned first = c->first_flow, end = first + c->in->graph->nroutes;

    for (unsigned i = 0; i < c->lp.nrows; i++) {
        const struct orr_lp_row *row = &c->lp.rows[i];

        for (unsigned k = row->first; k < row->first + row->n; k++) {
            unsigned column = c->lp.coef_column[k];
            double term = y[i] * c->lp.coef_value[k];

            if (column >= first && column < end && term > 0)
                asked[column - first] += term;
            else if (column >= first && column < end)
                charged[column - first] -= term;
        }
    }
    for (unsigned i = 0; i < c->lp.nrows; i++) {
        const struct orr_lp_row *row = &c->lp.rows[i];
        double scale = 1;

        for (unsigned k = row->first; k < row->first + row->n; k++) {
            unsigned r = c->lp.coef_column[k] - first;

            if (c->lp.coef_column[k] >= first && c->lp.coef_column[k] < end &&
                y[i] * c->lp.coef_value[k] > 0 && asked[r] > charged[r])
                scale = fmin(scale, charged[r] / asked[r] * (1 - 1e-14));
        }
        y[i] *= scale;
    }
}

/* The same for the makespan: y is scaled. */
static void repair_makespan(const struct orr_copies *c, double *y)
{
    double sum = 0;

    for (unsigned i = 0; i < c->lp.nrows; i++) {
        const struct orr_lp_row *row = &c->lp.rows[i];

        for (unsigned k = row->first; k < row->first + row->n; k++)
            if (c->lp.coef_column[k] == 0)
                sum += y[i] * c->lp.coef_value[k];
    }
    for (unsigned i = 0; sum > 1 && i < c->lp.nrows; i++)
        y[i] /= sum * (1 + 1e-14);
}

static int prove_dual_value(const struct orr_copies *c, double *y, double *ret)
{
    unsigned routes = c->in->graph->nroutes;
    double *flows = calloc(2 * (size_t)routes + 1, sizeof(*flows));

    if (!flows)
        return -ENOMEM;
    for (unsigned i = 0; i < c->lp.nrows; i++)
        if (y[i] > 0 ? isinf(c->lp.rows[i].lower) : isinf(c->lp.rows[i].upper))
            y[i] = 0;
    repair_flows(c, y, flows, flows + routes);
    repair_makespan(c, y);
    free(flows);
    return orr_lp_dual_bound(&c->lp, y, ret);
}

/* -- texts -- */

static void resource_text(const struct orr_copies *c, const double *x,
                          unsigned resource, char *text, size_t size)
{
    double *types = calloc(c->in->ntypes + (size_t)1, sizeof(*types));
    double total = 0;
    unsigned most = 0;

    snprintf(text, size, "%s, busy all the time", c->resources[resource].name);
    if (!types)
        return;
    area_need(c, x, resource, types);
    for (unsigned k = 0; k < c->in->ntypes; k++) {
        total += types[k];
        if (types[k] > types[most])
            most = k;
    }
    if (total > 0)
        orr_snprintf(text, size, "%s, busy all the time: %s is %.0f %% of it",
                     c->resources[resource].name, c->in->types[most].symbol,
                     100 * types[most] / total);
    free(types);
}

static void link_text(const struct orr_copies *c, const double *x,
                      unsigned link, char *text, size_t size)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    const struct orr_graph *graph = c->in->graph;
    double bytes = 0;
    unsigned unit = 0;

    for (unsigned r = 0; r < graph->nroutes; r++)
        for (unsigned k = 0; k < graph->routes[r].nlinks; k++)
            if (graph->route_links[graph->routes[r].first_link + k] == link) {
                bytes += x[c->first_flow + r] * c->unit_bytes;
                break;
            }
    while (bytes >= 1000 && unit < 4) {
        bytes /= 1000;
        unit++;
    }
    orr_snprintf(text, size, "link %s: %.3g %s of copies take all the time",
                 graph->links[link].name, bytes, units[unit]);
}

/* The kind of rows with the largest part of the dual solution, whose values sum
 * to 1 over the rows that bound the makespan. */
static int limit_text(const struct orr_copies *c,
                      const struct orr_copies_cutter *cutter, const double *x,
                      const double *y, struct orr_bound_result *ret)
{
    double parts[3] = {0}, top[3] = {0};
    unsigned index[3] = {0};
    double total;
    unsigned first = 0;
    char text[300];

    for (unsigned i = 0; i < c->lp.nrows; i++) {
        const struct orr_lp_row *row = &c->lp.rows[i];
        int kind = (int)c->about[i].kind - ORR_COPIES_RESOURCE;
        double part = 0;

        for (unsigned k = row->first; k < row->first + row->n; k++)
            if (c->lp.coef_column[k] == 0)
                part = fabs(y[i] * c->lp.coef_value[k]);
        if (kind < 0)
            continue;
        parts[kind] += part;
        if (part > top[kind]) {
            top[kind] = part;
            index[kind] = c->about[i].index;
        }
    }
    for (unsigned k = 1; k < 3; k++)
        if (parts[k] > parts[first])
            first = k;
    total = parts[0] + parts[1] + parts[2];
    if (!(total > 0))
        return 0;
    if (first == 0)
        resource_text(c, x, index[0], text, sizeof(text));
    else if (first == 1)
        link_text(c, x, index[1], text, sizeof(text));
    else
        cutter->path_text(c, index[2], cutter->arg, text, sizeof(text));
    if (parts[first] > 0.95 * total)
        return orr_bound_limit(ret, "%s", text);
    return orr_bound_limit(ret,
                           "%s (of the bound, workers weigh %.0f %%, links "
                           "%.0f %%, paths %.0f %%)",
                           text, 100 * parts[0] / total, 100 * parts[1] / total,
                           100 * parts[2] / total);
}

/* -- the loop -- */

static int copies_add_first_rows(struct orr_copies *c)
{
    bool *columns = calloc(c->lp.ncolumns + (size_t)1, sizeof(*columns));
    bool *rows = calloc(c->lp.nrows + (size_t)1, sizeof(*rows));
    int rc = -ENOMEM;

    if (columns && rows) {
        /* All rows basic, the makespan 0: the dual simplex can start. */
        memset(rows, true, c->lp.nrows);
        rc = orr_lp_solver_basis(c->solver, &c->lp, columns, rows);
    }
    free(columns);
    free(rows);
    return rc;
}

struct progress {
    double best, upper; /* in units: proved, and a solution's */
    double *weight;
    double until;
};

/* Upper bounds that no optimum of the program with all rows exceeds: with them
 * rounding matters less in the proof. */
static void tighten_upper_bounds(struct orr_copies *c, double upper)
{
    const struct orr_graph *graph = c->in->graph;
    double most = upper * (1 + 1e-9);

    c->lp.columns[0].upper = fmin(c->lp.columns[0].upper, most);
    for (unsigned r = 0; r < graph->nroutes; r++) {
        const struct orr_graph_route *route = &graph->routes[r];
        double *cap = &c->lp.columns[c->first_flow + r].upper;

        for (unsigned l = 0; l < route->nlinks; l++)
            *cap =
                fmin(*cap,
                     most * c->unit_ms / c->unit_bytes *
                         graph->links[graph->route_links[route->first_link + l]]
                             .bandwidth);
    }
}

/* Whether the solution is optimal, by the value proved from its scaled dual
 * one, which the solver's own check does not know. */
static bool is_optimal(const struct orr_lp_solution *solution, double proved,
                       double tolerance)
{
    return (solution->outcome == ORR_LP_OPTIMAL ||
            solution->outcome == ORR_LP_SUSPICIOUS) &&
           solution->objective - proved <=
               tolerance * fmax(1e-9, solution->objective);
}

/* One round. Returns the number of rows added, or -ENOMEM. */
static int copies_solve_round(struct orr_copies *c,
                              const struct orr_copies_cutter *cutter,
                              const struct orr_bound_options *options,
                              struct progress *p, struct orr_bound_result *ret)
{
    struct orr_lp_solve_options how = {.tolerance = 1e-5};
    struct orr_lp_solution solution;
    double proved, need;
    int n = 0, rc;

    how.seconds = fmax(0.01, p->until - orr_bound_clock());
    rc = orr_lp_solver_run(c->solver, &c->lp, &how, &solution);
    if (rc)
        return rc;
    rc = prove_dual_value(c, solution.y, &proved);
    if (!rc && proved >= p->best) {
        p->best = proved;
        rc = limit_text(c, cutter, solution.x, solution.y, ret);
    }
    if (rc)
        goto out;
    if (solution.outcome == ORR_LP_TIME_LIMIT) {
        rc = orr_bound_give_up(ret, ORR_BOUND_TIME_LIMIT, "time is out");
    } else if (is_optimal(&solution, proved, options->tolerance / 2)) {
        n = rc = add_violated_rows(c, cutter, solution.x, options->tolerance,
                                   p->weight, &need);
        if (rc >= 0 && need < p->upper) {
            p->upper = need;
            tighten_upper_bounds(c, need);
        }
        if (rc > 0 && orr_bound_clock() > p->until) {
            n = 0;
            rc = orr_bound_give_up(ret, ORR_BOUND_TIME_LIMIT, "time is out");
        }
    } else {
        /* Every task has a variant, so that there is a solution: a solver that
         * finds none, or does not end, failed on values of too different
         * magnitudes. The proved part holds. */
        rc = orr_bound_give_up(ret, ORR_BOUND_TIME_LIMIT,
                               "the solver gave up (%s): the values differ by "
                               "too many orders of magnitude",
                               solution.why);
    }
    if (isfinite(p->upper) &&
        p->upper - p->best <= options->tolerance * p->upper)
        n = 0;
out:
    orr_lp_solution_done(&solution);
    return rc < 0 ? rc : n;
}

int orr_copies_solve(struct orr_copies *c,
                     const struct orr_bound_options *options,
                     const struct orr_copies_cutter *cutter,
                     struct orr_bound_result *ret)
{
    struct progress p = {0, INFINITY, calloc(c->ngroups, sizeof(double)),
                         orr_bound_clock() + options->seconds};
    int n = p.weight ? copies_add_first_rows(c) : -ENOMEM, rc = 0;

    if (n == 0)
        do {
            n = copies_solve_round(c, cutter, options, &p, ret);
            orr_bound_note_step(ret, p.best * c->unit_ms * (1 - 1e-12));
        } while (n > 0 && orr_bound_goes_on(options, ret, &rc));
    free(p.weight);
    if (n < 0 || rc < 0)
        return n < 0 ? n : rc;
    ret->ms = p.best * c->unit_ms * (1 - 1e-12);
    ret->proved = true;
    if (isfinite(p.upper))
        ret->upper_ms = fmax(ret->ms, p.upper * c->unit_ms);
    return 0;
}
