/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp/doacross.h - loops whose iterations wait for others (`ordered(n)`, `depend(sink)`):
 * a bit for each iteration of all n loops, which the threads of the team share.
 */
#pragma once

#include "openmp/start.h"

/* More loops than programs have. */
#define OPENMP_MOST_DIMS 32

/* The calling thread meets such a loop: ndims loops of so many iterations. */
void openmp_doacross_begin(unsigned ndims, const uint64_t *counts);

/* The iteration with those numbers, counted from 0 in each loop, is over; the caller waits
 * until it is. One that does not exist is over. */
void openmp_doacross_post(const uint64_t *at);
void openmp_doacross_wait(const uint64_t *at);

/* How many loops that which the caller is in has; 0: it is in none. */
unsigned openmp_doacross_dims(void);

/* The calling thread leaves it, if it is in one. */
void openmp_doacross_end(void);
