/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/policies/heteroprio_score.c - see heteroprio_score.h. */
#include "core/policies/heteroprio_score.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_heteroprio.h>

static_assert((int)ORR_HP_NSCORES ==
                  STARPU_AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY_COUNT,
              "as many scores as the header names");

bool orr_hp_score_find(const char *text, unsigned *ret_number)
{
    char *end;
    long number = strtol(text, &end, 10);

    if (*text && !*end && number >= 0 && number < ORR_HP_NSCORES) {
        *ret_number = (unsigned)number;
        return true;
    }
    for (unsigned i = 0; i < ORR_HP_NSCORES; i++)
        if (strcmp(text,
                   starpu_autoheteroprio_priority_ordering_policy_names[i]) ==
            0) {
            *ret_number = i;
            return true;
        }
    return false;
}

/* exp that does not leave the numbers. */
static double bounded_exp(double x)
{
    return exp(fmin(x, 700));
}

/* ln(1 + exp x) */
static double soft_plus(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double logistic(double x)
{
    return 1 / (1 + bounded_exp(-x));
}

/* 0 and 24: what is released counts where architectures are alike. */
static double combination(double diff, double ratio, double released,
                          double weight, double selectivity)
{
    double far = fmax(ratio, 1 / ratio) - 1;

    return diff + weight * released * exp(-selectivity * far * far);
}

/* 1 and 2 */
static double best_nods(double diff, double nod, double selectivity)
{
    double m = diff > 0 ? 1 : exp(-selectivity * diff * diff);

    return (2 * m - 1) * nod;
}

/* 15 */
static double by_urt(double urt, double diff)
{
    double g = urt > 1 ? 1 : sqrt(urt * (2 - urt));

    return g * (1 + urt) * (1 + diff) - (1 - g) * soft_plus(-diff);
}

/* 16 */
static double by_logistic(double urt, double diff)
{
    return (logistic(urt) - 0.5) * (1 + urt) * (1 + diff) -
           (logistic(1 / urt) - 0.5) * bounded_exp(-diff);
}

#define K(name) orr_config_double(config, ORR_CFG_HP_##name)

/* The table of the header. */
static double formula(const struct orr_config *config, unsigned number,
                      const struct orr_hp_inputs *in)
{
    double t = fmax(in->own, 1e-9), d = in->other - t, q = in->other / t;
    double u = in->urt, n = in->nod, s = in->best_released;
    double need = in->need - in->other_need;

    switch (number) {
    case STARPU_HETEROPRIO_NOD_TIME_COMBINATION:
        return combination(d, q, n, K(NOD_TIME_MULTIPLIER),
                           K(NOD_TIME_SELECTIVITY));
    case STARPU_HETEROPRIO_BEST_NODS_SCORE:
        return best_nods(d, n, K(BEST_NODS_SELECTIVITY));
    case STARPU_HETEROPRIO_BEST_NODS:
        return best_nods(d, n, 0.5);
    case STARPU_HETEROPRIO_URT_PURE:
        return u;
    case STARPU_HETEROPRIO_URT:
        return K(URT_MULTIPLIER) * u + d;
    case STARPU_HETEROPRIO_URT_2:
        return K(URT_2_MULTIPLIER) * u + d +
               K(URT_2_NEED) * fmax(0, in->share * in->other_share * need);
    case STARPU_HETEROPRIO_URT_DOT_DIFF_PURE:
        return u * d;
    case STARPU_HETEROPRIO_URT_DOT_DIFF_PURE_2:
        return (1 + u) * d;
    case STARPU_HETEROPRIO_URT_DOT_REL_DIFF_PURE:
        return u * q;
    case STARPU_HETEROPRIO_URT_DOT_REL_DIFF_PURE_2:
        return (1 + u) * q;
    case STARPU_HETEROPRIO_URT_DOT_DIFF_2:
        return (1 + u) * d + K(DIFF_2_NEED) * t * need;
    case STARPU_HETEROPRIO_URT_DOT_DIFF_3:
        return (1 + u) * d + K(DIFF_3_NEED) * t * fmax(0, need);
    case STARPU_HETEROPRIO_URT_DOT_DIFF_4:
        return (1 + u) * d - K(DIFF_4_NEED) * t * fmax(0, -need);
    case STARPU_HETEROPRIO_URT_DOT_DIFF_5:
        return (K(DIFF_5_NOD) + u) * (K(DIFF_5_ARCH) + d);
    case STARPU_HETEROPRIO_URT_DOT_DIFF_6:
        return (1 + u) * soft_plus(d);
    case STARPU_HETEROPRIO_URT_DOT_DIFF_7:
        return by_urt(u, d);
    case STARPU_HETEROPRIO_URT_DOT_DIFF_8:
        return by_logistic(u, d);
    case STARPU_HETEROPRIO_URT_DOT_DIFF_9:
        return log(K(DIFF_9_NOD) + u) * atan(d + K(DIFF_9_ARCH) * u);
    case STARPU_HETEROPRIO_URT_DOT_DIFF_10:
        return (K(DIFF_10_NOD) + u) * atan(d) + K(DIFF_10_ARCH) * u;
    case STARPU_HETEROPRIO_URT_DOT_DIFF_11:
        return (K(DIFF_11_NOD) + u) * (d + K(DIFF_11_ARCH) * u);
    case STARPU_HETEROPRIO_URTS_PER_SECONDS:
        return u / t;
    case STARPU_HETEROPRIO_URTS_PER_SECONDS_2:
        return (u + d) / t;
    case STARPU_HETEROPRIO_URTS_PER_SECONDS_DIFF:
        return u / t + d;
    case STARPU_HETEROPRIO_URTS_TIME_RELEASED_DIFF:
        return u * (s + d) / t;
    case STARPU_HETEROPRIO_URTS_TIME_COMBINATION:
        return combination(d, q, u, K(URTS_TIME_MULTIPLIER),
                           K(URTS_TIME_SELECTIVITY));
    case STARPU_HETEROPRIO_NODS_PER_SECOND:
        return n / t;
    case STARPU_HETEROPRIO_NODS_TIME_RELEASED:
        return n * s / t;
    case STARPU_HETEROPRIO_NODS_TIME_RELEASED_DIFF:
        return n * (s + d) / t;
    default:
        return 0;
    }
}

double orr_hp_score(const struct orr_config *config, unsigned number,
                    const struct orr_hp_inputs *in)
{
    double score = formula(config, number, in);

    /* Constants that are far out may give infinity minus infinity. */
    return isnan(score) ? 0 : score;
}
