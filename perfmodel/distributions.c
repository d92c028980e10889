/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/distributions.c - rational approximations of quantiles. Pure
 * functions.
 */
#include "perfmodel/distributions.h"

#include <math.h>

/* Wichura, "The percentage points of the normal distribution", Applied
 * Statistics 37 (1988), the shorter of the two: PPND7. */
double orr_normal_quantile(double q)
{
    double d = q - 0.5, r, x;

    if (fabs(d) <= 0.425) {
        r = 0.180625 - d * d;
        return d *
               (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r +
                3.3871327179) /
               (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r +
                1.0);
    }
    r = sqrt(-log(d < 0 ? q : 1 - q));
    if (r <= 5) {
        r -= 1.6;
        x = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r +
             1.4234372777) /
            ((0.12021132975 * r + 0.73700164250) * r + 1.0);
    } else {
        r -= 5;
        x = (((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r +
             6.6579051150) /
            ((0.012258202635 * r + 0.24197894225) * r + 1.0);
    }
    return d < 0 ? -x : x;
}

double orr_normal_below(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

/* Hill, "Algorithm 396: Student's t-quantiles", CACM 13 (1970). */
double orr_student_within(double level, double freedom)
{
    double n = freedom, p = 1 - level;
    double a = 1 / (n - 0.5), b = 48 / (a * a);
    double c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
    double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * M_PI_2) * n;
    double y = pow(d * p, 2 / n);

    if (n > 1e6)
        return -orr_normal_quantile(p / 2);
    if (n < 1.5) /* one degree: Cauchy; values between are not used */
        return 1 / tan(p * M_PI_2);
    if (y > 0.05 + a) {
        double x = orr_normal_quantile(p / 2);

        y = x * x;
        if (n < 5)
            c += 0.3 * (n - 4.5) * (x + 0.6);
        c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
        y = expm1(a * y * y);
    } else {
        y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) +
              0.5 / (n + 4)) *
                 y -
             1) *
                (n + 1) / (n + 2) +
            1 / y;
    }
    return sqrt(n * y);
}
