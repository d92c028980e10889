/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/bus/measure.h - how fast copies between memory nodes are, measured
 * through a machine's own table of operations, whatever the machine is: alone,
 * both directions at once, all links at once. One context at a time, in which
 * main may block; it makes others.
 */
#pragma once

#include "core/device/machine.h"

/* The estimate of a series of samples. NaN: there are too few. */
struct orr_bus_estimate {
    unsigned n;
    double median;
    double lo, hi; /* 95 % interval of the median */
    double spread; /* relative: of the medians of the blocks, largest minus
                    * smallest; with one block, between the quartiles */
};

/* Copies of one size. */
struct orr_bus_point {
    size_t size;
    struct orr_bus_estimate us; /* one copy, alone */
};

/* An ordered pair of nodes between which copies are direct; in main memory also
 * of a node with itself, which is a plain memcpy. */
struct orr_bus_link {
    unsigned src, dst;
    bool pinned; /* the end in main memory is pinned */
    unsigned npoints;
    struct orr_bus_point *points;      /* owned, by size */
    struct orr_bus_estimate latency;   /* µs: a copy of one byte */
    struct orr_bus_estimate bandwidth; /* MB/s of the largest size, the latency
                                      * taken off */
};

enum orr_bus_group_kind {
    ORR_BUS_BIDIRECTIONAL, /* a link and its reverse */
    ORR_BUS_TO_ALL,        /* from main memory to every device */
    ORR_BUS_FROM_ALL,      /* back */
    ORR_BUS_ALL,           /* every link, once */
    ORR_BUS_WITHIN,        /* one copy per processor within a node */
};

/* Copies that were under way at the same time. */
struct orr_bus_group {
    enum orr_bus_group_kind kind;
    size_t size;
    unsigned n;
    unsigned *links;                  /* owned: which link each member used */
    struct orr_bus_estimate *members; /* owned: MB/s of each */
    double total;                     /* MB/s, the sum of the medians */
};

struct orr_bus_measures {
    unsigned nnodes;
    unsigned nlinks, ngroups;
    struct orr_bus_link *links;   /* owned */
    struct orr_bus_group *groups; /* owned */
    double seconds;               /* that it took */
};

struct orr_bus_options {
    double budget_us; /* about how long all copies alone may take */
    unsigned blocks;  /* how often everything is begun anew, at least 1 */
    bool all_sizes;   /* else one byte and the largest only */
    bool within;      /* nodes of main memory with themselves, too */
    bool groups;      /* and under contention */
    size_t largest;   /* bytes, 0: 32 MiB */
};

/* Measures every link. At most a quarter of a node's memory is used for a
 * buffer. *ret is filled on success; orr_bus_measures_done() ends it. Errors:
 * -ENOMEM, -EAGAIN (no thread), with a message. */
int orr_bus_measure(struct orr_machine *machine,
                    const struct orr_bus_options *options,
                    struct orr_bus_measures *ret, struct orr_error *err);
void orr_bus_measures_done(struct orr_bus_measures *measures);

/* Fills row-major matrices of the machine's nnodes × nnodes, which may be fewer than
 * were measured, MB/s and µs: what was measured,
 * pinned before pageable; 0 on the diagonal. Pairs without a direct link get
 * what the best route over main memory gives: latencies and inverse bandwidths
 * added. NaN where there is none. */
void orr_bus_matrices(const struct orr_machine *machine,
                      const struct orr_bus_measures *measures,
                      double *bandwidth, double *latency);

/* The link, NULL without. */
const struct orr_bus_link *
orr_bus_measures_find(const struct orr_bus_measures *measures, unsigned src,
                      unsigned dst, bool pinned);
