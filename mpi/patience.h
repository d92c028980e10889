/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/patience.h - how often a rank looks for what may have come, where nobody tells it: MPI
 * has no way to sleep until a message comes. No state.
 */
#pragma once

#include <stdint.h>

/* It is looked at without a pause at first, if that is wanted, then now and then: a message
 * that took long is noticed late by 1/64 of that, and what it takes to wake up, and never by
 * more than a millisecond. Who yields the processor instead gets it back, where there are
 * others to run, when these have had a slice of some milliseconds each; who has slept, at
 * once. */
enum { ORR_PART_OF_IDLE = 64, ORR_LEAST_NAP_NS = 1000, ORR_MOST_NAP_NS = 1000000 };

/* How a rank waits for messages. */
struct orr_patience {
    uint64_t spin_ns; /* for so long it looks without a pause */
    uint64_t nap_ns;  /* then so long lies between two looks at least */
};

/* For how long who has seen nothing for that long sleeps before the next look, at least for
 * `least_ns`. */
static inline uint64_t orr_nap_after(uint64_t idle_ns, uint64_t least_ns)
{
    uint64_t nap = idle_ns / ORR_PART_OF_IDLE;

    if (nap < least_ns)
        nap = least_ns;
    return nap > ORR_MOST_NAP_NS    ? ORR_MOST_NAP_NS
           : nap < ORR_LEAST_NAP_NS ? ORR_LEAST_NAP_NS
                                    : nap;
}
