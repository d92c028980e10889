/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-memcpy.c - whether bus calibration finds what a plain
 * memcpy finds: copies of 32 MiB between two buffers of main memory, in turns
 * with the measuring of a node's copies within its memory, argv[1] times (5).
 * Plain copies during which the thread lost its processor are shown apart,
 * since calibration leaves such out. One line per measurement: name,
 * parameters, value, unit, spread, ratio. Main, and the thread that calibrates.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "core/device/bus/measure.h"
#include "core/device/memory_machine.h"
#include "core/device/threads.h"
#include "perfmodel/robust_private.h"

enum { REPEATS = 5, MOST = 50, COPIES = 60, BYTES = 32 << 20 };

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static long preemptions(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

static double median_of(double *values, unsigned n)
{
    orr_sort(values, n);
    return orr_quantile(values, n, 0.5);
}

/* MB/s, of all copies and of those that had the processor to themselves. */
struct plain {
    double all, undisturbed;
};

static struct plain run_plain(void)
{
    char *from = aligned_alloc(4096, BYTES), *to = aligned_alloc(4096, BYTES);
    double all[COPIES], undisturbed[COPIES];
    unsigned n = 0;
    struct plain plain;

    if (!from || !to)
        exit(1);
    memset(from, 1, BYTES);
    memset(to, 1, BYTES);
    memcpy(to, from, BYTES);
    for (int i = 0; i < COPIES; i++) {
        long before = preemptions();
        double begin = now_us();

        memcpy(to, from, BYTES);
        /* It is never read, which the compiler must not find out. */
        __asm__ volatile("" : : "r"(to) : "memory");
        all[i] = BYTES / (now_us() - begin);
        if (preemptions() == before)
            undisturbed[n++] = all[i];
    }
    free(from);
    free(to);
    plain.all = median_of(all, COPIES);
    plain.undisturbed = n ? median_of(undisturbed, n) : plain.all;
    return plain;
}

static double run_calibration(struct orr_exec *exec)
{
    const struct orr_bus_options options = {
        .budget_us = 6e5, .blocks = 3, .within = true};
    struct orr_bus_measures measures;
    struct orr_machine *machine;
    struct orr_error err = {""};
    double median;

    if (orr_memory_machine_open(exec, NULL, &machine, &err) < 0 ||
        orr_bus_measure(machine, &options, &measures, &err) < 0) {
        fprintf(stderr, "bench-memcpy: %s\n", err.text);
        exit(1);
    }
    median = orr_bus_measures_find(&measures, 0, 0, false)->bandwidth.median;
    orr_bus_measures_done(&measures);
    machine->ops->close(machine);
    return median;
}

static void print(const char *name, double *values, unsigned n,
                  const double *beside)
{
    double median = median_of(values, n), copy[MOST];

    printf("bench %s bytes=%d repeats=%u %.0f MB/s spread %.1f %%", name, BYTES,
           n, median, 100 * (values[n - 1] - values[0]) / median);
    if (beside) {
        memcpy(copy, beside, n * sizeof(*copy));
        printf(" ratio-to-calibration %.3f", median / median_of(copy, n));
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    double plain[MOST], undisturbed[MOST], calibrated[MOST];
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : REPEATS;
    struct orr_exec *exec;

    if (n < 1 || n > MOST || orr_threads_new(NULL, &exec) < 0)
        return 1;
    for (unsigned i = 0; i < n; i++) {
        struct plain one = run_plain();

        plain[i] = one.all;
        undisturbed[i] = one.undisturbed;
        calibrated[i] = run_calibration(exec);
    }
    print("bus-calibration", calibrated, n, NULL);
    print("memcpy-undisturbed", undisturbed, n, calibrated);
    print("memcpy", plain, n, calibrated);
    orr_threads_free(exec);
    return 0;
}
