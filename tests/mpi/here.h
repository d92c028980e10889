/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/here.h - ranks of this process: each a thread with a run of its own. */
#pragma once

#include "core/open.h"
#include "mpi/loopback/loopback.h"
#include "mpi/rank.h"

/* Opens a run with these settings on the calling thread, and makes it that rank of the
 * network. Aborts where that cannot be done. */
struct orr_rank *here_open(struct orr_loopback *net, int rank,
                           const struct orr_setting *settings);

/* Closes both. */
void here_close(struct orr_rank *rank);
