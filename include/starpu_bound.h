/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_bound.h - lower bounds on the time of a set of tasks. Start, submit,
 * wait, stop, then print or compute. Any thread, one recording at a time.
 */
#pragma once

#include <stdio.h>

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Drops what was recorded and begins to record tasks as they are submitted,
 * those whose codelets have a history model. `deps` = 1 keeps each task, what
 * it waits for and its tag; `prio` = 1 with it keeps priorities as well.
 * Durations are mean less standard deviation of implementation 0, as the models
 * have them when the bound is computed, or with deps when the last task of each
 * type was submitted. */
void starpu_bound_start(int deps, int prio);

/* Ends the recording; what was recorded stays until the next start. */
void starpu_bound_stop(void);

/* Writes the graph of tasks for dot; only of a recording with deps. */
void starpu_bound_print_dot(FILE *output);

/* Writes the linear program for lp_solve. With deps it is an integer program
 * for when and where each task runs, copies included, and with prio that no
 * task overtakes a ready one of higher priority: small graphs only.
 * starpu_lp2paje makes a trace of its solution. */
void starpu_bound_print_lp(FILE *output);

/* Writes the program as fixed MPS; with deps only a message. */
void starpu_bound_print_mps(FILE *output);

/* The bound in milliseconds in *res, with `integer` also that of whole tasks in
 * *integer_res (both may be NULL); 0 after an error message. With deps (where
 * StarPU gives 0): the bound that obeys dependencies, or the one without them
 * when that cannot be computed. Needs the solver module. */
void starpu_bound_compute(double *res, double *integer_res, int integer);

/* Computes and writes the bound and the tasks that each worker runs; with deps
 * only a message. */
void starpu_bound_print(FILE *output, int integer);

#ifdef __cplusplus
}
#endif
