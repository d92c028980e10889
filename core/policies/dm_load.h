/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/dm_load.h - when the workers of one class will be free, arranged
 * such that the first of those that are free earliest is found in a time
 * that grows with the logarithm of their number. The caller locks.
 *
 * A worker is free at max(exp_start, now) + exp_len. While exp_start lies ahead
 * that is a constant, its end; afterwards only exp_len matters, and all such
 * workers move with the clock. So each leaf of a binary tree holds either an
 * end or a length, inner nodes hold the least of both, and a leaf changes sides
 * when the clock passes its start. The rounding of a plain loop over the
 * workers is thereby kept, to the last bit.
 */
#pragma once

#include <stdbool.h>

struct orr_dm_node {
    double length; /* least exp_len of those whose start has passed */
    double end;    /* least start + length of the others */
    double start;  /* their least start */
};

struct orr_dm_load {
    unsigned nleaves;          /* a power of two, ≥ the number of workers */
    struct orr_dm_node *nodes; /* 1 is the root, nleaves the first leaf */
    double *lengths;           /* of every worker */
};

/* Errors: -ENOMEM. All workers are free. */
int orr_dm_load_init(struct orr_dm_load *load, unsigned nworkers);
void orr_dm_load_done(struct orr_dm_load *load);

/* Sets when the worker at `place` starts, and how long its queue takes. `now` is not
 * less than in any call before. */
void orr_dm_load_set(struct orr_dm_load *load, unsigned place, double start,
                     double length, double now);

/* The clock is at `now`: to be called before those below. _some: where some worker's start
 * has passed since. */
void orr_dm_load_settle_some(struct orr_dm_load *load, double now);
static inline void orr_dm_load_settle(struct orr_dm_load *load, double now)
{
    if (load->nodes[1].start <= now)
        orr_dm_load_settle_some(load, now);
}

/* When a subtree's first worker is free. */
static inline double orr_dm_node_free(const struct orr_dm_node *node,
                                      double now)
{
    double waiting = now + node->length;

    return waiting < node->end ? waiting : node->end;
}

/* When the first worker of the class is free. */
static inline double orr_dm_load_free(const struct orr_dm_load *load,
                                      double now)
{
    return orr_dm_node_free(&load->nodes[1], now);
}

/* The lowest place whose worker `fits`, which depends only on when the worker is free,
 * and is true for all times before one for which it is true. There must be one. */
unsigned orr_dm_load_first(const struct orr_dm_load *load, double now,
                           bool (*fits)(double free_at, const void *arg),
                           const void *arg);
