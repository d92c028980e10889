/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/join_side.h - side entries copied and joined, for
 * join.c. One thread.
 */
#pragma once

#include "perfmodel/side.h"

/* Puts a copy of `entry`, of another side, into `to`, in place of what it has
 * for that row, and makes it belong to `row`. Errors: -ENOMEM. */
int perfmodel_side_put(struct orr_side *to, const struct orr_side_entry *entry,
                       const struct orr_model_row *row);

/* The row that `a` (of `to`) and `b` (of another side) belonged to has become
 * `row`. Both NULL: nothing; one NULL: the other counts for both. Samples and
 * blocks are put in order of the last measures, counts are added, the estimates
 * weighted by the measures in blocks. Errors: -ENOMEM. */
int perfmodel_side_join(struct orr_side *to, const struct orr_side_entry *a,
                        const struct orr_side_entry *b,
                        const struct orr_model_row *row);
