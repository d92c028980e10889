/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/fake_data.h - as much of data management as interfaces and
 * filters need: handles on two memory nodes, both in main memory. One thread.
 */
#pragma once

#include <starpu.h>

#define FAKE_NODES 2

/* Allocations on nodes that were not freed yet, in bytes. */
extern size_t fake_allocated;

/* Makes the next allocation on a node fail. */
extern int fake_out_of_memory;

/* Calls of starpu_interface_copy() and its form for two dimensions, which are
 * done at once, but reported as under way if they get something to wait for. */
extern unsigned fake_copies;

/* Frees a handle, not the data. */
void fake_unregister(starpu_data_handle_t handle);

/* The operations of a handle. */
struct starpu_data_interface_ops *fake_ops(starpu_data_handle_t handle);

/* What the handle adds to a task's footprint. */
uint32_t fake_footprint(starpu_data_handle_t handle);

/* Copies from a node's copy of one handle to that of another: what any_to_any
 * returns. */
int fake_copy(starpu_data_handle_t from, unsigned from_node,
              starpu_data_handle_t to, unsigned to_node);

/* Compares the first handle's structure on node 0 with the second's on 1. */
int fake_compare(starpu_data_handle_t a, starpu_data_handle_t b);
