/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/export_deps.h - a task graph in the formats of StarPU: a mixed-integer
 * program for lp_solve, whose solution starpu_lp2paje reads, and a graph for
 * dot. No threads.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "bound/graph.h"

struct orr_bound_tag_dep {
    uint64_t tag, before;
};

struct orr_bound_text {
    const struct orr_graph *graph; /* means are the durations */
    const struct orr_bound_tag_dep *tags;
    unsigned ntags;
    bool prio;
    /* Milliseconds that a copy between two memory nodes takes. */
    double (*transfer_ms)(unsigned src, unsigned dst, uint64_t bytes,
                          void *arg);
    void *arg;
};

/* The program: when each task starts and where. Its constants make schedules
 * of more than 100 s wrong. Numbers in the C locale. Errors: -EIO, -ENOMEM. */
int orr_bound_print_deps_lp(const struct orr_bound_text *text, FILE *f);

int orr_bound_print_dot(const struct orr_bound_text *text, FILE *f);
