/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/run_rank.h - stands between a launcher of MPI and one rank: `orrery --rank
 * PROGRAM ARGUMENTS`, which `orrery run -n` has launchers start. It says by which signal the
 * rank was killed, before the launcher learns of it, which then ends the others. One thread.
 */
#pragma once

/* Runs it as a child, and ends as it ends: with its status, or by its signal. Returns an exit
 * code: 126 or 127, after a message, if it cannot be started. */
int run_rank(char *const *argv);
