/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/topology_private.h - what topology.c and topology_plain.c
 * share, in choice.c.
 */
#pragma once

#include "core/device/cpu/cgroup.h"
#include "core/device/cpu/topology.h"

/* How many processors can compute at once, 0: all. */
unsigned orr_cpus_quota(const struct orr_cgroup *limits);

/* Shares the memory that the limits leave among the memories, in proportion to
 * their sizes, if it is less than there is; then returns it, else 0. */
size_t orr_memories_limit(const struct orr_cgroup *limits, unsigned n,
                          struct orr_memory *memories);
