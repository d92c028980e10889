/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/merge.h - how measures made in this process join a model file that
 * another process may have changed since it was read. Plain data, no threads.
 */
#pragma once

#include "perfmodel/store.h"

/* One history row that this process has measured. */
struct orr_model_change {
    const struct orr_device *devices; /* borrowed */
    unsigned ndevices;
    unsigned number; /* of the comb, for the comments of the file */
    unsigned impl;
    struct orr_model_row row;  /* as it is in this process now */
    struct orr_model_row base; /* as the file had it when it was read; n = 0
                                * when it had none */
    bool wiped;     /* the row was emptied since: nothing of base is in it */
    unsigned wipes; /* for the row's owner, not used here */
};

/* Puts the changes into `file`, what the file holds now. A row that still
 * equals the base is replaced. One that has grown gains what this process
 * measured since reading it; so does one that another process emptied. Rows
 * without a change, and all regressions, stay. Errors: -ENOMEM. */
int orr_model_file_apply(struct orr_model_file *file,
                         const struct orr_model_change *changes,
                         unsigned nchanges, unsigned homogeneous);

/* Takes out of `file` what `old`, an earlier state of it, had: for a
 * calibration that starts anew without losing what other processes measure
 * meanwhile. */
void orr_model_file_subtract(struct orr_model_file *file,
                             const struct orr_model_file *old);

/* Recomputes mean and dev from n, sum and sum2; 0 without samples. */
void orr_model_row_refresh(struct orr_model_row *row);
