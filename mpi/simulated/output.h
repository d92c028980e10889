/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/simulated/output.h - lines that ranks write to standard output, each with its rank before
 * it, in the order of virtual time. All ranks have one file, and one stream of the C library:
 * that file is another one meanwhile, which is looked at whenever ranks take turns. So it does
 * not matter by which calls something was written. One thread.
 */
#pragma once

#include <stdbool.h>

#include "core/base/error.h"

/* From now on what is written goes to such lines, of so many ranks; until the end, or that of
 * the process by exit. Errors: -ENOMEM, -errno, with a message. */
int orr_simulated_output_begin(unsigned nranks, struct orr_error *err);

/* What has been written since the last call is that rank's: its whole lines are printed; at its
 * end also what it has begun of one. Nothing, where no lines are made. */
void orr_simulated_output_take(int rank, bool ends);

/* What is begun of lines is printed, and standard output is what it was. */
void orr_simulated_output_end(void);
