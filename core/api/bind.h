/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/bind.h - the processors of this machine, as the public functions
 * number them: positions in the topology, of those that the process may use.
 */
#pragma once

/* How many workers there are; 0 without a runtime. */
unsigned orr_api_worker_count(void);

/* The position of the processor that the worker is bound to, -1: none. */
int orr_api_worker_position(unsigned worker);
