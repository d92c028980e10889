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

/* Begins to record tasks. `deps` = 1 keeps dependencies (much harder to
 * solve), `prio` = 1 keeps priorities as well. */
void starpu_bound_start(int deps, int prio);

/* Ends the recording; what was recorded stays until the next start. */
void starpu_bound_stop(void);

/* Write the graph of tasks, or the linear program, to `output`. */
void starpu_bound_print_dot(FILE *output);
void starpu_bound_print_lp(FILE *output);
void starpu_bound_print_mps(FILE *output);

/* The bound in milliseconds in *res; with `integer` also that of whole tasks
 * in *integer_res. Needs the solver module. */
void starpu_bound_compute(double *res, double *integer_res, int integer);

/* Computes and writes the bound and the tasks each kind of worker runs. */
void starpu_bound_print(FILE *output, int integer);

#ifdef __cplusplus
}
#endif
