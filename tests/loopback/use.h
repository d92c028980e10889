/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/loopback/use.h - for programs that run on loopback devices: what
 * starpu_worker_get_type and starpu_node_get_kind return for them, and how to have
 * some.
 */
#pragma once

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOPBACK_WORKER = 24, LOOPBACK_RAM = 24 };

/* Writes ORRERY_DRIVERS for these settings ("2 seed=3", loopback.h). The module is in
 * the folder of the build that lies beside the program's own. */
static inline void loopback_drivers(const char *settings, char *ret,
                                    size_t size)
{
    char own[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

    own[n < 0 ? 0 : n] = '\0';
    *(strrchr(own, '/') ? strrchr(own, '/') : own) = '\0';
    snprintf(ret, size, "%s/../loopback/loopback.so:%s", own, settings);
}

/* The next starpu_init has such devices if the machine is real. */
static inline void loopback_use(const char *settings)
{
    char drivers[PATH_MAX + 200];

    loopback_drivers(settings, drivers, sizeof(drivers));
    setenv("ORRERY_DRIVERS", drivers, 1);
}
