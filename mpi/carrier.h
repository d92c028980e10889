/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/carrier.h - the begin and the end of a rank, and of the context that operates it. */
#pragma once

#include "mpi/rank.h"

/* Makes the calling context's run a rank and starts its carrier. Main. Errors, after a
 * message: -ENOMEM, -EINVAL, -EALREADY, and the transport's. */
int orr_rank_open(struct orr_runtime *rt, const struct orr_rank_conf *conf,
                  const char *call);

/* Waits for what is under way, ends the carrier and frees the rank. Main. */
void orr_rank_close(struct orr_rank *rank, const char *call);
