/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp/loop.h - loops over numbers, signed or not, up or down, as iterations that are
 * counted from 0. Numbers wrap around, so one kind of arithmetic serves all.
 */
#pragma once

#include "openmp/start.h"

/* How many iterations there are from `first`, before `end`; `step` is not 0. */
uint64_t openmp_count(uint64_t first, uint64_t end, uint64_t step, bool is_signed, bool up);

/* The calling thread's first chunk of the loop of n iterations: true, with its first number
 * and the one behind its last. `schedule`: enum starpu_omp_sched_value. */
bool openmp_loop_begin(uint64_t first, uint64_t end, uint64_t step, uint64_t n, int schedule,
                       uint64_t chunk, bool ordered, uint64_t *ret_begin, uint64_t *ret_end);

/* Its next chunk; the first one of a loop that began with its region. */
bool openmp_loop_next(uint64_t *ret_begin, uint64_t *ret_end);

/* Whether the chunk that ends before that number has the last iteration. */
bool openmp_loop_is_last(uint64_t end);
