/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp/gomp.h - what the files of gcc's entries share. The entries are those of GCC's
 * manual of libgomp, chapter "The libgomp ABI", and what `-fdump-tree-optimized` shows of
 * their arguments.
 */
#pragma once

#include "openmp/locks.h"
#include "openmp/loop.h"
#include "openmp/start.h"

/* Compilers declare them, no header does. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-declarations"

/* A region of which each thread is in that loop when it begins. */
void openmp_gomp_parallel_loop(void (*code)(void *), void *data, unsigned nthreads,
                               uint64_t first, uint64_t end, uint64_t step, int schedule,
                               uint64_t chunk);
