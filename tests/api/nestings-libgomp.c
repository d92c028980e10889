/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/nestings-libgomp.c - nestings.h by the compiler's own OpenMP. */
#include <omp.h>

#include "nestings.h"

static void execute(struct node *list);

static void run_inside(struct node *node)
{
    atomic_fetch_add(&node->theirs, 1);
    execute(node->inside);
}

static void single(struct node *node)
{
    if (node->nowait) {
#pragma omp single nowait
        run_inside(node);
    } else {
#pragma omp single
        run_inside(node);
    }
}

static void iterate(struct node *node)
{
    omp_set_schedule((omp_sched_t)node->schedule, node->chunk);
    if (node->nowait) {
#pragma omp for schedule(runtime) nowait
        for (int i = 0; i < node->n; i++)
            run_inside(node);
    } else {
#pragma omp for schedule(runtime)
        for (int i = 0; i < node->n; i++)
            run_inside(node);
    }
}

static void iterate_in_order(struct node *node)
{
    omp_set_schedule((omp_sched_t)node->schedule, node->chunk);
#pragma omp for schedule(runtime) ordered
    for (int i = 0; i < node->n; i++) {
#pragma omp ordered
        run_inside(node);
    }
}

/* A node has four at most. */
static void sections(struct node *node)
{
#pragma omp sections
    {
#pragma omp section
        run_inside(node);
#pragma omp section
        if (node->n > 1)
            run_inside(node);
#pragma omp section
        if (node->n > 2)
            run_inside(node);
#pragma omp section
        if (node->n > 3)
            run_inside(node);
    }
}

static void create_tasks(struct node *node)
{
    for (int i = 0; i < node->n; i++) {
#pragma omp task firstprivate(node) if (node->chunk != 1)                      \
    final(node->schedule == 4)
        run_inside(node);
    }
    if (!node->nowait) {
#pragma omp taskwait
    }
}

static void create_dependent_tasks(struct node *node)
{
    int datum = 0;

    for (int i = 0; i < node->n; i++) {
#pragma omp task firstprivate(node) shared(datum) depend(inout : datum)
        run_inside(node);
    }
#pragma omp taskwait
    (void)datum;
}

static void create_taskloop(struct node *node)
{
    if (node->chunk > 0) {
#pragma omp taskloop num_tasks(node->chunk)
        for (int i = 0; i < node->n; i++)
            run_inside(node);
    } else {
#pragma omp taskloop
        for (int i = 0; i < node->n; i++)
            run_inside(node);
    }
}

static void execute_one(struct node *node)
{
    switch (node->construct) {
    case STATEMENT:
        atomic_fetch_add(&node->theirs, 1);
        break;
    case BARRIER:
        atomic_fetch_add(&node->theirs, 1);
#pragma omp barrier
        break;
    case SINGLE:
        single(node);
        break;
    case MASTER:
#pragma omp master
        run_inside(node);
        break;
    case CRITICAL:
#pragma omp critical(counts)
        atomic_fetch_add(&node->theirs, 1);
        execute(node->inside);
        break;
    case LOOP:
        iterate(node);
        break;
    case ORDERED:
        iterate_in_order(node);
        break;
    case SECTIONS:
        sections(node);
        break;
    case REGION:
#pragma omp parallel num_threads(node->n)
        run_inside(node);
        break;
    case TASKS:
        create_tasks(node);
        break;
    case GROUP:
#pragma omp taskgroup
        run_inside(node);
        break;
    case TASKLOOP:
        create_taskloop(node);
        break;
    default:
        create_dependent_tasks(node);
    }
}

static void execute(struct node *list)
{
    for (; list; list = list->next)
        execute_one(list);
}

void nestings_run_libgomp(struct node *root)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(1000);
#pragma omp parallel num_threads(root->n)
    run_inside(root);
}
