/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp/reductions.h - reductions over tasks, gcc's: the compiler describes them by
 * numbers d[0], d[1], … for which the library makes memory, a part for each thread.
 *
 * d[0]: how many variables; d[1]: bytes of a thread's part; d[2]: its alignment, then,
 * what is found here: the address of thread 0's part; d[4]: the description of the
 * constructs around; then for each variable from d[7] on three numbers, of which the first
 * is the variable's address, and the second where it is in a part.
 */
#pragma once

#include "openmp/start.h"

/* Makes the memory; the caller, and tasks that it creates, find it by `remap`. */
void openmp_reduction_register(uintptr_t *d);
/* Frees it. */
void openmp_reduction_unregister(uintptr_t *d);

/* The same description for all threads of a team, each of which has one of its own. */
void openmp_reduction_share(uintptr_t *own, uintptr_t *first);

/* Sets each of the n pointers, which are to a variable, or into the part of any thread, to
 * where the calling thread's is; the first norigs of them are followed by the variable's
 * own address. */
void openmp_reduction_remap(size_t n, size_t norigs, void **pointers);
