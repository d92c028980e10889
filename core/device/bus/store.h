/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/bus/store.h - StarPU's bus files of this machine, on disk:
 * bus/<host>.config, .affinity, .latency, .bandwidth and the two platform
 * files. Any thread; each file is replaced in one step.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/error.h"
#include "core/device/bus_kind.h"

/* What there is; .config holds it. */
struct orr_bus_counts {
    unsigned ncpus;
    unsigned nodes[ORR_BUS_NKINDS];
};

/* A device, for the platform files. */
struct orr_bus_device {
    char model[64];
    uint64_t bytes; /* of memory */
    bool peer;      /* it copies from other devices of its type */
};

/* The contents of the files. */
struct orr_bus_tables {
    struct orr_bus_counts counts;
    unsigned n;                     /* the sum of counts.nodes */
    double *bandwidth, *latency;    /* owned, n × n, source first; MB/s, µs */
    struct orr_bus_device *devices; /* owned, n; NUMA nodes are unused */
};

unsigned orr_bus_counts_sum(const struct orr_bus_counts *counts);
bool orr_bus_counts_equal(const struct orr_bus_counts *a,
                          const struct orr_bus_counts *b);

/* Makes empty tables: all values are unknown, the diagonal 0. Errors: -ENOMEM,
 * -E2BIG more nodes than the files have room for. */
int orr_bus_tables_init(struct orr_bus_tables *tables,
                        const struct orr_bus_counts *counts);
void orr_bus_tables_done(struct orr_bus_tables *tables);

/* Where the files of a machine are: "<dir>/bus/<host>" of the first directory
 * that has <host>.config, else of the first. Owned by the caller. Errors:
 * -ENOMEM. */
int orr_bus_store_find(const char *const *dirs, const char *host, char **ret);

/* Excludes other processes that calibrate; waits for them. The directory is
 * made. *ret goes to orr_bus_store_unlock(). Errors: those of the system, with
 * a message. */
int orr_bus_store_lock(const char *stem, int *ret, struct orr_error *err);
void orr_bus_store_unlock(int lock);

/* Reads .config. Errors: -ENOENT without a message: there is none; -EINVAL with
 * file:line. */
int orr_bus_store_counts(const char *stem, struct orr_bus_counts *ret,
                         struct orr_error *err);

/* Reads .bandwidth and .latency into tables that have their counts. As StarPU
 * reads them: a value is followed at once by a tab or the end of the line; but
 * the last value of a row and the last row count. A value that is "nan" is
 * unknown; one that is missing is an error. Errors: -ENOENT without a
 * message, -EINVAL with file:line; the tables are then as before. */
int orr_bus_store_read(const char *stem, struct orr_bus_tables *tables,
                       struct orr_error *err);

/* Writes all six, .config last: a reader that sees it sees the others. The
 * caller holds the lock. Errors: those of the system, with a message. */
int orr_bus_store_write(const char *stem, const struct orr_bus_tables *tables,
                        struct orr_error *err);

/* One file each; `v4`: version 4 instead of 3. */
void orr_bus_print_matrix(FILE *out, const struct orr_bus_tables *tables,
                          const double *matrix);
void orr_bus_print_affinity(FILE *out, const struct orr_bus_tables *tables);
void orr_bus_print_config(FILE *out, const struct orr_bus_counts *counts);
void orr_bus_print_platform(FILE *out, const struct orr_bus_tables *tables,
                            bool v4);
