/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/gpu-graph.h - kernels for processors and GPUs, and random graphs of them.
 * On a stand-in they are in the worker's stream; see on-gpu.h for KIND_….
 */
#pragma once

#include <stdint.h>

#include <starpu.h>

enum { GPU_LENGTH = 500 };

/* to = 3 to + from + add, of 64-bit numbers. */
struct gpu_step {
    uint64_t *to;
    const uint64_t *from;
    uint64_t add;
    unsigned n;
};

void gpu_compute(const struct gpu_step *step);

/* On a vector and another one, with a uint64_t as argument; the first of the two
 * codelets is asynchronous. On one vector, for GPUs alone. */
extern struct starpu_codelet gpu_add[2], gpu_scale;

/* Tasks on random data, in any place, some for devices alone, or for one: the values
 * are those of one after the other. */
void gpu_run_graph(uint64_t seed);

/* The first run on a machine measures its links: faults are not to meet that. On a
 * stand-in, in a process of its own; a failure ends the program. */
void gpu_measure_links(void);
