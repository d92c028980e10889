/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/api/simulated.h - a rank that is simulated, where orr_simulated_place() says so. */
#pragma once

#include "mpi/api/api.h"

/* How it is opened: its transport, and communicators of MPI. */
void orr_api_simulate(struct orr_session *session, struct orr_rank_conf *conf);
