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

/* Frees a handle, not the data. */
void fake_unregister(starpu_data_handle_t handle);

/* The operations of a handle. */
struct starpu_data_interface_ops *fake_ops(starpu_data_handle_t handle);

/* What the handle adds to a task's footprint. */
uint32_t fake_footprint(starpu_data_handle_t handle);
