/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmodel/least_squares.h - linear least squares. Any thread. */
#pragma once

/* The x that makes |A·x - b| least. A is rows × columns, column after column, rows >=
 * columns > 0; A and b are overwritten, and x is left in the first `columns` numbers of
 * b. Columns may be of any size: they are scaled. *ret_rank is the rank of A; below
 * `columns` there is no x. Errors: -ENOMEM, -EDOM when a number is not finite. */
int orr_least_squares(double *a, unsigned rows, unsigned columns, double *b,
                      unsigned *ret_rank);
