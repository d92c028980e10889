/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/estimates.h - what the tools compute of a model: the
 * precision of rows, regressions through an implementation's rows. One thread.
 */
#pragma once

#include "perfmodel/curve.h"
#include "perfmodel/robust.h"
#include "tools/perfmodel/perfmodel.h"

/* The estimate of a row, and its precision. */
struct perfmodel_known {
    const struct orr_side_entry *side; /* lent; NULL: there is none */
    bool stale;      /* there is one, of a row that has changed */
    double estimate; /* by orr_row_estimate; NaN: it is not known */
    const char *unknown; /* why, by orr_row_unknown; NULL: it is */
    uint32_t n;      /* samples behind it */
    /* 95 % interval of the long-run mean: from the blocks, while there are too
     * few of these from the recent samples. Without a side entry, or with too
     * few of both, from mean, deviation and number, as if samples were
     * `independent`, which makes it too narrow. NaN: too few for that too. */
    struct orr_interval interval;
    bool from_blocks, independent;
    double half_width; /* half of it, divided by the estimate; NaN */
    /* Statistics of the recent samples; without any, or with invalid ones, n is
     * 0 and all are NaN. */
    struct orr_summary summary;
    struct orr_interval range; /* by orr_window_range; NaN */
};

/* `side` may be NULL. Errors: -ENOMEM. */
int perfmodel_know(const struct orr_side *side,
                   const struct orr_model_comb *comb, unsigned impl,
                   const struct orr_model_row *row,
                   struct perfmodel_known *ret);

/* The rows of one implementation as a function of size. */
struct perfmodel_regressions {
    bool has_power, has_offset;
    struct orr_power_regression power, offset;
    /* Interpolating at each inner size from the others: relative errors. NaN
     * without inner sizes that could be left out. */
    unsigned ninner;
    double inner_mean, inner_worst;
};

/* Fits the estimates of rows that have one, the means of the others. Errors:
 * -ENOMEM. */
int perfmodel_regressions(const struct perfmodel_data *data,
                          const struct orr_model_comb *comb, unsigned impl,
                          struct perfmodel_regressions *ret);

/* GFlop/s when a row takes `us`, NaN when its flops are not known. */
double perfmodel_gflops(const struct orr_model_row *row, double us);
