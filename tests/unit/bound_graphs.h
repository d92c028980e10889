/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/bound_graphs.h - graphs for tests and benchmarks of bounds. They
 * are owned by the caller (orr_graph_free) and abort without memory. Their
 * tasks access data that explain their dependencies.
 */
#pragma once

#include <stdint.h>

#include "bound/graph.h"

/* potrf, trsm, syrk, gemm in ms per worker type. */
struct bound_kernels {
    unsigned ntypes;
    double ms[4][4]; /* kernel, type */
};

/* Times on 9 CPU cores and 3 devices that differ slightly. */
extern const struct bound_kernels bound_mirage;

/* Cholesky of tiles × tiles tiles of 960 × 960 floats: type 0 has `cores`
 * workers in main memory, each other type one device with its own memory and
 * links of 12 GB/s to and from main memory. */
struct orr_graph *bound_cholesky(unsigned tiles, unsigned cores,
                                 const struct bound_kernels *kernels);

struct bound_random {
    unsigned ntasks, ntypes;
    unsigned cores, devices; /* cores >= 1 */
    double edges; /* probability of one between two tasks near each other */
    bool unable;  /* some types run on one type of workers only */
    bool equal;   /* all devices alike */
};

/* The same for the same seed. Durations are 1 … 20 ms, whole. */
struct orr_graph *bound_random(uint64_t seed, const struct bound_random *what);

/* Makes a graph of tasks and edges, without data: `edges` has nedges pairs
 * (earlier, later), `types` the type of each task, `ms` values per type and
 * worker, `nodes` the node of each worker. */
struct bound_small {
    unsigned nworkers, ntypes, ntasks, nedges;
    const char *const *worker_names;
    const unsigned *nodes;
    const double *ms;
    const unsigned *types;
    const unsigned (*edges)[2];
};
struct orr_graph *bound_small(const struct bound_small *what);

/* The makespan of a schedule by lists: ready tasks, in order of the longest
 * path to the end, each on the worker where it ends first. An upper bound. */
double bound_list_schedule(const struct orr_graph *graph);
