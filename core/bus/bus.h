/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/bus/bus.h - the bus parameters (bandwidths, latencies) of the real
 * machine: read from StarPU's files, measured first when there are none. While
 * a machine is opened, by main.
 */
#pragma once

#include "core/bus/measure.h"
#include "core/bus/store.h"
#include "core/device/machine.h"

struct orr_topology;

/* Fills the machine's bandwidth and latency; its contexts must work already.
 * `counts` is what there is, whatever the machine uses of it. Measures and
 * writes the files when there are none, when they were made for something else,
 * or if `force`; `topology` has the memories there are. Where there is one
 * memory node in all, that only writes files. A failure is a warning where
 * there are links; the parameters are unknown then. */
void orr_bus_prepare(struct orr_machine *machine,
                     const struct orr_bus_counts *counts,
                     const struct orr_topology *topology,
                     const char *const *sampling_dirs, bool force);

/* Counts what this machine has: `counts` of the processors and nodes of main
 * memory that were found, and the devices among the machine's nodes. */
void orr_bus_counts_of(const struct orr_machine *machine, unsigned ncpus,
                       unsigned nmemories, struct orr_bus_counts *ret);

/* Where a node's values are in the tables, -1 for a node that they lack. */
int orr_bus_row(const struct orr_bus_counts *counts,
                const struct orr_node_desc *node);

/* Puts what was measured on `machine` into the tables. Errors: -ENOMEM. */
int orr_bus_tables_fill(struct orr_bus_tables *tables,
                        const struct orr_machine *machine,
                        const struct orr_bus_measures *measures);
