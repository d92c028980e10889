/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/lent_views.h - what is the same when programs of tests, which have
 * functions for processors alone, are lent to devices: lent.h for OpenCL's,
 * ../standin/lent.h for GPUs, which are compiled before a program.
 */
#pragma once

#include <starpu.h>

/* Where the host finds what is `offset` bytes behind an address of the device, or
 * the begin of a buffer: elements of so many bytes. `arg` is lent_run's. */
typedef void *(*lent_find_t)(void *arg, uintptr_t handle, size_t offset,
                             size_t element);

/* Calls the first of the codelet's cpu_funcs for the current task, or the init
 * function of a reduction, with views of its buffers for the host. */
void lent_run(void *buffers[], void *cl_arg, lent_find_t find, void *arg);

/* The init function of reductions, of which a program has one at a time; NULL: none
 * yet. */
extern void (*lent_init)(void *buffers[], void *arg);

/* The function of the codelet by which a program's multiformat data get the form of
 * devices; NULL: there are none. */
extern void (*lent_convert)(void *buffers[], void *arg);

/* Makes the host's view, of up to LENT_ROOM bytes, of a buffer whose interface is the
 * program's own; NULL: such buffers are given as they are. */
enum { LENT_ROOM = 128 };
extern void (*lent_own_view)(void *view, const void *buffer, lent_find_t find,
                             void *arg);

void lent_reduction(starpu_data_handle_t handle, struct starpu_codelet *redux,
                    struct starpu_codelet *init);
#define starpu_data_set_reduction_methods lent_reduction
