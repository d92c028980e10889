/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmodel/step.c - see step.h. No state. */
#include "perfmodel/step.h"

#include <math.h>

/* The exponent beyond which no kernel's time grows with its size (STEEPEST of
 * interpolate.c), and below which none shrinks. */
static const double most_exponent = 2, least_exponent = 0;

/* That of most: what grows by no more has no step. */
static const double usual_exponent = 1;

static double secant_slope(const double *u, const double *v, unsigned i)
{
    return (v[i + 1] - v[i]) / (u[i + 1] - u[i]);
}

/* The exponent of a branch at the gap beside which it begins. */
static double clamp_exponent(double exponent)
{
    return fmin(fmax(exponent, least_exponent), most_exponent);
}

double orr_step_furthest(const double *u, const double *v, unsigned n, double t,
                         double value, double least)
{
    unsigned k = 0;
    double here, left, right, width, lower, upper, step;

    if (n < 2 || !(t > u[0] && t < u[n - 1]))
        return 0;
    while (u[k + 1] < t)
        k++;
    here = secant_slope(u, v, k);
    /* At an end the only neighbour does not tell a step from a bend. */
    left = k > 0 ? secant_slope(u, v, k - 1) : clamp_exponent(here);
    right = k + 2 < n ? secant_slope(u, v, k + 1) : clamp_exponent(here);
    width = u[k + 1] - u[k];
    step = fmax(here - fmax(fmax(left, right), usual_exponent),
                fmin(fmin(left, right), least_exponent) - here) *
           width;
    if (step < least)
        return 0;
    lower = v[k] + clamp_exponent(left) * (t - u[k]);
    upper = v[k + 1] - clamp_exponent(right) * (u[k + 1] - t);
    return fmax(fabs(lower - value), fabs(upper - value));
}
