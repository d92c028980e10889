/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/spmd_loopback.h - the communicators of spmd.h for ranks of this process. */
#pragma once

#include "mpi/loopback/loopback.h"
#include "tests/mpi/spmd.h"

/* Those of the calling rank, by enum spmd_comm, before its first program. */
void spmd_loopback_comms(struct orr_loopback_comm *const *all);
