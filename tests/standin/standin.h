/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/standin.h - what the stand-ins for libcuda.so.1 and libamdhip64
 * offer beside the vendors' calls, to programs that look it up (dlsym). They take
 * GPU_STANDIN from the environment when they are initialised:
 *
 *   devices=2     how many (2)
 *   mib=64        memory of each (64)
 *   seed=3        of the delays of operations (1)
 *   delay=200     µs that an operation is held back at most (100)
 *   now=1         operations are performed by who puts them into a stream, at once:
 *                 what calls cost beside a device that takes no time
 *   kernel=100    on a clock of the program's: µs of a kernel (0)
 *   copy=10 bandwidth=100
 *                 … of a copy, and bytes per µs in it (0; 0: without limit)
 *   latency=20    … after which the host is called back (0), whatever streams do
 *                 meanwhile
 *   latency=20    µs from there in a stream to the call of a callback (0)
 *   peers=none    of `all' (accessible), `none', `refused' (said to be accessible,
 *                 but opening fails)
 *   fault=copy@5  the 5th `alloc', `copy' (half of its bytes arrive), `peer' (the
 *                 same of copies between devices), `kernel', `launch' (it is
 *                 refused, and not in the stream) or `lost' (an operation of a
 *                 stream after which the device is of no use), `pin' (of main
 *                 memory), `wait' (for an event, of a stream
 *                 that has had kernels: it goes on), `copywait' (the same of one that has
 *                 had copies), or the 5th call of the vendor's, whatever it is, which does
 *                 nothing: `call' (unknown error), `nomem' (out of memory); `copy@5+':
 *                 each one from then on
 */
#pragma once

#include <stddef.h>

/* Puts a kernel into a stream: `function(arg)' is called there, on a thread of the
 * stand-in's. A vendor's code. */
typedef int (*standin_launch_t)(void *stream, void (*function)(void *),
                                void *arg);
#define STANDIN_LAUNCH "gpu_standin_launch"

/* What the function of that name does in modules in PTX that are loaded later: it gets
 * where the values of the parameters are, for all threads at once. 0, or a code. */
typedef void (*standin_body_t)(void **parameters, const unsigned grid[3],
                               const unsigned block[3]);
typedef int (*standin_function_t)(const char *name, standin_body_t body);
#define STANDIN_FUNCTION "gpu_standin_function"

/* Where the host finds the byte at a device's address: kernels do. NULL: no
 * device has it. */
typedef void *(*standin_bytes_t)(const void *address);
#define STANDIN_BYTES "gpu_standin_bytes"

/* How many calls of the vendor's interface were made. */
typedef unsigned long (*standin_calls_t)(void);
#define STANDIN_CALLS "gpu_standin_calls"

/* The most bytes of a device that were allocated at once. */
typedef size_t (*standin_most_t)(unsigned device);
#define STANDIN_MOST "gpu_standin_most"

/* A clock and contexts of the program's, which take turns on one thread, instead of
 * threads and the system's clock. Set before the first stream is made, with the seed
 * of the delays of those that follow; again while there is none. All entries are
 * called from such a context; what park waits for may have happened, or not, and it
 * need not wait for a wake. */
struct standin_clock {
    double (*now)(void); /* us */
    void (*sleep)(double us);
    void *(*self)(void);
    void (*park)(void);
    void (*wake)(void *context);
    void *(*spawn)(void (*body)(void *), void *arg);
    void (*join)(void *context);
};
typedef void (*standin_set_clock_t)(const struct standin_clock *clock,
                                    unsigned long seed);
#define STANDIN_SET_CLOCK "gpu_standin_set_clock"
