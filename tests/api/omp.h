/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/omp.h - what the tests of starpu_openmp.h share: regions of a few
 * threads on the machines of machines.h, which have two processors.
 */
#pragma once

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"

typedef void (*omp_body_t)(void *buffers[], void *arg);

/* Numbers of threads: fewer than processors, as many, more. */
static const int omp_threads[] = {1, 2, 8};
enum { NTHREADS = 3, MANY = 8 };

static inline void omp_open(int machine)
{
    machine_choose(machine);
    setenv("STARPU_NCUDA", "1", 1); /* a simulated one takes a processor */
    ck_assert_int_eq(starpu_omp_init(), 0);
}

/* Bodies of regions, and of tasks made here, are for processors, also where other codelets
 * are lent functions for devices. */
#pragma push_macro("cpu_funcs")
#undef cpu_funcs

/* body(NULL, arg) in n threads. */
static inline void omp_parallel(int n, omp_body_t body, void *arg)
{
    struct starpu_omp_parallel_region_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.cl.cpu_funcs[0] = body;
    attr.cl_arg = arg;
    attr.if_clause = 1;
    attr.num_threads = n;
    starpu_omp_parallel_region(&attr);
}

/* A task that is deferred, to be filled further. */
static inline struct starpu_omp_task_region_attr omp_task(omp_body_t body,
                                                          void *arg)
{
    struct starpu_omp_task_region_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.cl.cpu_funcs[0] = body;
    attr.cl.name = "k";
    attr.cl_arg = arg;
    attr.if_clause = 1;
    return attr;
}

#pragma pop_macro("cpu_funcs")

/* Creates a task body(NULL, arg). */
static inline void omp_spawn(omp_body_t body, void *arg)
{
    struct starpu_omp_task_region_attr attr = omp_task(body, arg);

    starpu_omp_task_region(&attr);
}
