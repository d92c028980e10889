/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/fit.h - the table that the module "fit" exports.
 */
#pragma once

struct orr_fit_solver {
    /* Least squares: the x that makes |A·x - b| least. A is rows × columns,
     * column after column, rows >= columns > 0; A and b are overwritten, and x
     * is left in the first `columns` numbers of b. Columns may be of any size:
     * they are scaled. *ret_rank is the rank of A; below `columns` x is not to
     * be used. Any thread, may block while it computes. Errors: -ENOMEM, -EDOM
     * when a number is not finite. */
    int (*least_squares)(double *a, unsigned rows, unsigned columns, double *b,
                         unsigned *ret_rank);
};
