/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/bus_files.h - the bandwidth and latency between memory nodes, by
 * which schedulers predict transfers: from StarPU's bus files or from routes.
 * One thread per description.
 */
#pragma once

#include <stdio.h>

#include "platforms/machine_desc.h"

/* Derives both matrices from the routes and clears bus_measured. Along a route
 * latencies add and the least bandwidth counts, a shared link passed twice
 * giving half of its own. Nodes without a route between them go through RAM:
 * latencies and inverse bandwidths add. Fails with -ENOMEM only, and then
 * leaves the matrices alone. */
int orr_bus_derive(struct orr_machine_desc *desc);

/* The same for the route from host `src` to host `dst` alone: MB/s and µs.
 * Errors: -ENOENT without a route; -ENOMEM. */
int orr_bus_of_route(const struct orr_machine_desc *desc, unsigned src,
                     unsigned dst, double *ret_bandwidth, double *ret_latency);

/* The same for the routes among n hosts, without side effects: `place` has for
 * each host of `desc` its row and column, -1 for those that are left out.
 * Matrices are row-major n × n, source first; 0 on the diagonal, NaN without a
 * route. Fails with -ENOMEM only. */
int orr_bus_among(const struct orr_machine_desc *desc, const int *place,
                  unsigned n, double *bandwidth, double *latency);

/* Reads STEM.bandwidth and STEM.latency when both exist, `stem` being the
 * platform file's path without .platform.v4.xml, .platform.xml or .xml, and
 * sets bus_measured. Without them it does nothing. Errors: -EINVAL with
 * file:line; -ENOMEM. */
int orr_bus_read_beside(struct orr_machine_desc *desc, const char *stem,
                        struct orr_error *err);

/* Reads one matrix in the format of these files, for a description whose
 * devices have been counted. `path` is for messages. matrix: nnodes × nnodes of
 * `desc`, filled only on success; NaN where the file has no value.
 *
 * A comment line starts with #. A value is followed at once by a tab or the end
 * of the line. Columns and rows are RAM, CUDA devices, OpenCL devices, in this
 * order, unless a first comment "# to NUMA 0<tab>to CUDA 0…" gives another
 * order; of several NUMA nodes number 0 counts. More columns or rows than nodes
 * are skipped, missing ones are unknown. The last value of a row and the last
 * row count like any other; StarPU 1.4 itself takes them for unknown, which is
 * why the files it writes have spare ones. */
int orr_bus_matrix_parse(const struct orr_machine_desc *desc, const char *path,
                         const char *text, size_t size, double *matrix,
                         struct orr_error *err);

/* How large the matrix in a file is. */
struct orr_bus_shape {
    unsigned rows, columns;         /* up to the last with a known value */
    unsigned all_rows, all_columns; /* those of unknown values too */
};

/* Determines it, whatever the columns are called. Errors as above. */
int orr_bus_matrix_shape(const char *path, const char *text, size_t size,
                         struct orr_bus_shape *ret, struct orr_error *err);

/* Prints one matrix, nnodes × nnodes of `desc`, as such a file. A write error
 * shows in ferror(out). */
void orr_bus_matrix_print(const struct orr_machine_desc *desc,
                          const double *matrix, FILE *out);

/* Writes the two files when bus_measured, each whole or not at all. When not,
 * refuses with -EEXIST if they exist, since the platform would then be read
 * with parameters of another machine. */
int orr_bus_write_beside(const struct orr_machine_desc *desc, const char *stem,
                         struct orr_error *err);
