/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/bus/bus.c - see bus.h. No state. */
#include "core/bus/bus.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/device/kind.h"
#include "core/device/memory_machine.h"

/* Start-up should take no longer than a second: this much, and three copies of
 * 32 MiB per link at least; smaller ones would stay in the caches. */
#define BUDGET_US 3e5
#define LONG_S    1.0 /* longer measurements are announced */

/* ---- nodes and rows ---- */

static int kind_of(enum starpu_node_kind memory)
{
    const struct orr_device_kind *kind = orr_device_kind_of_memory(memory);

    return kind ? kind->bus : -1;
}

int orr_bus_row(const struct orr_bus_counts *counts,
                const struct orr_node_desc *node)
{
    int kind = kind_of(node->kind), row = node->devid;

    if (kind < 0 || row < 0 || (unsigned)row >= counts->nodes[kind])
        return -1;
    for (int k = 0; k < kind; k++)
        row += (int)counts->nodes[k];
    return row;
}

void orr_bus_counts_of(const struct orr_machine *machine, unsigned ncpus,
                       unsigned nmemories, struct orr_bus_counts *ret)
{
    *ret = (struct orr_bus_counts){.ncpus = ncpus};
    for (unsigned i = 0; i < machine->nnodes; i++) {
        int kind = kind_of(machine->nodes[i].kind);

        if (kind > ORR_BUS_NUMA)
            ret->nodes[kind]++;
    }
    ret->nodes[ORR_BUS_NUMA] = nmemories;
}

/* Copies values between a machine's matrix and the tables' one. */
static void transfer(const struct orr_bus_tables *tables,
                     const struct orr_machine *machine, double *in_tables,
                     double *in_machine, bool to_tables)
{
    for (unsigned src = 0; src < machine->nnodes; src++)
        for (unsigned dst = 0; dst < machine->nnodes; dst++) {
            int row = orr_bus_row(&tables->counts, &machine->nodes[src]);
            int column = orr_bus_row(&tables->counts, &machine->nodes[dst]);
            double *ours = &in_machine[src * machine->nnodes + dst], *theirs;

            if (row < 0 || column < 0)
                continue;
            theirs = &in_tables[(unsigned)row * tables->n + (unsigned)column];
            if (to_tables)
                *theirs = *ours;
            else
                *ours = *theirs;
        }
}

int orr_bus_tables_fill(struct orr_bus_tables *tables,
                        const struct orr_machine *machine,
                        const struct orr_bus_measures *measures)
{
    size_t n = machine->nnodes;
    double *bandwidth = calloc(n * n, sizeof(*bandwidth));
    double *latency = calloc(n * n, sizeof(*latency));
    int rc = bandwidth && latency ? 0 : -ENOMEM;

    if (rc == 0) {
        orr_bus_matrices(machine, measures, bandwidth, latency);
        transfer(tables, machine, tables->bandwidth, bandwidth, true);
        transfer(tables, machine, tables->latency, latency, true);
    }
    free(bandwidth);
    free(latency);
    return rc;
}

/* ---- measuring ---- */

static int measure(struct orr_exec *exec, const struct orr_topology *topology,
                   struct orr_bus_tables *tables, struct orr_error *err)
{
    const struct orr_bus_options options = {
        .budget_us = BUDGET_US,
        .blocks = 1,
    };
    struct orr_bus_measures measures;
    struct orr_machine *machine;
    int rc = orr_memory_machine_open(exec, topology, &machine, err);

    if (rc < 0)
        return rc;
    rc = orr_bus_measure(machine, &options, &measures, err);
    if (rc == 0) {
        rc = orr_bus_tables_fill(tables, machine, &measures);
        if (measures.seconds > LONG_S)
            orr_log_notice("measured the links between %u memory nodes, once "
                           "for all, in %.1f s",
                           machine->nnodes, measures.seconds);
        orr_bus_measures_done(&measures);
    }
    machine->ops->close(machine);
    return rc;
}

static bool is_there(const char *stem, const char *suffix)
{
    char *path;
    bool there;

    if (asprintf(&path, "%s%s", stem, suffix) < 0)
        return false;
    there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* Whether the files are of this machine and complete. */
static bool is_calibrated(const char *stem, const struct orr_bus_counts *counts)
{
    struct orr_bus_counts found;

    return orr_bus_store_counts(stem, &found, NULL) == 0 &&
           orr_bus_counts_equal(&found, counts) &&
           is_there(stem, ".platform.xml") &&
           is_there(stem, ".platform.v4.xml") && is_there(stem, ".bandwidth") &&
           is_there(stem, ".latency");
}

/* Measures, and writes if it holds the lock. One node has no links. */
static int calibrate(struct orr_exec *exec, const struct orr_topology *topology,
                     const char *stem, bool locked,
                     struct orr_bus_tables *tables, struct orr_error *err)
{
    int rc = tables->n > 1 ? measure(exec, topology, tables, err) : 0;

    if (rc == 0 && locked)
        rc = orr_bus_store_write(stem, tables, err);
    return rc;
}

/* Fills the tables from the files or anew. 0 also when they are filled but
 * could not be written; then the message has the reason. */
static int obtain(struct orr_exec *exec, const struct orr_topology *topology,
                  const char *stem, bool force, struct orr_bus_tables *tables,
                  struct orr_error *err)
{
    int lock = -1, rc;

    if (!force && is_calibrated(stem, &tables->counts) &&
        (tables->n == 1 || orr_bus_store_read(stem, tables, err) == 0))
        return 0;
    (void)orr_bus_store_lock(stem, &lock, err);
    /* Another process may have measured while we waited. */
    if (lock >= 0 && !force && is_calibrated(stem, &tables->counts) &&
        orr_bus_store_read(stem, tables, NULL) == 0)
        rc = 0;
    else
        rc = calibrate(exec, topology, stem, lock >= 0, tables, err);
    if (lock >= 0)
        orr_bus_store_unlock(lock);
    return rc;
}

void orr_bus_prepare(struct orr_machine *machine,
                     const struct orr_bus_counts *counts,
                     const struct orr_topology *topology,
                     const char *const *sampling_dirs, bool force)
{
    struct orr_bus_tables tables;
    struct orr_error err = {""};
    char *stem = NULL;
    int rc = orr_bus_tables_init(&tables, counts);

    if (rc < 0) {
        orr_log_warning("bus bandwidths and latencies are unknown: "
                        "%s",
                        strerror(-rc));
        return;
    }
    rc = orr_bus_store_find(sampling_dirs, machine->host, &stem);
    if (rc == 0)
        rc = obtain(machine->exec, topology, stem, force, &tables, &err);
    if (rc == 0 || err.text[0]) {
        transfer(&tables, machine, tables.bandwidth, machine->bandwidth, false);
        transfer(&tables, machine, tables.latency, machine->latency, false);
    }
    /* With one node the files are not needed. */
    if ((rc < 0 || err.text[0]) && (force || tables.n > 1))
        orr_log_warning("bus bandwidths and latencies %s: %s",
                        rc < 0 ? "are not kept" : "were measured anew",
                        err.text[0] ? err.text : strerror(-rc));
    free(stem);
    orr_bus_tables_done(&tables);
}
