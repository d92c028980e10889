/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/area.c - a primal simplex method that exploits that every variant
 * belongs to one type ("generalised upper bounds": G. B. Dantzig and R. M. Van
 * Slyke, Journal of Computer and System Sciences 1 (1967) 213-226). Each type
 * has a basic variant, its key; what else is basic, one column per resource,
 * makes the working basis: T, slacks, further variants. That matrix is so small
 * that it is factored anew at each pivot, so that no error grows.
 *
 * Variables are fractions of a type: use is multiplied by the type's count.
 *
 * The start is greedy: prices of resources that are raised where much is to do
 * and lowered where little is, each type executed as its cheapest variant. The
 * best of these assignments, with slacks, is a feasible basis close to the
 * optimum.
 */
#include "bound/area.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/methods.h"

#define ROUNDS 40    /* of greedy prices */
#define TINY   1e-11 /* relative: reduced costs and pivots below count as 0 */

enum { OUT = -1, KEY = -2 }; /* where variants are; >= 0: a working column */

/* What a working column stands for. */
enum column_kind { COLUMN_T, COLUMN_SLACK, COLUMN_VARIANT };
struct column {
    enum column_kind kind;
    unsigned number; /* of the resource or variant */
};

struct simplex {
    const struct orr_area *area;
    unsigned n; /* resources */
    unsigned nvariants;
    unsigned *type_of;      /* per variant */
    unsigned *key;          /* per type: a variant */
    int *where;             /* per variant */
    struct column *columns; /* n */
    double *matrix;         /* n × n, row by row, then its factors */
    unsigned *swaps;        /* n */
    double *value;          /* per working column */
    double *y, *entering;   /* n */
    double *key_rate;       /* per type; 0 but within a ratio test */
    double *price;          /* n: of the greedy rounds */
    unsigned *best_key;     /* per type */
    double *load;           /* n */
};

/* λ·use of a variant, of all tasks of its type. */
static double variant_cost(const struct simplex *s, unsigned variant,
                           const double *price)
{
    const struct orr_area *a = s->area;
    double cost = 0;

    for (unsigned u = a->first_use[variant]; u < a->first_use[variant + 1]; u++)
        cost += price[a->use_resource[u]] * a->use[u];
    return cost * a->count[s->type_of[variant]];
}

static void column_add_variant(const struct simplex *s, unsigned variant,
                               double factor, double *column, size_t stride)
{
    const struct orr_area *a = s->area;

    factor *= a->count[s->type_of[variant]];
    for (unsigned u = a->first_use[variant]; u < a->first_use[variant + 1]; u++)
        column[a->use_resource[u] * stride] += factor * a->use[u];
}

/* -- the greedy start -- */

static double max_load(const struct simplex *s, const double *load)
{
    double most = 0;

    for (unsigned r = 0; r < s->n; r++)
        most = fmax(most, load[r] / s->area->size[r]);
    return most;
}

/* Each type to its cheapest variant; s->load is the result. */
static double assign_cheapest_variants(struct simplex *s)
{
    const struct orr_area *a = s->area;

    memset(s->load, 0, s->n * sizeof(*s->load));
    for (unsigned k = 0; k < a->ntypes; k++) {
        double least = INFINITY;

        if (a->first_variant[k] == a->first_variant[k + 1])
            continue;
        for (unsigned w = a->first_variant[k]; w < a->first_variant[k + 1];
             w++) {
            double cost = variant_cost(s, w, s->price);

            if (cost < least) {
                least = cost;
                s->key[k] = w;
            }
        }
        column_add_variant(s, s->key[k], 1, s->load, 1);
    }
    return max_load(s, s->load);
}

/* Multiplicative weights: loads that are too high raise the price. */
static void raise_prices(struct simplex *s, double most, double step)
{
    double sum = 0;

    for (unsigned r = 0; r < s->n; r++) {
        s->price[r] *= exp(step * (s->load[r] / s->area->size[r] / most - 1));
        sum += s->price[r] * s->area->size[r];
    }
    for (unsigned r = 0; r < s->n; r++)
        s->price[r] /= sum;
}

static void simplex_start(struct simplex *s)
{
    const struct orr_area *a = s->area;
    double least = INFINITY;
    unsigned top = 0;

    for (unsigned r = 0; r < s->n; r++)
        s->price[r] = 1 / (a->size[r] * s->n);
    for (unsigned round = 0; round < ROUNDS; round++) {
        double most = assign_cheapest_variants(s);

        if (most < least) {
            least = most;
            memcpy(s->best_key, s->key, a->ntypes * sizeof(*s->key));
        }
        if (!(most > 0))
            break;
        raise_prices(s, most, 1.0 / (1 + 0.3 * round));
    }
    memcpy(s->key, s->best_key, a->ntypes * sizeof(*s->key));
    memset(s->load, 0, s->n * sizeof(*s->load));
    for (unsigned w = 0; w < s->nvariants; w++)
        s->where[w] = OUT;
    for (unsigned k = 0; k < a->ntypes; k++)
        if (a->first_variant[k] < a->first_variant[k + 1]) {
            s->where[s->key[k]] = KEY;
            column_add_variant(s, s->key[k], 1, s->load, 1);
        }
    for (unsigned r = 0; r < s->n; r++) {
        s->columns[r] = (struct column){COLUMN_SLACK, r};
        if (s->load[r] / a->size[r] > s->load[top] / a->size[top])
            top = r;
    }
    s->columns[top] = (struct column){COLUMN_T, 0};
}

/* -- the working basis -- */

static void simplex_fill_matrix(struct simplex *s)
{
    memset(s->matrix, 0, (size_t)s->n * s->n * sizeof(*s->matrix));
    for (unsigned j = 0; j < s->n; j++) {
        unsigned number = s->columns[j].number;

        switch (s->columns[j].kind) {
        case COLUMN_T:
            for (unsigned r = 0; r < s->n; r++)
                s->matrix[r * s->n + j] = -s->area->size[r];
            break;
        case COLUMN_SLACK:
            s->matrix[number * s->n + j] = 1;
            break;
        case COLUMN_VARIANT:
            column_add_variant(s, number, 1, s->matrix + j, s->n);
            column_add_variant(s, s->key[s->type_of[number]], -1, s->matrix + j,
                               s->n);
            break;
        }
    }
}

/* LU with row swaps. False: singular. */
static bool simplex_factor(struct simplex *s)
{
    double *m = s->matrix;
    unsigned n = s->n;

    for (unsigned k = 0; k < n; k++) {
        unsigned p = k;

        for (unsigned i = k + 1; i < n; i++)
            if (fabs(m[i * n + k]) > fabs(m[p * n + k]))
                p = i;
        s->swaps[k] = p;
        if (!(fabs(m[p * n + k]) > 0))
            return false;
        for (unsigned j = 0; p != k && j < n; j++) {
            double kept = m[k * n + j];

            m[k * n + j] = m[p * n + j];
            m[p * n + j] = kept;
        }
        for (unsigned i = k + 1; i < n; i++) {
            double f = m[i * n + k] / m[k * n + k];

            m[i * n + k] = f;
            for (unsigned j = k + 1; f != 0 && j < n; j++)
                m[i * n + j] -= f * m[k * n + j];
        }
    }
    return true;
}

/* x := B⁻¹ x */
static void simplex_solve_column(const struct simplex *s, double *x)
{
    const double *m = s->matrix;
    unsigned n = s->n;

    for (unsigned k = 0; k < n; k++) {
        double kept = x[s->swaps[k]];

        x[s->swaps[k]] = x[k];
        x[k] = kept;
    }
    for (unsigned i = 1; i < n; i++)
        for (unsigned j = 0; j < i; j++)
            x[i] -= m[i * n + j] * x[j];
    for (unsigned i = n; i-- > 0;) {
        for (unsigned j = i + 1; j < n; j++)
            x[i] -= m[i * n + j] * x[j];
        x[i] /= m[i * n + i];
    }
}

/* y := B⁻ᵀ y */
static void solve_transposed(const struct simplex *s, double *y)
{
    const double *m = s->matrix;
    unsigned n = s->n;

    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < i; j++)
            y[i] -= m[j * n + i] * y[j];
        y[i] /= m[i * n + i];
    }
    for (unsigned i = n; i-- > 0;)
        for (unsigned j = i + 1; j < n; j++)
            y[i] -= m[j * n + i] * y[j];
    for (unsigned k = n; k-- > 0;) {
        double kept = y[s->swaps[k]];

        y[s->swaps[k]] = y[k];
        y[k] = kept;
    }
}

/* Factors the basis, and with it finds the basic values and λ, in s->y. */
static bool simplex_refactor(struct simplex *s)
{
    const struct orr_area *a = s->area;

    simplex_fill_matrix(s);
    if (!simplex_factor(s))
        return false;
    memset(s->value, 0, s->n * sizeof(*s->value));
    for (unsigned k = 0; k < a->ntypes; k++)
        if (a->first_variant[k] < a->first_variant[k + 1])
            column_add_variant(s, s->key[k], -1, s->value, 1);
    simplex_solve_column(s, s->value);
    for (unsigned j = 0; j < s->n; j++)
        s->y[j] = s->columns[j].kind == COLUMN_T ? -1 : 0;
    solve_transposed(s, s->y);
    return true;
}

/* -- a pivot -- */

struct move {
    struct column column; /* that enters */
    double gain;          /* of T, per unit; < 0: none */
};

static struct move price_all(const struct simplex *s, double least)
{
    const struct orr_area *a = s->area;
    struct move best = {{COLUMN_T, 0}, least};

    for (unsigned r = 0; r < s->n; r++)
        if (-s->y[r] * a->size[r] > best.gain)
            best = (struct move){{COLUMN_SLACK, r}, -s->y[r] * a->size[r]};
    for (unsigned k = 0; k < a->ntypes; k++) {
        double key;

        if (a->first_variant[k] == a->first_variant[k + 1])
            continue;
        key = variant_cost(s, s->key[k], s->y);
        for (unsigned w = a->first_variant[k]; w < a->first_variant[k + 1];
             w++) {
            double gain;

            if (s->where[w] != OUT)
                continue;
            gain = key - variant_cost(s, w, s->y);
            if (gain > best.gain)
                best = (struct move){{COLUMN_VARIANT, w}, gain};
        }
    }
    return best;
}

/* What leaves: working column `column`, or a key. */
struct leaving {
    double step, rate;
    unsigned column;
    bool is_key;
    unsigned type; /* of the key */
};

static void leaving_consider(struct leaving *l, double value, double rate,
                             struct leaving candidate)
{
    double step = fmax(0, value) / rate;

    if (step < l->step || (step == l->step && rate > l->rate)) {
        *l = candidate;
        l->step = step;
        l->rate = rate;
    }
}

static double key_value(const struct simplex *s, unsigned type)
{
    double value = 1;

    for (unsigned j = 0; j < s->n; j++)
        if (s->columns[j].kind == COLUMN_VARIANT &&
            s->type_of[s->columns[j].number] == type)
            value -= s->value[j];
    return value;
}

/* s->entering is B⁻¹ of the column that enters: what basic ones lose per unit;
 * a key loses what other variants of its type gain. `of` is the type of the
 * variant that enters, or ntypes. */
static struct leaving test_ratios(struct simplex *s, unsigned of)
{
    struct leaving l = {.step = INFINITY};
    unsigned ntypes = s->area->ntypes;
    double most = 1, most_ms = 0;

    for (unsigned j = 0; j < s->n; j++) {
        if (s->columns[j].kind != COLUMN_VARIANT) {
            most_ms = fmax(most_ms, fabs(s->entering[j]));
            continue;
        }
        most = fmax(most, fabs(s->entering[j]));
        s->key_rate[s->type_of[s->columns[j].number]] -= s->entering[j];
    }
    if (of < ntypes)
        s->key_rate[of] += 1;
    for (unsigned j = 0; j < s->n; j++) {
        double scale = s->columns[j].kind == COLUMN_VARIANT ? most : most_ms;

        if (s->entering[j] > TINY * scale)
            leaving_consider(&l, s->value[j], s->entering[j],
                             (struct leaving){.column = j});
    }
    for (unsigned j = 0; j <= s->n; j++) {
        unsigned k = of;

        if (j < s->n && s->columns[j].kind != COLUMN_VARIANT)
            continue;
        if (j < s->n)
            k = s->type_of[s->columns[j].number];
        if (k < ntypes && s->key_rate[k] > TINY * most)
            leaving_consider(&l, key_value(s, k), s->key_rate[k],
                             (struct leaving){.is_key = true, .type = k});
        if (k < ntypes)
            s->key_rate[k] = 0;
    }
    return l;
}

static void simplex_put_column(struct simplex *s, unsigned j,
                               struct column column)
{
    s->columns[j] = column;
    if (column.kind == COLUMN_VARIANT)
        s->where[column.number] = (int)j;
}

static void simplex_exchange(struct simplex *s, struct column in,
                             const struct leaving *l)
{
    if (!l->is_key) {
        if (s->columns[l->column].kind == COLUMN_VARIANT)
            s->where[s->columns[l->column].number] = OUT;
        simplex_put_column(s, l->column, in);
        return;
    }
    s->where[s->key[l->type]] = OUT;
    if (in.kind == COLUMN_VARIANT && s->type_of[in.number] == l->type) {
        s->key[l->type] = in.number;
        s->where[in.number] = KEY;
        return;
    }
    for (unsigned j = 0; j < s->n; j++)
        if (s->columns[j].kind == COLUMN_VARIANT &&
            s->type_of[s->columns[j].number] == l->type) {
            s->key[l->type] = s->columns[j].number;
            s->where[s->key[l->type]] = KEY;
            simplex_put_column(s, j, in);
            return;
        }
}

/* One pivot. False: there is nothing to gain, or it cannot be gained. */
static bool simplex_pivot(struct simplex *s, double least)
{
    struct move move = price_all(s, least);
    struct leaving leaving;
    unsigned of = s->area->ntypes;

    if (!(move.gain > least))
        return false;
    memset(s->entering, 0, s->n * sizeof(*s->entering));
    if (move.column.kind == COLUMN_SLACK) {
        s->entering[move.column.number] = 1;
    } else {
        of = s->type_of[move.column.number];
        column_add_variant(s, move.column.number, 1, s->entering, 1);
        column_add_variant(s, s->key[of], -1, s->entering, 1);
    }
    simplex_solve_column(s, s->entering);
    leaving = test_ratios(s, of);
    if (isinf(leaving.step))
        return false;
    simplex_exchange(s, move.column, &leaving);
    return true;
}

/* -- results -- */

double orr_area_bound(const struct orr_area *a, const double *price)
{
    double sum = 0, bound = 0;

    for (unsigned r = 0; r < a->nresources; r++)
        sum += price[r] * a->size[r];
    for (unsigned k = 0; k < a->ntypes; k++) {
        double least = INFINITY;

        for (unsigned w = a->first_variant[k]; w < a->first_variant[k + 1];
             w++) {
            double cost = 0;

            for (unsigned u = a->first_use[w]; u < a->first_use[w + 1]; u++)
                cost += price[a->use_resource[u]] * a->use[u];
            least = fmin(least, cost);
        }
        if (a->count[k] > 0)
            bound += a->count[k] * least;
    }
    return sum > 0 ? bound / sum : 0;
}

/* Keeps λ where it proves more than the last one did. */
static void keep_price(struct simplex *s, struct orr_area_solution *ret)
{
    double sum = 0, bound;

    for (unsigned r = 0; r < s->n; r++) {
        s->price[r] = fmax(0, s->y[r]);
        sum += s->price[r] * s->area->size[r];
    }
    if (!(sum > 0))
        return;
    bound = orr_area_bound(s->area, s->price);
    if (bound <= ret->bound)
        return;
    ret->bound = bound;
    for (unsigned r = 0; r < s->n; r++)
        ret->price[r] = s->price[r] / sum;
}

/* The fraction of its type that a variant does. */
static double variant_fraction(const struct simplex *s, unsigned variant)
{
    if (s->where[variant] == OUT)
        return 0;
    if (s->where[variant] == KEY)
        return fmax(0, key_value(s, s->type_of[variant]));
    return fmax(0, s->value[s->where[variant]]);
}

/* T of the basic solution, after what rounding left was cut. */
static void keep_primal(struct simplex *s, struct orr_area_solution *ret)
{
    const struct orr_area *a = s->area;

    memset(s->load, 0, s->n * sizeof(*s->load));
    for (unsigned k = 0; k < a->ntypes; k++) {
        double sum = 0;

        for (unsigned w = a->first_variant[k]; w < a->first_variant[k + 1]; w++)
            sum += variant_fraction(s, w);
        for (unsigned w = a->first_variant[k]; w < a->first_variant[k + 1];
             w++) {
            double share = variant_fraction(s, w) / sum;

            if (ret->x)
                ret->x[w] = share * a->count[k];
            if (share > 0)
                column_add_variant(s, w, share, s->load, 1);
        }
    }
    ret->primal = max_load(s, s->load);
}

static int simplex_run(struct simplex *s, double tolerance, double deadline,
                       struct orr_area_solution *ret)
{
    unsigned most = 1000 + 20 * (s->nvariants + s->n);
    bool late = false, ended = false;

    simplex_start(s);
    ret->bound = -1;
    ret->pivots = 0;
    while (simplex_refactor(s)) {
        double top = max_load(s, s->load);

        if (ret->pivots % 64 == 0) {
            late = orr_bound_clock() > deadline;
            keep_price(s, ret);
        }
        ended = late || ret->pivots == most || !simplex_pivot(s, TINY * top);
        if (ended)
            break;
        ret->pivots++;
    }
    if (ended) {
        keep_price(s, ret);
        keep_primal(s, ret);
    }
    if (!ended)
        return -EDOM;
    if (ret->primal - ret->bound <= tolerance * ret->primal)
        return 0;
    return late ? -ETIME : -EDOM;
}

static void simplex_done(struct simplex *s)
{
    free(s->type_of);
    free(s->key);
    free(s->where);
    free(s->columns);
    free(s->matrix);
    free(s->swaps);
    free(s->value);
    free(s->y);
    free(s->entering);
    free(s->key_rate);
    free(s->price);
    free(s->best_key);
    free(s->load);
}

static int simplex_init(struct simplex *s, const struct orr_area *a)
{
    size_t n = a->nresources, types = a->ntypes + 1;
    size_t variants = a->first_variant[a->ntypes] + 1;

    *s = (struct simplex){.area = a, .n = a->nresources};
    s->nvariants = a->first_variant[a->ntypes];
    s->type_of = calloc(variants, sizeof(*s->type_of));
    s->key = calloc(types, sizeof(*s->key));
    s->where = calloc(variants, sizeof(*s->where));
    s->columns = calloc(n, sizeof(*s->columns));
    s->matrix = calloc(n * n, sizeof(*s->matrix));
    s->swaps = calloc(n, sizeof(*s->swaps));
    s->value = calloc(n, sizeof(*s->value));
    s->y = calloc(n, sizeof(*s->y));
    s->entering = calloc(n, sizeof(*s->entering));
    s->key_rate = calloc(types, sizeof(*s->key_rate));
    s->price = calloc(n, sizeof(*s->price));
    s->best_key = calloc(types, sizeof(*s->best_key));
    s->load = calloc(n, sizeof(*s->load));
    if (!s->type_of || !s->key || !s->where || !s->columns || !s->matrix ||
        !s->swaps || !s->value || !s->y || !s->entering || !s->key_rate ||
        !s->price || !s->best_key || !s->load) {
        simplex_done(s);
        return -ENOMEM;
    }
    for (unsigned k = 0; k < a->ntypes; k++)
        for (unsigned w = a->first_variant[k]; w < a->first_variant[k + 1]; w++)
            s->type_of[w] = k;
    return 0;
}

int orr_area_solve(const struct orr_area *area, double tolerance,
                   double deadline, struct orr_area_solution *ret)
{
    struct simplex s;
    int rc = simplex_init(&s, area);

    if (rc)
        return rc;
    for (unsigned r = 0; r < area->nresources; r++)
        ret->price[r] = 1 / (area->size[r] * area->nresources);
    ret->primal = INFINITY;
    rc = simplex_run(&s, tolerance, deadline, ret);
    simplex_done(&s);
    return rc;
}
