/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/spmd_loopback.h - the communicators of spmd.h for ranks of this process. */
#pragma once

#include "tests/mpi/spmd.h"

enum { SPMD_MOST_RANKS = 8 };

/* Those of the calling rank, by enum spmd_comm, as its transport has them, before its first
 * call. Ranks may be threads, or contexts of one. */
void spmd_loopback_comms(const void *const *all);
