/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/bounded.h - a model whose times are known, in a folder of its own: a
 * CPU takes 100 ± 20 µs, the first two GPUs 20 µs, the third is not calibrated.
 * Tasks with a cl_arg have another footprint, without times.
 */
#pragma once

#include <starpu.h>

extern struct starpu_perfmodel bounded_model;

/* The folder, of which setup makes the name. */
extern char bounded_folder[64];

/* Make the folder with the model, and remove it with all that is in it. */
void bounded_setup(void);
void bounded_teardown(void);

/* A folder in it; the name begins with a slash. */
void bounded_make_folder(const char *name);

/* Writes the path of a file in it to path, 96 bytes, and returns that. */
char *bounded_path_of(char *path, const char *name);

/* starpu_init on machine i (machines.h) with the model. */
void bounded_start(int i);
