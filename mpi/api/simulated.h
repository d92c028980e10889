/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/api/simulated.h - a rank that is simulated, where orr_simulated_place() says so. */
#pragma once

#include "mpi/api/api.h"

/* Its transport and communicators; the rest is as with a real one. */
void orr_api_simulate(struct orr_rank_conf *conf);
