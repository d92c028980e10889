/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/real/nap.h - sleep of one thread that others end: a wake that comes before the
 * sleep is not lost. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct nap {
    atomic_int state; /* of enum nap_state in nap.c; 0 to begin with */
};

/* Whether it was woken since it last returned true. */
bool nap_woken(struct nap *nap);
/* To wake another thread takes longer than what is left of so short a sleep. */
enum { NAP_SHORT_NS = 30000 };

/* Sleeps until it is woken, at most so many ns; 0: without end. A short sleep is not
 * ended. */
void nap_sleep(struct nap *nap, uint64_t ns);
/* Any thread. */
void nap_wake(struct nap *nap);
