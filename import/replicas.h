/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/replicas.h - a graph of tasks several times, as a program of which several run; with
 * an exchange, as training in parallel on data. One thread.
 */
#pragma once

#include "import/flow.h"

/* Makes `n` of the flow, each with data and tasks of its own, which alternate in order. With
 * `bytes` > 0 the replicas add up so many bytes behind the last task of each iteration that
 * uses flow->exchanged, by a ring: in 2n-2 steps, in each of which every one takes the n-th
 * part of its neighbour's. Errors, with a message: -EINVAL: the flow has no queue of a device
 * to exchange behind; -ENOMEM. */
int flow_replicate(struct flow *flow, size_t n, double bytes);
