/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-runtimes.c - what it costs to open and close a runtime beside an
 * equal one, on the same engine, in microseconds of the thread's processor time; and
 * the ratio to the first one, which makes the engine. The further one is the median of
 * several.
 */
#include <errno.h>
#include <stdio.h>

#include "bench.h"
#include "core/base/module.h"
#include "core/device/pinned.h"
#include "core/exec/runtime.h"
#include "core/open.h"
#include "sim/machine.h"

enum { NFURTHER = 51 };

/* The module is part of the program. */
int __wrap_orr_module_open(const char *name, const void **ret,
                           struct orr_error *err);
int __wrap_orr_module_open(const char *name, const void **ret,
                           struct orr_error *err)
{
    (void)name;
    (void)err;
    *ret = &orr_sim_ops;
    return 0;
}

static struct orr_pinned pinned = {.lock = PTHREAD_MUTEX_INITIALIZER};
static double opened[NFURTHER], closed[NFURTHER];

/* Microseconds; the program ends where the machine cannot be opened. */
static double open_runtime(const char *machine)
{
    const struct orr_setting settings[] = {{ORR_CFG_MACHINE, machine},
                                           {ORR_CFG_SCHED, "dmdas"},
                                           {0, NULL}};
    double since = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);

    if (orr_runtime_start(NULL, settings, &pinned) != 0)
        exit(1);
    return (bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - since) / 1e3;
}

static double close_runtime(void)
{
    double since = bench_now_ns(CLOCK_THREAD_CPUTIME_ID);

    orr_runtime_stop(orr_self->runtime);
    return (bench_now_ns(CLOCK_THREAD_CPUTIME_ID) - since) / 1e3;
}

static void open_further(void *machine)
{
    for (unsigned i = 0; i < NFURTHER; i++) {
        opened[i] = open_runtime(machine);
        closed[i] = close_runtime();
    }
    orr_context_end();
}

static void measure(const char *machine)
{
    struct orr_context init = {.name = "another main"};
    struct orr_context *context;
    double first = open_runtime(machine);
    struct orr_exec *exec = orr_self->exec;

    if (exec->ops->spawn(exec, &init, -1, open_further,
                         (void *)(uintptr_t)machine, &context) != 0)
        exit(1);
    exec->ops->join(exec, context);
    first += close_runtime();
    for (unsigned i = 0; i < NFURTHER; i++)
        opened[i] += closed[i];
    printf("bench runtimes %s first %.1f us, further %.1f us, ratio %.3f\n",
           machine, first, bench_median(opened, NFURTHER),
           bench_median(opened, NFURTHER) / first);
}

int main(void)
{
    measure("h100-pcie-4");
    measure("hgx-h100-8");
    measure("epyc-64");
    return 0;
}
