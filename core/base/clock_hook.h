/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/clock_hook.h - what the library and the shared object clock.so, which may be
 * preloaded (application/), are for each other: one answers what the time of a simulation is,
 * the other one asks when the application asks the C library.
 */
#pragma once

#include <dlfcn.h>
#include <stdbool.h>
#include <time.h>

/* Of a simulated run; any thread may call. */
struct orr_clock_run {
    /* µs since the run began; false: the caller is no code of the application's on a
     * context of the simulation. Time may pass, for who asks again and again. */
    bool (*now)(double *ret_us);
    /* That much time passes; false: as before, nothing was done. */
    bool (*sleep)(double us);
};

/* What clock.so exports, as orrery_clock_preload. */
struct orr_clock_preload {
    bool (*is_virtual)(void); /* else it only counts */
    /* The run begins (borrowed), or ends: NULL. */
    void (*attach)(const struct orr_clock_run *run);
    /* What the application takes CLOCK_REALTIME to be. */
    void (*date)(struct timespec *ret);
    /* How often the application asked for the time, or slept, in the last run. */
    unsigned long (*asked)(void);
};

/* It, if it is there: a question to the dynamic linker. NULL: it is not preloaded. */
static inline const struct orr_clock_preload *orr_clock_preload(void)
{
    return dlsym(RTLD_DEFAULT, "orrery_clock_preload");
}
