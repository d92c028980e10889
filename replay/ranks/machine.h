/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replay/ranks/machine.h - on which nodes the ranks of records are played. One thread. */
#pragma once

struct orr_player_host;

/* ranks_play on what ORRERY_MACHINE says: a cluster, or a machine, of which there are as many
 * as ranks then. Errors, after a message: those of ranks_play, -EINVAL. */
int ranks_play_on_machine(const char *path, unsigned n, const struct orr_player_host *host);
