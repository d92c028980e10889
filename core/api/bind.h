/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/bind.h - the processors of this machine, as the public functions
 * number them: positions in the topology, of those that the process may use.
 */
#pragma once

#include <stdbool.h>

struct orr_topology;

/* How many workers there are; 0 without a runtime. */
unsigned orr_api_worker_count(void);

/* Which object of hwloc's type the processor with the kernel's number is in, UINT_MAX:
 * none. */
unsigned orr_api_object_of(int type, int cpu);

/* Binds the calling thread to processors with these numbers of the kernel; those
 * below 0 do not count. False if that cannot be. */
bool orr_api_bind_self(const int *numbers, unsigned n);

/* The position of the processor that the worker is bound to, -1: none. */
int orr_api_worker_position(unsigned worker);

/* The topology that the public functions number, the library's, for that of this name; and
 * the number of a worker's processor in it, -1: none. A worker that is not there aborts. */
struct orr_topology *orr_api_topology(const char *call);
int orr_api_worker_processor(const char *call, int workerid);
