/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/cgroup.h - the limits that a container, a batch system or
 * systemd puts on this process, as far as hwloc does not report them: processor
 * time and memory. Reads a few files of Linux at each call; any thread.
 */
#pragma once

#include <stdint.h>

/* 0 is no limit. */
struct orr_cgroup {
    double cpus;    /* processors' worth of time */
    uint64_t bytes; /* of memory */
};

/* Reads the limits of control groups, version 1 or 2, of this process's group
 * and those above it as far as they can be seen; the smallest counts. What
 * cannot be read is no limit. `root` stands before the paths of the system's
 * files: "" but in tests. */
struct orr_cgroup orr_cgroup_read(const char *root);
