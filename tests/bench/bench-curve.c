/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-curve.c - what fits and interpolation of performance models
 * cost, beside a plain least-squares line through the logarithms of the same
 * points in the same run. One thread.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "tests/unit/curve_noise.h"

enum { MOST = 200, BATCHES = 15, OBSERVATIONS = 1000 };

/* Processor time: other programs do not count. */
static double now_us(void)
{
    return bench_now_ns(CLOCK_THREAD_CPUTIME_ID) / 1e3;
}

static struct orr_point points[MOST];
static double values[OBSERVATIONS][2];
static struct orr_observation observations[OBSERVATIONS];
static volatile double sink;

static void plain_line(unsigned n)
{
    double su = 0, sv = 0, suu = 0, suv = 0;

    for (unsigned i = 0; i < n; i++) {
        double u = log(points[i].x), v = log(points[i].y);

        su += u;
        sv += v;
        suu += u * u;
        suv += u * v;
    }
    sink = (n * suv - su * sv) / (n * suu - su * su);
}

static void power(unsigned n)
{
    struct orr_power_regression regression;

    if (orr_fit_power(points, n, &regression) != 0)
        exit(1);
    sink = regression.a;
}

static void offset(unsigned n)
{
    struct orr_power_regression regression;

    if (orr_fit_offset(points, n, &regression) != 0 || !regression.converged)
        exit(1);
    sink = regression.a;
}

static void interpolate(unsigned n)
{
    sink = orr_interpolate(points, n, 100).value;
}

static void polynomial(unsigned n)
{
    static const unsigned exponents[] = {1, 0, 1, 2};
    const struct orr_terms terms = {2, 2, exponents};
    struct orr_polynomial p;

    if (orr_fit_polynomial(&terms, observations, n, &p) != 0)
        exit(1);
    sink = p.coeff[0];
    free(p.coeff);
}

/* Median over batches of the time of one call; *ret_spread: half the distance
 * of the quartiles. */
static double time_of(void (*call)(unsigned n), unsigned n, double *ret_spread)
{
    double times[BATCHES], median;
    unsigned repeats = 1;

    for (double start = now_us(); now_us() - start < 2000; repeats++)
        call(n);
    for (unsigned b = 0; b < BATCHES; b++) {
        double start = now_us();

        for (unsigned r = 0; r < repeats; r++)
            call(n);
        times[b] = (now_us() - start) / repeats;
    }
    median = bench_median(times, BATCHES);
    *ret_spread = (times[BATCHES * 3 / 4] - times[BATCHES / 4]) / 2;
    return median;
}

static void bench(const char *name, void (*call)(unsigned n), unsigned n)
{
    double plain_spread, spread;
    double plain = time_of(plain_line, n < MOST ? n : MOST, &plain_spread);
    double time = time_of(call, n, &spread);

    printf("bench curve %-11s n=%-4u %9.2f us +- %.2f, %.0f plain lines\n",
           name, n, time, spread, time / plain);
}

int main(void)
{
    static const unsigned sizes[] = {6, 32, MOST};
    struct noise noise = {1, 0.05, 0.01};

    for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        for (unsigned i = 0; i < sizes[k]; i++) {
            double x = 32 * pow(32, i / (sizes[k] - 1.0));

            points[i] = noise_point(&noise, x, 9 + 3e-5 * x * x * x, 50);
        }
        bench("power", power, sizes[k]);
        bench("offset", offset, sizes[k]);
        bench("interpolate", interpolate, sizes[k]);
    }
    for (unsigned i = 0; i < OBSERVATIONS; i++) {
        values[i][0] = 16 << i % 5;
        values[i][1] = 16 << i / 5 % 5;
        observations[i].parameters = values[i];
        observations[i].y = noise_sample(
            &noise, 9 + 3e-5 * values[i][0] * values[i][1] * values[i][1]);
    }
    bench("polynomial", polynomial, OBSERVATIONS);
    return 0;
}
