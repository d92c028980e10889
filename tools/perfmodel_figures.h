/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel_figures.h - what `orrery perfmodel show` computes of a model:
 * robust statistics of a row's samples, laws through an implementation's rows.
 * One thread.
 */
#pragma once

#include "perfmodel/curve.h"
#include "perfmodel/robust.h"
#include "tools/perfmodel.h"

/* A row with a valid side entry. */
struct perfmodel_robust {
    const struct orr_side_entry *side; /* lent; NULL: there is none, and no
                                        * other figure is set */
    bool stale;                 /* there is one, of a row that has changed */
    struct orr_summary summary; /* of the recent samples */
    /* 95 %, of the long-run mean from the blocks, or, while there are too few
     * of these, of the median from the recent samples. */
    struct orr_interval interval;
    bool from_blocks;
};

/* Errors: -ENOMEM. */
int perfmodel_robust(const struct perfmodel_data *data,
                     const struct orr_model_comb *comb, unsigned impl,
                     const struct orr_model_row *row,
                     struct perfmodel_robust *ret);

/* The rows of one implementation as a function of size. */
struct perfmodel_laws {
    bool has_power, has_offset;
    struct orr_law power, offset;
    /* Interpolating at each inner size from the others: relative errors. NaN
     * without inner sizes that could be left out. */
    unsigned ninner;
    double inner_mean, inner_worst;
};

/* Fits the estimates of rows that have one, the means of the others. Errors:
 * -ENOMEM. */
int perfmodel_laws(const struct perfmodel_data *data,
                   const struct orr_model_comb *comb, unsigned impl,
                   struct perfmodel_laws *ret);

/* What is predicted for a row: the estimate, or the mean without one. */
double perfmodel_predicted(const struct orr_model_row *row,
                           const struct orr_side_entry *side);

/* GFlop/s when a row takes `us`, NaN when its flops are not known. */
double perfmodel_gflops(const struct orr_model_row *row, double us);
