/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/replicas.h - a graph of tasks several times: as a program of which several run, with
 * an exchange as training in parallel on data, or as a larger instance of the same workflow.
 * One thread.
 */
#pragma once

#include "import/flow.h"

/* Makes `n` of the flow, each with data and tasks of its own, which alternate in order. With
 * `bytes` > 0 the replicas add up so many bytes behind the last task of each iteration that
 * uses flow->exchanged, by a ring: in 2n-2 steps, in each of which every one takes the n-th
 * part of its neighbour's. Errors, with a message: -EINVAL: the flow has no queue of a device
 * to exchange behind; -ENOMEM. */
int flow_replicate(struct flow *flow, size_t n, double bytes);

/* Makes a flow of the same shape that is `n` times as wide: tasks of which there are several in
 * one role are n times as many, with the data that they write, and others that they alone
 * read; what is there once stays so, and waits for all, or has all wait for it. Two tasks
 * have the same role if their kernels are equal, those of what is before and behind them,
 * and so on. Errors, with a message: -EINVAL: the flow is no workflow or graph; -ENOMEM. */
int flow_scale(struct flow *flow, size_t n);

/* Which tasks and data such a flow has once (scale.c). Errors: -ENOMEM. */
int flow_find_single(struct flow *flow, bool *ret_tasks, bool *ret_data);
