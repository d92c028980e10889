/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/core_rates.c - see core_rates.h. The peak is that of twelve
 * independent chains of multiplications and additions in registers, as wide as the
 * processor has them; the bandwidth that of copies of more than the private
 * caches hold. By processor time, so that other programs that use the processor
 * meanwhile do not count. One thread.
 */
#include "tools/perfmodel/core_rates.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TRIES = 5,
    ROUNDS = 400000, /* some 2 ms */
    CHAINS = 12,
};

#define COPIED ((size_t)64 << 20) /* bytes */

static double processor_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* Takes the sum of all chains, so that none can be left out. */
static volatile double sink;

/* A function that computes ROUNDS times with vectors of so many bytes. */
#define CHAINS_OF(NAME, TYPE, BYTES, TARGET)                                   \
    TARGET static double NAME(void)                                            \
    {                                                                          \
        typedef TYPE vector __attribute__((vector_size(BYTES)));               \
        const vector by = (vector){} + (TYPE)0.999,                            \
                     plus = (vector){} + (TYPE)0.001;                          \
        vector a = plus, b = a + 1, c = a + 2, d = a + 3, e = a + 4,           \
               f = a + 5, g = a + 6, h = a + 7, i = a + 8, j = a + 9,          \
               k = a + 10, l = a + 11;                                         \
        double start = processor_us();                                         \
                                                                               \
        for (int round = 0; round < ROUNDS; round++) {                         \
            a = a * by + plus;                                                 \
            b = b * by + plus;                                                 \
            c = c * by + plus;                                                 \
            d = d * by + plus;                                                 \
            e = e * by + plus;                                                 \
            f = f * by + plus;                                                 \
            g = g * by + plus;                                                 \
            h = h * by + plus;                                                 \
            i = i * by + plus;                                                 \
            j = j * by + plus;                                                 \
            k = k * by + plus;                                                 \
            l = l * by + plus;                                                 \
        }                                                                      \
        start = processor_us() - start;                                        \
        a += b + c + d + e + f + g + h + i + j + k + l;                        \
        sink = (double)a[0];                                                   \
        return 2. * CHAINS * ROUNDS * (BYTES / sizeof(TYPE)) / start;          \
    }

CHAINS_OF(narrow32, float, 16, )
CHAINS_OF(narrow64, double, 16, )
#ifdef __x86_64__
CHAINS_OF(fma32, float, 32, __attribute__((target("avx2,fma"))))
CHAINS_OF(fma64, double, 32, __attribute__((target("avx2,fma"))))
CHAINS_OF(wide32, float, 64, __attribute__((target("avx512f"))))
CHAINS_OF(wide64, double, 64, __attribute__((target("avx512f"))))
#endif

static int compare_rates(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The highest of several tries: what disturbs makes them lower. *spread grows to how
 * far below it their median is. */
static double best_of_tries(double tries[TRIES], double *spread)
{
    qsort(tries, TRIES, sizeof(*tries), compare_rates);
    *spread = fmax(*spread, 1 - tries[TRIES / 2] / tries[TRIES - 1]);
    return tries[TRIES - 1];
}

static double measure_flops(double (*measure)(void), double *spread)
{
    double tries[TRIES];

    for (int i = 0; i < TRIES; i++)
        tries[i] = measure();
    return best_of_tries(tries, spread);
}

/* 0 without memory. */
static double measure_copy_rate(double *spread)
{
    char *from = malloc(COPIED), *to = malloc(COPIED);
    double tries[TRIES];
    bool room = from && to;

    if (room) {
        memset(from, 1, COPIED);
        memset(to, 2, COPIED); /* the pages are there */
    }
    for (int i = 0; room && i < TRIES; i++) {
        double start = processor_us();

        memcpy(to, from, COPIED);
        /* it is read and written */
        tries[i] = 2. * COPIED / (processor_us() - start);
        sink = to[(size_t)i * 4096];
    }
    free(from);
    free(to);
    return room ? best_of_tries(tries, spread) : 0;
}

bool core_rates_measure(struct core_rates *ret)
{
    struct core_rates rates = {0};
    double (*f32)(void) = narrow32, (*f64)(void) = narrow64;

#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        f32 = fma32;
        f64 = fma64;
    }
    if (__builtin_cpu_supports("avx512f")) {
        f32 = wide32;
        f64 = wide64;
    }
#endif
    rates.flops = measure_flops(f32, &rates.spread);
    rates.flops64 = measure_flops(f64, &rates.spread);
    rates.bytes = measure_copy_rate(&rates.spread);
    if (!(rates.bytes > 0))
        return false;
    *ret = rates;
    return true;
}
