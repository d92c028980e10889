/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/bus/bus.h - the bus parameters (bandwidths, latencies) of the real
 * machine: read from StarPU's files, measured first when there are none. While
 * a machine is opened, by main.
 */
#pragma once

#include "core/device/bus/measure.h"
#include "core/device/bus/store.h"
#include "core/device/machine.h"

struct orr_machine_options;

struct orr_topology;

/* Fills the machine's bandwidth and latency; its contexts must work already.
 * `counts` is what there is, whatever the machine uses of it. Measures and
 * writes the files when there are none, when they were made for something else,
 * or if the options say so; files that know more devices than are used now are
 * good enough. `topology` has the memories there are, the options lead to the
 * devices. Where there is one memory node in all, that only writes files. A
 * failure is a warning where there are links; what the machine had stays then. */
void orr_bus_prepare(struct orr_machine *machine,
                     const struct orr_bus_counts *counts,
                     const struct orr_topology *topology,
                     const struct orr_machine_options *options);

/* Counts what this machine has: `counts` of the processors and nodes of main
 * memory that were found, and the devices among the machine's nodes. */
void orr_bus_counts_of(const struct orr_machine *machine, unsigned ncpus,
                       unsigned nmemories, struct orr_bus_counts *ret);

/* All memory of a device, of which data take nine tenths. */
static inline size_t orr_bus_memsize(const struct orr_node_desc *node)
{
    return node->capacity / 9 * 10;
}

/* Its model, from the name of its worker: "Tesla M2070" of "CUDA 0.0 (Tesla M2070
 * 4.7 GiB)". */
void orr_bus_model(const struct orr_worker_desc *worker, char model[64]);

/* Where a node's values are in the tables, -1 for a node that they lack. */
int orr_bus_row(const struct orr_bus_counts *counts,
                const struct orr_node_desc *node);

/* Puts what was measured on `machine` into the tables. Errors: -ENOMEM. */
int orr_bus_tables_fill(struct orr_bus_tables *tables,
                        const struct orr_machine *machine,
                        const struct orr_bus_measures *measures);
