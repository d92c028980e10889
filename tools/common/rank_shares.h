/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/rank_shares.h - what each rank of a run did, and what ranks sent to each
 * other, as tables and as JSON. One thread.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/common/rank_traces.h"
#include "tools/common/report.h"

struct rank_share {
    bool known; /* else nothing is, and the rest is 0 */
    size_t tasks, workers;
    double time_us; /* from its first submission to the end of its last task */
    double busy_us; /* of all its workers */
    json_int_t sent, sent_bytes, received, received_bytes;
};

struct rank_shares {
    struct rank_share *of; /* owned: by rank */
    unsigned n;
    /* Of many ranks several that follow each other are one place of the matrix. */
    unsigned together, nplaces;
    double *bytes; /* owned: nplaces rows, of the senders, of as many columns */
};

/* From the reports of n ranks, of which some may be missing, or from all traces. The
 * caller ends *ret with rank_shares_done, also after an error: -ENOMEM. */
int rank_shares_of_reports(const struct report *reports, unsigned n,
                           struct rank_shares *ret);
int rank_shares_of_traces(const struct rank_traces *traces, struct rank_shares *ret);
void rank_shares_done(struct rank_shares *shares);

/* By how much the rank that computes longest is above the mean, relative; *rank is that
 * one. 0: none computes. */
double rank_shares_imbalance(const struct rank_shares *shares, unsigned *rank);

/* Prints a line per rank, the matrix and the imbalance. Errors: -ENOMEM. */
int rank_shares_print(const struct rank_shares *shares);

/* The lines as an array, a new reference, null of ranks that are not known; NULL without
 * memory. */
json_t *rank_shares_json(const struct rank_shares *shares);

/* Adds to the object `bytes`, the matrix; `ranks_per_row`, how many ranks are one place in
 * it; `imbalance`, and `busiest_rank`. */
void rank_shares_json_add(const struct rank_shares *shares, json_t *object);
