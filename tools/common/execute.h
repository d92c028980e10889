/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/execute.h - the runs of a comparison, several at a time, with
 * progress and the file that keeps them. One thread, several children.
 */
#pragma once

struct comparison;

/* Runs all that the file of --runs does not have, and fills in what came of them.
 * Returns as launch_all. */
int comparison_run(struct comparison *comparison);
