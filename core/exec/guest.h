/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/exec/guest.h - questions of threads that belong to no machine. A simulation is
 * one thread of the operating system; others that the application has made cannot take
 * part in it, but may ask.
 */
#pragma once

#include "core/base/exec.h"

/* To be the first line of a public function that only answers, or allocates, whoever
 * calls. Until the block is left a thread that cannot be a context has one of its own, in
 * which nothing may wait. One such thread asks at a time, and what it asks may change
 * meanwhile only by the simulation's own thread, which is in a kernel while threads of
 * that ask. Functions without this line end the program with a message that names the
 * call. */
#define ORR_QUESTION()                                                         \
    struct orr_context *const orr_guest                                        \
        __attribute__((cleanup(orr_guest_leave), unused)) =                    \
            orr_self ? NULL : orr_guest_enter()

/* Makes the calling thread a guest, NULL: there is no simulation, or no memory. Any
 * thread that is no context. */
struct orr_context *orr_guest_enter(void);

void orr_guest_end(struct orr_context *guest);

static inline void orr_guest_leave(struct orr_context *const *guest)
{
    if (*guest)
        orr_guest_end(*guest);
}
