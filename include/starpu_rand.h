/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_rand.h - the names of the system's 48-bit random numbers. The plain
 * forms share one state between threads, the _r forms take their own.
 */
#pragma once

#include <stdlib.h>

#include <starpu_config.h>

/* The seed that a program should use when the user requested `seed`. */
#define starpu_seed(seed) (seed)

/* The functions of POSIX, with one state for the whole program. */
#define starpu_srand48(seed)  srand48(starpu_seed(seed))
#define starpu_drand48()      drand48()
#define starpu_lrand48()      lrand48()
#define starpu_erand48(xsubi) erand48(xsubi)

/* The same with the caller's state in *buffer, and the number in *result; where the
 * system has no such functions, with the program's state. */
#ifdef STARPU_USE_ERAND48_R
typedef struct drand48_data starpu_drand48_data;
#    define starpu_srand48_r(seed, buffer)   srand48_r(starpu_seed(seed), buffer)
#    define starpu_drand48_r(buffer, result) drand48_r(buffer, result)
#    define starpu_lrand48_r(buffer, result) lrand48_r(buffer, result)
#    define starpu_erand48_r(xsubi, buffer, result)                            \
        erand48_r(xsubi, buffer, result)
#else
typedef int starpu_drand48_data;
#    define starpu_srand48_r(seed, buffer) srand48(starpu_seed(seed))
#    define starpu_drand48_r(buffer, result)                                   \
        ((void)(buffer), *(result) = drand48())
#    define starpu_lrand48_r(buffer, result)                                   \
        ((void)(buffer), *(result) = lrand48())
#    define starpu_erand48_r(xsubi, buffer, result)                            \
        ((void)(buffer), *(result) = erand48(xsubi))
#endif
