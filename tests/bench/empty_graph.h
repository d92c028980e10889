/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/empty_graph.h - the graph of empty tasks that benchmarks submit to this
 * runtime and to others: task i reads and writes some of 64 data. C and C++.
 */
#pragma once

enum { NDATA = 64 };

/* Which of them the task's buffer is. */
static inline int datum_of(int task, int buffer)
{
    return (task + buffer * 17) % NDATA;
}
