/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/nestings.h - random programs of OpenMP, as trees of constructs that two
 * implementations execute.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

enum construct {
    STATEMENT,
    BARRIER,
    SINGLE,
    MASTER,
    CRITICAL,
    LOOP,
    ORDERED,
    SECTIONS,
    REGION,
    TASKS,
    GROUP,
    TASKLOOP,
    DEPENDENT,
    NCONSTRUCTS
};

/* A construct, executed by each thread that comes, or by one of them. */
struct node {
    enum construct construct;
    int n; /* iterations, tasks, threads */
    int schedule, chunk;
    bool nowait;
    struct node *inside; /* what it contains, one after the other */
    struct node *next;
    atomic_int times;    /* how often that was begun */
    atomic_int theirs;   /* the same by libgomp */
    atomic_int together; /* who is in the critical section */
    int expected;
    atomic_bool broken;
};

/* Executes the program, a region, by libgomp; counts in `theirs`. */
void nestings_run_libgomp(struct node *root);
