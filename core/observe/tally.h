/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/tally.h - how long kernels and copies took, counted per kernel
 * and per link for the report. Each worker adds to its own table without a
 * lock; the tables are joined when the report is written. Like the event
 * record, a tally that is off is NULL and costs one branch.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmodel/origin.h"

struct orr_machine;
struct orr_tally;
struct orr_tally_item;

/* Durations that are kept per kernel and worker, at most; of a longer series
 * every second, fourth, … */
#define ORR_TALLY_SAMPLES 4096

/* Makes an empty tally, owned by the caller and freed by orr_tally_free. Errors:
 * -ENOMEM. */
int orr_tally_new(const struct orr_machine *machine, struct orr_tally **ret);

/* Accepts NULL. */
void orr_tally_free(struct orr_tally *tally);

/* A task whose codelet has a model is submitted; the first counts. Any thread;
 * `now` in µs of the machine's clock. */
void orr_tally_submit(struct orr_tally *tally, double now);

/* What a worker executes, as it appears in the report. */
struct orr_tally_kernel {
    const char *name; /* the model's symbol, else the codelet's name; copied */
    char arch[32];    /* "cpu0", as model files name it */
    unsigned impl;
    unsigned ncores; /* that execute it at once, 0: one */
    uint32_t footprint;
    uint64_t size;  /* bytes, or the value of size_base */
    const char *model; /* the symbol of its model in files, by which it can be calibrated;
                        * lent until the runtime ends; NULL */
    bool modelled; /* the codelet has a model of any type, or a default one */
    enum orr_origin origin; /* of its estimate … */
    double off_by;          /* … and how far that may be off, relative; NaN */
};

/* The worker's item that was added under `key`, `impl` and `ncores`, NULL without. */
struct orr_tally_item *orr_tally_find(struct orr_tally *tally, unsigned worker,
                                      const void *key, unsigned impl,
                                      unsigned ncores);

/* Adds one; `key` is any address that stands for (kernel, footprint) as long as
 * the tally lives. NULL without memory: counted as lost. */
struct orr_tally_item *orr_tally_add(struct orr_tally *tally, unsigned worker,
                                     const void *key,
                                     const struct orr_tally_kernel *kernel);

/* A kernel of the item has run from `start` to `end`, µs; `predicted` is the
 * estimate of its model, 0 or NaN: none. The worker that owns the item. */
void orr_tally_kernel(struct orr_tally *tally, unsigned worker,
                      struct orr_tally_item *item, double start, double end,
                      double predicted);

/* The copies between two nodes: one of them, or their sums. */
struct orr_tally_link {
    unsigned src, dst;
    uint64_t count, bytes;
    double total;     /* µs they took, each from its start to its end */
    double predicted; /* what schedulers expect; NaN: not known for all */
    double alone;     /* latency and bandwidth of an idle link; NaN as above */
};

/* Adds copies that have ended. One caller at a time per pair of nodes. */
void orr_tally_copy(struct orr_tally *tally, const struct orr_tally_link *copy);

/* Messages from and to another rank. */
struct orr_tally_peer {
    uint64_t sent, sent_bytes, received, received_bytes;
};

/* Adds a message of so many bytes; `peer` is a rank, from 0 on. One caller at a time;
 * without memory it is not counted. */
void orr_tally_message(struct orr_tally *tally, unsigned peer, bool received, size_t bytes);

/* The messages with each rank, from 0 on; *ret_n: with how many there were any. No
 * message comes meanwhile. */
const struct orr_tally_peer *orr_tally_peers(const struct orr_tally *tally, size_t *ret_n);

/* µs from the first submission of a task with a model to the end of the last
 * kernel that has one; 0 without. */
double orr_tally_modelled_span(const struct orr_tally *tally);

/* Items that found no memory. */
unsigned long orr_tally_lost(const struct orr_tally *tally);

/* The times of one kernel on all workers of an architecture together, in µs. */
struct orr_tally_summary {
    struct orr_tally_kernel kernel;
    uint64_t count;
    double mean;
    double typical; /* mean of the values within a factor of 1.5 of the median, as
                     * models keep them (STARPU_HISTORY_MAX_ERROR) */
    double aside;   /* share of the runs that does not */
    double other;   /* median of these; NaN: none */
    double other_share; /* share of the runs within a factor of 1.5 of that */
    double p05, p25, median, p75, p95;
    double predicted; /* mean of the estimates of its model; NaN: none */
};

/* Calls visit for each kernel, ordered by name, architecture, implementation,
 * footprint. No recording goes on meanwhile; or, in a simulation that ends early, what
 * is recorded meanwhile does not count. Errors: -ENOMEM. */
int orr_tally_each_kernel(const struct orr_tally *tally,
                          void (*visit)(const struct orr_tally_summary *,
                                        void *),
                          void *arg);

/* The same for each pair of nodes with copies, row by row. */
void orr_tally_each_link(const struct orr_tally *tally,
                         void (*visit)(const struct orr_tally_link *, void *),
                         void *arg);
