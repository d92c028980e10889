/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/compare/bounds.h - what no scheduler can go below, in a comparison. One thread. */
#pragma once

struct comparison;

/* Fills in the bounds of all cells of simulated machines. Returns as launch_all. */
int comparison_bound(struct comparison *comparison);
