/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/power_regression.c - robust fits of y = a·x^b and y = a·x^b + c.
 * Pure functions.
 *
 * Both are MM-estimates (Yohai, Annals of Statistics 15, 1987) of ln y: from a
 * start that bad points cannot move, the scale of the residuals is taken, then
 * Tukey's bisquare loss at that scale is minimised by Levenberg-Marquardt
 * (Marquardt, J. SIAM 11, 1963) with reweighting. Points have variance var[i] +
 * tau², where var is the measures' own and tau² what the regression itself is
 * off: the random-effects model of Paule & Mandel (J. Res. NBS 87, 1982), with
 * the median in place of their sum of squares. So a point of tiny error does
 * not dominate where the regression fits badly anyhow.
 *
 * Starts: for the power law the median slope of pairs (Theil 1950). With the
 * offset, exponents on a grid; for each, lines through pairs of points in (x^b,
 * y), rated by all points under a Cauchy loss.
 *
 * Inside, a regression is e^level · (share·(x / x0)^b + 1 - share), where x0 is
 * the largest size: the time there, the share of it that grows, and how. A
 * change of one of them leaves room for few of the others, while in a, b and c
 * the loss has narrow bent valleys where points are nearly flat or only the
 * last ones rise. Bounds on share and b are kept by projection, and c >= 0 with
 * them.
 */
#include "perfmodel/curve_private.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BISQUARE    4.685  /* 95 % efficiency for normal errors */
#define CHI_MEDIAN  0.4549 /* median of chi² with one degree of freedom */
#define LEAST_SCALE 0.01   /* points within 4.7 % are never set aside */
#define MOST_STEPS  200
/* A step that gains less than this share of the loss is the last: on the way,
 * and at the end. */
#define ROUGH_GAIN  1e-4
#define FINE_GAIN   1e-9

/* Mean square of residuals over their variance at which a fit is as good as
 * exact. Without it, times that are all equal would be followed down to a = 0,
 * step by step. */
#define LEAST_LOSS     1e-8
#define MOST_ROUNDS    8
#define EXACT_LEFT_OUT 32 /* sizes up to which leaving out fits anew */

enum { LEVEL, EXPONENT, SHARE, NPARAMETERS };
enum { NO_SKIP = UINT_MAX };

struct theta {
    double p[NPARAMETERS];
};

/* Without an offset, and with one. */
static const double lowest[2][NPARAMETERS] = {{-700, -60, 1},
                                              {-700, 0.01, 1e-12}};
static const double highest[2][NPARAMETERS] = {{700, 60, 1}, {700, 20, 1}};

struct fit {
    const struct orr_series *s;
    unsigned np;     /* parameters: 2, or 3 with an offset */
    unsigned skip;   /* a point that is left out, or NO_SKIP */
    unsigned count;  /* points that are not */
    double u0, v0;   /* largest ln x, mean of ln y */
    double tau2;     /* variance of the regression's own misfit */
    double *r;       /* residuals of ln y */
    double *w;       /* weights; 0: set aside */
    double *scratch; /* room for 2 n */
    unsigned steps;  /* taken in all */
};

static int fit_init(struct fit *fit, const struct orr_series *series,
                    unsigned np)
{
    double *d = malloc(4 * (size_t)series->n * sizeof(*d));

    if (!d)
        return -ENOMEM;
    *fit = (struct fit){.s = series,
                        .np = np,
                        .skip = NO_SKIP,
                        .count = series->n,
                        .r = d,
                        .w = d + series->n,
                        .scratch = d + 2 * (size_t)series->n};
    fit->u0 = series->u[series->n - 1];
    for (unsigned i = 0; i < series->n; i++)
        fit->v0 += series->v[i] / series->n;
    return 0;
}

static void fit_done(struct fit *fit)
{
    free(fit->r);
}

static double parameter_bound(const struct fit *fit,
                              const double (*table)[NPARAMETERS], unsigned k)
{
    return table[fit->np == NPARAMETERS][k];
}

/* With few points beyond the parameters outliers cannot be identified. */
static bool may_reject(const struct fit *fit)
{
    return fit->count >= fit->np + 3;
}

static void fit_set_residuals(struct fit *fit, const struct theta *t)
{
    const struct orr_series *s = fit->s;

    for (unsigned i = 0; i < s->n; i++) {
        double line = t->p[EXPONENT] * (s->u[i] - fit->u0);

        if (t->p[SHARE] < 1)
            line = log(t->p[SHARE] * exp(line) + 1 - t->p[SHARE]);
        fit->r[i] = s->v[i] - fit->v0 - t->p[LEVEL] - line;
    }
}

/* tau² of the residuals: what the median of r² is above the points' own
 * variance. The smallest residuals, which the parameters took to zero, do not
 * count. */
static double fit_excess_variance(const struct fit *fit)
{
    double *t = fit->scratch;
    unsigned n = 0;

    if (fit->count <= fit->np)
        return 0;
    for (unsigned i = 0; i < fit->s->n; i++)
        if (i != fit->skip)
            t[n++] = fit->r[i] * fit->r[i] / CHI_MEDIAN - fit->s->var[i];
    orr_median_of(t, n); /* sorts */
    return fmax(0, orr_median_sorted(t + fit->np - 1, n - fit->np + 1));
}

/* Sets the weights from the residuals and returns the loss. */
static double fit_set_weights(struct fit *fit)
{
    bool reject = may_reject(fit);
    double loss = 0;

    for (unsigned i = 0; i < fit->s->n; i++) {
        double var = fit->s->var[i] + fit->tau2, r2 = fit->r[i] * fit->r[i];
        double edge =
            BISQUARE * BISQUARE * fmax(var, LEAST_SCALE * LEAST_SCALE);
        double q = reject ? 1 - fmin(1, r2 / edge) : 1, precision = 1 / var;

        fit->w[i] = i == fit->skip ? 0 : q * q * precision;
        if (i != fit->skip)
            loss += precision * (reject ? edge / 3 * (1 - q * q * q) : r2);
    }
    return loss;
}

static double loss_at(struct fit *fit, const struct theta *t)
{
    fit_set_residuals(fit, t);
    return fit_set_weights(fit);
}

/* d ln y / d parameter at point i. */
static void fit_gradient(const struct fit *fit, const struct theta *t,
                         unsigned i, double ret[NPARAMETERS])
{
    double u = fit->s->u[i] - fit->u0;
    double power, sum;

    ret[LEVEL] = 1;
    if (fit->np < NPARAMETERS) { /* a line: most of the time goes into this */
        ret[EXPONENT] = u;
        return;
    }
    power = exp(t->p[EXPONENT] * u);
    sum = t->p[SHARE] * power + 1 - t->p[SHARE];
    ret[EXPONENT] = t->p[SHARE] * power / sum * u;
    ret[SHARE] = (power - 1) / sum;
}

struct normal {
    double a[NPARAMETERS][NPARAMETERS]; /* Jᵀ W J */
    double g[NPARAMETERS];              /* Jᵀ W r */
};

static void normal_equations(const struct fit *fit, const struct theta *t,
                             struct normal *ret)
{
    double j[NPARAMETERS];

    *ret = (struct normal){0};
    for (unsigned i = 0; i < fit->s->n; i++) {
        if (fit->w[i] <= 0)
            continue;
        fit_gradient(fit, t, i, j);
        for (unsigned k = 0; k < fit->np; k++) {
            ret->g[k] += fit->w[i] * j[k] * fit->r[i];
            for (unsigned l = 0; l <= k; l++)
                ret->a[k][l] += fit->w[i] * j[k] * j[l];
        }
    }
}

/* Solves (A + lambda·diag A) x = g by Cholesky's method; parameters that are
 * not free stay as they are. */
static void normal_solve(const struct normal *normal, unsigned np,
                         const bool *is_free, double lambda, const double *g,
                         double x[NPARAMETERS])
{
    double l[NPARAMETERS][NPARAMETERS] = {{0}};

    for (unsigned k = 0; k < np; k++) {
        double sum = is_free[k] ? g[k] : 0;

        for (unsigned m = 0; m <= k; m++) {
            double a = is_free[k] && is_free[m] ? normal->a[k][m] : k == m;

            if (k == m)
                a = a * (1 + lambda) + 1e-300;
            for (unsigned i = 0; i < m; i++)
                a -= l[k][i] * l[m][i];
            /* Rounding may leave a singular matrix with a negative pivot. */
            if (k == m)
                l[k][k] = sqrt(fmax(a, 1e-15 * normal->a[k][k] + 1e-300));
            else
                l[k][m] = a / l[m][m];
        }
        for (unsigned i = 0; i < k; i++)
            sum -= l[k][i] * x[i];
        x[k] = sum / l[k][k];
    }
    for (unsigned k = np; k-- > 0;) {
        for (unsigned i = k + 1; i < np; i++)
            x[k] -= l[i][k] * x[i];
        x[k] /= l[k][k];
    }
}

/* Which parameters may move: those not at a bound that the loss pushes against.
 * Returns whether none of them would gain anything. */
static bool find_free(const struct fit *fit, const struct theta *t,
                      const struct normal *normal, double loss,
                      bool is_free[NPARAMETERS])
{
    bool flat = true;

    for (unsigned k = 0; k < fit->np; k++) {
        double scale = sqrt(normal->a[k][k] * loss);

        is_free[k] =
            !(t->p[k] <= parameter_bound(fit, lowest, k) &&
              normal->g[k] <= 0) &&
            !(t->p[k] >= parameter_bound(fit, highest, k) && normal->g[k] >= 0);
        flat = flat && (!is_free[k] || fabs(normal->g[k]) <= 1e-9 * scale);
    }
    return flat;
}

static void theta_step(const struct fit *fit, struct theta *t,
                       const double step[NPARAMETERS])
{
    for (unsigned k = 0; k < fit->np; k++)
        t->p[k] = fmin(fmax(t->p[k] + step[k], parameter_bound(fit, lowest, k)),
                       parameter_bound(fit, highest, k));
}

/* Goes down from *t; says whether it arrived. *ret_loss is the loss there, and
 * residuals and weights belong to it. */
static bool fit_descend(struct fit *fit, struct theta *t, double gain,
                        double *ret_loss)
{
    double loss = loss_at(fit, t), lambda = 1e-3, next = loss;
    bool is_free[NPARAMETERS];
    bool arrived = false;

    for (unsigned n = 0; n < MOST_STEPS && !arrived; n++, fit->steps++) {
        struct normal normal;
        struct theta tried = *t;
        double step[NPARAMETERS] = {0};

        normal_equations(fit, t, &normal);
        if (loss <= LEAST_LOSS * fit->count ||
            find_free(fit, t, &normal, loss, is_free)) {
            arrived = true;
            break;
        }
        for (; lambda < 1e12; lambda *= 8) {
            normal_solve(&normal, fit->np, is_free, lambda, normal.g, step);
            tried = *t;
            theta_step(fit, &tried, step);
            next = loss_at(fit, &tried);
            if (next < loss)
                break;
        }
        /* No step makes it smaller: only rounding is left. */
        arrived = !(next < loss) || loss - next <= gain * loss;
        if (next < loss) {
            *t = tried;
            loss = next;
        }
        lambda = fmax(lambda / 10, 1e-9);
    }
    *ret_loss = loss_at(fit, t);
    return arrived;
}

/* Descends, with the scale taken anew each time until it stays. */
static bool fit_descend_with_scale(struct fit *fit, struct theta *t)
{
    double loss;

    for (unsigned round = 0; round < MOST_ROUNDS; round++) {
        double before = fit->tau2;

        fit_descend(fit, t, ROUGH_GAIN, &loss);
        fit->tau2 = fit_excess_variance(fit);
        if (fabs(fit->tau2 - before) <= 0.05 * (before + 1e-8))
            break;
    }
    return fit_descend(fit, t, FINE_GAIN, &loss);
}

/* The level of a power law with exponent b. */
static double median_level(const struct fit *fit, double b)
{
    for (unsigned i = 0; i < fit->s->n; i++)
        fit->scratch[i] = fit->s->v[i] - fit->v0 - b * (fit->s->u[i] - fit->u0);
    return orr_median_of(fit->scratch, fit->s->n);
}

/* Theil's median of slopes: of all pairs when that is cheap, else of pairs half
 * the points apart. */
static int start_power(const struct fit *fit, struct theta *ret)
{
    const struct orr_series *s = fit->s;
    unsigned n = s->n, apart = n <= 16 ? 1 : n / 2, count = 0;
    unsigned room = n <= 16 ? n * (n - 1) / 2 : n - apart;
    double *slope = malloc(room * sizeof(*slope));

    if (!slope)
        return -ENOMEM;
    for (unsigned i = 0; i + apart < n; i++)
        for (unsigned j = i + apart; j < n; j++) {
            slope[count++] = (s->v[j] - s->v[i]) / (s->u[j] - s->u[i]);
            if (apart > 1)
                break;
        }
    ret->p[EXPONENT] = orr_median_of(slope, count);
    free(slope);
    ret->p[LEVEL] = median_level(fit, ret->p[EXPONENT]);
    ret->p[SHARE] = 1;
    return 0;
}

enum {
    NEXPONENTS = 17,
    NPROBES = 24, /* points that rate a start */
    NSTARTS = 3,
};

static const double exponents[NEXPONENTS] = {0.1,  0.25, 0.4,  0.6, 0.8,  1,
                                             1.25, 1.5,  1.75, 2,   2.25, 2.5,
                                             2.75, 3,    3.5,  4.5, 6};

/* A share of the points, for the search of starts. */
struct probes {
    unsigned n;
    double u[NPROBES], y[NPROBES]; /* y from its geometric mean */
    double power[NPROBES];         /* x^b of the exponent at hand */
};

struct start {
    double badness; /* INFINITY: none */
    struct theta theta;
};

static void probes_init(struct probes *probes, const struct fit *fit)
{
    unsigned n = fit->s->n;

    probes->n = n < NPROBES ? n : NPROBES;
    for (unsigned k = 0; k < probes->n; k++) {
        unsigned i = probes->n == 1 ? 0 : k * (n - 1) / (probes->n - 1);

        probes->u[k] = fit->s->u[i] - fit->u0;
        probes->y[k] = exp(fit->s->v[i] - fit->v0);
    }
}

/* Π (1 + (relative error / 5 %)²), the Cauchy loss without its logarithm; stops
 * when it is above `most`. The error is that of the larger of y and its
 * estimate, so that too much and too little count alike. */
static double probes_badness(const struct probes *probes, double a, double c,
                             double most)
{
    double product = 1;

    for (unsigned k = 0; k < probes->n && product < most; k++) {
        double y = a * probes->power[k] + c;
        double z = (y - probes->y[k]) / (0.05 * fmin(y, probes->y[k]));

        product *= 1 + z * z;
    }
    return product;
}

/* The best line through two of the probes for the exponent b. */
static struct start best_line(struct probes *probes, double b)
{
    unsigned stride = (probes->n + 11) / 12;
    struct start ret = {.badness = INFINITY};

    for (unsigned k = 0; k < probes->n; k++)
        probes->power[k] = exp(b * probes->u[k]);
    for (unsigned i = 0; i < probes->n; i += stride)
        for (unsigned j = i + stride; j < probes->n; j += stride) {
            double a = (probes->y[j] - probes->y[i]) /
                       (probes->power[j] - probes->power[i]);
            double c = probes->y[i] - a * probes->power[i];
            double bad;

            if (!(a > 0) || c < 0)
                continue;
            bad = probes_badness(probes, a, c, ret.badness);
            if (bad < ret.badness)
                ret = (struct start){bad, {{log(a + c), b, a / (a + c)}}};
        }
    return ret;
}

/* The best starts, one per exponent. */
static void start_offset(const struct fit *fit, struct start ret[NSTARTS])
{
    struct probes probes;

    probes_init(&probes, fit);
    for (unsigned k = 0; k < NSTARTS; k++)
        ret[k].badness = INFINITY;
    for (unsigned e = 0; e < NEXPONENTS; e++) {
        struct start new = best_line(&probes, exponents[e]);

        for (unsigned k = 0; k < NSTARTS; k++)
            if (new.badness < ret[k].badness) {
                struct start old = ret[k];

                ret[k] = new;
                new = old;
            }
    }
}

/* Relative error at the points when each is left out in turn; those set aside
 * are no measure of it. By the leverage where that is exact, for lines, and
 * with many points, where the problem is all but linear (Cook & Weisberg,
 * Residuals and Influence in Regression, 1982). */
static double left_out_error(struct fit *fit, const struct theta *t)
{
    const bool is_free[NPARAMETERS] = {true, true, true};
    struct normal normal;
    double sum = 0, loss;
    unsigned kept = 0, n = fit->s->n;
    double *r = fit->r, *w = fit->w;

    for (unsigned i = 0; i < n; i++)
        kept += w[i] > 0;
    if (kept <= fit->np)
        return (double)NAN;
    normal_equations(fit, t, &normal);
    for (unsigned i = 0; i < n; i++) {
        double j[NPARAMETERS], x[NPARAMETERS] = {0}, h = 0, left;

        if (w[i] <= 0)
            continue;
        if (fit->np == NPARAMETERS && n <= EXACT_LEFT_OUT) {
            struct fit without = *fit;
            struct theta refit = *t;

            without.skip = i;
            without.count--;
            without.r = fit->scratch;
            without.w = fit->scratch + n;
            fit_descend(&without, &refit, ROUGH_GAIN, &loss);
            left = without.r[i];
        } else {
            fit_gradient(fit, t, i, j);
            normal_solve(&normal, fit->np, is_free, 1e-12, j, x);
            for (unsigned k = 0; k < fit->np; k++)
                h += w[i] * j[k] * x[k];
            left = r[i] / fmax(1 - h, 1e-3);
        }
        sum += left * left;
    }
    return expm1(sqrt(sum / kept));
}

/* Fills *ret but its error; residuals and weights belong to *t. Errors:
 * -EDOM when a is no number that a double can hold. */
static int fit_conclude(const struct fit *fit, const struct theta *t,
                        bool arrived, struct orr_power_regression *ret)
{
    const struct orr_series *s = fit->s;
    double level = t->p[LEVEL] + fit->v0, share = t->p[SHARE];
    double a = share * exp(level - t->p[EXPONENT] * fit->u0);

    if (!isnormal(a))
        return -EDOM;
    *ret = (struct orr_power_regression){
        .a = a,
        .b = t->p[EXPONENT],
        .c = (1 - share) * exp(level),
        .minx = s->x[0],
        .maxx = s->x[s->n - 1],
        .npoints = s->n,
        .error = (double)NAN,
        .iterations = fit->steps,
        .converged = arrived,
    };
    for (unsigned i = 0; i < s->n; i++)
        ret->noutliers += fit->w[i] <= 0;
    return 0;
}

int orr_series_fit_power(const struct orr_series *series,
                         struct orr_power_regression *ret)
{
    struct theta t = {{0}};
    struct fit fit;
    bool arrived;
    int rc;

    if (series->n < 2)
        return -EDOM;
    rc = fit_init(&fit, series, 2);
    if (rc)
        return rc;
    rc = start_power(&fit, &t);
    if (!rc) {
        theta_step(&fit, &t,
                   (const double[NPARAMETERS]){0}); /* into the bounds */
        fit_set_residuals(&fit, &t);
        fit.tau2 = fit_excess_variance(&fit);
        arrived = fit_descend_with_scale(&fit, &t);
        rc = fit_conclude(&fit, &t, arrived, ret);
        if (!rc)
            ret->error = left_out_error(&fit, &t);
    }
    fit_done(&fit);
    return rc;
}

/* Descends from each start at the scale of the best one, and keeps the best
 * place reached. */
static struct theta best_of(struct fit *fit, const struct theta *starts,
                            unsigned n)
{
    struct theta best = starts[0];
    double least = INFINITY, loss;

    fit->tau2 = INFINITY;
    for (unsigned k = 0; k < n; k++) {
        fit_set_residuals(fit, &starts[k]);
        fit->tau2 = fmin(fit->tau2, fit_excess_variance(fit));
    }
    for (unsigned k = 0; k < n; k++) {
        struct theta t = starts[k];

        fit_descend(fit, &t, ROUGH_GAIN, &loss);
        if (loss < least) {
            least = loss;
            best = t;
        }
    }
    return best;
}

int orr_series_fit_offset(const struct orr_series *series, bool validate,
                          struct orr_power_regression *ret)
{
    struct theta starts[NSTARTS + 2] = {0}, t;
    struct start lines[NSTARTS];
    struct fit fit;
    unsigned n = 0;
    bool arrived;
    int rc;

    if (series->n < 3)
        return -EDOM;
    rc = fit_init(&fit, series, 3);
    if (rc)
        return rc;
    start_offset(&fit, lines);
    for (unsigned k = 0; k < NSTARTS; k++)
        if (lines[k].badness < (double)INFINITY)
            starts[n++] = lines[k].theta;
    rc = start_power(&fit, &starts[n]);
    if (!rc) {
        /* The pure power law, then next to nothing but the offset. */
        theta_step(&fit, &starts[n++], (const double[NPARAMETERS]){0});
        starts[n++] = (struct theta){{median_level(&fit, 0), 1, 0.01}};
        t = best_of(&fit, starts, n);
        arrived = fit_descend_with_scale(&fit, &t);
        rc = fit_conclude(&fit, &t, arrived, ret);
        if (!rc && validate)
            ret->error = left_out_error(&fit, &t);
    }
    fit_done(&fit);
    return rc;
}
