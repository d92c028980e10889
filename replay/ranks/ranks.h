/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/ranks/ranks.h - the records of all ranks of a program, played together: a player
 * for each, on contexts of one engine, with the network between their nodes.
 */
#pragma once

#include "core/base/error.h"

struct orr_cluster_ranks;
struct orr_player_host;

/* Plays n records on a cluster that has as many ranks, or more; of which `path` is rank 0's, in whose name "rank0" stands for the others'.
 * Returns 0 when all have ended, or an error after a message; what is wrong with a record
 * ends the process, as `host` wants it. */
int ranks_play(const char *path, unsigned n, const struct orr_cluster_ranks *cluster,
               const struct orr_player_host *host);
