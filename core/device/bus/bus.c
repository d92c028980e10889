/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/bus/bus.c - see bus.h. No state. */
#include "core/device/bus/bus.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/device/kind_settings.h"
#include "core/device/memory_machine.h"
#include "core/device/open.h"

/* Start-up should take no longer than a second: this much, and three copies of
 * 32 MiB per link at least; smaller ones would stay in the caches. */
#define BUDGET_US 3e5
#define LONG_S    1.0 /* longer measurements are announced */

/* ---- nodes and rows ---- */

static int memory_bus_kind(enum starpu_node_kind memory)
{
    return orr_kind_settings(orr_device_kind_of_memory(memory))->bus;
}

void orr_bus_model(const struct orr_worker_desc *worker, char model[64])
{
    const char *begin = strchr(worker->name, '(');
    char *end;

    snprintf(model, 64, "%.63s", begin ? begin + 1 : worker->name);
    for (int words = 0; begin && words < 2 && (end = strrchr(model, ' '));
         words++)
        *end = 0;
}

int orr_bus_row(const struct orr_bus_counts *counts,
                const struct orr_node_desc *node)
{
    int kind = memory_bus_kind(node->kind), row = node->devid;

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
        int kind = memory_bus_kind(machine->nodes[i].kind);

        unsigned number = (unsigned)machine->nodes[i].devid;

        if (kind > ORR_BUS_NUMA && number >= ret->nodes[kind])
            ret->nodes[kind] = number + 1;
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
            else if (!isnan(*theirs))
                *ours = *theirs;
        }
}

/* What the files say of devices beside their links. */
static void describe_devices(struct orr_bus_tables *tables,
                             const struct orr_machine *machine)
{
    for (unsigned i = 0; i < machine->nworkers; i++) {
        const struct orr_worker_desc *worker = &machine->workers[i];
        const struct orr_node_desc *node = &machine->nodes[worker->node];
        int row = orr_bus_row(&tables->counts, node);

        if (row < 0 || orr_node_is_main(node))
            continue;
        tables->devices[row].bytes = orr_bus_memsize(node);
        orr_bus_model(worker, tables->devices[row].model);
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
    describe_devices(tables, machine);
    return rc;
}

/* ---- measuring ---- */

/* What there is to measure. */
struct source {
    struct orr_exec *exec;
    const struct orr_topology *topology;
    const struct orr_machine_options *options;
};

/* The files have all devices, also those that this run does not use. */
static int bus_tables_add_devices(struct orr_bus_tables *tables,
                                  const struct orr_machine *machine)
{
    struct orr_bus_counts counts;

    orr_bus_counts_of(machine, tables->counts.ncpus,
                      tables->counts.nodes[ORR_BUS_NUMA], &counts);
    if (orr_bus_counts_equal(&counts, &tables->counts))
        return 0;
    orr_bus_tables_done(tables);
    return orr_bus_tables_init(tables, &counts);
}

static int bus_measure_machine(const struct source *source,
                               struct orr_bus_tables *tables,
                               struct orr_error *err)
{
    const struct orr_bus_options options = {
        .budget_us = BUDGET_US,
        .blocks = 1,
    };
    struct orr_bus_measures measures;
    struct orr_machine *machine;
    int rc =
        orr_memory_machine_open(source->exec, source->topology, &machine, err);

    if (rc < 0)
        return rc;
    rc = orr_device_drivers_open(source->options, machine, err);
    if (rc == 0)
        rc = bus_tables_add_devices(tables, machine);
    if (rc == 0)
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

static bool bus_file_exists(const char *stem, const char *suffix)
{
    char *path;
    bool there;

    if (asprintf(&path, "%s%s", stem, suffix) < 0)
        return false;
    there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* Whether files for `found` know all that is counted in `counts`. */
static bool covers(const struct orr_bus_counts *found,
                   const struct orr_bus_counts *counts)
{
    for (int k = 0; k < ORR_BUS_NKINDS; k++)
        if (found->nodes[k] < counts->nodes[k])
            return false;
    return found->ncpus == counts->ncpus &&
           found->nodes[ORR_BUS_NUMA] == counts->nodes[ORR_BUS_NUMA];
}

/* Whether the files are of this machine and complete; *found is what they know. */
static bool is_calibrated(const char *stem, const struct orr_bus_counts *counts,
                          struct orr_bus_counts *found)
{
    return orr_bus_store_counts(stem, found, NULL) == 0 &&
           covers(found, counts) && bus_file_exists(stem, ".platform.xml") &&
           bus_file_exists(stem, ".platform.v4.xml") &&
           bus_file_exists(stem, ".bandwidth") &&
           bus_file_exists(stem, ".latency");
}

/* Measures, and writes if it holds the lock. One node has no links. */
static int bus_measure_and_store(const struct source *source, const char *stem,
                                 bool locked, struct orr_bus_tables *tables,
                                 struct orr_error *err)
{
    int rc = tables->n > 1 ? bus_measure_machine(source, tables, err) : 0;

    if (rc == 0 && locked)
        rc = orr_bus_store_write(stem, tables, err);
    return rc;
}

/* Fills the tables from the files if these are good enough. */
static bool read_files(const char *stem, struct orr_bus_tables *tables)
{
    struct orr_bus_tables fresh;
    struct orr_bus_counts found;

    if (!is_calibrated(stem, &tables->counts, &found))
        return false;
    if (tables->n == 1)
        return true;
    if (orr_bus_tables_init(&fresh, &found) < 0)
        return false;
    if (orr_bus_store_read(stem, &fresh, NULL) < 0) {
        orr_bus_tables_done(&fresh);
        return false;
    }
    orr_bus_tables_done(tables);
    *tables = fresh;
    return true;
}

/* Fills the tables from the files or anew. 0 also when they are filled but
 * could not be written; then the message has the reason. */
static int obtain(const struct source *source, const char *stem,
                  struct orr_bus_tables *tables, struct orr_error *err)
{
    bool force = source->options->bus_calibrate;
    int lock = -1, rc;

    if (!force && read_files(stem, tables))
        return 0;
    (void)orr_bus_store_lock(stem, &lock, err);
    /* Another process may have measured while we waited. */
    if (lock >= 0 && !force && read_files(stem, tables))
        rc = 0;
    else
        rc = bus_measure_and_store(source, stem, lock >= 0, tables, err);
    if (lock >= 0)
        orr_bus_store_unlock(lock);
    return rc;
}

void orr_bus_prepare(struct orr_machine *machine,
                     const struct orr_bus_counts *counts,
                     const struct orr_topology *topology,
                     const struct orr_machine_options *options)
{
    const struct source source = {machine->exec, topology, options};
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
    rc = orr_bus_store_find(options->sampling_dirs, machine->host, &stem);
    if (rc == 0)
        rc = obtain(&source, stem, &tables, &err);
    if (rc == 0 || err.text[0]) {
        transfer(&tables, machine, tables.bandwidth, machine->bandwidth, false);
        transfer(&tables, machine, tables.latency, machine->latency, false);
    }
    /* With one node the files are not needed. */
    if ((rc < 0 || err.text[0]) && (options->bus_calibrate || tables.n > 1))
        orr_log_warning("bus bandwidths and latencies %s: %s",
                        rc < 0 ? "are not kept" : "were measured anew",
                        err.text[0] ? err.text : strerror(-rc));
    free(stem);
    orr_bus_tables_done(&tables);
}
